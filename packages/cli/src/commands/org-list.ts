import { listOrganizations, migrate, schemaOf } from '@deskwire/service/administration'
import type { Command } from '../commands.ts'
import { databaseHelp, readCommand, withDatabase } from '../database.ts'
import { plain, table } from '../table.ts'

export const orgList: Command = {
  help: () => `deskwire org list: print the organizations, the oldest first, with what they store.

  --json                 print JSON: {organizations: [{organizationId, name, status, …}]}
${databaseHelp}
The status is active, suspended, or deleting where a deletion was begun and not finished.

Example:
  deskwire org list --json | jq -r '.organizations[] | select(.status == "suspended") | .organizationId'
`,
  async run(args) {
    const { json, config } = readCommand(args, [])
    await withDatabase(config, async (pool) => {
      await migrate(pool, schemaOf())
      const organizations = await listOrganizations(pool)
      if (json) {
        process.stdout.write(`${JSON.stringify({ organizations })}\n`)
        return
      }
      const rows = organizations.map(({ organizationId, status, createdAt, keys, rows, bytes, name }) => [
        organizationId,
        status,
        createdAt,
        String(keys),
        String(rows),
        String(bytes),
        plain(name),
      ])
      process.stdout.write(table([['ID', 'STATUS', 'CREATED', 'KEYS', 'OBJECTS', 'BYTES', 'NAME'], ...rows]))
    })
  },
}
