import {
  createApiKey,
  kinds,
  migrate,
  schemaOf,
  scopeNames,
  systemClock,
} from '@deskwire/service/administration'
import type { Command } from '../commands.ts'
import { databaseHelp, readCommand, withDatabase } from '../database.ts'
import { UsageError } from '../usage-error.ts'

const scopes = scopeNames(kinds.map(({ plural }) => plural))

export const keysCreate: Command = {
  help: () => `deskwire keys create --org ID --name NAME --scopes SCOPE,…: make an API key and print it.

  --org ID               the organization
  --name NAME            what the key is for
  --scopes SCOPE,…       what it may do, from: ${scopes.join(', ')}
  --json                 print JSON
${databaseHelp}`,
  async run(args) {
    const { given, json, config } = readCommand(args, ['org', 'name', 'scopes'])
    const { org, name } = given
    if (org === undefined || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(org)) {
      throw new UsageError('keys create needs --org with the id of an organization (a UUID)')
    }
    if (name === undefined || name.length < 1 || name.length > 255) {
      throw new UsageError('keys create needs --name with 1 to 255 characters')
    }
    const wanted = (given.scopes ?? '').split(',').filter((scope) => scope !== '')
    const unknown = wanted.filter((scope) => !scopes.includes(scope))
    if (wanted.length === 0 || unknown.length > 0) {
      const wrong = unknown.length > 0 ? `; there is no scope ${unknown.join(', ')}` : ''
      throw new UsageError(`keys create needs --scopes, comma-separated, from: ${scopes.join(', ')}${wrong}`)
    }
    await withDatabase(config, async (pool) => {
      await migrate(pool, schemaOf())
      const key = await createApiKey(pool, systemClock, { organizationId: org, name, scopes: wanted })
      if (key === null) throw new UsageError(`there is no organization ${org}`)
      process.stdout.write(json ? `${JSON.stringify(key)}\n` : `API key, shown this once: ${key.token}\n`)
    })
  },
}
