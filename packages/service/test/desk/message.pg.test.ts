/** Messages field by field: they are created, and never change. */
import { beforeAll, describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { rowOf } from '../../../testbed/decide.ts'
import { makeConversation, makeMessage, makeTeammate, makeTicket } from '../../../testbed/desk.ts'
import { absent, type FieldCase, refused, tryCreation } from '../../../testbed/field-cases.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import { message } from '../../src/desk/message/index.ts'
import { ticket } from '../../src/desk/ticket/index.ts'
import { createRowReader } from '../../src/journal/rows.ts'
import { parseNew } from '../../src/kinds/model/changes.ts'
import { planInserts } from '../../src/kinds/model/units.ts'

const clock = testClock()
const shared = sharedService({ clock })
const unknown = '01980000-0000-7000-8000-000000000000'
const file = {
  fileName: 'a.pdf',
  contentType: 'application/pdf',
  sizeBytes: 0,
  url: 'https://example.com/a.pdf',
}
let api: Api
let conversation: { id: string; customerId: string }
let inbound: object
let outbound: object

beforeAll(async () => {
  api = await shared().newOrganization()
  conversation = await makeConversation(api, { channel: 'sms' })
  const of = { conversationId: conversation.id, body: 'Hello' }
  inbound = { ...of, direction: 'inbound', author: { type: 'customer' } }
  outbound = { ...of, direction: 'outbound', author: { type: 'ai' } }
})

test('has customer and channel of its conversation, and these values unless told', async () => {
  const { json } = await api.post('/v1/messages', inbound)
  expect(json).toEqual({
    id: expect.any(String),
    object: 'message',
    organizationId: api.organizationId,
    createdAt: json.createdAt,
    updatedAt: expect.any(String),
    ...inbound,
    contentType: 'text',
    attachments: [],
    externalId: null,
    sentAt: new Date(clock.now()).toISOString(),
    channel: 'sms',
    customerId: conversation.customerId,
  })
})

describe('of either direction', () => {
  test.each<FieldCase>([
    ['conversationId', absent, refused('required')],
    ['conversationId', unknown, refused('unknown_reference')],
    ['direction', absent, refused('required')],
    ['direction', 'sideways', refused('invalid_value')],
    ['author', absent, refused('required')],
    ['author', null, refused('invalid_type')],
    ['author', 'Ada', refused('invalid_type')],
    ['author', {}, refused('invalid_value', '/type')],
    ['author', { type: 'customer', name: 'Ada' }, { type: 'customer', name: 'Ada' }],
    ['author', { type: 'customer', name: '' }, refused('too_short', '/name')],
    ['author', { type: 'customer', name: 'a'.repeat(256) }, refused('too_long', '/name')],
    ['author', { type: 'customer', id: unknown }, refused('invalid_value', '/id')],
    ['author', { type: 'customer', email: 'a@b.c' }, refused('unknown_field')],
    ['author', { type: 'ai' }, refused('invalid_value', '/type')],
    ['author', { type: 'teammate' }, refused('invalid_value', '/type')],
    ['author', { type: 'system' }, refused('invalid_value', '/type')],
    ['body', absent, refused('required')],
    ['body', null, refused('required')],
    ['body', '', refused('required')],
    ['body', 'b'.repeat(64_000), 'b'.repeat(64_000)],
    ['body', 'b'.repeat(64_001), refused('too_long')],
    ['body', '\0', refused('invalid_format')],
    ['contentType', 'html', 'html'],
    ['contentType', 'markdown', 'markdown'],
    ['contentType', 'rtf', refused('invalid_value')],
    ['attachments', [file], [file]],
    ['attachments', Array(15).fill(file), Array(15).fill(file)],
    ['attachments', Array(16).fill(file), refused('too_many')],
    ['attachments', null, refused('invalid_type')],
    ['attachments', [{ ...file, fileName: '' }], refused('too_short', '/0/fileName')],
    ['attachments', [{ ...file, contentType: 'pdf' }], refused('invalid_format', '/0/contentType')],
    ['attachments', [{ ...file, sizeBytes: -1 }], refused('invalid_value', '/0/sizeBytes')],
    ['attachments', [{ ...file, sizeBytes: 1.5 }], refused('invalid_type', '/0/sizeBytes')],
    ['attachments', [{ ...file, url: 'ftp://example.com/a' }], refused('invalid_format', '/0/url')],
    ['attachments', [{ ...file, url: 'javascript:alert(1)' }], refused('invalid_format', '/0/url')],
    [
      'attachments',
      [{ ...file, url: 'https://example.com/a\t\r\nb' }],
      [{ ...file, url: 'https://example.com/ab' }],
    ],
    ...['\u0001', '\u001f', '\u007f', '\u0085'].map(
      (control): FieldCase => [
        'attachments',
        [{ ...file, url: `https://example.com/a${control}b` }],
        refused('invalid_format', '/0/url'),
      ],
    ),
    ['attachments', [{ fileName: 'a' }], refused('invalid_type', '/0/url')],
    ['attachments', [{ ...file, more: 1 }], refused('unknown_field', '/0')],
    ['sentAt', '2020-02-29T23:30:00+02:00', '2020-02-29T21:30:00.000Z'],
    ['sentAt', '2020-02-30T00:00:00Z', refused('invalid_format')],
    ['sentAt', '2020-02-28', refused('invalid_format')],
    ['customerId', unknown, refused('read_only')],
    ['channel', 'sms', refused('read_only')],
    ['externalId', 'x', 'x'],
    ['externalId', '', refused('too_short')],
    ['tags', [], refused('unknown_field')],
  ])('%s: %j', async (...given) => {
    await tryCreation(api, '/v1/messages', inbound, given)
  })

  test.each<FieldCase>([
    ['author', { type: 'ai', name: 'Bot' }, { type: 'ai', name: 'Bot' }],
    ['author', { type: 'system' }, { type: 'system' }],
    ['author', { type: 'teammate' }, { type: 'teammate' }],
    ['author', { type: 'teammate', id: unknown }, refused('unknown_reference', '/id')],
    ['author', { type: 'ai', id: unknown }, refused('invalid_value', '/id')],
    ['author', { type: 'customer' }, refused('invalid_value', '/type')],
  ])('outbound: %s: %j', async (...given) => {
    await tryCreation(api, '/v1/messages', outbound, given)
  })

  test('a teammate who wrote it may have left since', async () => {
    const { id } = await makeTeammate(api, { name: 'Grace', active: false })
    const author = { type: 'teammate', id }
    await tryCreation(api, '/v1/messages', outbound, ['author', author, author])
    const upper = { type: 'teammate', id: id.toUpperCase() }
    await tryCreation(api, '/v1/messages', outbound, ['author', upper, author])
  })

  test('attachments alone are enough', async () => {
    const { body: _, ...bare } = inbound as { body: string }
    await tryCreation(api, '/v1/messages', bare, ['attachments', [file], [file]])
    await tryCreation(api, '/v1/messages', { ...bare, attachments: [file] }, ['body', null, null])
    await tryCreation(api, '/v1/messages', { ...bare, attachments: [] }, ['body', null, refused('required')])
  })
})

test.each([
  ['inbound', 'message.received'],
  ['outbound', 'message.sent'],
])('%s is %s', async (direction, type) => {
  const { id } = await makeMessage(api, { conversationId: conversation.id, direction })
  expect((await storedEvents(shared(), api.organizationId, id)).map((event) => event.type)).toEqual([type])
})

test.each([
  ['new', 'new'],
  ['open', 'open'],
  ['pending', 'open'],
  ['on_hold', 'open'],
  ['resolved', 'open'],
  ['closed', 'closed'],
])('a %s ticket of its conversation is %s after one that is inbound', async (status, after) => {
  const { id, customerId } = await makeConversation(api)
  const ticket = await makeTicket(api, { customerId, conversationId: id, status })
  const stranger = await makeTicket(api, { customerId, status })
  await makeMessage(api, { conversationId: id })
  const { json } = await api.get(`/v1/tickets/${ticket.id}`)
  expect(json).toMatchObject({ status: after, resolvedAt: after === 'closed' ? ticket.resolvedAt : null })
  expect(json.updatedAt === ticket.updatedAt).toBe(status === after)
  expect((await api.get(`/v1/tickets/${stranger.id}`)).json).toEqual(stranger)
})

const batchOf = async (path: string, items: readonly object[]) =>
  (await api.post(`${path}/batch`, { items })).json

test('an inbound message opens the hundred tickets that were created last, and reads no others', async () => {
  const { id: conversationId, customerId } = await makeConversation(api)
  const tickets = (status: string, many: number) =>
    Array(many).fill({ subject: 'Help', customerId, conversationId, status })
  const { data } = await batchOf('/v1/tickets', [...tickets('closed', 3), ...tickets('pending', 102)])
  // All at the same time, so that their ids order them.
  const pending = data
    .slice(3)
    .map(({ id }: { id: string }) => id)
    .sort()
  const rows = createRowReader(unshared(shared().database.pool), ticket.table)
  const reference = ticket.table.references.find(({ field }) => field === 'conversationId')!
  const changeable = async () =>
    (await rows.changeable(api.organizationId, reference, [conversationId])).map(({ id }) => id)
  expect(await changeable()).toEqual(pending.slice(2))
  await makeMessage(api, { conversationId })
  expect(await changeable()).toEqual(pending.slice(0, 2))
  await makeMessage(api, { conversationId })
  const { json } = await api.get(`/v1/tickets?conversationId=${conversationId}&status=open`)
  expect(json.pagination.total).toBe(102)
})

test('a batch refuses messages once what they move has more than 16 MiB', async () => {
  const { json } = await api.get(`/v1/conversations/${conversation.id}`)
  const read = async (_: string, id: string) =>
    rowOf(JSON.stringify({ ...json, id, summary: 's'.repeat(2 ** 21) }))
  const rows = () => ({ read, changeable: async () => [], withUnique: async () => [] })
  const ids = Array.from({ length: 12 }, (_, n) => unknown.slice(0, -2) + String(10 + n))
  const drafts = [...ids, ids[0]].map((conversationId) => {
    const state = parseNew(message, { ...inbound, conversationId }, clock)
    if (!state.ok) throw new Error(state.error.detail)
    return { state: state.value, createdAt: null }
  })
  const { changes } = await planInserts({ kind: message, rows, clock }, api.organizationId, drafts, null)
  const refused = changes.map((change) => (change.ok ? null : change.error.code))
  expect(refused).toEqual([...Array(10).fill(null), 'body_too_large', 'body_too_large', null])
})
