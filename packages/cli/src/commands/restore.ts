import {
  examineBackup,
  readDatabaseClock,
  restore,
  restoreEmbedded,
  systemClock,
} from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { commandLog, isEmbedded, oneDatabaseHelp, readCommand, withDatabase } from '../database.ts'
import { printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { toldOf } from './restored.ts'

export const restoreCommand: Command = {
  help: () => `deskwire backup restore FILE: bring a backup back, whole or not at all.

  FILE                   made by deskwire backup create
  --replace              move a database that the data directory holds aside, into before-restore-TIME in it
  --without-key          go on although the encryption key does not open the signing secrets of the backup
  --check                read the file from end to end, and do nothing
  --json                 print JSON
${oneDatabaseHelp}
Stop the service first. Killed at any moment, it leaves what was there; run it again.

Afterwards every cursor from before fails with 410 cursor_too_old, and so is an updatedAfter from the span of time that
was lost: clients begin anew. Changes after the backup are gone. Keys that were revoked since work again (console links
and sessions have ended), deleted customers are back, and deliveries that were pending go out again.

Example:
  deskwire backup restore desk-2026-01-31.backup --check
`,
  async run(args) {
    const { words, switches, json, config, database } = readCommand(args, ['database'], 1, [
      'replace',
      'without-key',
      'check',
    ])
    const [file] = words
    if (file === undefined)
      throw new UsageError('restore needs the name of a file that deskwire backup create wrote')
    if (switches.replace && !isEmbedded(config)) {
      throw new UsageError(
        '--replace moves an embedded database aside; for a server make a new database and name that',
      )
    }
    const backup = await examineBackup(file)
    const print = (result: object, text: string) =>
      printOut(json ? `${JSON.stringify(result)}\n` : `${text}\n`)
    if (switches.check) {
      print({ file, ...backup.header }, `${file} is whole: a backup of ${backup.header.createdAt}`)
      return
    }
    const withoutKey = switches['without-key'] === true
    if (isEmbedded(config)) {
      const replace = switches.replace === true
      const { movedTo, ...summary } = await restoreEmbedded(config, backup, {
        clock: systemClock,
        withoutKey,
        replace,
        log: commandLog(),
      })
      const moved = movedTo === null ? '' : `\nThe database that was there is now ${movedTo}.`
      print({ ...summary, movedTo }, `${sentence(summary)}${moved}`)
      return
    }
    await withDatabase({ config, database }, async ({ pool, database: target, installation }) => {
      const summary = await restore(pool, backup, {
        clock: await readDatabaseClock(pool),
        withoutKey,
        encryptionKey: config.encryptionKey,
        encryptionKeyPrevious: config.encryptionKeyPrevious,
      })
      const settled = await installation.settle(target)
      print(
        { ...summary, ...(settled !== null && { directory: settled }) },
        `${sentence(summary)}${settled === null ? '' : `\n${toldOf(settled).trimEnd()}`}`,
      )
    })
  },
}

function sentence({ rows, organizations, restoredTo, epoch }: Awaited<ReturnType<typeof restore>>): string {
  return `${rows} rows of ${organizations} organizations are back as of ${restoredTo}; epoch ${epoch} begins, and clients sync anew.`
}
