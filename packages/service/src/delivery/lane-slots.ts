/** The slots of one lane's turn: one for as long as the turn lasts, and another for each attempt beside the first. */
import type { AttemptResult } from './lanes.ts'
import type { Pace } from './pace.ts'
import type { Slot, Slots } from './slots.ts'

/** An attempt under way, and for how many ticks. */
export interface UnderWay {
  readonly slot: Slot
  ticks: number
}

export class LaneSlots {
  readonly #slots: Slots
  readonly #pace: Pace
  readonly #underWay = new Set<UnderWay>()
  /** The slot that the turn came with, while no attempt is in it. */
  #spare: Slot | null

  /** `first` is left when the turn is over. */
  constructor(slots: Slots, pace: Pace, first: Slot) {
    this.#slots = slots
    this.#pace = pace
    this.#spare = first
  }

  /** Attempts under way. */
  get size(): number {
    return this.#underWay.size
  }

  /** Another attempt could begin: there is a slot for it, too. */
  get hasRoom(): boolean {
    return this.#pace.hasRoom(this.size) && (this.#spare !== null || this.#mayHaveAnother)
  }

  /** Who may be about to hang gets more than one only while there are plenty: they would stand in each other's way. */
  get #mayHaveAnother(): boolean {
    const { tier, isProven } = this.#pace
    return isProven ? this.#slots.hasRoom(tier) : this.#slots.hasPlenty(tier)
  }

  /** Null when no slot is free: never for the only attempt. */
  begin(): UnderWay | null {
    const slot = this.#spare ?? (this.#mayHaveAnother ? this.#slots.enter(this.#pace.tier) : null)
    if (slot === null) return null
    this.#spare = null
    const entry = { slot, ticks: 0 }
    this.#underWay.add(entry)
    return entry
  }

  end(entry: UnderWay, { verdict, responseStatus, lostHandshake }: AttemptResult): void {
    this.#underWay.delete(entry)
    if (verdict.attempted)
      this.#pace.ended({ ticks: entry.ticks, answered: responseStatus !== null, lostHandshake })
    if (this.size > 0) {
      this.#slots.leave(entry.slot)
      return
    }
    this.#slots.move(entry.slot, this.#pace.tier)
    this.#spare = entry.slot
  }

  /** Time has passed: what is overdue is charged to the slow. With `eager`, more may be begun while there are plenty. */
  tick(eager: boolean): void {
    for (const entry of this.#underWay) {
      if (this.#pace.isOverdue(entry.ticks) || !this.#pace.isOverdue(++entry.ticks)) continue
      this.#pace.becameOverdue()
      this.#slots.move(entry.slot, 'slow')
    }
    const { tier } = this.#pace
    if (eager && tier !== 'slow' && this.#slots.hasPlenty(tier)) this.#pace.widen()
  }

  /** More was due than could be taken: from now on the lane's attempts are charged to those with a backlog. */
  hasBacklog(): void {
    this.#pace.hasBacklog()
    const { tier } = this.#pace
    for (const { slot } of this.#underWay) if (slot.tier !== 'slow') this.#slots.move(slot, tier)
    if (this.#spare !== null) this.#slots.move(this.#spare, tier)
  }

  /** The turn is over. */
  release(): void {
    if (this.#spare !== null) this.#slots.leave(this.#spare)
    this.#spare = null
  }
}
