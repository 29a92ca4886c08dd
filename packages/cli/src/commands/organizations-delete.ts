import { createInterface } from 'node:readline/promises'
import {
  deleteEverywhere,
  type OrganizationStatus,
  readDatabaseClock,
} from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { databaseHelp, readCommand, withInstallation } from '../database.ts'
import { CommandFailure } from '../failure.ts'
import { readId } from '../ids.ts'
import { plain, printOut, screen } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

export const organizationsDelete: Command = {
  help: () => `deskwire organizations delete ID: delete an organization and everything of it, for good.

  ID                     the organization
  --yes ID               its id once more, instead of typing it when asked
  --json                 print JSON
${databaseHelp}
Its keys and endpoints go first, in one commit: then nobody comes in and nothing is sent. Its objects, removal records, events,
delivery log, stored responses, jobs and counters follow in pieces, while the service goes on. Killed at any moment it does no
harm: run it again, and it goes on. A deletion that has started cannot be undone; deskwire organizations list shows it as deleting.
With several databases it is deleted from all, with rows that moves have left: one that cannot be reached makes the command fail, and
running it again does the rest.
Backups that were made before still hold the organization.

Exit codes: 0 when nothing of it is left; 1 when it was not confirmed or could not be finished; 2 for a wrong command line.

Example:
  deskwire organizations delete 01980000-0000-7000-8000-000000000001 --yes 01980000-0000-7000-8000-000000000001
`,
  async run(args) {
    const { words, given, json, config } = readCommand(args, ['yes'], 1)
    const organizationId = readId(words[0], 'organizations delete needs the id of an organization')
    if (given.yes !== undefined && given.yes.toLowerCase() !== organizationId)
      throw new UsageError('--yes must repeat the id of the organization that is to be deleted')
    if (given.yes === undefined && !process.stdin.isTTY)
      throw new UsageError(
        `organizations delete asks for the id on a terminal; without one give --yes ${organizationId}`,
      )
    await withInstallation({ config }, async ({ everywhere, databases: [{ pool }] }) => {
      const rows = await deleteEverywhere(everywhere, await readDatabaseClock(pool), organizationId, {
        onPiece(gone) {
          screen.line(`${gone} rows are gone`)
        },
        ...(given.yes === undefined && {
          confirm: (standing) => confirm(standing ?? { organizationId }),
        }),
      })
      if (rows === null) throw new UsageError(`there is no organization ${organizationId}`)
      screen.line('')
      printOut(
        json
          ? `${JSON.stringify({ organizationId, rows })}\n`
          : `organization ${organizationId} is deleted, with ${rows} rows\n`,
      )
    })
  },
}

type Confirmed = Pick<OrganizationStatus, 'organizationId'> & Partial<OrganizationStatus>

async function confirm({ organizationId, name, rows, keys }: Confirmed): Promise<void> {
  const what =
    name === undefined
      ? `what is left of organization ${organizationId}`
      : `"${plain(name)}" for good: ${rows} objects, ${keys} keys, all endpoints, events and deliveries`
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const typed = await lines.question(`This deletes ${what}.\nType its id to go on: `)
    if (typed.trim().toLowerCase() !== organizationId)
      throw new CommandFailure('that is not its id: nothing was deleted')
  } finally {
    lines.close()
  }
}
