import { readDatabaseClock, revokeKey } from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { databaseHelp, readCommand, withDatabaseOf } from '../database.ts'
import { readId } from '../ids.ts'
import { plain, printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

export const keysRevoke: Command = {
  help: () => `deskwire keys revoke KEY_ID --org ID: revoke an API key at once, with all of its tokens.

  KEY_ID                 the key, as deskwire keys list shows it
  --org ID               the organization
  --json                 print JSON: the key as it was
${databaseHelp}
Endpoints that it registered are disabled in the same commit. Other than over HTTP, the last key that manages keys may go too:
make another with deskwire keys create. When the last key of all organizations is gone, the next start of the service makes a
new organization, as the first one did.

Example:
  deskwire keys revoke 01980000-0000-7000-8000-000000000002 --org 01980000-0000-7000-8000-000000000001
`,
  async run(args) {
    const { given, words, json, config } = readCommand(args, ['org'], 1)
    const id = readId(words[0], 'keys revoke needs the id of a key')
    const organizationId = readId(given.org, 'keys revoke needs --org with the id of an organization')
    await withDatabaseOf({ config }, organizationId, async ({ pool }) => {
      const revoked = await revokeKey(pool, await readDatabaseClock(pool), organizationId, id)
      if (revoked === null)
        throw new UsageError(
          `there is no key ${id} of an organization ${organizationId}: see deskwire keys list`,
        )
      printOut(json ? `${JSON.stringify(revoked)}\n` : `key ${id} (${plain(revoked.name)}) is revoked\n`)
    })
  },
}
