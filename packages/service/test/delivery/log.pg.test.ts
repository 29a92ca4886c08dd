/** The delivery log: what it shows, in which order, how far back, and never what was sent. */
import { describe, expect, test } from 'vitest'
import { at, testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { attemptsOf, day, deliveriesOf, hour, makeWebhook, minute, retry } from '../../../testbed/hooks.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const clock = testClock()
const shared = sharedService({ clock })

/** Deliveries written as they would be, so many milliseconds apart, the latest made now. */
async function seed(
  api: Api,
  webhookId: string,
  count: number,
  more: { status?: string; apart?: number } = {},
) {
  const { status = 'succeeded', apart = 1 } = more
  await shared().database.pool.query(
    `insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at, subject_kind,
        subject_id, status, payload, attempt_count, max_attempts, next_attempt_at, delivered_at, created_at, updated_at)
      select $1, new_uuid_v7(at), $2, case when $3 = 'pending' then 'infinity' else (at at time zone 'UTC')::date end,
          new_uuid_v7(at), 'customer.created', at, 'customer', gen_random_uuid(), $3, 'current', 1, 6,
          case when $3 = 'pending' then $4::timestamptz end, case when $3 = 'succeeded' then $4::timestamptz end,
          at, $4::timestamptz
        from (select $4::timestamptz - n * $5 * interval '1 millisecond' as at from generate_series(0, $6 - 1) as n) s`,
    [api.organizationId, webhookId, status, at(clock.now()), apart, count],
  )
}

const pageOf = async (api: Api, id: string, query = '') => {
  const answer = await api.get(`/v1/webhooks/${id}/deliveries${query}`)
  expect(answer.status).toBe(200)
  return answer.json
}

describe('filters', () => {
  test('by status and event type, alone and together', async () => {
    const api = await shared().newOrganization()
    const { engine, answer } = testEngine(shared(), clock)
    const { id } = await makeWebhook(api, { events: ['customer.created', 'customer.updated'] })
    answer(200, 500, 200, 500)
    for (const name of ['one', 'two']) {
      const customer = await makeCustomer(api, { name })
      await engine.runDue()
      clock.advance(1)
      await api.patch(`/v1/customers/${customer.id}`, { company: name })
      await engine.runDue()
      clock.advance(1)
    }
    answer(404)
    clock.advance(minute)
    await api.post(`/v1/webhooks/${id}/ping`, undefined)
    await engine.runDue()
    const found = async (query: string) => {
      const { data, pagination } = await pageOf(api, id, query)
      expect(pagination.total).toBe(data.length)
      return data.map(({ eventType, status }: Record<string, string>) => `${eventType} ${status}`)
    }
    expect(await found('')).toEqual([
      'ping failed',
      'customer.updated pending',
      'customer.created succeeded',
      'customer.updated pending',
      'customer.created succeeded',
    ])
    expect(await found('?status=pending')).toEqual(Array(2).fill('customer.updated pending'))
    expect(await found('?status=failed')).toEqual(['ping failed'])
    expect(await found('?eventType=customer.created')).toEqual(Array(2).fill('customer.created succeeded'))
    expect(await found('?eventType=ping&status=failed')).toEqual(['ping failed'])
    expect(await found('?eventType=ping&status=succeeded')).toEqual([])
    expect(await found('?eventType=ticket.created')).toEqual([])
  })

  test('by event, and by time of creation, with neither end', async () => {
    const api = await shared().newOrganization()
    const { engine, answer } = testEngine(shared(), clock)
    const events = ['customer.created']
    const [first, second] = [await makeWebhook(api, { events }), await makeWebhook(api, { events })]
    const times: string[] = []
    answer(200, 500, 200, 500, 200, 500)
    for (const name of ['one', 'two', 'three']) {
      clock.advance(minute)
      const { createdAt } = await makeCustomer(api, { name })
      times.push(createdAt)
      await engine.runDue()
    }
    clock.advance(minute)
    const all = (await api.get('/v1/deliveries')).json.data
    expect(new Set(all.map(({ status }: { status: string }) => status)).size).toBe(2)
    const created = async (query: string) => {
      const { data, pagination } = (await api.get(`/v1/deliveries?${query}`)).json
      expect(pagination.total).toBe(data.length)
      return data.map(({ createdAt }: { createdAt: string }) => createdAt)
    }
    const [one = '', two = '', three = ''] = times
    for (const status of [null, 'undelivered', 'succeeded']) {
      const is = (row: { status: string }) =>
        status === null || (row.status === 'succeeded') === (status === 'succeeded')
      const meeting = (holds: (createdAt: string) => boolean) =>
        all
          .filter(is)
          .map(({ createdAt }: { createdAt: string }) => createdAt)
          .filter(holds)
      for (const also of ['', '&eventType=customer.created']) {
        const more = `${status === null ? '' : `&status=${status}`}${also}`
        expect(await created(`createdAfter=${one}${more}`)).toEqual(meeting((time) => time > one))
        expect(await created(`createdBefore=${two}${more}`)).toEqual(meeting((time) => time < two))
        expect(await created(`createdAfter=${one}&createdBefore=${three}${more}`)).toEqual(
          meeting((time) => time === two),
        )
        expect(await created(`createdAfter=${three}${more}`)).toEqual([])
      }
    }
    expect(await created('createdBefore=0001-01-01T00:00:00Z')).toEqual([])
    expect(await created('createdAfter=0001-01-01T00:00:00Z')).toHaveLength(6)
    expect(await created('createdBefore=9999-12-31T23:59:59Z')).toHaveLength(6)

    const { eventId } = all[0]
    const ofEvent = async (query: string) =>
      (await api.get(`/v1/deliveries?eventId=${eventId}${query}`)).json.data.map(
        ({ webhookId }: { webhookId: string }) => webhookId,
      )
    expect((await ofEvent('')).toSorted()).toEqual([first.id, second.id].toSorted())
    expect(await ofEvent(`&webhookId=${second.id}`)).toEqual([second.id])
    const own = all.filter((row: { eventId: string }) => row.eventId === eventId)
    const hasArrived = ({ status }: { status: string }) => status === 'succeeded'
    const arrived = own.filter(hasArrived).length
    expect(await ofEvent('&status=succeeded')).toHaveLength(arrived)
    expect(await ofEvent('&status=undelivered')).toHaveLength(2 - arrived)
    expect(await ofEvent('&eventType=ping')).toEqual([])
    expect(await ofEvent(`&createdAfter=${three}`)).toEqual([])
    expect(await ofEvent(`&createdAfter=${two}&createdBefore=${at(clock.now())}`)).toHaveLength(2)
    expect(await ofEvent('&limit=1')).toHaveLength(1)
    expect(await ofEvent('&offset=2')).toEqual([])
    const elsewhere = await shared().newOrganization()
    expect((await elsewhere.get(`/v1/deliveries?eventId=${eventId}`)).json.data).toEqual([])
    await api.delete(`/v1/webhooks/${first.id}`)
    expect(await ofEvent('')).toEqual([second.id])
  })

  test.each([
    'status=done',
    'status=',
    'eventType=ticket.exploded',
    'eventType=',
    'eventId=7',
    'createdAfter=yesterday',
    'createdBefore=2026-01-01',
    'limit=0',
    'offset=x',
    'cursor=abc',
    'updatedAfter=2026-01-01T00:00:00Z',
    'webhookId=x',
    'status=failed&status=failed',
  ])('%s is 400', async (query) => {
    // Read first, so that the answer says nothing of the endpoint.
    const id = '01980000-0000-7000-8000-000000000001'
    const answer = await (await shared().newOrganization()).get(`/v1/webhooks/${id}/deliveries?${query}`)
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_parameter'])
    expect(answer.json.detail).toContain(query.split('=')[0])
  })
})

describe('of all endpoints', () => {
  const all = async (api: Api, query = '') => {
    const answer = await api.get(`/v1/deliveries${query}`)
    expect(answer.status).toBe(200)
    return answer.json
  }

  test('it is the logs of each, newest first, by pages and by the same filters', async () => {
    const api = await shared().newOrganization()
    const other = await shared().newOrganization()
    await seed(other, (await makeWebhook(other)).id, 1)
    const [first, second] = [(await makeWebhook(api)).id, (await makeWebhook(api)).id]
    await seed(api, first, 8, { apart: 3 })
    await seed(api, second, 4, { apart: 5, status: 'failed' })
    await seed(api, second, 3, { apart: 4, status: 'pending' })
    await makeWebhook(api)
    const each = [...(await deliveriesOf(api, first)), ...(await deliveriesOf(api, second))]
    const sorted = each.toSorted((a, b) => (a.id < b.id ? 1 : -1))
    const seen = []
    for (let offset = 0; offset < 15; offset += 6) {
      const { data, pagination } = await all(api, `?limit=6&offset=${offset}`)
      expect(pagination).toEqual({ total: 15, limit: 6, offset, hasMore: offset + 6 < 15 })
      seen.push(...data)
    }
    expect(seen).toEqual(sorted)
    expect((await all(api, '?status=failed')).data).toEqual(
      sorted.filter(({ status }) => status === 'failed'),
    )
    const narrow = await all(api, `?webhookId=${second}&status=pending&eventType=customer.created&limit=2`)
    expect(narrow).toEqual(await pageOf(api, second, '?status=pending&eventType=customer.created&limit=2'))
    expect(narrow.pagination.total).toBe(3)
    expect((await all(api, '?eventType=ping')).data).toEqual([])
    expect((await all(api, `?webhookId=${other.organizationId}`)).data).toEqual([])
    await api.delete(`/v1/webhooks/${second}`)
    expect((await all(api)).data).toEqual(sorted.filter(({ webhookId }) => webhookId === first))
  })

  test.each(['webhookId=x', 'webhookId=', 'status=done', 'eventType=x', 'cursor=abc', 'limit=0'])(
    '%s is 400',
    async (query) => {
      const answer = await (await shared().newOrganization()).get(`/v1/deliveries?${query}`)
      expect([answer.status, answer.json.code]).toEqual([400, 'invalid_parameter'])
      expect(answer.json.detail).toContain(query.split('=')[0])
    },
  )
})

describe('pages', () => {
  test('hold the newest first, each row once, also where many were made in one millisecond', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeWebhook(api)
    await seed(api, id, 30, { apart: 0 })
    clock.advance(1)
    await seed(api, id, 12, { apart: 0 })
    const seen: { id: string; createdAt: string }[] = []
    for (let offset = 0; offset < 42; offset += 10) {
      const { data, pagination } = await pageOf(api, id, `?limit=10&offset=${offset}`)
      expect(pagination).toEqual({ total: 42, limit: 10, offset, hasMore: offset + 10 < 42 })
      seen.push(...data)
    }
    const sorted = seen.toSorted((a, b) => (`${a.createdAt} ${a.id}` < `${b.createdAt} ${b.id}` ? 1 : -1))
    expect(seen).toEqual(sorted)
    expect(new Set(seen.map((row) => row.id)).size).toBe(42)
    expect((await pageOf(api, id, '?limit=1000')).pagination.limit).toBe(100)
  })

  test('say the total up to 10,000, and beyond that it is not exact', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeWebhook(api)
    await seed(api, id, 10_000)
    const { pagination } = await pageOf(api, id, '?limit=1')
    expect(pagination).toEqual({ total: 10_000, limit: 1, offset: 0, hasMore: true })
    await seed(api, id, 2, { status: 'failed' })
    const beyond = await pageOf(api, id, '?limit=1&offset=10001')
    expect(beyond.pagination).toEqual({
      total: 10_000,
      totalIsExact: false,
      limit: 1,
      offset: 10_001,
      hasMore: false,
    })
    expect(beyond.data).toHaveLength(1)
    expect((await pageOf(api, id, '?status=failed')).pagination.total).toBe(2)
    expect((await pageOf(api, id, '?status=failed')).pagination).not.toHaveProperty('totalIsExact')
  })
})

