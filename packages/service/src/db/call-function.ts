import { isHeldElsewhere } from './failure.ts'
import type { SchemaFunction } from './migration.ts'
import type { Queryable } from './pool.ts'

/**
 * Resolves with the call's value, or with 'busy' when another process held a lock for longer than the call
 * waits (lock_not_available).
 */
export async function unlessBusy<A>(call: Promise<A>): Promise<A | 'busy'> {
  try {
    return await call
  } catch (error) {
    if (isHeldElsewhere(error)) return 'busy'
    throw error
  }
}

/**
 * The source of a call of an organization's function, whose first argument is its id. It makes the statement
 * name the organization as every other does, for sharding layers that do not know the function (decision 65).
 * Once the organization is gone there is no row, and so no call.
 */
export const fromOrganization = 'from organizations o where o.organization_id = $1'

/** The value that the call returned. @throws when there was no call, because the organization is gone. */
export function answerOf<A>(rows: readonly { readonly answer: A }[], organizationId: unknown): A {
  const [row] = rows
  if (row === undefined) throw new Error(`there is no organization ${organizationId} any more`)
  return row.answer
}

/** Calls a function of an organization that returns a word, or a value. */
export async function callFunction<A>(
  pool: Queryable,
  { name }: SchemaFunction,
  values: readonly [organizationId: string, ...others: unknown[]],
): Promise<A> {
  const places = values.map((_, n) => `$${n + 1}`).join(', ')
  const text = `select ${name}(${places}) as answer ${fromOrganization}`
  const { rows } = await pool.query<{ answer: A }>(text, [...values])
  return answerOf(rows, values[0])
}
