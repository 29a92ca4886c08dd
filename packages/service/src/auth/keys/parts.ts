/** The routes of API keys and console links, with what they work on. */
import type { Directory } from '../../databases/directory.ts'
import type { Database } from '../../db/fair-pool.ts'
import { type Part, partOf } from '../../http/route.ts'
import type { CallUnderClock } from '../../journal/journal.ts'
import type { Clock } from '../../kernel/timestamps.ts'
import { consoleLinkPart } from './console-link-routes.ts'
import { createConsoleLinks } from './console-links.ts'
import { createKeys } from './keys.ts'
import { keyPart } from './routes.ts'
import { createKeyStore } from './store.ts'

export function keyParts(services: {
  readonly database: Database
  readonly clock: Clock
  readonly callUnderClock: CallUnderClock
  /** Encrypts an answer with a token, to be stored for its Idempotency-Key. */
  readonly seal: Parameters<typeof createKeys>[0]['seal']
  /** Deliveries may be due. */
  readonly wake: () => void
  /** Every scope there is. */
  readonly scopes: readonly string[]
  /** Notes tokens before they are created. Null: this database has the directory itself, or there is no other. */
  readonly directory: Pick<Directory, 'note' | 'noteBeside' | 'forgetTokens'> | null
}): readonly Part[] {
  const { database, clock, callUnderClock, seal, wake, scopes, directory } = services
  const store = createKeyStore(database, callUnderClock)
  const keys = createKeys({ store, clock, scopes, seal, wake, directory })
  const links = createConsoleLinks({ database, callUnderClock, clock, scopes, seal, directory })
  return [
    partOf(() => keyPart(scopes).routes, { keys, store, clock }),
    partOf(() => consoleLinkPart(scopes).routes, { links }),
  ]
}
