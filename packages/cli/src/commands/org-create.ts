import { createOrganization, migrate, schemaOf, systemClock } from '@deskwire/service'
import type { Command } from '../commands.ts'
import { databaseHelp, withDatabase } from '../database.ts'
import { UsageError } from '../usage-error.ts'

export const orgCreate: Command = {
  name: 'org create',
  summary: 'make an organization and print its first API key',
  help: () => `deskwire org create --name NAME: make an organization and print its id and first API key.

  --name NAME            what it is called, 1 to 255 characters
  --json                 print JSON
${databaseHelp}`,
  async run(args) {
    await withDatabase(args, ['name'], async (pool, { name }, json) => {
      if (name === undefined || name.length < 1 || name.length > 255) {
        throw new UsageError('org create needs --name with 1 to 255 characters')
      }
      await migrate(pool, schemaOf())
      const { organizationId, apiKeyId, token } = await createOrganization(pool, systemClock, name)
      process.stdout.write(
        json
          ? `${JSON.stringify({ organizationId, apiKeyId, token })}\n`
          : `organization ${organizationId}\nAPI key, shown this once: ${token}\n`,
      )
    })
  },
}
