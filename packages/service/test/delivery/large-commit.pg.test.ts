/** A commit that would make more than 1,000 deliveries leaves them to workers: who gets what is as if it had made them. */

import { describe, expect, test } from 'vitest'
import { at, testClock } from '../../../testbed/clock.ts'
import { deliveryJobsOn } from '../../../testbed/delivery-jobs.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { makeWebhook, minute } from '../../../testbed/hooks.ts'
import { tables } from '../../../testbed/journal.ts'
import { lockRow, waitingBackends } from '../../../testbed/locks.ts'
import { type Api, createApi, testService } from '../../../testbed/service.ts'
import { deliveryJobPieceFunction } from '../../src/delivery/queue/delivery-jobs.ts'

async function desk() {
  const clock = testClock()
  const service = await testService({ clock })
  const { pool } = service.database
  const worker = testEngine(service, clock)
  return {
    clock,
    service,
    api: service.api,
    pool,
    ...worker,
    deliveryJobs: deliveryJobsOn(service, clock),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

type Desk = Awaited<ReturnType<typeof desk>>

/** So many endpoints, subscribed to `events`; their ids. */
async function endpoints(api: Api, count: number, events: readonly string[] = ['customer.created']) {
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push((await makeWebhook(api, { events })).id)
  return ids
}

/** So many customers in one commit. */
async function customers(api: Api, count: number) {
  const items = Array.from({ length: count }, (_, n) => ({ name: `customer ${n}` }))
  const { status, text } = await api.post('/v1/customers/batch', { items })
  expect(status, text).toBe(200)
}

/** Deliveries by endpoint: how many there are of each status, and of how many events. */
async function made(it: Desk) {
  const { rows } = await it.pool.query<{ webhook_id: string; shown: string }>(
    `select d.webhook_id, string_agg(d.shown, ', ' order by d.shown) as shown from (
       select d.webhook_id, concat_ws(' ', count(*), d.status, d.last_error_code, 'of', count(distinct d.event_id)) as shown
         from deliveries d group by d.webhook_id, d.status, d.last_error_code) d group by d.webhook_id`,
  )
  return Object.fromEntries(rows.map(({ webhook_id, shown }) => [webhook_id, shown]))
}

const each = (ids: readonly string[], shown: string) => Object.fromEntries(ids.map((id) => [id, shown]))

describe('where the line is', () => {
  test('1,000 deliveries are made by the commit itself', async () => {
    await using it = await desk()
    const ids = await endpoints(it.api, 10)
    await customers(it.api, 100)
    expect(await made(it)).toEqual(each(ids, '100 pending of 100'))
    expect(await it.deliveryJobs.runDue()).toBe(0)
  })

  test('of 1,001 none is in the log until a worker has made it; then each is, once', async () => {
    await using it = await desk()
    const ids = await endpoints(it.api, 11)
    const other = await endpoints(it.api, 1, ['ticket.created'])
    await customers(it.api, 91)
    expect(await made(it)).toEqual({})
    expect((await it.api.get(`/v1/webhooks/${ids[0]}/deliveries`)).json).toMatchObject({
      data: [],
      pagination: { total: 0 },
    })
    // Small ones go their way meanwhile.
    await makeCustomer(it.api)
    expect(await made(it)).toEqual(each(ids, '1 pending of 1'))

    await it.deliveryJobs.runDue()
    expect(await made(it)).toEqual(each(ids, '92 pending of 92'))
    await it.engine.runDue()
    expect(await made(it)).toEqual(each(ids, '92 succeeded of 92'))
    expect(it.sent).toHaveLength(11 * 92)
    expect(await made(it)).not.toHaveProperty(other[0]!)
    expect(await it.deliveryJobs.runDue()).toBe(0)
    const { rows } = await it.pool.query('select 1 from delivery_jobs')
    expect(rows).toEqual([])
  })

  test('a removal with all that goes with it is sent as its removal record, though payloads were erased', async () => {
    await using it = await desk()
    const [id] = await endpoints(it.api, 1, ['ticket.deleted', 'customer.deleted'])
    const customer = await makeCustomer(it.api)
    for (const count of [600, 600]) {
      const items = Array.from({ length: count }, (_, n) => ({ customerId: customer.id, subject: `T ${n}` }))
      expect((await it.api.post('/v1/tickets/batch', { items })).status).toBe(200)
    }
    expect((await it.api.delete(`/v1/customers/${customer.id}`)).status).toBe(204)
    expect(await made(it)).toEqual({})
    await it.service.app.maintenance.run()
    for (let round = 0; round < 3; round++) {
      await it.deliveryJobs.runDue()
      await it.engine.runDue()
      it.clock.advance(250)
    }
    expect(await made(it)).toEqual({ [id!]: '1201 succeeded of 1201' })
    const records = it.sent.map(({ body }) => JSON.parse(body).data)
    expect(records.filter(({ object }) => object === 'removed')).toHaveLength(1_201)
  })
})

describe('between the commit and its deliveries', () => {
  test('endpoints change as they like: who was active and subscribed then gets what it was subscribed to', async () => {
    await using it = await desk()
    const [kept, disabled, paused, deleted, patched, ...others] = await endpoints(it.api, 11)
    const [off] = await endpoints(it.api, 1)
    await it.api.patch(`/v1/webhooks/${off}`, { status: 'disabled' })
    await customers(it.api, 91)
    const patch = (id: string | undefined, body: object) => it.api.patch(`/v1/webhooks/${id}`, body)
    const answers = [
      await patch(disabled, { status: 'disabled' }),
      await patch(paused, { status: 'disabled' }),
      await patch(paused, { status: 'active' }),
      await patch(patched, { events: ['ticket.created'] }),
      await patch(off, { status: 'active' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
    expect((await it.api.delete(`/v1/webhooks/${deleted}`)).status).toBe(204)
    await endpoints(it.api, 1)
    await it.deliveryJobs.runDue()
    expect(await made(it)).toEqual({
      ...each([kept!, paused!, patched!, ...others], '91 pending of 91'),
      [disabled!]: '91 failed endpoint_disabled of 91',
    })
    const { data } = (await it.api.get(`/v1/webhooks/${disabled}/deliveries?limit=1`)).json
    expect(data).toMatchObject([
      {
        status: 'failed',
        attemptCount: 0,
        maxAttempts: 6,
        nextAttemptAt: null,
        lastError: { code: 'endpoint_disabled', message: 'the endpoint was disabled: manual' },
      },
    ])
    await it.service.app.maintenance.run()
    expect(await made(it)).not.toHaveProperty(deleted!)
  })

  test('a recovery waits for them, and finds nothing missing', async () => {
    await using it = await desk()
    const ids = await endpoints(it.api, 11)
    await customers(it.api, 91)
    const path = `/v1/webhooks/${ids[3]}`
    const recovery = (await it.api.post(`${path}/recover`, { since: at(it.clock.now() - minute) })).json
    const read = async () => (await it.api.get(`${path}/recoveries/${recovery.id}`)).json
    // Both are due at the same time, and the recovery has its turn first, as its window begins earlier.
    await it.deliveryJobs.runDue()
    expect(await read()).toMatchObject({ status: 'running', created: 0 })
    expect(await made(it)).toEqual(each(ids, '91 pending of 91'))
    it.clock.advance(250)
    await it.deliveryJobs.runDue()
    expect(await read()).toMatchObject({ status: 'done', created: 0, retried: 0 })
    expect(await made(it)).toEqual(each(ids, '91 pending of 91'))
  })

  test('an event that has a delivery already is passed over, though it is completed', async () => {
    await using it = await desk()
    const ids = await endpoints(it.api, 11)
    await customers(it.api, 91)
    const noted = await it.pool.query('create table noted as select j.* from delivery_jobs j')
    expect(noted.rowCount).toBe(11)
    await it.deliveryJobs.runDue()
    await it.engine.runDue()
    await it.pool.query('insert into delivery_jobs table noted')
    await it.deliveryJobs.runDue()
    await it.engine.runDue()
    expect(await made(it)).toEqual(each(ids, '91 succeeded of 91'))
    expect(it.sent).toHaveLength(11 * 91)
  })

  test('a clock that is set back holds nothing up', async () => {
    await using it = await desk()
    const ids = await endpoints(it.api, 11)
    it.clock.advance(30 * minute)
    await customers(it.api, 91)
    it.clock.set(it.clock.now() - 30 * minute)
    expect(await it.deliveryJobs.runDue()).toBe(0)
    await it.queues.wakeAfterClockSetBack(it.clock.now(), new AbortController().signal, () => {})
    await it.deliveryJobs.runDue()
    expect(await made(it)).toEqual(each(ids, '91 pending of 91'))
  })
})

describe('in pieces', () => {
  const piece = async (it: Desk, events: number, ofOne: number) => {
    const { rows } = await it.pool.query(
      `select ${deliveryJobPieceFunction(tables).name}($1, $2, $3, $4, 1000, 6) as outcome`,
      [it.api.organizationId, at(it.clock.now()), events, ofOne],
    )
    return rows[0].outcome
  }

  test('each endpoint has its turn before one has its second', async () => {
    await using it = await desk()
    const ids = await endpoints(it.api, 11)
    await customers(it.api, 91)
    for (let n = 0; n < 11; n++) {
      it.clock.advance(1)
      expect(await piece(it, 40, 40)).toBe('more')
    }
    expect(await made(it)).toEqual(each(ids, '40 pending of 40'))
    // And a commit that comes later has its first before one has its third.
    await customers(it.api, 92)
    for (let n = 0; n < 22; n++) {
      it.clock.advance(1)
      expect(await piece(it, 40, 40)).toBe('more')
    }
    expect(await made(it)).toEqual(each(ids, '120 pending of 120'))
    it.clock.advance(1)
    expect(await piece(it, 1_000, 500)).toBe('done')
    expect(await made(it)).toEqual(each(ids, '183 pending of 183'))
  })

  test('no more at a time come to an endpoint than it takes', async () => {
    await using it = await desk()
    const ids = await endpoints(it.api, 2)
    for (const count of [800, 800]) await customers(it.api, count)
    const { rows } = await it.pool.query('select 1 from delivery_jobs')
    expect(rows).toHaveLength(4)
    const pending = async () => {
      const { rows } = await it.pool.query<{ count: number }>(
        `select count(*)::int as count from deliveries d where d.status = 'pending' group by d.webhook_id`,
      )
      return rows.map(({ count }) => count)
    }
    await it.deliveryJobs.runDue()
    for (const count of await pending()) {
      // A thousand, and less than one step more.
      expect(count).toBeGreaterThanOrEqual(1_000)
      expect(count).toBeLessThan(1_500)
    }
    // Nothing more before the endpoint has taken some, and a moment has passed.
    it.clock.advance(250)
    const before = await pending()
    await it.deliveryJobs.runDue()
    expect(await pending()).toEqual(before)
    await it.engine.runDue()
    it.clock.advance(250)
    await it.deliveryJobs.runDue()
    await it.engine.runDue()
    expect(await made(it)).toEqual(each(ids, '1600 succeeded of 1600'))
  })

  test('of several workers at once and several organizations, each delivery is made once', async () => {
    await using it = await desk()
    const apis = [it.api, await it.service.newOrganization(), await it.service.newOrganization()]
    const ids: string[] = []
    for (const api of apis) {
      ids.push(...(await endpoints(api, 4)))
      await customers(api, 600)
    }
    const workers = [
      it.deliveryJobs,
      deliveryJobsOn(it.service, it.clock),
      deliveryJobsOn(it.service, it.clock),
    ]
    await Promise.all(workers.map((worker) => worker.runDue()))
    // Whoever found one busy looks again.
    await it.deliveryJobs.runDue()
    expect(await made(it)).toEqual(each(ids, '600 pending of 600'))
  })

  test('a piece that cannot have the clock is done later, and holds up no other organization', async () => {
    await using it = await desk()
    const another = await it.service.newOrganization()
    const ids = await endpoints(it.api, 11)
    const theirs = await endpoints(another, 11)
    await customers(it.api, 91)
    await customers(another, 91)
    const lock = await lockRow(it.service.database, 'organization_clocks', it.api)
    await it.deliveryJobs.runDue()
    expect(await made(it)).toEqual(each(theirs, '91 pending of 91'))
    await lock.release()
    await it.deliveryJobs.runDue()
    expect(await made(it)).toEqual(each([...ids, ...theirs], '91 pending of 91'))
  })

  test('a piece, a disabling and a commit wait for each other: what comes first decides', async () => {
    await using it = await desk()
    const [first, ...ids] = await endpoints(it.api, 11)
    await customers(it.api, 91)
    // Sent through a second API: within one, a commit that has waited for long holds the others of its organization back.
    await using beside = await testService({ clock: it.clock, database: it.service.database })
    const lock = await lockRow(it.service.database, 'organization_clocks', it.api)
    const disabling = it.api.patch(`/v1/webhooks/${first}`, { status: 'disabled' })
    await waitingBackends(it.service.database, 1)
    const commit = makeCustomer(createApi(beside.url, it.api.organizationId, it.api.token))
    // Either is sent again when it has waited for so long, and is then behind the other.
    await eventually('the commit waits behind the disabling', async () => {
      const { rows } = await it.pool.query<{ query: string }>(
        `select a.query from pg_stat_activity a
           where a.datname = current_database() and a.wait_event_type = 'Lock' order by a.query_start`,
      )
      const [before, behind, ...more] = rows.map(({ query }) => query)
      return /update_webhook/.test(before ?? '') && /\bcommit/.test(behind ?? '') && more.length === 0
    })
    await lock.release()
    expect((await disabling).status).toBe(200)
    await commit
    await it.deliveryJobs.runDue()
    await it.engine.runDue()
    expect(await made(it)).toEqual({
      ...each(ids, '92 succeeded of 92'),
      [first!]: '91 failed endpoint_disabled of 91',
    })
  })
})
