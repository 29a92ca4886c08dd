/**
 * Group commit: changes that arrive while an organization's earlier ones are committing go together in its next
 * call. One commit costs one wait for the disk whatever it carries, so the busier it is the cheaper a change.
 *
 * Measured on two cores: one change a call 2,000/s in one organization, calls of up to 20 some 15,000/s; for 64
 * organizations, one statement that calls the function for up to 16 of them doubles what a call each reaches.
 */
import { DatabaseError } from 'pg'
import { type Change, type CommitOutcome, exclusiveKeys } from './change.ts'

/** One organization's part of a call. */
export interface CallPart {
  readonly organizationId: string
  readonly changes: readonly Change[]
}

/** Commits the parts, each atomically, and says for each what became of its changes. Throws if any part raised. */
export type CommitCall = (parts: readonly CallPart[]) => Promise<readonly (readonly CommitOutcome[])[]>

export interface GroupLimits {
  /** Changes of one organization in one call. */
  readonly changes: number
  /** Organizations in one call. */
  readonly organizations: number
  /** Calls of one organization under way at once: one commits while the next is on its way. */
  readonly perOrganization: number
  /** Calls under way at once. */
  readonly calls: number
}

export const defaultLimits: GroupLimits = { changes: 32, organizations: 16, perOrganization: 2, calls: 4 }

interface Waiting {
  readonly change: Change
  readonly keys: readonly string[]
  readonly resolve: (outcome: CommitOutcome) => void
  readonly reject: (error: unknown) => void
}

interface Lane {
  readonly organizationId: string
  queue: Waiting[]
  underWay: number
}

export class GroupCommit {
  readonly #call: CommitCall
  readonly #limits: GroupLimits
  readonly #lanes = new Map<string, Lane>()
  #callsUnderWay = 0
  #pumpScheduled = false

  constructor(call: CommitCall, limits: GroupLimits = defaultLimits) {
    this.#call = call
    this.#limits = limits
  }

  /** Settles when the change has committed or was refused; rejects when the database could not say. */
  submit(organizationId: string, change: Change): Promise<CommitOutcome> {
    return new Promise((resolve, reject) => {
      let lane = this.#lanes.get(organizationId)
      if (lane === undefined) {
        lane = { organizationId, queue: [], underWay: 0 }
        this.#lanes.set(organizationId, lane)
      }
      lane.queue.push({ change, keys: exclusiveKeys(change), resolve, reject })
      this.#schedule()
    })
  }

  /** Not at once: requests that the same turn of the event loop brought go together. */
  #schedule(): void {
    if (this.#pumpScheduled) return
    this.#pumpScheduled = true
    setImmediate(() => {
      this.#pumpScheduled = false
      this.#pump()
    })
  }

  #pump(): void {
    while (this.#callsUnderWay < this.#limits.calls) {
      const lanes = this.#readyLanes()
      if (lanes.length === 0) return
      void this.#run(lanes.map((lane) => ({ lane, batch: this.#takeBatch(lane) })))
    }
  }

  /** Lanes with something to commit, those that waited longest first. */
  #readyLanes(): Lane[] {
    const ready: Lane[] = []
    for (const lane of this.#lanes.values()) {
      if (lane.queue.length === 0 || lane.underWay >= this.#limits.perOrganization) continue
      ready.push(lane)
      if (ready.length === this.#limits.organizations) break
    }
    for (const lane of ready) {
      // Back to the end of the line: a Map iterates in order of insertion.
      this.#lanes.delete(lane.organizationId)
      this.#lanes.set(lane.organizationId, lane)
    }
    return ready
  }

  /** The next changes that share no row, unique value or idempotency key; the others wait for the next call. */
  #takeBatch(lane: Lane): Waiting[] {
    const taken = new Set<string>()
    const batch: Waiting[] = []
    const passedOver: Waiting[] = []
    let seen = 0
    for (const waiting of lane.queue) {
      if (batch.length === this.#limits.changes) break
      seen++
      const fits = waiting.keys.every((key) => !taken.has(key))
      ;(fits ? batch : passedOver).push(waiting)
      // Keys of those passed over are taken too, so that changes of one row keep their order.
      for (const key of waiting.keys) taken.add(key)
    }
    lane.queue = [...passedOver, ...lane.queue.slice(seen)]
    return batch
  }

  async #run(parts: { lane: Lane; batch: Waiting[] }[]): Promise<void> {
    this.#callsUnderWay++
    // One order of organizations everywhere, so that two calls never wait for each other's clocks.
    parts.sort((a, b) => (a.lane.organizationId < b.lane.organizationId ? -1 : 1))
    for (const { lane } of parts) lane.underWay++
    try {
      await this.#commit(parts)
    } finally {
      this.#callsUnderWay--
      for (const { lane } of parts) {
        lane.underWay--
        if (lane.underWay === 0 && lane.queue.length === 0) this.#lanes.delete(lane.organizationId)
      }
      this.#schedule()
    }
  }

  async #commit(parts: { lane: Lane; batch: Waiting[] }[]): Promise<void> {
    const call = parts.map(({ lane, batch }) => ({
      organizationId: lane.organizationId,
      changes: batch.map(({ change }) => change),
    }))
    try {
      const outcomes = await this.#call(call)
      parts.forEach(({ batch }, part) => {
        batch.forEach((waiting, n) => {
          waiting.resolve(outcomes[part]?.[n] ?? { outcome: 'conflict' })
        })
      })
    } catch (error) {
      if (parts.length === 1 && parts[0]?.batch.length === 1) return parts[0].batch[0]?.reject(error)
      if (!raisedByAChange(error)) {
        for (const { batch } of parts) for (const waiting of batch) waiting.reject(error)
        return
      }
      // One change raised and took its neighbours with it: each again by itself, so that only it fails.
      for (const { lane, batch } of parts) {
        for (const waiting of batch) await this.#commit([{ lane, batch: [waiting] }])
      }
    }
  }
}

/**
 * Whether the database rolled the call back because of something in it. A lost connection says nothing: the call
 * may have committed, and running it again could commit it twice. A lock or a statement that took too long, or a
 * server short of something, would meet the next call as well.
 */
function raisedByAChange(error: unknown): boolean {
  return error instanceof DatabaseError && !/^(08|53|55P03|57|58|XX)/.test(error.code ?? 'XX')
}
