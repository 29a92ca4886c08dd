/** What all clients do alike, `conformance/clients.json`, over real HTTP. */
import { describe, expect, test } from 'vitest'
import clients from '../../../conformance/clients.json' with { type: 'json' }
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
