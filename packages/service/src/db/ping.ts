import type { Pool } from 'pg'
import { cached } from '../kernel/cached.ts'
import { atMost } from '../kernel/periodic.ts'
import type { Clock } from '../kernel/timestamps.ts'

/** Milliseconds for which a result is reused. */
const goodFor = 1_000
/** Milliseconds: an unreachable database may never respond. */
const respondsWithin = 2_000

/** Whether the database responds, asked at most once a second. */
export function createPing(pool: Pool, clock: Clock): () => Promise<boolean> {
  const ask = cached(() => pool.query('select i.singleton from installation i where i.singleton'), {
    clock,
    goodFor,
  })
  return () => atMost(respondsWithin, ask()).catch(() => false)
}
