/** What an endpoint may ask for, as its receiver sees it: headers, rate, concurrency, payload, Retry-After and 410. */

import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { at } from '../../../testbed/clock.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { hour, makeWebhook, minute, receiverUrl, second } from '../../../testbed/hooks.ts'
import { answer, type Behaviour } from '../../../testbed/receiver.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { rotateEncryptionKey } from '../../src/delivery/endpoint/key-rotation.ts'
import { receiving } from './receiving.fixture.ts'

const shared = sharedService()

describe('what is accepted', () => {
  test.each([
    ['headers', { Host: 'x' }, '/headers/Host', 'the service sets host itself'],
    ['headers', { 'X-Service-Signature': 'x' }, '/headers/X-Service-Signature', 'x-service-signature itself'],
    ['headers', { 'Webhook-Id': 'x' }, '/headers/Webhook-Id', 'webhook-id itself'],
    ['headers', { 'Content-Length': '1' }, '/headers/Content-Length', 'content-length itself'],
    ['headers', { 'transfer-encoding': 'chunked' }, '/headers/transfer-encoding', 'transfer-encoding itself'],
    ['headers', { Expect: '100-continue' }, '/headers/Expect', 'expect itself'],
    ['headers', { 'a b': 'x' }, '/headers/a b', 'its name is no header name'],
    ['headers', { a: 'x\r\nHost: y' }, '/headers/a', 'its value is not such a string'],
    ['headers', { a: '' }, '/headers/a', 'its value is not such a string'],
    ['headers', { a: 1 }, '/headers/a', 'its value is not such a string'],
    ['headers', { a: { toString: null } }, '/headers/a', 'its value is not such a string'],
    ['headers', { a: 'x', A: 'y' }, '/headers', 'a name is there twice'],
    ['headers', ['a'], '/headers', 'an object of at most 10 headers'],
    [
      'headers',
      Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`h${n}`, 'x'])),
      '/headers',
      'there are 11',
    ],
    [
      'headers',
      Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`h${n}`, 'x'.repeat(1_024)])),
      '/headers',
      'the values have 5120 characters',
    ],
    ['rateLimit', 0, '/rateLimit', 'a whole number from 1 to 1000'],
    ['rateLimit', 1_001, '/rateLimit', 'a whole number from 1 to 1000'],
    ['maxConcurrent', 17, '/maxConcurrent', 'a whole number from 1 to 16'],
    ['payload', 'tiny', '/payload', 'one of full, thin'],
    ['honorRetryAfter', 'yes', '/honorRetryAfter', 'true or false'],
    ['disableOn410', null, '/disableOn410', 'true or false'],
  ])('%s: not %j', async (name, value, pointer, detail) => {
    const { api } = shared()
    const sent = { url: receiverUrl, events: ['customer.created'], [name]: value }
    const refused = await api.post('/v1/webhooks', sent)
    expect(refused.status).toBe(422)
    expect(refused.json.errors[0].pointer).toBe(pointer.replaceAll(' ', ' '))
    expect(refused.json.errors[0].detail).toContain(detail)
  })

  test('is shown only where it is not the default, so that a record without options is as it was', async () => {
    const { api } = shared()
    const plain = await makeWebhook(api)
    const options = {
      rateLimit: 5,
      maxConcurrent: 2,
      payload: 'thin',
      honorRetryAfter: true,
      disableOn410: true,
    }
    const made = await makeWebhook(api, { ...options, headers: { 'X-Token': 'abc' } })
    expect(made).toMatchObject({ ...options, headerNames: ['x-token'] })
    expect(made).not.toHaveProperty('headers')
    const { secret: _, ...record } = made
    expect((await api.get(`/v1/webhooks/${made.id}`)).json).toEqual(record)
    const path = `/v1/webhooks/${made.id}`
    const defaults = { rateLimit: null, maxConcurrent: null, payload: 'full', honorRetryAfter: false }
    const cleared = (await api.patch(path, { ...defaults, disableOn410: false, headers: null })).json
    expect(Object.keys(cleared)).toEqual(Object.keys(plain).filter((name) => name !== 'secret'))
    // What is sent again changes nothing.
    expect((await api.patch(path, defaults)).json).toEqual(cleared)
  })
})

