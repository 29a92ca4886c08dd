/** The routes of API keys and console links, bound to their services. */
import type { Directory } from '../../databases/directory.ts'
import type { Database } from '../../db/fair-pool.ts'
import { type BoundRoutes, bindRoutes } from '../../http/route.ts'
import type { CallUnderClock } from '../../journal/journal.ts'
import type { Clock } from '../../kernel/timestamps.ts'
import { consoleLinkApi } from './console-link-routes.ts'
import { createConsoleLinks } from './console-links.ts'
import { type BeginSession, createKeySessions } from './key-sessions.ts'
import { createKeys } from './keys.ts'
import { keyApi } from './routes.ts'

export function keyRoutes(services: {
  readonly database: Database
  readonly clock: Clock
  readonly callUnderClock: CallUnderClock
  /** Encrypts a response that holds a token, to store it for its Idempotency-Key. */
  readonly seal: Parameters<typeof createKeys>[0]['seal']
  readonly wake: () => void
  readonly scopes: readonly string[]
  /** Notes tokens before they are created. Null: this database has the directory itself, or there is no other. */
  readonly directory: Pick<Directory, 'note' | 'noteBeside' | 'forgetTokens'> | null
}): { readonly routes: readonly BoundRoutes[]; readonly beginSession: BeginSession } {
  const { database, clock, callUnderClock, seal, wake, scopes, directory } = services
  const keys = createKeys({ database, callUnderClock, clock, scopes, seal, wake, directory })
  const links = createConsoleLinks({ database, callUnderClock, clock, scopes, seal, directory })
  return {
    routes: [
      bindRoutes(() => keyApi(scopes).routes, { keys, database, clock }),
      bindRoutes(() => consoleLinkApi(scopes).routes, { links }),
    ],
    beginSession: createKeySessions({ keys, links, clock, scopes }),
  }
}
