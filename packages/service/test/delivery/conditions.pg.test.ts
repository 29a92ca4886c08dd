/** Events that an endpoint's conditions keep from it, and the fields that its envelopes name, as its receiver and its log see them. */

import { describe, expect, test } from 'vitest'
import { at } from '../../../testbed/clock.ts'
import { deliveryJobsOn } from '../../../testbed/delivery-jobs.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { makeWebhook, minute, receiverUrl, retry, second } from '../../../testbed/hooks.ts'
import { asToken, makeKey } from '../../../testbed/keys.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { receiving } from './receiving.fixture.ts'

type It = Awaited<ReturnType<typeof receiving>>

const shared = sharedService()
const ticketEvents = ['ticket.created', 'ticket.updated', 'ticket.deleted']
const urgent = [{ field: 'priority', op: 'in', value: ['high', 'urgent'] }]

/** What arrives from now on, as types with the subjects of tickets. */
async function arrived(it: It) {
  const before = it.bodies.length
  await it.engine.runDue()
  return it.bodies.slice(before).map(({ type, data }) => `${type} ${data.subject ?? data.object}`)
}

const statuses = async (it: It, id: string) =>
  (await it.log(id)).map(({ status, eventType }) => `${eventType} ${status}`).toSorted()

describe('an event is sent', () => {
  test.each([
    ['equals', { field: 'priority', op: 'equals', value: 'high' }, ['ticket.created High']],
    [
      'equals null',
      { field: 'assigneeId', op: 'equals', value: null },
      ['ticket.created High', 'ticket.created Low'],
    ],
    ['in', { field: 'priority', op: 'in', value: ['low', 'urgent'] }, ['ticket.created Low']],
    ['exists', { field: 'dueAt', op: 'exists' }, ['ticket.created High']],
    ['not exists', { field: 'dueAt', op: 'exists', value: false }, ['ticket.created Low']],
    ['changed, of what a creation sets', { field: 'dueAt', op: 'changed' }, ['ticket.created High']],
  ])('%s', async (_, condition, expected) => {
    await using it = await receiving()
    const { id } = await it.endpoint({ events: ['ticket.created'], conditions: [condition] })
    const customerId = (await makeCustomer(it.api)).id
    await makeTicket(it.api, { customerId, subject: 'High', priority: 'high', dueAt: '2030-01-01T00:00:00Z' })
    await makeTicket(it.api, { customerId, subject: 'Low', priority: 'low' })
    expect((await arrived(it)).toSorted()).toEqual(expected)
    expect((await it.read(id)).conditions).toEqual([condition])
    const skipped = await it.log(id, '&status=skipped')
    expect(skipped).toHaveLength(2 - expected.length)
    for (const delivery of skipped) {
      expect(delivery).toMatchObject({
        attemptCount: 0,
        nextAttemptAt: null,
        lastError: { code: 'conditions_not_met', message: 'the conditions of the endpoint did not hold' },
      })
      const refused = { status: 409, code: 'delivery_skipped' }
      expect((await retry(it.api, delivery)).json).toMatchObject(refused)
      const resend = `/v1/webhooks/${id}/deliveries/${delivery.id}/resend`
      expect((await it.api.post(resend, undefined)).json).toMatchObject(refused)
    }
  })

  test('when a change changed the field; all conditions must hold; a removal is always sent', async () => {
    await using it = await receiving()
    const conditions = [...urgent, { field: 'priority', op: 'changed' }]
    const { id } = await it.endpoint({ events: ticketEvents, conditions })
    const ticket = await makeTicket(it.api, { subject: 'A', priority: 'low' })
    const path = `/v1/tickets/${ticket.id}`
    expect(await arrived(it)).toEqual([])
    await it.api.patch(path, { priority: 'high' })
    expect(await arrived(it)).toEqual(['ticket.updated A'])
    await it.api.patch(path, { subject: 'B' })
    await it.api.patch(path, { priority: 'normal' })
    expect(await arrived(it)).toEqual([])
    await it.api.delete(path)
    expect(await arrived(it)).toEqual(['ticket.deleted removed'])
    expect(await statuses(it, id)).toEqual([
      'ticket.created skipped',
      'ticket.deleted succeeded',
      'ticket.updated skipped',
      'ticket.updated skipped',
      'ticket.updated succeeded',
    ])
    // The stream of events has all of them.
    const types = `types=${ticketEvents}`
    expect((await it.api.get(`/v1/events?${types}`)).json.data).toHaveLength(5)
  })

  test('by the conditions of its commit: a PATCH changes them, null or an empty list removes them', async () => {
    await using it = await receiving()
    const { id } = await it.endpoint({ events: ['ticket.created'], conditions: urgent })
    await makeTicket(it.api, { subject: 'A', priority: 'low' })
    await it.change(id, { conditions: [{ field: 'priority', op: 'equals', value: 'low' }] })
    await makeTicket(it.api, { subject: 'B', priority: 'low' })
    expect(await arrived(it)).toEqual(['ticket.created B'])
    for (const none of [null, []]) {
      await it.change(id, { conditions: urgent })
      const changed = await it.change(id, { conditions: none })
      expect([changed.status, Object.hasOwn(changed.json, 'conditions')]).toEqual([200, false])
    }
    await makeTicket(it.api, { subject: 'C', priority: 'low' })
    expect(await arrived(it)).toEqual(['ticket.created C'])
  })
})

