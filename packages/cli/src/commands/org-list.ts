import { listOrganizations, type OrganizationStanding } from '@deskwire/service/administration'
import type { Command } from '../commands.ts'
import { oneDatabaseHelp, readCommand, withEach } from '../database.ts'
import { plain, table } from '../table.ts'

export const orgList: Command = {
  help: () => `deskwire org list: print the organizations, the oldest first, with what they store.

  --json                 print JSON: {organizations: [{organizationId, name, status, …}]}, with database of several
${oneDatabaseHelp}
The status is active, suspended, or deleting where a deletion was begun and not finished.

Example:
  deskwire org list --json | jq -r '.organizations[] | select(.status == "suspended") | .organizationId'
`,
  async run(args) {
    const asked = readCommand(args, ['database'])
    const organizations: (OrganizationStanding & { readonly database?: string })[] = []
    let several = false
    await withEach(asked, async ({ pool, database: { name } }) => {
      several ||= name !== null
      for (const standing of await listOrganizations(pool))
        organizations.push(name === null ? standing : { ...standing, database: name })
    })
    organizations.sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0))
    if (asked.json) {
      process.stdout.write(`${JSON.stringify({ organizations })}\n`)
      return
    }
    const rows = organizations.map(
      ({ organizationId, status, createdAt, keys, rows, bytes, name, database }) => [
        organizationId,
        status,
        createdAt,
        String(keys),
        String(rows),
        String(bytes),
        ...(several ? [database ?? ''] : []),
        plain(name),
      ],
    )
    const heading = [
      'ID',
      'STATUS',
      'CREATED',
      'KEYS',
      'OBJECTS',
      'BYTES',
      ...(several ? ['DATABASE'] : []),
      'NAME',
    ]
    process.stdout.write(table([heading, ...rows]))
  },
}
