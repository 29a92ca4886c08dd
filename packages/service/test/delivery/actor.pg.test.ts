/** Who caused an event, in envelopes and in the list of events, for those that ask. */

import { expect, test } from 'vitest'
import { deliveryJobsOn } from '../../../testbed/delivery-jobs.ts'
import { makeTicket } from '../../../testbed/desk.ts'
import { makeWebhook } from '../../../testbed/hooks.ts'
import { asToken, makeKey } from '../../../testbed/keys.ts'
import type { Api } from '../../../testbed/service.ts'
import { receiving } from './receiving.fixture.ts'

const named = ['id', 'type', 'apiVersion', 'createdAt', 'organizationId', 'data']

test('an endpoint that asks is told the key and the request; the envelope of others is as it was', async () => {
  await using it = await receiving()
  await it.endpoint({ includeActor: true })
  await it.endpoint({})
  const key = await it.service.newKey(it.api.organizationId, ['customers:write', 'customers:read'])
  const { id: keyId } = (await it.api.get('/v1/api-keys')).json.data.find(
    ({ scopes }: { scopes: string[] }) => scopes.length === 2,
  )
  await key.post('/v1/customers', { name: 'Ada' }, { 'x-request-id': 'import-7' })
  await it.engine.runDue()
  const told = it.bodies.filter((body) => 'actor' in body)
  expect(told).toHaveLength(1)
  expect(told[0]).toMatchObject({
    actor: { type: 'api_key', id: keyId, name: 'Test' },
    requestId: 'import-7',
    data: { name: 'Ada' },
  })
  const plain = it.bodies.find((body) => !('actor' in body))
  expect(Object.keys(plain)).toEqual(named)
  expect(plain.id).toBe(told[0].id)
})

test('a session, a batch and what a removal takes along tell who asked, wherever an event is shown', async () => {
  await using it = await receiving()
  const { id } = await it.endpoint({
    includeActor: true,
    events: ['customer.created', 'customer.deleted', 'ticket.deleted'],
  })
  const { json: link } = await it.api.post('/v1/console-links', {
    scopes: ['customers:read', 'customers:write'],
  })
  const { json: session } = await it.service
    .withToken(null)
    .post('/v1/console-links/exchange', { link: link.url.split('#link=')[1] })
  const asSession = it.service.withToken(session.token)
  const { json: customer } = await asSession.post('/v1/customers', { name: 'Ada' }, { 'x-request-id': 'r1' })
  await it.engine.runDue()
  await it.api.post('/v1/customers/batch', { items: [{ name: 'Grace' }] }, { 'x-request-id': 'r2' })
  await makeTicket(it.api, { customerId: customer.id })
  await asSession.delete(`/v1/customers/${customer.id}`, { 'x-request-id': 'r3' })
  await it.engine.runDue()
  const told = it.bodies.map(({ type, actor, requestId }) => [type, actor.type, actor.id, requestId])
  const { id: keyId } = (await it.api.get('/v1/api-keys')).json.data[0]
  expect(told.toSorted()).toEqual(
    [
      ['customer.created', 'session', link.id, 'r1'],
      ['customer.created', 'api_key', keyId, 'r2'],
      ['customer.deleted', 'session', link.id, 'r3'],
      ['ticket.deleted', 'session', link.id, 'r3'],
    ].toSorted(),
  )

  // The log's payload and the list of events say the same as the deliveries.
  const [latest] = await it.log(id, '&eventType=customer.deleted')
  const preview = await it.api.get(`/v1/webhooks/${id}/deliveries/${latest.id}/payload`)
  const sent = it.receiver.requests.map(({ body }) => body.toString())
  expect(sent).toContain(preview.text)
  const listed = (await it.api.get('/v1/events?include=actor&types=customer.deleted,ticket.deleted')).text
  for (const body of sent.filter((text) => text.includes('.deleted"'))) expect(listed).toContain(body)
  expect((await it.api.get('/v1/events')).text).not.toContain('actor')
})

test('what the service does itself is of the system, without a request', async () => {
  await using it = await receiving()
  const { id } = await it.endpoint({ includeActor: true })
  await it.api.post(`/v1/webhooks/${id}/ping`, undefined)
  await it.engine.runDue()
  expect(it.bodies).toMatchObject([
    { type: 'ping', actor: { type: 'system', id: null, name: null }, requestId: null, data: {} },
  ])
})

test('a key that is revoked has no name any more', async () => {
  await using it = await receiving()
  const key = await it.service.newKey(it.api.organizationId, ['customers:write'])
  await key.post('/v1/customers', { name: 'Ada' })
  const [own] = (await it.api.get('/v1/api-keys')).json.data.filter(
    ({ scopes }: { scopes: string[] }) => scopes[0] === 'customers:write',
  )
  const revoked = await it.api.delete(`/v1/api-keys/${own.id}`)
  expect(revoked.status, revoked.text).toBe(204)
  const [event] = (await it.api.get('/v1/events?include=actor')).json.data
  expect(event.actor).toEqual({ type: 'api_key', id: own.id, name: null })
})

