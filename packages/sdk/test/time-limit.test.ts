/** The time that a request has, against a service that falls silent. */
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { startHttpServer } from '../../testbed/loopback.ts'
import { createClient } from '../src/index.ts'
import { TimeLimit } from '../src/time-limit.ts'
import { customer } from './rows.ts'

/** A service that answers request number n, from 0, as `answer` does; by default not at all. */
const silent = async (answer: (response: ServerResponse, n: number) => void = () => {}) => {
  const asked: string[] = []
  const server = await startHttpServer((request, response) =>
    answer(response, asked.push(request.url ?? '') - 1),
  )
  onTestFinished(() => server[Symbol.asyncDispose]())
  return { baseUrl: `${server.url}/v1`, asked }
}

/** Time passes when a test says so: however busy the machine is, nothing else is given up. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())
const timePasses = (ms: number) => void vi.advanceTimersByTime(ms)

const apiKey = 'dwk_x'
const timedOut = { code: 'connection_failed', status: 0, cause: { name: 'TimeoutError' } }

describe('a request', () => {
  test('that is not answered is given up, and repeated where that is safe', async () => {
    const { baseUrl, asked } = await silent((response, n) =>
      n === 0 ? timePasses(30_000) : response.end(JSON.stringify(customer(1))),
    )
    const client = createClient({ baseUrl, apiKey, retries: { sleep: async () => {} } })
    expect(await client.customers.get(customer(1).id)).toEqual(customer(1))
    expect(asked).toHaveLength(2)
    const never = await silent(() => timePasses(30_000))
    const patch = createClient({ baseUrl: never.baseUrl, apiKey }).customers.update('x', { name: 'Ada' })
    await expect(patch).rejects.toMatchObject(timedOut)
    expect(never.asked).toHaveLength(1)
  })

  test('whose answer stops in the middle is given up as well', async () => {
    const { baseUrl } = await silent((response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"id":', () => timePasses(30_000))
    })
    const client = createClient({ baseUrl, apiKey, retries: 0 })
    await expect(client.customers.get('x')).rejects.toMatchObject(timedOut)
  })

  test('has half a minute unless told, and the wait that it asks for beyond', async () => {
    // A spy on those that a test moves would leave them behind.
    vi.useRealTimers()
    const timers = vi.spyOn(globalThis, 'setTimeout')
    try {
      const pagination = { total: 0, limit: 20, offset: 0, hasMore: false, nextCursor: 'c1' }
      const fetch = async () => Response.json({ data: [], pagination })
      const limitOf = async (
        ask: (client: ReturnType<typeof createClient>) => Promise<unknown>,
        options = {},
      ) => {
        timers.mockClear()
        await ask(createClient({ baseUrl: 'http://127.0.0.1:1/v1', apiKey, fetch, ...options }))
        return timers.mock.calls.map(([, ms]) => ms)
      }
      expect(await limitOf((client) => client.customers.list().page())).toEqual([30_000])
      expect(await limitOf((client) => client.customers.sync({ wait: 50 }).next())).toEqual([80_000])
      expect(
        await limitOf((client) => client.changes.sync({ wait: 5 }).next(), { timeoutMs: 1_000 }),
      ).toEqual([6_000])
      expect(await limitOf((client) => client.customers.list().page(), { timeoutMs: Infinity })).toEqual([])
    } finally {
      timers.mockRestore()
    }
    for (const timeoutMs of [0, -1, Number.NaN]) {
      expect(() => createClient({ baseUrl: 'http://h/v1', apiKey, timeoutMs })).toThrow(TypeError)
    }
  })

  test("of a caller who gives up has the caller's reason", async () => {
    const { baseUrl } = await silent()
    const controller = new AbortController()
    const asked = createClient({ baseUrl, apiKey }).customers.list({}, { signal: controller.signal }).page()
    controller.abort(new Error('enough'))
    await expect(asked).rejects.toThrow('enough')
  })
})

describe('an export', () => {
  const line = `${JSON.stringify(customer(1))}\n`

  test('that falls silent is given up', async () => {
    const { baseUrl } = await silent((response) => response.writeHead(200).write(line))
    const changes = createClient({ baseUrl, apiKey }).customers.export()[Symbol.asyncIterator]()
    expect((await changes.next()).value).toMatchObject({ type: 'upsert' })
    setImmediate(() => timePasses(30_000))
    await expect(changes.next()).rejects.toMatchObject(timedOut)
  })

  test('may take longer than the limit as long as something comes, or its reader takes its time', async () => {
    let finish = () => {}
    const { baseUrl } = await silent((response) => {
      response.writeHead(200).write(line)
      finish = () => response.end()
    })
    const changes = createClient({ baseUrl, apiKey }).customers.export()[Symbol.asyncIterator]()
    await changes.next()
    // The reader does something else for an hour: nobody waits for the service.
    timePasses(3_600_000)
    finish()
    // The end is the service's, not one of the limit: it broke off before its last line.
    await expect(changes.next()).rejects.toMatchObject({
      cause: { message: expect.stringContaining('broke off') },
    })
    expect(vi.getTimerCount()).toBe(0)
  })
})

test('nothing of a request stays with a signal that outlives it', () => {
  const { signal } = new AbortController()
  const [added, removed] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')]
  new TimeLimit(1_000, signal).end()
  expect(removed.mock.calls[0]?.slice(0, 2)).toEqual(added.mock.calls[0]?.slice(0, 2))
})
