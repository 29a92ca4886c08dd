/**
 * Authentication: a token is looked up, its key's calls are counted against its limit, and its use is noted. A token that this process has
 * not seen to be good counts first against the limit of its network, as anybody can make one up and each costs a look into the database.
 */

import { createRateLimiter, type Quota, type RateLimit, type RateLimiter } from '../admission/rate-limit.ts'
import { LruMap } from '../kernel/lru-map.ts'
import { networkOf } from '../kernel/networks.ts'
import type { Clock } from '../kernel/timestamps.ts'
import type { Caller, LookUp, Lookup } from './look-up.ts'
import { hashToken, isBearer } from './token.ts'

/** What becomes of a request that carries a token. `quota` is null when nothing is limited. */
export type Authentication =
  | { readonly outcome: 'authenticated'; readonly caller: Caller; readonly quota: Quota | null }
  | Exclude<Lookup, { readonly caller: Caller }>
  /** The key is good, but its organization is suspended. */
  | { readonly outcome: 'suspended'; readonly organizationId: string; readonly quota: Quota | null }
  /** The key has made too many calls. */
  | { readonly outcome: 'limited'; readonly organizationId: string; readonly quota: Quota }
  /** Too many unknown tokens came from this network. */
  | { readonly outcome: 'throttled' }

export interface Authenticator {
  /** `address`: the IP address that the request came from. */
  authenticate(token: string, address: string): Promise<Authentication>
  /** Whose a token is now that was let in before. It counts as no call. */
  lookUp(token: string): Promise<Lookup>
}

/** Hashes of tokens that were good a moment ago. Each is looked up all the same, so that a revocation counts at once. */
const rememberedAtMost = 100_000

/** `limit` holds for each key; null limits nothing. */
export function createAuthenticator(options: {
  readonly lookUp: LookUp
  readonly clock: Clock
  readonly limit: RateLimit | null
  readonly uses: { note(caller: Caller): void }
  /** Counts unknown tokens by network; without it they are not limited. */
  readonly unauthenticated?: RateLimiter | undefined
}): Authenticator {
  const { lookUp, clock, limit, uses, unauthenticated } = options
  const keys = limit === null ? null : createRateLimiter(limit, clock)
  const good = new LruMap<string, true>(rememberedAtMost)

  return {
    async authenticate(token, address) {
      // What is mistyped is seen by its checksum, and costs nothing.
      if (!isBearer(token)) return { outcome: 'unknown' }
      const hash = hashToken(token)
      const network = good.has(hash) ? null : networkOf(address)
      // Counted before it is known, so that no burst of look-ups passes; a good token gets it back.
      if (network !== null && unauthenticated?.count(network).allowed === false)
        return { outcome: 'throttled' }
      const found = await lookUp(token)
      if (found.outcome !== 'authenticated' && found.outcome !== 'suspended') {
        good.delete(hash)
        return found
      }
      if (network !== null) unauthenticated?.refund(network)
      good.set(hash, true)
      const { caller } = found
      // A session has a limit of its own: what its page does takes none of its key's calls.
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
