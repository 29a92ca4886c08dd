import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../../testbed/dns-server.ts'
import { makeWebhook, receiverUrl } from '../../../testbed/hooks.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { kinds } from '../../src/desk/index.ts'
import { noNetworks, parseNetworks } from '../../src/kernel/networks.ts'

// 127.0.0.2 plays a public address; everything else of the loopback is what must not be reached.
let dns: DnsServer
let service: TestService
beforeAll(async () => {
  dns = await startDnsServer()
  const trustedTargets = parseNetworks('127.0.0.2/32') ?? noNetworks
  service = await testService({ settings: { trustedTargets, dnsServers: [dns.address] } })
  dns.set('public.test', { addresses: ['127.0.0.2'] })
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await dns.close()
})

const url = 'https://public.test/hook'
const eventTypes = kinds.flatMap((kind) => Object.keys(kind.events))
const unknown = '01980000-0000-7000-8000-000000000000'

test('an endpoint is created active, with its secret, and is read as it was created but for the secret', async () => {
  const api = await service.newOrganization()
  const answer = await api.post('/v1/webhooks', { url, description: 'Ours', events: eventTypes })
  expect(answer.status).toBe(201)
  expect(answer.headers.get('location')).toBe(`/v1/webhooks/${answer.json.id}`)
  const { secret, ...record } = answer.json
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(record).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    object: 'webhook',
    organizationId: api.organizationId,
    url,
    description: 'Ours',
    events: eventTypes,
    signatures: ['service'],
    status: 'active',
    disabledReason: null,
    disabledAt: null,
    failingSince: null,
    disablesAt: null,
    failureCount: 0,
    lastSuccessAt: null,
    missedSince: null,
    previousSecretExpiresAt: null,
    apiKeyId: expect.any(String),
    consoleLinkId: null,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updatedAt: record.createdAt,
  })
  expect((await api.get(`/v1/webhooks/${record.id}`)).json).toEqual(record)
})

describe('a URL is refused', () => {
  test.each([
    ['http://public.test/hook', 'url_not_https'],
    ['https://127.0.0.1/hook', 'url_not_public'],
    ['https://[::ffff:127.0.0.2]/hook', 'url_not_public'],
    ['https://localhost/hook', 'url_not_public'],
    ['https://nowhere.test/hook', 'url_not_resolvable'],
  ])('%s: %s', async (refused, code) => {
    const answer = await service.api.post('/v1/webhooks', { url: refused, events: ['customer.created'] })
    expect([answer.status, answer.json.code]).toEqual([422, code])
    expect(answer.json.detail).toMatch(/^(The URL|[\w.:[\]]+) .+\. (Give|Check) .+\.$/)
  })

  test.each([
    ['resolves to both', { addresses: ['127.0.0.2', '127.0.0.1'] }, 'url_not_public'],
    ['has a second family that is loopback', { addresses: ['127.0.0.2', '::1'] }, 'url_not_public'],
    ['has no address', { addresses: [] }, 'url_not_resolvable'],
    ['does not exist', 'NXDOMAIN', 'url_not_resolvable'],
    ['cannot be resolved', 'SERVFAIL', 'url_not_resolvable'],
  ] as const)('whose name %s', async (title, reply, code) => {
    const name = `${title.replaceAll(' ', '-')}.test`
    dns.set(name, reply)
    const answer = await service.api.post('/v1/webhooks', {
      url: `https://${name}`,
      events: ['ticket.created'],
    })
    expect([answer.status, answer.json.code]).toEqual([422, code])
    if (reply === 'NXDOMAIN') expect(answer.json.detail).toMatch(/in full: the search domains .* not used\.$/)
  })

  test('whatever its name led to a moment ago', async () => {
    dns.set('moves.test', { addresses: ['127.0.0.2'], ttl: 300 })
    const body = { url: 'https://moves.test/', events: ['ticket.created'] }
    const made = await makeWebhook(service.api, body)
    dns.set('moves.test', { addresses: ['127.0.0.1'], ttl: 300 })
    expect((await service.api.post('/v1/webhooks', body)).json.code).toBe('url_not_public')
    const moved = await service.api.patch(`/v1/webhooks/${made.id}`, { url: body.url })
    expect([moved.status, moved.json.code]).toEqual([422, 'url_not_public'])
  })
})

