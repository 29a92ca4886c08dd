import { KeyRotationError, loadEncryptionKey, rotateEncryptionKey } from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { oneDatabaseHelp, readCommand, withEach } from '../database.ts'
import { CommandFailure } from '../failure.ts'
import { printOut, screen } from '../terminal.ts'

export const encryptionKeyRotate: Command = {
  help: () => `deskwire encryption-key rotate: encrypt stored secrets with a new key instead of the previous one.

DESKWIRE_ENCRYPTION_KEY           the new key (or encryption.key in the data directory)
DESKWIRE_ENCRYPTION_KEY_PREVIOUS  the one that it replaces

  --json                 print JSON: {secrets, responses, unreadable}, a line for each of several databases
${oneDatabaseHelp}
First start every process with both keys, in either order; then run this while they run; then start them with the new key alone.
Nothing waits for it, and deliveries go on. Killed at any moment it does no harm: run it again, and it goes on. With the keys
changed about it goes back. Keep the old key for as long as you keep backups from before.

Example:
  DESKWIRE_ENCRYPTION_KEY_PREVIOUS="$OLD_KEY" DESKWIRE_ENCRYPTION_KEY="$NEW_KEY" deskwire encryption-key rotate
`,
  async run(args) {
    const command = readCommand(args, ['database'])
    const { json, config } = command
    const current = config.encryptionKey ?? (await loadEncryptionKey(config.dataDir))
    const previous = config.encryptionKeyPrevious
    if (current === null)
      throw new CommandFailure(
        'there is no new key: set DESKWIRE_ENCRYPTION_KEY to one (openssl rand -base64 32), and start every process with it first',
      )
    if (previous === null)
      throw new CommandFailure(
        'DESKWIRE_ENCRYPTION_KEY_PREVIOUS: nothing is set; it must be the key that DESKWIRE_ENCRYPTION_KEY replaces',
      )
    await withEach(command, async ({ pool, database }) => {
      const done = await rotateEncryptionKey(
        pool,
        { current, previous },
        {
          onPiece(sealed) {
            screen.line(`${sealed} are encrypted anew`)
          },
        },
      ).catch((error: unknown) => {
        throw error instanceof KeyRotationError ? new CommandFailure(error.message) : error
      })
      screen.line('')
      const of = database.name === null ? {} : { database: database.name }
      const prefix = database.name === null ? '' : `${database.name}: `
      printOut(json ? `${JSON.stringify({ ...of, ...done })}\n` : `${prefix}${sentence(done)}`)
    })
  },
}

function sentence({
  secrets,
  responses,
  unreadable,
}: Awaited<ReturnType<typeof rotateEncryptionKey>>): string {
  const lost =
    unreadable.length === 0
      ? ''
      : `\n${unreadable.length} endpoints or keys have something that neither key opens, which was lost before. Endpoints among them need a new secret: ${unreadable.join(', ')}`
  return `${secrets} signing secrets and ${responses} stored responses were encrypted anew. Nothing is left under the previous key: start every process without it.${lost}\n`
}
