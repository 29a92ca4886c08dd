/**
 * A fair queue: capacity that organizations share, and who is next for what becomes free. Work that may run starts at once. What
 * has to wait is queued per organization, first in, first out; capacity that becomes free goes to the organization that has used the least
 * of it (start-time fair queueing, by cost and measured time). Who comes back starts level with the one served last.
 *
 * Running work cannot be interrupted, so no organization may take all: it takes more only while it then holds at most `share` times what
 * remains free. A newcomer may take whatever is free.
 *
 * Four instances admit everything: requests, bytes of their bodies, statements, and work in the offload thread.
 */
import { stopwatch } from '../kernel/timestamps.ts'
import { LimitExceeded, type Limited } from './limit-exceeded.ts'

export interface FairQueueLimits {
  /** What there is to hold: connections, requests, bytes. */
  readonly capacity: number
  /** How many times what remains free an organization may hold. */
  readonly share: number
  /** Of the capacity, what long work may hold at most; all by default. */
  readonly long?: number
  /** Of the capacity, what work for several organizations at once may hold at most; all by default. */
  readonly shared?: number
  /** How many may wait, and how many of one organization. Infinite only for work that is bounded elsewhere and must be done. */
  readonly waiting: number
  readonly waitingOfOne: number
  /** How long one waits, in milliseconds. */
  readonly waitAtMost: number
}

/** For capacity that nobody waits for: `tryAcquire` alone. */
export const noQueue = { waiting: 0, waitingOfOne: 0, waitAtMost: 0 } as const

/** `long`: may take seconds. `shared`: for several organizations at once; it goes first. */
export type WorkClass = 'short' | 'long' | 'shared'

interface Demand {
  /** In units of the capacity; 1 by default. */
  readonly cost?: number
  readonly kind?: WorkClass
  /** Ends the wait when it aborts. */
  readonly signal?: AbortSignal | undefined
}

/** What was taken, until it is given back. */
export interface Permit {
  /** Gives it back; once is enough, more does nothing. */
  readonly release: () => void
  /** Holds so much from now on; null, or why it goes on holding what it held. */
  readonly resize: (cost: number) => LimitExceeded | null
}

interface Party {
  readonly name: string
  held: number
  /** Cost × time that it has had; what is running counts as its last did. */
  used: number
  lastTook: number
  readonly queues: Record<WorkClass, Waiting[]>
}

interface Waiting {
  readonly party: Party
  readonly kind: WorkClass
  readonly cost: number
  readonly number: number
  readonly start: (permit: Permit) => void
}

/** The party of work that is for several organizations at once. */
const several = ''

export class FairQueue {
  readonly #limits: FairQueueLimits
  readonly #what: Limited
  readonly #elapsed: () => number
  readonly #parties = new Map<string, Party>()
  readonly #waitingParties = new Set<Party>()
  readonly #heldOf: Record<WorkClass, number> = { short: 0, long: 0, shared: 0 }
  #held = 0
  #holders = 0
  #waiting = 0
  #lastNumber = 0
  /** The next in turn waits for capacity alone: nobody passes it, so that a large demand is not passed for ever by small ones. */
  #isBlocked = false
  /** What the party had used that was served last. */
  #level = 0

  /**
   * @param what named in a refusal.
   * @param elapsed milliseconds that only grow.
   */
  constructor(what: Limited, limits: FairQueueLimits, elapsed: () => number = stopwatch()) {
    this.#what = what
    this.#limits = limits
    this.#elapsed = elapsed
  }

  /** What is held of the capacity. */
  get held(): number {
    return this.#held
  }

  get waiting(): number {
    return this.#waiting
  }

