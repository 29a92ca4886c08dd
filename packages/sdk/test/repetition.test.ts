/** What is sent again, with which key and after which pause; and what is sent once only. */
import { describe, expect, test } from 'vitest'
import { type Client, createClient, type RetryPolicy } from '../src/index.ts'
import { customer, idOf, ticket } from './rows.ts'
import { problem, type Step, scripted } from './scripted.ts'

const start = async (steps: Step[], retries: Partial<RetryPolicy> = {}) => {
  const { baseUrl, seen } = await scripted(...steps)
  const pauses: number[] = []
  const sleep = async (ms: number) => void pauses.push(ms)
  const client = createClient({ baseUrl, apiKey: 'dwk_x', retries: { random: () => 1, sleep, ...retries } })
  return { client, seen, pauses }
}

const found: Step = { status: 200, body: customer(1) }
const made: Step = { status: 201, body: customer(1) }
const proxy503: Step = { status: 503, text: 'upstream connect error or disconnect/reset before headers' }

const change = (client: Client) => client.tickets.update(idOf(1), { status: 'open' })
const remove = (client: Client) => client.tickets.delete(idOf(1))

describe('a GET', () => {
  test('is repeated after no answer, half an answer, 408, 429 and 5xx', async () => {
    const gateway: Step[] = [{ status: 408 }, { status: 502 }, proxy503, { status: 504 }]
    const own: Step[] = ['drop', 'truncate', problem(429, 'rate_limited'), problem(500, 'internal_error')]
    const { client, seen, pauses } = await start([...own, ...gateway, found], { limit: 8 })
    expect(await client.customers.get(idOf(1))).toEqual(customer(1))
    expect(seen).toHaveLength(9)
    expect(pauses).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000])
  })

  test('is given up after the limit with the last failure', async () => {
    const { client, seen, pauses } = await start(Array(9).fill(problem(503, 'unavailable')))
    await expect(client.customers.list().page()).rejects.toMatchObject({ status: 503, code: 'unavailable' })
    expect(seen).toHaveLength(5)
    expect(pauses).toHaveLength(4)
  })

  test('is sent once when repetition is off', async () => {
    const { baseUrl, seen } = await scripted('drop', found)
    const client = createClient({ baseUrl, apiKey: 'dwk_x', retries: 0 })
    await expect(client.customers.get(idOf(1))).rejects.toMatchObject({ code: 'connection_failed' })
    expect(seen).toHaveLength(1)
  })
})

describe('a POST', () => {
  test('carries one and the same key through all repetitions', async () => {
    const failures: Step[] = [
      'drop',
      problem(500, 'internal_error'),
      proxy503,
      problem(408, 'request_timeout'),
    ]
    const { client, seen } = await start([...failures, made])
    expect(await client.customers.create({ name: 'Ada' })).toEqual(customer(1))
    const keys = new Set(seen.map(({ headers }) => headers['idempotency-key']))
    expect(seen).toHaveLength(5)
    expect(keys.size).toBe(1)
    expect([...keys][0]).toMatch(/^[0-9a-f]{32}$/)
    expect(new Set(seen.map(({ body }) => JSON.stringify(body)))).toEqual(new Set(['{"name":"Ada"}']))
  })

  test('has a key of its own for each call, or the one that the caller gives', async () => {
    const { client, seen } = await start([made, made, 'drop', made])
    await client.customers.create({ name: 'Ada' })
    await client.customers.create({ name: 'Ada' })
    await client.customers.create({ name: 'Ada' }, { idempotencyKey: 'import-17' })
    const [first, second, ...given] = seen.map(({ headers }) => headers['idempotency-key'])
    expect(first).not.toBe(second)
    expect(given).toEqual(['import-17', 'import-17'])
  })
})

describe.each([
  { name: 'PATCH', send: change, done: { status: 200, body: ticket(1, idOf(2)) } as Step },
  { name: 'DELETE', send: remove, done: { status: 204 } as Step },
])('a $name', ({ send, done }) => {
  test('is repeated when it was refused before it began', async () => {
    const { client, seen } = await start([
      problem(429, 'rate_limited'),
      problem(408, 'request_timeout'),
      done,
    ])
    await send(client)
    expect(seen).toHaveLength(3)
  })

  test.each([
    ['no answer', 'drop' as Step],
    ['half an answer', 'truncate' as Step],
    ['502', { status: 502 } as Step],
    ['503 of a proxy', proxy503],
    ['504', { status: 504 } as Step],
    ['500', problem(500, 'internal_error')],
    ['408 of a proxy', { status: 408 } as Step],
  ])('is not repeated in doubt: %s', async (_, step) => {
    const { client, seen, pauses } = await start([step, done])
    await expect(send(client)).rejects.toThrow()
    expect(seen).toHaveLength(1)
    expect(pauses).toEqual([])
  })
})

test.each([
  [400, 'invalid_parameter'],
  [401, 'unauthorized'],
  [403, 'insufficient_scope'],
  [404, 'not_found'],
  [409, 'duplicate'],
  [410, 'cursor_too_old'],
  [412, 'version_mismatch'],
  [422, 'idempotency_key_reused'],
])('%i is final for every method', async (status, code) => {
  const { client, seen, pauses } = await start(Array(8).fill(problem(status, code)))
  const read = () => client.customers.get(idOf(1))
  const create = () => client.customers.create({})
  for (const call of [read, create, () => change(client), () => remove(client)]) {
    await expect(call()).rejects.toMatchObject({ status, code })
  }
  expect(seen).toHaveLength(4)
  expect(pauses).toEqual([])
})

describe('Retry-After', () => {
  test('is waited for, in seconds or until a date', async () => {
    const date = { 'retry-after': 'Sat, 31 Jan 2026 09:30:05 GMT' }
    const { client, pauses } = await start(
      [problem(429, 'rate_limited', { 'retry-after': '7' }), problem(503, 'unavailable', date), found],
      { now: () => Date.UTC(2026, 0, 31, 9, 30), random: () => 0 },
    )
    await client.customers.get(idOf(1))
    expect(pauses).toEqual([7_000, 5_000])
  })

  test('that is too long is left to the caller', async () => {
    const { client, seen } = await start([problem(429, 'rate_limited', { 'retry-after': '3600' })])
    const limited = client.customers.get(idOf(1))
    await expect(limited).rejects.toMatchObject({ status: 429, retryAfterMs: 3_600_000 })
    expect(seen).toHaveLength(1)
  })
})

describe('an aborted signal', () => {
  test('ends a pause, and its own reason is thrown', async () => {
    const controller = new AbortController()
    const sleep = async (_: number, signal?: AbortSignal) => {
      controller.abort(new Error('enough'))
      signal?.throwIfAborted()
    }
    const { client, seen } = await start(['drop', found], { sleep })
    const call = client.customers.get(idOf(1), { signal: controller.signal })
    await expect(call).rejects.toThrow('enough')
    expect(seen).toHaveLength(1)
  })

  test('sends nothing when it was aborted before, and is no network failure when aborted during', async () => {
    const { client, seen } = await start([found])
    await expect(client.customers.list({}, { signal: AbortSignal.abort() }).page()).rejects.toThrow('aborted')
    expect(seen).toEqual([])
    const controller = new AbortController()
    const hanging = createClient({
      baseUrl: 'http://127.0.0.1:1/v1',
      apiKey: 'dwk_x',
      retries: 0,
      fetch: async (_, init) => {
        controller.abort(new Error('enough'))
        throw init.signal?.reason
      },
    })
    const call = hanging.customers.create({ name: 'Ada' }, { signal: controller.signal })
    await expect(call).rejects.toThrow('enough')
  })
})
