/**
 * The database's clock, extrapolated by this machine's monotonic clock: all processes of an installation agree on the
 * time, and setting a machine's clock has no effect.
 */
import type { Pool } from 'pg'
import { periodic } from '../kernel/periodic.ts'
import { type Clock, stopwatch, systemClock } from '../kernel/timestamps.ts'

export interface FollowingClock extends Clock {
  /** Resolves after the first query of the database's time; until then `now` is the machine's clock. Never rejects. */
  readonly ready: Promise<void>
  stop(): void
}

/** Milliseconds between queries of the database's time. */
const queryEvery = 10_000
const queryAgainAfter = 500
/** Queries in a row; the fastest is the most exact. */
const queriesInARow = 3

/** After `stop` the clock continues without the database. */
export function followDatabaseClock(pool: Pick<Pool, 'query'>): FollowingClock {
  const elapsed = stopwatch()
  let ahead = systemClock.now()
  const { promise: ready, resolve } = Promise.withResolvers<void>()

  const following = periodic({
    every: queryEvery,
    everyAfterFailure: queryAgainAfter,
    stopWithin: 0,
    async run() {
      ahead = await readLead(pool, elapsed)
      resolve()
    },
    // The clock continues without the database.
    onFailure() {},
  })
  following.start()
  return {
    now: () => Math.floor(ahead + elapsed()),
    ready,
    stop: () => void following.stop(),
  }
}

/** The database's clock for a single use, queried once. Rejects when the query fails. */
export async function readDatabaseClock(pool: Pick<Pool, 'query'>): Promise<Clock> {
  const elapsed = stopwatch()
  const ahead = await readLead(pool, elapsed)
  return { now: () => Math.floor(ahead + elapsed()) }
}

/** How far the database's time is ahead of `elapsed`, in milliseconds. */
async function readLead(pool: Pick<Pool, 'query'>, elapsed: () => number): Promise<number> {
  let best = { took: Number.POSITIVE_INFINITY, ahead: 0 }
  for (let n = 0; n < queriesInARow; n++) {
    const sentAt = elapsed()
    const { rows } = await pool.query<{ now: string }>(
      'select (extract(epoch from clock_timestamp()) * 1000)::text as now',
    )
    const took = elapsed() - sentAt
    if (took < best.took) best = { took, ahead: Number(rows[0]?.now) - (sentAt + took / 2) }
  }
  return best.ahead
}
