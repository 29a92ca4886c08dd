/** What must hold of an organization's customers and tickets at rest, whatever led there. Says what does not. */
import type { Pool } from 'pg'
import { checkpointOf, place, recordOf, type StreamRecord, tableRecords } from './follower.ts'

const tables = { customer: 'customers', ticket: 'tickets' } as const

interface EventRow {
  readonly id: string
  readonly type: string
  readonly at: string
  readonly subject_kind: string
  readonly subject_id: string
  readonly body: string | null
}

const text = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** All events of an organization, in the order of their stamps. */
export async function eventsOf(pool: Pool, organizationId: string): Promise<EventRow[]> {
  const { rows } = await pool.query<EventRow>(
    `select e.id, e.type, ${text('e.created_at')} as at, e.subject_kind, e.subject_id, e.body
       from events e where e.organization_id = $1 order by e.created_at, e.id`,
    [organizationId],
  )
  return rows
}

/** The problems found; none when rows, events, counters, numbers and stamps tell one story. */
export async function audit(pool: Pool, organizationId: string): Promise<string[]> {
  const events = await eventsOf(pool, organizationId)
  const problems = await auditStamps(pool, organizationId, events)
  for (const [kind, table] of Object.entries(tables)) {
    const records = await tableRecords(pool, table, organizationId)
    problems.push(...(await auditCounters(pool, organizationId, kind, records)))
    problems.push(...auditEvents(kind, records, events))
  }
  problems.push(...auditNumbers(events))
  return [...problems, ...(await auditColumns(pool, organizationId))]
}

/** One commit has one stamp, and no two commits have the same: rows and events of a stamp share a transaction. */
async function auditStamps(pool: Pool, organizationId: string, events: readonly EventRow[]) {
  const { rows } = await pool.query<{ what: string }>(
    `with written as (
       select c.updated_at as at, c.xmin::text as by from customers c where c.organization_id = $1
       union select t.updated_at, t.xmin::text from tickets t where t.organization_id = $1
       union select e.created_at, e.xmin::text from events e
         where e.organization_id = $1 and (e.body is not null or e.type like '%.deleted'))
     select 'stamp ' || ${text('w.at')} || ' of several commits' as what from written w
       group by w.at having count(*) > 1
     union all
     select 'commit ' || w.by || ' with several stamps' from written w group by w.by having count(*) > 1`,
    [organizationId],
  )
  const clock = await pool.query<{ at: string }>(
    `select ${text('o.last_stamp')} as at from organization_clocks o where o.organization_id = $1`,
    [organizationId],
  )
  const latest = events.at(-1)?.at
  const behind = latest !== undefined && clock.rows[0]?.at !== latest
  return [...rows.map(({ what }) => what), ...(behind ? [`the clock is not at ${latest}`] : [])]
}

async function auditCounters(
  pool: Pool,
  organizationId: string,
  kind: string,
  records: readonly StreamRecord[],
) {
  const { rows } = await pool.query<{ live_count: string; digest: string }>(
    'select k.live_count, k.digest from kind_counters k where k.organization_id = $1 and k.kind = $2',
    [organizationId, kind],
  )
  const [row = { live_count: '0', digest: '0' }] = rows
  const real = checkpointOf(records.filter(({ removed }) => !removed).map(({ body }) => body))
  const kept = { count: Number(row.live_count), digest: BigInt(row.digest).toString(16).padStart(16, '0') }
  return real.count === kept.count && real.digest === kept.digest
    ? []
    : [`${kind}: counted ${JSON.stringify(kept)}, real ${JSON.stringify(real)}`]
}

