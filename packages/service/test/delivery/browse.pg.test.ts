/** The list of endpoints, what is not there, and where a secret is never shown. */
import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { deliveriesOf, makeWebhook, minute } from '../../../testbed/hooks.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const clock = testClock()
const shared = sharedService({ clock })

/** Five endpoints a minute apart, the oldest first; the second and fourth are disabled. */
async function five(api: Api) {
  const made = []
  for (let n = 0; n < 5; n++) {
    clock.advance(minute)
    const { secret, ...record } = await makeWebhook(api, { description: `number ${n}` })
    if (n % 2 === 0) made.push(record)
    else made.push((await api.patch(`/v1/webhooks/${record.id}`, { status: 'disabled' })).json)
  }
  return made
}

describe('the list', () => {
  test('has the newest first, by pages, with totals', async () => {
    const api = await shared().newOrganization()
    const made = (await five(api)).reverse()
    const page = async (query: string) => (await api.get(`/v1/webhooks${query}`)).json
    expect(await page('')).toEqual({
      data: made,
      pagination: { total: 5, limit: 20, offset: 0, hasMore: false },
    })
    expect(await page('?limit=2')).toEqual({
      data: made.slice(0, 2),
      pagination: { total: 5, limit: 2, offset: 0, hasMore: true },
    })
    expect(await page('?limit=2&offset=4')).toMatchObject({
      data: made.slice(4),
      pagination: { hasMore: false },
    })
    expect(await page('?offset=9')).toMatchObject({ data: [], pagination: { total: 5, hasMore: false } })
    expect((await page('?limit=1000')).pagination.limit).toBe(100)
  })

  test('has filters', async () => {
    const api = await shared().newOrganization()
    const made = await five(api)
    const ids = async (query: string) => {
      const { data, pagination } = (await api.get(`/v1/webhooks?${query}`)).json
      expect(pagination.total).toBe(data.length)
      return data.map(({ description }: { description: string }) => description.at(-1)).join('')
    }
    expect(await ids('status=active')).toBe('420')
    expect(await ids('status=disabled')).toBe('31')
    expect(await ids(`createdAfter=${made[1]?.createdAt}`)).toBe('432')
    expect(await ids(`createdBefore=${made[1]?.createdAt}`)).toBe('0')
    expect(await ids(`status=active&createdAfter=${made[0]?.createdAt}`)).toBe('42')
  })

  test.each([
    'status=waiting',
    'status=',
    'limit=0',
    'limit=x',
    'offset=-1',
    'updatedAfter=2026-01-01T00:00:00Z',
    'cursor=abc',
    'events=ticket.created',
    'createdAfter=yesterday',
    'status=active&status=active',
  ])('%s is 400', async (query) => {
    const answer = await shared().api.get(`/v1/webhooks?${query}`)
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_parameter'])
    expect(answer.json.detail).toContain(query.split('=')[0])
  })
})

describe('what is not there', () => {
  test("a delivery is its own endpoint's alone", async () => {
    const api = await shared().newOrganization()
    const [one, two] = [await makeWebhook(api), await makeWebhook(api)]
    await makeCustomer(api)
    const [delivery] = await deliveriesOf(api, one.id)
    expect((await api.get(`/v1/webhooks/${one.id}/deliveries/${delivery.id}`)).json).toEqual(delivery)
    expect((await api.get(`/v1/webhooks/${two.id}/deliveries/${delivery.id}`)).status).toBe(404)
  })
})

test('a secret is in the answers that make it, and in none besides; neither in what is logged', async () => {
  await using service = await testService({ clock })
  const { api, logged } = service
  const { engine, answer, sent } = testEngine(service, clock)
  answer(500)
  const made = await makeWebhook(api, {}, { 'idempotency-key': 'one' })
  const path = `/v1/webhooks/${made.id}`
  const rotated = (await api.post(`${path}/rotate-secret`, undefined)).json
  expect(rotated.secret).not.toBe(made.secret)
  await makeCustomer(api)
  await engine.runDue()
  const [delivery] = await deliveriesOf(api, made.id)
  const answers = [
    await api.get(path),
    await api.get('/v1/webhooks'),
    await api.patch(path, { description: 'x' }),
    await api.patch(path, { url: 'http://127.0.0.1/' }),
    await api.post(`${path}/ping`, undefined),
    await api.get(`${path}/deliveries`),
    await api.get(`${path}/deliveries/${delivery.id}`),
    await api.get(`${path}/deliveries/${delivery.id}/attempts`),
    await api.post('/v1/webhooks', { url: made.url, events: ['nothing'] }),
    await api.patch(path, { status: 'disabled' }),
    await api.patch(path, { status: 'active' }),
    await api.get('/v1/customers?updatedAfter=2020-01-01T00:00:00Z'),
  ]
  await engine.runDue()
  expect(answers.map(({ status }) => status)).toEqual([
    200, 200, 200, 422, 202, 200, 200, 200, 422, 200, 200, 200,
  ])
  const shown = [...answers.map(({ text }) => text), JSON.stringify(logged), JSON.stringify(sent)]
  for (const { secret } of [made, rotated])
    for (const text of shown) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain(secret.slice(6, 26))
    }
})
