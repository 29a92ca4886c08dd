/** Conversations field by field, and the moves of one that a table of states does not show. */
import { beforeAll, describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeConversation, makeCustomer, makeMessage, makeTeammate } from '../../../testbed/desk.ts'
import { absent, type FieldCase, refused, tryChange, tryCreation } from '../../../testbed/field-cases.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'

const clock = testClock()
const shared = sharedService({ clock })
const at = '2026-01-31T09:30:00.000Z'
const unknown = '01980000-0000-7000-8000-000000000000'
let api: Api
let base: { customerId: string; channel: string }

beforeAll(async () => {
  api = await shared().newOrganization()
  base = { customerId: (await makeCustomer(api)).id, channel: 'email' }
})

const eventsOf = async (id: string) =>
  (await storedEvents(shared(), api.organizationId, id)).map(({ type }) => type).sort()

describe('at creation', () => {
  test('has these values unless told', async () => {
    const { json } = await api.post('/v1/conversations', base)
    expect(json).toEqual({
      id: expect.any(String),
      object: 'conversation',
      organizationId: api.organizationId,
      createdAt: json.createdAt,
      updatedAt: expect.any(String),
      ...base,
      subject: null,
      status: 'open',
      handledBy: 'human',
      assigneeId: null,
      escalatedAt: null,
      resolvedAt: null,
      lastMessageAt: null,
      summary: null,
      summarizedAt: null,
      externalId: null,
      tags: [],
      customAttributes: {},
    })
  })

  test.each<FieldCase>([
    ['customerId', absent, refused('required')],
    ['customerId', null, refused('invalid_type')],
    ['customerId', 'ada', refused('invalid_format')],
    ['customerId', unknown, refused('unknown_reference')],
    ['channel', absent, refused('required')],
    ['channel', null, refused('invalid_type')],
    ['channel', 'pigeon', refused('invalid_value')],
    ...['email', 'chat', 'sms', 'whatsapp', 'phone', 'api'].map((one) => ['channel', one, one] as const),
    ['subject', 's'.repeat(255), 's'.repeat(255)],
    ['subject', '🦁'.repeat(255), '🦁'.repeat(255)],
    ['subject', 's'.repeat(256), refused('too_long')],
    ['subject', '', ''],
    ['subject', 7, refused('invalid_type')],
    ['handledBy', 'ai', 'ai'],
    ['handledBy', 'nobody', refused('invalid_value')],
    ['handledBy', null, refused('invalid_type')],
    ['assigneeId', null, null],
    ['assigneeId', unknown, refused('unknown_reference')],
    ['externalId', '', refused('too_short')],
    ['tags', ['a', 'a', 'b'], ['a', 'b']],
    [
      'customAttributes',
      { plan: 'gold', seats: 3, trial: false, gone: null },
      { plan: 'gold', seats: 3, trial: false },
    ],
    ['status', 'open', refused('read_only')],
    ['escalatedAt', at, refused('read_only')],
    ['resolvedAt', null, refused('read_only')],
    ['lastMessageAt', at, refused('read_only')],
    ['summary', 's', refused('read_only')],
    ['summarizedAt', at, refused('read_only')],
    ['id', unknown, refused('read_only')],
    ['number', 1, refused('unknown_field')],
  ])('%s: %j', async (...given) => {
    await tryCreation(api, '/v1/conversations', base, given)
  })
})

describe('in a change', () => {
  test.each<FieldCase>([
    ['customerId', unknown, refused('read_only')],
    ['channel', 'chat', refused('read_only')],
    ['handledBy', 'human', refused('read_only')],
    ['status', 'resolved', refused('read_only')],
    ['summary', 's', refused('read_only')],
    ['subject', 'Parcels', 'Parcels'],
    ['subject', null, null],
    ['externalId', 'x-1', 'x-1'],
    ['externalId', null, null],
    ['tags', ['vip'], ['vip']],
    ['tags', null, refused('invalid_type')],
    ['customAttributes', { a: 1 }, { a: 1 }],
    ['assigneeId', unknown, refused('unknown_reference')],
  ])('%s: %j', async (...given) => {
    await tryChange(api, `/v1/conversations/${(await makeConversation(api, base)).id}`, given)
  })

  test('an inactive teammate is nobody to assign to; one assigned before stays', async () => {
    const teammate = await makeTeammate(api)
    const { id } = await makeConversation(api, base)
    const path = `/v1/conversations/${id}`
    await tryChange(api, path, ['assigneeId', teammate.id, teammate.id])
    await api.patch(`/v1/teammates/${teammate.id}`, { active: false })
    await tryChange(api, path, ['subject', 'still assigned', 'still assigned'])
    expect((await api.get(path)).json.assigneeId).toBe(teammate.id)
    await tryChange(api, path, ['assigneeId', null, null])
    await tryChange(api, path, ['assigneeId', teammate.id, refused('unknown_reference')])
    await tryCreation(api, '/v1/conversations', base, [
      'assigneeId',
      teammate.id,
      refused('unknown_reference'),
    ])
  })
})

