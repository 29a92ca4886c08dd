/** Weeks of the log: made ahead by whoever comes first, dropped as a whole, and never with anything that is to be sent. */
import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { testDatabase } from '../../../testbed/database.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import {
  attemptsOf,
  dataOf,
  day,
  deliveriesOf,
  hour,
  makeWebhook,
  minute,
  retry,
} from '../../../testbed/hooks.ts'
import { waitingBackends } from '../../../testbed/locks.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { createPool, transaction } from '../../src/db/pool.ts'
import { weekOf } from '../../src/db/weeks.ts'
import { checkLog } from '../../src/doctor/database.ts'
import { firstIdAt } from '../../src/kernel/ids.ts'
import { makeLogWeek, makeLogWeeks } from '../../src/retention/log-weeks.ts'

/** A Wednesday. */
const start = Date.parse('2026-03-04T12:00:00.000Z')
const week = 7 * day

async function desk() {
  const clock = testClock(start)
  const service = await testService({ clock })
  const { id } = await makeWebhook(service.api)
  const tested = testEngine(service, clock)
  return {
    clock,
    service,
    api: service.api,
    id: id as string,
    ...tested,
    /** What is due is delivered at its second attempt, so that there is one before the last. */
    async settledAtSecond() {
      tested.answer(500, 200)
      await tested.engine.runDue()
      clock.advance(minute)
      await tested.engine.runDue()
    },
    maintain: () => service.app.maintenance.run(),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

/** The Mondays of the weeks that a table has partitions for. */
async function weeks({ database }: Pick<TestService, 'database'>, table: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select c.relname as name from pg_class c where c.relkind = 'r' and c.relname ~ $1 order by c.relname`,
    [`^${table}_\\d{8}$`],
  )
  return rows.map(({ name }) => name.slice(-8))
}

/** Where the rows of a table stand, and how many there. */
async function placesOf({ database }: TestService, table: string): Promise<Record<string, number>> {
  const { rows } = await database.pool.query<{ place: string; count: number }>(
    `select tableoid::regclass::text as place, count(*)::int as count from ${table} group by 1 order by 1`,
  )
  return Object.fromEntries(rows.map(({ place, count }) => [place, count]))
}

const ready = ['20260302', '20260309', '20260316']

describe('weeks are made ahead', () => {
  test('this one and two more, once, however many processes make them', async () => {
    await using database = await testDatabase()
    const pools = Array.from({ length: 4 }, () =>
      createPool(database.connection, { max: 1, onIdleError: () => {} }),
    )
    try {
      await Promise.all(pools.map((pool) => makeLogWeeks(pool, start)))
    } finally {
      await Promise.all(pools.map((pool) => pool.end()))
    }
    // Those that came second left it to the first: what it did not get to, the next turn makes.
    await makeLogWeeks(database.pool, start)
    for (const table of ['events', 'deliveries', 'attempts'])
      expect(await weeks({ database }, table)).toEqual(ready)
    await makeLogWeeks(database.pool, start + week)
    expect(await weeks({ database }, 'events')).toEqual([...ready, '20260323'])
  })

  test('with the same columns counted for the planner as the table has', async () => {
    await using it = await desk()
    await it.maintain()
    const { rows } = await it.service.database.pool.query<{ of: string; columns: string[] }>(
      `select c.relname as of, array_agg(a.attname::text order by a.attname) as columns
         from pg_attribute a join pg_class c on c.oid = a.attrelid
         where a.attstattarget = 0 and c.relname ~ '^(events|deliveries|attempts)(_|$)' and c.relkind in ('r', 'p')
         group by c.relname`,
    )
    const columns = new Map(rows.map((row) => [row.of, row.columns]))
    for (const table of ['events', 'deliveries', 'attempts']) {
      expect(columns.get(table)?.length).toBeGreaterThan(1)
      for (const week of ready) expect(columns.get(`${table}_${week}`)).toEqual(columns.get(table))
      expect(columns.get(`${table}_default`)).toEqual(columns.get(table))
    }
    expect(columns.get('deliveries_pending')).toEqual(columns.get('deliveries'))
  })

  test('and rows go to their week: an event at once, a delivery when it is completed, an attempt with its delivery', async () => {
    await using it = await desk()
    await it.maintain()
    await makeCustomer(it.api)
    expect(await placesOf(it.service, 'events')).toEqual({ events_20260302: 1 })
    expect(await placesOf(it.service, 'deliveries')).toEqual({ deliveries_pending: 1 })
    it.answer(500, 200)
    await it.engine.runDue()
    expect(await placesOf(it.service, 'deliveries')).toEqual({ deliveries_pending: 1 })
    // In another week than it was made.
    it.clock.advance(week)
    await it.engine.runDue()
    expect(await placesOf(it.service, 'deliveries')).toEqual({ deliveries_20260302: 1 })
    // The last one stands in the delivery's own row.
    expect(await placesOf(it.service, 'attempts')).toEqual({ attempts_20260302: 1 })
    const [row] = await deliveriesOf(it.api, it.id)
    expect(row).toMatchObject({ status: 'succeeded', attemptCount: 2 })
    expect(await attemptsOf(it.api, row)).toMatchObject([{ number: 2 }, { number: 1 }])
  })

  test('a commit that finds its week made while it runs is run again', async () => {
    await using it = await desk()
    const { pool } = it.service.database
    const committing = await transaction(pool, async (tx) => {
      await makeLogWeek(tx, { table: 'events', begins: weekOf(start) })
      const making = makeCustomer(it.api)
      await waitingBackends(it.service.database, 1)
      return { making }
    })
    expect(await committing.making).toMatchObject({ name: expect.any(String) })
    expect(await placesOf(it.service, 'events')).toEqual({ events_20260302: 1 })
  })

  test('a week that began without one gets it, with the rows that were written meanwhile', async () => {
    await using it = await desk()
    await makeCustomer(it.api)
    await it.settledAtSecond()
    for (const table of ['events', 'deliveries', 'attempts'])
      expect(await placesOf(it.service, table)).toEqual({ [`${table}_default`]: 1 })
    await it.maintain()
    await makeCustomer(it.api)
    await it.settledAtSecond()
    for (const table of ['events', 'deliveries', 'attempts']) {
      expect(await placesOf(it.service, table)).toEqual({ [`${table}_20260302`]: 2 })
      expect(await weeks(it.service, table)).toEqual(ready)
    }
    expect(await deliveriesOf(it.api, it.id)).toHaveLength(2)
  })

  test('waits for whoever holds the table for a moment; what it cannot make is in the log, the metrics and the doctor', async () => {
    await using it = await desk()
    const { database } = it.service
    const lock = async () => {
      const client = await database.pool.connect()
      await client.query('begin; lock table only events_default in row exclusive mode')
      return async () => {
        await client.query('rollback')
        client.release()
      }
    }
    const unlock = await lock()
    const made = makeLogWeeks(database.pool, start)
    await waitingBackends(database, 1)
    await unlock()
    expect(await made).toEqual([])

    // An error, such as a full disk, is of that week alone, and its rows are written all the same.
    it.clock.advance(4 * week)
    await database.pool.query(`create type events_20260330 as enum ('taken')`)
    await it.maintain()
    expect(await weeks(it.service, 'attempts')).toContain('20260330')
    expect(it.service.logged).toContainEqual(
      expect.objectContaining({ missing: 'events of 2026-03-30 (type "events_20260330" already exists)' }),
    )
    await makeCustomer(it.api)
    expect(await placesOf(it.service, 'events')).toEqual({ events_default: 1 })
    await database.pool.query('drop type events_20260330')
    await it.maintain()
    expect(await placesOf(it.service, 'events')).toEqual({ events_20260330: 1 })
    it.clock.advance(-4 * week)

    // More rows than a partition takes over while writers wait.
    it.clock.advance(8 * week)
    await database.pool.query(
      `insert into events_default (organization_id, id, type, created_at, subject_kind, subject_id)
         select $1, $2::uuid, 'customer.created', now(), 'customer', $2::uuid
         from (select 1) one`,
      [it.api.organizationId, firstIdAt(it.clock.now())],
    )
    await database.pool.query(
      `insert into events_default (organization_id, id, type, created_at, subject_kind, subject_id)
         select e.organization_id, (left(e.id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, e.type, e.created_at, e.subject_kind, e.subject_id
         from events_default e cross join generate_series(1, 20000) n`,
    )
    await it.maintain()
    expect(it.service.logged).toContainEqual(
      expect.objectContaining({ level: 'warn', missing: 'events of 2026-04-27' }),
    )
    const metrics = await (await fetch(`${it.service.url}/metrics`)).text()
    expect(metrics).toMatch(/^deskwire_log_partitions_missing(\{.*\})? 1$/m)
    expect(await checkLog(database.pool, it.clock)).toMatchObject({
      verdict: 'warning',
      found: 'partitions are missing: events of 2026-04-27',
    })
  })
})

describe('weeks are dropped', () => {
  test('once all of the week is older than the log goes back; events as late again', async () => {
    await using it = await desk()
    await it.maintain()
    await makeCustomer(it.api)
    await it.engine.runDue()
    // The end of the week, 30 days ago.
    it.clock.set(Date.parse('2026-03-09T00:00:00.000Z') + 30 * day - 1)
    await it.maintain()
    expect(await weeks(it.service, 'deliveries')).toContain('20260302')
    it.clock.advance(1)
    await it.maintain()
    for (const table of ['deliveries', 'attempts']) {
      expect(await weeks(it.service, table)).not.toContain('20260302')
      expect(await placesOf(it.service, table)).toEqual({})
    }
    expect(await placesOf(it.service, 'events')).toEqual({ events_20260302: 1 })
    it.clock.advance(30 * day - 1)
    await it.maintain()
    expect(await weeks(it.service, 'events')).toContain('20260302')
    it.clock.advance(1)
    await it.maintain()
    expect(await placesOf(it.service, 'events')).toEqual({})
    expect(await weeks(it.service, 'events')).not.toContain('20260302')
  })

  test('and where a week had none, its rows are removed, however many, and no others', async () => {
    await using it = await desk()
    await it.service.database.pool.query(
      `with made as (select n, $3::timestamptz - n * interval '1 millisecond' as at from generate_series(0, 2499) as n),
        tried as (insert into attempts (organization_id, delivery_id, number, at, duration_ms)
          select $1, new_uuid_v7(at), 1, at, 1 from made),
        told as (insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
          select $1, new_uuid_v7(at), 'customer.created', at, 'customer', gen_random_uuid(), '{}' from made)
       insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at,
          subject_kind, subject_id, status, payload, attempt_count, max_attempts, created_at, updated_at)
        select $1, new_uuid_v7(at), $2, at::date, gen_random_uuid(), 'customer.created', at, 'customer',
          gen_random_uuid(), 'failed', 'current', 1, 6, at, at from made`,
      [it.api.organizationId, it.id, new Date(start - 1).toISOString()],
    )
    await makeCustomer(it.api)
    await it.settledAtSecond()
    it.clock.set(start + 30 * day - 1)
    await it.maintain()
    expect(await placesOf(it.service, 'deliveries')).toEqual({ deliveries_default: 1 })
    expect(await placesOf(it.service, 'attempts')).toEqual({ attempts_default: 1 })
    expect(await placesOf(it.service, 'events')).toEqual({ events_default: 2501 })
    it.clock.advance(30 * day)
    await it.maintain()
    expect(await placesOf(it.service, 'events')).toEqual({ events_default: 1 })
  })

  test('but not with what is pending, nor what that is sent from', async () => {
    await using it = await desk()
    await it.maintain()
    const customer = await makeCustomer(it.api, { name: 'as it was' })
    it.answer(500)
    for (let attempt = 0; attempt < 6; attempt++) {
      await it.engine.runDue()
      it.clock.advance(9 * hour)
    }
    const [failed] = await deliveriesOf(it.api, it.id)
    expect(failed).toMatchObject({ status: 'failed', attemptCount: 6 })
    await it.api.patch(`/v1/customers/${customer.id}`, { name: 'as it is' })
    // Retried on its last day in the log; then no worker runs for months.
    it.clock.set(start + 30 * day - 1)
    expect((await retry(it.api, failed)).status).toBe(202)
    it.clock.advance(90 * day)
    await it.maintain()
    const [pending, ...others] = await deliveriesOf(it.api, it.id)
    expect([pending, others]).toMatchObject([{ id: failed.id, status: 'pending', attemptCount: 6 }, []])
    expect(await attemptsOf(it.api, pending)).toHaveLength(6)
    for (const table of ['events', 'deliveries', 'attempts'])
      expect(await weeks(it.service, table)).not.toContain('20260302')
    expect(await placesOf(it.service, 'events')).toEqual({ events_default: 1 })
    it.answer(200)
    await it.engine.runDue()
    expect(JSON.parse(dataOf(it.sent.at(-1)!))).toMatchObject({ name: 'as it was' })
    // Completed now, and older than the log goes back.
    expect(await deliveriesOf(it.api, it.id)).toEqual([])
    await it.maintain()
    for (const table of ['events', 'deliveries', 'attempts']) {
      expect(await placesOf(it.service, table)).toEqual({})
      expect(await weeks(it.service, table)).not.toContain('20260302')
    }
  })

  test('but not what a recovery of an organization may look for, which keeps nothing of others', async () => {
    await using it = await desk()
    const { pool } = it.service.database
    const other = await it.service.newOrganization()
    await makeWebhook(other)
    await it.maintain()
    await Promise.all([makeCustomer(it.api), makeCustomer(other)])
    await it.engine.runDue()
    const recovery = { since: new Date(start - 1).toISOString() }
    expect((await it.api.post(`/v1/webhooks/${it.id}/recover`, recovery)).status).toBe(202)
    it.clock.advance(40 * day)
    const owners = async () => {
      await it.maintain()
      const { rows } = await pool.query('select distinct d.organization_id as owner from deliveries d')
      return rows.map(({ owner }) => owner)
    }
    // More than the default partition takes over while writers wait: the week stays, with these alone.
    await pool.query(
      `insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at, subject_kind, subject_id,
          status, payload, attempt_count, max_attempts, created_at, updated_at, delivered_at)
        select d.organization_id, new_uuid_v7(d.created_at), d.webhook_id, d.log_day, d.event_id, d.event_type, d.event_created_at,
          d.subject_kind, d.subject_id, d.status, d.payload, d.attempt_count, d.max_attempts, d.created_at, d.updated_at, d.delivered_at
        from deliveries d cross join generate_series(1, 20000) where d.organization_id = $1`,
      [it.api.organizationId],
    )
    const shape = async () =>
      (
        await pool.query(
          `select regexp_replace(i.indexdef, '^.* ON [^ ]+', '') as index from pg_indexes i where i.tablename = 'deliveries_20260302' order by 1`,
        )
      ).rows
    const before = await shape()
    expect(await owners()).toEqual([it.api.organizationId])
    expect(await placesOf(it.service, 'deliveries')).toEqual({ deliveries_20260302: 20_001 })
    expect(await shape()).toEqual(before)
    const fileOf = async () =>
      (await pool.query(`select pg_relation_filenode('deliveries_20260302') as file`)).rows[0].file
    const file = await fileOf()
    await it.maintain()
    expect(await fileOf()).toBe(file)
    await pool.query(
      'delete from deliveries d where d.id <> (select e.id from deliveries e order by e.id limit 1)',
    )
    expect(await owners()).toEqual([it.api.organizationId])
    expect(await placesOf(it.service, 'deliveries')).toEqual({ deliveries_default: 1 })
    await pool.query('update delivery_jobs set finished_at = created_at, due_at = null')
    expect(await owners()).toEqual([])
  })

  test('later, when somebody reads just then: nobody waits long, and nothing is half done', async () => {
    await using it = await desk()
    await it.maintain()
    await makeCustomer(it.api)
    await it.engine.runDue()
    it.clock.advance(40 * day)
    const reader = await it.service.database.pool.connect()
    try {
      await reader.query('begin')
      await reader.query('select count(*) from deliveries')
      await it.maintain()
      expect(await weeks(it.service, 'deliveries')).toContain('20260302')
      // Writers got through.
      await makeCustomer(it.api)
      await it.engine.runDue()
    } finally {
      await reader.query('rollback')
      reader.release()
    }
    await it.maintain()
    expect(await weeks(it.service, 'deliveries')).not.toContain('20260302')
    expect(await deliveriesOf(it.api, it.id)).toHaveLength(1)
  })
})