test('rows go as far back as they are kept, to the millisecond; pending ones always show', async () => {
  const service = shared()
  const api = await service.newOrganization()
  const { id } = await makeWebhook(api)
  await seed(api, id, 1)
  await seed(api, id, 1, { status: 'pending' })
  const rows = await deliveriesOf(api, id)
  const [kept, pending] = ['succeeded', 'pending'].map((status) => rows.find((row) => row.status === status))
  const one = async (row: { id: string }) => (await api.get(`/v1/webhooks/${id}/deliveries/${row.id}`)).status
  clock.advance(30 * day - 1)
  expect(await deliveriesOf(api, id)).toHaveLength(2)
  await service.app.maintenance.run()
  expect(await one(kept)).toBe(200)
  clock.advance(1)
  // Not shown any more, whether its storage is dropped already or not.
  for (const run of [false, true]) {
    if (run) await service.app.maintenance.run()
    expect(await deliveriesOf(api, id)).toEqual([pending])
    expect([await one(kept), await one(pending)]).toEqual([404, 200])
    const paths = ['attempts', 'retry'].map((last) => `/v1/webhooks/${id}/deliveries/${kept.id}/${last}`)
    expect((await api.get(paths[0]!)).status).toBe(404)
    expect((await api.post(paths[1]!, undefined)).status).toBe(404)
    expect((await pageOf(api, id)).pagination.total).toBe(1)
  }
  const { rows: left } = await service.database.pool.query(
    'select id from deliveries where webhook_id = $1',
    [id],
  )
  expect(left).toEqual([{ id: pending.id }])
})

