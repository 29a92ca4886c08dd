import { describe, expect, test } from 'vitest'
import { type Customer, changeOf, createClient, type SyncPage, type SyncParams } from '../src/index.ts'
import { customer, idOf, timeOf } from './rows.ts'
import { problem, type Step, scripted } from './scripted.ts'

const removal = (n: number) => ({
  object: 'removed',
  id: idOf(n),
  resource: 'customer',
  removedAt: timeOf(n),
})

const page = (data: unknown[], nextCursor: string, hasMore: boolean, more: object = {}): Step => ({
  status: 200,
  body: { data, pagination: { total: 2, limit: 2, offset: 0, hasMore, nextCursor, ...more } },
})

const start = async (...steps: Step[]) => {
  const { baseUrl, seen } = await scripted(...steps)
  const retries = { sleep: async () => {} }
  return { client: createClient({ baseUrl, apiKey: 'dwk_x', retries }), seen }
}

const drain = async (pages: AsyncIterable<SyncPage<Customer>>) => {
  const all: SyncPage<Customer>[] = []
  for await (const each of pages) all.push(each)
  return all
}

describe('paging', () => {
  test('follows the cursor until caught up and stops there', async () => {
    const checkpoint = { count: 2, digest: '00000000000000ff' }
    const { client, seen } = await start(
      page([customer(1), customer(2)], 'c1', true),
      page([customer(3)], 'c2', false, { checkpoint }),
    )
    expect(await drain(client.customers.sync({ updatedAfter: timeOf(0), limit: 2 }))).toEqual([
      {
        changes: [
          { type: 'upsert', row: customer(1) },
          { type: 'upsert', row: customer(2) },
        ],
        cursor: 'c1',
        hasMore: true,
        total: 2,
      },
      { changes: [{ type: 'upsert', row: customer(3) }], cursor: 'c2', hasMore: false, total: 2, checkpoint },
    ])
    expect(seen.map(({ query }) => query)).toEqual([
      { updatedAfter: timeOf(0), limit: '2' },
      { cursor: 'c1', limit: '2' },
    ])
  })

  test('of all kinds has one cursor, and a checkpoint for each', async () => {
    const checkpoint = { customer: { count: 1, digest: '00000000000000ff' } }
    const { client, seen } = await start(page([customer(1), removal(2)], 'c1', false, { checkpoint }))
    const pages = []
    for await (const each of client.changes.sync({ cursor: 'c0', wait: 50 })) pages.push(each)
    expect(pages).toEqual([
      {
        changes: [
          { type: 'upsert', row: customer(1) },
          { type: 'removed', id: idOf(2), resource: 'customer', removedAt: timeOf(2) },
        ],
        cursor: 'c1',
        hasMore: false,
        total: 2,
        checkpoint,
      },
    ])
    expect(seen.map(({ path, query }) => [path, query])).toEqual([
      ['/v1/changes', { cursor: 'c0', limit: '100', wait: '50' }],
    ])
  })

  test.each<[string, SyncParams, Record<string, string>]>([
    ['without a position from before everything', {}, { updatedAfter: '1970-01-01T00:00:00.000Z' }],
    ['with a cursor where it stopped', { cursor: 'c9' }, { cursor: 'c9' }],
    ['with both from the cursor', { cursor: 'c9', updatedAfter: timeOf(0) }, { cursor: 'c9' }],
    ['and can wait for news', { cursor: 'c9', wait: 30 }, { cursor: 'c9', wait: '30' }],
  ])('starts %s', async (_, options, query) => {
    const { client, seen } = await start(page([], 'c9', false))
    expect(await drain(client.customers.sync(options))).toMatchObject([{ changes: [], cursor: 'c9' }])
    expect(seen.map((request) => request.query)).toEqual([{ limit: '100', ...query }])
  })

  test('asks for no page that the caller does not want', async () => {
    const { client, seen } = await start(page([customer(1)], 'c1', true))
    const pages = client.customers.sync()
    expect(seen).toEqual([])
    for await (const { cursor } of pages) {
      expect(cursor).toBe('c1')
      break
    }
    expect(seen).toHaveLength(1)
  })

  test('repeats a page that did not arrive, from the same cursor', async () => {
    const { client, seen } = await start(page([], 'c1', true), 'drop', page([customer(1)], 'c2', false))
    expect(await drain(client.customers.sync({ cursor: 'c0' }))).toHaveLength(2)
    expect(seen.map(({ query }) => query.cursor)).toEqual(['c0', 'c1', 'c1'])
  })

  test('ends with its signal', async () => {
    const controller = new AbortController()
    const { client, seen } = await start(page([customer(1)], 'c1', true), page([], 'c2', false))
    const pages = client.customers.sync({}, { signal: controller.signal })
    await pages.next()
    controller.abort(new Error('enough'))
    await expect(pages.next()).rejects.toThrow('enough')
    expect(seen).toHaveLength(1)
  })
})

describe('removals', () => {
  test('take their place among the changes', async () => {
    const { client } = await start(page([customer(1), removal(2), customer(3)], 'c1', false))
    const [only] = await drain(client.customers.sync())
    expect(only?.changes).toEqual([
      { type: 'upsert', row: customer(1) },
      { type: 'removed', id: idOf(2), resource: 'customer', removedAt: timeOf(2) },
      { type: 'upsert', row: customer(3) },
    ])
  })

  test('`object` is read before any other field', () => {
    const read: string[] = []
    const watch = <R extends object>(row: R): R =>
      new Proxy(row, {
        get(target, name, receiver) {
          read.push(String(name))
          return Reflect.get(target, name, receiver)
        },
      })
    changeOf(watch({ object: 'removed' as const, id: idOf(1), resource: 'customer', removedAt: timeOf(1) }))
    expect(read[0]).toBe('object')
    read.length = 0
    changeOf(watch(customer(1)))
    expect(read).toEqual(['object'])
  })
})

describe('what cannot go on is thrown', () => {
  test('a cursor from before a restore: no silent new start', async () => {
    const { client, seen } = await start(page([customer(1)], 'c1', true), problem(410, 'cursor_too_old'))
    const pages = client.customers.sync({ cursor: 'c0' })
    await pages.next()
    await expect(pages.next()).rejects.toMatchObject({ status: 410, code: 'cursor_too_old' })
    expect(await pages.next()).toEqual({ done: true, value: undefined })
    expect(seen).toHaveLength(2)
  })

  test('a cursor that does not move while more is promised', async () => {
    const { client, seen } = await start(page([], 'c0', true))
    const stuck = drain(client.customers.sync({ cursor: 'c0' }))
    await expect(stuck).rejects.toMatchObject({ code: 'unexpected_answer' })
    expect(seen).toHaveLength(1)
  })

  test('a page without a cursor', async () => {
    const pagination = { total: 0, limit: 20, offset: 0, hasMore: false }
    const { client } = await start({ status: 200, body: { data: [], pagination } })
    const broken = drain(client.customers.sync())
    await expect(broken).rejects.toMatchObject({ code: 'unexpected_answer' })
  })
})
