/**
 * A fair queue for capacity that organizations share. Work starts at once when it may; otherwise it waits behind its
 * organization's. Freed capacity goes to the organization that has used the least (start-time fair queueing, by cost
 * and measured time); one that returns starts level with the one served last.
 *
 * Running work cannot be interrupted, so an organization may take more only while it then holds at most `share` times
 * what remains free. One that holds nothing may take whatever is free.
 */
import { stopwatch } from '../kernel/timestamps.ts'

export type Limited =
  | 'requests'
  | 'waiting_readers'
  | 'streams'
  | 'memory'
  | 'statements'
  | 'offloaded'
  | 'compression'

/**
 * `own_share`: the organization holds its share (429); `all_taken`: nothing is free (503). Nothing was done
 * (specification 14.2).
 */
export class LimitExceeded extends Error {
  readonly reason: 'own_share' | 'all_taken'
  readonly what: Limited

  constructor(reason: 'own_share' | 'all_taken', what: Limited) {
    super(`${reason}: ${what}`)
    this.reason = reason
    this.what = what
  }
}

export interface FairQueueLimits {
  /** Connections, requests, bytes. */
  readonly capacity: number
  /** An organization may hold at most this multiple of what remains free. */
  readonly share: number
  /** The part of the capacity that long work may hold; default: all. */
  readonly long?: number
  /** The part of the capacity that work for several organizations at once may hold; default: all. */
  readonly shared?: number
  /**
   * Waiting entries, in all and per organization. Infinite only for work that is bounded elsewhere and must be done.
   */
  readonly waiting: number
  readonly waitingOfOne: number
  readonly waitAtMost: number
}

/** For users of `tryAcquire` only: nothing waits. */
export const noQueue = { waiting: 0, waitingOfOne: 0, waitAtMost: 0 } as const

/** `long`: may take seconds. `shared`: serves several organizations at once, and starts first. */
export type WorkKind = 'short' | 'long' | 'shared'

interface Demand {
  readonly cost?: number
  readonly kind?: WorkKind
  readonly signal?: AbortSignal | undefined
}

export interface CapacityPermit {
  /** Frees it; further calls do nothing. */
  readonly release: () => void
  /** Changes the held cost. Returns null, or why that is refused; then the cost does not change. */
  readonly resize: (cost: number) => LimitExceeded | null
}

interface Tenant {
  readonly name: string
  held: number
  /** Cost × time used; running work counts as long as the last work took. */
  used: number
  lastTook: number
  readonly queues: Record<WorkKind, Waiting[]>
}

interface Waiting {
  readonly tenant: Tenant
  readonly kind: WorkKind
  readonly cost: number
  readonly number: number
  readonly start: (permit: CapacityPermit) => void
}

/** The tenant for work that serves several organizations. */
const several = ''

export class FairQueue {
  readonly #limits: FairQueueLimits
  readonly #what: Limited
  readonly #elapsed: () => number
  readonly #tenants = new Map<string, Tenant>()
  readonly #waitingTenants = new Set<Tenant>()
  readonly #heldOf: Record<WorkKind, number> = { short: 0, long: 0, shared: 0 }
  #held = 0
  #holders = 0
  #waiting = 0
  #lastNumber = 0
  /** The next entry waits only for capacity. Nothing overtakes it, so that small demands cannot starve a large one. */
  #isBlocked = false
  /** The `used` of the tenant that was served last. */
  #level = 0

  /** `what`: the capacity, for refusals. `elapsed`: milliseconds that only grow. */
  constructor(what: Limited, limits: FairQueueLimits, elapsed: () => number = stopwatch()) {
    this.#what = what
    this.#limits = limits
    this.#elapsed = elapsed
  }

  get held(): number {
    return this.#held
  }

  get waiting(): number {
    return this.#waiting
  }

