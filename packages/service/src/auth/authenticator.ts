/**
 * Finds the caller of a token, for every request, so that a revocation takes effect at once in every process. Counts
 * the call against the key's rate limit, and notes the use. A token that is not known to be valid counts first against
 * its network's limit, as anyone can make up tokens, and each costs a query.
 */
import { readJson } from '@deskwire/sdk/json'
import type { Pool } from 'pg'
import { createRateLimiter, type Quota, type RateLimit, type RateLimiter } from '../admission/rate-limit.ts'
import { onlyRead } from '../db/client.ts'
import { isServedElsewhere } from '../db/not-served.ts'
import {
  arrayParameter,
  hiddenArray,
  milliseconds,
  type PreparedStatement,
  queryText,
  type TextRow,
} from '../db/text-query.ts'
import { LruMap } from '../kernel/lru-map.ts'
import { networkOf } from '../kernel/networks.ts'
import { coalesce } from '../kernel/shared-work.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import { grants } from './scopes.ts'
import { hashToken, isBearer, isToken } from './token.ts'

/** The key or session that sent the request. */
export interface Caller {
  readonly organizationId: string
  /** Milliseconds since the Unix epoch. An earlier watermark begins a first sync. */
  readonly organizationCreatedAt: number
  readonly apiKeyId: string
  readonly scopes: readonly string[]
  /** The console link that began the session; absent when the key itself calls. */
  readonly sessionId?: string
  /** The index of the organization's database (`databases/router.ts`); absent when there is only one. */
  readonly shard?: number
}

export type Lookup =
  | { readonly outcome: 'authenticated'; readonly caller: Caller }
  /** Not a token of this installation, revoked, or mistyped. */
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'expired' }
  /** The key is valid, but this token was replaced and its overlap has ended. */
  | { readonly outcome: 'replaced' }
  /** The console session has ended. */
  | { readonly outcome: 'ended' }
  /** The key is valid, but its organization is suspended. */
  | { readonly outcome: 'suspended'; readonly caller: Caller }

/** `elsewhere`: another database serves the organization. */
export type TokenLookup = Lookup | { readonly outcome: 'elsewhere' }

/** Milliseconds after which a caller is checked again, as the request was queued. Nearly every request ends before. */
export const recheckAfter = 100

export type LookUp = (token: string) => Promise<Lookup>

/** `quota` is null when calls are not limited. */
export type Authentication =
  | { readonly outcome: 'authenticated'; readonly caller: Caller; readonly quota: Quota | null }
  | Exclude<Lookup, { readonly caller: Caller }>
  | { readonly outcome: 'suspended'; readonly organizationId: string; readonly quota: Quota | null }
  | { readonly outcome: 'limited'; readonly organizationId: string; readonly quota: Quota }
  /** Too many unknown tokens came from this network. */
  | { readonly outcome: 'throttled' }

export interface Authenticator {
  /** `address`: the IP address that the request came from. */
  authenticate(token: string, address: string): Promise<Authentication>
  /** The current owner of a token that was accepted before. Does not count as a call. */
  lookUp(token: string): Promise<Lookup>
}

/** Hashes of recently valid tokens. Each is still looked up, so that a revocation takes effect at once. */
const maxEntries = 100_000

/** `limit` applies to each key; null: no limit. */
export function createAuthenticator(options: {
  readonly lookUp: LookUp
  readonly clock: Clock
  readonly limit: RateLimit | null
  readonly uses: { note(caller: Caller): void }
  /** Counts unknown tokens by network. Default: they are not limited. */
  readonly unauthenticated?: RateLimiter | undefined
}): Authenticator {
  const { lookUp, clock, limit, uses, unauthenticated } = options
  const keys = limit === null ? null : createRateLimiter(limit, clock)
  const validHashes = new LruMap<string, true>(maxEntries)

  return {
    async authenticate(token, address) {
      // The checksum reveals a mistyped token without a query.
      if (!isBearer(token)) return { outcome: 'unknown' }
      const hash = hashToken(token)
      const network = validHashes.has(hash) ? null : networkOf(address)
      // Counted before the look-up, which a burst of unknown tokens then skips. Refunded when the token is valid.
      if (network !== null && unauthenticated?.count(network).allowed === false)
        return { outcome: 'throttled' }
      // An outage delays the look-up: requests that were sent one after another then count all at once.
      const sentAt = clock.now()
      const found = await lookUp(token).catch((error: Error) => {
        // An outage says nothing about the token.
        if (network !== null) unauthenticated?.refund(network)
        throw error
      })
      if (found.outcome !== 'authenticated' && found.outcome !== 'suspended') {
        validHashes.delete(hash)
        return found
      }
      if (network !== null) unauthenticated?.refund(network)
      validHashes.set(hash, true)
      const { caller } = found
      // Sessions count toward their key, which could otherwise call without a limit by making more of them.
      const quota = keys?.count(caller.apiKeyId, sentAt) ?? null
      const { organizationId } = caller
      if (quota?.allowed === false) return { outcome: 'limited', organizationId, quota }
      if (found.outcome === 'suspended') return { outcome: 'suspended', organizationId, quota }
      uses.note(caller)
      return { outcome: 'authenticated', caller, quota }
    },

    lookUp,
  }
}

/** Precision of `lastUsedAt`, in milliseconds. */
const usesAreExactTo = 60_000

/** Beyond so many keys, one may be written twice in a minute. */
const rememberedUses = 10_000

