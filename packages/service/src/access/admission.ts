/**
 * Who may come in: a token is looked up, its key's calls are counted against its limit, and its use is noted. Tokens that this
 * process has not seen to be good wait for their turn first, as each costs a look into the database.
 */
import { networkOf } from '../kernel/networks.ts'
import type { RestAfter } from '../kernel/room-for-others.ts'
import type { Clock } from '../kernel/timestamps.ts'
import type { Caller, LookUp, Lookup } from './directory.ts'
import { createRateLimiter, type Quota, type RateLimit } from './rate-limit.ts'
import { hashToken, isBearer } from './token.ts'
import { type Throttled, UnseenTokens, unseenLimits } from './unseen-tokens.ts'

/** What becomes of a request that carries a token. `quota` is null when nothing is limited. */
export type Authentication =
  | { readonly outcome: 'authenticated'; readonly caller: Caller; readonly quota: Quota | null }
  | Exclude<Lookup, { readonly caller: Caller }>
  /** The key is good, but its organization is suspended. */
  | { readonly outcome: 'suspended'; readonly organizationId: string; readonly quota: Quota | null }
  /** The key has made too many calls. */
  | { readonly outcome: 'limited'; readonly organizationId: string; readonly quota: Quota }
  /** Too many tokens that were not seen before wait to be looked up: of this address, or of all. */
  | Throttled

export interface Admission {
  /** `address`: the IP address that the request came from. */
  authenticate(token: string, address: string): Promise<Authentication>
  /** Whose a token is now that was let in before. It counts as no call. */
  lookAgain(token: string): Promise<Lookup>
}

/**
 * Tokens that were good a moment ago are looked up at once, so that a revocation counts at once; so many are remembered, by their
 * hashes: more than this call within the same while wait for their turn like new ones.
 */
const rememberedAtMost = 100_000

/** `limit` holds for each key; null limits nothing. */
export function createAdmission(options: {
  readonly lookUp: LookUp
  readonly clock: Clock
  readonly limit: RateLimit | null
  readonly uses: { note(caller: Caller): void }
  /** What look-ups of tokens that nobody has leave room by; nothing unless told. */
  readonly restAfter?: RestAfter | undefined
  /** Tokens not seen before; as many as `unseenLimits` say, unless told. */
  readonly unseen?: Pick<UnseenTokens, 'find'>
}): Admission {
  const { lookUp, clock, limit, uses, restAfter } = options
  const { unseen = new UnseenTokens(lookUp, unseenLimits, restAfter) } = options
  const keys = limit === null ? null : createRateLimiter(limit, clock)
  const good = new Set<string>()

  return {
    async authenticate(token, address) {
      // What is mistyped is seen by its checksum, and costs nothing.
      if (!isBearer(token)) return { outcome: 'unknown' }
      const hash = hashToken(token)
      const found = await (good.has(hash) ? lookUp(token) : unseen.find(token, networkOf(address)))
      if (found.outcome !== 'authenticated' && found.outcome !== 'suspended') {
        if (found.outcome !== 'throttled' && found.outcome !== 'full') good.delete(hash)
        return found
      }
      remember(good, hash)
      const { caller } = found
      // A session has a limit of its own: what its page does takes none of its key's calls.
      const quota = keys?.count(caller.sessionId ?? caller.apiKeyId) ?? null
      const { organizationId } = caller
      if (quota?.allowed === false) return { outcome: 'limited', organizationId, quota }
      if (found.outcome === 'suspended') return { outcome: 'suspended', organizationId, quota }
      uses.note(caller)
      return { outcome: 'authenticated', caller, quota }
    },

    lookAgain: lookUp,
  }
}

/** The newest at the end; the oldest is forgotten. While there is room for all, their order does not matter. */
function remember(good: Set<string>, hash: string): void {
  if (good.size < rememberedAtMost && good.has(hash)) return
  good.delete(hash)
  good.add(hash)
  for (const oldest of good) {
    if (good.size <= rememberedAtMost) return
    good.delete(oldest)
  }
}
