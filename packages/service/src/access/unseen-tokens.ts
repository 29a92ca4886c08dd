/**
 * Look-ups of tokens that this process has not seen to be good. Anybody can make such tokens up, and each costs a look into the
 * database; but each may be a good key's first call here, from an address that it shares with whoever makes them up, as behind a
 * proxy. So nobody is refused for what others try: all take their place in a queue first, and are looked up in batches, of
 * which only so many go out a second; and fewer after those that nobody has, while organizations are served and processors are short.
 *
 * Cast: a queue for each network; the next batch takes one token of each in turn, so that a network with few waiting is served
 * beside one with many. How long a queue may grow depends on how much room is left for all (a dynamic threshold): a few networks
 * that flood share the room and leave as much as each of them has, in which others begin.
 */
import type { RestAfter } from '../kernel/room-for-others.ts'
import { stopwatch } from '../kernel/timestamps.ts'
import type { LookUp, Lookup } from './directory.ts'
import { createRateLimiter } from './rate-limit.ts'
import { strangerLimits } from './strangers.ts'

export interface UnseenLimits {
  /** Tokens that one batch looks up. */
  readonly perBatch: number
  /** Batches that begin in a second; after a rest, a second's worth at once. One is under way at a time. */
  readonly batchesPerSecond: number
  /** Requests of one network that may wait. */
  readonly perNetwork: number
  /** Requests that may wait in all. */
  readonly inAll: number
}

/**
 * A thousand look-ups a second, which take the database a hundredth of its time, and a second's wait at the end of a network's full
 * queue. Small batches, often: a key's first call waits 20 ms for the next one, when others came just before it.
 */
export const unseenLimits: UnseenLimits = {
  perBatch: 20,
  batchesPerSecond: 50,
  perNetwork: 1_000,
  inAll: 5_000,
}

/** What each request with a token that nobody has counts as: what any other without a key does. In milliseconds. */
const strangerTakes = 1_000 / strangerLimits.perSecond

/** What becomes of one that cannot wait. */
export type Throttled =
  /** Too many of its own network wait. */
  | { readonly outcome: 'throttled' }
  /** None of its network waits, and there is no room for anybody. */
  | { readonly outcome: 'full' }

interface Waiter {
  readonly resolve: (found: Lookup) => void
  readonly reject: (error: unknown) => void
}

interface Network {
  /** By token, the first to come first: however often one is sent, it is looked up once. */
  readonly tokens: Map<string, Waiter[]>
  waiting: number
}

export class UnseenTokens {
  readonly #lookUp: LookUp
  readonly #limits: UnseenLimits
  readonly #restAfter: RestAfter
  readonly #batches: ReturnType<typeof createRateLimiter>
  /** The one whose turn is next first. */
  readonly #networks = new Map<string, Network>()
  #waiting = 0
  /** A batch is under way or about to begin, or the rest after one. */
  #busy = false

  /** Time is what `elapsed` says: milliseconds that only grow. */
  constructor(
    lookUp: LookUp,
    limits: UnseenLimits = unseenLimits,
    restAfter: RestAfter = () => 0,
    elapsed: () => number = stopwatch(),
  ) {
    this.#lookUp = lookUp
    this.#limits = limits
    this.#restAfter = restAfter
    const { batchesPerSecond } = limits
    const pace = { perSecond: batchesPerSecond, burst: batchesPerSecond }
    this.#batches = createRateLimiter(pace, { now: () => Math.floor(elapsed()) })
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting
  }

  /** Whom the token belongs to, when its turn has come. Rejects when the look-up fails. */
  find(token: string, network: string): Promise<Lookup | Throttled> {
    const own = this.#networks.get(network) ?? { tokens: new Map<string, Waiter[]>(), waiting: 0 }
    const room = Math.min(this.#limits.perNetwork, this.#limits.inAll - this.#waiting)
    if (own.waiting >= room) return Promise.resolve({ outcome: own.waiting === 0 ? 'full' : 'throttled' })
    return new Promise((resolve, reject) => {
      const waiters = own.tokens.get(token) ?? []
      waiters.push({ resolve, reject })
      own.tokens.set(token, waiters)
      own.waiting++
      this.#waiting++
      this.#networks.set(network, own)
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#busy || this.#waiting === 0) return
    this.#busy = true
    // Those that come at the same time go together.
    setImmediate(() => this.#begin())
  }

  #begin(): void {
    const { allowed, retryAfter } = this.#batches.count('batches')
    if (allowed) void this.#run(this.#takeBatch())
    else setTimeout(() => this.#begin(), retryAfter)
  }

  async #run(batch: readonly (readonly [token: string, waiters: readonly Waiter[]])[]): Promise<void> {
    let unknown = 0
    await Promise.all(
      batch.map(async ([token, waiters]) => {
        try {
          const found = await this.#lookUp(token)
          if (found.outcome === 'unknown') unknown++
          for (const { resolve } of waiters) resolve(found)
        } catch (error) {
          for (const { reject } of waiters) reject(error)
        }
      }),
    )
    const rest = unknown === 0 ? 0 : this.#restAfter(null, unknown * strangerTakes)
    if (rest < 1) this.#goOn()
    else setTimeout(() => this.#goOn(), rest)
  }

  #goOn(): void {
    this.#busy = false
    this.#schedule()
  }

  /** One token of each network in turn, until the batch is full or nobody waits. */
  #takeBatch(): [token: string, waiters: readonly Waiter[]][] {
    const batch: [string, readonly Waiter[]][] = []
    // What is put back stands at the end, and comes again in this very loop.
    for (const [name, network] of this.#networks) {
      if (batch.length === this.#limits.perBatch) break
      const [next] = network.tokens
      this.#networks.delete(name)
      if (next === undefined) continue
      const [token, waiters] = next
      network.tokens.delete(token)
      network.waiting -= waiters.length
      this.#waiting -= waiters.length
      batch.push([token, waiters])
      if (network.waiting > 0) this.#networks.set(name, network)
    }
    return batch
  }
}
