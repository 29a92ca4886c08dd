/**
 * Deliveries come at least once (specification 10.1). What has been done of which event is remembered here, so that
 * its work is begun once at a time, and not again when it was done.
 */

/** What became of an event that was to be begun. */
export type Begun = 'begun' | 'under_way' | 'done'

/**
 * Where it is remembered: in memory, or in a table that all processes of a receiver share. Each call is atomic. Ids
 * are those of events; times are milliseconds since the Unix epoch.
 */
export interface SeenEvents {
  /**
   * Takes the event until `until`, unless it is done, or taken by another until later than `now`. What was taken and
   * not ended by then is begun anew: its process may have died.
   */
  begin(id: string, now: number, until: number): Promise<Begun>
  /** The work is done: it is not to be begun again. */
  finish(id: string): Promise<void>
  /** The work has failed: it may be begun again at once. */
  release(id: string): Promise<void>
}

/** For one process: forgets with it, and of more than `capacity` events those that came first. */
export class SeenInMemory implements SeenEvents {
  /** Until when each is taken; Infinity when it is done. In the order in which they came. */
  readonly #until = new Map<string, number>()
  readonly #capacity: number

  /** 100,000 unless told, some 15 MB. */
  constructor(capacity = 100_000) {
    this.#capacity = capacity
  }

  async begin(id: string, now: number, until: number): Promise<Begun> {
    const known = this.#until.get(id)
    if (known === Number.POSITIVE_INFINITY) return 'done'
    if (known !== undefined && known > now) return 'under_way'
    this.#until.set(id, until)
    for (const first of this.#until.keys()) {
      if (this.#until.size <= this.#capacity) break
      this.#until.delete(first)
    }
    return 'begun'
  }

  async finish(id: string): Promise<void> {
    this.#until.set(id, Number.POSITIVE_INFINITY)
  }

  async release(id: string): Promise<void> {
    this.#until.delete(id)
  }
}

export interface OnceOptions {
  /** Milliseconds after which work that has not ended is taken for lost. Default 15 minutes. */
  lostAfterMs?: number
  /** Milliseconds since the Unix epoch: for tests. */
  now?: () => number
}

/**
 * Does the work of an event unless it is done or under way, and says which: `begun` when it was done just now. What
 * the work throws is thrown, and the next delivery begins it anew. Whoever needs work and memory to be one writes
 * both in one transaction of a database, with the id under a unique key.
 */
export const once = async (
  seen: SeenEvents,
  id: string,
  work: () => Promise<void> | void,
  { lostAfterMs = 900_000, now = Date.now }: OnceOptions = {},
): Promise<Begun> => {
  const at = now()
  const begun = await seen.begin(id, at, at + lostAfterMs)
  if (begun !== 'begun') return begun
  try {
    await work()
  } catch (error) {
    await seen.release(id)
    throw error
  }
  await seen.finish(id)
  return 'begun'
}