test('a change keeps an option of a later release, and one that asks for what is there changes nothing', async () => {
  await using it = await receiving()
  const { id } = await it.endpoint({ rateLimit: 5, payload: 'thin', disableOn410: true })
  await it.service.database.pool.query(
    `update webhooks set options = options || '{"later": [1]}' where id = $1`,
    [id],
  )
  const before = await it.read(id)
  it.clock.advance(minute)
  expect((await it.change(id, { payload: 'thin' })).json).toEqual(before)
  const changed = await it.change(id, { rateLimit: null, payload: 'full' })
  expect(changed.json).toMatchObject({ later: [1], disableOn410: true })
  const { rows } = await it.service.database.pool.query('select options from webhooks where id = $1', [id])
  expect(rows).toEqual([{ options: { later: [1], disableOn410: true } }])
})

describe('headers', () => {
  test('are sent with each attempt, before what the service signs', async () => {
    await using it = await receiving()
    await it.endpoint({ headers: { Authorization: 'Bearer hidden-token', 'X-Tenant': 'a b' } })
    await makeCustomer(it.api)
    await it.engine.runDue()
    expect(it.receiver.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer hidden-token',
      'x-tenant': 'a b',
      'x-service-signature': expect.stringMatching(/^t=\d+,v1=/),
      'user-agent': expect.stringMatching(/^Deskwire/),
    })
  })

  test('are stored sealed, are in no answer and no log, and open after a change of the encryption key', async () => {
    await using it = await receiving()
    const { id } = await it.endpoint({ headers: { Authorization: 'Bearer hidden-token' } })
    const read = async () =>
      (await it.service.database.pool.query('select w.*, w.sealed_headers as sealed from webhooks w')).rows[0]
    expect(JSON.stringify(await read())).not.toContain('hidden-token')
    expect((await read()).sealed.toString('latin1')).not.toContain('hidden-token')
    expect((await it.api.get(`/v1/webhooks/${id}`)).text).not.toContain('hidden')
    expect(JSON.stringify(it.service.logged)).not.toContain('hidden')
    const before = (await read()).sealed
    await rotateEncryptionKey(it.service.database.pool, {
      current: randomBytes(32),
      previous: deliverySettings.encryptionKey,
    })
    expect((await read()).sealed).not.toEqual(before)
    // Sealed for this endpoint alone: the old key opens nothing any more.
    await makeCustomer(it.api)
    await it.engine.runDue()
    expect(it.receiver.requests).toEqual([])
  })

  test('are replaced as a whole, kept by other changes, and removed by null', async () => {
    await using it = await receiving()
    const { id } = await it.endpoint({ headers: { one: '1', two: '2' } })
    const arrives = async () => {
      await makeCustomer(it.api)
      await it.engine.runDue()
      const { one, two, three } = it.receiver.requests.at(-1)!.headers
      return { one, two, three }
    }
    await it.change(id, { description: 'Changed', url: `${it.url}/other` })
    expect(await arrives()).toEqual({ one: '1', two: '2' })
    const before = await it.read(id)
    const after = (await it.change(id, { headers: { one: 'new', two: '2' } })).json
    expect(after.headerNames).toEqual(['one', 'two'])
    expect(after.updatedAt > before.updatedAt).toBe(true)
    expect(await arrives()).toEqual({ one: 'new', two: '2' })
    expect((await it.change(id, { headers: { three: '3' } })).json.headerNames).toEqual(['three'])
    expect(await arrives()).toEqual({ three: '3' })
    expect((await it.change(id, { headers: null })).json).not.toHaveProperty('headerNames')
    expect(await arrives()).toEqual({})
  })

  test('do not follow the endpoint to another host unless they are sent again', async () => {
    await using it = await receiving()
    const { id } = await it.endpoint({ headers: { Authorization: 'hidden' } })
    const url = 'https://127.0.0.1:2/hook'
    const refused = await it.change(id, { url })
    expect(refused.status).toBe(422)
    expect(refused.json.errors).toMatchObject([{ pointer: '/headers', code: 'required' }])
    expect((await it.change(id, { url, headers: null })).json).toMatchObject({ url })
  })
})

