/** Endpoints that get several updates of an object as one delivery. */
import { describe, expect, test } from 'vitest'
import { at } from '../../../testbed/clock.ts'
import { deliveryJobsOn } from '../../../testbed/delivery-jobs.ts'
import { makeTicket } from '../../../testbed/desk.ts'
import { minute, retry, second } from '../../../testbed/hooks.ts'
import { answer } from '../../../testbed/receiver.ts'
import { receiving } from './receiving.fixture.ts'

type It = Awaited<ReturnType<typeof receiving>>

const events = ['ticket.*']

/** What arrives from now on, as types with subjects. */
async function arrived(it: It) {
  const before = it.bodies.length
  await it.engine.runDue()
  return it.bodies.slice(before).map(({ type, data }) => `${type} ${data.subject ?? data.object}`)
}

async function changed(it: It, id: string, ...subjects: string[]) {
  for (const subject of subjects)
    expect((await it.api.patch(`/v1/tickets/${id}`, { subject })).status).toBe(200)
}

const updates = (it: It, id: string) => it.log(id, '&eventType=ticket.updated')

test('a thousand changes of one object in five seconds are at most two requests, and the last equals GET', async () => {
  await using it = await receiving()
  const { id: webhookId, coalesce } = await it.endpoint({ events: ['ticket.updated'], coalesce: 5 })
  expect(coalesce).toBe(5)
  const { id } = await makeTicket(it.api)
  for (let n = 1; n <= 1_000; n++) {
    await changed(it, id, `Change ${n}`)
    it.clock.advance(5)
    if (n % 100 === 0) await it.engine.runDue()
  }
  it.clock.advance(5 * second)
  await it.engine.runDue()
  expect(it.bodies.length).toBeLessThanOrEqual(2)
  const now = (await it.api.get(`/v1/tickets/${id}`)).json
  expect(now.subject).toBe('Change 1000')
  expect(it.bodies.at(-1).data).toEqual(now)
  const { total } = (await it.api.get(`/v1/webhooks/${webhookId}/deliveries?status=pending`)).json.pagination
  expect(total).toBe(0)
})

test('the log shows the others as skipped, with the id of the one that was sent', async () => {
  await using it = await receiving()
  const { id: webhookId } = await it.endpoint({ events, coalesce: 10 })
  const { id } = await makeTicket(it.api, { subject: 'A' })
  expect(await arrived(it)).toEqual(['ticket.created A'])
  await changed(it, id, 'B', 'C', 'D')
  expect(await arrived(it)).toEqual([])
  it.clock.advance(9 * second)
  expect(await arrived(it)).toEqual([])
  it.clock.advance(2 * second)
  expect(await arrived(it)).toEqual(['ticket.updated D'])
  const [last, middle, first] = await updates(it, webhookId)
  expect(first).toMatchObject({ status: 'succeeded', attemptCount: 1 })
  expect(first).not.toHaveProperty('coalescedInto')
  const message = `delivery ${first.id} is sent for several updates`
  for (const one of [last, middle])
    expect(one).toMatchObject({
      status: 'skipped',
      coalescedInto: first.id,
      lastError: { code: 'coalesced', message },
    })
  expect((await retry(it.api, last)).json.code).toBe('delivery_skipped')
})

test('each object waits by itself, and nothing but updates waits', async () => {
  await using it = await receiving()
  await it.endpoint({ events: ['*'], coalesce: 10 })
  const { id, customerId } = await makeTicket(it.api, { subject: 'A' })
  const { id: other } = await makeTicket(it.api, { subject: 'X', customerId })
  await arrived(it)
  await changed(it, id, 'B')
  await changed(it, other, 'Y')
  await it.api.patch(`/v1/tickets/${id}`, { status: 'resolved' })
  expect(await arrived(it)).toEqual(['ticket.status_changed B'])
  it.clock.advance(11 * second)
  expect((await arrived(it)).toSorted()).toEqual(['ticket.updated B', 'ticket.updated Y'])
})