/** The last event of every subject shows the row as it is now, and no event is about a row that is not there. */
function auditEvents(kind: string, records: readonly StreamRecord[], events: readonly EventRow[]): string[] {
  const last = new Map<string, EventRow>()
  for (const event of events) if (event.subject_kind === kind) last.set(event.subject_id, event)
  const problems = records.flatMap((record) => {
    const event = last.get(record.id)
    last.delete(record.id)
    if (event === undefined) return [`${kind} ${record.id} has no event`]
    if (event.at !== record.at || event.body !== record.body) return [`${place(record)} is not ${event.body}`]
    return record.removed === (event.type === `${kind}.deleted`) ? [] : [`${place(record)} by ${event.type}`]
  })
  return [...problems, ...[...last.keys()].map((id) => `an event without its ${kind} ${id}`)]
}

/** Numbers count from 1 without gaps, in the order of creation. A created event whose payload was erased counts. */
function auditNumbers(events: readonly EventRow[]): string[] {
  const created = events.filter(({ type }) => type === 'ticket.created')
  const numbers = created.map(({ at, body }) => ({
    at,
    number: body === null ? null : (JSON.parse(body) as { number: number }).number,
  }))
  const known = numbers.filter(({ number }) => number !== null) as { at: string; number: number }[]
  known.sort((a, b) => a.number - b.number)
  const problems = known.flatMap(({ at }, n) => {
    const before = known[n - 1]
    return before !== undefined && before.at > at ? [`number ${before.number} is of a later commit`] : []
  })
  const distinct = new Set(known.map(({ number }) => number))
  const complete = distinct.size === known.length && (known.at(-1)?.number ?? 0) <= created.length
  if (!complete)
    problems.push(`numbers have gaps or repeats: ${[...distinct].join(' ')} of ${created.length}`)
  return problems
}

/** What the columns say agrees with the body, removed rows are empty, and no ticket outlives its customer. */
async function auditColumns(pool: Pool, organizationId: string): Promise<string[]> {
  const problems: string[] = []
  const { rows } = await pool.query<{ what: string; id: string; body: string; at: string; removed: boolean }>(
    `select 'customer' as what, c.id, c.body, ${text('c.updated_at')} as at, c.removed_at is not null as removed
       from customers c where c.organization_id = $1
     union all
     select 'ticket', t.id, t.body, ${text('t.updated_at')}, t.removed_at is not null
       from tickets t where t.organization_id = $1`,
    [organizationId],
  )
  for (const { what, id, body, at, removed } of rows) {
    const record = recordOf(body)
    if (record.id !== id || record.at !== at || record.removed !== removed)
      problems.push(`${what} ${id}: ${body}`)
  }
  const wrong = await pool.query<{ what: string }>(
    `select 'removed customer keeps values ' || c.id as what from customers c
       where c.organization_id = $1 and c.removed_at is not null
         and num_nonnulls(c.email, c.phone, c.external_id) > 0
     union all
     select 'removed ticket keeps values ' || t.id from tickets t
       where t.organization_id = $1 and t.removed_at is not null
         and num_nonnulls(t.customer_id, t.conversation_id, t.assignee_id, t.type, t.priority, t.status,
           t.external_id) > 0
     union all
     select 'words of a customer that is not there ' || coalesce(w.id, c.id)
       from customers c full join customers_words w on w.organization_id = c.organization_id and w.id = c.id
       where coalesce(c.organization_id, w.organization_id) = $1
         and (w.id is not null) <> (c.id is not null and c.removed_at is null)
     union all
     select 'words of a ticket that is not there ' || coalesce(w.id, t.id)
       from tickets t full join tickets_words w on w.organization_id = t.organization_id and w.id = t.id
       where coalesce(t.organization_id, w.organization_id) = $1
         and (w.id is not null) <> (t.id is not null and t.removed_at is null)
     union all
     select 'ticket without its customer ' || t.id from tickets t
       where t.organization_id = $1 and t.removed_at is null
         and t.customer_id not in (select c.id from customers c where c.organization_id = $1 and c.removed_at is null)`,
    [organizationId],
  )
  return [...problems, ...wrong.rows.map(({ what }) => what)]
}
