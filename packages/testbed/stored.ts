/** What the database holds beyond what the API shows. */
import type { Pool } from 'pg'
import { tablesOf } from '../service/src/backup/tables.ts'
import type { TestService } from './service.ts'

interface StoredEvent {
  readonly type: string
  readonly subjectId: string
  readonly createdAt: string
  readonly body: string | null
}

/** An organization's events, or those of one object, in the order of their commits. */
export async function storedEvents(
  service: TestService,
  organizationId: string,
  subjectId: string | null = null,
): Promise<StoredEvent[]> {
  const { rows } = await service.database.pool.query<{
    type: string
    subject_id: string
    created_at: Date
    body: string | null
  }>(
    `select e.type, e.subject_id, e.created_at, e.body from events_with_body e
       where e.organization_id = $1 and ($2::uuid is null or e.subject_id = $2)
       order by e.created_at, e.type desc, e.id`,
    [organizationId, subjectId],
  )
  return rows.map((row) => ({
    type: row.type,
    subjectId: row.subject_id,
    createdAt: row.created_at.toISOString(),
    body: row.body,
  }))
}

/** The organization's clock. */
export async function lastStamp(service: TestService, organizationId: string): Promise<string> {
  const { rows } = await service.database.pool.query<{ last_stamp: Date }>(
    'select c.last_stamp from clocks c where c.organization_id = $1',
    [organizationId],
  )
  return rows[0]?.last_stamp.toISOString() ?? 'no clock'
}

/** Every row of every table that contains the text. */
export async function rowsWith(pool: Pool, text: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const { name } of await tablesOf(pool)) {
    const { rows } = await pool.query<{ row: string }>(
      `select t::text as row from ${name} t where t::text like '%' || $1 || '%' order by 1`,
      [text],
    )
    if (rows.length > 0) found[name] = rows.map(({ row }) => row)
  }
  return found
}