test('a URL whose name leads nowhere is refused by a change too', async () => {
  const made = await makeWebhook(service.api, { url, events: ['ticket.created'] })
  const moved = await service.api.patch(`/v1/webhooks/${made.id}`, { url: 'https://nowhere.test/hook' })
  expect([moved.status, moved.json.code]).toEqual([422, 'url_not_resolvable'])
})

describe('the fields', () => {
  test.each([
    ['no url', { url: undefined }, '/url', 'required'],
    ['a url that is none', { url: 'hook' }, '/url', 'invalid_value'],
    ['a url with user info', { url: 'https://a:b@public.test/' }, '/url', 'invalid_value'],
    ['a url with a fragment', { url: 'https://public.test/#a' }, '/url', 'invalid_value'],
    ['a url with an empty fragment', { url: 'https://public.test/#' }, '/url', 'invalid_value'],
    ['a url with white space', { url: ' https://public.test/' }, '/url', 'invalid_value'],
    ['a url that is too long', { url: `${url}/${'a'.repeat(2048)}` }, '/url', 'too_long'],
    ['a url that is a number', { url: 7 }, '/url', 'invalid_type'],
    ['null for a url', { url: null }, '/url', 'invalid_type'],
    ['no events', { url, events: undefined }, '/events', 'required'],
    ['an empty list of events', { events: [] }, '/events', 'invalid_value'],
    ['events that are a string', { events: 'ticket.created' }, '/events', 'invalid_type'],
    ['an unknown event', { events: ['ticket.created', 'ticket.exploded'] }, '/events/1', 'invalid_value'],
    ['ping, which is not subscribable', { events: ['ping'] }, '/events/0', 'invalid_value'],
    ['a pattern that matches nothing', { events: ['*', 'parcel.*'] }, '/events/1', 'invalid_value'],
    ['a pattern within a kind', { events: ['ticket.status_*'] }, '/events/0', 'invalid_value'],
    ['a description that is too long', { description: 'a'.repeat(256) }, '/description', 'too_long'],
    ['a description that is a number', { description: 7 }, '/description', 'invalid_type'],
    ['a status', { status: 'active' }, '/status', 'unknown_field'],
    ['a secret', { secret: 'whsec_mine' }, '/secret', 'invalid_value'],
    ['an id', { id: unknown }, '/id', 'read_only'],
  ])('%s: 422', async (_title, body, pointer, code) => {
    const answer = await service.api.post('/v1/webhooks', { url, events: ['ticket.created'], ...body })
    expect([answer.status, answer.json.code]).toEqual([422, 'validation_failed'])
    expect(answer.json.errors).toMatchObject([{ pointer, code }])
  })

  test.each([
    [
      { url: 'hook' },
      'must be an https URL of at most 2048 characters, without user information or fragment; this one is not a URL',
    ],
    [{ events: ['ping'] }, 'must be one of teammate.deleted, customer.created, '],
    [{ events: [] }, 'must be a list of 1 to 100 of teammate.deleted, customer.created, '],
    [
      { status: 'active' },
      'a new webhook takes no such field; accepted: url, description, events, signatures',
    ],
  ])('%j: the error reads as one sentence after the name of the field', async (body, sentence) => {
    const answer = await service.api.post('/v1/webhooks', { url, events: ['ticket.created'], ...body })
    const [{ pointer, detail }] = answer.json.errors
    expect(detail.slice(0, sentence.length)).toBe(sentence)
    expect(answer.json.detail).toBe(`${pointer}: ${detail}`)
  })

  test('a url may have 2,048 characters; a description may be null; events are a set', async () => {
    const long = `${url}/`.padEnd(2048, 'a')
    const events = ['ticket.created', 'customer.created', 'ticket.created']
    const made = await makeWebhook(await service.newOrganization(), { url: long, description: null, events })
    expect(made).toMatchObject({
      url: long,
      description: null,
      events: ['ticket.created', 'customer.created'],
    })
  })

  test.each(['not json', '[]', 'null', '"x"'])('a body of %s is refused', async (body) => {
    expect([400, 422]).toContain((await service.api.post('/v1/webhooks', body)).status)
  })
})

