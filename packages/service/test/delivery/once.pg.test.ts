/** Idempotency-Key on the POSTs whose answers hold secrets, and of deliveries: one change, one answer, secrets included. */

import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { deliveriesOf, hour, makeWebhook, readWebhook, receiverUrl, retry } from '../../../testbed/hooks.ts'
import { makeKey } from '../../../testbed/keys.ts'
import { lockRow, waitingChanges } from '../../../testbed/locks.ts'
import type { Answer, Api, TestService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { createSecretBox } from '../../src/delivery/endpoint/secrets.ts'

const clock = testClock()
const shared = sharedService({ clock })
const once = () => ({ 'idempotency-key': randomUUID() })
const body = { url: receiverUrl, events: ['customer.created'] }
const keyBody = { name: 'Once', scopes: ['customers:read'] }

/** An endpoint with a delivery that failed: five retries later it is over. */
async function failedDelivery(service: TestService, api: Api) {
  const { engine, answer } = testEngine(service, clock)
  answer(500)
  const webhook = await makeWebhook(api)
  await makeCustomer(api)
  await engine.runDue()
  for (let n = 0; n < 5; n++) {
    clock.advance(8 * hour)
    await engine.runDue()
  }
  const [delivery] = await deliveriesOf(api, webhook.id)
  expect(delivery.status).toBe('failed')
  return { webhook, delivery }
}

/** Each operation: an organization made ready for it, and a function that asks for it once. */
const operations: readonly (readonly [
  title: string,
  prepare: (service: TestService, api: Api) => Promise<(headers: Record<string, string>) => Promise<Answer>>,
])[] = [
  ['create', async (_service, api) => (headers) => api.post('/v1/webhooks', body, headers)],
  [
    'create the fiftieth',
    async (_service, api) => {
      for (let n = 0; n < 49; n++) await makeWebhook(api)
      return (headers) => api.post('/v1/webhooks', body, headers)
    },
  ],
  [
    'rotate-secret',
    async (_service, api) => {
      const { id } = await makeWebhook(api)
      return (headers) => api.post(`/v1/webhooks/${id}/rotate-secret`, undefined, headers)
    },
  ],
  [
    'rotate-secret, to the twentieth that signs',
    async (_service, api) => {
      const { id } = await makeWebhook(api)
      const rotate = (headers = {}) => api.post(`/v1/webhooks/${id}/rotate-secret`, undefined, headers)
      for (let n = 0; n < 18; n++) expect((await rotate()).status).toBe(200)
      return rotate
    },
  ],
  [
    'ping',
    async (_service, api) => {
      const { id } = await makeWebhook(api)
      return (headers) => api.post(`/v1/webhooks/${id}/ping`, undefined, headers)
    },
  ],
  [
    'retry',
    async (service, api) => {
      const { delivery } = await failedDelivery(service, api)
      return (headers) => retry(api, delivery, headers)
    },
  ],
  ['create a key', async (_service, api) => (headers) => api.post('/v1/api-keys', keyBody, headers)],
  [
    'rotate a key',
    async (_service, api) => {
      const { id } = await makeKey(api)
      return (headers) => api.post(`/v1/api-keys/${id}/rotate`, undefined, headers)
    },
  ],
]

/** What the organization holds of endpoints: how many rows of each. */
async function held(service: TestService, { organizationId }: Api) {
  const { rows } = await service.database.pool.query(
    `select (select count(*)::int from webhooks where organization_id = $1) as webhooks,
       (select count(*)::int from webhook_secrets where organization_id = $1) as secrets,
       (select count(*)::int from api_key_tokens where organization_id = $1) as tokens,
      (select count(*)::int from deliveries where organization_id = $1) as deliveries,
       (select count(*)::int from idempotency_keys where organization_id = $1) as keys,
       (select coalesce(sum(max_attempts), 0)::int from deliveries where organization_id = $1) as attempts`,
    [organizationId],
  )
  return rows[0]
}

describe.each(operations)('%s', (_title, prepare) => {
  test('asked again under its key, it answers the very same bytes and does nothing', async () => {
    const api = await shared().newOrganization()
    const ask = await prepare(shared(), api)
    const headers = once()
    const first = await ask(headers)
    expect([200, 201, 202]).toContain(first.status)
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    const before = await held(shared(), api)
    const second = await ask(headers)
    expect(second.text).toBe(first.text)
    expect(second.status).toBe(first.status)
    expect(second.headers.get('location')).toBe(first.headers.get('location'))
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(await held(shared(), api)).toEqual(before)
  })

  test('twins that come at once are one change and one answer', async () => {
    const api = await shared().newOrganization()
    const ask = await prepare(shared(), api)
    const headers = once()
    // All of them have looked for the key, and decided, before the first can commit.
    const lock = await lockRow(shared().database, 'organization_clocks', api)
    const asked = [ask(headers), ask(headers), ask(headers)]
    await waitingChanges(shared(), 3)
    await lock.release()
    const answers = await Promise.all(asked)
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect([200, 201, 202]).toContain(answers[0]?.status)
    expect(answers.filter(({ headers }) => headers.has('idempotent-replayed'))).toHaveLength(2)
  })
})

test('a retry asked again when it has begun, or has arrived, gets its first answer; without the key it is refused', async () => {
  const api = await shared().newOrganization()
  const { delivery } = await failedDelivery(shared(), api)
  const headers = once()
  const first = await retry(api, delivery, headers)
  expect(first.json).toMatchObject({ status: 'pending', attemptCount: 6, maxAttempts: 12 })
  const without = await retry(api, delivery)
  expect([without.status, without.json.code]).toEqual([409, 'delivery_pending'])
  await testEngine(shared(), clock).engine.runDue()
  const completed = await retry(api, delivery)
  expect([completed.status, completed.json.code]).toEqual([409, 'delivery_succeeded'])
  expect((await retry(api, delivery, headers)).text).toBe(first.text)
  const { rows } = await shared().database.pool.query(
    'select sealed is not null as sealed, body from idempotency_keys where organization_id = $1',
    [api.organizationId],
  )
  expect(rows).toEqual([{ sealed: true, body: null }])
})

test('what is kept is encrypted: neither the secret nor its hexadecimal is in the database', async () => {
  const api = await shared().newOrganization()
  const created = await makeWebhook(api, {}, once())
  const rotated = (await api.post(`/v1/webhooks/${created.id}/rotate-secret`, undefined, once())).json
  const { rows } = await shared().database.pool.query(
    `select sealed, body, subject_id from idempotency_keys where organization_id = $1 order by path`,
    [api.organizationId],
  )
  const owner = { organizationId: api.organizationId, webhookId: created.id }
  const box = createSecretBox(deliverySettings.encryptionKey)
  expect(rows.map(({ body }) => body)).toEqual([null, null])
  expect(rows.map(({ sealed }) => JSON.parse(box.open(sealed, owner)).secret)).toEqual([
    created.secret,
    rotated.secret,
  ])
  const { rows: kept } = await shared().database.pool.query(
    'select sealed from webhook_secrets where organization_id = $1 order by created_at, id',
    [api.organizationId],
  )
  expect(kept.map(({ sealed }) => box.open(sealed, owner)).sort()).toEqual(
    [created.secret, rotated.secret].sort(),
  )
  for (const secret of [created.secret, rotated.secret])
    for (const { sealed } of [...rows, ...kept])
      for (const text of [secret, secret.slice(6, 30), Buffer.from(secret.slice(6), 'base64url')])
        expect((sealed as Buffer).includes(text)).toBe(false)
})

test('a day later the key is free again', async () => {
  const api = await shared().newOrganization()
  const headers = once()
  const { id } = await makeWebhook(api)
  const path = `/v1/webhooks/${id}/rotate-secret`
  const first = (await api.post(path, undefined, headers)).json
  clock.advance(24 * hour - 1)
  expect((await api.post(path, undefined, headers)).json.secret).toBe(first.secret)
  clock.advance(1)
  const second = (await api.post(path, undefined, headers)).json
  expect(second.secret).not.toBe(first.secret)
  expect((await readWebhook(api, id)).updatedAt).toBe(second.updatedAt)
})
