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

/**
 * What the call of a function of an organization, its first argument, is made from: so that the statement names it as every other does, for
 * whatever stands in between and does not know the function (decision 65). There is no row, and no call, once the organization is gone.
 */
export const fromOrganization = 'from organizations o where o.organization_id = $1'

/** What the call has answered. @throws where there was none, as the organization is gone. */
export function answerOf<A>(rows: readonly { readonly answer: A }[], organizationId: unknown): A {
  const [row] = rows
  if (row === undefined) throw new Error(`there is no organization ${organizationId} any more`)
  return row.answer
}

/** Calls a function of an organization that answers with one word, or one value. */
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
