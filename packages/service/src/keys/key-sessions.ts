/** Sessions of a key that this process holds itself, for a caller whom another authority has authenticated. */

import { grants, managingScope } from '../auth/scopes.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/outcome.ts'
import type { Clock } from '../kernel/timestamps.ts'
import type { ConsoleLinks } from './console-links.ts'
import { hasExpired } from './decide.ts'
import type { Keys } from './keys.ts'

interface KeyName {
  readonly organizationId: string
  readonly apiKeyId: string
}

interface KeySession {
  readonly token: string
  readonly expiresAt: string
}

/** `wanted`: at most these scopes; null: all that a session can have. Null: there is no such valid key here. */
export type BeginSession = (
  key: KeyName,
  wanted: readonly string[] | null,
) => Promise<Result<KeySession, Problem> | null>

const lifetimeSeconds = 15 * 60

/** Begins sessions as a browser does, by a link and its exchange, so they end with the key and follow its scopes. */
export function createKeySessions(services: {
  readonly keys: Pick<Keys, 'read'>
  readonly links: Pick<ConsoleLinks, 'create' | 'exchange'>
  readonly clock: Clock
  readonly scopes: readonly string[]
}): BeginSession {
  const { keys, links, clock } = services
  const grantable = services.scopes.filter((scope) => scope !== managingScope && scope !== '*')
  return async ({ organizationId, apiKeyId }, wanted) => {
    const key = await keys.read(organizationId, apiKeyId)
    if (key === null || hasExpired(key, clock.now())) return null
    const scopes = grantable.filter(
      (scope) => grants(key.scopes, scope) && (wanted === null || grants(wanted, scope)),
    )
    if (scopes.length === 0) return fail(noScope)
    const caller = { organizationId, organizationCreatedAt: 0, apiKeyId, scopes: key.scopes }
    const link = await links.create(caller, { scopes, expiresIn: lifetimeSeconds }, '', null)
    if (link.outcome === 'refused') return fail(link.error)
    if (link.outcome !== 'done') throw new Error(`a link without a request's key was ${link.outcome}`)
    const session = await links.exchange({ link: link.value.url.split('#link=')[1] })
    if (session.outcome === 'refused') return fail(session.error)
    if (session.outcome !== 'done') throw new Error(`a link was ${session.outcome}`)
    return ok(session.value)
  }
}

const noScope = problem('insufficient_scope', 'The access token and its API key have no scope in common.')
