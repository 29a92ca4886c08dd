/**
 * Audits one organization in the database: whether tables, events, counters and clock agree. It knows what must hold
 * and nothing of how.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Pool } from 'pg'
import { kinds } from '../service/src/desk/index.ts'
import { auditRows, text } from './audit-rows.ts'
import { checkpointOf, place, type StreamRecord, tableRecords } from './follower.ts'

/** Each change of these kinds has an event, but for losing a deleted object. Others also change in the sync only. */
const alwaysTold = new Set(['customer', 'ticket'])

interface EventRow {
  readonly id: string
  readonly type: string
  readonly at: string
  readonly subject_kind: string
  readonly subject_id: string
  readonly body: string | null
}

/** In the order of their stamps. */
export async function eventsOf(pool: Pick<Pool, 'query'>, organizationId: string): Promise<EventRow[]> {
  const { rows } = await pool.query<EventRow>(
    `select e.id, e.type, ${text('e.created_at')} as at, e.subject_kind, e.subject_id, e.body
       from events_with_body e where e.organization_id = $1 order by e.created_at, e.id`,
    [organizationId],
  )
  return rows
}

/** Returns the problems found at one moment: workers may commit events about endpoints meanwhile. */
export async function audit(pool: Pool, organizationId: string): Promise<string[]> {
  const client = await pool.connect()
  try {
    await client.query('begin isolation level repeatable read read only')
    return await problemsOf(client, organizationId)
  } finally {
    await client.query('commit').finally(() => client.release())
  }
}

async function problemsOf(pool: Pick<Pool, 'query'>, organizationId: string): Promise<string[]> {
  const events = await eventsOf(pool, organizationId)
  const problems: string[] = []
  let latest = events.at(-1)?.at ?? ''
  for (const kind of kinds) {
    const records = await tableRecords(pool, kind.table.name, organizationId)
    for (const { at } of records) if (at > latest) latest = at
    problems.push(...(await auditCounters(pool, organizationId, kind.name, records)))
    problems.push(...auditEvents(kind.name, records, events))
    problems.push(...(await auditRows(pool, organizationId, kind)))
  }
  problems.push(...(await auditStamps(pool, organizationId, latest)))
  return [...problems, ...auditNumbers(events), ...auditRest(events)]
}

/** Each commit has a stamp of its own: rows and events with one stamp share a transaction. */
async function auditStamps(pool: Pick<Pool, 'query'>, organizationId: string, latest: string) {
  const written = kinds.map(
    ({ table }) =>
      `select t.updated_at as at, t.xmin::text as by from ${table.name} t where t.organization_id = $1`,
  )
  const { rows } = await pool.query<{ what: string }>(
    `with written as (
       ${written.join(' union ')}
       union select e.created_at, e.xmin::text from events e
         where e.organization_id = $1 and (e.body is not null or e.type like '%.deleted'))
     select 'stamp ' || ${text('w.at')} || ' of several commits' as what from written w
       group by w.at having count(*) > 1
     union all
     select 'commit ' || w.by || ' with several stamps' from written w group by w.by having count(*) > 1`,
    [organizationId],
  )
  const clock = await pool.query<{ at: string }>(
    `select ${text('o.last_stamp')} as at from clocks o where o.organization_id = $1`,
    [organizationId],
  )
  const elsewhere = latest !== '' && clock.rows[0]?.at !== latest
  return [...rows.map(({ what }) => what), ...(elsewhere ? [`the clock is not at ${latest}`] : [])]
}

async function auditCounters(
  pool: Pick<Pool, 'query'>,
  organizationId: string,
  kind: string,
  records: readonly StreamRecord[],
) {
  const { rows } = await pool.query<{
    live_count: string
    digest: string
    content_digest: string
    stored_bytes: string
    removed_count: string
  }>(
    `select k.live_count, k.digest, k.content_digest, k.stored_bytes, k.removed_count
       from kind_counters k where k.organization_id = $1 and k.kind = $2`,
    [organizationId, kind],
  )
  const none = { live_count: '0', digest: '0', content_digest: '0', stored_bytes: '0', removed_count: '0' }
  const [row = none] = rows
  const existing = records.filter(({ removed }) => !removed).map(({ body }) => body)
  const checkpoint = checkpointOf(existing)
  const bytes = existing.reduce((sum, body) => sum + Buffer.byteLength(body), 0)
  const real = { ...checkpoint, bytes, removed: records.length - existing.length }
  const hex = (sum: string) => BigInt.asUintN(64, BigInt(sum)).toString(16).padStart(16, '0')
  const kept = {
    count: Number(row.live_count),
    digest: hex(row.digest),
    contentDigest: hex(row.content_digest),
    bytes: Number(row.stored_bytes),
    removed: Number(row.removed_count),
  }
  return isDeepStrictEqual(real, kept)
    ? []
    : [`${kind}: counted ${JSON.stringify(kept)}, real ${JSON.stringify(real)}`]
}

/**
 * The last event of every subject shows the row as it is, or as it was at that event; no event is about a row that does
 * not exist.
 */
function auditEvents(kind: string, records: readonly StreamRecord[], events: readonly EventRow[]): string[] {
  const last = new Map<string, EventRow>()
  for (const event of events) if (event.subject_kind === kind) last.set(event.subject_id, event)
  const problems = records.flatMap((record) => {
    const event = last.get(record.id)
    last.delete(record.id)
    if (event === undefined)
      return kind === 'teammate' && !record.removed ? [] : [`${kind} ${record.id} has no event`]
    if (event.at < record.at && (!alwaysTold.has(kind) || hasLost(record.body, event.body))) return []
    if (event.at !== record.at || event.body !== record.body) return [`${place(record)} is not ${event.body}`]
    return record.removed === (event.type === `${kind}.deleted`) ? [] : [`${place(record)} by ${event.type}`]
  })
  return [...problems, ...[...last.keys()].map((id) => `an event without its ${kind} ${id}`)]
}

/** Whether a row is as its event shows it, without objects that were deleted since. */
function hasLost(row: string, event: string | null): boolean {
  const { updatedAt: _, ...now } = JSON.parse(row)
  const { updatedAt: __, ...then } = JSON.parse(event ?? '{}')
  const { conversationId, assigneeId } = now
  const lost = {
    ...(conversationId === null && { conversationId }),
    ...(assigneeId === null && { assigneeId }),
  }
  return isDeepStrictEqual(now, { ...then, ...lost })
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

const resting = ['pending', 'on_hold', 'resolved']

/** An inbound message reopens the tickets of its conversation. */
function auditRest(events: readonly EventRow[]): string[] {
  interface Ticket {
    readonly at: string
    readonly status?: string
    readonly conversationId?: string | null
  }
  const shown = ({ body }: EventRow) => JSON.parse(body ?? '{}') as Omit<Ticket, 'at'>
  const tickets = new Map<string, Ticket>()
  const problems: string[] = []
  const stamps = Map.groupBy(events, ({ at }) => at)
  for (const [at, together] of stamps) {
    for (const event of together) {
      if (event.subject_kind === 'ticket') tickets.set(event.subject_id, { at, ...shown(event) })
    }
    const messages = together.filter(({ type }) => type === 'message.received')
    const conversations = new Set(messages.map((event) => shown(event).conversationId))
    for (const [id, ticket] of tickets) {
      if (!conversations.has(ticket.conversationId) || ticket.at === at) continue
      if (resting.includes(ticket.status ?? '')) problems.push(`ticket ${id} rested at ${at}`)
    }
  }
  return problems
}
