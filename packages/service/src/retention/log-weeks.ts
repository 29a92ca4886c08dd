/**
 * How long events, deliveries with their attempts and statistics are kept, and how they are removed: a week at a time
 * (decision 16). Never removed: what may still be sent, its payload, and what tells a recovery that an event was
 * delivered.
 */
import type { Pool } from 'pg'
import type { Tx } from '../db/pool.ts'
import { eachAlone, removeInSteps, step, stepByStep } from '../db/steps.ts'
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
import { firstIdAt } from '../kernel/ids.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'

/** Weeks that are created ahead, with the current one. */
const weeksReady = 3
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
  return weeks
    .map(
      ({ table, begins, failure }) =>
        `${table} of ${dayText(begins)}${failure === undefined ? '' : ` (${failure})`}`,
    )
    .join(', ')
}

export function logWeeks(db: Pick<Pool, 'query'>): Promise<readonly Week[]> {
  return weeksOf(db, tables)
}

/** Creates a partition that `logWeeks` of another database has returned, in the caller's transaction. */
export async function makeLogWeek(tx: Tx, week: Week): Promise<void> {
  await makeWeek(tx, tableOf(week), week.begins)
}

function tableOf(week: Week): WeekTable {
  const table = tables.find(({ name }) => name === week.table)
  if (table === undefined) throw new Error(`no table ${week.table} has weeks`)
  return table
}

/**
 * Drops what the log no longer shows, except what is needed of an organization. `retention` in milliseconds. Events are
 * kept for twice as long: one from the far end of the log can be recovered, and its delivery be retried as long as the
 * log shows it.
 * @throws the error of a week that could not be dropped, after the others were.
 */
export async function dropLogWeeks(pool: Pool, now: number, retention: number): Promise<void> {
  await eachAlone(await endedLogWeeks(pool, now, retention), async (week) => {
    if (week.table === 'events') await noteLastEvents(pool, week)
    // Nothing older than the log is written, so what is found here stays true until the week is gone.
    await dropWeek(pool, tableOf(week), week.begins, needed[week.table as LogTable])
  })
}

/** The weeks that the log no longer shows. */
export async function endedLogWeeks(
  db: Pick<Pool, 'query'>,
  now: number,
  retention: number,
): Promise<readonly Week[]> {
  const shown = now - retention
  return (await logWeeks(db)).filter(
    ({ table, begins }) => begins + weekLength <= (table === 'events' ? shown - retention : shown),
  )
}

/**
 * Which rows `t` stay: what is still to be sent with its payload, attempts of a pending delivery, and what tells a
 * recovery that an event was delivered.
 */
const needed: Readonly<Record<LogTable, string | null>> = {
  events: `exists (select 1 from deliveries d where d.organization_id = t.organization_id
    and d.event_id between t.id and event_of_change(t.id, 16)
    and d.log_day = 'infinity' and d.payload = 'stored')`,
  attempts: `exists (select 1 from deliveries d where d.organization_id = t.organization_id and d.id = t.delivery_id
    and d.log_day = 'infinity')`,
  deliveries: `exists (select 1 from delivery_jobs r where r.organization_id = t.organization_id and r.webhook_id = t.webhook_id
    and r.finished_at is null and t.event_id >= r.position)
    and exists (select 1 from events e where e.organization_id = t.organization_id and e.id = t.event_id)`,
  delivery_stats: null,
}

/**
 * A cursor of `GET /v1/events` is too old only if an event after it is gone: notes the last one that each organization
 * loses.
 */
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
      await pool.query(noteDropped('$2'), [organizationId, id])
    return rows.length
  })
}

const noteDropped = (id: string) => `update organization_clocks c
    set events_dropped_to = greatest(c.events_dropped_to, ${id}) where c.organization_id = $1`

/** Deletes rows of weeks without a partition: the same rows as would have been dropped. */
export function removeStrays(pool: Pool, now: number, retention: number): Promise<void> {
  const shown = now - retention
  const strays: readonly (readonly [
    find: (failed: string) => string,
    values: readonly unknown[],
    remove: string,
  ])[] = [
    [
      (failed) => `select t.organization_id, t.id from events_default t where t.created_at <= $1
         and t.organization_id <> all(${failed}) and not ${needed.events} order by t.created_at`,
      [formatTimestamp(shown - retention)],
      `with gone as (delete from events where organization_id = $1 and id = any($2) returning id, subject_kind)
         ${noteDropped("(select g.id from gone g where g.subject_kind <> 'webhook' order by g.id desc limit 1)")}`,
    ],
    [
      (
        failed,
      ) => `select t.organization_id, t.webhook_id, t.id from deliveries_default t where t.created_at <= $1
         and t.organization_id <> all(${failed}) and not (${needed.deliveries}) order by t.created_at`,
      [formatTimestamp(shown)],
      `delete from deliveries d where d.organization_id = $1 and d.webhook_id = any($2) and d.id = any($3)
         and d.log_day < 'infinity'`,
    ],
    [
      (
        failed,
      ) => `select distinct t.organization_id, t.delivery_id from attempts_default t where t.delivery_id < $1
         and t.organization_id <> all(${failed}) and not ${needed.attempts}`,
      [firstIdAt(shown + 1)],
      'delete from attempts where organization_id = $1 and delivery_id = any($2)',
    ],
    [
      (failed) => `select t.organization_id, t.webhook_id, t.minutes, t.at from delivery_stats_default t
         where t.at <= $1 and t.organization_id <> all(${failed}) order by t.at`,
      [formatTimestamp(shown - weekLength)],
      `delete from delivery_stats s where s.organization_id = $1 and (s.webhook_id, s.minutes, s.at) in (
         select u.webhook_id, u.minutes, u.at from unnest($2::uuid[], $3::smallint[], $4::timestamptz[]) as u (webhook_id, minutes, at))`,
    ],
  ]
  return eachAlone(strays, (stray) => removeInSteps(pool, ...stray))
}
