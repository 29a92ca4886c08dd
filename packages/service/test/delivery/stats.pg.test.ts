/** What is counted of deliveries and changes: each once, in its step, whatever the step, and as long as the log goes back. */
import { describe, expect, test } from 'vitest'
import { at, testClock } from '../../../testbed/clock.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { day, deliveriesOf, hour, makeWebhook, minute, readWebhook } from '../../../testbed/hooks.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import type { Send } from '../../src/delivery/queue/attempt.ts'

const clock = testClock()
const shared = sharedService({ clock })
const begin = (step: number, time = clock.now()) => Math.floor(time / step) * step
const quiet = { succeeded: 0, failed: {}, p50: null, p95: null, changes: {} }

interface Point {
  readonly at: string
  readonly succeeded: number
  readonly failed: Record<string, number>
  readonly p50: number | null
  readonly p95: number | null
  readonly changes: Record<string, number>
}

async function stats(api: Api, query = '', webhookId?: string): Promise<Point[]> {
  const path = webhookId === undefined ? '/v1/stats' : `/v1/webhooks/${webhookId}/stats`
  const answer = await api.get(`${path}${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.json.data
}

const busy = (points: readonly Point[]) =>
  points.filter(
    ({ succeeded, failed, changes }) => succeeded > 0 || Object.keys({ ...failed, ...changes }).length > 0,
  )

/** To the beginning of the next step, and a little. */
const toNext = (step: number, and = 1_000) => clock.advance(begin(step) + step + and - clock.now())

test('an attempt counts by what became of it in the minute it was settled in, for its endpoint and for all', async () => {
  const api = await shared().newOrganization()
  const { engine, answer } = testEngine(shared(), clock)
  toNext(minute)
  const first = await makeWebhook(api)
  const second = await makeWebhook(api, { events: ['customer.created', 'ticket.created'] })
  answer(200, 500)
  const { id } = await makeCustomer(api)
  await engine.runDue()
  const began = begin(minute)
  clock.advance(minute)
  answer(302)
  await engine.runDue()
  answer(200)
  clock.advance(minute)
  await makeTicket(api, { customerId: id })
  await api.post(`/v1/webhooks/${first.id}/ping`, undefined)
  await engine.runDue()

  const range = `?from=${at(began - 1)}&to=${at(began + 3 * minute)}`
  const points = await stats(api, range)
  expect(points).toEqual([
    { at: at(began - minute), ...quiet },
    { at: at(began), succeeded: 1, failed: { non_2xx: 1 }, p50: 6, p95: 7, changes: { customer: 1 } },
    { at: at(began + minute), ...quiet, failed: { redirect: 1 }, p50: 7, p95: 7 },
    { at: at(began + 2 * minute), ...quiet, succeeded: 2, p50: 6, p95: 7, changes: { ticket: 1 } },
  ])
  const { total } = (await api.get(`/v1/stats${range}`)).json
  expect(total).toEqual({ succeeded: 3, failed: { non_2xx: 1, redirect: 1 }, p50: 6, p95: 7 })
  const each = await Promise.all([first.id, second.id].map((webhookId) => stats(api, range, webhookId)))
  for (const [n, point] of points.entries()) {
    const [one, other] = each.map((points) => points[n] as Point)
    expect((one?.succeeded ?? 0) + (other?.succeeded ?? 0)).toBe(point.succeeded)
    expect({ ...one?.failed, ...other?.failed }).toEqual(point.failed)
  }
  // Of what it is subscribed to.
  expect(each.map((points) => points.flatMap(({ changes }) => Object.keys(changes)))).toEqual([
    ['customer'],
    ['customer', 'ticket'],
  ])
  // The same by the hour and by the day, though neither is over.
  for (const step of ['1h', '1d']) {
    const [point] = busy(await stats(api, `?step=${step}&from=${at(began)}&to=${at(clock.now() + minute)}`))
    expect(point).toMatchObject({
      succeeded: 3,
      failed: { non_2xx: 1, redirect: 1 },
      changes: { customer: 1, ticket: 1 },
    })
  }
  const other = await shared().newOrganization()
  expect(busy(await stats(other, range))).toEqual([])
})

test('whatever the step, the same deliveries are counted, each once; also when the clock is set back', async () => {
  const api = await shared().newOrganization()
  const { engine, answer } = testEngine(shared(), clock)
  toNext(day)
  const { id } = await makeWebhook(api)
  const began = clock.now()
  const settled: number[] = []
  // Minutes apart, hours, days; back into a minute, an hour and a day that were over; and on from there.
  const moves = [0, 1, 3, 59, 61, 5, 24 * 60, 90, 0, -2, 4, -130, 3, 200, -26 * 60, 7, 50, 30 * 60, 1]
  let time = began
  for (const move of moves) {
    time += move * minute
    clock.advance(time - clock.now())
    answer(200)
    await makeCustomer(api)
    await engine.runDue()
    settled.push(time)
  }
  toNext(day)
  for (const [step, length] of [
    ['1m', minute],
    ['1h', hour],
    ['1d', day],
  ] as const) {
    const found = new Map<number, number>()
    // A span of minutes at a time.
    for (let from = begin(length, began); from < clock.now(); from += 1_500 * length) {
      const to = Math.min(from + 1_500 * length, clock.now())
      for (const point of busy(await stats(api, `?step=${step}&from=${at(from)}&to=${at(to)}`, id)))
        if (point.succeeded > 0) found.set(Date.parse(point.at), point.succeeded)
    }
    const expected = new Map<number, number>()
    for (const time of settled)
      expected.set(begin(length, time), (expected.get(begin(length, time)) ?? 0) + 1)
    expect(new Map([...found].sort()), step).toEqual(new Map([...expected].sort()))
  }
})

test('what fails because its endpoint is disabled is counted as that', async () => {
  const api = await shared().newOrganization()
  const { engine, answer } = testEngine(shared(), clock)
  toNext(minute)
  const { id } = await makeWebhook(api)
  answer(500)
  for (let n = 0; n < 3; n++) await makeCustomer(api)
  await engine.runDue()
  await api.patch(`/v1/webhooks/${id}`, { status: 'disabled' })
  await engine.runDue()
  expect(await deliveriesOf(api, id, '&status=failed')).toHaveLength(3)
  const [point] = busy(await stats(api, '', id))
  expect(point).toMatchObject({ succeeded: 0, failed: { non_2xx: 3, endpoint_disabled: 3 } })
  expect(await readWebhook(api, id)).toMatchObject({ failureCount: 3 })
})

test('attempts that end at their timeout show a p95 of the timeout', async () => {
  const api = await shared().newOrganization()
  const { answerTimeout } = deliverySettings.schedule
  const send: Send = async () => ({
    kind: 'failed',
    code: 'timeout',
    message: 'no answer',
    durationMs: answerTimeout,
  })
  const { engine } = testEngine(shared(), clock, { send })
  toNext(minute)
  await makeWebhook(api)
  for (let n = 0; n < 20; n++) await makeCustomer(api)
  await engine.runDue()
  for (const step of ['1m', '1h', '1d']) {
    const [point] = busy(await stats(api, `?step=${step}`))
    expect(point, step).toMatchObject({ failed: { timeout: 20 }, p50: answerTimeout, p95: answerTimeout })
  }
})

test('what is counted in no week that is kept goes by organization', async () => {
  const { database, app } = shared()
  const organizations = [await shared().newOrganization(), await shared().newOrganization()]
  const ids = organizations.map(({ organizationId }) => organizationId)
  await database.pool.query(
    `insert into delivery_stats (organization_id, webhook_id, minutes, at, places, counts)
       select o, o, m, '2001-01-01T00:00:00Z', '{1}', '{1}' from unnest($1::uuid[]) o, unnest('{1,60}'::smallint[]) m`,
    [ids],
  )
  const left = async () =>
    (
      await database.pool.query('select 1 from delivery_stats_default d where d.organization_id = any($1)', [
        ids,
      ])
    ).rowCount
  expect(await left()).toBe(4)
  await app.maintenance.run()
  expect(await left()).toBe(0)
})

test('it goes as far back as the log, and goes with its endpoint', async () => {
  const { database, app } = shared()
  const api = await shared().newOrganization()
  const { engine, answer } = testEngine(shared(), clock)
  answer(200)
  toNext(day)
  const { id } = await makeWebhook(api)
  const stored = async () => {
    const { rows } = await database.pool.query(
      'select s.minutes from delivery_stats s where s.webhook_id = $1 order by s.minutes',
      [id],
    )
    return rows.map(({ minutes }) => minutes)
  }
  const deliver = async () => {
    await makeCustomer(api)
    await engine.runDue()
  }
  await deliver()
  const first = begin(day)
  await app.maintenance.run()
  clock.advance(20 * day)
  await app.maintenance.run()
  await deliver()
  // The last is counted in a row that is still to be folded.
  expect(await stored()).toEqual([0, 1, 60])
  clock.advance(10 * day - 1_000)
  const days = await stats(api, `?step=1d&from=${at(first - 5 * day)}`, id)
  expect([days[0]?.at, days.length]).toEqual([at(first), 31])
  expect(busy(days).map((point) => [point.at, point.succeeded])).toEqual([
    [at(first), 1],
    [at(first + 20 * day), 1],
  ])
  clock.advance(day)
  expect((await stats(api, `?step=1d&from=${at(first)}`, id))[0]?.at).toBe(at(first + day))
  clock.advance(7 * day)
  await app.maintenance.run()
  expect(await stored()).toEqual([0])
  await deliver()
  expect(await stored()).toEqual([0, 1, 60])
  await api.delete(`/v1/webhooks/${id}`)
  await app.maintenance.run()
  expect(await stored()).toEqual([])
})

describe('what is asked for', () => {
  test.each([
    ['step=2m', 'step'],
    ['from=yesterday', 'from'],
    ['to=', 'to'],
    ['limit=5', 'limit'],
    ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
  ])('%s is 400', async (query, named) => {
    const api = await shared().newOrganization()
    const { id } = await makeWebhook(api)
    for (const path of ['/v1/stats', `/v1/webhooks/${id}/stats`]) {
      const answer = await api.get(`${path}?${query}`)
      expect([answer.status, answer.json.code]).toEqual([400, 'invalid_parameter'])
      expect(answer.json.detail).toContain(named)
    }
  })

  test('is an hour unless told; 1,500 steps at most, none of them before the log or after now', async () => {
    const api = await shared().newOrganization()
    const now = clock.now()
    const steps = await stats(api)
    expect([steps[0]?.at, steps.at(-1)?.at, steps.length]).toEqual([
      at(begin(minute) - 59 * minute),
      at(begin(minute)),
      60,
    ])
    expect(await stats(api, `?from=${at(begin(minute) - 1_499 * minute)}`)).toHaveLength(1_500)
    const many = await api.get(`/v1/stats?from=${at(begin(minute) - 1_500 * minute)}`)
    expect([many.status, many.json.code]).toEqual([400, 'invalid_parameter'])
    expect(many.json.detail).toContain('1501 steps of 1m')
    expect(await stats(api, `?to=${at(now + day)}&from=${at(now + hour)}`)).toEqual([])
    expect(await stats(api, '?to=2020-01-01T00:00:00Z')).toEqual([])
    expect(await stats(api, '?step=1d&from=2020-01-01T00:00:00Z')).toHaveLength(31)
  })

  test('needs webhooks:read, and changes need the scope of their kind', async () => {
    const api = await shared().newOrganization()
    const { id: customerId } = await makeCustomer(api)
    await makeTicket(api, { customerId })
    const key = async (...scopes: string[]) => shared().newKey(api.organizationId, scopes)
    expect((await (await key('customers:read')).get('/v1/stats')).status).toBe(403)
    const [point] = busy(await stats(await key('webhooks:read', 'tickets:read')))
    expect(point?.changes).toEqual({ ticket: 1 })
    expect(busy(await stats(await key('webhooks:read')))).toEqual([])
    const nobody = '/v1/webhooks/01980000-0000-7000-8000-000000000001/stats'
    expect((await api.get(nobody)).status).toBe(404)
  })
})
