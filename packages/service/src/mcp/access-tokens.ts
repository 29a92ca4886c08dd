/**
 * OAuth 2.1 access tokens for `/mcp` (specification 15; decision 79): `@deskwire/mcp` reads which API key a token
 * names. A valid one is exchanged for a session of that key, which the rest of the service knows.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { LookUp } from '../auth/authenticator.ts'
import type { TokenExchange } from '../http/authenticate.ts'
import { first } from '../http/static-content.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { loggable, thinned } from '../kernel/log.ts'
import { LruMap } from '../kernel/lru-map.ts'
import { fail, ok, type Result } from '../kernel/outcome.ts'
import type { Clock } from '../kernel/timestamps.ts'

/** A session is not used in its last minute. */
const lastMilliseconds = 60_000
const maxSessions = 10_000

interface Session {
  readonly token: string
  readonly expiresAt: string
}

interface AccessTokenParts {
  readonly issuer: string
  /** The URL of `/mcp`. */
  readonly audience: string
  readonly clock: Clock
  /** A session of the key with at most these scopes; null: there is no such key. */
  readonly beginSession: (
    key: { readonly organizationId: string; readonly apiKeyId: string },
    wanted: readonly string[] | null,
  ) => Promise<Result<Session, Problem> | null>
  readonly lookUp: LookUp
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

export function createAccessTokens(parts: AccessTokenParts): TokenExchange {
  const { issuer, audience, clock, beginSession, lookUp, log } = parts
  const warn = thinned()
  const { origin, pathname } = new URL(audience)
  /** By key and scopes: all tokens with the same share one. */
  const sessions = new LruMap<string, Promise<Result<Session, Problem>>>(maxSessions)

  const reader = first(async () => {
    const { createTokenReader, noKey } = await import('@deskwire/mcp/access-tokens')
    const read = createTokenReader({
      issuer,
      audience,
      now: () => clock.now(),
      onUnreadable: (error) => warn(log, { issuer, err: loggable(error) }, unreadable),
      onSecondAddress: (reasons) => log.info({ issuer, reasons }, foundAtSecond),
    })
    return { read, noKey }
  })

  async function isUsable({ token, expiresAt }: Session): Promise<boolean> {
    if (Date.parse(expiresAt) - lastMilliseconds <= clock.now()) return false
    const { outcome } = await lookUp(token)
    return outcome === 'authenticated' || outcome === 'suspended'
  }

  return {
    metadata: `${origin}/.well-known/oauth-protected-resource${pathname}`,
    async exchange(token) {
      const { read, noKey } = await reader()
      const granted = await read(token)
      if (!granted.ok) return fail(problem(granted.error.code, granted.error.detail))
      const { scopes, ...key } = granted.value
      const name = JSON.stringify([key, scopes])
      const held = sessions.get(name)
      if (held !== undefined) {
        const session = await held
        if (session.ok && (await isUsable(session.value))) return ok(session.value.token)
      }
      // A concurrent request may have begun the next one already.
      const current = sessions.get(name)
      const begin = async () => (await beginSession(key, scopes)) ?? fail(problem('unauthorized', noKey))
      const next = current === undefined || current === held ? begin() : current
      sessions.set(name, next)
      const forget = () => sessions.get(name) === next && sessions.delete(name)
      next.then(({ ok: began }) => began || forget(), forget)
      const session = await next
      return session.ok ? ok(session.value.token) : session
    },
  }
}

const foundAtSecond = 'the metadata of the issuer of access tokens was read at its second address'
const unreadable = 'the keys of the issuer of access tokens cannot be read'
