import { expect, expectTypeOf, test } from 'vitest'
import { type ApiKey, type ConsoleLink, createClient, type Organization } from '../src/index.ts'
import { idOf, timeOf } from './rows.ts'
import { scripted } from './scripted.ts'

const apiKey = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'
const token = apiKey

const key: ApiKey = {
  id: idOf(1),
  object: 'api_key',
  organizationId: idOf(0),
  name: 'Reports',
  scopes: ['customers:read'],
  expiresAt: null,
  last4: 'hm22',
  previousTokenExpiresAt: null,
  lastUsedAt: timeOf(5),
  createdAt: timeOf(0),
  updatedAt: timeOf(0),
}

const organization: Organization = {
  id: idOf(0),
  object: 'organization',
  name: 'Analytical Engines',
  preventDoubleBooking: false,
  createdAt: timeOf(0),
  updatedAt: timeOf(0),
}

const pagination = { total: 1, limit: 20, offset: 0, hasMore: false }

test('each call of a key has its method, address and body, and answers what came', async () => {
  const { baseUrl, seen } = await scripted(
    { status: 201, body: { ...key, token } },
    { status: 200, body: key },
    { status: 200, body: key },
    { status: 200, body: { data: [key], pagination } },
    { status: 200, body: key },
    { status: 200, body: { ...key, token } },
    { status: 204 },
    { status: 204 },
  )
  const { apiKeys } = createClient({ baseUrl, apiKey, retries: 0 })
  const { id } = key
  const input = { name: 'Reports', scopes: ['customers:read' as const] }
  expect(await apiKeys.create(input, { idempotencyKey: 'once' })).toEqual({ ...key, token })
  expect(await apiKeys.self()).toEqual(key)
  expect(await apiKeys.get(id)).toEqual(key)
  expect((await apiKeys.list({ createdAfter: timeOf(0), limit: 5 }).page()).data).toEqual([key])
  expect(await apiKeys.update(id, { expiresAt: null })).toEqual(key)
  expect((await apiKeys.rotate(id)).token).toBe(token)
  expect(await apiKeys.deletePreviousToken(id)).toBeUndefined()
  expect(await apiKeys.delete(id)).toBeUndefined()

  const path = `/v1/api-keys/${id}`
  expect(seen.map(({ method, path, query, body }) => [method, path, query, body])).toEqual([
    ['POST', '/v1/api-keys', {}, input],
    ['GET', '/v1/api-keys/self', {}, undefined],
    ['GET', path, {}, undefined],
    ['GET', '/v1/api-keys', { createdAfter: timeOf(0), limit: '5' }, undefined],
    ['PATCH', path, {}, { expiresAt: null }],
    ['POST', `${path}/rotate`, {}, undefined],
    ['DELETE', `${path}/previous-token`, {}, undefined],
    ['DELETE', path, {}, undefined],
  ])
  const keys = seen.map(({ headers }) => headers['idempotency-key'])
  expect(keys[0]).toBe('once')
  // Every POST is safe to repeat, and nothing else carries a key.
  expect(keys.map((sent) => sent !== undefined)).toEqual([
    true,
    false,
    false,
    false,
    false,
    true,
    false,
    false,
  ])
})

test('the organization is read and renamed', async () => {
  const { baseUrl, seen } = await scripted(
    { status: 200, body: organization },
    { status: 200, body: { ...organization, name: 'Engines' } },
  )
  const client = createClient({ baseUrl, apiKey, retries: 0 })
  expect(await client.organization.get()).toEqual(organization)
  expect((await client.organization.update({ name: 'Engines' })).name).toBe('Engines')
  expect(seen.map(({ method, path, body }) => [method, path, body])).toEqual([
    ['GET', '/v1/organization', undefined],
    ['PATCH', '/v1/organization', { name: 'Engines' }],
  ])
})

test('a limit that was reached is waited for as long as the service asks, whatever the call', async () => {
  const { baseUrl, seen } = await scripted(
    { status: 429, headers: { 'retry-after': '3' }, body: { code: 'rate_limited', status: 429 } },
    { status: 429, headers: { 'retry-after': '1' }, body: { code: 'rate_limited', status: 429 } },
    { status: 200, body: organization },
  )
  const pauses: number[] = []
  const sleep = async (ms: number) => {
    pauses.push(ms)
  }
  const client = createClient({ baseUrl, apiKey, retries: { random: () => 0, sleep } })
  expect(await client.organization.update({ name: 'x' })).toEqual(organization)
  expect(pauses).toEqual([3_000, 1_000])
  expect(seen).toHaveLength(3)
})

test('what cannot be does not compile', () => {
  const client = createClient({ baseUrl: 'http://127.0.0.1/v1', apiKey })
  expectTypeOf(client.apiKeys.get).returns.resolves.not.toHaveProperty('token')
  expectTypeOf(client.apiKeys.rotate).returns.resolves.toHaveProperty('token')
  // @ts-expect-error there is no such scope
  const misspelled = () => client.apiKeys.create({ name: 'x', scopes: ['customers:reed'] })
  expect(misspelled).toBeTypeOf('function')
})

test('each call of a link to the console has its method, address and body', async () => {
  const link: ConsoleLink = {
    id: idOf(4),
    object: 'console_link',
    scopes: ['webhooks:read'],
    url: 'https://desk.example/console#link=dwl_x',
    expiresAt: timeOf(9),
  }
  const { baseUrl, seen } = await scripted(
    { status: 201, body: link },
    { status: 200, body: { ...link, object: 'console_session', token: 'dws_x' } },
    { status: 204 },
  )
  const { consoleLinks } = createClient({ baseUrl, apiKey, retries: 0 })
  const input = { scopes: ['webhooks:read' as const], expiresIn: 600 }
  expect(await consoleLinks.create(input, { idempotencyKey: 'once' })).toEqual(link)
  expect((await consoleLinks.exchange({ link: 'dwl_x' })).token).toBe('dws_x')
  expect(await consoleLinks.delete(link.id)).toBeUndefined()
  expect(seen.map(({ method, path, body }) => [method, path, body])).toEqual([
    ['POST', '/v1/console-links', input],
    ['POST', '/v1/console-links/exchange', { link: 'dwl_x' }],
    ['DELETE', `/v1/console-links/${link.id}`, undefined],
  ])
  expect(seen[0]?.headers['idempotency-key']).toBe('once')
})
