/** Sending again what was answered with a 2xx: one delivery as a new one, and a recovery that includes what arrived. */

import { describe, expect, test } from 'vitest'
import { at } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { dataOf, hour, makeWebhook, minute, retry } from '../../../testbed/hooks.ts'
import { desk, namesFrom, recovered } from './recovery.fixture.ts'

const resend = (it: Awaited<ReturnType<typeof desk>>, deliveryId: string, headers = {}) =>
  it.api.post(`${it.path}/deliveries/${deliveryId}/resend`, undefined, headers)

/** A desk with one delivery that was answered with 200. */
async function arrived() {
  const it = await desk(['customer.created'])
  const customer = await makeCustomer(it.api, { name: 'Ada' })
  await it.engine.runDue()
  const [delivery] = await it.log()
  return Object.assign(it, { customer, delivery })
}

describe('a delivery that succeeded', () => {
  test('is sent once more as a new delivery of the same event, which reads its subject anew', async () => {
    await using it = await arrived()
    await it.api.patch(`/v1/customers/${it.customer.id}`, { name: 'Ada, changed' })
    it.clock.advance(minute)
    const answer = await resend(it, it.delivery.id)
    expect(answer.status, answer.text).toBe(202)
    expect(answer.json).toMatchObject({
      object: 'delivery',
      eventId: it.delivery.eventId,
      status: 'pending',
      attemptCount: 0,
      maxAttempts: 6,
      createdAt: at(it.clock.now()),
    })
    expect(answer.json.id).not.toBe(it.delivery.id)
    expect((await it.api.get(`${it.path}/deliveries/${answer.json.id}`)).json).toEqual(answer.json)
    await it.engine.runDue()
    const [first, second] = it.sent
    expect(second?.headers['x-service-event-id']).toBe(first?.headers['x-service-event-id'])
    expect(JSON.parse(dataOf(second!)).name).toBe('Ada, changed')
    expect(await it.log()).toMatchObject([
      { id: answer.json.id, status: 'succeeded' },
      { id: it.delivery.id, status: 'succeeded', updatedAt: it.delivery.updatedAt },
    ])
  })

  test('keeps its 409 on retry; one that is pending or failed, or of a disabled endpoint, is not resent', async () => {
    await using it = await arrived()
    expect((await retry(it.api, it.delivery)).json.code).toBe('delivery_succeeded')
    const again = (await resend(it, it.delivery.id)).json
    for (const id of [again.id, it.delivery.id])
      expect((await resend(it, id)).json).toMatchObject({ status: 409, code: 'delivery_pending' })
    it.answer(500)
    for (let attempt = 0; attempt < 6; attempt++) {
      await it.engine.runDue()
      it.clock.advance(9 * hour)
    }
    expect((await resend(it, again.id)).json).toMatchObject({ status: 409, code: 'delivery_failed' })
    await it.disable()
    expect((await resend(it, it.delivery.id)).json.code).toBe('webhook_disabled')
    await it.enable()
    // The failed one is not begun again beside a new one of its event.
    expect((await resend(it, it.delivery.id)).status).toBe(202)
    expect((await retry(it.api, again)).json).toMatchObject({ status: 409, code: 'delivery_pending' })
  })

  test('is resent once for an Idempotency-Key', async () => {
    await using it = await arrived()
    const key = { 'idempotency-key': 'once' }
    const first = await resend(it, it.delivery.id, key)
    const second = await resend(it, it.delivery.id, key)
    expect(second.text).toBe(first.text)
    expect(await it.log()).toHaveLength(2)
  })

  test('is no other organization’s, and needs the scopes of what is sent', async () => {
    await using it = await arrived()
    const other = await it.service.newOrganization()
    const path = `${it.path}/deliveries/${it.delivery.id}/resend`
    expect((await other.post(path, undefined)).status).toBe(404)
    const key = await it.service.newKey(it.api.organizationId, ['webhooks:write', 'webhooks:read'])
    expect((await key.post(path, undefined)).json.code).toBe('insufficient_scope')
    const reader = await it.service.newKey(it.api.organizationId, ['webhooks:read', 'customers:read'])
    expect((await reader.post(path, undefined)).status).toBe(403)
  })

  test('a ping too, with its one attempt', async () => {
    await using it = await desk()
    const ping = (await it.api.post(`${it.path}/ping`, undefined)).json
    await it.engine.runDue()
    expect((await resend(it, ping.id)).json).toMatchObject({
      eventType: 'ping',
      eventId: ping.eventId,
      maxAttempts: 1,
    })
    await it.engine.runDue()
    expect(it.sent).toHaveLength(2)
  })
})

describe('a recovery with includeSucceeded', () => {
  test('makes new deliveries of what arrived, and says so; without it they are left', async () => {
    await using it = await arrived()
    const since = at(it.clock.now() - minute)
    const plain = await recovered(it, { since })
    expect(plain).toMatchObject({ retried: 0, created: 0 })
    expect(plain).not.toHaveProperty('includeSucceeded')
    expect(await recovered(it, { since, includeSucceeded: true })).toMatchObject({
      includeSucceeded: true,
      status: 'done',
      retried: 0,
      created: 1,
    })
    expect(namesFrom(it, 1)).toEqual(['Ada'])
    expect(await it.log('&status=succeeded')).toHaveLength(2)
  })

  test('lets the latest delivery of an event decide: one that failed is retried, and only that', async () => {
    await using it = await arrived()
    // Two that fail, of the same event.
    for (let n = 0; n < 2; n++) {
      it.answer(500)
      await resend(it, it.delivery.id)
      for (let attempt = 0; attempt < 6; attempt++) {
        await it.engine.runDue()
        it.clock.advance(9 * hour)
      }
      it.answer(200)
      if (n === 0) await it.enable()
    }
    await it.enable()
    const sent = it.sent.length
    const since = at(it.clock.now() - 5 * 24 * hour)
    expect(await recovered(it, { since, includeBeforeCreation: true })).toMatchObject({
      retried: 1,
      created: 0,
    })
    expect(it.sent.length - sent).toBe(1)
    expect(await recovered(it, { since, includeBeforeCreation: true })).toMatchObject({
      retried: 0,
      created: 0,
    })
  })

  test('refuses what is no boolean, and says what is accepted', async () => {
    await using it = await desk()
    const answer = await it.recover({ since: at(it.clock.now()), includeSucceeded: 'yes' })
    expect(answer.json).toMatchObject({
      code: 'validation_failed',
      errors: [
        { pointer: '/includeSucceeded', code: 'invalid_type', detail: 'must be true or false; got a string' },
      ],
    })
  })
})

test('an endpoint of another event type is not concerned', async () => {
  await using it = await arrived()
  const other = await makeWebhook(it.api, { events: ['customer.created'] })
  await it.api.post(`/v1/webhooks/${other.id}/recover`, {
    since: at(it.clock.now() - minute),
    includeSucceeded: true,
    includeBeforeCreation: true,
  })
  await it.work()
  expect(await it.log()).toHaveLength(1)
})
