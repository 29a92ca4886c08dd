import { isHeldElsewhere } from './failure.ts'
import type { SchemaFunction } from './migration.ts'
import type { Queryable } from './pool.ts'

/** What the call answers; 'busy' when others held a lock for longer than it was ready to wait (lock_not_available). */
export async function unlessBusy<A>(call: Promise<A>): Promise<A | 'busy'> {
  try {
    return await call
  } catch (error) {
    if (isHeldElsewhere(error)) return 'busy'
    throw error
  }
}

/** Calls a function that answers with one word, or one value. */
export async function callFunction<A>(
  pool: Queryable,
  { name }: SchemaFunction,
  values: readonly unknown[],
): Promise<A> {
  const places = values.map((_, n) => `$${n + 1}`).join(', ')
  const { rows } = await pool.query<{ answer: A }>(`select ${name}(${places}) as answer`, [...values])
  return rows[0]?.answer as A
}
