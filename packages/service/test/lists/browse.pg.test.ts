import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer, makeTeammate, makeTicket } from '../../../testbed/desk.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { kinds } from '../../src/desk/index.ts'
import { newObject, unchangedDesk } from '../http/writable.fixture.ts'

const shared = sharedService()

async function ids(api: Api, path: string): Promise<string[]> {
  const answer = await api.get(path)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.json.data.map(({ id }: { id: string }) => id)
}

describe('order and pages', () => {
  test('newest first, and by id where they were created in the same millisecond', async () => {
    const clock = testClock()
    await using service = await testService({ clock })
    const made: { id: string; createdAt: string }[] = []
    for (const count of [3, 1, 4]) {
      made.push(...(await Promise.all(Array.from({ length: count }, () => makeCustomer(service.api)))))
      clock.advance(1)
    }
    expect(new Set(made.map(({ createdAt }) => createdAt)).size).toBe(3)
    const expected = made
      .toSorted((a, b) => (`${a.createdAt} ${a.id}` < `${b.createdAt} ${b.id}` ? 1 : -1))
      .map(({ id }) => id)
    expect(await ids(service.api, '/v1/customers')).toEqual(expected)
    const paged: string[] = []
    for (let offset = 0; offset < 8; offset += 3) {
      paged.push(...(await ids(service.api, `/v1/customers?limit=3&offset=${offset}`)))
    }
    expect(paged).toEqual(expected)
  })

  test('a change moves nothing: creation orders', async () => {
    const api = await shared().newOrganization()
    const first = await makeCustomer(api)
    const second = await makeCustomer(api)
    await api.patch(`/v1/customers/${first.id}`, { name: 'changed' })
    expect(await ids(api, '/v1/customers')).toEqual([second.id, first.id])
  })

  test('rows are the bytes that GET of one answers', async () => {
    const api = await shared().newOrganization()
    const bodies = []
    for (const name of ['a', 'ü"\\🦉'])
      bodies.unshift((await api.get(`/v1/customers/${(await makeCustomer(api, { name })).id}`)).text)
    expect(
      (await api.get('/v1/customers')).text.startsWith(`{"data":[${bodies.join(',')}],"pagination":{`),
    ).toBe(true)
  })

  test('pagination says what was applied, what there is in all and whether more follows', async () => {
    const api = await shared().newOrganization()
    await Promise.all(Array.from({ length: 5 }, () => makeTeammate(api)))
    const page = async (query: string) => {
      const { data, pagination } = (await api.get(`/v1/teammates${query}`)).json
      return [data.length, pagination]
    }
    expect(await page('')).toEqual([5, { total: 5, limit: 20, offset: 0, hasMore: false }])
    expect(await page('?limit=2')).toEqual([2, { total: 5, limit: 2, offset: 0, hasMore: true }])
    expect(await page('?limit=2&offset=3')).toEqual([2, { total: 5, limit: 2, offset: 3, hasMore: false }])
    expect(await page('?limit=2&offset=2')).toEqual([2, { total: 5, limit: 2, offset: 2, hasMore: true }])
    expect(await page('?limit=2&offset=5')).toEqual([0, { total: 5, limit: 2, offset: 5, hasMore: false }])
    expect(await page('?offset=999999999999999')).toEqual([
      0,
      { total: 5, limit: 20, offset: 999_999_999_999_999, hasMore: false },
    ])
  })

  test.each(kinds)(
    'a filtered list of $plural is read by after while its rows change, come and go',
    async (kind) => {
      const api = await shared().newOrganization()
      const desk = await unchangedDesk(api, 'Word')
      const make = async (n: number) => {
        const { status, json } = await api.post(`/v1/${kind.plural}`, newObject(kind, desk, `u ${n}`))
        expect(status).toBe(201)
        return json.id as string
      }
      const made: string[] = []
      for (let n = 0; n < 6; n++) made.unshift(await make(n))
      const known = new Set(made)
      const seen: string[] = []
      for (let after = '', n = 10; ; n++) {
        const { json } = await api.get(
          `/v1/${kind.plural}?q=word&createdAfter=2020-01-01T00:00:00Z&limit=2${after}`,
        )
        const page: string[] = json.data.map(({ id }: { id: string }) => id)
        seen.push(...page)
        if (!json.pagination.hasMore) break
        after = `&after=${page.at(-1)}`
        await make(n)
        expect((await api.delete(`/v1/${kind.plural}/${page.at(-1)}`)).status).toBe(204)
      }
      expect(seen.filter((id) => known.has(id))).toEqual(made)
      expect(new Set(seen).size).toBe(seen.length)
    },
  )

  test('after pages by place: a row that matches all the while is on one page, whatever leaves or comes', async () => {
    const api = await shared().newOrganization()
    const made = []
    for (let n = 0; n < 7; n++) made.unshift(await makeTicket(api, { priority: 'high', tags: ['x'] }))
    const [newest, second, third, ...older] = made.map(({ id }) => id)
    for (const filter of ['priority=high', 'tag=x', `createdAfter=2020-01-01T00:00:00Z`]) {
      const page = async (query: string) => (await api.get(`/v1/tickets?${filter}&limit=3${query}`)).json
      expect((await page(`&after=${third}`)).pagination.hasMore).toBe(true)
      expect(await ids(api, `/v1/tickets?${filter}&limit=3&after=${third}`)).toEqual(older.slice(0, 3))
      const last = await page(`&after=${older[2]}&offset=0`)
      expect(last.data.map(({ id }: { id: string }) => id)).toEqual([older[3]])
      expect(last.pagination).toEqual({ total: 7, limit: 3, offset: 0, hasMore: false })
    }
    await api.patch(`/v1/tickets/${newest}`, { priority: 'low' })
    await api.patch(`/v1/tickets/${third}`, { priority: 'low' })
    await api.delete(`/v1/tickets/${second}`)
    await makeTicket(api, { priority: 'high' })
    expect(await ids(api, `/v1/tickets?priority=high&limit=100&after=${third}`)).toEqual(older)
    // A removed row keeps its place.
    expect(await ids(api, `/v1/tickets?limit=100&after=${second}`)).toEqual([third, ...older])
    const other = await shared().newOrganization()
    for (const [of, query] of [
      [other, `after=${third}`],
      [api, `after=${api.organizationId}`],
      [api, `after=${third}&offset=1`],
      [api, 'after=7'],
    ] as const) {
      const { status, json } = await of.get(`/v1/tickets?${query}`)
      expect([status, json.code]).toEqual([400, 'invalid_parameter'])
    }
  })

  test('assigneeId=null finds what nobody is assigned to', async () => {
    const api = await shared().newOrganization()
    const { id: assigneeId } = await makeTeammate(api)
    const free = await makeTicket(api)
    const taken = await makeTicket(api, { assigneeId })
    expect(await ids(api, '/v1/tickets?assigneeId=null')).toEqual([free.id])
    await api.patch(`/v1/tickets/${taken.id}`, { assigneeId: null })
    expect(await ids(api, '/v1/tickets?assigneeId=null&status=open')).toEqual([taken.id])
    expect((await api.get('/v1/tickets?customerId=null')).status).toBe(400)
  })

  test('the total follows every creation and deletion, cascades included, with filters and without', async () => {
    const api = await shared().newOrganization()
    const totals = async () =>
      Promise.all(
        ['/v1/customers', '/v1/tickets', '/v1/tickets?status=new', '/v1/tickets?priority=high'].map(
          async (path) => (await api.get(path)).json.pagination.total,
        ),
      )
    expect(await totals()).toEqual([0, 0, 0, 0])
    const { id: customerId } = await makeCustomer(api)
    const first = await makeTicket(api, { customerId, priority: 'high' })
    await makeTicket(api, { customerId, status: 'open' })
    const other = await makeTicket(api)
    expect(await totals()).toEqual([2, 3, 2, 1])
    await api.delete(`/v1/tickets/${first.id}`)
    expect(await totals()).toEqual([2, 2, 1, 0])
    await api.delete(`/v1/customers/${customerId}`)
    expect(await totals()).toEqual([1, 1, 1, 0])
    await api.delete(`/v1/customers/${other.customerId}`)
    expect(await totals()).toEqual([0, 0, 0, 0])
  })
})