test('a large commit is judged by the conditions at its time', async () => {
  await using it = await receiving()
  const conditions = [{ field: 'name', op: 'equals', value: 'Ada' }]
  const ids: string[] = []
  for (let n = 0; n < 11; n++) ids.push((await it.endpoint({ conditions })).id)
  const items = Array.from({ length: 100 }, (_, n) => ({ name: n % 50 === 0 ? 'Ada' : `customer ${n}` }))
  expect((await it.api.post('/v1/customers/batch', { items })).status).toBe(200)
  for (const id of ids) await it.change(id, { conditions: null })
  await deliveryJobsOn(it.service, it.clock).runDue()
  for (const id of ids) {
    const counts = await Promise.all(
      ['pending', 'skipped'].map(async (status) => (await it.log(id, `&status=${status}`)).length),
    )
    expect(counts).toEqual([2, 98])
  }
})

test('a recovery applies the present conditions, also to changes of fields', async () => {
  await using it = await receiving()
  const { id } = await it.endpoint({ events: ['ticket.updated'], conditions: urgent })
  const since = at(it.clock.now())
  const ticket = await makeTicket(it.api, { subject: 'A', priority: 'low' })
  await it.api.patch(`/v1/tickets/${ticket.id}`, { priority: 'normal' })
  await it.api.patch(`/v1/tickets/${ticket.id}`, { subject: 'B' })
  expect(await arrived(it)).toEqual([])
  it.clock.advance(minute)
  const recover = async () => {
    expect((await it.api.post(`/v1/webhooks/${id}/recover`, { since })).status).toBe(202)
    await deliveryJobsOn(it.service, it.clock).runDue()
    return arrived(it)
  }
  expect(await recover()).toEqual([])
  await it.change(id, { conditions: [{ field: 'priority', op: 'changed' }] })
  it.clock.advance(minute)
  expect(await recover()).toEqual(['ticket.updated B'])
  it.clock.advance(minute)
  expect(await recover()).toEqual([])
  expect(await statuses(it, id)).toEqual([
    'ticket.updated skipped',
    'ticket.updated skipped',
    'ticket.updated succeeded',
  ])
})

test('changedFields are named to endpoints that ask, the same in each attempt; creations and removals name none', async () => {
  await using it = await receiving()
  await it.endpoint({ events: ticketEvents })
  const { id } = await it.endpoint({ events: ticketEvents, changedFields: true, payload: 'thin' })
  const ticket = await makeTicket(it.api, { subject: 'A', priority: 'low' })
  await it.api.patch(`/v1/tickets/${ticket.id}`, { priority: 'high', tags: ['x'], subject: 'A' })
  await it.engine.runDue()
  const named = it.bodies.filter((body) => 'changedFields' in body)
  expect(it.bodies).toHaveLength(4)
  expect(named).toMatchObject([
    {
      type: 'ticket.updated',
      data: { id: ticket.id, object: 'ticket' },
      changedFields: ['priority', 'tags'],
    },
  ])
  const [delivery] = await it.log(id, '&eventType=ticket.updated')
  const again = await it.api.get(`/v1/webhooks/${id}/deliveries/${delivery.id}/payload`)
  expect(again.json).toEqual(named[0])
  await it.api.delete(`/v1/tickets/${ticket.id}`)
  await it.engine.runDue()
  expect(it.bodies.slice(4).map((body) => Object.keys(body).length)).toEqual([6, 6])
})

test('a registrant that lost the read scope changes no conditions, and those that it has are not judged', async () => {
  await using it = await receiving()
  const less = ['webhooks:write', 'webhooks:read']
  const all = [...less, 'tickets:read']
  const key = await makeKey(it.api, { scopes: all })
  const scope = (scopes: readonly string[]) => it.api.patch(`/v1/api-keys/${key.id}`, { scopes })
  const who = asToken(it.service, it.api, key.token)
  const { id } = await makeWebhook(who, { url: it.url, events: ['ticket.created'], conditions: urgent })
  expect((await scope(less)).status).toBe(200)
  const refused = await who.patch(`/v1/webhooks/${id}`, { conditions: null })
  expect([refused.status, refused.json.code]).toEqual([403, 'insufficient_scope'])
  expect((await who.patch(`/v1/webhooks/${id}`, { description: 'own' })).status).toBe(200)

  const priorities = ['high', 'low']
  const { customerId } = await makeTicket(it.api, { priority: 'high' })
  await makeTicket(it.api, { customerId, priority: 'low' })
  // One commit whose deliveries workers create.
  await it.endpoint({ events: ['ticket.created'] })
  const subject = 'many'
  const items = Array.from({ length: 501 }, (_, n) => ({ customerId, subject, priority: priorities[n % 2] }))
  expect((await it.api.post('/v1/tickets/batch', { items })).status).toBe(200)
  await deliveryJobsOn(it.service, it.clock).runDue()
  const count = async (query: string) =>
    (await who.get(`/v1/webhooks/${id}/deliveries?limit=1&${query}`)).json.pagination.total
  expect([await count('status=skipped'), await count('status=pending')]).toEqual([0, 503])
  await it.engine.runDue()
  expect((await it.log(id))[0].lastError).toEqual({
    code: 'subject_unavailable',
    message: "the registrant's key lacks the scope tickets:read",
  })

  // A recovery brings back what was skipped while it could read, whether or not the conditions hold.
  it.clock.advance(minute)
  const since = at(it.clock.now())
  await scope(all)
  for (const priority of priorities) await makeTicket(it.api, { customerId, priority })
  await scope(less)
  expect(await count('status=skipped')).toBe(1)
  it.clock.advance(minute)
  expect((await it.api.post(`/v1/webhooks/${id}/recover`, { since })).status).toBe(202)
  await deliveryJobsOn(it.service, it.clock).runDue()
  const recovered = await it.log(id, `&createdAfter=${at(it.clock.now() - second)}`)
  expect(recovered.map(({ status }) => status)).toEqual(['pending'])
  expect((await who.delete(`/v1/webhooks/${id}`)).status).toBe(204)
})

