import { expect, expectTypeOf, test } from 'vitest'
import { createClient, type Delivery, type Recovery, type StatsPoint, type Webhook } from '../src/index.ts'
import { idOf, timeOf } from './rows.ts'
import { scripted } from './scripted.ts'

const apiKey = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'
const secret = `whsec_${'a'.repeat(43)}=`

const webhook: Webhook = {
  id: idOf(1),
  object: 'webhook',
  organizationId: idOf(0),
  url: 'https://example.com/hooks',
  description: null,
  events: ['ticket.created'],
  signatures: ['service'],
  status: 'active',
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  disablesAt: null,
  failureCount: 0,
  lastSuccessAt: null,
  missedSince: null,
  previousSecretExpiresAt: null,
  apiKeyId: idOf(3),
  consoleLinkId: null,
  createdAt: timeOf(0),
  updatedAt: timeOf(0),
}

const delivery: Delivery = {
  id: idOf(2),
  object: 'delivery',
  organizationId: idOf(0),
  webhookId: webhook.id,
  eventId: idOf(4),
  eventType: 'ticket.created',
  status: 'failed',
  attemptCount: 6,
  maxAttempts: 6,
  responseStatus: 503,
  lastError: { code: 'non_2xx', message: 'answered 503' },
  durationMs: 12,
  lastAttemptAt: timeOf(5),
  nextAttemptAt: null,
  deliveredAt: null,
  createdAt: timeOf(0),
  updatedAt: timeOf(5),
}

const recovery: Recovery = {
  id: idOf(5),
  object: 'recovery',
  webhookId: webhook.id,
  since: timeOf(1),
  until: timeOf(9),
  status: 'running',
  retried: 2,
  created: 1,
  createdAt: timeOf(9),
  finishedAt: null,
}

const point: StatsPoint = {
  at: timeOf(0),
  succeeded: 3,
  failed: { timeout: 1 },
  p50: 20,
  p95: 10_000,
  changes: { ticket: 4 },
}

const pagination = { total: 1, limit: 20, offset: 0, hasMore: false }

