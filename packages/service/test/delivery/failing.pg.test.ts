/** When an endpoint is disabled, and what counts for and against it. */
import { describe, expect, test } from 'vitest'
import { at, testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { attemptsOf, day, hour, minute, retry } from '../../../testbed/hooks.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import type { Send } from '../../src/delivery/queue/attempt.ts'
import { scriptedEndpoint } from './endpoint.fixture.ts'

const clock = testClock()
const shared = sharedService({ clock })

const endpoint = () => scriptedEndpoint(shared(), clock)

describe('what waits for a later attempt', () => {
  test('is attempted now when that is asked for, and its schedule goes on from there', async () => {
    const { api, path, engine, answer, log, mine } = await endpoint()
    answer(500)
    await makeCustomer(api)
    await makeCustomer(api)
    await engine.runDue()
    expect(mine()).toHaveLength(2)
    const retried = await api.post(`${path}/retry-now`, undefined)
    expect(retried.status).toBe(200)
    expect(retried.json).toMatchObject({ object: 'retried_now', retried: 2, hasMore: false })
    answer(500, 204)
    await engine.runDue()
    expect(mine()).toHaveLength(4)
    const rows = await log()
    expect(rows.map(({ status }: { status: string }) => status).sort()).toEqual(['pending', 'succeeded'])
    expect(rows.find(({ status }: { status: string }) => status === 'pending')).toMatchObject({
      attemptCount: 2,
      maxAttempts: 6,
      nextAttemptAt: at(clock.now() + 5 * minute),
    })
    // Again there is one that waits, and then none.
    expect((await api.post(`${path}/retry-now`, undefined)).json.retried).toBe(1)
    expect((await api.post(`${path}/retry-now`, undefined)).json.retried).toBe(0)
    await engine.runDue()
    expect((await log()).map(({ status }: { status: string }) => status)).toEqual(['succeeded', 'succeeded'])
  })

  test('is not where nothing is sent, and not by who may not read what it tells of', async () => {
    const { api, path } = await endpoint()
    const writer = await shared().newKey(api.organizationId, ['webhooks:write'])
    expect((await writer.post(`${path}/retry-now`, undefined)).json.code).toBe('insufficient_scope')
    await api.patch(path, { status: 'disabled' })
    const refused = await api.post(`${path}/retry-now`, undefined)
    expect([refused.status, refused.json.code]).toEqual([409, 'webhook_disabled'])
    const missing = await api.post('/v1/webhooks/01980000-0000-7000-8000-000000000000/retry-now', undefined)
    expect(missing.status).toBe(404)
  })
})

describe('an attempt that fails', () => {
  test.each([
    [301, 'redirect'],
    [302, 'redirect'],
    [308, 'redirect'],
    [400, 'non_2xx'],
    [404, 'non_2xx'],
    [410, 'non_2xx'],
    [500, 'non_2xx'],
  ])('answered %i: %s, and tried again a minute later', async (status, code) => {
    const { api, engine, answer, read, log } = await endpoint()
    answer(status, 204)
    const began = clock.now()
    await makeCustomer(api)
    await engine.runDue()
    const [row] = await log()
    expect(row).toMatchObject({
      status: 'pending',
      attemptCount: 1,
      responseStatus: status,
      lastError: { code },
      durationMs: 5,
      lastAttemptAt: at(began),
      nextAttemptAt: at(began + minute),
      deliveredAt: null,
    })
    expect(await read()).toMatchObject({
      failureCount: 1,
      failingSince: at(began),
      disablesAt: at(began + 72 * hour),
      lastSuccessAt: null,
    })
    clock.advance(minute)
    await engine.runDue()
    expect(await log()).toMatchObject([
      {
        status: 'succeeded',
        attemptCount: 2,
        responseStatus: 204,
        lastError: null,
        nextAttemptAt: null,
        deliveredAt: at(began + minute),
      },
    ])
    expect(await read()).toMatchObject({
      failureCount: 0,
      failingSince: null,
      disablesAt: null,
      lastSuccessAt: at(began + minute),
    })
    const attempts = await attemptsOf(api, row)
    expect(attempts).toEqual([
      {
        number: 2,
        at: at(began + minute),
        responseStatus: 204,
        error: null,
        durationMs: 5,
        responseBody: 'answered 204',
      },
      {
        number: 1,
        at: at(began),
        responseStatus: status,
        error: { code, message: expect.stringContaining(String(status)) },
        durationMs: 5,
        responseBody: `answered ${status}`,
      },
    ])
  })

  test.each(['timeout', 'connection_failed', 'tls_error', 'resolver_failed'] as const)(
    '%s: nothing was answered, and it is tried again',
    async (code) => {
      const { api, read, log } = await endpoint()
      const send: Send = async () => ({ kind: 'failed', code, message: 'it went wrong', durationMs: 7 })
      await makeCustomer(api)
      await testEngine(shared(), clock, { send }).engine.runDue()
      const [row] = await log()
      expect(row).toMatchObject({
        status: 'pending',
        responseStatus: null,
        lastError: { code, message: 'it went wrong' },
        durationMs: 7,
      })
      expect(await read()).toMatchObject({ status: 'active', failureCount: 1 })
    },
  )

  test('address_not_public: disabled at once, without a retry, and what else is pending fails', async () => {
    const { api, path, read, log, engine, answer, mine } = await endpoint()
    answer(500)
    await makeCustomer(api)
    await engine.runDue()
    clock.advance(1)
    const send: Send = async () => ({
      kind: 'failed',
      code: 'address_not_public',
      message: 'loopback',
      durationMs: 0,
    })
    await makeCustomer(api)
    await testEngine(shared(), clock, { send }).engine.runDue()
    expect(await read()).toMatchObject({
      status: 'disabled',
      disabledReason: 'address_not_public',
      disabledAt: at(clock.now()),
    })
    expect(await log()).toMatchObject([
      { status: 'failed', attemptCount: 1, lastError: { code: 'address_not_public' } },
      { status: 'failed', attemptCount: 1, lastError: { code: 'endpoint_disabled' } },
    ])
    const [delivery] = await log()
    const refused = await retry(api, delivery)
    expect([refused.status, refused.json.code]).toEqual([409, 'webhook_disabled'])
    await makeCustomer(api)
    clock.advance(day)
    await engine.runDue()
    expect(mine()).toHaveLength(1)
    expect(await log()).toHaveLength(2)
    await api.patch(path, { status: 'active' })
    expect((await retry(api, delivery)).status).toBe(202)
  })
})

describe('72 hours', () => {
  test('begin anew with every success', async () => {
    const { api, engine, answer, read } = await endpoint()
    const round = async (status: number) => {
      answer(status)
      await makeCustomer(api)
      await engine.runDue()
    }
    await round(500)
    clock.advance(71 * hour)
    await round(200)
    expect(await read()).toMatchObject({ failureCount: 0, failingSince: null })
    clock.advance(hour)
    await round(500)
    const since = at(clock.now())
    clock.advance(72 * hour - 1)
    await round(500)
    expect(await read()).toMatchObject({ status: 'active', failingSince: since })
    clock.advance(1)
    expect(await read()).toMatchObject({ status: 'active' })
    await round(500)
    expect(await read()).toMatchObject({
      status: 'disabled',
      disabledReason: 'failing',
      failingSince: since,
      disablesAt: null,
      disabledAt: at(clock.now()),
    })
  })

  test('are announced: a warning at half of them, one at three quarters, and one when it is disabled', async () => {
    const { api, engine, answer, id } = await endpoint()
    const said = () =>
      shared()
        .logged.filter(({ level, webhookId }) => level === 'warn' && webhookId === id)
        .map(({ msg }) => msg)
    const about = 'an endpoint keeps failing and is about to be disabled'
    answer(500)
    const began = clock.now()
    const fail = async (hours: number) => {
      clock.set(began + hours * hour)
      await makeCustomer(api)
      await engine.runDue()
    }
    await fail(0)
    await fail(35)
    expect(said()).toEqual([])
    await fail(36)
    await fail(40)
    expect(said()).toEqual([about])
    expect(shared().logged.find(({ msg, webhookId }) => msg === about && webhookId === id)).toMatchObject({
      organizationId: api.organizationId,
      failingSince: at(began),
      disabledFrom: at(began + 72 * hour),
    })
    await fail(54)
    await fail(60)
    expect(said()).toEqual([about, about])
    await fail(72)
    expect(said()).toEqual([about, about, 'an endpoint was disabled'])
  })

  test.each([[[200]], [[500, 200]]])(
    'are over with a success in the round after them: %j',
    async (statuses) => {
      const { api, engine, answer, read } = await endpoint()
      answer(500)
      await makeCustomer(api)
      await engine.runDue()
      clock.advance(100 * hour)
      await makeCustomer(api)
      answer(...statuses)
      await engine.runDue()
      expect(await read()).toMatchObject({ status: 'active', failureCount: 0, failingSince: null })
    },
  )

  test('do not count pings, badly answered or well', async () => {
    const { api, engine, answer, read, log, ping } = await endpoint()
    const untouched = await read()
    answer(500)
    await ping()
    await engine.runDue()
    expect(await read()).toEqual(untouched)
    clock.advance(1)
    expect(await log()).toMatchObject([
      {
        eventType: 'ping',
        status: 'failed',
        attemptCount: 1,
        maxAttempts: 1,
        lastError: { code: 'non_2xx' },
      },
    ])
    const { id } = await makeCustomer(api)
    await engine.runDue()
    const failing = await read()
    expect(failing).toMatchObject({ status: 'active', failureCount: 1 })
    // Gone, so that nothing but pings is sent from here on.
    await api.delete(`/v1/customers/${id}`)
    clock.advance(72 * hour)
    for (const status of [500, 200]) {
      answer(status)
      clock.advance(minute)
      await ping()
      await engine.runDue()
      // Its event failed as well, when the customer was gone.
      expect(await read()).toEqual({ ...failing, missedSince: expect.any(String) })
    }
    expect((await log()).map(({ status, eventType }) => `${eventType} ${status}`)).toEqual([
      'ping succeeded',
      'ping failed',
      'customer.created failed',
      'ping failed',
    ])
  })
})

test('deliveries completed together are completed each by its own answer', async () => {
  const { api, engine, answer, log, read } = await endpoint()
  answer(200, 500, 200, 404, 200)
  for (let n = 0; n < 5; n++) await makeCustomer(api)
  await engine.runDue()
  const statuses = (await log()).map((row) => `${row.status} ${row.responseStatus}`).sort()
  expect(statuses).toEqual(['pending 404', 'pending 500', 'succeeded 200', 'succeeded 200', 'succeeded 200'])
  expect(await read()).toMatchObject({ failureCount: 0, failingSince: null })
})
