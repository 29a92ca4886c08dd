import type { Shelf } from './seeds.ts'

/** How much to measure. */
export interface Scale {
  readonly runs: number
  /** The large sizes as well. */
  readonly full: boolean
  /** The backlog of `deliver` and `peers`. */
  readonly deliveries: number
  /** How long `snapshot` holds one under load, each time. */
  readonly seconds: number
  /**
   * Runs only attacks of `neighbours`, stores of `mirror` and parts of `console`, `databases`, `search` and `snapshot` whose names contain
   * this; empty: all.
   */
  readonly only: string
  readonly shelf: Shelf
}
