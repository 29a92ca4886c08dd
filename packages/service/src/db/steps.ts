/**
 * Background work on the rows of many organizations: in pieces, so that no statement holds locks for long; one that
 * fails delays no other.
 */
import type { Pool } from 'pg'

/** Rows per statement. */
export const step = 500

type Queryable = Pick<Pool, 'query'>

/** Repeats `take` until it returns less than a full step. `take` returns the number of rows. */
export async function stepByStep(take: () => Promise<number>): Promise<void> {
  while ((await take()) === step);
}

/** Does each part of some work. @throws the error of one that failed, after the others were done. */
export async function eachAlone<Part>(
  parts: Iterable<Part>,
  work: (part: Part) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = []
  for (const part of parts) await work(part).catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/**
 * Does the work that `find` selects, in steps, until none is left. An organization that fails is left out from then on:
 * `find` gets the parameter that lists those.
 * @throws the error of an organization that failed, after the others were done.
 */
export async function byOrganization<Row extends { readonly organization_id: string }>(
  db: Queryable,
  find: (failed: string) => string,
  values: readonly unknown[],
  work: (organizationId: string, rows: readonly Row[]) => Promise<unknown>,
): Promise<void> {
  const failures = new Map<string, unknown>()
  const text = `${find(`$${values.length + 1}`)} limit ${step}`
  await stepByStep(async () => {
    const { rows } = await db.query<Row>(text, [...values, [...failures.keys()]])
    for (const [organizationId, found] of Map.groupBy(rows, (row) => row.organization_id))
      await work(organizationId, found).catch((error: unknown) => failures.set(organizationId, error))
    return rows.length
  })
  for (const error of failures.values()) throw error
}

/**
 * Deletes what `find` selects, in steps. `remove` gets the first column, the organization, as `$1`, and the others as
 * arrays.
 */
export function removeInSteps(
  db: Queryable,
  find: (failed: string) => string,
  values: readonly unknown[],
  remove: string,
): Promise<void> {
  return byOrganization<Readonly<Record<string, unknown>> & { readonly organization_id: string }>(
    db,
    find,
    values,
    (organizationId, rows) => {
      const columns = Object.keys(rows[0] ?? {}).filter((name) => name !== 'organization_id')
      return db.query(remove, [organizationId, ...columns.map((name) => rows.map((row) => row[name]))])
    },
  )
}
