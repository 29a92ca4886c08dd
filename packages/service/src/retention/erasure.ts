/** Erases removed objects from events, receivers' answers and stored responses, and deletes these after 24 hours. */
import type { Pool } from 'pg'
import { storedForMilliseconds } from '../idempotency/stored-responses.ts'
import { clearedReference, reference } from '../journal/body.ts'
import { uncountResponses } from '../journal/sql-fragments.ts'
import { nilUuid } from '../kernel/ids.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import { step } from './step.ts'

/** A receipt of an erase holds nothing of the person. */
const eraseResponses = uncountResponses(`update idempotency_keys k set body = null, counted = 0
      from (select o.api_key_id, o.method, o.path, o.key, o.counted from idempotency_keys o
        where o.organization_id = $1 and o.subject_id = any($2) and o.body is not null and o.path not like '%/erase' for update) o
      where k.organization_id = $1 and k.api_key_id = o.api_key_id and k.method = o.method and k.path = o.path and k.key = o.key
      returning o.counted`)

/** Deliveries about the subjects. Those that a worker is completing are skipped: they are due again. */
const deliveriesAbout = `select d.organization_id, d.webhook_id, d.id, d.log_day from deliveries d
      where d.organization_id = $1 and d.event_id = any(array(select e.id from events e
        where e.organization_id = $1 and e.subject_id = any($2)))`

/** Receivers may send back what they were sent. */
const eraseAnswers = [
  `update attempts a set response_body = null from (${deliveriesAbout}) d
     where a.organization_id = $1 and a.delivery_id = d.id and a.response_body is not null`,
  `update deliveries t set response_body = null
     from (${deliveriesAbout} and d.response_body is not null for update skip locked) d
     where t.organization_id = $1 and t.webhook_id = d.webhook_id and t.id = d.id and t.log_day = d.log_day`,
]

/** Milliseconds in which attempts that were under way at the removal have ended, and so have written their answers. */
const settledAfter = 10 * 60 * 1000

interface RemovedRow {
  readonly organization_id: string
  readonly subject_id: string
  readonly settled: boolean
}

/** Removal events keep their record, which contains only the id. `only`: of one organization. */
export async function erasePayloads(pool: Pool, clock: Clock, only: string | null = null): Promise<void> {
  const settled = formatTimestamp(clock.now() - settledAfter)
  let last: readonly [string, string] = [nilUuid, nilUuid]
  for (let found = step; found === step; ) {
    const { rows } = await pool.query<RemovedRow>(
      `select e.organization_id, e.subject_id, e.removed_at <= $1 as settled from erasures e
         where (e.organization_id, e.subject_id) > ($2, $3)${only === null ? '' : ' and e.organization_id = $4'}
         order by e.organization_id, e.subject_id limit ${step}`,
      [settled, ...last, ...(only === null ? [] : [only])],
    )
    for (const [organizationId, due] of Map.groupBy(rows, (row) => row.organization_id)) {
      const values = [organizationId, due.map((row) => row.subject_id)]
      await pool.query(
        `update events set body = null where organization_id = $1 and subject_id = any($2)
         and body is not null and type not like '%.deleted'`,
        values,
      )
      for (const text of [eraseResponses, ...eraseAnswers]) await pool.query(text, values)
      await pool.query('delete from erasures where organization_id = $1 and subject_id = any($2)', [
        organizationId,
        due.filter((row) => row.settled).map((row) => row.subject_id),
      ])
    }
    const end = rows.at(-1)
    if (end !== undefined) last = [end.organization_id, end.subject_id]
    found = rows.length
  }
}

/** In payloads and stored responses of objects that still exist, clears references to removed objects. */
export async function detachPayloads(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{
    organization_id: string
    subject_id: string
    removed_id: string
    field: string
  }>(`select d.organization_id, d.subject_id, d.removed_id, d.field from detachments d limit ${step}`)
  const groups = Map.groupBy(rows, (row) => `${row.organization_id} ${row.field}`)
  for (const due of groups.values()) {
    const [{ organization_id: organizationId, field }] = due as [(typeof rows)[number]]
    const { holds, removed } = referenceIn(field)
    const values = [organizationId, due.map((row) => row.subject_id), due.map((row) => row.removed_id)]
    for (const table of ['events', 'idempotency_keys']) {
      await pool.query(
        `update ${table} t set body = ${removed}
           from unnest($2::uuid[], $3::uuid[]) as d(subject_id, removed_id)
           where t.organization_id = $1 and t.subject_id = d.subject_id and ${holds}`,
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

/** Where a body has the reference: at its end, or as `clearedPointer` says. */
function referenceIn(field: string) {
  const [, name, member] = /^\/(\w+)(\/\w+)?$/.exec(field) ?? []
  if (name === undefined) return reference('t.body', 'd.removed_id')
  const { holds, cleared } = clearedReference('t.body', name, member ?? null, 'd.removed_id')
  return { holds, removed: cleared }
}

const forgetResponses = uncountResponses(
  'delete from idempotency_keys where organization_id = $1 and created_at <= $2 returning counted',
)

/** Those of an organization that is being moved are deleted later: their count is moved too. */
export async function deleteStoredResponses(pool: Pool, clock: Clock): Promise<number> {
  const before = formatTimestamp(clock.now() - storedForMilliseconds)
  const { rows } = await pool.query<{ organization_id: string }>(
    `select k.organization_id from idempotency_keys k where k.created_at <= $1
       and k.organization_id <> all(array(select a.organization_id from organization_arrivals a)) limit ${step}`,
    [before],
  )
  for (const organizationId of new Set(rows.map((row) => row.organization_id))) {
    await pool.query(forgetResponses, [organizationId, before])
  }
  return rows.length
}
