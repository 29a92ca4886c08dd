import { createApiKey, kinds, scopeNames, systemClock } from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { databaseHelp, readCommand, withDatabaseOf } from '../database.ts'
import { readId } from '../ids.ts'
import { printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

const scopes = scopeNames(kinds)

export const organizationsCreateKey: Command = {
  help: () => `deskwire organizations create-key ID --name NAME --scopes SCOPE,…: make an API key and print it.

  ID                     the organization
  --name NAME            what the key is for
  --scopes SCOPE,…       what it may do, from: ${scopes.join(', ')}
  --json                 print JSON
${databaseHelp}
Example:
  deskwire organizations create-key 01980000-0000-7000-8000-000000000001 --name reporting --scopes customers:read,tickets:read
`,
  async run(args) {
    const { given, words, json, config } = readCommand(args, ['name', 'scopes'], 1)
    const organizationId = readId(words[0], 'organizations create-key needs the id of an organization')
    const { name } = given
    if (name === undefined || name.length < 1 || name.length > 255) {
      throw new UsageError('organizations create-key needs --name with 1 to 255 characters')
    }
    const wanted = (given.scopes ?? '').split(',').filter((scope) => scope !== '')
    const unknown = wanted.filter((scope) => !scopes.includes(scope))
    if (wanted.length === 0 || unknown.length > 0) {
      const wrong = unknown.length > 0 ? `; there is no scope ${unknown.join(', ')}` : ''
      throw new UsageError(
        `organizations create-key needs --scopes, comma-separated, from: ${scopes.join(', ')}${wrong}`,
      )
    }
    await withDatabaseOf({ config }, organizationId, async ({ pool, database, installation }) => {
      const made = { organizationId, name, scopes: wanted }
      const key = await createApiKey(pool, systemClock, made, installation.recorderOf(database, 'key'))
      if (key === null) throw new UsageError(`there is no organization ${organizationId}`)
      printOut(json ? `${JSON.stringify(key)}\n` : `API key, shown this once: ${key.token}\n`)
    })
  },
}
