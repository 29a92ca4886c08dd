/** Recovery: what it brings back, what it leaves, and that it can be asked for again and again. */

import { describe, expect, test } from 'vitest'
import { at } from '../../../testbed/clock.ts'
import { deliveryJobsOn } from '../../../testbed/delivery-jobs.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { attemptsOf, dataOf, day, hour, minute, retry } from '../../../testbed/hooks.ts'
import { type Desk, desk, namesFrom, recovered } from './recovery.fixture.ts'

describe('what an endpoint missed while it was disabled', () => {
  test('is made, and reads anew; the answer says where it stands', async () => {
    await using it = await desk()
    await it.disable()
    const since = it.clock.now()
    const first = await makeCustomer(it.api, { name: 'one' })
    it.clock.advance(minute)
    await makeCustomer(it.api, { name: 'two' })
    await it.api.patch(`/v1/customers/${first.id}`, { name: 'one, changed' })
    it.clock.advance(minute)
    await it.enable()
    expect(await it.log()).toEqual([])

    const answer = await it.recover({ since: at(since) })
    expect(answer.status).toBe(202)
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      object: 'recovery',
      webhookId: it.id,
      since: at(since),
      until: at(it.clock.now()),
      status: 'running',
      retried: 0,
      created: 0,
      createdAt: at(it.clock.now()),
      finishedAt: null,
    })
    expect(await it.recovery(answer.json.id)).toEqual(answer.json)
    await it.work()
    const done = { ...answer.json, status: 'done', created: 3, finishedAt: at(it.clock.now()) }
    expect(await it.recovery(done.id)).toEqual(done)
    expect(namesFrom(it, 0)).toEqual(['one, changed', 'two', 'one, changed'])
    expect(await it.log()).toMatchObject(
      Array(3).fill({ status: 'succeeded', attemptCount: 1, maxAttempts: 6 }),
    )
  })

  test('of a subject that is gone cannot be sent; its removal can, with its record', async () => {
    await using it = await desk()
    await it.disable()
    const { id, updatedAt } = await makeCustomer(it.api)
    await it.api.delete(`/v1/customers/${id}`)
    await it.enable()
    expect(await recovered(it, { since: at(it.clock.now() - minute) })).toMatchObject({
      created: 2,
      retried: 0,
    })
    const rows = await it.log()
    expect(
      rows.map(({ eventType, status, lastError }) => [eventType, status, lastError?.code ?? null]).sort(),
    ).toEqual([
      ['customer.created', 'failed', 'subject_unavailable'],
      ['customer.deleted', 'succeeded', null],
    ])
    const { data } = (await it.api.get(`/v1/customers?updatedAfter=${updatedAt}`)).json
    expect(JSON.parse(dataOf(it.sent[0]!))).toEqual(data[0])
  })

  test('is that of the types it is subscribed to, and of its own organization', async () => {
    await using it = await desk(['ticket.created'])
    const stranger = await it.service.newOrganization()
    await it.disable()
    await makeTicket(stranger)
    await makeTicket(it.api)
    await it.enable()
    expect(await recovered(it, { since: at(it.clock.now() - minute) })).toMatchObject({ created: 1 })
    expect(it.sent.map(({ headers }) => headers['x-service-event-type'])).toEqual(['ticket.created'])
  })
})

describe('deliveries that are there', () => {
  /** One delivery each that failed, succeeded and is pending, the last with an attempt to come. */
  async function three(it: Desk) {
    const failed = await makeCustomer(it.api, { name: 'failed' })
    it.answer(500)
    for (let attempt = 0; attempt < 6; attempt++) {
      await it.engine.runDue()
      it.clock.advance(9 * hour)
    }
    it.answer(200, 500)
    await makeCustomer(it.api, { name: 'succeeded' })
    await it.engine.runDue()
    await makeCustomer(it.api, { name: 'pending' })
    await it.engine.runDue()
    return { failed }
  }

  test('are retried when they failed, with their stored payload and the schedule anew; others are left', async () => {
    await using it = await desk(['customer.created'])
    const { failed } = await three(it)
    await it.api.patch(`/v1/customers/${failed.id}`, { name: 'changed since' })
    const before = await it.log()
    const sent = it.sent.length
    it.answer(503)
    expect(await recovered(it, { since: at(it.clock.now() - 20 * day) })).toMatchObject({
      status: 'done',
      retried: 1,
      created: 0,
    })
    expect(namesFrom(it, sent)).toEqual(['failed'])
    const after = await it.log()
    expect(after).toHaveLength(3)
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2))
    expect(after[2]).toMatchObject({
      id: before[2].id,
      status: 'pending',
      attemptCount: 7,
      maxAttempts: 12,
      nextAttemptAt: at(it.clock.now() + minute),
    })
    expect(await attemptsOf(it.api, after[2])).toHaveLength(7)
  })

  test('are not sent twice, however often and at once it is asked for', async () => {
    await using it = await desk(['customer.created'])
    await three(it)
    await it.disable()
    await makeCustomer(it.api, { name: 'missed' })
    await it.enable()
    it.answer(200)
    const window = { since: at(it.clock.now() - 20 * day) }
    const made = await Promise.all([1, 2, 3].map(() => it.recover(window)))
    const others = [1, 2].map(() => deliveryJobsOn(it.service, it.clock))
    await Promise.all([it.deliveryJobs, ...others].map((one) => one.runDue()))
    await it.engine.runDue()
    const recoveries = await Promise.all(made.map(({ json }) => it.recovery(json.id)))
    expect(recoveries.map(({ status }) => status)).toEqual(['done', 'done', 'done'])
    // The pending one failed when the endpoint was disabled.
    expect(recoveries.reduce((sum, { retried }) => sum + retried, 0)).toBe(2)
    expect(recoveries.reduce((sum, { created }) => sum + created, 0)).toBe(1)
    const sent = it.sent.length
    expect(await recovered(it, window)).toMatchObject({ retried: 0, created: 0, status: 'done' })
    expect(it.sent).toHaveLength(sent)
    expect((await it.log()).map(({ status }) => status)).toEqual(Array(4).fill('succeeded'))
    const { rows } = await it.service.database.pool.query(
      'select d.event_id from deliveries d group by d.event_id, d.webhook_id having count(*) > 1',
    )
    expect(rows).toEqual([])
  })

  test('made by a recovery can be retried by hand when they fail, with what was stored when the event was made', async () => {
    await using it = await desk(['customer.created'])
    await it.disable()
    const customer = await makeCustomer(it.api, { name: 'as it was' })
    await it.api.patch(`/v1/customers/${customer.id}`, { name: 'as it is' })
    it.clock.advance(29 * day)
    await it.enable()
    await recovered(it, { since: at(it.clock.now() - 30 * day) })
    it.answer(500)
    // The event is far older than the log goes back when the delivery's last attempt has failed.
    it.clock.advance(20 * day)
    await it.service.app.maintenance.run()
    await it.service.database.pool.query(
      `update deliveries set status = 'failed', delivered_at = null where organization_id = $1`,
      [it.api.organizationId],
    )
    const [row] = await it.log()
    expect((await retry(it.api, row)).status).toBe(202)
    await it.engine.runDue()
    expect(namesFrom(it, 0)).toEqual(['as it is', 'as it was'])
  })
})