describe('attempts', () => {
  test('are listed by pages, the newest first, with what the receiver said', async () => {
    // Alone, as the script of answers is for one endpoint.
    await using service = await testService({ clock })
    const { api } = service
    const { engine, answer } = testEngine(service, clock)
    answer(500, 502, 200)
    const { id } = await makeWebhook(api)
    await makeCustomer(api)
    const began = clock.now()
    for (const delay of [0, minute, 5 * minute]) {
      clock.advance(delay)
      await engine.runDue()
    }
    const [row] = await deliveriesOf(api, id)
    const path = `/v1/webhooks/${id}/deliveries/${row.id}/attempts`
    expect((await api.get(`${path}?limit=2`)).json).toMatchObject({
      data: [
        { number: 3, at: at(began + 6 * minute), responseStatus: 200, responseBody: 'answered 200' },
        { number: 2, at: at(began + minute), responseStatus: 502, error: { code: 'non_2xx' } },
      ],
      pagination: { total: 3, limit: 2, offset: 0, hasMore: true },
    })
    expect((await api.get(`${path}?offset=2`)).json).toMatchObject({
      data: [{ number: 1, at: at(began) }],
      pagination: { hasMore: false },
    })
    expect((await api.get(`${path}?status=failed`)).status).toBe(400)
  })

  describe('stay what they were when the delivery fails for another reason', () => {
    test.each<
      [string, string, (it: { api: Api; webhookId: string; customerId: string }) => Promise<unknown>]
    >([
      [
        'the subject is removed',
        'subject_unavailable',
        ({ api, customerId }) => api.delete(`/v1/customers/${customerId}`),
      ],
      [
        'the endpoint is disabled',
        'endpoint_disabled',
        ({ api, webhookId }) => api.patch(`/v1/webhooks/${webhookId}`, { status: 'disabled' }),
      ],
    ])('%s, and when it is retried after that', async (_what, code, happens) => {
      await using service = await testService({ clock })
      const { api } = service
      const { engine, answer } = testEngine(service, clock)
      answer(500, 502)
      const { id: webhookId } = await makeWebhook(api)
      const { id: customerId } = await makeCustomer(api)
      await engine.runDue()
      clock.advance(minute)
      await engine.runDue()
      const rowNow = async () => (await deliveriesOf(api, webhookId))[0]
      const made = await attemptsOf(api, await rowNow())
      expect(made).toMatchObject([
        { number: 2, responseStatus: 502, error: { code: 'non_2xx' }, responseBody: 'answered 502' },
        { number: 1, responseStatus: 500, error: { code: 'non_2xx' }, responseBody: 'answered 500' },
      ])
      await happens({ api, webhookId, customerId })
      clock.advance(hour)
      await engine.runDue()
      const failed = await rowNow()
      expect(failed).toMatchObject({ status: 'failed', attemptCount: 2, lastError: { code } })
      expect(await attemptsOf(api, failed)).toEqual(made)

      await api.patch(`/v1/webhooks/${webhookId}`, { status: 'active' })
      await retry(api, failed)
      answer(204)
      clock.advance(minute)
      await engine.runDue()
      const again = await rowNow()
      const after = await attemptsOf(api, again)
      expect(after.slice(-2)).toEqual(made)
      expect(after).toHaveLength(again.attemptCount)
    })
  })

  test('of a delivery that was never sent there are none', async () => {
    const api = await shared().newOrganization()
    const { engine } = testEngine(shared(), clock)
    const { id } = await makeWebhook(api)
    const customer = await makeCustomer(api)
    await api.delete(`/v1/customers/${customer.id}`)
    await engine.runDue()
    const [row] = await deliveriesOf(api, id)
    expect(row).toMatchObject({
      attemptCount: 0,
      durationMs: null,
      lastAttemptAt: null,
      responseStatus: null,
    })
    expect(await attemptsOf(api, row)).toEqual([])
  })
})

test('nothing of a payload is in the log, whatever became of the delivery', async () => {
  const api = await shared().newOrganization()
  const { engine, answer } = testEngine(shared(), clock)
  const { id } = await makeWebhook(api)
  for (const [status, name] of [
    [200, 'Xanthippe'],
    [500, 'Yolanda'],
  ] as const) {
    answer(status)
    await makeCustomer(api, { name, email: `${name}@example.com` })
    await engine.runDue()
  }
  clock.advance(hour)
  const rows = await deliveriesOf(api, id)
  const shown = [JSON.stringify(rows)]
  for (const row of rows) {
    shown.push((await api.get(`/v1/webhooks/${id}/deliveries/${row.id}`)).text)
    shown.push(JSON.stringify(await attemptsOf(api, row)))
  }
  expect(shown).toHaveLength(5)
  for (const text of shown) expect(text).not.toMatch(/xanthippe|yolanda|example\.com|payload|secret/i)
})
