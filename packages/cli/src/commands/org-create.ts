import { askDatabaseClock, createOrganization, migrate, schemaOf } from '@deskwire/service/administration'
import type { Command } from '../commands.ts'
import { databaseHelp, readCommand, withDatabase } from '../database.ts'
import { UsageError } from '../usage-error.ts'

export const orgCreate: Command = {
  help: () => `deskwire org create --name NAME: make an organization and print its id and first API key.

  --name NAME            what it is called, 1 to 255 characters
  --json                 print JSON
${databaseHelp}
Example:
  deskwire org create --name 'Analytical Engines' --json
`,
  async run(args) {
    const { given, json, config } = readCommand(args, ['name'])
    const { name } = given
    if (name === undefined || name.length < 1 || name.length > 255) {
      throw new UsageError('org create needs --name with 1 to 255 characters')
    }
    await withDatabase(config, async (pool) => {
      await migrate(pool, schemaOf())
      const { organizationId, apiKeyId, token } = await createOrganization(
        pool,
        await askDatabaseClock(pool),
        name,
      )
      process.stdout.write(
        json
          ? `${JSON.stringify({ organizationId, apiKeyId, token })}\n`
          : `organization ${organizationId}\nAPI key, shown this once: ${token}\n`,
      )
    })
  },
}
