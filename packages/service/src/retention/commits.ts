/** Deletes what commits have counted before the latest, which says all. */
import type { Pool } from 'pg'
import { byOrganization } from '../db/steps.ts'
import { notServedOrganizations } from '../journal/not-served.ts'

interface Counted {
  readonly organization_id: string
  readonly kind: string
  readonly latest: Date
}

/** Commits go on meanwhile: they add rows after these. */
export function trimCommits(pool: Pool): Promise<void> {
  return byOrganization<Counted>(
    pool,
    (failed) =>
      `select c.organization_id, c.kind, max(c.stamp) as latest from commits c
         where c.organization_id <> all(${failed}) and c.organization_id <> all(${notServedOrganizations})
         group by c.organization_id, c.kind having count(*) > 1`,
    [],
    async (organizationId, rows) => {
      for (const { kind, latest } of rows)
        await pool.query('delete from commits where organization_id = $1 and kind = $2 and stamp < $3', [
          organizationId,
          kind,
          latest,
        ])
    },
  )
}