describe('refused with 422', () => {
  test.each([
    ['/conditions/0/field', 'must be a field of tickets', [{ field: 'nothing', op: 'exists' }]],
    ['/conditions/0', 'with ids of objects', [{ field: 'id', op: 'equals', value: 'x' }]],
    ['/conditions/0', 'must be equals or in', [{ field: 'id', op: 'exists' }]],
    [
      '/conditions/0/op',
      'one of equals, in, changed, exists',
      [{ field: 'priority', op: 'like', value: 'x' }],
    ],
    [
      '/conditions/0/value',
      'of priority of tickets must be one of',
      [{ field: 'priority', op: 'equals', value: 'x' }],
    ],
    [
      '/conditions/0/value',
      'a list of 1 to 20 values with in',
      [{ field: 'priority', op: 'in', value: 'low' }],
    ],
    ['/conditions/0/value', 'one value with equals', [{ field: 'priority', op: 'equals', value: ['low'] }]],
    ['/conditions/0/value', 'nothing with changed', [{ field: 'priority', op: 'changed', value: 'low' }]],
    [
      '/conditions/0/value',
      'true, false or nothing with exists',
      [{ field: 'priority', op: 'exists', value: 1 }],
    ],
    [
      '/conditions/0/value',
      'as objects show it',
      [{ field: 'dueAt', op: 'equals', value: '2030-01-01T00:00:00Z' }],
    ],
    [
      '/conditions',
      'at most 10 conditions',
      Array.from({ length: 11 }, () => ({ field: 'subject', op: 'exists' })),
    ],
  ])('%s: %s', async (pointer, detail, conditions) => {
    const { api } = shared()
    const refused = await api.post('/v1/webhooks', {
      url: receiverUrl,
      events: ['ticket.created'],
      conditions,
    })
    expect([refused.status, refused.json.errors?.[0]?.pointer]).toEqual([422, pointer])
    expect(refused.json.errors[0].detail).toContain(detail)
  })

  test('a word that no object of the kind shows; one that only actions set is accepted', async () => {
    const { api } = shared()
    const withStatus = (value: string) =>
      api.post('/v1/webhooks', {
        url: receiverUrl,
        events: ['booking.cancelled'],
        conditions: [{ field: 'status', op: 'equals', value }],
      })
    expect((await withStatus('cancelled')).status).toBe(201)
    const refused = await withStatus('gone')
    expect([refused.status, refused.json.errors?.[0]?.detail]).toEqual([
      422,
      expect.stringContaining('must be one of pending, confirmed, cancelled'),
    ])
  })

  test('events of a kind without the field, while there are conditions on it', async () => {
    const { api } = shared()
    const { id } = await makeWebhook(api, { events: ['ticket.created'], conditions: urgent })
    const refused = await api.patch(`/v1/webhooks/${id}`, { events: ['ticket.created', 'customer.created'] })
    expect([refused.status, refused.json.errors?.[0]?.pointer]).toEqual([422, '/conditions/0/field'])
    const both = { events: ['customer.created'], conditions: null }
    expect((await api.patch(`/v1/webhooks/${id}`, both)).status).toBe(200)
  })
})

test('an event of the release before, which noted no changes, changed each field that has a value', async () => {
  await using it = await receiving()
  const { id } = await it.endpoint({
    events: ['ticket.updated'],
    conditions: [{ field: 'type', op: 'changed' }],
  })
  const since = at(it.clock.now())
  const ticket = await makeTicket(it.api, { subject: 'A', type: 'task' })
  await it.api.patch(`/v1/tickets/${ticket.id}`, { subject: 'B' })
  expect(await arrived(it)).toEqual([])
  await it.service.database.pool.query('update events set changed = null')
  it.clock.advance(minute)
  await it.api.post(`/v1/webhooks/${id}/recover`, { since })
  await deliveryJobsOn(it.service, it.clock).runDue()
  expect(await arrived(it)).toEqual(['ticket.updated B'])
})
