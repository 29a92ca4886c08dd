/** `/metrics`: what is counted, that it is right, and that nothing in it grows with the number of endpoints. */

import { Registry } from 'prom-client'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { deliveryJobsOn } from '../../../testbed/delivery-jobs.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { heldSend } from '../../../testbed/held-send.ts'
import { day, makeWebhook, minute, second } from '../../../testbed/hooks.ts'
import { plant } from '../../../testbed/planted.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { createDeliveryMetrics, showInFlight } from '../../src/metrics/database.ts'

/** The value of each series, by name and labels as they are written, without the process's. */
function seriesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [, name, labels = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      if (name === undefined) throw new Error(`no line of a metric: ${line}`)
      const own = labels.split(',').filter((label) => label !== '' && !label.startsWith('process='))
      return [own.length === 0 ? name : `${name}{${own.join()}}`, Number(value)]
    }),
  )
}

async function scrape(service: TestService) {
  const answer = await service.withToken(null).get('/metrics')
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return seriesOf(answer.text)
}

describe('the API', () => {
  test('times requests by route, whatever their path, and commits by their size', async () => {
    await using service = await testService()
    const { api } = service
    for (let n = 0; n < 3; n++) {
      const { id } = await makeCustomer(api)
      await api.get(`/v1/customers/${id}`)
    }
    await api.get('/v1/customers/nobody')
    await api.get('/nothing/here')
    await api.get('/nothing/there')
    const found = await scrape(service)
    const count = (method: string, route: string, status: string) =>
      found.get(
        `deskwire_http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`,
      )
    expect(count('POST', '/v1/customers', '2xx')).toBe(3)
    expect(count('GET', '/v1/customers/:id', '2xx')).toBe(3)
    expect(count('GET', '/v1/customers/:id', '4xx')).toBe(1)
    expect(count('GET', 'none', '4xx')).toBe(2)
    expect(found.get('deskwire_stream_commit_duration_seconds_count')).toBe(3)
    expect(found.get('deskwire_stream_commit_group_size_sum')).toBe(3)
    expect(found.get('process_resident_memory_bytes')).toBeGreaterThan(1e6)
  })

  test('is asked without what of Node may end the process', async () => {
    await using service = await testService()
    const asked: string[] = []
    for (const name of ['_getActiveHandles', '_getActiveRequests'] as const) {
      const spy = vi.spyOn(process as unknown as Record<typeof name, () => object[]>, name)
      spy.mockImplementation(() => {
        asked.push(name)
        return []
      })
      onTestFinished(() => spy.mockRestore())
    }
    const found = await scrape(service)
    expect(found.get('nodejs_active_resources_total')).toBeGreaterThan(0)
    expect(asked).toEqual([])
  })

  test('shows where deliveries stand, and asks the database once in a while only', async () => {
    const clock = testClock()
    await using service = await testService({ clock })
    const { api } = service
    const off = await makeWebhook(api)
    await api.patch(`/v1/webhooks/${off.id}`, { status: 'disabled' })
    await makeWebhook(api)
    const held = heldSend()
    const { engine } = testEngine(service, clock, { send: held.send })
    // The one that was disabled is looked at.
    await engine.runDue()
    const standing = async () => {
      const found = await scrape(service)
      return Object.fromEntries([...found].filter(([name]) => /^deskwire_(deliver\w+|webhooks)_/.test(name)))
    }
    const nothing = {
      deskwire_deliveries_due: 0,
      deskwire_delivery_oldest_due_seconds: 0,
      deskwire_delivery_queues_due: 0,
      deskwire_delivery_queues_leased: 0,
      deskwire_webhooks_active: 1,
      deskwire_webhooks_disabled: 1,
    }
    expect(await standing()).toEqual(nothing)
    await makeCustomer(api)
    await makeCustomer(api)
    clock.advance(10 * second)
    expect(await standing()).toEqual(nothing)
    clock.advance(5 * second)
    const due = { ...nothing, deskwire_deliveries_due: 2, deskwire_delivery_queues_due: 1 }
    expect(await standing()).toEqual({ ...due, deskwire_delivery_oldest_due_seconds: expect.closeTo(15, 1) })
    const running = engine.runDue()
    await held.made(2)
    clock.advance(minute)
    expect(await standing()).toEqual({
      ...due,
      deskwire_delivery_queues_leased: 1,
      deskwire_delivery_oldest_due_seconds: expect.closeTo(75, 1),
    })
    for (const attempt of held.inFlight()) attempt.answer(200)
    await running
    // A clock that was set back makes no answer good for ever.
    clock.advance(-60 * minute)
    expect(await standing()).toEqual(nothing)
  })

  test('leaves out what was due at an endpoint that was deleted', async () => {
    const clock = testClock()
    await using service = await testService({ clock })
    const [deleted] = [await makeWebhook(service.api), await makeWebhook(service.api)]
    await makeCustomer(service.api)
    const due = async () => {
      clock.advance(minute)
      return (await scrape(service)).get('deskwire_deliveries_due')
    }
    expect(await due()).toBe(2)
    expect((await service.api.delete(`/v1/webhooks/${deleted.id}`)).status).toBe(204)
    expect(await due()).toBe(1)
  })
})

