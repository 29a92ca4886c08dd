/**
 * Group commit: changes that arrive while earlier ones of their organization commit go together in its next call, as
 * a commit waits once for the disk, however many changes it carries. An organization has one call under way: a second
 * would only wait for the clock row, with half of the changes. One statement calls the function for up to 16
 * organizations, which doubles the throughput of 64 of them.
 *
 * No organization delays another: a long unit has a call of its own, and so has an organization whose clock row
 * another process holds for long. Other statements that take the row, such as changes of endpoints and keys, are
 * exclusive tasks: one at a time, without a connection while they wait.
 */
import type { DatabaseError } from 'pg'
import { isHeldElsewhere, isRowMisplaced, ranOut, rolledBack } from '../db/failure.ts'
import { notServedCode } from '../db/not-served.ts'
import { stopwatch } from '../kernel/timestamps.ts'
import type { Change, Unit, UnitOutcome } from './change.ts'
import { clockAheadCode } from './commit-protocol.ts'

export interface GroupLimits {
  /** Of a batch. A unit with more is long, and committed alone. */
  readonly changes: number
  readonly organizations: number
  readonly calls: number
  /** Calls with a long unit, in addition to `calls`. */
  readonly longCalls: number
  /** Calls and exclusive tasks that wait for a clock that another process holds, in addition to those. */
  readonly lockWaitCalls: number
  /** How long, in milliseconds, other processes may hold the clock until what is queued for it fails. */
  readonly giveUpAfter: number
  /** How long, in milliseconds, an organization shares no call after another process held its clock. */
  readonly isolatedFor: number
}

/** Each repeat follows the creation of one missing partition of a week. */
const maxRepeats = 4

export const defaultLimits: GroupLimits = {
  changes: 32,
  organizations: 16,
  calls: 4,
  longCalls: 2,
  lockWaitCalls: 2,
  giveUpAfter: 30_000,
  isolatedFor: 10_000,
}

/**
 * Commits each part atomically; returns outcomes by part and unit. Throws if any part raised, and `lock_not_available`
 * when another process holds a clock row: after `lockTimeout` where the call waits for the lock, else within 250 ms.
 */
type CommitCall = (
  parts: readonly CallPart[],
  waitsForLock: boolean,
) => Promise<readonly (readonly UnitOutcome[])[]>

interface Call {
  readonly parts: Part[]
  readonly sort: 'shared' | 'long' | 'lockWait'
}

export class GroupCommit {
  readonly #call: CommitCall
  readonly #isLong: (unit: Unit) => boolean
  readonly #limits: GroupLimits
  readonly #queues = new Map<string, OrganizationQueue>()
  readonly #elapsed: () => number
  /** Organizations whose clock another process held recently, and until when they share no call. */
  readonly #isolatedUntil = new Map<string, number>()
  readonly #underWay = { shared: 0, long: 0, lockWait: 0 }
  #unitsUnderWay = 0
  readonly #whenIdle: (() => void)[] = []
  #pumpScheduled = false

  constructor(
    call: CommitCall,
    isLong: (unit: Unit) => boolean,
    limits: GroupLimits = defaultLimits,
    elapsed: () => number = stopwatch(),
  ) {
    this.#call = call
    this.#isLong = isLong
    this.#limits = limits
    this.#elapsed = elapsed
  }

  /** Units and exclusive tasks that are queued or under way. */
  get pending(): number {
    let pending = this.#unitsUnderWay
    for (const { units, exclusiveTasks, exclusiveTaskUnderWay } of this.#queues.values()) {
      pending += units.length + exclusiveTasks.length + Number(exclusiveTaskUnderWay)
    }
    return pending
  }

