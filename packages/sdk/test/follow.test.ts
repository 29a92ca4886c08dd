/** A sync that does not end, against a scripted service: what it yields, what it waits out, and what ends it. */
import { describe, expect, test } from 'vitest'
import { startHttpServer } from '../../testbed/loopback.ts'
import { createClient, type DeskwireError, type SyncParams } from '../src/index.ts'
import { customer, timeOf } from './rows.ts'
import { problem, type Step, scripted } from './scripted.ts'

const page = (data: unknown[], nextCursor: string, hasMore = false): Step => ({
  status: 200,
  body: { data, pagination: { total: 2, limit: 2, offset: 0, hasMore, nextCursor } },
})

/** Follows until `count` pages have come; time passes by `tick` ms with each look at the clock. */
const followed = async (
  steps: Step[],
  count: number,
  { tick = 5_000, ...params }: SyncParams & { tick?: number } = {},
) => {
  const { baseUrl, seen } = await scripted(...steps)
  const client = createClient({ baseUrl, apiKey: 'dwk_x', retries: 0 })
  const slept: number[] = []
  const failed: [code: string, pauseMs: number][] = []
  let now = 0
  const pages = client.customers.follow(params, {
    onFailure: ({ code }, pauseMs) => failed.push([code, pauseMs]),
    pauses: { random: () => 1, now: () => (now += tick), sleep: async (ms) => void slept.push(ms) },
  })
  const cursors: string[] = []
  const end = (async () => {
    for await (const { cursor } of pages) {
      cursors.push(cursor)
      if (cursors.length === count) return 'left'
    }
    return 'ended'
  })()
  return { seen, slept, failed, cursors, end }
}

const asked = (seen: { query: Record<string, string> }[]) => seen.map(({ query }) => query)

describe('following', () => {
  test('catches up, then waits for what is new; an answer without news yields nothing', async () => {
    const it = await followed(
      [page([customer(1)], 'c1', true), page([customer(2)], 'c2'), page([], 'c2'), page([customer(3)], 'c3')],
      3,
      { limit: 2 },
    )
    expect(await it.end).toBe('left')
    expect(it.cursors).toEqual(['c1', 'c2', 'c3'])
    expect(asked(it.seen)).toEqual([
      { updatedAfter: '1970-01-01T00:00:00.000Z', limit: '2' },
      { cursor: 'c1', limit: '2', wait: '50' },
      { cursor: 'c2', limit: '2', wait: '50' },
      { cursor: 'c2', limit: '2', wait: '50' },
    ])
    expect(it.slept).toEqual([])
  })

  test('tells at once where it stands, though there is no news', async () => {
    const it = await followed([page([], 'c9')], 1, { cursor: 'c9', wait: 20 })
    expect(await it.end).toBe('left')
    expect(asked(it.seen)).toEqual([{ cursor: 'c9', limit: '100' }])
  })

  test('does not ask again and again what is not held back', async () => {
    const it = await followed(
      [page([], 'c1'), page([], 'c1'), page([], 'c1'), page([customer(1)], 'c2')],
      2,
      { tick: 10 },
    )
    expect(await it.end).toBe('left')
    expect(it.slept).toEqual([1_000, 1_000])
  })

  test('all kinds goes the same way', async () => {
    const { baseUrl, seen } = await scripted(page([customer(1)], 'c1'))
    for await (const { changes } of createClient({ baseUrl, apiKey: 'dwk_x' }).changes.follow({
      updatedAfter: timeOf(0),
    })) {
      expect(changes).toEqual([{ type: 'upsert', row: customer(1) }])
      break
    }
    expect(seen.map(({ path, query }) => [path, query])).toEqual([
      ['/v1/changes', { updatedAfter: timeOf(0), limit: '100' }],
    ])
  })
})

describe('what passes is waited out', () => {
  test('and it goes on where it was, after longer and longer pauses, begun anew once it works', async () => {
    const broken: Step[] = [
      'drop',
      'truncate',
      { status: 502 },
      problem(500, 'internal_error'),
      problem(503, 'unavailable'),
    ]
    const it = await followed(
      [page([], 'c1'), ...broken, page([customer(1)], 'c2'), 'drop', page([customer(2)], 'c3')],
      3,
    )
    expect(await it.end).toBe('left')
    expect(it.cursors).toEqual(['c1', 'c2', 'c3'])
    expect(asked(it.seen).slice(1, 7)).toEqual(Array(6).fill({ cursor: 'c1', limit: '100', wait: '50' }))
    expect(it.slept).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 1_000])
    expect(it.failed.map(([code]) => code)).toEqual([
      'connection_failed',
      'connection_failed',
      'unexpected_answer',
      'internal_error',
      'unavailable',
      'connection_failed',
    ])
  })

  test('however long it takes, half a minute at a time and never sooner than it was asked', async () => {
    const steps: Step[] = [
      ...Array<Step>(40).fill('drop'),
      problem(429, 'rate_limited', { 'retry-after': '120' }),
      page([], 'c1'),
    ]
    const it = await followed(steps, 1)
    expect(await it.end).toBe('left')
    expect(it.slept.slice(5)).toEqual([...Array(35).fill(30_000), 150_000])
  })

  test('beside what the client repeats by itself', async () => {
    const { baseUrl, seen } = await scripted('drop', 'drop', page([], 'c1'))
    const sleep = async () => {}
    const client = createClient({ baseUrl, apiKey: 'dwk_x', retries: { limit: 1, sleep } })
    const failures: string[] = []
    for await (const { cursor } of client.customers.follow(
      {},
      { onFailure: ({ code }) => failures.push(code), pauses: { sleep } },
    )) {
      expect(cursor).toBe('c1')
      break
    }
    expect(failures).toEqual(['connection_failed'])
    expect(seen).toHaveLength(3)
  })
})

