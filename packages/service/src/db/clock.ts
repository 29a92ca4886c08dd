/**
 * The database's clock, kept by this machine's monotonic time in between: all processes of an installation agree on what
 * time it is, though their machines do not, and a machine whose clock is set changes nothing for them.
 */
import type { Pool } from 'pg'
import { periodic } from '../kernel/periodic.ts'
import { type Clock, stopwatch, systemClock } from '../kernel/timestamps.ts'

export interface FollowingClock extends Clock {
  /** Resolves when the database was asked for the first time; until then it is the machine's clock. Never rejects. */
  readonly ready: Promise<void>
  stop(): void
}

/** How often the database is asked, in milliseconds; and while it does not answer. */
const askEvery = 10_000
const askAgainAfter = 500
/** Of so many answers the quickest counts: it knows best what time it is now. */
const questions = 3

/** Begins to follow. What it says after `stop` runs on without the database. */
export function followDatabaseClock(pool: Pick<Pool, 'query'>): FollowingClock {
  const elapsed = stopwatch()
  let ahead = systemClock.now()
  const { promise: ready, resolve } = Promise.withResolvers<void>()

  const following = periodic({
    every: askEvery,
    everyAfterFailure: askAgainAfter,
    stopWithin: 0,
    async run() {
      ahead = await askAhead(pool, elapsed)
      resolve()
    },
    // Time goes on without it.
    onFailure() {},
  })
  following.start()
  return {
    now: () => Math.floor(ahead + elapsed()),
    ready,
    stop: () => void following.stop(),
  }
}

/** The database's clock as it is now, for what is done once: it is asked, and then runs on by itself. Rejects when it cannot be asked. */
export async function askDatabaseClock(pool: Pick<Pool, 'query'>): Promise<Clock> {
  const elapsed = stopwatch()
  const ahead = await askAhead(pool, elapsed)
  return { now: () => Math.floor(ahead + elapsed()) }
}

/** By how much the database's time is ahead of `elapsed`, in milliseconds. */
async function askAhead(pool: Pick<Pool, 'query'>, elapsed: () => number): Promise<number> {
  let best = { took: Number.POSITIVE_INFINITY, ahead: 0 }
  for (let n = 0; n < questions; n++) {
    const asked = elapsed()
    const { rows } = await pool.query<{ now: string }>(
      'select (extract(epoch from clock_timestamp()) * 1000)::text as now',
    )
    const took = elapsed() - asked
    if (took < best.took) best = { took, ahead: Number(rows[0]?.now) - (asked + took / 2) }
  }
  return best.ahead
}