test('each call has its method, address and body, and answers what came', async () => {
  const { baseUrl, seen } = await scripted(
    { status: 201, body: { ...webhook, secret } },
    { status: 200, body: webhook },
    { status: 200, body: { data: [webhook], pagination } },
    { status: 200, body: webhook },
    { status: 200, body: { ...webhook, secret } },
    { status: 204 },
    { status: 202, body: delivery },
    { status: 200, body: { data: [delivery], pagination: { ...pagination, totalIsExact: false } } },
    { status: 200, body: { data: [delivery], pagination } },
    { status: 200, body: delivery },
    { status: 200, body: { data: [], pagination } },
    { status: 200, body: { type: 'ticket.created' } },
    { status: 202, body: delivery },
    { status: 200, body: { data: [point] } },
    { status: 200, body: { data: [point] } },
    { status: 202, body: recovery },
    { status: 200, body: recovery },
    { status: 200, body: { data: [recovery], pagination } },
    { status: 204 },
  )
  const { deliveries, recoveries, webhooks } = createClient({ baseUrl, apiKey, retries: 0 })
  const { id } = webhook
  const input = { url: webhook.url, events: ['ticket.created' as const] }
  expect(await webhooks.create(input, { idempotencyKey: 'once' })).toEqual({ ...webhook, secret })
  expect(await webhooks.get(id)).toEqual(webhook)
  expect((await webhooks.list({ status: 'active', limit: 5 }).page()).data).toEqual([webhook])
  expect(await webhooks.update(id, { status: 'active' })).toEqual(webhook)
  expect((await webhooks.rotateSecret(id)).secret).toBe(secret)
  expect(await webhooks.deletePreviousSecret(id)).toBeUndefined()
  expect(await webhooks.ping(id)).toEqual(delivery)
  const page = await webhooks.deliveries(id, { status: 'failed', eventType: 'ticket.created' }).page()
  expect(page).toEqual({ data: [delivery], pagination: { ...pagination, totalIsExact: false } })
  expect((await deliveries.list({ webhookId: id, status: 'failed' }).page()).data).toEqual([delivery])
  expect(await deliveries.get(id, delivery.id)).toEqual(delivery)
  expect((await deliveries.attempts(id, delivery.id, { limit: 1 }).page()).data).toEqual([])
  expect(await deliveries.payload(id, delivery.id)).toEqual({ type: 'ticket.created' })
  expect(await deliveries.retry(id, delivery.id)).toEqual(delivery)
  expect(await webhooks.stats(id, { step: '1h' })).toEqual({ data: [point] })
  expect(await deliveries.stats({ from: timeOf(1), to: timeOf(9), step: '1d' })).toEqual({ data: [point] })
  const window = { since: timeOf(1), until: timeOf(9) }
  expect(await webhooks.recover(id, window)).toEqual(recovery)
  expect(await recoveries.get(id, recovery.id)).toEqual(recovery)
  expect((await webhooks.recoveries(id, { offset: 3 }).page()).data).toEqual([recovery])
  expect(await webhooks.delete(id)).toBeUndefined()

  const path = `/v1/webhooks/${id}`
  expect(seen.map(({ method, path, query, body }) => [method, path, query, body])).toEqual([
    ['POST', '/v1/webhooks', {}, input],
    ['GET', path, {}, undefined],
    ['GET', '/v1/webhooks', { status: 'active', limit: '5' }, undefined],
    ['PATCH', path, {}, { status: 'active' }],
    ['POST', `${path}/rotate-secret`, {}, undefined],
    ['DELETE', `${path}/previous-secret`, {}, undefined],
    ['POST', `${path}/ping`, {}, undefined],
    ['GET', `${path}/deliveries`, { status: 'failed', eventType: 'ticket.created' }, undefined],
    ['GET', '/v1/deliveries', { webhookId: id, status: 'failed' }, undefined],
    ['GET', `${path}/deliveries/${delivery.id}`, {}, undefined],
    ['GET', `${path}/deliveries/${delivery.id}/attempts`, { limit: '1' }, undefined],
    ['GET', `${path}/deliveries/${delivery.id}/payload`, {}, undefined],
    ['POST', `${path}/deliveries/${delivery.id}/retry`, {}, undefined],
    ['GET', `${path}/stats`, { step: '1h' }, undefined],
    ['GET', '/v1/stats', { from: timeOf(1), to: timeOf(9), step: '1d' }, undefined],
    ['POST', `${path}/recover`, {}, window],
    ['GET', `${path}/recoveries/${recovery.id}`, {}, undefined],
    ['GET', `${path}/recoveries`, { offset: '3' }, undefined],
    ['DELETE', path, {}, undefined],
  ])
  const keys = seen.map(({ headers }) => headers['idempotency-key'])
  expect(keys[0]).toBe('once')
  // Every POST is safe to repeat, and nothing else carries a key.
  const posts = seen.flatMap(({ method }, n) => (method === 'POST' ? [keys[n]] : []))
  expect(new Set(posts).size).toBe(5)
  expect(keys.filter((key) => key !== undefined)).toEqual(posts)
})

test('ids cannot leave their place in the address', async () => {
  const { baseUrl, seen } = await scripted({ status: 404, text: '' })
  const { deliveries, recoveries, webhooks } = createClient({ baseUrl, apiKey, retries: 0 })
  for (const id of ['', '.', '..']) {
    await expect(webhooks.get(id)).rejects.toThrow(TypeError)
    await expect(deliveries.retry(webhook.id, id)).rejects.toThrow(TypeError)
    await expect(recoveries.get(webhook.id, id)).rejects.toThrow(TypeError)
  }
  expect(seen).toEqual([])
})

test('what cannot be done does not compile', () => {
  const client = createClient({ baseUrl: 'http://127.0.0.1/v1', apiKey })
  expectTypeOf(client.customers).toHaveProperty('delete')
  // @ts-expect-error a secret is shown by creation and rotation alone
  const read = async () => (await client.webhooks.get(webhook.id)).secret
  expect(read).toBeTypeOf('function')
})
