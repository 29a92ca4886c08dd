import { isHeldElsewhere } from './failure.ts'
import type { SchemaFunction } from './migration.ts'
import type { Queryable } from './pool.ts'

/** Resolves with 'busy' when another transaction held a lock for longer than the call waits (lock_not_available). */
export async function unlessBusy<A>(call: Promise<A>): Promise<A | 'busy'> {
  try {
    return await call
  } catch (error) {
    if (isHeldElsewhere(error)) return 'busy'
    throw error
  }
}

/**
 * Names the organization, by which an extension that shards sends the call to its node. Once the organization is gone
 * there is no row, and so no call.
 */
export const fromOrganization = 'from organizations o where o.organization_id = $1'

/** The database has no row of the organization: it was deleted, or dropped here after a move. Nothing was done. */
export class OrganizationGone extends Error {
  constructor(organizationId: unknown) {
    super(`there is no organization ${organizationId} any more`)
  }
}

/** The value that the call returned. @throws OrganizationGone */
export function answerOf<A>(rows: readonly { readonly answer: A }[], organizationId: unknown): A {
  const [row] = rows
  if (row === undefined) throw new OrganizationGone(organizationId)
  return row.answer
}

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
