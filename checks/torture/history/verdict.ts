/** The result of checking a history. */

/**
 * - `lost`: a version that a reader went past, though it was there; a write that was acknowledged and is gone.
 * - `unseen`: a write that was acknowledged before a read began, which had caught up without it.
 * - `reordered`: a version before one that it comes after; or a write stamped before one that it followed.
 * - `repeated`: a version that the same reader had been given, without having asked again.
 * - `invented`: a version that nobody's ask explains.
 * - `changed`: other bytes under the same `updatedAt`.
 * - `checkpoint`: a count or digest that is not that of the copy which the pages make.
 * - `unfinished`: a follower that never caught up, so that nothing can be said of its end.
 */
export const faultSorts = [
  'lost',
  'unseen',
  'reordered',
  'repeated',
  'invented',
  'changed',
  'checkpoint',
  'unfinished',
] as const

export type FaultSort = (typeof faultSorts)[number]

export interface Fault {
  readonly sort: FaultSort
  /** The line, from 1, at which it shows. */
  readonly line: number
  readonly detail: string
}

export interface Verdict {
  /** The first thousand. */
  readonly faults: readonly Fault[]
  /** All of them, by sort. */
  readonly counts: Readonly<Record<FaultSort, number>>
  readonly seen: {
    readonly lines: number
    readonly asks: number
    readonly acknowledged: number
    readonly unanswered: number
    readonly versions: number
    readonly rows: number
    readonly followers: number
    readonly pages: number
    /** Records on all pages. */
    readonly read: number
    /** Pages that were deliberately requested again. */
    readonly again: number
    readonly checkpoints: number
    readonly marks: number
  }
}

const kept = 1_000

/** Stores the first thousand faults, and counts them all. */
export class Faults {
  readonly list: Fault[] = []
  readonly counts: Record<FaultSort, number>

  constructor() {
    this.counts = Object.fromEntries(faultSorts.map((sort) => [sort, 0])) as Record<FaultSort, number>
  }

  add(sort: FaultSort, line: number, detail: string): void {
    this.counts[sort]++
    if (this.list.length < kept) this.list.push({ sort, line, detail })
  }
}
