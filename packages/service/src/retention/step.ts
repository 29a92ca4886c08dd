import type { Pool } from 'pg'

/** Rows per statement, so that none holds locks for long. */
export const step = 500

/** Repeats `take` until it returns less than a full step. `take` returns the number of rows. */
export async function stepByStep(take: () => Promise<number>): Promise<void> {
  while ((await take()) === step);
}

/** Deletes what `find` selects, in steps. `remove` gets the first column, the organization, as `$1`, and the others as arrays. */
export function removeInSteps(
  pool: Pool,
  find: string,
  values: readonly unknown[],
  remove: string,
): Promise<void> {
  return stepByStep(async () => {
    const { rows, fields } = await pool.query<Record<string, unknown>>(`${find} limit ${step}`, [...values])
    const columns = fields.slice(1)
    for (const [organizationId, found] of Map.groupBy(rows, (row) => row.organization_id)) {
      await pool.query(remove, [organizationId, ...columns.map(({ name }) => found.map((row) => row[name]))])
    }
    return rows.length
  })
}
