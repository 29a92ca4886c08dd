/**
 * Room for answers to GET that were made and not yet taken. An organization may hold as much as is still free; what
 * would exceed that is refused, if possible before it is made. So of large answers it has one of a route made at a time. Where nobody
 * knows how large they are, the others wait until it is known of the first; if that takes long, a second is made beside it.
 */
import { Budget, ShareExceeded } from '../kernel/budget.ts'
import { stopwatch } from '../kernel/timestamps.ts'

export interface AnswerLimits {
  /** Bytes of all answers that were not yet taken; half of them of one organization that is alone. */
  readonly total: number
  /** Up to so many bytes an answer is not counted: it is less than a socket takes at once. */
  readonly uncounted: number
  /** From so many bytes on an answer is large. */
  readonly large: number
  /** Of those whose size is not known, how long the second waits for the first, in milliseconds: no longer does one slow search hold up a short list. */
  readonly waitsForFirst: number
}

const mebibyte = 1024 * 1024

export const answerLimits: AnswerLimits = {
  total: 64 * mebibyte,
  uncounted: 64 * 1024,
  large: mebibyte,
  waitsForFirst: 250,
}

/** Answers of a route made for an organization at once, where nobody knows how large they are. */
const unknownAtOnce = 2
/** How long the size of a route's answers to an organization is remembered, in milliseconds. */
const rememberedFor = 60_000
/** Of how many routes of organizations together. */
const remembered = 10_000

/** An answer that is being made. */
export interface Making {
  /** It will be large, as others were lately. */
  readonly isLarge: boolean
  /** Whether others of its route were made lately, so that one knows how large they are. */
  readonly isKnown: boolean
  /** It has so many bytes: room for them is taken, or what is in the way. */
  made(bytes: number): ShareExceeded | null
  /** Another answer is given in its place, which says nothing of those to come. */
  failed(): void
  /** There is nothing to answer yet. */
  waits(): void
}

/** Answers of one route to one organization. */
interface Line {
  /** The largest lately, and when that was; null while that is not known. */
  expected: { readonly bytes: number; readonly at: number } | null
  making: number
  readonly queue: Waiting[]
}

interface Waiting {
  readonly start: () => void
  /** It has waited for the first of those whose size is not known, and may be the second. */
  hasWaited: boolean
}

export class AnswerRoom {
  readonly #limits: AnswerLimits
  readonly #budget: Budget
  readonly #lines = new Map<string, Line>()
  readonly #elapsed: () => number

  /** `elapsed`: milliseconds that only grow. */
  constructor(limits: AnswerLimits = answerLimits, elapsed: () => number = stopwatch()) {
    this.#limits = limits
    this.#budget = new Budget(limits.total)
    this.#elapsed = elapsed
  }

  /** Bytes held by all. */
  get held(): number {
    return this.#budget.taken
  }

  /**
   * Calls back when the answer may be made, at once or later, or with why it would be refused. The answer is to be called when
   * it was taken, or nobody is there to take it: it gives everything back.
   */
  begin(organizationId: string, route: string, settle: (got: Making | ShareExceeded) => void): () => void {
    const line = this.#lineOf(`${organizationId} ${route}`)
    let holdsPlace = false
    let bytesHeld = 0
    let isGone = false
    const leavePlace = () => {
      if (!holdsPlace) return
      holdsPlace = false
      line.making--
      this.#beginNext(line)
    }
    const making = (expected: number | null): Making => ({
      isLarge: expected !== null && expected >= this.#limits.large,
      isKnown: expected !== null,
      made: (bytes) => {
        // Of who has left nothing would be given back.
        const isCounted = bytes > this.#limits.uncounted && !isGone
        const taken = isCounted ? this.#budget.take(organizationId, bytes) : null
        if (taken === 'taken') bytesHeld = bytes
        this.#remember(line, bytes)
        leavePlace()
        return taken === null || taken === 'taken' ? null : new ShareExceeded(taken, 'answer_bytes')
      },
      failed: leavePlace,
      waits: () => {
        if (holdsPlace) this.#remember(line, 0)
        leavePlace()
      },
    })
    const start = () => {
      const known = this.#expectedOf(line)
      const expected = known ?? 0
      // Who holds nothing is refused nothing beforehand: what was large may be small this time.
      const isAsked = expected > this.#limits.uncounted && this.#budget.heldBy(organizationId) > 0
      const fits = isAsked ? this.#budget.wouldTake(organizationId, expected) : 'taken'
      if (fits !== 'taken') return settle(new ShareExceeded(fits, 'answer_bytes'))
      holdsPlace = true
      line.making++
      settle(making(known))
    }
    const waiting: Waiting = { start, hasWaited: false }
    let patience: NodeJS.Timeout | undefined
    if (this.#mayBegin(line, waiting)) start()
    else {
      line.queue.push(waiting)
      patience = setTimeout(() => {
        waiting.hasWaited = true
        this.#beginNext(line)
      }, this.#limits.waitsForFirst).unref()
    }
    return () => {
      isGone = true
      clearTimeout(patience)
      const at = line.queue.indexOf(waiting)
      if (at !== -1) line.queue.splice(at, 1)
      leavePlace()
      if (bytesHeld > 0) this.#budget.give(organizationId, bytesHeld)
      bytesHeld = 0
    }
  }

  #beginNext(line: Line): void {
    for (let next = line.queue[0]; next !== undefined && this.#mayBegin(line, next); next = line.queue[0]) {
      line.queue.shift()
      next.start()
    }
  }

  /** Whether another is begun, or refused, before those that are being made are there. */
  #mayBegin(line: Line, { hasWaited }: Waiting): boolean {
    const { making } = line
    const expected = this.#expectedOf(line)
    if (expected === null) return making < (hasWaited ? unknownAtOnce : 1)
    return making === 0 || expected < this.#limits.large
  }

  #expectedOf({ expected }: Line): number | null {
    return expected === null || this.#elapsed() - expected.at > rememberedFor ? null : expected.bytes
  }

  #remember(line: Line, bytes: number): void {
    if (bytes >= (this.#expectedOf(line) ?? 0)) line.expected = { bytes, at: this.#elapsed() }
  }

  #lineOf(name: string): Line {
    const known = this.#lines.get(name)
    if (known !== undefined) return known
    const line: Line = { expected: null, making: 0, queue: [] }
    this.#lines.set(name, line)
    // The oldest are forgotten first, and nobody's for whom one is being made.
    for (const [each, { making }] of this.#lines) {
      if (this.#lines.size <= remembered) break
      if (making === 0) this.#lines.delete(each)
    }
    return line
  }
}