describe('scopes', () => {
  const events = ['customer.created', 'ticket.deleted']

  test('registering takes webhooks:write and the read scope of each subject', async () => {
    const { organizationId } = service.api
    const post = async (scopes: readonly string[]) => {
      const key = await service.newKey(organizationId, scopes)
      return key.post('/v1/webhooks', { url, events })
    }
    for (const [scopes, missing] of [
      [['webhooks:read', 'customers:read', 'tickets:read'], 'webhooks:write'],
      [['webhooks:write', 'customers:read'], 'tickets:read'],
      [['webhooks:write', 'tickets:read', 'customers:write'], 'customers:read'],
    ] as const) {
      const answer = await post(scopes)
      expect([answer.status, answer.json.code]).toEqual([403, 'insufficient_scope'])
      expect(answer.json.detail).toContain(missing)
    }
    expect((await post(['webhooks:write', 'customers:read', 'tickets:read'])).status).toBe(201)
  })

  test('a pattern takes the read scope of each subject that it matches', async () => {
    const { organizationId } = service.api
    const key = await service.newKey(organizationId, ['webhooks:write', 'tickets:read'])
    expect((await key.post('/v1/webhooks', { url, events: ['ticket.*'] })).status).toBe(201)
    for (const pattern of ['customer.*', '*']) {
      const answer = await key.post('/v1/webhooks', { url, events: ['ticket.created', pattern] })
      expect([answer.status, answer.json.code]).toEqual([403, 'insufficient_scope'])
      expect(answer.json.detail).toContain('customers:read')
    }
  })

  test('nobody learns what resolves who may not register', async () => {
    const key = await service.newKey(service.api.organizationId, ['webhooks:write'])
    const before = dns.queries.length
    const answer = await key.post('/v1/webhooks', { url: 'https://asked.test/', events })
    expect(answer.status).toBe(403)
    expect(dns.queries.length).toBe(before)
  })

  test('reading and writing are two scopes', async () => {
    const api = await service.newOrganization()
    const { id } = await makeWebhook(api, { url })
    const reader = await service.newKey(api.organizationId, ['webhooks:read', 'customers:read'])
    const writer = await service.newKey(api.organizationId, ['webhooks:write', 'customers:read'])
    const path = `/v1/webhooks/${id}`
    for (const read of ['/v1/webhooks', path, `${path}/deliveries`]) {
      expect((await reader.get(read)).status).toBe(200)
      expect((await writer.get(read)).status).toBe(403)
    }
    const writes = (key: typeof api) => [
      key.patch(path, { description: 'x' }),
      key.post(`${path}/rotate-secret`, undefined),
      key.post(`${path}/ping`, undefined),
      key.delete(`${path}/previous-secret`),
    ]
    const statuses = async (key: typeof api) => (await Promise.all(writes(key))).map(({ status }) => status)
    expect(await statuses(reader)).toEqual([403, 403, 403, 403])
    expect(await statuses(writer)).toEqual([200, 200, 202, 204])
    expect((await reader.delete(path)).status).toBe(403)
    expect((await writer.delete(path)).status).toBe(204)
  })
})

test('an organization has at most fifty endpoints, also when they come all at once', async () => {
  const api = await service.newOrganization()
  const answers = await Promise.all(
    Array.from({ length: 53 }, () => api.post('/v1/webhooks', { url, events: ['ticket.created'] })),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(50)
  const refused = answers.filter(({ status }) => status === 409)
  expect(refused.map(({ json }) => json.code)).toEqual(['limit_reached', 'limit_reached', 'limit_reached'])
  expect((await api.get('/v1/webhooks?limit=1')).json.pagination.total).toBe(50)
  const [first] = (await api.get('/v1/webhooks?limit=1')).json.data
  expect((await api.delete(`/v1/webhooks/${first.id}`)).status).toBe(204)
  expect((await api.post('/v1/webhooks', { url, events: ['ticket.created'] })).status).toBe(201)
  await makeWebhook(await service.newOrganization(), { url })
})

test('the trusted address of the tests is not public without that setting', async () => {
  await using strict = await testService({ settings: { trustedTargets: noNetworks } })
  const answer = await strict.api.post('/v1/webhooks', { url: receiverUrl, events: ['ticket.created'] })
  expect(answer.json.code).toBe('url_not_public')
})
