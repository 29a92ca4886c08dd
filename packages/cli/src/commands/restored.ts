import {
  type Installation,
  markRestored,
  migrateDatabase,
  readDatabaseClock,
} from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { oneDatabaseHelp, readCommand, withDatabase } from '../database.ts'
import { printOut } from '../terminal.ts'

export const restoredCommand: Command = {
  help: () => `deskwire backup mark-restored: record that the database went back to an older state.

Run it once, after restoring with tools of PostgreSQL (pg_restore, a base backup, recovery to a point in time, a copied data
directory), and before the service starts on it. deskwire backup restore does it by itself.

Every cursor from before then fails with 410 cursor_too_old, and so is an updatedAfter from the span of time that was
lost: clients begin anew, instead of drifting. Run once too often, it costs them a fresh sync and nothing else. Of several
databases only the organizations of this one begin anew, and the command updates the directory.

  --json                 print JSON
${oneDatabaseHelp}
Example:
  deskwire backup mark-restored --database-url postgres://desk@db.internal/desk
`,
  async run(args) {
    const command = readCommand(args, ['database'])
    await withDatabase(command, async ({ pool, database, installation }) => {
      await migrateDatabase(database)
      const began = await markRestored(pool, await readDatabaseClock(pool))
      const settled = await installation.settle(database)
      printOut(
        command.json
          ? `${JSON.stringify({ ...began, ...(settled !== null && { directory: settled }) })}\n`
          : `epoch ${began.epoch} begins; ${began.organizations} ${began.organizations === 1 ? 'organization is' : 'organizations are'} told\n`,
      )
    })
  },
}

/** What came of bringing the directory of several databases together with one that was restored. */
export function toldOf(settled: Awaited<ReturnType<Installation['settle']>>): string {
  if (settled === null) return ''
  const { organizations, moved, tokens, taken } = settled
  const known = `the directory knows of ${organizations} more organizations and ${tokens} more tokens; ${moved} organizations live elsewhere by now\n`
  if (taken === 0) return known
  return `${known}${taken} tokens are another organization's too and stay with that one: give those of this database other keys\n`
}
