import { type ListedOrganization, listEverywhere } from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { oneDatabaseHelp, readCommand, withInstallation } from '../database.ts'
import { table } from '../table.ts'
import { printOut } from '../terminal.ts'

export const organizationsList: Command = {
  help: () => `deskwire organizations list: print the organizations, the oldest first, and their sizes.

  --json                 print JSON: {organizations: [{organizationId, name, status, …}]}, with database of several
${oneDatabaseHelp}
The status is active, suspended, or deleting where a deletion has started and not finished. Each organization is shown once, in the
database that serves it.

Example:
  deskwire organizations list --json | jq -r '.organizations[] | select(.status == "suspended") | .organizationId'
`,
  async run(args) {
    const command = readCommand(args, ['database'])
    await withInstallation(command, async ({ everywhere, databases, named }) => {
      const only = command.database === null ? null : named(command.database).name
      const listed = await listEverywhere(everywhere, { only })
      print(listed, command.json, databases[0].name !== null)
    })
  },
}

function print(organizations: readonly ListedOrganization[], json: boolean, several: boolean): void {
  if (json) {
    const shown = organizations.map(({ database, ...one }) => (several ? { ...one, database } : one))
    printOut(`${JSON.stringify({ organizations: shown })}\n`)
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
      name,
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
  printOut(table([heading, ...rows]))
}
