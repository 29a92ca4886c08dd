/**
 * Looks a token up, counts the call against its key's rate limit, and notes the use. A token that is not known to be
 * valid counts first against its network's limit, as anyone can make up tokens, and each costs a query.
 */
import type { Pool } from 'pg'
import { createRateLimiter, type Quota, type RateLimit, type RateLimiter } from '../admission/rate-limit.ts'
import { LruMap } from '../kernel/lru-map.ts'
import { networkOf } from '../kernel/networks.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import type { Caller, LookUp, Lookup } from './look-up.ts'
import { hashToken, isBearer } from './token.ts'

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
const mostEntries = 100_000

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
  const validHashes = new LruMap<string, true>(mostEntries)

  return {
    async authenticate(token, address) {
      // The checksum reveals a mistyped token without a query.
      if (!isBearer(token)) return { outcome: 'unknown' }
      const hash = hashToken(token)
      const network = validHashes.has(hash) ? null : networkOf(address)
      // Counted before the look-up, which a burst of unknown tokens then skips. Refunded when the token is valid.
      if (network !== null && unauthenticated?.count(network).allowed === false)
        return { outcome: 'throttled' }
      const found = await lookUp(token)
      if (found.outcome !== 'authenticated' && found.outcome !== 'suspended') {
        validHashes.delete(hash)
        return found
      }
      if (network !== null) unauthenticated?.refund(network)
      validHashes.set(hash, true)
      const { caller } = found
      // A session has its own limit, so its page does not use up the calls of its key.
      const quota = keys?.count(caller.sessionId ?? caller.apiKeyId) ?? null
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

interface KeyUse {
  readonly organizationId: string
  readonly apiKeyId: string
}

export interface UseRecorder {
  note(key: KeyUse): void
  /** Resolves when everything noted so far is written, or has failed. */
  settled(): Promise<void>
}

/** Records when keys were last used: after the response, at most once a minute. A failed write is only logged. */
export function createUseRecorder(options: {
  readonly pool: Pool
  readonly clock: Clock
  readonly onError: (error: Error) => void
}): UseRecorder {
  const { pool, clock, onError } = options
  const written = new LruMap<string, number>(rememberedUses)
  /** Writes run one after another, so that this uses at most one connection. */
  let writing: Promise<void> = Promise.resolve()

  return {
    note({ organizationId, apiKeyId }) {
      const now = clock.now()
      const last = written.get(apiKeyId)
      if (last !== undefined && Math.abs(now - last) < usesAreExactTo) return
      written.set(apiKeyId, now)
      writing = writing.then(() => write(organizationId, apiKeyId, now).catch(onError))
    },
    settled: () => writing,
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
