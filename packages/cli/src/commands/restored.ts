import { askDatabaseClock, migrateDatabase, tellRestored } from '@deskwire/service/administration'
import type { Command } from '../commands.ts'
import { oneDatabaseHelp, readCommand, withDatabase } from '../database.ts'

export const restoredCommand: Command = {
  help: () => `deskwire restored: tell the service that its database went back to an older state.

Run it once, after restoring with tools of PostgreSQL (pg_restore, a base backup, recovery to a point in time, a copied data
directory), and before the service starts on it. deskwire restore does it by itself.

Every cursor from before is then refused with 410 cursor_too_old, and so is an updatedAfter from the span of time that was
lost: clients begin anew, instead of drifting. Run once too often, it costs them a fresh sync and nothing else.

  --json                 print JSON
${oneDatabaseHelp}
Example:
  deskwire restored --database-url postgres://desk@db.internal/desk
`,
  async run(args) {
    const asked = readCommand(args, [])
    await withDatabase(asked, async ({ pool, database }) => {
      await migrateDatabase(database)
      const began = await tellRestored(pool, await askDatabaseClock(pool))
      process.stdout.write(
        asked.json
          ? `${JSON.stringify(began)}\n`
          : `epoch ${began.epoch} begins; ${began.organizations} ${began.organizations === 1 ? 'organization is' : 'organizations are'} told\n`,
      )
    })
  },
}
