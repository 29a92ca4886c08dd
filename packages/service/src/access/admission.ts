/**
 * Who may come in: a token is looked up, its key's calls are counted against its limit, and its use is noted. Tokens
 * that nobody has are limited as well, by the address that tries them, since each costs a look into the database.
 */
import type { Clock } from '../kernel/clock.ts'
import type { Caller, LookUp, Lookup } from './directory.ts'
import { createRateLimiter, type Quota, type RateLimit, type RateLimiter } from './rate-limit.ts'
import { hashToken, isToken } from './token.ts'
import type { UseRecorder } from './uses.ts'

/** What becomes of a request that carries a token. `quota` is null when nothing is limited. */
export type Recognition =
  | { readonly outcome: 'recognized'; readonly caller: Caller; readonly quota: Quota | null }
  | Exclude<Lookup, { outcome: 'recognized' }>
  /** The key has made too many calls. */
  | { readonly outcome: 'limited'; readonly quota: Quota }
  /** Too many unknown tokens came from this address. */
  | { readonly outcome: 'suspected'; readonly quota: Quota }

export interface TokenDirectory {
  /** `address`: the IP address that the request came from. */
  recognize(token: string, address: string): Promise<Recognition>
}

/** Tokens that were good a moment ago are looked up whatever else comes from their address; so many are remembered. */
const rememberedAtMost = 10_000

/** `limit` holds for each key, and for unknown tokens of each address; null limits nothing. */
export function createAdmission(options: {
  readonly lookUp: LookUp
  readonly clock: Clock
  readonly limit: RateLimit | null
  readonly uses: Pick<UseRecorder, 'note'>
}): TokenDirectory {
  const { lookUp, clock, limit, uses } = options
  if (limit === null) {
    return {
      async recognize(token) {
        const found = await lookUp(token)
        if (found.outcome !== 'recognized') return found
        uses.note(found.caller)
        return { ...found, quota: null }
      },
    }
  }
  const keys = createRateLimiter(limit, clock)
  const addresses = createRateLimiter(limit, clock)
  const good = new Set<string>()

  return {
    async recognize(token, address) {
      // What is mistyped is seen by its checksum, and costs nothing.
      if (!isToken(token)) return { outcome: 'unknown' }
      const network = networkOf(address)
      const hash = hashToken(token)
      if (!good.has(hash)) {
        const standing = addresses.look(network)
        if (!standing.allowed) return { outcome: 'suspected', quota: standing }
      }
      const found = await lookUp(token)
      if (found.outcome !== 'recognized') {
        good.delete(hash)
        addresses.count(network)
        return found
      }
      remember(good, hash)
      return counted(found.caller, keys)
    },
  }

  function counted(caller: Caller, limiter: RateLimiter): Recognition {
    const quota = limiter.count(caller.apiKeyId)
    if (!quota.allowed) return { outcome: 'limited', quota }
    uses.note(caller)
    return { outcome: 'recognized', caller, quota }
  }
}

/** The newest at the end; the oldest is forgotten. */
function remember(good: Set<string>, hash: string): void {
  good.delete(hash)
  good.add(hash)
  for (const oldest of good) {
    if (good.size <= rememberedAtMost) return
    good.delete(oldest)
  }
}

/** Whoever has one address of IPv6 has the 2^64 of its network. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = [], tail = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  // Where there is no `::`, none are missing.
  const missing = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0')
  return [...head, ...missing, ...tail].slice(0, 4).join(':')
}
