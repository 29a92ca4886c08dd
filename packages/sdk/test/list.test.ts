/** Lists: every row once, whatever changes between two pages. The service is played by a table that is ordered as its lists are. */
import { describe, expect, expectTypeOf, test } from 'vitest'
import { type BookingFilters, type Customer, createClient, type List } from '../src/index.ts'
import { customer, idOf, timeOf } from './rows.ts'

const apiKey = 'dwk_x'

/** A list of the service over rows that a test changes. */
const served = (rows: Map<number, Customer>) => {
  const asked: Record<string, string>[] = []
  const fetch = async (address: string) => {
    const query = Object.fromEntries(new URL(address).searchParams)
    asked.push(query)
    const { limit = '20', offset = '0', createdBefore = '9' } = query
    const found = [...rows.values()]
      .filter(({ createdAt }) => createdAt < createdBefore)
      .sort((a, b) => (a.createdAt + a.id < b.createdAt + b.id ? 1 : -1))
    const data = found.slice(Number(offset), Number(offset) + Number(limit))
    const hasMore = Number(offset) + data.length < found.length
    return Response.json({ data, pagination: { total: found.length, limit, offset, hasMore } })
  }
  return { client: createClient({ baseUrl: 'http://h', apiKey, fetch }), asked }
}

const table = (count: number, createdMs: (n: number) => number = (n) => n) =>
  new Map(
    Array.from(
      { length: count },
      (_, n) => [n, { ...customer(n), createdAt: timeOf(createdMs(n)) }] as const,
    ),
  )

const idsOf = async (list: AsyncIterable<{ id: string }>, whenRead: (nth: number) => void = () => {}) => {
  const ids: string[] = []
  for await (const { id } of list) whenRead(ids.push(id))
  return ids
}

const newestFirst = (count: number) => Array.from({ length: count }, (_, n) => idOf(count - 1 - n))

describe('iterating', () => {
  test.each([
    ['each at its own time', (n: number) => n],
    ['many at one time', (n: number) => Math.floor(n / 70)],
    ['all at one time', () => 5],
  ])('yields every row once, newest first: %s', async (_, createdMs) => {
    for (const count of [0, 1, 99, 100, 101, 345]) {
      const { client } = served(table(count, createdMs))
      expect(await idsOf(client.customers.list())).toEqual(newestFirst(count))
    }
  })

  test('asks for the next page by time, and sends filters and the size of pages along', async () => {
    const { client, asked } = served(table(5))
    expect(await idsOf(client.customers.list({ tag: 'vip', limit: 3 }))).toEqual(newestFirst(5))
    expect(asked).toEqual([
      { tag: 'vip', limit: '3', offset: '0' },
      { tag: 'vip', limit: '3', offset: '0', createdBefore: timeOf(3) },
    ])
  })

  test('pages of one row come to an end', async () => {
    expect(await idsOf(served(table(4)).client.customers.list({ limit: 1 }))).toEqual(newestFirst(4))
  })

  test.each([
    ['own times', (n: number) => n],
    ['many at one time', (n: number) => Math.floor(n / 70)],
    ['one time', () => 5],
  ])('loses and repeats nothing while what was read leaves and new rows come, %s', async (_, createdMs) => {
    for (const stay of [1, 2, 7]) {
      const rows = table(250, createdMs)
      const ids = await idsOf(served(rows).client.customers.list({ limit: 40 }), (nth) => {
        if (nth % stay === 0) rows.delete(250 - nth)
        if (nth % 9 === 0) rows.set(1_000 + nth, { ...customer(1_000 + nth), createdAt: timeOf(9_999) })
      })
      expect(ids).toEqual(newestFirst(250))
    }
  })

  test('a list that has no times is paged by place, and loses nothing either', async () => {
    // Deliveries that succeed leave a list of pending ones.
    const rows = table(250)
    const fetch = async (address: string) => {
      const { limit, offset } = Object.fromEntries(new URL(address).searchParams)
      const left = [...rows.values()].reverse()
      const data = left.slice(Number(offset), Number(offset) + Number(limit))
      return Response.json({ data, pagination: { hasMore: Number(offset) + data.length < left.length } })
    }
    const { webhooks } = createClient({ baseUrl: 'http://h', apiKey, fetch })
    const pending = webhooks.deliveries(idOf(0), { status: 'pending', limit: 40 })
    expect(await idsOf(pending, (nth) => nth % 2 === 0 && rows.delete(250 - nth))).toEqual(newestFirst(250))
  })
})

test('toArray stops at its limit and asks for no page too many', async () => {
  const { client, asked } = served(table(250))
  expect(await client.customers.list().toArray({ limit: 100 })).toHaveLength(100)
  expect(asked).toHaveLength(1)
  expect(await client.customers.list().toArray({ limit: 0 })).toEqual([])
  expect(await client.customers.list().toArray({ limit: 4 })).toHaveLength(4)
  expect(asked.at(-1)).toEqual({ limit: '4', offset: '0' })
  expect(await client.customers.list().toArray({ limit: Infinity })).toHaveLength(250)
})

test('ends with its signal', async () => {
  const { client } = served(table(250))
  const controller = new AbortController()
  const read = async () => {
    for await (const _ of client.customers.list({}, { signal: controller.signal }))
      controller.abort(new Error('enough'))
  }
  await expect(read()).rejects.toThrow('enough')
})

test('filters take what the query takes, not what a creation takes', () => {
  expectTypeOf<'no_show'>().toExtend<BookingFilters['status']>()
  expectTypeOf<'nonsense'>().not.toExtend<BookingFilters['status']>()
  expectTypeOf<List<Customer>>().toExtend<AsyncIterable<Customer>>()
})

test('events and the inbox go on from page to page', async () => {
  const asked: Record<string, string>[] = []
  const served = (...pages: object[]) =>
    createClient({
      baseUrl: 'http://h',
      apiKey,
      fetch: async (address) => {
        asked.push(Object.fromEntries(new URL(address).searchParams))
        return Response.json(pages.shift())
      },
    })
  const { events } = served(
    { data: [1, 2], pagination: { hasMore: true, nextCursor: 'c' } },
    { data: [3], pagination: { hasMore: false, nextCursor: 'd' } },
  )
  const types = ['ticket.created', 'ticket.updated']
  expect(await events.list({ types, createdAfter: timeOf(1) }).toArray({ limit: 9 })).toEqual([1, 2, 3])
  expect(asked.splice(0)).toEqual([
    { limit: '9', types: types.join(','), createdAfter: timeOf(1) },
    { limit: '9', types: types.join(','), cursor: 'c' },
  ])
  const entry = (n: number, awaitingReplySince: string | null) => ({
    conversation: { id: idOf(n) },
    awaitingReplySince,
  })
  const { inbox } = served(
    { data: [entry(1, timeOf(1))], pagination: { hasMore: true } },
    { data: [entry(2, null)], pagination: { hasMore: true } },
    { data: [entry(3, null)], pagination: { hasMore: false } },
  )
  const found: string[] = []
  for await (const { conversation } of inbox.list({ assigneeId: null, awaitingReply: true }))
    found.push(conversation.id)
  expect(found).toEqual([idOf(1), idOf(2), idOf(3)])
  const filters = { assigneeId: 'null', awaitingReply: 'true' }
  expect(asked).toEqual([
    filters,
    { ...filters, after: idOf(1), afterSince: timeOf(1) },
    { ...filters, after: idOf(2) },
  ])
})
