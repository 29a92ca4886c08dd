/** Streams hold no more than their clients read, and no key has more than its share of them. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { createMcp, type Session } from '../src/index.ts'

const schema = { type: 'object', properties: {} }
const schemas = new Proxy({}, { get: () => schema, has: () => true }) as Record<string, typeof schema>
const plurals = ['customers', 'conversations', 'messages', 'notes', 'tickets', 'bookings']
const kinds = plurals.map((plural) => {
  const name = plural.slice(0, -1)
  return { name, plural, events: { [`${name}.created`]: 'it is made' } }
})

/**
 * A service whose backlog of events never ends, or has always been dropped, or is empty until `happens`, and that counts
 * what it is asked for.
 */
function endless({ isDropped = false, isIdle = false } = {}) {
  let reads = 0
  let happens = () => {}
  const session: Session = {
    key: 'key',
    caller: 'key',
    scopes: ['*'],
    baseUrl: 'http://service',
    async fetch(url, { signal }) {
      signal?.throwIfAborted()
      reads++
      const problem = { status: 410, code: 'cursor_too_old', detail: 'Dropped.', type: '', title: '' }
      if (isDropped && url.includes('cursor=')) return Response.json(problem, { status: 410 })
      if (isDropped) return Response.json({ data: [], pagination: { nextCursor: 'now', hasMore: false } })
      if (isIdle && !url.includes('wait=20'))
        return Response.json({ data: [], pagination: { nextCursor: 'now', hasMore: false } })
      if (isIdle)
        await new Promise<void>((resolve, reject) => {
          happens = resolve
          signal?.addEventListener('abort', () => reject(signal.reason))
        })
      const data = Array.from({ length: 100 }, (_, n) => ({
        id: `${reads}-${n}`,
        type: 'ticket.created',
        createdAt: '2026-01-01T00:00:00.000Z',
        data: { body: 'x'.repeat(10_000) },
      }))
      return Response.json({ data, pagination: { nextCursor: String(reads), hasMore: true } })
    },
  }
  const mcp = createMcp({ schemas, kinds, otherSubjects: [], version: '0', now: () => 0 })
  const open = (signal: AbortSignal, key = 'key') => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const params = { name: 'ticket.created', cursor: 'begin', _meta }
    const request = new Request('http://service/mcp', {
      method: 'POST',
      signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'events/stream',
      },
    })
    return mcp.answer(
      request,
      { jsonrpc: '2.0', id: 7, method: 'events/stream', params },
      { ...session, key },
    )
  }
  return { open, mcp, reads: () => reads, happens: () => happens() }
}

async function settled(): Promise<void> {
  for (let n = 0; n < 200; n++) await turn()
}

test('a stream that nobody reads asks for one page, and goes on as it is read', async () => {
  const { open, reads, mcp } = endless()
  const leaving = new AbortController()
  const { body } = await open(leaving.signal)
  await settled()
  expect(reads()).toBe(1)
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  for (let n = 0; n < 250; n++) expect((await reader.read()).done).toBe(false)
  await settled()
  expect(reads()).toBe(3)
  await reader.cancel()
  await settled()
  expect(reads()).toBe(3)
  await mcp.close()
})

test('a stream that nobody reads ends after a minute, and another may be opened', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { open, reads, mcp } = endless()
  const opened = () => open(new AbortController().signal)
  const streams = await Promise.all(Array.from({ length: 20 }, opened))
  await settled()
  vi.advanceTimersByTime(59_999)
  await settled()
  expect((await opened()).headers.get('content-type')).toBe('application/json')
  vi.advanceTimersByTime(1)
  await settled()
  const [first] = streams
  await expect(first?.body?.getReader().read()).rejects.toThrow('reads nothing')
  expect(reads()).toBe(20)
  expect((await opened()).headers.get('content-type')).toBe('text/event-stream')
  vi.useRealTimers()
  await mcp.close()
})

test('streams of one caller that wait for the same share a read, also when the one that reads leaves', async () => {
  const { open, reads, happens, mcp } = endless({ isIdle: true })
  const leaving = Array.from({ length: 5 }, () => new AbortController())
  const streams = await Promise.all(leaving.map(({ signal }) => open(signal)))
  const readers = streams.map(({ body }) => (body as ReadableStream<Uint8Array>).getReader())
  const next = async (n: number) => Buffer.from((await readers[n]?.read())?.value ?? []).toString()
  for (const n of readers.keys()) {
    expect(await next(n)).toContain('notifications/events/active')
    expect(await next(n)).toContain('notifications/events/heartbeat')
  }
  await settled()
  // Where each begins, and then one for all.
  expect(reads()).toBe(5 + 1)
  leaving[0]?.abort()
  await settled()
  expect(reads()).toBe(5 + 2)
  happens()
  for (const n of [1, 2, 3, 4]) expect(await next(n)).toContain('notifications/events/event')
  for (const one of leaving) one.abort()
  await mcp.close()
})

test('a stream whose events are dropped again and again pauses', async () => {
  const { open, reads, mcp } = endless({ isDropped: true })
  const leaving = new AbortController()
  const { body } = await open(leaving.signal)
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  for (let n = 0; n < 3; n++) await reader.read()
  await settled()
  expect(reads()).toBe(4)
  leaving.abort()
  await reader.cancel()
  await mcp.close()
})

test('a key has 20 streams, and another one when one of them has ended', async () => {
  const { open, mcp } = endless()
  const leaving = Array.from({ length: 20 }, () => new AbortController())
  const streams = await Promise.all(leaving.map(({ signal }) => open(signal)))
  const refused = await open(new AbortController().signal)
  expect(await refused.json()).toMatchObject({
    id: 7,
    error: { code: -32025, data: { limit: 'streams', max: 20 } },
  })
  expect((await open(new AbortController().signal, 'other')).headers.get('content-type')).toBe(
    'text/event-stream',
  )
  await streams[0]?.body?.cancel()
  expect((await open(new AbortController().signal)).headers.get('content-type')).toBe('text/event-stream')
  await mcp.close()
})
