import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer, makeTeammate, makeTicket } from '../../../testbed/desk.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { newToken } from '../../src/auth/token.ts'

const shared = sharedService()

/** Every route of the desk with the scope it asks for; `id` is of an object that exists. */
const routes: readonly (readonly [
  scope: string,
  title: string,
  call: (api: Api, ids: Ids) => ReturnType<Api['get']>,
])[] = [
  ['customers:read', 'GET list', (api) => api.get('/v1/customers')],
  ['customers:read', 'GET sync', (api) => api.get('/v1/customers?updatedAfter=2020-01-01T00:00:00Z')],
  ['customers:read', 'GET one', (api, { customer }) => api.get(`/v1/customers/${customer}`)],
  ['customers:write', 'POST', (api) => api.post('/v1/customers', { name: 'a' })],
  ['customers:write', 'PATCH', (api, { customer }) => api.patch(`/v1/customers/${customer}`, { name: 'b' })],
  ['tickets:read', 'GET list', (api) => api.get('/v1/tickets')],
  ['tickets:read', 'GET one', (api, { ticket }) => api.get(`/v1/tickets/${ticket}`)],
  [
    'tickets:write',
    'POST',
    (api, { customer }) => api.post('/v1/tickets', { customerId: customer, subject: 's' }),
  ],
  ['tickets:write', 'PATCH', (api, { ticket }) => api.patch(`/v1/tickets/${ticket}`, { subject: 't' })],
  ['tickets:write', 'DELETE', (api, { ticket }) => api.delete(`/v1/tickets/${ticket}`)],
  ['customers:write', 'DELETE', (api, { customer }) => api.delete(`/v1/customers/${customer}`)],
  ['teammates:read', 'GET list', (api) => api.get('/v1/teammates')],
  ['teammates:read', 'GET one', (api, { teammate }) => api.get(`/v1/teammates/${teammate}`)],
  ['teammates:write', 'POST', (api) => api.post('/v1/teammates', { name: 'a' })],
  ['teammates:write', 'PATCH', (api, { teammate }) => api.patch(`/v1/teammates/${teammate}`, { name: 'b' })],
]
const scopes = [...new Set(routes.map(([scope]) => scope))]

interface Ids {
  readonly customer: string
  readonly ticket: string
  readonly teammate: string
}

async function existing(api: Api): Promise<Ids> {
  const customer = (await makeCustomer(api)).id
  return {
    customer,
    ticket: (await makeTicket(api, { customerId: customer })).id,
    teammate: (await makeTeammate(api)).id,
  }
}

describe.each(routes)('%s: %s', (scope, _title, call) => {
  test('a key with every other scope is refused, and told which one it lacks', async () => {
    const api = await shared().newOrganization()
    const ids = await existing(api)
    const others = await shared().newKey(
      api.organizationId,
      scopes.filter((other) => other !== scope),
    )
    const answer = await call(others, ids)
    expect(answer.status).toBe(403)
    expect(answer.json.code).toBe('insufficient_scope')
    expect(answer.json.detail).toContain(scope)
    // The scope is asked for before the id: nothing is told about what exists.
    const unknown = '01980000-0000-7000-8000-000000000000'
    expect((await call(others, { customer: unknown, ticket: unknown, teammate: unknown })).status).toBe(403)
  })

  test('a key with this scope alone is let in, and so is one with *', async () => {
    for (const granted of [scope, '*']) {
      const api = await shared().newOrganization()
      const ids = await existing(api)
      const answer = await call(await shared().newKey(api.organizationId, [granted]), ids)
      expect([200, 201, 204]).toContain(answer.status)
    }
  })
})

describe('a request without a living key', () => {
  test('is 401 and says how to authenticate, whatever is asked', async () => {
    const { api } = shared()
    const checksumWrong = api.token.slice(0, -1) + (api.token.endsWith('0') ? '1' : '0')
    for (const authorization of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      `Basic ${api.token}`,
      api.token,
      `Bearer ${api.token} x`,
      `Bearer ${checksumWrong}`,
      `Bearer ${newToken()}`,
      `Bearer ${'x'.repeat(5000)}`,
    ]) {
      const headers = authorization === undefined ? {} : { authorization }
      const stranger = shared().withToken(null)
      for (const answer of [
        await stranger.get('/v1/customers?nonsense', headers),
        await stranger.post('/v1/customers', 'not json', headers),
        await stranger.patch('/v1/tickets/x', {}, headers),
        await stranger.delete('/v1/customers/x', headers),
      ]) {
        expect(answer.status).toBe(401)
        expect(answer.json.code).toBe('unauthorized')
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
      }
    }
  })

  test('the scheme may be written in any case', async () => {
    const { api } = shared()
    const stranger = shared().withToken(null)
    for (const scheme of ['bearer', 'BEARER', 'Bearer  ']) {
      expect((await stranger.get('/v1/customers', { authorization: `${scheme} ${api.token}` })).status).toBe(
        200,
      )
    }
  })
})

describe('an expired key', () => {
  test.each(['api_keys', 'api_key_tokens'])(
    'is refused from the very millisecond on that %s says',
    async (table) => {
      const clock = testClock()
      await using service = await testService({ clock })
      const { api } = service
      await service.database.pool.query(
        `update ${table} set expires_at = '2026-03-01T13:00:00.000Z' where organization_id = $1`,
        [api.organizationId],
      )
      clock.set(Date.parse('2026-03-01T12:59:59.999Z'))
      expect((await api.get('/v1/customers')).status).toBe(200)
      clock.advance(1)
      const answer = await api.get('/v1/customers')
      expect([answer.status, answer.json.code]).toEqual([401, 'key_expired'])
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
    },
  )
})

test('a key that was deleted is unknown with the next request', async () => {
  const api = await shared().newOrganization()
  expect((await api.get('/v1/customers')).status).toBe(200)
  await shared().database.pool.query('delete from api_keys where organization_id = $1', [api.organizationId])
  expect((await api.get('/v1/customers')).json.code).toBe('unauthorized')
})
