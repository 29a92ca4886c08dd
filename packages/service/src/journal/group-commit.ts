/**
 * Group commit: changes that arrive while an organization's earlier ones are committing go together in its next
 * call. One commit costs one wait for the disk whatever it carries, so the busier it is the cheaper a change.
 *
 * Measured on two cores: one change a call 2,000/s in one organization, calls of up to 20 some 15,000/s; for 64
 * organizations, one statement that calls the function for up to 16 of them doubles what a call each reaches.
 *
 * An organization holds up no other: a unit that reaches far, a thousand rows perhaps, goes in a call of its own,
 * and so does an organization whose clock somebody else holds for long.
 */
import { DatabaseError } from 'pg'
import { exclusiveKeys, type Unit, type UnitOutcome } from './change.ts'
import { clockAheadCode } from './lead.ts'

/** One organization's part of a call. */
export interface CallPart {
  readonly organizationId: string
  readonly units: readonly Unit[]
}

/**
 * Commits the parts, each atomically, and says for each what became of its units. Throws if any part raised. A
 * patient call waits for a clock that others hold; any other throws `lock_not_available` before long.
 */
export type CommitCall = (
  parts: readonly CallPart[],
  patient: boolean,
) => Promise<readonly (readonly UnitOutcome[])[]>

export interface GroupLimits {
  /** Changes of one organization in one call. */
  readonly changes: number
  /** Organizations in one call. */
  readonly organizations: number
  /** Calls of one organization under way at once: one commits while the next is on its way. */
  readonly perOrganization: number
  /** Calls under way at once. */
  readonly calls: number
  /** Beside them, calls under way at once with a unit that reaches far. */
  readonly farCalls: number
}

export const defaultLimits: GroupLimits = {
  changes: 32,
  organizations: 16,
  perOrganization: 2,
  calls: 4,
  farCalls: 2,
}

interface Waiting {
  readonly unit: Unit
  readonly keys: readonly string[]
  /** Takes long: goes in a call of its own, so that it holds up nobody but its organization. */
  readonly far: boolean
  readonly resolve: (outcome: UnitOutcome) => void
  readonly reject: (error: unknown) => void
}

interface Lane {
  readonly organizationId: string
  queue: Waiting[]
  underWay: number
  /** What is under way reaches far: until it is done, more of this organization would only wait behind it. */
  farUnderWay: boolean
  /** Somebody else held the clock for long: the next call waits for it, and nobody else with it. */
  contended: boolean
  /** Keys of the units under way. */
  readonly held: Set<string>
}

interface Part {
  readonly lane: Lane
  readonly batch: readonly Waiting[]
}

interface Call {
  readonly parts: Part[]
  readonly far: boolean
}

export class GroupCommit {
  readonly #call: CommitCall
  readonly #reachesFar: (unit: Unit) => boolean
  readonly #limits: GroupLimits
  readonly #lanes = new Map<string, Lane>()
  #callsUnderWay = 0
  #farCallsUnderWay = 0
  #pumpScheduled = false

  constructor(call: CommitCall, reachesFar: (unit: Unit) => boolean, limits: GroupLimits = defaultLimits) {
    this.#call = call
    this.#reachesFar = reachesFar
    this.#limits = limits
  }