test('a change after the time is over is the first of the next', async () => {
  await using it = await receiving()
  const { id: webhookId } = await it.endpoint({ events: ['ticket.updated'], coalesce: 10 })
  const { id } = await makeTicket(it.api)
  await changed(it, id, 'A')
  it.clock.advance(11 * second)
  // No worker has looked: what is due may be on its way.
  await changed(it, id, 'B', 'C')
  expect(await arrived(it)).toEqual(['ticket.updated C'])
  it.clock.advance(11 * second)
  expect(await arrived(it)).toEqual(['ticket.updated C'])
  expect((await updates(it, webhookId)).map(({ status }) => status)).toEqual([
    'skipped',
    'succeeded',
    'succeeded',
  ])
})

test('an update that comes while the one before it is sent by a clock that is ahead is sent as well', async () => {
  await using it = await receiving()
  const { id: webhookId } = await it.endpoint({ events: ['ticket.updated'], coalesce: 10 })
  const { id } = await makeTicket(it.api)
  await changed(it, id, 'A')
  const arrivedFirst = Promise.withResolvers<void>()
  const mayAnswer = Promise.withResolvers<void>()
  it.receiver.will((socket, ...rest) => {
    arrivedFirst.resolve()
    void mayAnswer.promise.then(() => answer(200)(socket, ...rest))
  }, answer(200))
  it.clock.advance(11 * second)
  const sending = it.engine.runDue()
  await arrivedFirst.promise
  // The clock of the process that commits is eleven seconds behind the worker's.
  it.clock.advance(-11 * second)
  await changed(it, id, 'B')
  it.clock.advance(11 * second)
  mayAnswer.resolve()
  await sending
  await it.engine.runDue()
  expect(it.bodies.map(({ data }) => data.subject)).toEqual(['A', 'B'])
  const [last, first] = await updates(it, webhookId)
  expect(first.status).toBe('succeeded')
  expect(last.coalescedInto).toBe(first.id)
})

describe('what has failed', () => {
  test('is sent by a retry and by a recovery with the object as it is, and once for all', async () => {
    await using it = await receiving()
    const jobs = deliveryJobsOn(it.service, it.clock)
    const { id: webhookId } = await it.endpoint({ events: ['ticket.updated'], coalesce: 10 })
    const { id } = await makeTicket(it.api)
    await changed(it, id, 'A', 'B')
    it.clock.advance(11 * second)
    await it.engine.runDue()
    await changed(it, id, 'C', 'D')
    await it.change(webhookId, { status: 'disabled' })
    await it.engine.runDue()
    expect((await updates(it, webhookId)).map(({ status }) => status)).toEqual([
      'skipped',
      'failed',
      'skipped',
      'succeeded',
    ])
    await it.change(webhookId, { status: 'active' })
    const since = at(it.clock.now() - minute)
    expect(
      (await it.api.post(`/v1/webhooks/${webhookId}/recover`, { since, includeBeforeCreation: true })).status,
    ).toBe(202)
    await jobs.runDue()
    it.clock.advance(11 * second)
    expect(new Set(await arrived(it))).toEqual(new Set(['ticket.updated D']))
    expect((await updates(it, webhookId)).filter(({ status }) => status === 'failed')).toEqual([])
  })
})

test('the delivery that waits for an object is found by an index of those that wait', async () => {
  await using it = await receiving()
  const { rows } = await it.service.database.pool.query<{ 'QUERY PLAN': string }>(
    `explain select d.id from deliveries d, (values (gen_random_uuid(), gen_random_uuid())) g(webhook_id, subject_id)
       where d.organization_id = gen_random_uuid() and d.webhook_id = g.webhook_id and d.subject_id = g.subject_id
         and d.event_type = 'ticket.updated' and d.log_day = 'infinity' and d.attempt_count = 0
         and d.next_attempt_at > d.created_at and d.next_attempt_at > now() limit 1`,
  )
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('deliveries_pending_waiting')
})