describe('a rate limit', () => {
  test('lets no more attempts begin than it allows, and all in the end', async () => {
    await using it = await receiving()
    await it.endpoint({ rateLimit: 2 })
    for (let n = 0; n < 5; n++) await makeCustomer(it.api)
    const began = it.clock.now()
    const done = it.engine.runDue()
    for (const expected of [1, 2, 3, 4, 5]) {
      await eventually(`${expected} arrive`, () => it.receiver.requests.length === expected)
      it.clock.advance(499)
      it.clock.advance(1)
    }
    await done
    expect(it.clock.now() - began).toBe(2.5 * second)
    expect(it.receiver.requests).toHaveLength(5)
  })

  test('holds up no other endpoint', async () => {
    await using it = await receiving()
    const slow = await it.endpoint({ rateLimit: 1 })
    const other = await it.endpoint()
    for (let n = 0; n < 3; n++) await makeCustomer(it.api)
    const done = it.engine.runDue()
    await eventually(
      'the other has all',
      async () => (await it.log(other.id, '&status=succeeded')).length === 3,
    )
    // Results are written although its queue is held.
    await eventually('the slow one has one', async () => {
      it.clock.advance(50)
      return (await it.log(slow.id, '&status=succeeded')).length >= 1
    })
    await eventually('the slow one has all', async () => {
      it.clock.advance(200)
      return (await it.log(slow.id, '&status=succeeded')).length === 3
    })
    await done
  })
})

/** Answers once it is let go. */
function held() {
  const waiting: (() => void)[] = []
  const behaviour: Behaviour = (socket, request, below) => {
    waiting.push(() => answer(200)(socket, request, below))
  }
  return { waiting, behaviour }
}

test('maxConcurrent: no more are under way at once', async () => {
  await using it = await receiving()
  const { waiting, behaviour } = held()
  it.receiver.will(behaviour)
  await it.endpoint({ maxConcurrent: 2 })
  for (let n = 0; n < 7; n++) await makeCustomer(it.api)
  const done = it.engine.runDue()
  let most = 0
  for (let answered = 0; answered < 7; answered++) {
    const expected = Math.min(2, 7 - answered)
    await eventually(`${expected} are under way`, () => waiting.length === expected)
    most = Math.max(most, waiting.length)
    waiting.shift()?.()
  }
  await done
  expect(most).toBe(2)
})

test('attempts to one host are capped over all endpoints of an organization, each of which has one', async () => {
  await using it = await receiving({ perHost: 5 })
  const { waiting, behaviour } = held()
  it.receiver.will(behaviour)
  for (let n = 0; n < 3; n++) await it.endpoint()
  for (let n = 0; n < 4; n++) await makeCustomer(it.api)
  const done = it.engine.runDue()
  let most = 0
  for (let answered = 0; answered < 12; answered++) {
    await eventually('one is under way', () => waiting.length > 0)
    most = Math.max(most, waiting.length)
    waiting.shift()?.()
  }
  await done
  expect(most).toBeLessThanOrEqual(5)
  expect(it.receiver.requests).toHaveLength(12)
})

