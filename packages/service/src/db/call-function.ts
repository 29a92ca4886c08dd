import type { SchemaFunction } from './migration.ts'
import type { Queryable } from './pool.ts'

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
