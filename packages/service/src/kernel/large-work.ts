/**
 * Large work: what keeps a processor busy for a tenth of a second at a stretch, a search, a batch, a page of megabytes, a removal that reaches
 * far. Beside others, where processors are short, an organization has one piece of it under way, whatever it is, and rests after it
 * (decision 76): a batch that commits, a search and a page are three processes, and everybody else's requests wait for all of them.
 */
import { ShareExceeded } from './budget.ts'
import type { RoomForOthers } from './room-for-others.ts'
import { stopwatch } from './timestamps.ts'

/** One organization's. */
interface Lane {
  underWay: number
  /** Rests that are not over: of what was begun while it was alone there may be several. */
  rests: number
  /** Those that wait, the first to come first. */
  readonly waiting: (() => void)[]
}

export class LargeWork {
  readonly #room: Pick<RoomForOthers, 'leavesRoom' | 'restAfterLarge'>
  readonly #elapsed: () => number
  readonly #lanes = new Map<string, Lane>()
  #isStopped = false

  /** `elapsed`: milliseconds that only grow. */
  constructor(
    room: Pick<RoomForOthers, 'leavesRoom' | 'restAfterLarge'>,
    elapsed: () => number = stopwatch(),
  ) {
    this.#room = room
    this.#elapsed = elapsed
  }

  /**
   * Does the work when it is its turn, at once for whoever leaves nobody room, and ends as it does.
   * @param limits `waitAtMost`: milliseconds, without limit by default; `signal`: ends the wait.
   * @throws ShareExceeded, as a rejection, when it has waited for longer, or the signal's reason: then it is not done.
   */
  run<A>(
    organizationId: string,
    work: () => Promise<A>,
    {
      waitAtMost = Number.POSITIVE_INFINITY,
      signal,
    }: { readonly waitAtMost?: number; readonly signal?: AbortSignal } = {},
  ): Promise<A> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    const lane = this.#laneOf(organizationId)
    if (this.#mayBegin(organizationId, lane) && lane.waiting.length === 0) {
      return this.#begin(organizationId, lane, work)
    }
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(late)
        signal?.removeEventListener('abort', leave)
        this.#begin(organizationId, lane, work).then(resolve, reject)
      }
      const giveUp = (why: unknown) => {
        lane.waiting.splice(lane.waiting.indexOf(begin), 1)
        this.#forgetIdle(organizationId, lane)
        reject(why)
      }
      const leave = () => {
        clearTimeout(late)
        giveUp(signal?.reason)
      }
      const late = Number.isFinite(waitAtMost)
        ? setTimeout(() => {
            signal?.removeEventListener('abort', leave)
            giveUp(new ShareExceeded('own_share', 'database_time'))
          }, waitAtMost)
        : undefined
      signal?.addEventListener('abort', leave, { once: true })
      lane.waiting.push(begin)
    })
  }

  /** Begins none of what still waits, as its clients have gone. */
  stop(): void {
    this.#isStopped = true
  }

  #mayBegin(organizationId: string, { underWay, rests }: Lane): boolean {
    return underWay + rests === 0 || !this.#room.leavesRoom(organizationId)
  }

  async #begin<A>(organizationId: string, lane: Lane, work: () => Promise<A>): Promise<A> {
    const began = this.#elapsed()
    lane.underWay++
    try {
      return await work()
    } finally {
      lane.underWay--
      const rest = this.#room.restAfterLarge(organizationId, this.#elapsed() - began)
      if (rest >= 1) {
        lane.rests++
        setTimeout(() => {
          lane.rests--
          this.#beginNext(organizationId, lane)
        }, rest)
      }
      this.#beginNext(organizationId, lane)
    }
  }

  #beginNext(organizationId: string, lane: Lane): void {
    while (lane.waiting.length > 0 && !this.#isStopped && this.#mayBegin(organizationId, lane))
      lane.waiting.shift()?.()
    this.#forgetIdle(organizationId, lane)
  }

  #laneOf(organizationId: string): Lane {
    const known = this.#lanes.get(organizationId)
    if (known !== undefined) return known
    const lane: Lane = { underWay: 0, rests: 0, waiting: [] }
    this.#lanes.set(organizationId, lane)
    return lane
  }

  #forgetIdle(organizationId: string, { underWay, rests, waiting }: Lane): void {
    if (underWay + rests + waiting.length === 0) this.#lanes.delete(organizationId)
  }
}
