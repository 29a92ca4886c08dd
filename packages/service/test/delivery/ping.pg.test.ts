import { expect, test } from 'vitest'
import { at, testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { day, retry } from '../../../testbed/hooks.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import type { Send } from '../../src/delivery/queue/attempt.ts'
import { notPublic } from '../../src/delivery/send/resolver.ts'
import { scriptedEndpoint } from './endpoint.fixture.ts'

const clock = testClock()
const shared = sharedService({ clock })
const endpoint = () => scriptedEndpoint(shared(), clock)

test('a ping is an event of its own with an empty object, sent at once and once', async () => {
  const { api, id, engine, mine, ping, answer, log } = await endpoint()
  const asked = await ping()
  expect(asked.status).toBe(202)
  expect(await log()).toEqual([asked.json])
  expect(asked.json).toEqual({
    id: expect.any(String),
    object: 'delivery',
    organizationId: api.organizationId,
    webhookId: id,
    eventId: expect.any(String),
    eventType: 'ping',
    status: 'pending',
    attemptCount: 0,
    maxAttempts: 1,
    responseStatus: null,
    lastError: null,
    durationMs: null,
    lastAttemptAt: null,
    nextAttemptAt: at(clock.now()),
    deliveredAt: null,
    createdAt: at(clock.now()),
    updatedAt: at(clock.now()),
  })
  await engine.runDue()
  expect(mine().map(({ body }) => JSON.parse(body))).toEqual([
    {
      id: asked.json.eventId,
      type: 'ping',
      apiVersion: 'v1',
      createdAt: at(clock.now()),
      organizationId: api.organizationId,
      data: {},
    },
  ])
  answer(500)
  await ping()
  await engine.runDue()
  clock.advance(day)
  await engine.runDue()
  expect(mine()).toHaveLength(2)
})

test('a ping goes to a disabled endpoint too, and does not enable it', async () => {
  const { api, path, engine, mine, ping, read, log } = await endpoint()
  await makeCustomer(api)
  await api.patch(path, { status: 'disabled' })
  await ping()
  await engine.runDue()
  expect(mine().map(({ headers }) => headers['x-service-event-type'])).toEqual(['ping'])
  expect((await log()).map(({ status }) => status).sort()).toEqual(['failed', 'succeeded'])
  expect(await read()).toMatchObject({ status: 'disabled', disabledReason: 'manual', lastSuccessAt: null })
})

test('a ping to an address that is not public disables the endpoint, and counts nothing all the same', async () => {
  const { ping, read, log } = await endpoint()
  const message = notPublic
  const send: Send = async () => ({ kind: 'failed', code: 'address_not_public', message, durationMs: 0 })
  await ping()
  await testEngine(shared(), clock, { send }).engine.runDue()
  expect(await log()).toMatchObject([
    { status: 'failed', lastError: { code: 'address_not_public', message } },
  ])
  expect(await read()).toMatchObject({
    status: 'disabled',
    disabledReason: 'address_not_public',
    failureCount: 0,
    failingSince: null,
  })
})

test('a ping needs no scope but webhooks:write', async () => {
  const { api, path, engine, mine } = await endpoint()
  const key = await shared().newKey(api.organizationId, ['webhooks:write'])
  expect((await key.post(`${path}/ping`, undefined)).status).toBe(202)
  await engine.runDue()
  expect(mine()).toHaveLength(1)
})

test('a ping that failed keeps to one attempt when it is retried', async () => {
  const { api, engine, answer, ping, log, mine } = await endpoint()
  answer(500)
  await ping()
  await engine.runDue()
  const [failed] = await log()
  expect((await retry(api, failed)).json).toMatchObject({ status: 'pending', maxAttempts: 2 })
  await engine.runDue()
  expect(await log()).toMatchObject([{ status: 'failed', attemptCount: 2 }])
  expect(mine().map(({ body }) => JSON.parse(body).data)).toEqual([{}, {}])
})
