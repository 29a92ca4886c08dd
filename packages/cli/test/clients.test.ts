/** What all clients do alike, `conformance/clients.json`, by the commands that make any call. */
import http, { type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import clients from '../../../conformance/clients.json' with { type: 'json' }
import { listening, startHttpServer } from '../../testbed/loopback.ts'
import { baseUrlOf } from '../src/client.ts'
import { UsageError } from '../src/usage-error.ts'
import { runHere } from './run-here.ts'

const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const

// No pauses between repetitions, which are random parts of some seconds. The SDK takes the function as it is loaded.
vi.hoisted(() => {
  Math.random = () => 0
})
afterEach(() => void vi.restoreAllMocks())

interface Case {
  failure?: string
  status?: number
  code?: string | null
  retryAfter?: number
}

/** Null: a page of something in between. */
function fail(answer: ServerResponse, { failure, status = 0, code = null, retryAfter }: Case): void {
  if (failure !== undefined) return void answer.destroy()
  const type = code === null ? 'text/html' : 'application/problem+json'
  const after = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
  answer.writeHead(status, { 'content-type': type, ...after })
  answer.end(code === null ? '<html></html>' : JSON.stringify({ code, detail: 'Why.', status }))
}

test.each(clients.addresses.accepted)('%j is the base address %s', (given, base) => {
  expect(baseUrlOf(given as string)).toBe(base)
})

test.each(clients.addresses.refused)('%j is no base address', (given) => {
  expect(() => baseUrlOf(given)).toThrow(UsageError)
})

test('a key with spaces within is a usage error', async () => {
  for (const key of clients.keys.refused) {
    const { code, stdout } = await runHere(['api', '/x', '--url', 'http://127.0.0.1:2', '--key', key])
    expect({ key, code, stdout }).toEqual({ key, code: 2, stdout: '' })
  }
})

test('a key is sent without the spaces around it', async () => {
  for (const [given = '', key] of clients.keys.accepted) {
    const sent: IncomingHttpHeaders[] = []
    await using server = await startHttpServer((request, answer) => {
      sent.push(request.headers)
      answer.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
    expect((await runHere(['api', '/x', '--url', server.url, '--key', given])).code).toBe(0)
    expect(sent.map(({ authorization }) => authorization)).toEqual([`Bearer ${key}`])
  }
})

describe.each(clients.retries as (Case & { repeated: string[] })[])('after %j', (failed) => {
  test.each(methods)('%s is repeated or not, with its key', async (method) => {
    const sent: IncomingHttpHeaders[] = []
    await using server = await startHttpServer((request, answer) => {
      sent.push(request.headers)
      fail(answer, failed)
    })
    const calls = vi.spyOn(globalThis, 'fetch')
    // Nothing listens at the other.
    const url = failed.failure === 'refused' ? 'http://127.0.0.1:2' : server.url
    const { code, stdout } = await runHere(['api', method, '/customers', '--url', url, '--key', 'dwk_x'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(calls).toHaveBeenCalledTimes(failed.repeated.includes(method) ? 5 : 1)
    const keys = new Set(sent.map((headers) => headers['idempotency-key']))
    if (sent.length > 0) expect([keys.size, keys.has(undefined)]).toEqual([1, method !== 'POST'])
  })
})

test.each(clients.families)('$status $code is one line with both', async (failed) => {
  await using server = await startHttpServer((_, answer) => fail(answer, failed))
  const { code: exit, stderr } = await runHere(['api', '/x', '--url', server.url, '--key', 'dwk_x'])
  const { status, code } = failed
  expect(exit).toBe(1)
  expect(stderr).toMatch(new RegExp(`^deskwire: ${status} ${code ?? 'unexpected_answer'}: .*\\n$`))
})

/** As `NODE_USE_ENV_PROXY=1` sets them for a process of its own. */
test.each(clients.proxies)('$environment: $to goes through the proxy: $isUsed', async (given) => {
  const asked: string[] = []
  const server = http.createServer((request, answer) => {
    asked.push(request.url ?? '')
    answer.writeHead(502).end()
  })
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '')
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
  })
  await using proxy = await listening(server)
  const environment = Object.entries(given.environment).map(([name, value]) => [
    name,
    value === 'PROXY' ? `http://127.0.0.1:${proxy.port}` : value,
  ])
  onTestFinished(http.setGlobalProxyFromEnv(Object.fromEntries(environment)))
  const { code } = await runHere(['api', '/organization', '--url', given.to, '--key', 'dwk_x'])
  // A GET is sent five times.
  expect([code, asked.length]).toEqual([1, given.isUsed ? 5 : 0])
})
