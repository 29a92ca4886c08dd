/** `organizations suspend` and its way back, `organizations resume`. */

import { changeEverywhere, readDatabaseClock, type SuspensionOutcome } from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { databaseHelp, readCommand, withInstallation } from '../database.ts'
import { CommandFailure } from '../failure.ts'
import { readId } from '../ids.ts'
import { printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

export const organizationsSuspend: Command = {
  help: () => `deskwire organizations suspend ID: refuse an organization's keys and hold its deliveries, until it is resumed.

  ID                     the organization
  --json                 print JSON
${databaseHelp}
Every call with one of its keys is answered 403 insufficient_scope, whose detail says that the organization is suspended (a
revoked key gets 401). Its deliveries neither fail nor are lost: they wait, and go out after deskwire organizations resume. Workers
begin no more attempts within seconds. Its objects, its stream, cursors and the delivery log stay; exports are cut off.

Example:
  deskwire organizations suspend 01980000-0000-7000-8000-000000000001
`,
  run: (args) => change(args, 'suspend', 'suspended'),
}

export const organizationsResume: Command = {
  help: () => `deskwire organizations resume ID: end the suspension of an organization.

  ID                     the organization
  --json                 print JSON
${databaseHelp}
Its keys work with the next call. Pending deliveries go out, with retries that came due meanwhile. The time of the
suspension does not count as time in which an endpoint failed.

Example:
  deskwire organizations resume 01980000-0000-7000-8000-000000000001
`,
  run: (args) => change(args, 'resume', 'active'),
}

async function change(
  args: readonly string[],
  word: 'suspend' | 'resume',
  status: 'suspended' | 'active',
): Promise<void> {
  const { words, json, config } = readCommand(args, [], 1)
  const organizationId = readId(words[0], `organizations ${word} needs the id of an organization`)
  await withInstallation({ config }, async ({ everywhere, databases: [{ pool }] }) => {
    const clock = await readDatabaseClock(pool)
    const outcome: SuspensionOutcome = await changeEverywhere(everywhere, clock, organizationId, status)
    switch (outcome) {
      case 'unknown':
        throw new UsageError(`there is no organization ${organizationId}`)
      case 'deleting':
        throw new CommandFailure(
          `organization ${organizationId} is being deleted: finish that with deskwire organizations delete`,
        )
      case 'done':
      case 'unchanged': {
        const changed = outcome === 'done'
        printOut(
          json
            ? `${JSON.stringify({ organizationId, status, changed })}\n`
            : `organization ${organizationId} is ${changed ? '' : 'already '}${status}\n`,
        )
      }
    }
  })
}
