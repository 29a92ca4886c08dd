/**
 * OAuth 2.1 access tokens for `/mcp` (specification 15; decision 79): JWTs of the configured issuer for this audience,
 * whose claim names an API key. A valid one is exchanged for a session of that key, which the rest of the service knows.
 */
import { readJson } from '@deskwire/sdk/json'
import { textOf } from '@deskwire/sdk/text-of'
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import type { LookUp } from '../auth/authenticator.ts'
import type { TokenExchange } from '../http/authenticate.ts'
import { first } from '../http/static-content.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { LruMap } from '../kernel/lru-map.ts'
import { fail, ok, type Result } from '../kernel/outcome.ts'
import type { Clock } from '../kernel/timestamps.ts'

/** The claim with `ORGANIZATION_ID/API_KEY_ID`. */
const keyClaim = 'deskwire_key'
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const keyName = new RegExp(`^(${uuid})/(${uuid})$`)

const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
/** Milliseconds that the issuer may take. */
const respondsWithin = 5_000
/** Bytes of its metadata, and of its keys. */
const longestResponse = 2 ** 20
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
}

export function createAccessTokens(parts: AccessTokenParts): TokenExchange {
  const { issuer, audience, clock, beginSession, lookUp } = parts
  const { origin, pathname } = new URL(audience)
  /** By key and scopes: all tokens with the same share one. */
  const sessions = new LruMap<string, Promise<Result<Session, Problem>>>(maxSessions)

  const verifier = first(async () => {
    const [jose, keysUrl] = await Promise.all([import('jose'), keysOf(issuer)])
    const keys: JWTVerifyGetKey = jose.createRemoteJWKSet(new URL(keysUrl), {
      timeoutDuration: respondsWithin,
      [jose.customFetch]: fetchBounded,
    })
    return { jose, keys }
  })

  async function verify(token: string): Promise<Result<JWTPayload, Problem>> {
    let ready: Awaited<ReturnType<typeof verifier>>
    try {
      ready = await verifier()
    } catch {
      return fail(issuerDown)
    }
    const { jose, keys } = ready
    try {
      const currentDate = new Date(clock.now())
      const checks = { issuer, audience, algorithms, currentDate, requiredClaims: ['exp'] }
      const { payload, protectedHeader } = await jose.jwtVerify(token, keys, checks)
      return isAccessToken(protectedHeader.typ) ? ok(payload) : fail(invalidToken)
    } catch (error) {
      const isRefused = error instanceof jose.errors.JOSEError && !ofIssuer.has(error.code)
      return fail(isRefused ? invalidToken : issuerDown)
    }
  }

  async function isUsable({ token, expiresAt }: Session): Promise<boolean> {
    if (Date.parse(expiresAt) - lastMilliseconds <= clock.now()) return false
    const { outcome } = await lookUp(token)
    return outcome === 'authenticated' || outcome === 'suspended'
  }

  return {
    metadata: `${origin}/.well-known/oauth-protected-resource${pathname}`,
    async exchange(token) {
      const claims = await verify(token)
      if (!claims.ok) return claims
      const { [keyClaim]: named, scope } = claims.value
      const [, organizationId, apiKeyId] = (typeof named === 'string' ? keyName.exec(named) : null) ?? []
      if (organizationId === undefined || apiKeyId === undefined) return fail(noKey)
      if (scope !== undefined && typeof scope !== 'string') return fail(invalidScope)
      const scopes = scope === undefined ? null : scope.split(' ').sort()
      const name = JSON.stringify([named, scopes])
      const held = sessions.get(name)
      if (held !== undefined) {
        const session = await held
        if (session.ok && (await isUsable(session.value))) return ok(session.value.token)
      }
      // A concurrent request may have begun the next one already.
      const current = sessions.get(name)
      const begin = async () => (await beginSession({ organizationId, apiKeyId }, scopes)) ?? fail(noKey)
      const next = current === undefined || current === held ? begin() : current
      sessions.set(name, next)
      const forget = () => sessions.get(name) === next && sessions.delete(name)
      next.then(({ ok: began }) => began || forget(), forget)
      const session = await next
      return session.ok ? ok(session.value.token) : session
    },
  }
}

/**
 * Whether a JWT with this `typ` may be an access token: `at+jwt` (RFC 9068), or the general type, or none, as many issuers send. Others, such
 * as `logout+jwt`, are of the same issuer and not for calls.
 */
function isAccessToken(typ: unknown): boolean {
  return typ === undefined || (typeof typ === 'string' && /^(application\/)?(at\+)?jwt$/i.test(typ))
}

/** From the issuer's metadata (RFC 8414, or OpenID Connect Discovery). */
async function keysOf(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const urls = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
  for (const url of urls) {
    const { issuer: named, jwks_uri: keys } = (await metadataAt(url).catch(() => null)) ?? {}
    if (named === issuer && typeof keys === 'string' && URL.canParse(keys)) return keys
  }
  throw new Error(`${issuer} publishes no metadata with its name and its keys`)
}

async function metadataAt(url: string): Promise<Record<string, unknown> | null> {
  const response = await fetchBounded(url, {
    redirect: 'error',
    signal: AbortSignal.timeout(respondsWithin),
  })
  return response.ok ? (readJson(await response.text()) as Record<string, unknown> | null) : null
}

/** The response of an issuer, whole. @throws Error when it has more than `longestResponse` bytes. */
async function fetchBounded(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  const text = await textOf(response, longestResponse)
  if (text === undefined) throw new Error(`${url} answered with more than ${longestResponse} bytes`)
  return new Response(text, { status: response.status })
}

/** Errors of the library that are the issuer's. */
const ofIssuer: ReadonlySet<string> = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'])

const issuerDown = problem(
  'unavailable',
  'The keys of the issuer of access tokens cannot be read at the moment. Send the request again.',
)
const invalidToken = problem(
  'unauthorized',
  'The access token is not valid here: it has expired, is of another issuer, for another audience, or of another type than at+jwt or JWT.',
)
const invalidScope = problem(
  'unauthorized',
  'The access token is not valid here: its claim scope must be a string of scopes separated by spaces, or be left out.',
)
const noKey = problem(
  'unauthorized',
  `The access token names no valid API key: its claim ${keyClaim} must be ORGANIZATION_ID/API_KEY_ID.`,
)
