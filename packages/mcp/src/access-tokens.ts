/**
 * OAuth 2.1 access tokens: JWTs of one issuer for one audience, whose claim names an API key. Of claims with scopes,
 * each narrows; a claim that is not understood refuses.
 */
import { readJson } from '@deskwire/sdk/json'
import { textOf } from '@deskwire/sdk/text-of'
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from 'jose'
import { holds } from './tool.ts'

/** The claim with `ORGANIZATION_ID/API_KEY_ID`. */
const keyClaim = 'deskwire_key'
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const keyName = new RegExp(`^(${uuid})/(${uuid})$`)
/** Claims with scopes; issuers use one or the other. */
const scopeClaims = ['scope', 'scp']
/** Claims that restrict a token in ways that cannot be checked: to the holder of a key, or to some actions. */
const uncheckedClaims = ['cnf', 'authorization_details']

const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
/** Milliseconds that the issuer may take. */
const respondsWithin = 5_000
/** Bytes of its metadata, and of its keys. */
const longestResponse = 2 ** 20

/** What a token allows: the key's scopes that are among these; null: all of them. */
export interface Granted {
  readonly organizationId: string
  readonly apiKeyId: string
  readonly scopes: readonly string[] | null
}

/** As the API refuses. */
export interface TokenRefusal {
  readonly code: 'unauthorized' | 'unavailable'
  readonly detail: string
}

type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: TokenRefusal }

export interface Issuer {
  readonly issuer: string
  readonly audience: string
  readonly now: () => number
  /** Its keys could not be read. */
  readonly onUnreadable: (error: Error) => void
  /** Its metadata were at the second address, for these reasons. */
  readonly onSecondAddress: (reasons: readonly string[]) => void
}

/** Says what a token allows, or why it is refused. Reads the keys of the issuer for the first token. */
export function createTokenReader(from: Issuer): (token: string) => Promise<Outcome<Granted>> {
  const { issuer, audience, now, onUnreadable } = from
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | null = null

  async function readKeys() {
    const url = new URL(await keysOf(from))
    return createRemoteJWKSet(url, { timeoutDuration: respondsWithin, [customFetch]: fetchBounded })
  }

  async function verify(token: string): Promise<Outcome<JWTPayload>> {
    try {
      keys ??= readKeys().catch((error: unknown) => {
        keys = null
        throw error
      })
      const checks = { issuer, audience, algorithms, currentDate: new Date(now()), requiredClaims: ['exp'] }
      const { payload, protectedHeader } = await jwtVerify(token, await keys, checks)
      return isAccessToken(protectedHeader.typ) ? { ok: true, value: payload } : refuse(invalidToken)
    } catch (error) {
      if (error instanceof errors.JOSEError && !ofIssuer.has(error.code)) return refuse(invalidToken)
      onUnreadable(error as Error)
      return refuse(issuerDown, 'unavailable')
    }
  }

  return async (token) => {
    const claims = await verify(token)
    if (!claims.ok) return claims
    if (uncheckedClaims.some((claim) => Object.hasOwn(claims.value, claim))) return refuse(restricted)
    const { [keyClaim]: named } = claims.value
    const [, organizationId, apiKeyId] = (typeof named === 'string' ? keyName.exec(named) : null) ?? []
    if (organizationId === undefined || apiKeyId === undefined) return refuse(noKey)
    const scopes = scopesOf(claims.value)
    return scopes.ok ? { ok: true, value: { organizationId, apiKeyId, scopes: scopes.value } } : scopes
  }
}

function refuse(detail: string, code: TokenRefusal['code'] = 'unauthorized') {
  return { ok: false, error: { code, detail } } as const
}

/**
 * Whether a JWT with this `typ` may be an access token: `at+jwt` (RFC 9068), or the general type, or none, as many
 * issuers send. Others, such as `logout+jwt`, are of the same issuer and not for calls.
 */
function isAccessToken(typ: unknown): boolean {
  return typ === undefined || (typeof typ === 'string' && /^(application\/)?(at\+)?jwt$/i.test(typ))
}

/** The scopes that every claim with scopes has, sorted; null: no claim has scopes. */
function scopesOf(claims: JWTPayload): Outcome<readonly string[] | null> {
  const lists = scopeClaims.filter((claim) => Object.hasOwn(claims, claim)).map((claim) => claims[claim])
  let common: ReadonlySet<string> | null = null
  for (const list of lists) {
    const scopes: unknown = typeof list === 'string' ? list.split(' ') : list
    if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string'))
      return refuse(invalidScope)
    const named: ReadonlySet<string> = new Set(scopes)
    common = common === null ? named : commonScopes(common, named)
  }
  return { ok: true, value: common === null ? null : [...common].sort() }
}

/** `*` in one stands for each scope in the other. */
function commonScopes(some: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> {
  const within = (scopes: ReadonlySet<string>, all: ReadonlySet<string>) =>
    [...scopes].filter((scope) => holds([...all], scope))
  return new Set([...within(some, others), ...within(others, some)])
}

/**
 * From the issuer's metadata (RFC 8414, or OpenID Connect Discovery).
 * @throws Error when neither address has it
 */
async function keysOf({ issuer, onSecondAddress }: Issuer): Promise<string> {
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
      if (reasons.length > 0) onSecondAddress(reasons)
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

const issuerDown =
  'The keys of the issuer of access tokens cannot be read at the moment. Send the request again.'
const invalidToken =
  'The access token is not valid here: it has expired, is of another issuer, for another audience, or of another type than at+jwt or JWT.'
const invalidScope =
  'The access token is not valid here: each of its claims scope and scp must be a string of scopes separated by spaces, a list of scopes, or be left out.'
const restricted = `The access token is not valid here: the restrictions in its claims ${uncheckedClaims.join(' or ')} cannot be checked.`
export const noKey = `The access token names no valid API key: its claim ${keyClaim} must be ORGANIZATION_ID/API_KEY_ID.`
