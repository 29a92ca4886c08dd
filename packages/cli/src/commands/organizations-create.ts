import {
  createOrganization,
  leastFull,
  migrateDatabase,
  readDatabaseClock,
} from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { databaseHelp, readCommand, withInstallation } from '../database.ts'
import { printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

export const organizationsCreate: Command = {
  help: () => `deskwire organizations create --name NAME: make an organization and print its id and first API key.

  --name NAME            what it is called, 1 to 255 characters
  --json                 print JSON
  --database NAME        the database to make it in; default: the one with the fewest objects
${databaseHelp}
Example:
  deskwire organizations create --name 'Analytical Engines' --json
`,
  async run(args) {
    const { given, json, config, database } = readCommand(args, ['name', 'database'])
    const { name } = given
    if (name === undefined || name.length < 1 || name.length > 255) {
      throw new UsageError('organizations create needs --name with 1 to 255 characters')
    }
    await withInstallation({ config }, async (installation) => {
      const { databases, directory } = installation
      await migrateDatabase(databases[0])
      const home = database === null ? await leastFull(databases) : installation.named(database)
      if (database !== null) await migrateDatabase(home)
      const tell = installation.recorderOf(home, 'organization')
      const clock = await readDatabaseClock(home.pool)
      const { organizationId, apiKeyId, token } = await createOrganization(home.pool, clock, name, tell)
      const where = directory === null ? '' : ` in the database ${home.name}`
      printOut(
        json
          ? `${JSON.stringify({ organizationId, apiKeyId, token, ...(home.name !== null && { database: home.name }) })}\n`
          : `organization ${organizationId}${where}\nAPI key, shown this once: ${token}\n`,
      )
    })
  },
}
