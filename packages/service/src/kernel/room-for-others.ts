/**
 * Room for others: what one organization has done by the thousand leaves the processor to requests that others are just waiting for. As
 * long as there are such requests, and this thread's timers come late, work of that kind has a part of the time, and rests for the remainder.
 *
 * Fair queues do not do it, as nobody waits for a place: what is short is the processor, and whoever never rests is served as much of
 * it as those who ask for it now and then.
 */
import { Company } from './fair-turns.ts'
import { eventLoopLateness, type Lateness, nextRate, type RateTuning } from './lateness.ts'
import { stopwatch } from './timestamps.ts'

/** Times are in milliseconds; a rate is the part of the time that work has. */
export interface RoomTuning extends RateTuning {
  readonly rateAtFirst: number
  /** How long a request makes its organization one that others leave room for. */
  readonly othersFor: number
  readonly adjustEvery: number
  /** A rate that nothing has gone by for that long says nothing of now. */
  readonly forgetAfter: number
  /** How long work rests at the most. */
  readonly restAtMost: number
  /** And large work, once timers were found to be late: before that, processors may be idle. */
  readonly restOfLargeAtMost: number
  /** How often the timer comes that is looked at. */
  readonly resolution: number
}

/**
 * Milliseconds of rest that an organization has after work of so many, before it begins more of its kind. Null stands for whoever has
 * shown no key that is good.
 */
export type RestAfter = (organizationId: string | null, worked: number) => number

/** Chosen by `npm run bench -- neighbours`, on two cores that the service shares with its database. */
export const roomTuning: RoomTuning = {
  rateAtFirst: 0.1,
  rateAtLeast: 0.05,
  rateAtMost: 1,
  lateFrom: 0.2,
  slower: 0.6,
  faster: 1.05,
  othersFor: 1_000,
  adjustEvery: 100,
  forgetAfter: 2_000,
  restAtMost: 250,
  restOfLargeAtMost: 1_000,
  resolution: 5,
}

/** Where another thread reads its part: in thousandths, of any time. */
const whole = 1_000

/** Where requests that are answered are noted, and what can wait leaves them room. */
export type Room = Pick<RoomForOthers, 'note' | 'leavesRoom' | 'restAfter'>

export class RoomForOthers {
  readonly #tuning: RoomTuning
  readonly #elapsed: () => number
  readonly #lateness: Lateness
  readonly #company: Company
  /** Organizations with work under way in the other thread, each as often as it has. */
  readonly #elsewhere: string[] = []
  readonly #partElsewhere = new Int32Array(new SharedArrayBuffer(4)).fill(whole)
  #rate: number
  #askedAt = 0
  #measuring: NodeJS.Timeout | null = null

  constructor(
    tuning: RoomTuning = roomTuning,
    elapsed: () => number = stopwatch(),
    lateness: Lateness = eventLoopLateness(tuning.resolution),
  ) {
    this.#tuning = tuning
    this.#elapsed = elapsed
    this.#lateness = lateness
    this.#company = new Company(tuning.othersFor, elapsed)
    this.#rate = tuning.rateAtFirst
  }

  /** A request of the organization is served: others leave it room. */
  note(organizationId: string): void {
    this.#company.note(organizationId)
  }

  /** Milliseconds of rest after so many of work for the organization: none for one that is alone, nor for nobody where none is there. */
  restAfter(organizationId: string | null, worked: number): number {
    return this.leavesRoom(organizationId) ? restOf(worked, this.#rate, this.#tuning.restAtMost) : 0
  }

  /** The same after large work (`large-work.ts`), of which a piece takes so long that a short rest would leave others little. */
  restAfterLarge(organizationId: string, worked: number): number {
    const { rateAtFirst, restAtMost, restOfLargeAtMost } = this.#tuning
    if (!this.leavesRoom(organizationId)) return 0
    return restOf(worked, this.#rate, this.#rate < rateAtFirst ? restOfLargeAtMost : restAtMost)
  }

  /** Whether others are there for whom processors are short: then what it does leaves them room. */
  leavesRoom(organizationId: string | null): boolean {
    this.#measure()
    return this.#rate < 1 && this.#company.hasOthers(organizationId ?? '')
  }

  /** What another thread goes by, with `roomElsewhere`, while it has work for organizations. */
  get partElsewhere(): Int32Array {
    return this.#partElsewhere
  }

  /** Another thread has work for the organization until it is told otherwise. */
  beginElsewhere(organizationId: string): void {
    this.#elsewhere.push(organizationId)
    this.#measure()
    this.#tell()
  }

  endElsewhere(organizationId: string): void {
    this.#elsewhere.splice(this.#elsewhere.indexOf(organizationId), 1)
    this.#tell()
  }

  #tell(): void {
    const isBeside = this.#elsewhere.some((organizationId) => this.#company.hasOthers(organizationId))
    Atomics.store(this.#partElsewhere, 0, isBeside ? Math.ceil(this.#rate * whole) : whole)
  }

  /** From when there is something to go by it, until nothing has been for a while. */
  #measure(): void {
    this.#askedAt = this.#elapsed()
    if (this.#measuring !== null) return
    this.#rate = this.#tuning.rateAtFirst
    this.#lateness.begin()
    this.#measuring = setInterval(() => {
      this.#rate = nextRate(this.#rate, this.#lateness.read(), this.#tuning)
      this.#tell()
      if (this.#elsewhere.length > 0 || this.#elapsed() - this.#askedAt < this.#tuning.forgetAfter) return
      this.stop()
    }, this.#tuning.adjustEvery)
    this.#measuring.unref()
  }

  /** Measures nothing until there is something to go by it again. */
  stop(): void {
    if (this.#measuring === null) return
    clearInterval(this.#measuring)
    this.#measuring = null
    this.#lateness.end()
  }
}

/** The room that another thread leaves, by what `partElsewhere` says to it. What is answered there makes nobody else rest. */
export function roomElsewhere(part: Int32Array): Room {
  return {
    note() {},
    // Nothing is handed on from there.
    leavesRoom: () => false,
    restAfter: (_organizationId, worked) =>
      restOf(worked, Atomics.load(part, 0) / whole, roomTuning.restAtMost),
  }
}

function restOf(worked: number, rate: number, atMost: number): number {
  return Math.min(atMost, worked * (1 / rate - 1))
}
