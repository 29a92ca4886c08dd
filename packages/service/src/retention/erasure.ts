/** Erases removed objects from events and stored responses, and deletes stored responses after 24 hours. */
import type { Pool } from 'pg'
import { storedForMilliseconds } from '../idempotency/stored-responses.ts'
import { reference } from '../journal/body.ts'
import { uncountResponses } from '../journal/sql-fragments.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import { step } from './step.ts'

const eraseResponses = uncountResponses(`update idempotency_keys k set body = null, counted = 0
      from (select o.api_key_id, o.method, o.path, o.key, o.counted from idempotency_keys o
        where o.organization_id = $1 and o.subject_id = any($2) and o.body is not null for update) o
      where k.organization_id = $1 and k.api_key_id = o.api_key_id and k.method = o.method and k.path = o.path and k.key = o.key
      returning o.counted`)

/** Removal events keep their record, which contains only the id. */
export async function erasePayloads(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ organization_id: string; subject_id: string; removed_at: Date }>(
    `select e.organization_id, e.subject_id, e.removed_at from erasures e limit ${step}`,
  )
  const organizations = Map.groupBy(rows, (row) => row.organization_id)
  for (const [organizationId, due] of organizations) {
    const subjects = due.map((row) => row.subject_id)
    await pool.query(
      `update events set body = null where organization_id = $1 and subject_id = any($2)
         and body is not null and type not like '%.deleted'`,
      [organizationId, subjects],
    )
    await pool.query(eraseResponses, [organizationId, subjects])
    await pool.query('delete from erasures where organization_id = $1 and subject_id = any($2)', [
      organizationId,
      subjects,
    ])
  }
  return rows.length
}

/** In payloads and stored responses of objects that still exist, clears references to removed objects. */
export async function detachPayloads(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{
    organization_id: string
    subject_id: string
    removed_id: string
  }>(`select d.organization_id, d.subject_id, d.removed_id from detachments d limit ${step}`)
  for (const [organizationId, due] of Map.groupBy(rows, (row) => row.organization_id)) {
    const values = [organizationId, due.map((row) => row.subject_id), due.map((row) => row.removed_id)]
    for (const table of ['events', 'idempotency_keys']) {
      await pool.query(
        `update ${table} t set body = ${stored.removed}
           from unnest($2::uuid[], $3::uuid[]) as d(subject_id, removed_id)
           where t.organization_id = $1 and t.subject_id = d.subject_id and ${stored.holds}`,
        values,
      )
    }
    await pool.query(
      `delete from detachments t using unnest($2::uuid[], $3::uuid[]) as d(subject_id, removed_id)
         where t.organization_id = $1 and t.subject_id = d.subject_id and t.removed_id = d.removed_id`,
      values,
    )
  }
  return rows.length
}

const stored = reference('t.body', 'd.removed_id')

const forgetResponses = uncountResponses(
  'delete from idempotency_keys where organization_id = $1 and created_at <= $2 returning counted',
)

/** Those of an organization that is being moved are deleted later: their count is moved too. */
export async function deleteStoredResponses(pool: Pool, clock: Clock): Promise<number> {
  const before = formatTimestamp(clock.now() - storedForMilliseconds)
  const { rows } = await pool.query<{ organization_id: string }>(
    `select k.organization_id from idempotency_keys k where k.created_at <= $1
       and k.organization_id <> all(array(select a.organization_id from organization_arrivals a
         union all select o.organization_id from organizations o where o.away = 'fenced')) limit ${step}`,
    [before],
  )
  for (const organizationId of new Set(rows.map((row) => row.organization_id))) {
    await pool.query(forgetResponses, [organizationId, before])
  }
  return rows.length
}