  /**
   * Rejects with the reason of a signal that is or gets aborted, and with LimitExceeded when too many wait or it has
   * waited too long.
   */
  acquire(organizationId: string, demand: Demand = {}): CapacityPermit | Promise<CapacityPermit> {
    const { cost = 1, kind = 'short', signal } = demand
    if (signal?.aborted) return Promise.reject(signal.reason)
    const tenant = this.#tenantOf(kind === 'shared' ? several : organizationId)
    // Not ahead of queued entries of the same organization.
    if (tenant.queues[kind].length === 0 && !this.#isBlocked && this.#fits(tenant, kind, cost)) {
      this.#catchUp(tenant)
      // Work that overtakes entries that wait for their own share does not set the level.
      if (this.#waiting === 0) this.#level = tenant.used
      return this.#start(tenant, kind, cost)
    }
    return this.#wait(tenant, demand)
  }

  tryAcquire(organizationId: string, cost = 1): CapacityPermit | LimitExceeded {
    const tenant = this.#tenantOf(organizationId)
    if (this.#fits(tenant, 'short', cost)) return this.#start(tenant, 'short', cost)
    const refusal = this.#refusal(tenant, cost)
    this.#forgetIdle(tenant)
    return refusal
  }

  async run<A>(organizationId: string, demand: Demand, work: () => Promise<A>): Promise<A> {
    const permit = await this.acquire(organizationId, demand)
    try {
      return await work()
    } finally {
      permit.release()
    }
  }

  async #wait(tenant: Tenant, { cost = 1, kind = 'short', signal }: Demand): Promise<CapacityPermit> {
    const { waiting, waitingOfOne, waitAtMost } = this.#limits
    const own = tenant.queues[kind]
    if (own.length >= waitingOfOne) throw new LimitExceeded('own_share', this.#what)
    if (this.#waiting >= waiting) {
      this.#forgetIdle(tenant)
      throw new LimitExceeded('all_taken', this.#what)
    }
    const { promise, resolve, reject } = Promise.withResolvers<CapacityPermit>()
    const entry: Waiting = { tenant, kind, cost, number: ++this.#lastNumber, start: resolve }
    if (!this.#waitingTenants.has(tenant)) this.#catchUp(tenant)
    own.push(entry)
    this.#waitingTenants.add(tenant)
    this.#waiting++
    this.#isBlocked ||= this.#mayHold(tenant, kind, cost)
    const leave = (why: unknown) => {
      const at = own.indexOf(entry)
      if (at === -1) return
      own.splice(at, 1)
      this.#left(tenant)
      reject(why)
      // The entry behind it may fit.
      this.#startNext()
    }
    const onAbort = () => leave(signal?.reason)
    const late = Number.isFinite(waitAtMost)
      ? setTimeout(() => leave(this.#refusal(tenant, cost)), waitAtMost)
      : undefined
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return await promise
    } finally {
      clearTimeout(late)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  #start(tenant: Tenant, kind: WorkKind, cost: number): CapacityPermit {
    this.#hold(tenant, kind, cost)
    const expected = tenant.lastTook * cost
    tenant.used += expected
    const began = this.#elapsed()
    let held = cost
    return {
      release: () => {
        if (held === 0) return
        tenant.lastTook = this.#elapsed() - began
        tenant.used += tenant.lastTook * held - expected
        this.#hold(tenant, kind, -held)
        held = 0
        this.#startNext()
        this.#forgetIdle(tenant)
      },
      resize: (cost) => {
        const before = held
        this.#hold(tenant, kind, -before)
        const refusal = cost <= before || this.#fits(tenant, kind, cost) ? null : this.#refusal(tenant, cost)
        held = refusal === null ? cost : before
        this.#hold(tenant, kind, held)
        if (held < before) this.#startNext()
        return refusal
      },
    }
  }

  #hold(tenant: Tenant, kind: WorkKind, cost: number): void {
    const before = tenant.held
    tenant.held += cost
    this.#held += cost
    this.#heldOf[kind] += cost
    this.#holders += Number(tenant.held > 0) - Number(before > 0)
  }

  #startNext(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      const { tenant, kind, cost, start } = next
      tenant.queues[kind].shift()
      this.#level = Math.max(this.#level, tenant.used)
      const permit = this.#start(tenant, kind, cost)
      this.#left(tenant)
      start(permit)
    }
  }

  /** Of the entries that may start, the first of the organization that has used the least; shared work goes first. */
  #next(): Waiting | null {
    let found: Waiting | null = null
    for (const tenant of this.#waitingTenants) {
      if (found !== null && tenant.name !== several && tenant.used >= found.tenant.used) continue
      for (const kind of ['shared', 'short', 'long'] as const) {
        const [first] = tenant.queues[kind]
        if (first === undefined || !this.#mayHold(tenant, kind, first.cost)) continue
        if (found?.tenant !== tenant || first.number < found.number) found = first
      }
      if (tenant.name === several && found?.tenant === tenant) break
    }
    this.#isBlocked = found !== null && found.cost > this.#limits.capacity - this.#held
    return this.#isBlocked ? null : found
  }

  #fits(tenant: Tenant, kind: WorkKind, cost: number): boolean {
    return cost <= this.#limits.capacity - this.#held && this.#mayHold(tenant, kind, cost)
  }

  /** Whether the limits of its kind and its share allow it, regardless of free capacity. */
  #mayHold(tenant: Tenant, kind: WorkKind, cost: number): boolean {
    const { capacity, share } = this.#limits
    if (kind !== 'short' && this.#heldOf[kind] + cost > (this.#limits[kind] ?? capacity)) return false
    return (
      kind === 'shared' || tenant.held === 0 || tenant.held + cost <= share * (capacity - this.#held - cost)
    )
  }

  /** `own_share` if the organization holds more than an even split; otherwise `all_taken`. */
  #refusal({ held }: Tenant, cost: number): LimitExceeded {
    const even = this.#limits.capacity / Math.max(2, this.#holders)
    return new LimitExceeded(held > 0 && held + cost > even ? 'own_share' : 'all_taken', this.#what)
  }

  #tenantOf(name: string): Tenant {
    const known = this.#tenants.get(name)
    if (known !== undefined) return known
    const queues = { short: [], long: [], shared: [] }
    const tenant: Tenant = { name, held: 0, used: this.#level, lastTook: 0, queues }
    this.#tenants.set(name, tenant)
    return tenant
  }

  /** A tenant that was idle gets no credit for it. */
  #catchUp(tenant: Tenant): void {
    if (tenant.used < this.#level) tenant.used = this.#level
  }

  #left(tenant: Tenant): void {
    this.#waiting--
    if (waitingOf(tenant) === 0) this.#waitingTenants.delete(tenant)
    if (this.#waiting === 0) for (const idle of this.#tenants.values()) this.#forgetIdle(idle)
  }

  /** While others wait, remembers the use of an organization that is ahead of them. */
  #forgetIdle(tenant: Tenant): void {
    if (tenant.held > 0 || waitingOf(tenant) > 0) return
    if (this.#waiting === 0 || tenant.used <= this.#level) this.#tenants.delete(tenant.name)
  }
}

function waitingOf({ queues }: Tenant): number {
  return queues.short.length + queues.long.length + queues.shared.length
}
