import { readDatabaseClock, revokeKey } from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { databaseHelp, readCommand, withDatabaseOf } from '../database.ts'
import { readId } from '../ids.ts'
import { plain, printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

export const organizationsRevokeKey: Command = {
  help: () => `deskwire organizations revoke-key ID KEY_ID: revoke an API key at once, with all of its tokens.

  ID                     the organization
  KEY_ID                 the key, as deskwire organizations list-keys shows it
  --json                 print JSON: the key as it was
${databaseHelp}
Endpoints that it registered are disabled in the same commit. Other than over HTTP, the last key that manages keys may go too:
make another with deskwire organizations create-key. When the last key of all organizations is gone, the next start of the service makes a
new organization, as the first one did.

Example:
  deskwire organizations revoke-key 01980000-0000-7000-8000-000000000001 01980000-0000-7000-8000-000000000002
`,
  async run(args) {
    const { words, json, config } = readCommand(args, [], 2)
    const organizationId = readId(words[0], 'organizations revoke-key needs the id of an organization')
    const id = readId(words[1], 'organizations revoke-key needs the id of a key after that')
    await withDatabaseOf({ config }, organizationId, async ({ pool }) => {
      const revoked = await revokeKey(pool, await readDatabaseClock(pool), organizationId, id)
      if (revoked === null)
        throw new UsageError(
          `there is no key ${id} of an organization ${organizationId}: see deskwire organizations list-keys`,
        )
      printOut(json ? `${JSON.stringify(revoked)}\n` : `key ${id} (${plain(revoked.name)}) is revoked\n`)
    })
  },
}
