/**
 * Slots: the attempts that a worker makes at once, shared among the tiers. Whatever hangs or is flooded, a part of them is
 * left to those who need one for a moment.
 *
 * An attempt that hangs costs a worker up to 200 kB for its connection, by what fewer of them saved, and next to no time. So the slow may have a
 * quarter of all; a backlog has enough with another, which 5,000 deliveries a second fill when receivers take 100 ms.
 */
import type { Tier } from './tiers.ts'

/** An attempt's place; it counts for the tier that it has at the moment. */
export interface Slot {
  tier: Tier
}

export interface SlotLimits {
  readonly total: number
  readonly heavy: number
  readonly slow: number
  /** Of the fresh, who may turn out slow; together with the slow no more than both. */
  readonly fresh: number
}

export const defaultSlots: SlotLimits = { total: 2_048, heavy: 512, slow: 512, fresh: 256 }

export class Slots {
  readonly #limits: Readonly<Record<Tier, number>>
  readonly #used: Record<Tier, number> = { light: 0, heavy: 0, slow: 0, fresh: 0 }

  constructor({ total, ...limits }: SlotLimits = defaultSlots) {
    this.#limits = { light: total, ...limits }
  }

  /** Attempts under way, and lanes about to make one. */
  get inUse(): number {
    const { light, heavy, slow, fresh } = this.#used
    return light + heavy + slow + fresh
  }

  hasRoom(tier: Tier): boolean {
    const { slow, fresh } = this.#limits
    // A fresh lane that hangs becomes a slow one, and must not take by that what is left for the others.
    if (tier === 'fresh' && this.#used.slow + this.#used.fresh >= slow + fresh) return false
    return this.inUse < this.#limits.light && this.#used[tier] < this.#limits[tier]
  }

  /**
   * Less than half of all slots are in use, and of the tier's: of the slow an eighth, as what hangs beside what already hangs
   * helps nobody, and is given up at the same moment and begun anew at the same moment.
   */
  hasPlenty(tier: Tier): boolean {
    const share = tier === 'slow' ? 8 : 2
    return this.inUse < this.#limits.light / 2 && this.#used[tier] < this.#limits[tier] / share
  }

  /** The tier has more than its limit, as some of its slots were moved to it. */
  isOver(tier: Tier): boolean {
    return this.#used[tier] > this.#limits[tier]
  }

  /** Null when there is none left. What is entered is to be left once. */
  enter(tier: Tier): Slot | null {
    if (!this.hasRoom(tier)) return null
    this.#used[tier]++
    return { tier }
  }

  /** Charges the slot to another tier, which may have more than its limit by that: then it gets no more for a while. */
  move(slot: Slot, tier: Tier): void {
    this.#used[slot.tier]--
    slot.tier = tier
    this.#used[tier]++
  }

  leave(slot: Slot): void {
    this.#used[slot.tier]--
  }
}
