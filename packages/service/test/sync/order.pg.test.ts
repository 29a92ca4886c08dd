import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { testDatabase } from '../../../testbed/database.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { beginning, drain, syncPage } from '../../../testbed/drain.ts'
import { interposed } from '../../../testbed/interpose.ts'
import { testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const shared = sharedService()
const hour = 3_600_000

describe('a sync', () => {
  test('is in the order of updatedAt and of id within it, rows and removals in one stream', async () => {
    const api = await shared().newOrganization()
    const customers = []
    for (let n = 0; n < 4; n++) customers.push(await makeCustomer(api, { name: `${n}` }))
    const { id: customerId } = customers[0]
    const tickets = await Promise.all(Array.from({ length: 5 }, () => makeTicket(api, { customerId })))
    const kept = await makeTicket(api, { customerId: customers[1].id })
    await api.patch(`/v1/tickets/${kept.id}`, { subject: 'changed' })
    await api.delete(`/v1/customers/${customerId}`)
    const after = await makeTicket(api, { customerId: customers[1].id })

    const since = customers[3].updatedAt
    for (const limit of [1, 2, 3, 100]) {
      const { records, pages } = await drain(api, '/v1/tickets', `updatedAfter=${since}`, limit)
      expect(records.map(({ id }) => id)).toEqual([kept.id, ...tickets.map(({ id }) => id).sort(), after.id])
      expect(pages).toBe(Math.ceil(7 / limit))
      const places = records.map(({ updatedAt, removedAt, id }) => `${updatedAt ?? removedAt} ${id}`)
      expect(places).toEqual(places.toSorted())
      expect(new Set(places).size).toBe(7)
    }
  })

  test('shows each row once, as it is, with the bytes that GET answers', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeCustomer(api)
    for (let n = 0; n < 5; n++) await api.patch(`/v1/customers/${id}`, { name: `${n}` })
    const { text } = await api.get(`/v1/customers/${id}`)
    const page = await api.get(`/v1/customers?${beginning}`)
    expect(page.text.startsWith(`{"data":[${text}],"pagination":{`)).toBe(true)
  })

  test('total is what exists, offset is 0, and browsing has no nextCursor', async () => {
    const api = await shared().newOrganization()
    const [a] = [await makeCustomer(api), await makeCustomer(api), await makeCustomer(api)]
    await api.delete(`/v1/customers/${a.id}`)
    const { pagination } = await syncPage(api, '/v1/customers', beginning, 1)
    expect(pagination).toEqual({
      total: 2,
      limit: 1,
      offset: 0,
      hasMore: true,
      nextCursor: pagination.nextCursor,
    })
    const last = await syncPage(api, '/v1/customers', `cursor=${pagination.nextCursor}`, 1000)
    expect(last.pagination).toMatchObject({ total: 2, limit: 100, offset: 0, hasMore: false })
    expect(Object.keys((await api.get('/v1/customers')).json.pagination)).toEqual([
      'total',
      'limit',
      'offset',
      'hasMore',
    ])
  })

  test('reads each page in one statement: rows, removals, counts, the clock and the epoch', async () => {
    await using database = await testDatabase()
    const statements: string[] = []
    const watched = interposed(database, async (text) => {
      if (/\b(customers|tickets|kind_counters|organization_clocks)\b/.test(text)) statements.push(text)
    })
    await using service = await testService({ database: watched })
    const { api } = service
    const { id } = await makeCustomer(api)
    const made = await makeTicket(api)
    await api.delete(`/v1/customers/${id}`)
    for (const path of ['/v1/customers', '/v1/changes']) {
      const { nextCursor } = (await syncPage(api, path, beginning, 1)).pagination
      for (const start of [beginning, `cursor=${nextCursor}`, `updatedAfter=${made.updatedAt}`]) {
        statements.length = 0
        await syncPage(api, path, start, 2)
        expect(statements).toHaveLength(1)
      }
    }
  })
})

describe('stamps', () => {
  test('are the time of the clock while it runs on, to the millisecond', async () => {
    const clock = testClock()
    await using service = await testService({ clock })
    clock.advance(hour)
    expect(await makeCustomer(service.api)).toMatchObject({
      createdAt: '2026-03-01T13:00:00.000Z',
      updatedAt: '2026-03-01T13:00:00.000Z',
    })
  })
})