describe('a worker', () => {
  test('counts attempts by outcome, how long they took, how long changes waited, and what is under way', async () => {
    const clock = testClock()
    await using service = await testService({ clock })
    const register = new Registry()
    const held = heldSend()
    const observer = createDeliveryMetrics(register)
    showInFlight(register, () => engine.inFlight)
    const { engine } = testEngine(service, clock, { send: held.send, observer })
    await makeWebhook(service.api)
    for (let n = 0; n < 3; n++) await makeCustomer(service.api)
    clock.advance(2 * second)
    const running = engine.runDue()
    await held.made(3)
    const read = async () => seriesOf(await register.metrics())
    expect((await read()).get('deskwire_delivery_attempts_in_flight')).toBe(3)
    held.attempts[0]?.answer(200)
    held.attempts[1]?.answer(500)
    held.attempts[2]?.fail('timeout')
    await running
    clock.advance(minute)
    const again = engine.runDue()
    await held.made(5)
    held.attempts[3]?.fail('address_not_public')
    held.attempts[4]?.answer(200)
    await again
    const found = await read()
    const outcomes = [...found].filter(([name]) => name.startsWith('deskwire_delivery_attempts_total'))
    expect(Object.fromEntries(outcomes)).toEqual({
      'deskwire_delivery_attempts_total{outcome="succeeded"}': 2,
      'deskwire_delivery_attempts_total{outcome="non_2xx"}': 1,
      'deskwire_delivery_attempts_total{outcome="timeout"}': 1,
      'deskwire_delivery_attempts_total{outcome="address_not_public"}': 1,
    })
    expect(found.get('deskwire_delivery_attempt_duration_seconds_count{result="succeeded"}')).toBe(2)
    expect(found.get('deskwire_delivery_attempt_duration_seconds_count{result="failed"}')).toBe(3)
    // Of first attempts alone.
    expect(found.get('deskwire_delivery_first_attempt_delay_seconds_count')).toBe(3)
    expect(found.get('deskwire_delivery_first_attempt_delay_seconds_sum')).toBeCloseTo(6, 1)
    expect(found.get('deskwire_webhooks_disabled_total{reason="address_not_public"}')).toBe(1)
    expect(found.get('deskwire_delivery_attempts_in_flight')).toBe(0)
  })

  test('measures what a recovery makes, or begins anew before any attempt, from then and not from its event', async () => {
    const clock = testClock()
    await using service = await testService({ clock })
    const { api } = service
    const register = new Registry()
    const observer = createDeliveryMetrics(register)
    const { engine, sent } = testEngine(service, clock, { observer })
    const since = clock.now()
    const { id } = await makeWebhook(api)
    const status = (status: string) => api.patch(`/v1/webhooks/${id}`, { status })
    await makeCustomer(api)
    // Pending when the endpoint is disabled, it fails without an attempt; the next one is not made at all.
    await status('disabled')
    await engine.runDue()
    await makeCustomer(api)
    clock.advance(20 * day)
    await status('active')
    const answer = await api.post(`/v1/webhooks/${id}/recover`, { since: new Date(since).toISOString() })
    expect(answer.status).toBe(202)
    await deliveryJobsOn(service, clock).runDue()
    const recovery = await api.get(`/v1/webhooks/${id}/recoveries/${answer.json.id}`)
    expect(recovery.json).toMatchObject({ retried: 1, created: 1 })
    clock.advance(3 * second)
    await engine.runDue()
    expect(sent).toHaveLength(2)
    const found = seriesOf(await register.metrics())
    expect(found.get('deskwire_delivery_first_attempt_delay_seconds_count')).toBe(2)
    expect(found.get('deskwire_delivery_first_attempt_delay_seconds_sum')).toBeCloseTo(6, 1)
  })

  test('has as many series for a hundred endpoints as for one', async () => {
    const clock = testClock()
    await using service = await testService({ clock })
    const register = new Registry()
    const observer = createDeliveryMetrics(register)
    const { engine } = testEngine(service, clock, { observer })
    const names = async () => [...seriesOf(await register.metrics()).keys()].sort()
    await makeWebhook(service.api)
    await makeCustomer(service.api)
    await engine.runDue()
    const before = await names()
    const urls = Array.from({ length: 100 }, (_, n) => `https://127.0.0.1:1/${n}`)
    const { organizationId } = await service.newOrganization()
    await plant(service.database.pool, { organizationId, urls, backlog: 2, now: clock.now() })
    await engine.runDue()
    expect(await names()).toEqual(before)
    expect((await names()).join()).not.toContain(organizationId)
  })
})
