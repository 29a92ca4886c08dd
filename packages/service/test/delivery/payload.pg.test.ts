/** What a delivery carries: the bytes of GET at that moment, of a removal its record, of a manual retry what was. */
import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { type Sent, testEngine } from '../../../testbed/engine.ts'
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
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { kinds } from '../../src/desk/index.ts'

const clock = testClock()
const shared = sharedService({ clock })
const eventTypes = kinds.flatMap((kind) => Object.keys(kind.events))
const typeOf = ({ headers }: Sent) => headers['x-service-event-type'] ?? ''
const nameOf = (sent: Sent | undefined) => JSON.parse(sent?.body ?? '').data.name

async function subscribed(events: readonly string[] = eventTypes) {
  const api = await shared().newOrganization()
  const webhook = await makeWebhook(api, { events })
  return { api, webhook, ...testEngine(shared(), clock) }
}

/** All five delays, one after the other, and a round after each. */
async function waitOut(engine: { runDue(): Promise<number> }): Promise<void> {
  for (const delay of [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour]) {
    clock.advance(delay)
    expect(await engine.runDue()).toBe(1)
  }
}

test('a removal carries the very record of the sync, and so do the removals that come with it', async () => {
  const { api, engine, sent } = await subscribed(['customer.deleted', 'ticket.deleted'])
  const customer = await makeCustomer(api)
  const tickets = [
    await makeTicket(api, { customerId: customer.id }),
    await makeTicket(api, { customerId: customer.id }),
  ]
  const alone = await makeTicket(api)
  await api.delete(`/v1/tickets/${alone.id}`)
  clock.advance(minute)
  await api.delete(`/v1/customers/${customer.id}`)
  await engine.runDue()
  expect(sent.map(typeOf).sort()).toEqual(['customer.deleted', ...Array(3).fill('ticket.deleted')])
  const since = `updatedAfter=${customer.createdAt}`
  const synced = [
    (await api.get(`/v1/customers?${since}`)).text,
    (await api.get(`/v1/tickets?${since}`)).text,
  ].join()
  for (const one of sent) expect(synced).toContain(dataOf(one))
  expect(sent.map((one) => JSON.parse(one.body).data.id).sort()).toEqual(
    [customer.id, alone.id, ...tickets.map(({ id }) => id)].sort(),
  )
  expect(new Set(sent.map(({ headers }) => headers['x-service-event-id'])).size).toBe(4)
  for (const one of sent) {
    const { createdAt, data } = JSON.parse(one.body)
    expect(Object.keys(data)).toEqual(['object', 'id', 'resource', 'removedAt'])
    expect(data.removedAt).toBe(createdAt)
  }
})

describe('payloads are read when they are sent', () => {
  test('a change made before the first attempt, and one made while it is retried, show', async () => {
    const { api, engine, sent, answer } = await subscribed(['customer.created'])
    answer(500, 500, 200)
    const { id } = await makeCustomer(api, { name: 'one' })
    await api.patch(`/v1/customers/${id}`, { name: 'two' })
    await engine.runDue()
    clock.advance(minute)
    await engine.runDue()
    await api.patch(`/v1/customers/${id}`, { name: 'three' })
    clock.advance(5 * minute)
    await engine.runDue()
    expect(sent.map(nameOf)).toEqual(['two', 'two', 'three'])
    expect(dataOf(sent[2]!)).toBe((await api.get(`/v1/customers/${id}`)).text)
    expect(new Set(sent.map((one) => JSON.parse(one.body).createdAt)).size).toBe(1)
  })

  test('but a manual retry sends what the event was made with, in every attempt of its schedule', async () => {
    const { api, webhook, engine, sent, answer } = await subscribed(['customer.created'])
    answer(500)
    const made = await api.post('/v1/customers', { name: 'as created' })
    const { id } = made.json
    await api.patch(`/v1/customers/${id}`, { name: 'changed' })
    await engine.runDue()
    await waitOut(engine)
    const [failed] = await deliveriesOf(api, webhook.id)
    expect(failed).toMatchObject({ status: 'failed', attemptCount: 6, maxAttempts: 6 })
    const retried = await retry(api, failed)
    expect(retried.status).toBe(202)
    expect(retried.json).toEqual({
      ...failed,
      status: 'pending',
      maxAttempts: 12,
      nextAttemptAt: new Date(clock.now()).toISOString(),
      updatedAt: expect.any(String),
    })
    expect(await deliveriesOf(api, webhook.id)).toEqual([retried.json])
    await engine.runDue()
    await waitOut(engine)
    expect(sent.map(nameOf)).toEqual([...Array(6).fill('changed'), ...Array(6).fill('as created')])
    for (const one of sent.slice(6)) expect(dataOf(one)).toBe(made.text)
    expect(new Set(sent.map(({ headers }) => headers['x-service-event-id'])).size).toBe(1)
    const [again] = await deliveriesOf(api, webhook.id)
    expect(again).toMatchObject({ status: 'failed', attemptCount: 12, maxAttempts: 12, nextAttemptAt: null })
    expect((await attemptsOf(api, again)).map(({ number }) => number)).toEqual([
      12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
    ])
    answer(200)
    await retry(api, again)
    await engine.runDue()
    expect(await deliveriesOf(api, webhook.id)).toMatchObject([{ status: 'succeeded', attemptCount: 13 }])
  })
})