test('payload thin: data is id and object, also in the payload that the log shows', async () => {
  await using it = await receiving()
  const { id } = await it.endpoint({
    payload: 'thin',
    events: ['customer.created', 'customer.deleted', 'ticket.created'],
  })
  const customer = await makeCustomer(it.api)
  const ticket = await makeTicket(it.api, { customerId: customer.id })
  await it.engine.runDue()
  await it.api.post(`/v1/webhooks/${id}/ping`, undefined)
  await it.api.delete(`/v1/customers/${customer.id}`)
  await it.engine.runDue()
  const dataOf = (type: string) => it.bodies.find((body) => body.type === type).data
  expect(dataOf('customer.created')).toEqual({ id: customer.id, object: 'customer' })
  expect(dataOf('ticket.created')).toEqual({ id: ticket.id, object: 'ticket' })
  expect(dataOf('customer.deleted')).toEqual({ id: customer.id, object: 'removed' })
  expect(dataOf('ping')).toEqual({})
  const [delivery] = await it.log(id, '&eventType=customer.deleted')
  const payload = await it.api.get(`/v1/webhooks/${id}/deliveries/${delivery.id}/payload`)
  // The ping and the removal are sent at once, in any order.
  const sent = it.receiver.requests.map(({ body }) => body.toString())
  expect(sent.filter((body) => JSON.parse(body).type === 'customer.deleted')).toEqual([payload.text])
})

describe('Retry-After', () => {
  const dueIn = async (it: Awaited<ReturnType<typeof receiving>>, id: string) => {
    const [delivery] = await it.log(id)
    return Date.parse(delivery.nextAttemptAt) - it.clock.now()
  }

  test.each([
    [429, '120', 2 * minute],
    [503, '600', 10 * minute],
    // No earlier than the schedule has it, and a day at most.
    [503, '5', minute],
    [429, '9999999999', 24 * hour],
    [503, '2026-11-28', minute],
    [429, 'soon', minute],
    [500, '600', minute],
  ])('of a %i with %s: the next attempt is in %i ms', async (status, value, expected) => {
    await using it = await receiving()
    it.receiver.will(answer(status, '', { 'Retry-After': value }))
    const { id } = await it.endpoint({ honorRetryAfter: true })
    await makeCustomer(it.api)
    await it.engine.runDue()
    expect(await dueIn(it, id)).toBe(expected)
  })

  test('may be a date; and without the option it changes nothing', async () => {
    await using it = await receiving()
    const date = new Date(Math.ceil(it.clock.now() / 1_000) * 1_000 + hour)
    it.receiver.will(answer(503, '', { 'retry-after': date.toUTCString() }))
    const honoring = await it.endpoint({ honorRetryAfter: true })
    const plain = await it.endpoint()
    await makeCustomer(it.api)
    await it.engine.runDue()
    expect((await it.log(honoring.id))[0].nextAttemptAt).toBe(at(date.getTime()))
    expect(await dueIn(it, plain.id)).toBe(minute)
  })
})

describe('an answer of 410', () => {
  test('disables an endpoint that asks for it, with the reason, and fails what is pending', async () => {
    await using it = await receiving()
    it.receiver.will(answer(500), answer(410))
    const { id } = await it.endpoint({ disableOn410: true })
    await makeCustomer(it.api)
    await it.engine.runDue()
    await makeCustomer(it.api)
    await it.engine.runDue()
    expect(await it.read(id)).toMatchObject({ status: 'disabled', disabledReason: 'gone' })
    const rows = await it.log(id)
    // Both were made in one millisecond of the test's clock, so either may be listed first.
    expect(
      Object.fromEntries(
        rows.map(({ responseStatus, status, lastError }) => [responseStatus, [status, lastError.code]]),
      ),
    ).toEqual({ 410: ['failed', 'non_2xx'], 500: ['failed', 'endpoint_disabled'] })
    it.receiver.will(answer(200))
    expect((await it.change(id, { status: 'active' })).json).toMatchObject({ disabledReason: null })
  })

  test('is a failed attempt for any other, and of a ping', async () => {
    await using it = await receiving()
    it.receiver.will(answer(410))
    const { id } = await it.endpoint()
    const asks = await it.endpoint({ disableOn410: true, events: ['ticket.created'] })
    await makeCustomer(it.api)
    await it.api.post(`/v1/webhooks/${asks.id}/ping`, undefined)
    await it.engine.runDue()
    expect(await it.read(id)).toMatchObject({ status: 'active', failureCount: 1 })
    expect(await it.read(asks.id)).toMatchObject({ status: 'active' })
    expect((await it.log(id))[0]).toMatchObject({ status: 'pending' })
  })
})