test('a teammate in X-Acting-Teammate is next to the key that named it, never instead of it', async () => {
  await using it = await receiving()
  await it.endpoint({ includeActor: true })
  const { json: maya } = await it.api.post('/v1/teammates', { name: 'Maya' })
  const key = await makeKey(it.api, { name: 'CRM', scopes: ['customers:write', 'customers:read'] })
  const who = asToken(it.service, it.api, key.token)
  const acting = { 'x-acting-teammate': maya.id }
  await who.post('/v1/customers', { name: 'Ada' }, acting)
  await it.engine.runDue()
  const claim = {
    actor: { type: 'api_key', id: key.id, name: 'CRM' },
    onBehalfOf: { type: 'teammate', id: maya.id, name: 'Maya' },
  }
  expect(it.bodies.at(-1)).toMatchObject(claim)
  // A reader of events, of payloads and a receiver are shown names as far as their keys may read teammates.
  const anonymous = {
    actor: { type: 'api_key', id: key.id, name: null },
    onBehalfOf: { type: 'teammate', id: maya.id, name: null },
  }
  const path = '/v1/events?include=actor&types=customer.created'
  expect((await who.get(path)).json.data).toMatchObject([anonymous])
  const scopes = ['webhooks:write', 'webhooks:read', 'customers:read']
  const reader = await it.service.newKey(it.api.organizationId, scopes)
  const { id } = await makeWebhook(reader, { url: it.url, includeActor: true })
  const payloads = async (api: Api) => {
    const read = async ({ webhookId, id }: { webhookId: string; id: string }) =>
      (await api.get(`/v1/webhooks/${webhookId}/deliveries/${id}/payload`)).json
    return Promise.all((await it.api.get('/v1/deliveries')).json.data.map(read))
  }
  expect(await payloads(it.api)).toMatchObject([claim])
  expect(await payloads(reader)).toMatchObject([anonymous])
  await who.post('/v1/customers', { name: 'Grace' }, acting)
  await it.engine.runDue()
  const [delivery] = await it.log(id)
  const arrived = it.bodies.filter((body) => body.id === delivery.eventId)
  expect(arrived).toEqual(expect.arrayContaining([expect.objectContaining(claim)]))
  expect(arrived).toEqual(expect.arrayContaining([expect.objectContaining(anonymous)]))
  const preview = await it.api.get(`/v1/webhooks/${id}/deliveries/${delivery.id}/payload`)
  expect(preview.json).toMatchObject(anonymous)

  await it.api.delete(`/v1/teammates/${maya.id}`)
  const listed = (await it.api.get(path)).json.data
  expect(listed[0]).toMatchObject({ ...claim, onBehalfOf: { id: maya.id, name: null } })
  for (const [method, path] of [
    ['post', '/v1/customers'],
    ['patch', `/v1/customers/${listed[0].data.id}`],
  ] as const) {
    const refused = await it.api[method](path, { name: 'Ada' }, { 'x-acting-teammate': 'Maya' })
    expect([refused.status, refused.json.detail]).toEqual([
      400,
      'X-Acting-Teammate must be the id of a teammate; got "Maya".',
    ])
  }
})

test('skipOwn skips what the registering key or its session caused: in commits, large commits and recoveries', async () => {
  await using it = await receiving()
  const { id } = await it.endpoint({ skipOwn: true })
  const other = await it.service.newKey(it.api.organizationId, ['customers:write'])
  const { json: link } = await it.api.post('/v1/console-links', {
    scopes: ['customers:read', 'customers:write'],
  })
  const { json: session } = await it.service
    .withToken(null)
    .post('/v1/console-links/exchange', { link: link.url.split('#link=')[1] })
  const arrived = () => new Set(it.bodies.map(({ data }) => data.name))

  // By their commits.
  await it.api.post('/v1/customers', { name: 'own' })
  await it.service.withToken(session.token).post('/v1/customers', { name: 'session' })
  await other.post('/v1/customers', { name: 'other' })
  await it.engine.runDue()
  expect(arrived()).toEqual(new Set(['other']))
  const skipped = { status: 'skipped', attemptCount: 0, lastError: { code: 'own_change' } }
  expect(await it.log(id, '&status=skipped')).toMatchObject([skipped, skipped])

  // After large commits.
  await makeWebhook(it.api, { url: it.url, description: 'so that they are large' })
  for (const [api, name] of [
    [it.api, 'own batch'],
    [other, 'other batch'],
  ] as const) {
    const items = Array.from({ length: 501 }, () => ({ name }))
    expect((await api.post('/v1/customers/batch', { items })).status).toBe(200)
  }
  // As it was at the commit: what changes before the pieces run does not count.
  await it.change(id, { skipOwn: false })
  const { database } = it.service
  await deliveryJobsOn(it.service, it.clock).runDue()
  const ofBatches = await database.pool.query(
    `select e.cause->>'key' = w.api_key_id::text as own, d.status, count(*)::int from deliveries d
       join webhooks w on w.organization_id = d.organization_id and w.id = d.webhook_id
       join events e on e.organization_id = d.organization_id and e.id = d.event_id
       where d.organization_id = $1 and d.webhook_id = $2 and e.body like '% batch%' group by 1, 2 order by 1`,
    [it.api.organizationId, id],
  )
  expect(ofBatches.rows).toEqual([
    { own: false, status: 'pending', count: 501 },
    { own: true, status: 'skipped', count: 501 },
  ])

  // By a recovery.
  await it.change(id, { skipOwn: true })
  const before = (await it.log(id, '&status=skipped')).length
  await it.api.post(`/v1/webhooks/${id}/recover`, { since: '2020-01-01T00:00:00Z', includeSucceeded: true })
  await deliveryJobsOn(it.service, it.clock).runDue()
  await it.engine.runDue()
  expect(it.receiver.requests.filter(({ body }) => body.includes('"own"'))).toEqual([])
  expect(await it.log(id, '&status=skipped')).toHaveLength(before)
})