  idle(): Promise<void> {
    if (this.#queues.size === 0) return Promise.resolve()
    return new Promise((resolve) => void this.#whenIdle.push(resolve))
  }

  /**
   * Resolves when the unit has committed or was refused. Rejects when the database failed, and with the signal's
   * reason when that aborts while the unit is queued, or before a call that changed nothing is repeated.
   */
  submit(organizationId: string, unit: Unit): Promise<UnitOutcome> {
    const { signal } = unit
    if (signal?.aborted) return Promise.reject(signal.reason)
    return new Promise((resolve, reject) => {
      const keys = exclusiveKeys(unit)
      const long = this.#isLong(unit)
      const waiting = { unit, keys, long, since: this.#elapsed(), resolve, reject }
      this.#queueOf(organizationId).units.push(waiting)
      signal?.addEventListener('abort', () => this.#drop(organizationId, waiting), { once: true })
      this.#schedule()
    })
  }

  /** Does nothing for a unit that is being committed. */
  #drop(organizationId: string, waiting: QueuedUnit): void {
    const queue = this.#queues.get(organizationId)
    const at = queue?.units.indexOf(waiting) ?? -1
    if (queue === undefined || at === -1) return
    queue.units.splice(at, 1)
    waiting.reject(waiting.unit.signal?.reason)
    this.#forgetIdle(queue)
    this.#schedule()
  }

  /** Runs a statement that takes the organization's clock and is no unit. It runs again after `lock_not_available`. */
  exclusiveTask<A>(organizationId: string, run: (waitsForLock: boolean) => Promise<A>): Promise<A> {
    return new Promise((resolve, reject) => {
      this.#queueOf(organizationId).exclusiveTasks.push({
        run: (waitsForLock) => run(waitsForLock).then(resolve),
        reject,
        since: this.#elapsed(),
      })
      this.#schedule()
    })
  }

  #queueOf(organizationId: string): OrganizationQueue {
    const known = this.#queues.get(organizationId)
    if (known !== undefined) return known
    const queue = emptyQueue(organizationId)
    this.#queues.set(organizationId, queue)
    return queue
  }

  /** Requests of one turn of the event loop go together. */
  #schedule(): void {
    if (this.#pumpScheduled) return
    this.#pumpScheduled = true
    setImmediate(() => {
      this.#pumpScheduled = false
      this.#pump()
    })
  }

