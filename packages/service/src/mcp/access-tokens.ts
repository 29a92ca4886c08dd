/**
 * OAuth 2.1 access tokens for `/mcp` (specification 15; decision 79): JWTs of the configured issuer for this audience,
 * whose claim names an API key. A valid one is exchanged for a session of that key, which the rest of the service knows.
 */
import { readJson } from '@deskwire/sdk/json'
import { textOf } from '@deskwire/sdk/text-of'
import type { FastifyBaseLogger } from 'fastify'
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import type { LookUp } from '../auth/authenticator.ts'
import { grants } from '../auth/scopes.ts'
import type { TokenExchange } from '../http/authenticate.ts'
import { first } from '../http/static-content.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { loggable, thinned } from '../kernel/log.ts'
import { LruMap } from '../kernel/lru-map.ts'
import { fail, ok, type Result } from '../kernel/outcome.ts'
import type { Clock } from '../kernel/timestamps.ts'

/** The claim with `ORGANIZATION_ID/API_KEY_ID`. */
const keyClaim = 'deskwire_key'
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const keyName = new RegExp(`^(${uuid})/(${uuid})$`)
/** Claims with scopes; issuers use one or the other. */
const scopeClaims = ['scope', 'scp']
/** Claims that restrict a token in ways that the service cannot check: to the holder of a key, or to some actions. */
const uncheckedClaims = ['cnf', 'authorization_details']

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
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

export function createAccessTokens(parts: AccessTokenParts): TokenExchange {
  const { issuer, audience, clock, beginSession, lookUp, log } = parts
  const warn = thinned()
  const warnOf = (error: Error) => warn(log, { issuer, err: loggable(error) }, unreadable)
  const { origin, pathname } = new URL(audience)
  /** By key and scopes: all tokens with the same share one. */
  const sessions = new LruMap<string, Promise<Result<Session, Problem>>>(maxSessions)

  const verifier = first(async () => {
    const [jose, keysUrl] = await Promise.all([import('jose'), keysOf(issuer, log)])
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
    } catch (error) {
      warnOf(error as Error)
      return fail(issuerDown)
    }
    const { jose, keys } = ready
    try {
      const currentDate = new Date(clock.now())
      const checks = { issuer, audience, algorithms, currentDate, requiredClaims: ['exp'] }
      const { payload, protectedHeader } = await jose.jwtVerify(token, keys, checks)
      return isAccessToken(protectedHeader.typ) ? ok(payload) : fail(invalidToken)
    } catch (error) {
      if (error instanceof jose.errors.JOSEError && !ofIssuer.has(error.code)) return fail(invalidToken)
      warnOf(error as Error)
      return fail(issuerDown)
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
      if (uncheckedClaims.some((claim) => Object.hasOwn(claims.value, claim))) return fail(restricted)
      const { [keyClaim]: named } = claims.value
      const [, organizationId, apiKeyId] = (typeof named === 'string' ? keyName.exec(named) : null) ?? []
      if (organizationId === undefined || apiKeyId === undefined) return fail(noKey)
      const wanted = scopesOf(claims.value)
      if (!wanted.ok) return wanted
      const scopes = wanted.value
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

/** The scopes that every claim with scopes has, sorted; null: no claim has scopes. */
function scopesOf(claims: JWTPayload): Result<readonly string[] | null, Problem> {
  const lists = scopeClaims.filter((claim) => Object.hasOwn(claims, claim)).map((claim) => claims[claim])
  let common: ReadonlySet<string> | null = null
  for (const list of lists) {
    const scopes: unknown = typeof list === 'string' ? list.split(' ') : list
    if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string'))
      return fail(invalidScope)
    const named: ReadonlySet<string> = new Set(scopes)
    common = common === null ? named : commonScopes(common, named)
  }
  return ok(common === null ? null : [...common].sort())
}

/** `*` in one stands for each scope in the other. */
function commonScopes(some: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> {
  const within = (scopes: ReadonlySet<string>, all: ReadonlySet<string>) =>
    [...scopes].filter((scope) => grants([...all], scope))
  return new Set([...within(some, others), ...within(others, some)])
}

/**
 * From the issuer's metadata (RFC 8414, or OpenID Connect Discovery).
 * @throws Error when neither address has it
 */
async function keysOf(issuer: string, log: Pick<FastifyBaseLogger, 'info' | 'warn'>): Promise<string> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const urls = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
  const reasons: string[] = []
  for (const url of urls) {
    try {
      const keys = keysIn(await metadataAt(url), issuer)
      if (reasons.length > 0) log.info({ issuer, reasons }, foundAtSecond)
      return keys
    } catch (error) {
      const { message, cause } = error as Error
      reasons.push(`${url}: ${cause instanceof Error ? `${message}: ${cause.message}` : message}`)
    }
  }
  throw new Error(`no address has the metadata of ${issuer}; ${reasons.join('; ')}`)
}

/** @throws Error when it is not the metadata of the issuer */
function keysIn(metadata: unknown, issuer: string): string {
  const { issuer: named, jwks_uri: keys } = (metadata ?? {}) as Record<string, unknown>
  if (named !== issuer) throw new Error('the response does not name the issuer')
  if (typeof keys !== 'string' || !URL.canParse(keys)) throw new Error('the response has no jwks_uri')
  return keys
}

/** @throws Error for a response other than JSON with the status 200 */
async function metadataAt(url: string): Promise<unknown> {
  const response = await fetchBounded(url, {
    redirect: 'error',
    signal: AbortSignal.timeout(respondsWithin),
  })
  if (response.status !== 200) throw new Error(`HTTP ${response.status}`)
  const text = await response.text()
  try {
    return readJson(text)
  } catch {
    throw new Error('the response is not JSON')
  }
}

/** The response of an issuer, whole. @throws Error when it has more than `longestResponse` bytes. */
async function fetchBounded(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  const text = await textOf(response, longestResponse)
  if (text === undefined) throw new Error(`${url} answered with more than ${longestResponse} bytes`)
  // Some statuses may have no body.
  return new Response(text || null, { status: response.status })
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
  'The access token is not valid here: each of its claims scope and scp must be a string of scopes separated by spaces, a list of scopes, or be left out.',
)
const restricted = problem(
  'unauthorized',
  `The access token is not valid here: the restrictions in its claims ${uncheckedClaims.join(' or ')} cannot be checked.`,
)
const foundAtSecond = 'the metadata of the issuer of access tokens was read at its second address'
const unreadable = 'the keys of the issuer of access tokens cannot be read'
const noKey = problem(
  'unauthorized',
  `The access token names no valid API key: its claim ${keyClaim} must be ORGANIZATION_ID/API_KEY_ID.`,
)
