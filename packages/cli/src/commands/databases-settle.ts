import type { Command } from '../command.ts'
import { oneDatabaseHelp, readCommand, withInstallation } from '../database.ts'
import { CommandFailure } from '../failure.ts'
import { printOut } from '../terminal.ts'
import { toldOf } from './restored.ts'

export const databasesSettle: Command = {
  help: () => `deskwire databases settle: update the directory of several databases.

  --json                 print JSON: {organizations, moved, tokens, taken}
${oneDatabaseHelp}
The directory, in the first database, gets the organizations and tokens that it does not know of, and a database that says it
serves an organization which has moved on since says so no more. A token that organizations of two databases have stays with the one
that the directory knows it of. It asks all databases, or the one that is named. Run it once a database is added that had organizations before; deskwire backup mark-restored and deskwire backup restore do it by themselves. It changes nothing else, can be
repeated, and nobody waits for it.

Example:
  deskwire databases settle --database two
`,
  async run(args) {
    const { json, config, database } = readCommand(args, ['database'])
    await withInstallation({ config }, async (installation) => {
      const [first] = installation.databases
      const settled = await installation.settle(database === null ? first : installation.named(database))
      if (settled === null)
        throw new CommandFailure(
          'there is one database, which needs no directory: DESKWIRE_DATABASES names several',
        )
      printOut(json ? `${JSON.stringify(settled)}\n` : toldOf(settled))
    })
  },
}