export interface KeyUse {
  readonly organizationId: string
  readonly apiKeyId: string
}

/** Records when keys were last used: after the response, at most once a minute. A failed write is only logged. */
export function createUseRecorder(options: {
  readonly pool: Pool
  readonly clock: Clock
  readonly onError: (error: Error) => void
}) {
  const { pool, clock, onError } = options
  const written = new LruMap<string, number>(rememberedUses)
  /** Writes run one after another, so that this uses at most one connection. */
  let writing: Promise<void> = Promise.resolve()

  return {
    note({ organizationId, apiKeyId }: KeyUse): void {
      const now = clock.now()
      const last = written.get(apiKeyId)
      if (last !== undefined && Math.abs(now - last) < usesAreExactTo) return
      written.set(apiKeyId, now)
      writing = writing.then(() => write(organizationId, apiKeyId, now).catch(onError))
    },
    /** Resolves when everything noted so far is written, or has failed. */
    settled: (): Promise<void> => writing,
  }

  /** Writes nothing for a key that was revoked meanwhile. */
  async function write(organizationId: string, apiKeyId: string, now: number): Promise<void> {
    await pool.query({
      name: 'note_key_use',
      text: `insert into api_key_uses as u (organization_id, api_key_id, last_used_at)
             select k.organization_id, k.id, $3 from api_keys k where k.organization_id = $1 and k.id = $2
             on conflict (organization_id, api_key_id) do update
               set last_used_at = greatest(u.last_used_at, excluded.last_used_at)`,
      values: [organizationId, apiKeyId, formatTimestamp(now)],
    })
  }
}

interface Found {
  readonly caller: Caller
  readonly tokenExpiresAt: number | null
  readonly keyExpiresAt: number | null
  readonly suspended: boolean
  readonly elsewhere: boolean
}

/** Concurrent look-ups share a query. */
export function createLookUp(pool: Pool, clock: Clock): (token: string) => Promise<TokenLookup> {
  /** The statement that looks up tokens in this table, `d`. */
  const statementFor = (name: string, directory: string, session = '', only = '') => ({
    name,
    text: `select encode(d.token_hash, 'hex') as token_hash, d.organization_id, ${milliseconds('o.created_at')} as organization_created_at,
             d.api_key_id, array_to_json(k.scopes) as scopes, ${milliseconds('d.expires_at')} as token_expires_at,
             ${milliseconds('k.expires_at')} as key_expires_at,
             case when o.suspended_at is not null then true end as suspended,
             case when ${isServedElsewhere('o')} then true end as elsewhere${session}
           from ${directory}
           join api_keys k on k.organization_id = d.organization_id and k.id = d.api_key_id
           join organizations o on o.organization_id = d.organization_id
           where d.token_hash = any(${hiddenArray('$1', 'bytea')})${only}`,
  })
  const find = finder(pool, statementFor('recognize_tokens', 'api_key_tokens d'))
  const session = ', d.id as session_id, array_to_json(d.scopes) as session_scopes'
  const findSession = finder(
    pool,
    statementFor('recognize_sessions', 'console_links d', session, ' and d.exchanged_at is not null'),
  )

  return async (token) => {
    const isSession = isToken(token, 'session')
    if (!isSession && !isToken(token)) return { outcome: 'unknown' }
    const found = await (isSession ? findSession : find)(hashToken(token))
    if (found === null) return { outcome: 'unknown' }
    if (found.elsewhere) return { outcome: 'elsewhere' }
    const isOver = (at: number | null) => at !== null && at <= clock.now()
    if (isOver(found.keyExpiresAt)) return { outcome: isSession ? 'ended' : 'expired' }
    if (isOver(found.tokenExpiresAt)) return { outcome: isSession ? 'ended' : 'replaced' }
    return { outcome: found.suspended ? 'suspended' : 'authenticated', caller: found.caller }
  }
}

/** Runs such a statement for hashes; concurrent look-ups share a query. */
function finder(pool: Pool, statement: PreparedStatement) {
  return coalesce(async (hashes: readonly string[]): Promise<(Found | null)[]> => {
    const bytes = [...new Set(hashes)].map((hash) => `\\x${hash}`)
    const rows = await queryText(pool, statement, [arrayParameter(bytes)]).catch(onlyRead)
    const found = new Map(rows.map((row) => [row[0], foundIn(row)]))
    return hashes.map((hash) => found.get(hash) ?? null)
  })
}

function foundIn(columns: TextRow): Found {
  const [
    ,
    organizationId,
    createdAt,
    apiKeyId,
    scopes,
    tokenExpiresAt,
    keyExpiresAt,
    suspended,
    elsewhere,
    sessionId,
    own,
  ] = columns
  const held = readJson(String(scopes)) as string[]
  const time = (text: string | null | undefined) => (text == null ? null : Number(text))
  return {
    caller: {
      organizationId: String(organizationId),
      organizationCreatedAt: Number(createdAt),
      apiKeyId: String(apiKeyId),
      // A session has the scopes it was created with, as far as its key still has them.
      scopes: own == null ? held : (readJson(own) as string[]).filter((scope) => grants(held, scope)),
      ...(sessionId == null ? {} : { sessionId }),
    },
    tokenExpiresAt: time(tokenExpiresAt),
    keyExpiresAt: time(keyExpiresAt),
    suspended: suspended != null,
    elsewhere: elsewhere != null,
  }
}