  /** Settles when the unit has committed or was refused; rejects when the database could not say. */
  submit(organizationId: string, unit: Unit): Promise<UnitOutcome> {
    return new Promise((resolve, reject) => {
      let lane = this.#lanes.get(organizationId)
      if (lane === undefined) {
        lane = {
          organizationId,
          queue: [],
          underWay: 0,
          farUnderWay: false,
          contended: false,
          held: new Set(),
        }
        this.#lanes.set(organizationId, lane)
      }
      lane.queue.push({ unit, keys: exclusiveKeys(unit), far: this.#reachesFar(unit), resolve, reject })
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
    for (let call = this.#nextCall(); call !== null; call = this.#nextCall()) void this.#run(call)
  }

  #nextCall(): Call | null {
    if (this.#farCallsUnderWay < this.#limits.farCalls) {
      const part = this.#takeFarPart()
      if (part !== null) return { parts: [part], far: true }
    }
    if (this.#callsUnderWay >= this.#limits.calls) return null
    const parts = this.#takeParts()
    return parts.length === 0 ? null : { parts, far: false }
  }

  /** What goes in a call of its own, once nothing else of its organization is under way. */
  #takeFarPart(): Part | null {
    for (const lane of this.#lanes.values()) {
      if (lane.underWay > 0 || !needsOwnCall(lane)) continue
      return { lane, batch: lane.queue[0]?.far ? lane.queue.splice(0, 1) : this.#takeBatch(lane) }
    }
    return null
  }

  /** A batch of each organization that has something to commit, those that waited longest first. */
  #takeParts(): Part[] {
    const parts: Part[] = []
    for (const lane of this.#lanes.values()) {
      if (lane.farUnderWay || needsOwnCall(lane)) continue
      if (lane.queue.length === 0 || lane.underWay >= this.#limits.perOrganization) continue
      const batch = this.#takeBatch(lane)
      // Empty when all of them wait for what is under way; its end looks again.
      if (batch.length > 0) parts.push({ lane, batch })
      if (parts.length === this.#limits.organizations) break
    }
    for (const { lane } of parts) {
      // Back to the end of the line: a Map iterates in order of insertion.
      this.#lanes.delete(lane.organizationId)
      this.#lanes.set(lane.organizationId, lane)
    }
    return parts
  }

  /**
   * The next units that share no row, unique value or idempotency key, neither with each other nor with those
   * under way, which another connection might commit later; the others wait. None from one that reaches far on.
   */
  #takeBatch(lane: Lane): Waiting[] {
    const taken = new Set(lane.held)
    const batch: Waiting[] = []
    const passedOver: Waiting[] = []
    let seen = 0
    let changes = 0
    for (const waiting of lane.queue) {
      changes += waiting.unit.changes.length
      if (waiting.far || (changes > this.#limits.changes && batch.length > 0)) break
      seen++
      const fits = waiting.keys.every((key) => !taken.has(key))
      ;(fits ? batch : passedOver).push(waiting)
      // Keys of those passed over are taken too, so that changes of one row keep their order.
      for (const key of waiting.keys) taken.add(key)
    }
    lane.queue = [...passedOver, ...lane.queue.slice(seen)]
    return batch
  }

  async #run({ parts, far }: Call): Promise<void> {
    if (far) this.#farCallsUnderWay++
    else this.#callsUnderWay++
    // One order of organizations everywhere, so that two calls never wait for each other's clocks.
    parts.sort((a, b) => (a.lane.organizationId < b.lane.organizationId ? -1 : 1))
    for (const { lane, batch } of parts) {
      lane.underWay++
      lane.farUnderWay = far
      for (const key of batch.flatMap(({ keys }) => keys)) lane.held.add(key)
    }
    try {
      await this.#commit(parts, far)
    } finally {
      if (far) this.#farCallsUnderWay--
      else this.#callsUnderWay--
      for (const { lane, batch } of parts) {
        lane.underWay--
        if (far) lane.farUnderWay = lane.contended = false
        for (const key of batch.flatMap(({ keys }) => keys)) lane.held.delete(key)
        if (lane.underWay === 0 && lane.queue.length === 0) this.#lanes.delete(lane.organizationId)
      }
      this.#schedule()
    }
  }

  async #commit(parts: readonly Part[], patient: boolean): Promise<void> {
    const call = parts.map(({ lane, batch }) => ({
      organizationId: lane.organizationId,
      units: batch.map(({ unit }) => unit),
    }))
    try {
      const outcomes = await this.#call(call, patient)
      parts.forEach(({ batch }, part) => {
        batch.forEach((waiting, n) => {
          const outcome = outcomes[part]?.[n]
          if (outcome === undefined) waiting.reject(new Error('a unit of a commit has no outcome'))
          else waiting.resolve(outcome)
        })
      })
    } catch (error) {
      if (!patient && isHeldElsewhere(error)) {
        await this.#again(parts)
        return
      }
      const smaller = rolledBack(error) ? smallerCalls(parts, error) : []
      if (smaller.length === 0) {
        for (const { batch } of parts) for (const waiting of batch) waiting.reject(error)
      }
      for (const part of smaller) await this.#commit([part], patient)
    }
  }

  /** One of several organizations was held up: each by itself shows which. That one goes back to its queue. */
  async #again(parts: readonly Part[]): Promise<void> {
    const [first] = parts
    if (parts.length === 1 && first !== undefined) {
      first.lane.contended = true
      first.lane.queue = [...first.batch, ...first.lane.queue]
    } else await Promise.all(parts.map((part) => this.#commit([part], false)))
  }
}

/** Whether an organization's next units go in a call of their own. */
function needsOwnCall({ queue, contended }: Lane): boolean {
  const [next] = queue
  return next !== undefined && (contended || next.far)
}

/** PostgreSQL's lock_not_available: somebody held a lock for longer than the call was ready to wait. */
function isHeldElsewhere(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '55P03'
}

/**
 * One change raised and took its neighbours with it. Each organization again by itself, and the one that raises
 * change by change, so that only that change fails. Nothing smaller of a single change; nor of one organization
 * that ran out of time, since each of its changes would have to wait that long again; nor of a time that is wrong for all.
 */
function smallerCalls(parts: readonly Part[], error: DatabaseError): readonly Part[] {
  const [first] = parts
  if (error.code === clockAheadCode) return []
  if (parts.length > 1 || first === undefined) return parts
  if (first.batch.length === 1 || ranOut.test(error.code ?? '')) return []
  return first.batch.map((waiting) => ({ lane: first.lane, batch: [waiting] }))
}

/** PostgreSQL's codes of a statement or a lock that took too long, and of a server short of something. */
const ranOut = /^(57014|55P03|53)/

/**
 * Whether the database said that the call did not take effect. A lost connection says nothing: the call may
 * have committed, and running it again could commit it twice.
 */
function rolledBack(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && !/^(08|57P|58|XX)/.test(error.code ?? 'XX')
}