  /**
   * A permit at once where there is one, and else the promise of one. The promise rejects with the signal's reason when that aborts.
   * @throws LimitExceeded, also as a rejection, when too many wait or one has waited for too long.
   */
  acquire(organizationId: string, demand: Demand = {}): Permit | Promise<Permit> {
    const { cost = 1, kind = 'short' } = demand
    const party = this.#partyOf(kind === 'shared' ? several : organizationId)
    // Not past its own that wait.
    if (party.queues[kind].length === 0 && !this.#isBlocked && this.#fits(party, kind, cost)) {
      this.#catchUp(party)
      // Whoever passes those that wait for their own share sets no measure for who comes next.
      if (this.#waiting === 0) this.#level = party.used
      return this.#start(party, kind, cost)
    }
    return this.#wait(party, demand)
  }

  /** The same for what cannot wait: a permit, or why there is none. */
  tryAcquire(organizationId: string, cost = 1): Permit | LimitExceeded {
    const party = this.#partyOf(organizationId)
    if (this.#fits(party, 'short', cost)) return this.#start(party, 'short', cost)
    const refusal = this.#refusal(party, cost)
    this.#forgetIdle(party)
    return refusal
  }

  /** Does the work with a permit, and ends as it does. */
  async run<A>(organizationId: string, demand: Demand, work: () => Promise<A>): Promise<A> {
    const permit = await this.acquire(organizationId, demand)
    try {
      return await work()
    } finally {
      permit.release()
    }
  }

  async #wait(party: Party, { cost = 1, kind = 'short', signal }: Demand): Promise<Permit> {
    const { waiting, waitingOfOne, waitAtMost } = this.#limits
    const own = party.queues[kind]
    if (own.length >= waitingOfOne) throw new LimitExceeded('own_share', this.#what)
    if (this.#waiting >= waiting) {
      this.#forgetIdle(party)
      throw new LimitExceeded('all_taken', this.#what)
    }
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<Permit>()
    const entry: Waiting = { party, kind, cost, number: ++this.#lastNumber, start: resolve }
    if (!this.#waitingParties.has(party)) this.#catchUp(party)
    own.push(entry)
    this.#waitingParties.add(party)
    this.#waiting++
    this.#isBlocked ||= this.#mayHold(party, kind, cost)
    const leave = (why: unknown) => {
      const at = own.indexOf(entry)
      if (at === -1) return
      own.splice(at, 1)
      this.#left(party)
      reject(why)
      // What was behind it may fit.
      this.#startNext()
    }
    const onAbort = () => leave(signal?.reason)
    const late = Number.isFinite(waitAtMost)
      ? setTimeout(() => leave(this.#refusal(party, cost)), waitAtMost)
      : undefined
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return await promise
    } finally {
      clearTimeout(late)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  #start(party: Party, kind: WorkClass, cost: number): Permit {
    this.#hold(party, kind, cost)
    const expected = party.lastTook * cost
    party.used += expected
    const began = this.#elapsed()
    let held = cost
    return {
      release: () => {
        if (held === 0) return
        party.lastTook = this.#elapsed() - began
        party.used += party.lastTook * held - expected
        this.#hold(party, kind, -held)
        held = 0
        this.#startNext()
        this.#forgetIdle(party)
      },
      resize: (cost) => {
        const before = held
        this.#hold(party, kind, -before)
        const refusal = cost <= before || this.#fits(party, kind, cost) ? null : this.#refusal(party, cost)
        held = refusal === null ? cost : before
        this.#hold(party, kind, held)
        if (held < before) this.#startNext()
        return refusal
      },
    }
  }

  #hold(party: Party, kind: WorkClass, cost: number): void {
    const before = party.held
    party.held += cost
    this.#held += cost
    this.#heldOf[kind] += cost
    this.#holders += Number(party.held > 0) - Number(before > 0)
  }

  #startNext(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      const { party, kind, cost, start } = next
      party.queues[kind].shift()
      this.#level = Math.max(this.#level, party.used)
      const permit = this.#start(party, kind, cost)
      this.#left(party)
      start(permit)
    }
  }

  /** Of those that may start, the first of the organization that has used the least; work for several goes before. */
  #next(): Waiting | null {
    let found: Waiting | null = null
    for (const party of this.#waitingParties) {
      if (found !== null && party.name !== several && party.used >= found.party.used) continue
      for (const kind of ['shared', 'short', 'long'] as const) {
        const [first] = party.queues[kind]
        if (first === undefined || !this.#mayHold(party, kind, first.cost)) continue
        if (found?.party !== party || first.number < found.number) found = first
      }
      if (party.name === several && found?.party === party) break
    }
    this.#isBlocked = found !== null && found.cost > this.#limits.capacity - this.#held
    return this.#isBlocked ? null : found
  }

  #fits(party: Party, kind: WorkClass, cost: number): boolean {
    return cost <= this.#limits.capacity - this.#held && this.#mayHold(party, kind, cost)
  }

  /** By the limits of its class and its share, whether or not there is so much now. */
  #mayHold(party: Party, kind: WorkClass, cost: number): boolean {
    const { capacity, share } = this.#limits
    if (kind !== 'short' && this.#heldOf[kind] + cost > (this.#limits[kind] ?? capacity)) return false
    return (
      kind === 'shared' || party.held === 0 || party.held + cost <= share * (capacity - this.#held - cost)
    )
  }

  /** Its own share where it holds more than each would have of an even split; else there is nothing left for anybody. */
  #refusal({ held }: Party, cost: number): LimitExceeded {
    const even = this.#limits.capacity / Math.max(2, this.#holders)
    return new LimitExceeded(held > 0 && held + cost > even ? 'own_share' : 'all_taken', this.#what)
  }

  #partyOf(name: string): Party {
    const known = this.#parties.get(name)
    if (known !== undefined) return known
    const queues = { short: [], long: [], shared: [] }
    const party: Party = { name, held: 0, used: this.#level, lastTook: 0, queues }
    this.#parties.set(name, party)
    return party
  }

  /** Time in which it asked for nothing is not owed to it. */
  #catchUp(party: Party): void {
    if (party.used < this.#level) party.used = this.#level
  }

  #left(party: Party): void {
    this.#waiting--
    if (waitingOf(party) === 0) this.#waitingParties.delete(party)
    if (this.#waiting === 0) for (const idle of this.#parties.values()) this.#forgetIdle(idle)
  }

  /** While some wait, what an organization has used beyond them is remembered. */
  #forgetIdle(party: Party): void {
    if (party.held > 0 || waitingOf(party) > 0) return
    if (this.#waiting === 0 || party.used <= this.#level) this.#parties.delete(party.name)
  }
}

function waitingOf({ queues }: Party): number {
  return queues.short.length + queues.long.length + queues.shared.length
}
