/** What upgrades rows of earlier releases, put together from the kinds; and how many are left. */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { createAnnouncer } from './journal/announcer.ts'
import { commitFunction } from './journal/commit-function.ts'
import { defaultLimits } from './journal/group-limits.ts'
import { createJournal } from './journal/journal.ts'
import { countOutdated } from './journal/outdated.ts'
import type { Clock } from './kernel/clock.ts'
import { loggable } from './kernel/loggable.ts'
import { type Backfill, createBackfill } from './resource/backfill.ts'
import type { Kind } from './resource/kind.ts'

/** A backfill with its journal. It does nothing until it is started or told to. What the pool writes must be durable. */
export function createBackfillOf(options: {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly kinds: readonly Kind[]
  /** How far the clock may be ahead of the database's, in milliseconds; as far as it likes unless told. */
  readonly maxLead?: number
}): Backfill {
  const { pool, clock, log, kinds, maxLead } = options
  const untold = (error: Error) => log.warn({ err: loggable(error) }, 'nobody could be told of upgraded rows')
  const tables = kinds.map(({ table }) => table)
  const journal = createJournal({
    pool,
    clock,
    commitFunction: commitFunction(tables),
    tables,
    // Nothing that it commits has an event.
    maxAttempts: 1,
    announcer: createAnnouncer(pool, untold),
    limits: { ...defaultLimits, giveUpAfter: 0 },
    ...(maxLead === undefined ? {} : { maxLead }),
  })
  return createBackfill({ pool, kinds, journal, clock, log })
}

/** Rows of a kind that are counted at most. */
export const outdatedCounted = 100_000

/** By kind, how many rows show an earlier version of it. Of a kind that never changed nobody is asked. */
export async function outdatedRows(
  pool: Pool,
  kinds: readonly Kind[],
): Promise<readonly { readonly kind: string; readonly rows: number }[]> {
  return Promise.all(
    kinds.map(async ({ name, table }) => ({
      kind: name,
      rows: table.version === 1 ? 0 : await countOutdated(pool, table, outdatedCounted),
    })),
  )
}
