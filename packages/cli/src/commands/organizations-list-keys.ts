import { listKeys, readDatabaseClock } from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { databaseHelp, readCommand, withDatabaseOf } from '../database.ts'
import { readId } from '../ids.ts'
import { table } from '../table.ts'
import { printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

export const organizationsListKeys: Command = {
  help: () => `deskwire organizations list-keys ID: print the API keys of an organization, the newest first. Never a token.

  ID                     the organization
  --json                 print JSON: {apiKeys: […]}, as GET /v1/api-keys shows them
${databaseHelp}
Example:
  deskwire organizations list-keys 01980000-0000-7000-8000-000000000001
`,
  async run(args) {
    const { words, json, config } = readCommand(args, [], 1)
    const organizationId = readId(words[0], 'organizations list-keys needs the id of an organization')
    await withDatabaseOf({ config }, organizationId, async ({ pool }) => {
      const apiKeys = await listKeys(pool, await readDatabaseClock(pool), organizationId)
      if (apiKeys === null) throw new UsageError(`there is no organization ${organizationId}`)
      if (json) {
        printOut(`${JSON.stringify({ apiKeys })}\n`)
        return
      }
      const rows = apiKeys.map(({ id, last4, lastUsedAt, expiresAt, scopes, name }) => [
        id,
        `…${last4}`,
        lastUsedAt ?? 'never',
        expiresAt ?? 'never',
        scopes.join(','),
        name,
      ])
      printOut(table([['ID', 'TOKEN', 'LAST USED', 'EXPIRES', 'SCOPES', 'NAME'], ...rows]))
    })
  },
}