describe('assigning', () => {
  test('tells each new assignee and that there is none, and not the same one again', async () => {
    const [grace, ada] = [await makeTeammate(api), await makeTeammate(api)]
    const { id } = await makeConversation(api, base)
    const path = `/v1/conversations/${id}`
    for (const assigneeId of [grace.id, grace.id, ada.id, null, ada.id]) await api.patch(path, { assigneeId })
    const assigned = Array(3).fill('conversation.assigned')
    expect(await eventsOf(id)).toEqual([...assigned, 'conversation.created', 'conversation.unassigned'])
  })

  test('at creation tells of the creation alone', async () => {
    const { id } = await makeConversation(api, { ...base, assigneeId: (await makeTeammate(api)).id })
    expect(await eventsOf(id)).toEqual(['conversation.created'])
  })

  test('takes it from an AI, with the time', async () => {
    const { id } = await makeConversation(api, { ...base, handledBy: 'ai' })
    clock.advance(5_000)
    const assigneeId = (await makeTeammate(api)).id
    const { json } = await api.patch(`/v1/conversations/${id}`, { assigneeId })
    expect(json).toMatchObject({ handledBy: 'human', assigneeId })
    expect(json.escalatedAt).toBe(new Date(clock.now()).toISOString())
  })
})

describe('times', () => {
  test('say when it was escalated, resolved and summarized; reopening forgets the last two', async () => {
    const { id } = await makeConversation(api, { ...base, handledBy: 'ai' })
    const act = async (action: string, body?: object) => {
      clock.advance(1_000)
      const { json } = await api.post(`/v1/conversations/${id}/${action}`, body)
      return [json, new Date(clock.now()).toISOString()]
    }
    const [escalated, first] = await act('escalate')
    expect(escalated.escalatedAt).toBe(first)
    const [resolved, second] = await act('resolve')
    expect(resolved).toMatchObject({ resolvedAt: second, summary: null, summarizedAt: null })
    const [summarized, third] = await act('summarize', { summary: 'All is well.' })
    expect(summarized).toMatchObject({ resolvedAt: second, summary: 'All is well.', summarizedAt: third })
    const [reopened] = await act('reopen')
    expect(reopened).toMatchObject({
      resolvedAt: null,
      summary: null,
      summarizedAt: null,
      escalatedAt: first,
    })
  })

  test.each(['inbound', 'outbound'])(
    '%s messages move lastMessageAt, which never goes back',
    async (direction) => {
      const { id } = await makeConversation(api, base)
      const read = async () => (await api.get(`/v1/conversations/${id}`)).json
      const before = await read()
      await makeMessage(api, { conversationId: id, direction, sentAt: '2026-02-01T00:00:00+01:00' })
      const after = await read()
      expect(after.lastMessageAt).toBe('2026-01-31T23:00:00.000Z')
      expect(after.updatedAt > before.updatedAt).toBe(true)
      await makeMessage(api, { conversationId: id, direction, sentAt: '2026-01-01T00:00:00Z' })
      expect((await read()).lastMessageAt).toBe('2026-01-31T23:00:00.000Z')
      expect(await eventsOf(id)).toEqual(['conversation.created'])
    },
  )
})

test.each<readonly [body: unknown, code: string, pointer: string]>([
  [undefined, 'required', '/summary'],
  [{}, 'required', '/summary'],
  [{ summary: '' }, 'too_short', '/summary'],
  [{ summary: null }, 'invalid_type', '/summary'],
  [{ summary: 's'.repeat(10_001) }, 'too_long', '/summary'],
  [{ summary: 's', more: 1 }, 'unknown_field', '/more'],
  [[], 'invalid_type', ''],
])('summarize takes no %j', async (body, code, pointer) => {
  const { id } = await makeConversation(api, base)
  await api.post(`/v1/conversations/${id}/resolve`, undefined)
  const { status, json } = await api.post(`/v1/conversations/${id}/summarize`, body)
  expect([status, json.errors[0].code, json.errors[0].pointer]).toEqual([422, code, pointer])
})