describe('a subject that is gone', () => {
  test('is never sent: the delivery fails, and it counts neither for nor against the endpoint', async () => {
    const { api, webhook, engine, sent, answer } = await subscribed(['customer.created', 'customer.updated'])
    answer(500)
    const { id } = await makeCustomer(api)
    await engine.runDue()
    clock.advance(1)
    await api.patch(`/v1/customers/${id}`, { name: 'Grace' })
    const before = (await api.get(`/v1/webhooks/${webhook.id}`)).json
    await api.delete(`/v1/customers/${id}`)
    clock.advance(day)
    await engine.runDue()
    expect(sent).toHaveLength(1)
    expect(await deliveriesOf(api, webhook.id)).toMatchObject([
      { status: 'failed', attemptCount: 0, responseStatus: null, lastError: { code: 'subject_unavailable' } },
      { status: 'failed', attemptCount: 1, responseStatus: 500, lastError: { code: 'subject_unavailable' } },
    ])
    expect((await api.get(`/v1/webhooks/${webhook.id}`)).json).toEqual({
      ...before,
      missedSince: expect.any(String),
    })
  })

  test('is not sent by a manual retry either, before its payload is erased and after', async () => {
    const { api, webhook, engine, sent } = await subscribed(['customer.created'])
    const { id } = await makeCustomer(api)
    await api.delete(`/v1/customers/${id}`)
    await engine.runDue()
    for (const erase of [async () => {}, () => shared().app.maintenance.run()]) {
      await erase()
      const [delivery] = await deliveriesOf(api, webhook.id)
      expect((await retry(api, delivery)).status).toBe(202)
      await engine.runDue()
      expect(await deliveriesOf(api, webhook.id)).toMatchObject([
        { status: 'failed', lastError: { code: 'subject_unavailable' } },
      ])
    }
    expect(sent).toEqual([])
  })

  test('but its removal is sent by a manual retry with the record it had, whatever was erased meanwhile', async () => {
    const { api, webhook, engine, sent, answer } = await subscribed(['customer.deleted'])
    const { id } = await makeCustomer(api)
    answer(500)
    await api.delete(`/v1/customers/${id}`)
    await engine.runDue()
    await waitOut(engine)
    await shared().app.maintenance.run()
    answer(200)
    const [failed] = await deliveriesOf(api, webhook.id)
    expect(failed.status).toBe('failed')
    expect((await retry(api, failed)).status).toBe(202)
    await engine.runDue()
    expect(sent).toHaveLength(7)
    expect(new Set(sent.map(dataOf)).size).toBe(1)
    expect(JSON.parse(dataOf(sent[6]!))).toMatchObject({ object: 'removed', id, resource: 'customer' })
    expect(await deliveriesOf(api, webhook.id)).toMatchObject([{ status: 'succeeded', attemptCount: 7 }])
  })
})

describe('what would be sent', () => {
  const payload = (api: Api, { webhookId, id }: { webhookId: string; id: string }) =>
    api.get(`/v1/webhooks/${webhookId}/deliveries/${id}/payload`)

  test('is shown byte for byte: of what is pending as it is now, of what failed as a retry sends it', async () => {
    const { api, webhook, engine, sent, answer } = await subscribed(['customer.created'])
    answer(500)
    const { id } = await makeCustomer(api, { name: 'as created' })
    await api.patch(`/v1/customers/${id}`, { name: 'changed' })
    const [pending] = await deliveriesOf(api, webhook.id)
    const shown = await payload(api, pending)
    await engine.runDue()
    expect(shown.text).toBe(sent[0]?.body)
    await waitOut(engine)
    const [failed] = await deliveriesOf(api, webhook.id)
    const again = await payload(api, failed)
    await retry(api, failed)
    await engine.runDue()
    expect(again.text).toBe(sent.at(-1)?.body)
    expect(again.json.data.name).toBe('as created')
  })

  test('is the empty object of a ping, and the record of a removal', async () => {
    const { api, webhook, engine, sent } = await subscribed(['customer.deleted'])
    const { id } = await makeCustomer(api)
    await api.delete(`/v1/customers/${id}`)
    await api.post(`/v1/webhooks/${webhook.id}/ping`, {})
    const shown = await Promise.all((await deliveriesOf(api, webhook.id)).map((one) => payload(api, one)))
    await engine.runDue()
    expect(shown.map(({ text }) => text).sort()).toEqual(sent.map(({ body }) => body).sort())
  })

  test('is for those who may read it, and as long as it is there', async () => {
    const { api, webhook } = await subscribed(['customer.created'])
    const { id } = await makeCustomer(api)
    const [delivery] = await deliveriesOf(api, webhook.id)
    const other = await shared().newKey(api.organizationId, ['webhooks:read'])
    expect((await payload(other, delivery)).json).toMatchObject({
      code: 'insufficient_scope',
      detail: expect.stringContaining('customers:read'),
    })
    await api.delete(`/v1/customers/${id}`)
    expect((await payload(api, delivery)).json.code).toBe('not_found')
    expect((await payload(api, { webhookId: webhook.id, id: webhook.id })).status).toBe(404)
  })
})