  #pump(): void {
    for (const queue of [...this.#queues.values()]) this.#beginExclusiveTask(queue)
    for (let call = this.#nextCall(); call !== null; call = this.#nextCall()) void this.#run(call)
  }

  /** Where another process holds the clock for long, the task waits for the lock, alone of its organization. */
  #beginExclusiveTask(queue: OrganizationQueue): void {
    const { contended, exclusiveTaskUnderWay, callUnderWay, exclusiveTasks, units } = queue
    const [next] = exclusiveTasks
    if (next === undefined || exclusiveTaskUnderWay || isAlone(callUnderWay)) return
    if (contended) {
      const isFirst = units[0] === undefined || next.since <= units[0].since
      if (!isFirst || callUnderWay !== null || this.#underWay.lockWait >= this.#limits.lockWaitCalls) return
    }
    exclusiveTasks.shift()
    void this.#runExclusiveTask(queue, next, contended)
  }

  #nextCall(): Call | null {
    for (const sort of ['long', 'lockWait'] as const) {
      if (this.#underWay[sort] >= this.#limits[`${sort}Calls`]) continue
      const part = this.#takePartAlone(sort)
      if (part !== null) return { parts: [part], sort }
    }
    if (this.#underWay.shared >= this.#limits.calls) return null
    const parts = this.#takeParts()
    return parts.length === 0 ? null : { parts, sort: 'shared' }
  }

  /** A part for a call of its own, when nothing else of its organization is under way. */
  #takePartAlone(sort: 'long' | 'lockWait'): Part | null {
    for (const queue of this.#queues.values()) {
      if (
        queue.callUnderWay !== null ||
        (queue.exclusiveTaskUnderWay && queue.contended) ||
        !needsOwnCall(queue)
      )
        continue
      const isLong = queue.units[0]?.long === true
      if (isLong !== (sort === 'long')) continue
      this.#moveToBack(queue)
      return { queue, batch: isLong ? queue.units.splice(0, 1) : this.#takeBatch(queue) }
    }
    return null
  }

  /** A batch of each organization, longest wait first. An organization in `#isolatedUntil` goes alone. */
  #takeParts(): Part[] {
    const parts: Part[] = []
    for (const queue of this.#queues.values()) {
      if (queue.units.length === 0 || queue.callUnderWay !== null || needsOwnCall(queue)) continue
      const isIsolated = (this.#isolatedUntil.get(queue.organizationId) ?? 0) > this.#elapsed()
      if (isIsolated && parts.length > 0) continue
      parts.push({ queue, batch: this.#takeBatch(queue) })
      if (parts.length === this.#limits.organizations || isIsolated) break
    }
    for (const { queue } of parts) this.#moveToBack(queue)
    return parts
  }

  /** A Map iterates in order of insertion. */
  #moveToBack(queue: OrganizationQueue): void {
    this.#queues.delete(queue.organizationId)
    this.#queues.set(queue.organizationId, queue)
  }

  /** The next units that share no key with each other. None passes a long one. */
  #takeBatch(queue: OrganizationQueue): QueuedUnit[] {
    const taken = new Set<string>()
    const batch: QueuedUnit[] = []
    const passedOver: QueuedUnit[] = []
    let seen = 0
    let changes = 0
    for (const waiting of queue.units) {
      changes += waiting.unit.changes.length
      if (waiting.long || (changes > this.#limits.changes && batch.length > 0)) break
      seen++
      const fits = waiting.keys.every((key) => !taken.has(key))
      ;(fits ? batch : passedOver).push(waiting)
      // Keys of those passed over count too, so that changes of one row stay in order.
      for (const key of waiting.keys) taken.add(key)
    }
    queue.units = [...passedOver, ...queue.units.slice(seen)]
    return batch
  }

  async #runExclusiveTask(
    queue: OrganizationQueue,
    exclusiveTask: ExclusiveTask,
    waitsForLock: boolean,
  ): Promise<void> {
    queue.exclusiveTaskUnderWay = true
    if (waitsForLock) {
      this.#underWay.lockWait++
      this.#moveToBack(queue)
    }
    try {
      await exclusiveTask.run(waitsForLock)
      if (waitsForLock) queue.contended = false
    } catch (error) {
      if (isHeldElsewhere(error)) {
        queue.exclusiveTasks.unshift(exclusiveTask)
        this.#contended(queue, error)
      } else {
        if (waitsForLock) queue.contended = false
        exclusiveTask.reject(error)
      }
    } finally {
      if (waitsForLock) this.#underWay.lockWait--
      queue.exclusiveTaskUnderWay = false
      this.#forgetIdle(queue)
      this.#schedule()
    }
  }

  /** Another process holds the clock: the next call waits for it, and units that are queued for too long fail. */
  #contended(queue: OrganizationQueue, error: DatabaseError): void {
    queue.contended = true
    const now = this.#elapsed()
    for (const [organizationId, until] of this.#isolatedUntil)
      if (until <= now) this.#isolatedUntil.delete(organizationId)
    this.#isolatedUntil.set(queue.organizationId, now + this.#limits.isolatedFor)
    const isLate = ({ since }: { readonly since: number }) => now - since >= this.#limits.giveUpAfter
    for (const late of [...queue.units, ...queue.exclusiveTasks].filter(isLate)) late.reject(error)
    queue.units = queue.units.filter((waiting) => !isLate(waiting))
    queue.exclusiveTasks = queue.exclusiveTasks.filter((exclusiveTask) => !isLate(exclusiveTask))
  }

  #forgetIdle({ organizationId, units, exclusiveTasks, ...queue }: OrganizationQueue): void {
    if (queue.callUnderWay !== null || queue.exclusiveTaskUnderWay) return
    if (units.length + exclusiveTasks.length > 0) return
    this.#queues.delete(organizationId)
    if (this.#queues.size === 0) for (const resolve of this.#whenIdle.splice(0)) resolve()
  }

  async #run({ parts, sort }: Call): Promise<void> {
    // A call of its own can wait: it delays no other organization.
    const waitsForLock = isAlone(sort)
    this.#underWay[sort]++
    // One order everywhere, so that two calls never wait for each other's clocks.
    parts.sort((a, b) => (a.queue.organizationId < b.queue.organizationId ? -1 : 1))
    for (const { queue, batch } of parts) {
      queue.callUnderWay = sort
      this.#unitsUnderWay += batch.length
    }
    try {
      await this.#commit(parts, waitsForLock)
    } finally {
      this.#underWay[sort]--
      for (const { queue, batch } of parts) {
        queue.callUnderWay = null
        this.#unitsUnderWay -= batch.length
        this.#forgetIdle(queue)
      }
      this.#schedule()
    }
  }

  /** Leaves out units that are not wanted any more, also when it repeats a call that changed nothing. */
  async #commit(queued: readonly Part[], waitsForLock: boolean, repeats = 0): Promise<void> {
    const parts = queued
      .map(({ queue, batch }) => ({ queue, batch: batch.filter(isWanted) }))
      .filter(({ batch }) => batch.length > 0)
    if (parts.length === 0) return
    const call = parts.map(({ queue, batch }) => ({
      organizationId: queue.organizationId,
      units: batch.map(({ unit }) => unit),
    }))
    try {
      const outcomes = await this.#call(call, waitsForLock)
      if (waitsForLock) for (const { queue } of parts) queue.contended = false
      parts.forEach(({ batch }, part) => {
        batch.forEach((waiting, n) => {
          const outcome = outcomes[part]?.[n]
          if (outcome === undefined) waiting.reject(new Error('a unit of a commit has no outcome'))
          else waiting.resolve(outcome)
        })
      })
    } catch (error) {
      if (isHeldElsewhere(error)) {
        await this.#retry(parts, error)
        return
      }
      if (isRowMisplaced(error) && repeats < maxRepeats) {
        await this.#commit(parts, waitsForLock, repeats + 1)
        return
      }
      if (waitsForLock) for (const { queue } of parts) queue.contended = false
      const smaller = rolledBack(error) ? smallerCalls(parts, error) : []
      if (smaller.length === 0) {
        for (const { batch } of parts) for (const waiting of batch) waiting.reject(error)
      }
      for (const part of smaller) await this.#commit([part], waitsForLock)
    }
  }

  /** A clock of several was held. Sending each by itself shows which, and that one goes back to its queue. */
  async #retry(parts: readonly Part[], error: DatabaseError): Promise<void> {
    const [first] = parts
    if (parts.length === 1 && first !== undefined) {
      first.queue.units = [...first.batch.filter(isWanted), ...first.queue.units]
      this.#contended(first.queue, error)
    } else await Promise.all(parts.map((part) => this.#commit([part], false)))
  }
}

export interface CallPart {
  readonly organizationId: string
  readonly units: readonly Unit[]
}

interface ExclusiveTask {
  readonly run: (waitsForLock: boolean) => Promise<void>
  readonly reject: (error: unknown) => void
  readonly since: number
}

interface QueuedUnit {
  readonly unit: Unit
  readonly keys: readonly string[]
  readonly long: boolean
  readonly since: number
  readonly resolve: (outcome: UnitOutcome) => void
  readonly reject: (error: unknown) => void
}

interface OrganizationQueue {
  readonly organizationId: string
  units: QueuedUnit[]
  exclusiveTasks: ExclusiveTask[]
  exclusiveTaskUnderWay: boolean
  /** The sort of the call under way, of which there is at most one. Exclusive tasks run while a shared call does. */
  callUnderWay: Call['sort'] | null
  /** Another process held the clock for long: the next call waits for it, without other organizations. */
  contended: boolean
}

interface Part {
  readonly queue: OrganizationQueue
  readonly batch: readonly QueuedUnit[]
}

function emptyQueue(organizationId: string): OrganizationQueue {
  return {
    organizationId,
    units: [],
    exclusiveTasks: [],
    exclusiveTaskUnderWay: false,
    callUnderWay: null,
    contended: false,
  }
}

/** Rejects a unit whose signal has aborted. */
function isWanted({ unit: { signal }, reject }: QueuedUnit): boolean {
  if (signal?.aborted) reject(signal.reason)
  return !signal?.aborted
}

function isAlone(sort: Call['sort'] | null): boolean {
  return sort === 'long' || sort === 'lockWait'
}

function needsOwnCall({ units, contended }: OrganizationQueue): boolean {
  const [next] = units
  return next !== undefined && (contended || next.long)
}

/** Keys of which no two units of a call may have the same: the second unit has to see what the first committed. */
export function exclusiveKeys(unit: Unit): string[] {
  const keys = (unit.rows ?? []).map(({ id }) => id)
  for (const change of unit.changes) {
    keys.push(change.id, ...uniqueKeys(change))
    if (change.idempotency !== null) keys.push(change.idempotency.requestKey)
  }
  return keys
}

export function uniqueKeys(change: Change): string[] {
  if (change.operation === 'delete') return []
  return Object.entries(change.unique).map(([column, value]) => `${change.table.kind}.${column}=${value}`)
}

/**
 * One change raised, which rolled back the whole call. Splits it by organization, then by change, so that only that
 * change fails. Not when it ran out of time, as each change would wait that long again, or when the process's clock is
 * wrong.
 */
function smallerCalls(parts: readonly Part[], error: DatabaseError): readonly Part[] {
  const [first] = parts
  if (error.code === clockAheadCode) return []
  if (parts.length > 1 || first === undefined) return parts
  // Its organization is not served here, whichever change it is.
  if (first.batch.length === 1 || ranOut(error) || error.code === notServedCode) return []
  return first.batch.map((waiting) => ({ queue: first.queue, batch: [waiting] }))
}
