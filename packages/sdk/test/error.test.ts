/** Failures by family, with what a program needs to go on; and what a client can be told of each call. */
import { describe, expect, expectTypeOf, test } from 'vitest'
import { errorCatalogue } from '../../service/src/kernel/error-catalogue.ts'
import { version } from '../../service/src/kernel/version.ts'
import * as sdk from '../src/index.ts'
import { customer, idOf } from './rows.ts'
import { problem, type Step, scripted } from './scripted.ts'

const start = async (steps: Step[], options: sdk.ClientOptions = {}) => {
  const { baseUrl, seen } = await scripted(...steps)
  return { client: sdk.createClient({ baseUrl, apiKey: 'dwk_x', retries: 0, ...options }), seen }
}

/** What a call throws. */
const thrownBy = (call: Promise<unknown>): Promise<sdk.DeskwireError> =>
  call.then(
    () => expect.unreachable(),
    (error: unknown) => error as sdk.DeskwireError,
  )

const families: Record<number, new (problem: sdk.Problem) => sdk.DeskwireError> = {
  401: sdk.AuthenticationError,
  403: sdk.PermissionDeniedError,
  404: sdk.NotFoundError,
  408: sdk.ServerError,
  409: sdk.ConflictError,
  410: sdk.CursorTooOldError,
  412: sdk.ConflictError,
  429: sdk.RateLimitError,
  500: sdk.ServerError,
  503: sdk.ServerError,
}

test.each(Object.entries(errorCatalogue))(
  '%s is of its family, which has its name',
  async (code, { status }) => {
    const { client } = await start([problem(status, code)])
    const error = await thrownBy(client.tickets.get(idOf(1)))
    const family = families[status] ?? sdk.InvalidRequestError
    expect(error).toBeInstanceOf(family)
    expect(error).toBeInstanceOf(sdk.DeskwireError)
    expect(error.constructor).toBe(family)
    expect(error).toMatchObject({ name: family.name, code, status, requestId: 'req-1' })
    expect(error.isTransient).toBe(status === 408 || status === 429 || status >= 500)
  },
)

test('no response, and one of something else, are of one family; the codes are known to the compiler', async () => {
  const { client } = await start(['drop', { status: 404, text: '<html>' }])
  for (const code of ['connection_failed', 'unexpected_answer']) {
    const error = await thrownBy(client.tickets.get(idOf(1)))
    expect([error.constructor, error.code]).toEqual([sdk.ConnectionFailedError, code])
  }
  expectTypeOf<keyof typeof errorCatalogue>().toExtend<sdk.ErrorCode>()
})

test('the error of a POST has the key that was sent, given or made; that of another call has none', async () => {
  const { client, seen } = await start(['drop', problem(500, 'internal_error'), 'drop'])
  const made = await thrownBy(client.customers.create({}))
  expect(made.idempotencyKey).toBe(seen[0]?.headers['idempotency-key'])
  expect(made.idempotencyKey).toMatch(/^[0-9a-f]{32}$/)
  const given = await thrownBy(client.customers.create({}, { idempotencyKey: 'signup-7' }))
  expect(given.idempotencyKey).toBe('signup-7')
  expect((await thrownBy(client.customers.get(idOf(1)))).idempotencyKey).toBeUndefined()
})

describe('options of a call', () => {
  test('replace those of the client: retries and the time limit', async () => {
    const { client, seen } = await start(['drop', 'drop', { status: 200, body: customer(1) }], {
      retries: { limit: 0, sleep: async () => {} },
    })
    await expect(client.customers.get(idOf(1))).rejects.toThrow(sdk.ConnectionFailedError)
    expect(await client.customers.get(idOf(1), { retries: 1 })).toEqual(customer(1))
    expect(seen).toHaveLength(3)
    await expect(client.customers.get(idOf(1), { timeoutMs: 0 })).rejects.toThrow(TypeError)
  })

  test('add headers', async () => {
    const { client, seen } = await start([{ status: 200, body: customer(1) }])
    await client.customers.get(idOf(1), { headers: { traceparent: '00-1-2-01' } })
    expect(seen[0]?.headers).toMatchObject({ traceparent: '00-1-2-01', authorization: 'Bearer dwk_x' })
  })
})

test('a client names itself and its release', async () => {
  const { client, seen } = await start([{ status: 200, body: customer(1) }])
  await client.customers.get(idOf(1))
  expect(seen[0]?.headers['user-agent']).toBe(`deskwire-sdk/${version}`)
})

test('hooks see every sending and what became of it, and may add headers', async () => {
  const sent: unknown[] = []
  const received: unknown[] = []
  const { client, seen } = await start(
    ['drop', problem(429, 'rate_limited'), { status: 201, body: customer(1) }],
    {
      retries: { limit: 2, sleep: async () => {} },
      onRequest({ method, url, headers, attempt }) {
        headers.set('x-attempt', String(attempt))
        sent.push([method, new URL(url).pathname, attempt])
      },
      onResponse({ request, response, error, durationMs }) {
        expect(durationMs).toBeGreaterThanOrEqual(0)
        received.push([request.attempt, response?.status, error?.code])
      },
    },
  )
  await client.customers.create({})
  expect(sent).toEqual([1, 2, 3].map((attempt) => ['POST', '/v1/customers', attempt]))
  expect(received).toEqual([
    [1, undefined, 'connection_failed'],
    [2, 429, 'rate_limited'],
    [3, 201, undefined],
  ])
  expect(seen.map(({ headers }) => headers['x-attempt'])).toEqual(['1', '2', '3'])
})
