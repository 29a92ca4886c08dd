/** What all clients do alike, `conformance/clients.json`, over real HTTP. */
import http, { type ServerResponse } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import clients from '../../../conformance/clients.json' with { type: 'json' }
import { listening, startHttpServer } from '../../testbed/loopback.ts'
import { keyText } from '../src/address.ts'
import { baseAddress, createClient, DeskwireError } from '../src/index.ts'
import { problem, type Step, scripted } from './scripted.ts'

const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const

interface Case {
  failure?: string
  status?: number
  code?: string | null
  retryAfter?: number
}

/** Null: a page of something in between. */
const stepOf = ({ failure, status = 0, code, retryAfter }: Case): Step => {
  if (failure !== undefined) return 'drop'
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
  return code == null ? { status, text: '<html></html>', headers } : problem(status, code, headers)
}

test.each(clients.addresses.accepted)('%j is the base address %s', (given, base) => {
  expect(baseAddress(given as string)).toBe(base)
})

test.each(clients.addresses.refused)('%j is no base address', (given) => {
  expect(() => createClient({ baseUrl: given, apiKey: 'dwk_x' })).toThrow(TypeError)
})

test('a key is taken without the spaces around it, and refused with others', () => {
  for (const [given = '', key] of clients.keys.accepted) expect(keyText(given)).toBe(key)
  for (const given of clients.keys.refused) expect(() => keyText(given)).toThrow(TypeError)
})

describe.each(clients.retries as (Case & { repeated: string[] })[])('after %j', (failed) => {
  test.each(methods)('%s is repeated or not, with its key', async (method) => {
    const { baseUrl, seen } = await scripted(stepOf(failed), stepOf(failed))
    let sent = 0
    const client = createClient({
      // Nothing listens there.
      baseUrl: failed.failure === 'refused' ? 'http://127.0.0.1:2' : baseUrl,
      apiKey: 'dwk_x',
      retries: { limit: 1, sleep: async () => {} },
      onRequest: () => void sent++,
    })
    await expect(client.request(method, '/customers')).rejects.toThrow(DeskwireError)
    expect(sent).toBe(failed.repeated.includes(method) ? 2 : 1)
    const keys = new Set(seen.map(({ headers }) => headers['idempotency-key']))
    if (seen.length > 0) expect([keys.size, keys.has(undefined)]).toEqual([1, method !== 'POST'])
  })
})

test.each(clients.families)('$status $code is $family', async (failed) => {
  const { baseUrl } = await scripted(stepOf(failed))
  const client = createClient({ baseUrl, apiKey: 'dwk_x', retries: 0 })
  const call = client.request('GET', '/customers')
  const error = (await call.catch((error: unknown) => error)) as DeskwireError
  expect([error.name, error.status, error.code]).toEqual([
    failed.family,
    failed.status,
    failed.code ?? 'unexpected_answer',
  ])
})

const apiKey = 'dwk_x'

test('a time limit is above 0', async () => {
  for (const timeoutMs of clients.timeouts.refused.map(Number)) {
    expect(() => createClient({ baseUrl: 'http://h', apiKey, timeoutMs })).toThrow(TypeError)
    const call = createClient({ baseUrl: 'http://h', apiKey }).organization.get({ timeoutMs })
    await expect(call).rejects.toThrow(/^timeoutMs must be above 0/)
  }
})

/** Answers as a case says, and never to the end. */
const unfinished: Record<string, (response: ServerResponse) => void> = {
  nothing() {},
  'half of its body'(response) {
    response.writeHead(200, { 'content-length': 100 }).write('{"id":')
  },
  'a byte now and then'(response) {
    response.writeHead(200)
    const timer = setInterval(() => response.write(' '), 10)
    response.on('close', () => clearInterval(timer))
  },
}

describe.each(clients.timeouts.givenUp)('$answer until the time limit', ({ answer, repeated }) => {
  test.each(methods)('ends %s, which is repeated or not', async (method) => {
    const server = await startHttpServer((_, response) => unfinished[answer]?.(response))
    onTestFinished(() => server[Symbol.asyncDispose]())
    let sent = 0
    const client = createClient({
      baseUrl: server.url,
      apiKey,
      timeoutMs: 100,
      retries: { limit: 1, sleep: async () => {} },
      onRequest: () => void sent++,
    })
    const failed = { name: 'ConnectionFailedError', code: 'connection_failed', status: 0 }
    await expect(client.request(method, '/customers')).rejects.toMatchObject(failed)
    expect(sent).toBe(repeated.includes(method) ? 2 : 1)
  })
})

test('what a call lets the service wait is added to its time limit', async () => {
  const page = { data: [], pagination: { hasMore: false, nextCursor: 'c' } }
  const server = await startHttpServer((_, response) => {
    setTimeout(() => response.end(JSON.stringify(page)), 200)
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { events } = createClient({ baseUrl: server.url, apiKey, timeoutMs: 100, retries: 0 })
  expect(await events.list({ wait: 60 }).page()).toEqual(page)
  await expect(events.list().page()).rejects.toMatchObject({ code: 'connection_failed' })
})

/** As `NODE_USE_ENV_PROXY=1` sets them for a process of its own. */
test.each(clients.proxies)('$environment: $to goes through the proxy: $isUsed', async (given) => {
  const asked: string[] = []
  const server = http.createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(502).end()
  })
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '')
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
  })
  const proxy = await listening(server)
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  const environment = Object.entries(given.environment).map(([name, value]) => [
    name,
    value === 'PROXY' ? `http://127.0.0.1:${proxy.port}` : value,
  ])
  onTestFinished(http.setGlobalProxyFromEnv(Object.fromEntries(environment)))
  const client = createClient({ baseUrl: given.to, apiKey, retries: 0 })
  await expect(client.organization.get()).rejects.toMatchObject({ name: 'ConnectionFailedError' })
  expect(asked.length).toBe(given.isUsed ? 1 : 0)
})
