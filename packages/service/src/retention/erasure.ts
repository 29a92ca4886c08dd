/** Erases removed objects from events, receivers' answers and stored responses, and deletes these after 24 hours. */
import type { Pool } from 'pg'
import { fromOrganization } from '../db/call-function.ts'
import { isServedHere } from '../db/not-served.ts'
import { transaction } from '../db/pool.ts'
import { byOrganization, step, stepByStep } from '../db/steps.ts'
import { storedForMilliseconds } from '../idempotency/stored-responses.ts'
import { clearedReference, reference } from '../journal/body.ts'
import { countResponsesFunction } from '../journal/commit-function.ts'
import { nilUuid } from '../kernel/ids.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'

/** A receipt of an erase holds nothing of the person. */
const eraseResponses = `update idempotency_keys k set body = null, counted = 0
      from (select o.api_key_id, o.method, o.path, o.key, o.counted from idempotency_keys o
        where o.organization_id = $1 and o.subject_id = any($2) and o.body is not null and o.path not like '%/erase' for update) o
      where k.organization_id = $1 and k.api_key_id = o.api_key_id and k.method = o.method and k.path = o.path and k.key = o.key
      returning o.counted`

/** Deliveries about the subjects. Those that a worker is completing are skipped: they are due again. */
const deliveriesAbout = `select d.organization_id, d.webhook_id, d.id, d.log_day from deliveries d
      where d.organization_id = $1 and d.event_id = any(array(select e.id from events e
        where e.organization_id = $1 and e.subject_id = any($2)))`

/**
 * Each erases some of what is stored about the subjects, at most a step. Removal events keep their record, and
 * receivers may send back what they were sent.
 */
const erase = [
  `update events set body = null where organization_id = $1 and id = any(array(select e.id from events e
     where e.organization_id = $1 and e.subject_id = any($2) and e.body is not null and e.type not like '%.deleted' limit ${step}))`,
  `update attempts a set response_body = null
     from (select t.delivery_id, t.number from (${deliveriesAbout}) d
       join attempts t on t.organization_id = $1 and t.delivery_id = d.id where t.response_body is not null limit ${step}) t
     where a.organization_id = $1 and a.delivery_id = t.delivery_id and a.number = t.number`,
  `update deliveries t set response_body = null
     from (${deliveriesAbout} and d.response_body is not null limit ${step} for update skip locked) d
     where t.organization_id = $1 and t.webhook_id = d.webhook_id and t.id = d.id and t.log_day = d.log_day`,
]

/** Milliseconds in which attempts that were under way at the removal have ended, and so have written their answers. */
const settledAfter = 10 * 60 * 1000

interface RemovedRow {
  readonly organization_id: string
  readonly subject_id: string
  readonly settled: boolean
}

/** @throws the error of an organization that failed, after the others were done. `only`: of one organization. */
export async function erasePayloads(pool: Pool, clock: Clock, only: string | null = null): Promise<void> {
  const settled = formatTimestamp(clock.now() - settledAfter)
  const failures = new Map<string, unknown>()
  let last: readonly [string, string] = [nilUuid, nilUuid]
  await stepByStep(async () => {
    const { rows } = await pool.query<RemovedRow>(
      `select e.organization_id, e.subject_id, e.removed_at <= $1 as settled from erasures e
         where e.what = 'object' and (e.organization_id, e.subject_id) > ($2, $3)${only === null ? '' : ' and e.organization_id = $4'}
         order by e.organization_id, e.subject_id limit ${step}`,
      [settled, ...last, ...(only === null ? [] : [only])],
    )
    for (const [organizationId, due] of Map.groupBy(rows, (row) => row.organization_id))
      await eraseOf(pool, organizationId, due).catch((error: unknown) => failures.set(organizationId, error))
    const end = rows.at(-1)
    if (end !== undefined) last = [end.organization_id, end.subject_id]
    return rows.length
  })
  for (const error of failures.values()) throw error
}

async function eraseOf(pool: Pool, organizationId: string, due: readonly RemovedRow[]): Promise<void> {
  const values = [organizationId, due.map((row) => row.subject_id)]
  await uncount(pool, organizationId, eraseResponses, values)
  for (const text of erase) await stepByStep(async () => (await pool.query(text, values)).rowCount ?? 0)
  const settled = due.filter((row) => row.settled).map((row) => row.subject_id)
  await pool.query(
    `delete from erasures where organization_id = $1 and subject_id = any($2) and what = 'object'`,
    [organizationId, settled],
  )
}