describe('what no repetition mends is thrown', () => {
  test.each([
    [401, 'unauthorized'],
    [403, 'insufficient_scope'],
    [400, 'invalid_cursor'],
    [410, 'cursor_too_old'],
  ])('%d %s', async (status, code) => {
    const it = await followed([page([], 'c1'), problem(status, code)], 9)
    await expect(it.end).rejects.toMatchObject({ status, code })
    expect(it.seen).toHaveLength(2)
    expect(it.failed).toEqual([])
  })

  test('a cursor that does not move while more is promised', async () => {
    const it = await followed([page([], 'c1', true), page([], 'c1', true)], 9)
    await expect(it.end).rejects.toMatchObject({ code: 'unexpected_answer' })
  })

  test('the reason of its signal, also while it pauses', async () => {
    const controller = new AbortController()
    const { baseUrl, seen } = await scripted('drop', 'drop')
    const client = createClient({ baseUrl, apiKey: 'dwk_x', retries: 0 })
    const pages = client.customers.follow(
      {},
      {
        signal: controller.signal,
        onFailure: () => queueMicrotask(() => controller.abort(new Error('enough'))),
      },
    )
    await expect(pages.next()).rejects.toThrow('enough')
    expect(seen).toHaveLength(1)
  })
})

describe('a stream of events', () => {
  const block = (type: string, data: unknown) => `event: ${type}\nid: x\ndata: ${JSON.stringify(data)}\n\n`
  const event = (data: unknown[], nextCursor: string, hasMore = false) =>
    block('page', { data, pagination: { total: 2, limit: 2, offset: 0, hasMore, nextCursor } })
  const proof = block('checkpoint', { count: 1, digest: '1', contentDigest: '1' })
  const ended = (status: number, code: string) => block('end', problemOf(status, code))
  const problemOf = (status: number, code: string) => (problem(status, code) as { body: unknown }).body
  const stream = (...blocks: string[]): Step => ({
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    text: blocks.join(''),
  })

  test('is asked for, and read until it ends; then the next one goes on from there', async () => {
    const it = await followed(
      [
        stream(
          event([customer(1)], 'c1', true),
          ':\n\n',
          event([], 'c1'),
          proof,
          event([customer(2)], 'c2'),
          proof,
          ended(503, 'unavailable'),
        ),
        stream(event([], 'c2'), proof, event([customer(3)], 'c3'), proof),
      ],
      3,
    )
    expect(await it.end).toBe('left')
    expect(it.cursors).toEqual(['c1', 'c2', 'c3'])
    expect(asked(it.seen).map(({ cursor }) => cursor)).toEqual([undefined, 'c2'])
    expect(it.seen[0]?.headers.accept).toBe('text/event-stream, application/json;q=0.9')
    expect([it.failed, it.slept]).toEqual([[], []])
  })

  test('that breaks off is followed by another, after the last complete page', async () => {
    const whole = event([customer(1)], 'c1', true) + event([customer(2)], 'c2') + proof
    for (let cut = 1; cut < whole.length; cut += 7) {
      const it = await followed([stream(whole.slice(0, cut)), stream(event([customer(9)], 'c9'), proof)], 9)
      expect(await it.end.catch(({ status }: DeskwireError) => status)).toBe(418)
      const first = it.cursors.slice(0, -1)
      expect(['', 'c1', 'c1,c2']).toContain(first.join())
      expect(asked(it.seen)[1]?.cursor).toBe(first.at(-1))
      expect(it.failed[0]?.[0]).toBe('connection_failed')
    }
  })

  test('that ends with a problem that no repetition can fix throws it', async () => {
    const it = await followed([stream(event([], 'c1'), proof, ended(401, 'unauthorized'))], 9)
    expect(await it.end.catch((error: DeskwireError) => error.code)).toBe('unauthorized')
  })

  test('a page without its checkpoint comes with the event after it', async () => {
    const it = await followed([stream(event([customer(1)], 'c1'), event([customer(2)], 'c2'), proof)], 2)
    expect(await it.end).toBe('left')
    expect(it.cursors).toEqual(['c1', 'c2'])
  })

  test('that the key may not have beside its others is replaced by waiting', async () => {
    const it = await followed([problem(429, 'rate_limited'), page([], 'c1')], 1)
    expect(await it.end).toBe('left')
    expect(it.seen.map(({ headers }) => headers.accept)).toEqual([
      'text/event-stream, application/json;q=0.9',
      'application/json',
    ])
  })

  test('that brings nothing in its time is asked for no more', async () => {
    const accepted: (string | undefined)[] = []
    await using server = await startHttpServer((request, response) => {
      const { accept } = request.headers
      accepted.push(accept)
      if (accept?.startsWith('text/event-stream')) return
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify((page([customer(1)], 'c1') as { body: unknown }).body))
    })
    const client = createClient({ baseUrl: `${server.url}/v1`, apiKey: 'dwk_x', retries: 0, timeoutMs: 50 })
    for await (const { cursor } of client.changes.follow({}, { pauses: { sleep: async () => {} } })) {
      expect(cursor).toBe('c1')
      break
    }
    expect(accepted).toEqual(['text/event-stream, application/json;q=0.9', 'application/json'])
  })
})
