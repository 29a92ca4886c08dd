/**
 * How long events, deliveries with their attempts and statistics are kept, and how they are removed: a week at a time (decision 16). Never
 * removed: what may still be sent, its payload, and what tells a recovery that an event was delivered.
 */
import type { Pool } from 'pg'
import type { Tx } from '../db/transaction.ts'
import {
  dayText,
  dropWeek,
  makeWeek,
  makeWeeks,
  missingWeeks,
  type Week,
  type WeekTable,
  weekLength,
  weeksFrom,
  weeksOf,
} from '../db/weeks.ts'
import { firstIdAt, timeOfId } from '../kernel/ids.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { removeInSteps, step, stepByStep } from './step.ts'

/** Weeks that are created ahead, with the current one. */
const weeksReady = 3
/** A delivery is no older than its event, but for the difference of clocks. Milliseconds. */
const clocksApart = 24 * 60 * 60 * 1000

const byId = (week: number) => `'${firstIdAt(week)}'`

const events: WeekTable = { name: 'events', column: 'id', begin: byId, indexes: [] }
const attempts: WeekTable = { name: 'attempts', column: 'delivery_id', begin: byId, indexes: [] }
const deliveries: WeekTable = {
  name: 'deliveries',
  column: 'log_day',
  begin: (week) => `'${dayText(week)}'`,
  indexes: [
    '(organization_id, webhook_id, event_type, status, id, log_day)',
    "(organization_id, webhook_id, status, id, log_day) where status in ('failed', 'skipped')",
    '(organization_id, event_id, webhook_id)',
  ],
}
const stats: WeekTable = {
  name: 'delivery_stats',
  column: 'at',
  begin: (week) => `'${formatTimestamp(week)}'`,
  indexes: [],
}
const tables = [events, deliveries, attempts, stats]
type LogTable = 'events' | 'deliveries' | 'attempts' | 'delivery_stats'

/** Milliseconds to try while the tables are locked. */
const patience = 10_000

/** Returns the partitions that cannot be created. Any number of processes may run this at once. */
export function makeLogWeeks(pool: Pool, now: number): Promise<readonly Week[]> {
  return makeWeeks(pool, tables, weeksFrom(tables, now, weeksReady), patience)
}

/** The partitions of this week alone, which a start waits for; maintenance creates the others. */
export function makeThisLogWeek(pool: Pool, now: number): Promise<readonly Week[]> {
  return makeWeeks(pool, tables, weeksFrom(tables, now, 1), patience)
}

export function missingLogWeeks(db: Pick<Pool, 'query'>, now: number): Promise<readonly Week[]> {
  return missingWeeks(db, tables, weeksFrom(tables, now, weeksReady))
}

/** Creates the partitions that another database has. If one cannot be created, its rows go to the default partition. */
export async function makeSameLogWeeks(pool: Pool, like: Pick<Pool, 'query'>): Promise<void> {
  await makeWeeks(pool, tables, await logWeeks(like), patience)
}

export function weeksText(weeks: readonly Week[]): string {
  return weeks.map(({ table, begins }) => `${table} of ${dayText(begins)}`).join(', ')
}

export function logWeeks(db: Pick<Pool, 'query'>): Promise<readonly Week[]> {
  return weeksOf(db, tables)
}

/** Creates a partition that `logWeeks` of another database has returned, in the caller's transaction. */
export async function makeLogWeek(tx: Tx, week: Week): Promise<void> {
  const table = tables.find(({ name }) => name === week.table)
  if (table === undefined) throw new Error(`no table ${week.table} has weeks`)
  await makeWeek(tx, table, week.begins)
}

/**
 * Drops what the log no longer shows. `retention` in milliseconds. Events are kept for twice as long: one from the far end of the log can
 * be recovered, and its delivery be retried as long as the log shows it.
 */
export async function dropLogWeeks(pool: Pool, now: number, retention: number): Promise<void> {
  const loggedSince = await keptForRecoveries(pool, now, retention)
  const keptSince = {
    events: now - 2 * retention,
    deliveries: loggedSince,
    attempts: loggedSince,
    delivery_stats: now - retention,
  }
  for (const week of await logWeeks(pool)) {
    const over = week.begins + weekLength <= keptSince[week.table as LogTable]
    // Nothing older than the log and than running recoveries can be retried, so what is found here stays true until the week is gone.
    if (!over || !(await nothingPendingNeeds(pool, week))) continue
    if (week.table === 'events') await noteLastEvents(pool, week)
    await dropWeek(pool, week)
  }
  await removeStrays(pool, keptSince)
}