/** In payloads and stored responses of objects that still exist, clears references to removed objects. */
export function detachPayloads(pool: Pool): Promise<void> {
  return byOrganization<DetachedRow>(
    pool,
    (failed) =>
      `select e.organization_id, e.subject_id, e.removed_id, e.field from erasures e
         where e.what = 'reference' and e.organization_id <> all(${failed})`,
    [],
    async (organizationId, rows) => {
      for (const [field, of] of Map.groupBy(rows, (row) => row.field))
        for (let at = 0; at < of.length; at += detachedAtOnce)
          await detachOf(pool, organizationId, field, of.slice(at, at + detachedAtOnce))
    },
  )
}

/** Each may have thousands of events. */
const detachedAtOnce = 20

interface DetachedRow {
  readonly organization_id: string
  readonly subject_id: string
  readonly removed_id: string
  readonly field: string
}

async function detachOf(
  pool: Pool,
  organizationId: string,
  field: string,
  due: readonly DetachedRow[],
): Promise<void> {
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
    `delete from erasures t using unnest($2::uuid[], $3::uuid[]) as d(subject_id, removed_id)
       where t.organization_id = $1 and t.subject_id = d.subject_id and t.removed_id = d.removed_id and t.field = $4`,
    [...values, field],
  )
}

/** Where a body has the reference: at its end, or as `clearedPointer` says. */
function referenceIn(field: string) {
  const [, name, member] = /^\/(\w+)(\/\w+)?$/.exec(field) ?? []
  if (name === undefined) return reference('t.body', 'd.removed_id')
  const { holds, cleared } = clearedReference('t.body', name, member ?? null, 'd.removed_id')
  return { holds, removed: cleared }
}

/** Those of an organization that is being moved are deleted later: their count is moved too. */
export function deleteStoredResponses(pool: Pool, clock: Clock): Promise<void> {
  interface Expired {
    readonly organization_id: string
    readonly api_key_id: string
    readonly method: string
    readonly path: string
    readonly key: string
    readonly created_at: Date
  }
  return byOrganization<Expired>(
    pool,
    (
      failed,
    ) => `select k.organization_id, k.api_key_id, k.method, k.path, k.key, k.created_at from idempotency_keys k
       where k.created_at <= $1 and k.organization_id <> all(${failed})
         and k.organization_id <> all(array(select a.organization_id from organization_arrivals a))`,
    [formatTimestamp(clock.now() - storedForMilliseconds)],
    (organizationId, rows) =>
      uncount(
        pool,
        organizationId,
        `delete from idempotency_keys k
      using unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[]) as o(api_key_id, method, path, key, created_at)
      where k.organization_id = $1 and k.api_key_id = o.api_key_id and k.method = o.method and k.path = o.path and k.key = o.key
        and k.created_at = o.created_at returning k.counted`,
        [
          organizationId,
          rows.map((row) => row.api_key_id),
          rows.map((row) => row.method),
          rows.map((row) => row.path),
          rows.map((row) => row.key),
          rows.map((row) => row.created_at),
        ],
      ),
  )
}

/**
 * Runs `gone`, which returns the bytes that each stored response it deletes has `counted`, and takes them off the
 * counters. What a move has left behind is not counted.
 */
function uncount(
  pool: Pool,
  organizationId: string,
  gone: string,
  values: readonly unknown[],
): Promise<void> {
  return transaction(pool, async (tx) => {
    const clock = await tx.query(
      `select 1 from organization_clocks c
         where c.organization_id = $1 and ${isServedHere('c')} for no key update`,
      [organizationId],
    )
    const { rows } = await tx.query<{ counted: number }>(gone, [...values])
    const bytes = rows.reduce((sum, { counted }) => sum + counted, 0)
    if (clock.rowCount === 1 && bytes > 0)
      await tx.query(`select ${countResponsesFunction.name}($1, $2) ${fromOrganization}`, [
        organizationId,
        -bytes,
      ])
  })
}
