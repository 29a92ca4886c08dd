/** Internal notes: who is shown one, and what a key or an endpoint that knows messages never gets. */
import { beforeEach, expect, test } from 'vitest'
import { audit } from '../../../testbed/audit.ts'
import { makeConversation, makeMessage, makeNote, makeTeammate } from '../../../testbed/desk.ts'
import { follow } from '../../../testbed/follower.ts'
import { makeWebhook } from '../../../testbed/hooks.ts'
import { httpReader } from '../../../testbed/http-follower.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { kinds } from '../../src/desk/index.ts'

const shared = sharedService()
let api: Api
/** Holds every scope of the desk but those of notes. */
let unaware: Api
const secret = 'Zarathustra'

beforeEach(async () => {
  api = await shared().newOrganization()
  const scopes = kinds.flatMap(({ plural }) => [`${plural}:read`, `${plural}:write`])
  unaware = await shared().newKey(
    api.organizationId,
    scopes.filter((scope) => !scope.startsWith('notes:')).concat('webhooks:read', 'webhooks:write'),
  )
})

const wholeStream = '/v1/changes?updatedAfter=1970-01-01T00:00:00Z&limit=100'

test('is written, changed, found and deleted, and moves neither conversation nor messages', async () => {
  const conversation = await makeConversation(api)
  const before = await api.get(`/v1/conversations/${conversation.id}`)
  const note = await makeNote(api, { conversationId: conversation.id, body: secret })
  expect(note).toMatchObject({ object: 'note', customerId: conversation.customerId, body: secret })
  const changed = await api.patch(`/v1/notes/${note.id}`, { body: `${secret} called` })
  expect(changed.json).toMatchObject({ author: { type: 'teammate' }, body: `${secret} called` })
  for (const query of [
    `conversationId=${conversation.id}`,
    `customerId=${conversation.customerId}`,
    'q=zarath',
  ])
    expect((await api.get(`/v1/notes?${query}`)).json.data).toEqual([changed.json])
  expect((await api.get(`/v1/conversations/${conversation.id}`)).text).toBe(before.text)
  const path = `/v1/notes/${note.id}`
  const tag = { 'if-none-match': String(changed.headers.get('etag')) }
  expect((await api.get(path, tag)).status).toBe(304)
  const stale = { 'if-match': `"${note.updatedAt}"` }
  expect((await api.patch(path, { body: 'x' }, stale)).status).toBe(412)
  expect((await api.delete(path, stale)).status).toBe(412)
  const filtered = await api.get('/v1/notes?updatedAfter=1970-01-01T00:00:00Z&q=x')
  expect(filtered.json.code).toBe('filter_not_allowed_in_sync')
  expect((await api.delete(path)).status).toBe(204)
  expect(await audit(shared().database.pool, api.organizationId)).toEqual([])
})

test('its author is no customer, and it has a text and a conversation', async () => {
  const { id: conversationId } = await makeConversation(api)
  const note = { conversationId, author: { type: 'ai' }, body: 'x' }
  const unknown = '01980000-0000-7000-8000-000000000000'
  for (const [body, pointer] of [
    [{ ...note, author: { type: 'customer' } }, '/author/type'],
    [{ ...note, author: { type: 'ai', id: unknown } }, '/author/id'],
    [{ ...note, author: { type: 'teammate', id: unknown } }, '/author/id'],
    [{ ...note, body: '' }, '/body'],
    [{ ...note, conversationId: unknown }, '/conversationId'],
  ] as const) {
    const { status, json } = await api.post('/v1/notes', body)
    expect([status, json.errors.map((error: { pointer: string }) => error.pointer)]).toEqual([422, [pointer]])
  }
})

test('no key without its scope reads it: not in lists, the stream, exports, events or endpoints', async () => {
  const conversation = await makeConversation(api, { subject: 'Seen' })
  await makeMessage(api, { conversationId: conversation.id })
  const streamed = await unaware.get(wholeStream)
  const { id } = await makeNote(api, { conversationId: conversation.id, body: secret })
  const again = await unaware.get(wholeStream)
  expect(again.json.data).toEqual(streamed.json.data)
  expect(again.json.pagination.checkpoint).toEqual(streamed.json.pagination.checkpoint)
  expect(Object.keys(again.json.pagination.checkpoint)).not.toContain('note')
  for (const { plural } of kinds.filter(({ name }) => name !== 'note'))
    for (const path of [`/v1/${plural}?limit=100`, `/v1/${plural}/export`])
      expect((await unaware.get(path)).text).not.toMatch(new RegExp(`${secret}|${id}`))
  for (const path of ['/v1/notes', `/v1/notes/${id}`, '/v1/notes/export', '/v1/notes/digests'])
    expect((await unaware.get(path)).json.code).toBe('insufficient_scope')
  expect((await unaware.get(`/v1/customers/${conversation.customerId}/export`)).json.detail).toContain(
    'notes:read',
  )
  expect((await unaware.get('/v1/events')).text).not.toContain('note.created')
  const endpoint = { url: 'https://example.com/hook', events: ['note.created'] }
  const refused = await unaware.post('/v1/webhooks', endpoint)
  expect([refused.status, refused.json.detail]).toEqual([403, expect.stringContaining('notes:read')])
  // Every other event.
  const events = kinds.flatMap((kind) => Object.keys(kind.events)).filter((type) => !type.startsWith('note.'))
  const webhook = await makeWebhook(unaware, { events })
  await makeNote(api, { conversationId: conversation.id, body: secret })
  expect((await unaware.get(`/v1/webhooks/${webhook.id}/deliveries`)).json.data).toEqual([])
})

test('a sync that began without its scope goes on without it, and a new one has its rows and their proof', async () => {
  const { json } = await unaware.get(wholeStream)
  const { id: conversationId } = await makeConversation(api)
  const note = await makeNote(api, { conversationId })
  const next = (await api.get(`/v1/changes?cursor=${json.pagination.nextCursor}`)).json
  expect(next.data.map(({ object }: { object: string }) => object).sort()).toEqual([
    'conversation',
    'customer',
  ])
  const fresh = (await api.get(wholeStream)).json
  expect(fresh.data).toContainEqual(note)
  expect(fresh.pagination.checkpoint.note.count).toBe(1)
  const follower = follow(httpReader({ url: () => shared().url, token: api.token, kind: 'notes', limit: 1 }))
  await api.patch(`/v1/notes/${note.id}`, { body: 'Other' })
  await makeNote(api, { conversationId })
  await api.delete(`/v1/notes/${note.id}`)
  await follower.drain()
  expect(follower.faults).toEqual([])
})

test('a deleted teammate leaves the name of the author', async () => {
  const { id } = await makeTeammate(api)
  const note = await makeNote(api, { author: { type: 'teammate', id, name: 'Grace' } })
  expect((await api.delete(`/v1/teammates/${id}`)).status).toBe(204)
  const { json } = await api.get(`/v1/notes/${note.id}`)
  expect(json.author).toEqual({ type: 'teammate', name: 'Grace' })
  expect(await audit(shared().database.pool, api.organizationId)).toEqual([])
})