describe('a recovery that waits longer than the log goes back', () => {
  /** One that arrived, and a recovery of it that was asked for with its endpoint disabled right after. */
  async function waiting(it: Desk, arrivedAt: number, askedAt: number) {
    it.clock.set(arrivedAt)
    await it.service.app.maintenance.run()
    await makeCustomer(it.api, { name: 'arrived' })
    await it.work()
    it.clock.set(askedAt)
    const { json } = await it.recover({ since: at(arrivedAt) })
    await it.disable()
    await it.work()
    return json.id as string
  }

  const kept = async (it: Desk) => {
    const { rows } = await it.service.database.pool.query('select d.event_id from deliveries d')
    return rows.length
  }

  /** Goes on, and is done; what its deliveries were kept for is over. */
  async function ends(it: Desk, id: string) {
    await it.enable()
    it.clock.advance(minute)
    await it.work()
    expect(await it.recovery(id)).toMatchObject({ status: 'done', retried: 0, created: 0 })
    expect(namesFrom(it, 0)).toEqual(['arrived'])
    expect(await kept(it)).toBe(1)
    await it.service.app.maintenance.run()
    expect(await kept(it)).toBe(0)
  }

  test.each([
    ['nine days in which its endpoint is disabled', '2026-03-04T12:00:00.000Z', 29 * day, 9 * day],
    ['an hour, in which the week ends', '2026-03-08T23:30:00.000Z', 30 * day - hour / 2, hour],
  ])('still finds what arrived: %s', async (_, arrived, before, disabled) => {
    await using it = await desk(['customer.created'])
    const arrivedAt = Date.parse(arrived)
    const id = await waiting(it, arrivedAt, arrivedAt + before)
    it.clock.advance(disabled)
    await it.service.app.maintenance.run()
    // Kept, but shown no more.
    expect(await kept(it)).toBe(1)
    expect(await it.log()).toEqual([])
    await ends(it, id)
  })

  test('in a week that has no partition too', async () => {
    await using it = await desk(['customer.created'])
    await makeCustomer(it.api, { name: 'arrived' })
    await it.work()
    const { rows } = await it.service.database.pool.query(
      'select d.tableoid::regclass::text as place from deliveries d',
    )
    expect(rows).toEqual([{ place: 'deliveries_default' }])
    const arrivedAt = it.clock.now()
    it.clock.advance(30 * day - hour)
    const { json } = await it.recover({ since: at(arrivedAt) })
    await it.disable()
    it.clock.advance(2 * hour)
    await it.service.app.maintenance.run()
    await ends(it, json.id)
  })

  test('holds the log no longer than there are events', async () => {
    await using it = await desk(['customer.created'])
    const arrivedAt = Date.parse('2026-03-04T12:00:00.000Z')
    const id = await waiting(it, arrivedAt, arrivedAt + 29 * day)
    // The end of the week, and twice the log.
    it.clock.set(Date.parse('2026-03-09T00:00:00.000Z') + 60 * day - 1)
    await it.service.app.maintenance.run()
    expect(await kept(it)).toBe(1)
    it.clock.advance(1)
    await it.service.app.maintenance.run()
    expect(await kept(it)).toBe(0)
    await it.enable()
    it.clock.advance(minute)
    await it.work()
    expect(await it.recovery(id)).toMatchObject({ status: 'done', retried: 0, created: 0 })
  })
})
