import { backUp, embedded, systemClock } from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { isEmbedded, oneDatabaseHelp, readCommand, withDatabase } from '../database.ts'
import { CommandFailure, exitCodes } from '../failure.ts'
import { printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

export const backupCommand: Command = {
  help: () => `deskwire backup create FILE: write the database to a file, as it is at one moment.

  FILE                   must not exist yet; it is there once it is whole
  --json                 print JSON
${oneDatabaseHelp}
It works while the service runs, and nobody waits for it. Everything is in the file but the encryption key, which signing
secrets are encrypted with: keep that apart from it, and keep it too.

Exit codes: 0 when it is whole, and proved; 3 when it is whole, and rows in it do not match their checkpoint; 1 when there is no
FILE; 2 for a wrong command line.

Example:
  deskwire backup create desk-2026-01-31.backup
`,
  async run(args) {
    const { words, json, config, database } = readCommand(args, ['database'], 1)
    const [file] = words
    if (file === undefined) throw new UsageError('backup needs the name of a file to write')
    // A command would make an empty one otherwise.
    if (isEmbedded(config) && !embedded.has(config.dataDir)) {
      throw new CommandFailure(`there is no database in ${config.dataDir}: name its home with --data-dir`)
    }
    await withDatabase({ config, database }, async ({ pool }) => {
      const { unproved, ...made } = await backUp(pool, systemClock, file)
      const key = isEmbedded(config)
        ? `${config.dataDir}/encryption.key (or DESKWIRE_ENCRYPTION_KEY, if you set it)`
        : 'DESKWIRE_ENCRYPTION_KEY'
      printOut(
        json
          ? `${JSON.stringify({ ...made, unproved })}\n`
          : `${made.rows} rows of ${made.organizations} organizations as of ${made.createdAt} in ${file}, ${made.bytes} bytes
The encryption key is not in it. Without ${key} no delivery of a restored desk can be signed: keep that too, apart from this file.\n`,
      )
      if (unproved.length > 0) {
        throw new CommandFailure(
          `the backup is whole, but rows were changed by hand and do not match their checkpoint: ${unproved.join(', ')}; copies outside do not match them either`,
          exitCodes.found,
        )
      }
    })
  },
}