/**
 * Deliveries are kept as long as the log shows them and a recovery may look for them: it takes an event without a delivery for a missed
 * one, and would send it again. A recovery may wait as long as its endpoint is disabled, but without events nothing can be taken for
 * missed, so it does not hold the log for ever.
 */
async function keptForRecoveries(pool: Pool, now: number, retention: number): Promise<number> {
  const { rows } = await pool.query<{ position: string }>(
    'select r.position from recoveries r where r.finished_at is null order by r.position limit 1',
  )
  const shown = now - retention
  const earliest = rows[0] === undefined ? shown : timeOfId(rows[0].position) - clocksApart
  const noEvents = now - 2 * retention - weekLength - clocksApart
  return Math.min(shown, Math.max(earliest, noEvents))
}

/** A cursor of `GET /v1/events` is too old only if an event after it is gone: notes the last one that each organization loses. */
async function noteLastEvents(pool: Pool, { begins }: Week): Promise<void> {
  await stepByStep(async () => {
    const { rows } = await pool.query<{ organization_id: string; id: string }>(
      `select c.organization_id, e.id from organization_clocks c
         cross join lateral (select e.id from events e where e.organization_id = c.organization_id and e.id >= $1 and e.id < $2
           and e.subject_kind <> 'webhook' order by e.id desc limit 1) e
         where c.events_dropped_to is null or c.events_dropped_to < e.id limit ${step}`,
      [firstIdAt(begins), firstIdAt(begins + weekLength)],
    )
    for (const { organization_id: organizationId, id } of rows)
      await await pool.query(noteDropped('$2'), [organizationId, id])
    return rows.length
  })
}

const noteDropped = (id: string) => `update organization_clocks c
    set events_dropped_to = greatest(c.events_dropped_to, ${id}) where c.organization_id = $1`

/** Attempts stay while a delivery of their week is pending; an event, while a delivery is to be sent with its payload. */
async function nothingPendingNeeds(pool: Pool, { table, begins }: Week): Promise<boolean> {
  const ends = begins + weekLength
  if (table === 'events')
    return !(await pendingWith(pool, "d.payload = 'stored' and d.event_id < $1", firstIdAt(ends)))
  if (table === 'attempts') return !(await pendingWith(pool, 'd.id < $1', firstIdAt(ends)))
  return true
}

async function pendingWith(pool: Pool, condition: string, value: string): Promise<boolean> {
  const { rows } = await pool.query(
    `select 1 from deliveries d where d.log_day = 'infinity' and ${condition} limit 1`,
    [value],
  )
  return rows.length > 0
}

/** Deletes rows of weeks without a partition: the same rows as would have been dropped. */
async function removeStrays(
  pool: Pool,
  { events, deliveries, attempts, delivery_stats: stats }: Readonly<Record<LogTable, number>>,
): Promise<void> {
  await removeInSteps(
    pool,
    `select e.organization_id, e.id from events_default e where e.created_at <= $1
       and not exists (select 1 from deliveries d where d.organization_id = e.organization_id and d.event_id = e.id
         and d.log_day = 'infinity' and d.payload = 'stored') order by e.created_at`,
    [formatTimestamp(events)],
    `with gone as (delete from events where organization_id = $1 and id = any($2) returning id, subject_kind)
       ${noteDropped("(select g.id from gone g where g.subject_kind <> 'webhook' order by g.id desc limit 1)")}`,
  )
  await removeInSteps(
    pool,
    `select d.organization_id, d.webhook_id, d.id from deliveries_default d where d.created_at <= $1
       order by d.created_at`,
    [formatTimestamp(deliveries)],
    `delete from deliveries d where d.organization_id = $1 and d.webhook_id = any($2) and d.id = any($3)
       and d.log_day < 'infinity'`,
  )
  await removeInSteps(
    pool,
    `select distinct a.organization_id, a.delivery_id from attempts_default a where a.delivery_id < $1
       and not exists (select 1 from deliveries d where d.log_day = 'infinity' and d.created_at <= $2)`,
    [firstIdAt(attempts + 1), formatTimestamp(attempts)],
    'delete from attempts where organization_id = $1 and delivery_id = any($2)',
  )
  await removeInSteps(
    pool,
    `select d.organization_id, d.webhook_id, d.minutes, d.at from delivery_stats_default d
       where d.at <= $1 order by d.at`,
    [formatTimestamp(stats - weekLength)],
    `delete from delivery_stats s where s.organization_id = $1 and (s.webhook_id, s.minutes, s.at) in (
       select u.webhook_id, u.minutes, u.at from unnest($2::uuid[], $3::smallint[], $4::timestamptz[]) as u (webhook_id, minutes, at))`,
  )
}
