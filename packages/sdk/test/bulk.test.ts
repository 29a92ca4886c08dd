/** Batches and exports: what is sent, what is answered, and which exports are no proof. */
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  type BatchAnswer,
  type CallPromise,
  type Change,
  type Customer,
  createClient,
  MemoryCopy,
} from '../src/index.ts'
import { customer, idOf, referenceCheckpoint, timeOf } from './rows.ts'
import { problem, type Step, scripted } from './scripted.ts'

const start = async (...steps: Step[]) => {
  const { baseUrl, seen } = await scripted(...steps)
  const retries = { sleep: async () => {} }
  return { client: createClient({ baseUrl, apiKey: 'dwk_x', retries }), seen }
}

describe('a batch', () => {
  const answer: BatchAnswer = {
    data: [
      { index: 0, status: 201, outcome: 'created', id: idOf(1) },
      {
        index: 1,
        status: 409,
        outcome: 'refused',
        problem: { code: 'duplicate', title: 'Duplicate', detail: 'Send another.', existingId: idOf(7) },
      },
    ],
    created: 1,
    updated: 0,
    unchanged: 0,
    refused: 1,
  }

  test('posts its items and answers what became of each; a refused item is no failure', async () => {
    const { client, seen } = await start({ status: 200, body: answer }, { status: 200, body: answer })
    expect(await client.customers.batch([{ name: 'Ada' }, { email: 'taken@example.com' }])).toEqual(answer)
    await client.customers.upsert([{ externalId: 'crm-1' }])
    expect(seen.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
      {
        method: 'POST',
        path: '/v1/customers/batch',
        body: { operation: 'create', items: [{ name: 'Ada' }, { email: 'taken@example.com' }] },
      },
      {
        method: 'POST',
        path: '/v1/customers/batch',
        body: { operation: 'upsert', items: [{ externalId: 'crm-1' }] },
      },
    ])
  })

  test('is repeated in doubt, under the same key', async () => {
    const { client, seen } = await start('drop', problem(503, 'unavailable'), { status: 200, body: answer })
    await client.tickets.batch([], { idempotencyKey: 'import-1' })
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(3).fill('import-1'))
  })

  test('creates whole rows, and upserts parts of them that have an externalId', () => {
    const { customers, tickets, messages } = createClient({ baseUrl: 'http://h/v1', apiKey: 'dwk_x' })
    // Not called: the compiler is asked.
    const calls = () => [
      tickets.upsert([{ externalId: 't-1', status: 'open' }]),
      // @ts-expect-error a new ticket needs a customer and a subject
      tickets.batch([{ externalId: 't-1', status: 'open' }]),
      // @ts-expect-error an upsert finds rows by externalId
      customers.upsert([{ name: 'Ada' }]),
      // @ts-expect-error messages never change
      messages.upsert([{ externalId: 'm-1' }]),
    ]
    expectTypeOf(calls).returns.toEqualTypeOf<CallPromise<BatchAnswer>[]>()
  })
})

describe('an export', () => {
  const removal = (n: number, ms: number) => ({
    object: 'removed',
    id: idOf(n),
    resource: 'customer',
    removedAt: timeOf(ms),
  })
  const end = (checkpoint: object) => ({ object: 'export_end', nextCursor: 'c1', checkpoint })
  const lines = (...records: object[]): Step => ({
    status: 200,
    headers: { 'content-type': 'application/x-ndjson; charset=utf-8' },
    text: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  })
  const collect = async (changes: AsyncIterable<Change<Customer>>) => {
    const ids: string[] = []
    for await (const change of changes) ids.push(change.type === 'upsert' ? change.row.id : `-${change.id}`)
    return ids
  }

  test('is every row in order; its cursor is there once its checkpoint is proved', async () => {
    const rows = Array.from({ length: 200 }, (_, n) => ({ ...customer(n), name: `Ünï ${n}` }))
    const { client, seen } = await start(lines(...rows, end(referenceCheckpoint(rows))))
    const all = client.customers.export()
    expect(seen).toEqual([])
    const copy = new MemoryCopy<Customer>()
    for await (const change of all) {
      expect(all.cursor).toBeUndefined()
      await copy.apply(change)
    }
    expect([...copy.rows.values()]).toEqual(rows)
    expect(all.cursor).toBe('c1')
    expect(copy.verify(all.checkpoint as never)).toMatchObject({ exact: true })
    expect(seen).toMatchObject([{ method: 'GET', path: '/v1/customers/export', query: {} }])
  })

  test('counts a row that changed meanwhile once, and one that was removed not at all', async () => {
    const changed = customer(1, 50)
    const records = [customer(1), customer(2), changed, removal(2, 60), removal(9, 61)]
    const { client } = await start(lines(...records, end(referenceCheckpoint([changed]))))
    const all = client.customers.export()
    expect(await collect(all)).toEqual([idOf(1), idOf(2), idOf(1), `-${idOf(2)}`, `-${idOf(9)}`])
    expect(all.checkpoint?.count).toBe(1)
  })

  test('of nothing is proved too', async () => {
    const { client } = await start(lines(end(referenceCheckpoint([]))))
    expect(await collect(client.customers.export())).toEqual([])
  })

  test('that lacks a row, or its end, or breaks off, throws and has no cursor', async () => {
    const rows = [customer(1), customer(2)]
    const proof = end(referenceCheckpoint(rows))
    const { client } = await start(
      lines(customer(1), proof),
      lines(...rows),
      'truncate',
      { status: 200, text: '<html>\n' },
      lines(...rows, proof),
    )
    const all = client.customers.export()
    await expect(collect(all)).rejects.toMatchObject({ code: 'unexpected_answer', status: 200 })
    await expect(collect(all)).rejects.toMatchObject({ code: 'connection_failed' })
    await expect(collect(all)).rejects.toMatchObject({ code: 'connection_failed' })
    await expect(collect(all)).rejects.toThrow('is not JSON. It begins: <html>')
    expect(all.cursor).toBeUndefined()
    expect(await collect(all)).toHaveLength(2)
    expect(all.cursor).toBe('c1')
  })

  test('is begun again where it was refused before it began, and a refusal is its problem', async () => {
    const proved = lines(customer(1), end(referenceCheckpoint([customer(1)])))
    const { client } = await start(problem(429, 'rate_limited'), proved, problem(403, 'insufficient_scope'))
    expect(await collect(client.customers.export())).toHaveLength(1)
    await expect(collect(client.customers.export())).rejects.toMatchObject({ code: 'insufficient_scope' })
  })

  test('ends with the reason of its signal, and stops when nobody reads on', async () => {
    const rows = [customer(1), customer(2)]
    const proved = lines(...rows, end(referenceCheckpoint(rows)))
    const { client, seen } = await start(proved, proved)
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(collect(client.customers.export({ signal }))).rejects.toThrow('enough')
    const all = client.customers.export()
    for await (const _ of all) break
    expect(all.cursor).toBeUndefined()
    expect(seen).toHaveLength(1)
  })
})
