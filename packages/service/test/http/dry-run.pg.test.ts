/** A dry run of a write is decided as the write, and changes nothing. */
import { describe, expect, test } from 'vitest'
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeTeammate,
  makeTicket,
} from '../../../testbed/desk.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const service = sharedService()

/** All that a write could change, as others see it. */
async function seen(api: Api): Promise<string> {
  const { text } = await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00Z')
  const events = await api.get('/v1/events?createdAfter=1970-01-01T00:00:00Z')
  return text + events.text
}

/** What differs between two answers to one body: the id and the times that the service gives. */
const alike = (json: Record<string, unknown>) => {
  const { id, requestId, ...rest } = json
  const times = Object.keys(rest).filter(
    (name) => name.endsWith('At') && !['startAt', 'endAt'].includes(name),
  )
  return { ...rest, ...Object.fromEntries(times.map((name) => [name, rest[name] === null])) }
}

interface Write {
  readonly method: 'post' | 'patch' | 'delete'
  readonly path: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

const send = (api: Api, { method, path, body, headers = {} }: Write, query = '') =>
  method === 'delete' ? api.delete(path + query, headers) : api[method](path + query, body, headers)

describe('is answered as the write, which is made afterwards', () => {
  test.each([
    'a creation',
    'a creation with effects',
    'a change',
    'an action',
    'a removal',
    'a duplicate',
    'an unknown reference',
    'a taken time',
    'a move that the state does not allow',
    'an older version',
    'an unknown field',
    'an unknown object',
  ])('%s', async (what) => {
    const api = await service().newOrganization()
    const customer = await makeCustomer(api, { email: 'a@example.com' })
    const conversation = await makeConversation(api, { customerId: customer.id, handledBy: 'ai' })
    const ticket = await makeTicket(api, { customerId: customer.id })
    const { id: assigneeId } = await makeTeammate(api)
    const booking = await makeBooking(api, { customerId: customer.id, assigneeId, status: 'confirmed' })
    await api.patch('/v1/organization', { preventOverlappingBookings: true })
    const { startAt, endAt, timezone } = booking
    const unknown = '01980000-0000-7000-8000-000000000001'
    const message = { conversationId: conversation.id, direction: 'inbound', body: 'Hello' }
    const writes: Record<string, Write> = {
      'a creation': { method: 'post', path: '/v1/tickets', body: { customerId: customer.id, subject: 'x' } },
      'a creation with effects': { method: 'post', path: '/v1/messages', body: message },
      'a change': { method: 'patch', path: `/v1/tickets/${ticket.id}`, body: { status: 'resolved' } },
      'an action': { method: 'post', path: `/v1/conversations/${conversation.id}/escalate` },
      'a removal': { method: 'delete', path: `/v1/customers/${customer.id}` },
      'a duplicate': { method: 'post', path: '/v1/customers', body: { name: 'B', email: 'a@example.com' } },
      'an unknown reference': {
        method: 'post',
        path: '/v1/tickets',
        body: { customerId: unknown, subject: 'x' },
      },
      'a taken time': {
        method: 'post',
        path: '/v1/bookings',
        body: { customerId: customer.id, assigneeId, title: 'x', startAt, endAt, timezone },
      },
      'a move that the state does not allow': { method: 'post', path: `/v1/bookings/${booking.id}/confirm` },
      'an older version': {
        method: 'patch',
        path: `/v1/tickets/${ticket.id}`,
        body: { subject: 'y' },
        headers: { 'if-match': '"2020-01-01T00:00:00.000000Z"' },
      },
      'an unknown field': { method: 'patch', path: `/v1/tickets/${ticket.id}`, body: { colour: 'red' } },
      'an unknown object': { method: 'delete', path: `/v1/tickets/${unknown}` },
    }
    const write = writes[what] as Write
    const before = await seen(api)
    const dry = await send(api, write, '?dryRun=true')
    expect(await seen(api)).toBe(before)
    const real = await send(api, write)
    expect([dry.status, dry.json && alike(dry.json)]).toEqual([real.status, real.json && alike(real.json)])
    expect((await seen(api)) === before).toBe(real.status >= 400)
  })
})

test('stores no response under its Idempotency-Key, and shows none', async () => {
  const api = await service().newOrganization()
  const customer = await makeCustomer(api)
  const body = { customerId: customer.id, subject: 'x' }
  const keyed = { 'idempotency-key': 'k' }
  const dry = await api.post('/v1/tickets?dryRun=true', body, keyed)
  const real = await api.post('/v1/tickets', body, keyed)
  expect(real.headers.get('idempotent-replayed')).toBeNull()
  expect(real.json.id).not.toBe(dry.json.id)
  const again = await api.post('/v1/tickets?dryRun=true', body, keyed)
  expect(again.headers.get('idempotent-replayed')).toBeNull()
  expect((await api.get('/v1/tickets')).json.data).toEqual([real.json])
})

test('wakes no worker and no reader, and delivers nothing', async () => {
  const api = await service().newOrganization()
  const endpoint = await api.post('/v1/webhooks', {
    url: 'https://127.0.0.1:1/',
    events: ['customer.created'],
  })
  expect(endpoint.status).toBe(201)
  expect((await api.post('/v1/customers?dryRun=true', { name: 'A' })).status).toBe(201)
  const { data } = (await api.get(`/v1/webhooks/${endpoint.json.id}/deliveries`)).json
  expect(data).toEqual([])
})

test('of a recovery begins none, and refuses what the recovery would', async () => {
  const api = await service().newOrganization()
  const url = 'https://127.0.0.1:1/'
  const { json: endpoint } = await api.post('/v1/webhooks', { url, events: ['customer.created'] })
  const path = `/v1/webhooks/${endpoint.id}/recover`
  const window = { since: endpoint.createdAt, until: endpoint.createdAt }
  const dry = await api.post(`${path}?dryRun=true`, window)
  expect((await api.get(`/v1/webhooks/${endpoint.id}/recoveries`)).json.data).toEqual([])
  const real = await api.post(path, window)
  expect([dry.status, alike(dry.json)]).toEqual([real.status, alike(real.json)])
  const future = { since: '2100-01-01T00:00:00.000Z' }
  const refused = [await api.post(`${path}?dryRun=true`, future), await api.post(path, future)]
  expect(refused.map(({ status, json }) => [status, json.code])).toEqual(
    Array(2).fill([422, 'validation_failed']),
  )
})

test('shows a key that may write and not read no more than the write does', async () => {
  const api = await service().newOrganization()
  const ticket = await makeTicket(api)
  const writer = await service().newKey(api.organizationId, ['tickets:write'])
  const { json } = await writer.patch(`/v1/tickets/${ticket.id}?dryRun=true`, { subject: 'y' })
  expect(Object.keys(json).sort()).toEqual(['id', 'object', 'updatedAt'])
  const reader = await service().newKey(api.organizationId, ['tickets:read'])
  expect((await reader.patch(`/v1/tickets/${ticket.id}?dryRun=true`, {})).status).toBe(403)
})

test('is asked for with true or false, by writes of one object', async () => {
  const api = await service().newOrganization()
  for (const [method, path] of [
    ['post', '/v1/customers?dryRun=yes'],
    ['post', '/v1/customers?dryRun='],
    ['post', '/v1/customers/batch?dryRun=true'],
    ['post', '/v1/webhooks?dryRun=true'],
  ] as const) {
    const { status, json } = await api[method](path, { name: 'A' })
    expect([path, status, json.code]).toEqual([path, 400, 'invalid_parameter'])
  }
  expect((await api.post('/v1/customers?dryRun=false', { name: 'A' })).status).toBe(201)
  expect((await api.get('/v1/customers')).json.data).toHaveLength(1)
})