describe('filters', () => {
  test('of tickets find exactly the tickets that have the value, as it is now', async () => {
    const api = await shared().newOrganization()
    const [ada, grace] = [await makeTeammate(api), await makeTeammate(api)]
    const a = await makeTicket(api, {
      priority: 'high',
      type: 'task',
      tags: ['x', 'y'],
      externalId: 'A',
      assigneeId: ada.id,
    })
    const b = await makeTicket(api, {
      status: 'pending',
      type: 'task',
      tags: ['y'],
      customerId: a.customerId,
    })
    const c = await makeTicket(api, { assigneeId: grace.id, status: 'pending' })
    const find = (query: string) => ids(api, `/v1/tickets?${query}`)
    expect(await find(`customerId=${a.customerId}`)).toEqual([b.id, a.id])
    expect(await find(`customerId=${a.customerId.toUpperCase()}`)).toEqual([b.id, a.id])
    expect(await find('status=pending')).toEqual([c.id, b.id])
    expect(await find('status=open')).toEqual([a.id])
    expect(await find('priority=high')).toEqual([a.id])
    expect(await find('type=task')).toEqual([b.id, a.id])
    expect(await find(`assigneeId=${grace.id}`)).toEqual([c.id])
    expect(await find('externalId=A')).toEqual([a.id])
    expect(await find('externalId=a')).toEqual([])
    expect(await find(`conversationId=${a.id}`)).toEqual([])
    expect(await find('tag=y')).toEqual([b.id, a.id])
    expect(await find('tag=Y')).toEqual([])
    // All of them have to hold.
    expect(await find('type=task&status=pending&tag=y')).toEqual([b.id])
    expect(await find('type=task&tag=x&priority=low')).toEqual([])
    await api.patch(`/v1/tickets/${b.id}`, { status: 'open', tags: [] })
    expect(await find('status=open')).toEqual([b.id, a.id])
    expect(await find('tag=y')).toEqual([a.id])
  })

  test('of customers find by email in any case, by phone and by externalId', async () => {
    const api = await shared().newOrganization()
    const a = await makeCustomer(api, { email: 'ada@example.com', phone: '+4930123456', externalId: "o'7" })
    await makeCustomer(api, { email: 'ada@example.org', phone: '+4930123457' })
    const find = (query: string) => ids(api, `/v1/customers?${query}`)
    expect(await find('email=ADA@example.com')).toEqual([a.id])
    expect(await find('phone=%2B4930123456')).toEqual([a.id])
    expect(await find("externalId=o'7")).toEqual([a.id])
    await api.delete(`/v1/customers/${a.id}`)
    expect(await find('email=ada@example.com')).toEqual([])
  })

  test('createdAfter and createdBefore leave out the very millisecond that they name', async () => {
    const clock = testClock()
    await using service = await testService({ clock })
    const made = []
    for (let n = 0; n < 3; n++) {
      clock.advance(1)
      made.push(await makeCustomer(service.api))
    }
    const [a, b, c] = made
    const find = (query: string) => ids(service.api, `/v1/customers?${query}`)
    expect(await find(`createdAfter=${b.createdAt}`)).toEqual([c.id])
    expect(await find(`createdBefore=${b.createdAt}`)).toEqual([a.id])
    expect(await find(`createdAfter=${a.createdAt}&createdBefore=${c.createdAt}`)).toEqual([b.id])
    expect(await find(`createdAfter=${c.createdAt}`)).toEqual([])
  })
})
