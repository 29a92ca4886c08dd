/** Objects that are imported with their past: what is accepted, what is refused, and what stays silent. */
import { beforeEach, describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import {
  makeConversation,
  makeCustomer,
  makeMessage,
  makeTeammate,
  makeTicket,
} from '../../../testbed/desk.ts'
import { follow } from '../../../testbed/follower.ts'
import { minute } from '../../../testbed/hooks.ts'
import { httpReader } from '../../../testbed/http-follower.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'
import { jobsOf, summaryDelay, testSummarizer } from '../../../testbed/summaries.ts'

const shared = sharedService()
let api: Api

beforeEach(async () => {
  api = await shared().newOrganization()
})

const plurals = ['teammates', 'customers', 'conversations', 'messages', 'tickets', 'bookings'] as const

function imports(plural: (typeof plurals)[number], items: readonly unknown[], from = api) {
  return from.post(`/v1/${plural}/batch`, { operation: 'import', items })
}

/** The imported object, as GET shows it. */
async function imported(plural: (typeof plurals)[number], item: object, from = api) {
  const { status, json, text } = await imports(plural, [item], from)
  expect([status, json.created, json.created === 1 ? '' : text]).toEqual([200, 1, ''])
  return (await from.get(`/v1/${plural}/${json.data[0].id}`)).json
}

/** The wrong fields of the only item, with what is wrong. */
async function refused(plural: (typeof plurals)[number], item: unknown) {
  const { status, json } = await imports(plural, [item])
  expect([status, json.refused]).toEqual([200, 1])
  const { code, errors = [] } = json.data[0].problem
  return [
    code,
    ...errors.map((error: { pointer: string; detail: string }) => `${error.pointer} ${error.detail}`),
  ]
}

async function events(of = api, service = shared()) {
  return (await storedEvents(service, of.organizationId)).map(({ type }) => type)
}

const years = {
  made: '2019-03-01T08:00:00.000Z',
  ended: '2019-03-04T17:30:00.000Z',
  closed: '2019-04-01T00:00:00.000Z',
}

describe('each kind has its past', () => {
  test('a ticket: when it was made, resolved and closed, its status, assignee and number', async () => {
    const customerId = (await makeCustomer(api)).id
    const assigneeId = (await makeTeammate(api)).id
    const item = { customerId, subject: 'Old', externalId: 'z-1', number: 4711, status: 'closed', assigneeId }
    const times = { createdAt: years.made, resolvedAt: years.ended, closedAt: years.closed }
    const ticket = await imported('tickets', { ...item, ...times })
    expect(ticket).toMatchObject({ ...item, ...times })
    expect(ticket.updatedAt > years.closed).toBe(true)
    expect((await api.get('/v1/tickets?number=4711')).json.data).toEqual([ticket])
    expect((await api.get('/v1/tickets?q=Old')).json.data).toEqual([ticket])
  })

  test('times that are left out are those of the past, not now', async () => {
    const customerId = (await makeCustomer(api)).id
    const old = { customerId, subject: 'Old', createdAt: years.made }
    const closed = { ...old, status: 'closed', closedAt: years.closed }
    expect(await imported('tickets', { ...old, status: 'resolved' })).toMatchObject({
      resolvedAt: years.made,
    })
    expect(await imported('tickets', closed)).toMatchObject({ resolvedAt: years.closed })
    const resolved = { customerId, channel: 'email', status: 'resolved', createdAt: years.made }
    expect(await imported('conversations', resolved)).toMatchObject({ resolvedAt: years.made })
    expect(await imported('tickets', { customerId, subject: 'Now' })).toMatchObject({
      status: 'new',
      createdAt: expect.stringMatching(/^20[2-9]/),
    })
  })

  test('a conversation: resolution, escalation and summary', async () => {
    const customerId = (await makeCustomer(api)).id
    const past = {
      createdAt: years.made,
      status: 'resolved',
      resolvedAt: years.closed,
      escalatedAt: years.ended,
      lastMessageAt: years.ended,
      summary: 'The parcel was found.',
      summarizedAt: years.closed,
    }
    const conversation = await imported('conversations', { customerId, channel: 'email', ...past })
    expect(conversation).toMatchObject({ ...past, handledBy: 'human' })
  })

  test('a message: sent when it was made, by a teammate or the customer', async () => {
    const conversation = await makeConversation(api)
    const author = { type: 'teammate', id: (await makeTeammate(api)).id, name: 'Grace' }
    const item = { conversationId: conversation.id, direction: 'outbound', author, body: 'Sent back.' }
    const message = await imported('messages', { ...item, createdAt: years.made })
    expect(message).toMatchObject({ ...item, createdAt: years.made, sentAt: years.made, channel: 'email' })
    const later = await imported('messages', { ...item, createdAt: years.ended, sentAt: years.made })
    expect(later).toMatchObject({ createdAt: years.ended, sentAt: years.made })
  })

  test('customers, teammates and bookings: when they were made', async () => {
    const { id: customerId } = await imported('customers', { name: 'Ada', createdAt: years.made })
    const time = { startAt: years.ended, endAt: years.closed, timezone: 'UTC', status: 'confirmed' }
    const booking = await imported('bookings', {
      customerId,
      title: 'Fitting',
      ...time,
      createdAt: years.made,
    })
    expect(booking).toMatchObject({ createdAt: years.made, confirmedAt: years.made })
    expect((await imported('teammates', { name: 'Grace', createdAt: years.made })).createdAt).toBe(years.made)
  })

  test('a conversation and a booking without the customer, who was deleted; a booking that was moved', async () => {
    const { id } = await imported('conversations', {
      customerId: null,
      channel: 'email',
      createdAt: years.made,
    })
    const message = { conversationId: id, direction: 'inbound', author: { type: 'customer' }, body: 'Hi' }
    expect(await imported('messages', message)).toMatchObject({ customerId: null })
    const moved = { previousStartAt: '2031-01-01T09:00:00.000Z', rescheduleCount: 3 }
    const times = { startAt: '2031-02-01T09:00:00.000Z', endAt: '2031-02-01T10:00:00.000Z', timezone: 'UTC' }
    const booking = { customerId: null, title: 'Fitting', createdAt: years.made, ...times, ...moved }
    expect(await imported('bookings', booking)).toMatchObject(booking)
    expect(await refused('bookings', { title: 'T', ...times, rescheduleCount: -1 })).toEqual([
      'validation_failed',
      '/rescheduleCount must be a whole number from 0 up',
      '/customerId is required: must be the id (a UUID) of a customer',
    ])
    const created = await api.post('/v1/bookings/batch', { items: [booking] })
    expect(
      created.json.data[0].problem.errors.map(({ pointer }: { pointer: string }) => pointer).sort(),
    ).toEqual(['/createdAt', '/customerId', '/previousStartAt', '/rescheduleCount'])
  })

  test('a ticket that was made resolved, some milliseconds after the time that a rule has set', async () => {
    const customerId = (await makeCustomer(api)).id
    const old = { customerId, subject: 'Old', status: 'resolved', createdAt: years.made }
    const resolvedAt = '2019-03-01T07:59:59.998Z'
    expect(await imported('tickets', { ...old, resolvedAt })).toMatchObject({
      resolvedAt,
      createdAt: years.made,
    })
    expect(await refused('tickets', { ...old, resolvedAt: '2019-03-01T07:58:59.999Z' })).toEqual([
      'validation_failed',
      `/resolvedAt must not be before ${years.made}`,
    ])
  })

  test('a booking: how it ended, and when', async () => {
    const customerId = (await makeCustomer(api)).id
    const at = { startAt: '2019-03-02T09:00:00.000Z', endAt: '2019-03-02T10:00:00.000Z', timezone: 'UTC' }
    const old = { customerId, title: 'Fitting', ...at, createdAt: years.made }
    const nothing = {
      confirmedAt: null,
      completedAt: null,
      cancelledAt: null,
      cancelledBy: null,
      cancellationReason: null,
      rejectionReason: null,
    }
    for (const [past, more = {}] of [
      [{ status: 'completed', confirmedAt: years.made, completedAt: years.ended }],
      [{ status: 'completed', completedAt: years.ended }, { confirmedAt: years.made }],
      [{ status: 'no_show', confirmedAt: years.made }],
      [{ status: 'rejected', rejectionReason: 'No time' }],
      [{ status: 'cancelled', cancelledBy: 'customer', cancellationReason: 'Ill', cancelledAt: years.ended }],
      [{ status: 'cancelled' }, { cancelledAt: years.made }],
      [{ status: 'confirmed' }, { confirmedAt: years.made }],
    ] as const)
      expect(await imported('bookings', { ...old, ...past })).toMatchObject({ ...nothing, ...past, ...more })
    expect(await events()).toEqual(['customer.created'])
    expect(
      await refused('bookings', {
        ...old,
        confirmedAt: years.made,
        cancelledBy: 'system',
        rejectionReason: 'x',
      }),
    ).toEqual([
      'validation_failed',
      '/confirmedAt must be null: the booking is pending',
      '/cancelledBy must be null: the booking is pending',
      '/rejectionReason must be null: the booking is pending',
    ])
    expect(await refused('bookings', { ...old, status: 'completed', completedAt: years.made })).toEqual([
      'validation_failed',
      '/completedAt must be a time from startAt on: the booking is completed',
    ])
    expect(await refused('bookings', { ...old, status: 'gone' })).toEqual([
      'validation_failed',
      '/status must be one of pending, confirmed, cancelled, completed, no_show, rejected',
    ])
    const { json } = await api.post('/v1/bookings', { ...old, createdAt: undefined, status: 'cancelled' })
    expect(json.errors).toMatchObject([{ pointer: '/status', detail: 'must be one of pending, confirmed' }])
  })

  test('lists show it where it was, newest first', async () => {
    const { id } = await makeCustomer(api)
    const old = await imported('customers', { name: 'Old', createdAt: years.made })
    const older = await imported('customers', { name: 'Older', createdAt: '2001-01-01T00:00:00Z' })
    const { data } = (await api.get('/v1/customers')).json
    expect(data.map((one: { id: string }) => one.id)).toEqual([id, old.id, older.id])
  })
})

describe('an import is refused', () => {
  test('without its scope, which no other includes but everything; and without the scope of the kind', async () => {
    const scopes = {
      writer: ['customers:write'],
      importer: ['import'],
      both: ['customers:write', 'import'],
      all: ['*'],
    }
    const answers: Record<string, unknown> = {}
    for (const [name, held] of Object.entries(scopes)) {
      const key = await shared().newKey(api.organizationId, held)
      const { status, json } = await imports('customers', [{ name: 'Ada' }], key)
      answers[name] = status === 200 ? 200 : [status, json.code, json.detail]
    }
    expect(answers).toEqual({
      writer: [403, 'insufficient_scope', 'An import needs a key with the scope import.'],
      importer: [403, 'insufficient_scope', 'This needs a key with the scope customers:write.'],
      both: 200,
      all: 200,
    })
  })

  test('as any other creation: fields of the past are read-only, and the detail names the scope', async () => {
    const { id: customerId } = await makeCustomer(api)
    const item = { customerId, subject: 'x', createdAt: years.made, number: 7, resolvedAt: years.made }
    const single = await api.post('/v1/tickets', item)
    expect(single.status).toBe(422)
    const wrong = ['createdAt', 'number', 'resolvedAt'].map((field) => ({
      pointer: `/${field}`,
      code: 'read_only',
      detail: `${field} is set by the service, or by an import, which needs the scope import`,
    }))
    expect(single.json.errors).toEqual(wrong)
    const batch = await api.post('/v1/tickets/batch', { items: [item] })
    expect(batch.json.data[0].problem.errors).toEqual(wrong)
    const { id } = await makeTicket(api, { customerId })
    const patched = await api.patch(`/v1/tickets/${id}`, { resolvedAt: years.made })
    expect(patched.json.errors).toMatchObject([{ pointer: '/resolvedAt', code: 'read_only' }])
  })

  test('for times in the future, before the creation, and against the status: all that is wrong with an item', async () => {
    const { id: customerId } = await makeCustomer(api)
    const old = { customerId, subject: 'x', createdAt: years.ended }
    const future = '2999-01-01T00:00:00.000Z'
    const now = expect.stringContaining('must not be in the future')
    expect(await refused('tickets', { ...old, createdAt: future })).toEqual(['validation_failed', now])
    const wrong = { ...old, status: 'closed', resolvedAt: years.made, closedAt: future }
    expect(await refused('tickets', wrong)).toEqual([
      'validation_failed',
      `/resolvedAt must not be before ${years.ended}`,
      now,
    ])
    expect(await refused('tickets', { ...old, resolvedAt: years.closed, closedAt: years.closed })).toEqual([
      'validation_failed',
      '/resolvedAt must be null: the ticket is new',
      '/closedAt must be null: the ticket is new',
    ])
    const backwards = { status: 'closed', resolvedAt: years.closed, closedAt: years.ended }
    expect(await refused('tickets', { ...old, ...backwards })).toEqual([
      'validation_failed',
      '/closedAt must not be before resolvedAt',
    ])
    const talk = { customerId, channel: 'chat', createdAt: years.made, handledBy: 'ai' }
    const ended = {
      resolvedAt: years.ended,
      summary: 'x',
      summarizedAt: years.ended,
      escalatedAt: years.ended,
    }
    expect(await refused('conversations', { ...talk, ...ended })).toEqual([
      'validation_failed',
      '/escalatedAt must be null: an AI handles it',
      '/resolvedAt must be null: the conversation is open',
      '/summary must be null: the conversation is open',
      '/summarizedAt must be null: the conversation is open',
    ])
    expect(await refused('tickets', { ...old, number: 0, createdAt: 'then', colour: 'red' })).toEqual([
      'validation_failed',
      expect.stringContaining('/createdAt must be a date-time'),
      expect.stringContaining('/number must be a whole number from 1'),
      expect.stringContaining('/colour a ticket takes no such field'),
    ])
    const much = {
      ...backwards,
      createdAt: years.closed,
      subject: '',
      customerExternalId: 'nobody',
      customerId: undefined,
    }
    const unknown = '/customerExternalId there is no customer with this externalId'
    const early = `/closedAt must not be before ${years.closed}`
    expect(await refused('tickets', much)).toEqual([
      'validation_failed',
      unknown,
      expect.stringContaining('/subject must be a string'),
      early,
    ])
    expect(await refused('tickets', { ...much, subject: 'x', colour: 'red' })).toEqual([
      'validation_failed',
      unknown,
      expect.stringContaining('/colour a ticket takes no such field'),
      early,
      '/closedAt must not be before resolvedAt',
    ])
    const booking = {
      customerId,
      title: 'Fitting',
      startAt: years.closed,
      endAt: years.ended,
      timezone: 'UTC',
      confirmedAt: years.ended,
    }
    expect(await refused('bookings', { ...booking, createdAt: future })).toEqual([
      'validation_failed',
      now,
      expect.stringContaining('/confirmedAt must not be before'),
      '/endAt must be later than startAt',
      '/confirmedAt must be null: the booking is pending',
    ])
  })
})

describe('numbers', () => {
  const numbered = (customerId: string, number?: number) => ({
    customerId,
    subject: `Number ${number}`,
    ...(number === undefined ? {} : { number }),
  })

  test('are unique, in one call and over several; those that follow go on after the highest', async () => {
    const { id: customerId } = await makeCustomer(api)
    const items = [
      numbered(customerId, 10),
      numbered(customerId),
      numbered(customerId, 3),
      numbered(customerId, 10),
    ]
    const { json } = await imports('tickets', items)
    const outcomes = json.data.map((one: { outcome: string; problem?: { code: string } }) => [
      one.outcome,
      one.problem?.code,
    ])
    expect(outcomes).toEqual([
      ['created', undefined],
      ['created', undefined],
      ['created', undefined],
      ['refused', 'duplicate'],
    ])
    const all = async () =>
      (await api.get('/v1/tickets')).json.data
        .map(({ number }: { number: number }) => number)
        .sort((a: number, b: number) => a - b)
    expect(await all()).toEqual([3, 10, 11])
    expect((await makeTicket(api, { customerId })).number).toBe(12)
    const again = await imports('tickets', [numbered(customerId, 12)])
    expect(again.json.data[0]).toMatchObject({ status: 409, problem: { code: 'duplicate' } })
    expect(again.json.data[0].problem.detail).toContain('number')
    // A number below the highest moves nothing.
    await imported('tickets', numbered(customerId, 7))
    expect((await makeTicket(api, { customerId })).number).toBe(13)
  })

  test('of a deleted ticket are not given again', async () => {
    const { id: customerId } = await makeCustomer(api)
    const { id } = await imported('tickets', numbered(customerId, 5))
    expect((await api.delete(`/v1/tickets/${id}`)).status).toBe(204)
    const { json } = await imports('tickets', [numbered(customerId, 5)])
    expect(json.data[0]).toMatchObject({ status: 409, problem: { code: 'duplicate' } })
  })

  test('stay unique while others create tickets at the same time', async () => {
    const { id: customerId } = await makeCustomer(api)
    const live = Array.from({ length: 30 }, () => makeTicket(api, { customerId }))
    const batches = Array.from({ length: 10 }, (_, n) =>
      imports('tickets', [numbered(customerId, 5 * (n + 1)), numbered(customerId)]),
    )
    await Promise.all([...live, ...batches])
    const { data, pagination } = (await api.get('/v1/tickets?limit=100')).json
    const numbers = data.map(({ number }: { number: number }) => number)
    expect(new Set(numbers).size).toBe(pagination.total)
    expect(pagination.total).toBeGreaterThanOrEqual(40)
    expect((await makeTicket(api, { customerId })).number).toBe(Math.max(...numbers) + 1)
  })
})

describe('external ids', () => {
  test('name the customer and the conversation; unknown ones are refused with everything else', async () => {
    const { id: customerId } = await imported('customers', { externalId: 'u-1', name: 'Ada' })
    const talk = { customerExternalId: 'u-1', channel: 'email', externalId: 'c-1', createdAt: years.made }
    const conversation = await imported('conversations', talk)
    expect(conversation.customerId).toBe(customerId)
    const both = { customerExternalId: 'u-1', conversationExternalId: 'c-1', subject: 'x', externalId: 't-1' }
    const ticket = await imported('tickets', both)
    expect(ticket).toMatchObject({ customerId, conversationId: conversation.id })
    const said = {
      conversationExternalId: 'c-1',
      direction: 'inbound',
      author: { type: 'customer' },
      body: 'Hi',
    }
    expect((await imported('messages', said)).conversationId).toBe(conversation.id)
    expect(
      await refused('tickets', { ...both, externalId: 't-2', customerExternalId: 'u-9', priority: 'x' }),
    ).toEqual([
      'validation_failed',
      '/customerExternalId there is no customer with this externalId',
      expect.stringContaining('/priority must be one of'),
    ])
    expect(
      await refused('tickets', { ...both, externalId: 't-2', customerId, customerExternalId: 5 }),
    ).toEqual(['validation_failed', '/customerExternalId must be left out: customerId is given'])
    expect(await refused('tickets', { subject: 'x' })).toEqual([
      'validation_failed',
      expect.stringContaining('/customerId is required'),
    ])
    // The outcome would say whether there is such an object.
    for (const [name, scope] of [
      ['customerExternalId', 'customers:read'],
      ['conversationExternalId', 'conversations:read'],
    ] as const) {
      const others = ['tickets:write', 'import', 'customers:read', 'conversations:read'].filter(
        (one) => one !== scope,
      )
      const key = await shared().newKey(api.organizationId, others)
      const answers = ['u-1', 'c-1', 'nobody'].map((value) =>
        imports('tickets', [{ subject: 'x', [name]: value }], key),
      )
      for (const { status, json } of await Promise.all(answers))
        expect([status, json.code, json.detail]).toEqual([
          403,
          'insufficient_scope',
          `An import with ${name} needs a key with the scope ${scope}.`,
        ])
    }
    const other = await api.post('/v1/tickets', both)
    expect(other.json.errors).toMatchObject([
      { pointer: '/customerExternalId', code: 'unknown_field' },
      {},
      {},
    ])
  })

  test('make it repeatable: what is there stays as it is, whatever became of it', async () => {
    const customer = { externalId: 'u-1', name: 'Ada', createdAt: years.made }
    const first = await imported('customers', customer)
    const ticket = await imported('tickets', {
      customerExternalId: 'u-1',
      externalId: 't-1',
      subject: 'Old',
      number: 9,
      status: 'resolved',
      createdAt: years.made,
    })
    await api.patch(`/v1/tickets/${ticket.id}`, { status: 'open' })
    const before = (await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00Z')).json
    const again = await imports('customers', [customer, { ...customer, externalId: 'u-2' }])
    expect(again.json).toMatchObject({ created: 1, unchanged: 1, data: [{ id: first.id }, {}] })
    const repeated = await imports('tickets', [
      { customerExternalId: 'gone', externalId: 't-1', subject: 'New', number: 9 },
    ])
    expect(repeated.json).toMatchObject({ created: 0, unchanged: 1, data: [{ id: ticket.id, status: 200 }] })
    const after = (await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00Z')).json
    expect(after.data.slice(0, -1)).toEqual(before.data)
  })
})

test('messages are imported once, however often and however much later the same file comes', async () => {
  await imported('customers', { externalId: 'u-1', name: 'Ada' })
  await imported('conversations', { customerExternalId: 'u-1', channel: 'email', externalId: 'c-1' })
  const said = { conversationExternalId: 'c-1', direction: 'inbound', author: { type: 'customer' } }
  const items = ['m-1', 'm-2'].map((externalId) => ({ ...said, body: `Hi ${externalId}`, externalId }))
  const first = (await imports('messages', items)).json
  expect(first).toMatchObject({ created: 2, unchanged: 0, refused: 0 })
  const { text, json } = await api.get('/v1/messages')
  const again = (await imports('messages', [...items, { ...items[0], externalId: 'm-3' }])).json
  expect(again).toMatchObject({ created: 1, unchanged: 2, refused: 0 })
  expect(again.data[0].id).toBe(first.data[0].id)
  expect((await api.get('/v1/messages?limit=2&offset=1')).json.data).toEqual(json.data)
  expect(text).toContain('"externalId":"m-1"')
  expect((await api.get('/v1/messages?externalId=m-2')).json.data).toMatchObject([{ body: 'Hi m-2' }])
  // Two at once, and one that is sent now.
  const many = await Promise.all(
    Array.from({ length: 6 }, () => imports('messages', [{ ...said, body: 'Twice', externalId: 'm-4' }])),
  )
  expect(many.map(({ json }) => json.created).sort()).toEqual([0, 0, 0, 0, 0, 1])
  const { id: conversationId } = (await api.get('/v1/conversations?externalId=c-1')).json.data[0]
  const now = {
    conversationId,
    direction: 'inbound',
    author: { type: 'customer' },
    body: 'x',
    externalId: 'm-4',
  }
  const twice = await api.post('/v1/messages', now)
  expect([twice.status, twice.json.code, twice.json.existingId]).toEqual([
    409,
    'duplicate',
    many.find(({ json }) => json.created === 1)?.json.data[0].id,
  ])
  // The id of a deleted one is free.
  expect((await api.delete(`/v1/messages/${first.data[1].id}`)).status).toBe(204)
  expect((await imports('messages', items)).json).toMatchObject({ created: 1, unchanged: 1 })
  const upsert = await api.post('/v1/messages/batch', { operation: 'upsert', items: [now] })
  expect(upsert.json.errors).toMatchObject([{ pointer: '/operation' }])
})

describe('nothing tells of it', () => {
  test('no event is made, and GET /v1/events shows none; the stream has the rows', async () => {
    await imported('customers', { externalId: 'u-1', name: 'Ada', createdAt: years.made })
    await imported('conversations', {
      customerExternalId: 'u-1',
      externalId: 'c-1',
      channel: 'chat',
      createdAt: years.made,
    })
    const inbound = {
      conversationExternalId: 'c-1',
      direction: 'inbound',
      author: { type: 'customer' },
      body: 'Hi',
    }
    await imported('messages', { ...inbound, createdAt: years.ended })
    await imported('tickets', { customerExternalId: 'u-1', subject: 'x', createdAt: years.made })
    expect(await events()).toEqual([])
    expect((await api.get('/v1/events')).json.data).toEqual([])
    const { data } = (await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00Z')).json
    expect(data.map(({ object, createdAt }: never) => [object, createdAt])).toEqual(
      [
        ['customer', years.made],
        // The message moved its lastMessageAt.
        ['message', years.ended],
        ['conversation', years.made],
        ['ticket', years.made],
      ].toSorted(
        ([a], [b]) =>
          data.findIndex((one: { object: string }) => one.object === a) -
          data.findIndex((one: { object: string }) => one.object === b),
      ),
    )
    // Changes that follow are told as ever.
    const [{ id }] = (await api.get('/v1/tickets')).json.data
    await api.patch(`/v1/tickets/${id}`, { priority: 'high' })
    expect(await events()).toEqual(['ticket.updated'])
  })

  test('an old message reopens nothing, and moves only a lastMessageAt that is earlier', async () => {
    const { id: customerId } = await makeCustomer(api)
    const talk = {
      customerId,
      channel: 'chat',
      status: 'resolved',
      createdAt: years.made,
      resolvedAt: years.closed,
    }
    const conversation = await imported('conversations', {
      ...talk,
      lastMessageAt: years.closed,
      summary: 'Found.',
    })
    const ticket = await imported('tickets', {
      customerId,
      conversationId: conversation.id,
      subject: 'x',
      status: 'pending',
    })
    const before = await events()
    const said = {
      conversationId: conversation.id,
      direction: 'inbound',
      author: { type: 'customer' },
      body: 'Hi',
    }
    await imported('messages', { ...said, createdAt: years.ended })
    expect((await api.get(`/v1/conversations/${conversation.id}`)).json).toEqual(conversation)
    expect((await api.get(`/v1/tickets/${ticket.id}`)).json).toEqual(ticket)
    await imported('messages', { ...said, createdAt: '2019-05-01T00:00:00.000Z' })
    const { updatedAt: _, ...later } = (await api.get(`/v1/conversations/${conversation.id}`)).json
    expect(later).toMatchObject({
      status: 'resolved',
      summary: 'Found.',
      lastMessageAt: '2019-05-01T00:00:00.000Z',
    })
    expect(await events()).toEqual(before)
    // A message of today does what it always does.
    await makeMessage(api, { conversationId: conversation.id })
    expect((await api.get(`/v1/conversations/${conversation.id}`)).json).toMatchObject({
      status: 'open',
      summary: null,
    })
    expect((await api.get(`/v1/tickets/${ticket.id}`)).json.status).toBe('open')
  })

  test('the past gets no summary; what is resolved from now on does', async () => {
    const clock = testClock()
    await using service = await testService({ clock })
    await using summarizer = testSummarizer(service, clock)
    const own = service.api
    const { id: customerId } = await makeCustomer(own)
    const talk = { customerId, channel: 'chat', createdAt: years.made }
    const ended = await imported(
      'conversations',
      { ...talk, status: 'resolved', resolvedAt: years.ended },
      own,
    )
    expect(ended).toMatchObject({ summary: null, summarizedAt: years.ended })
    const open = await imported('conversations', talk, own)
    const said = { direction: 'inbound', author: { type: 'customer' }, body: 'Where is my parcel, please?' }
    for (const { id } of [ended, open])
      await imported('messages', { ...said, conversationId: id, createdAt: years.made }, own)
    await own.patch(`/v1/conversations/${ended.id}`, { tags: ['old'] })
    clock.advance(summaryDelay + minute)
    expect(await summarizer.engine.runDue()).toBe(0)
    expect(await jobsOf(service)).toEqual([])
    for (const { id } of [ended, open]) {
      await own.post(`/v1/conversations/${id}/reopen`, undefined)
      await own.post(`/v1/conversations/${id}/resolve`, undefined)
    }
    clock.advance(summaryDelay)
    expect(await summarizer.engine.runDue()).toBe(2)
  })
})

test('followers, first syncs and checkpoints are exact while an import goes on, and an erase takes what was imported', async () => {
  const followers = plurals.map((kind) =>
    follow(httpReader({ url: () => shared().url, token: api.token, kind, limit: 3 })),
  )
  const drainAll = async () => {
    for (const follower of followers) await follower.drain()
  }
  const live = makeCustomer(api).then(({ id }) =>
    Promise.all(
      Array.from({ length: 8 }, () => makeMessage(api, {}).then(() => makeTicket(api, { customerId: id }))),
    ),
  )
  for (let n = 0; n < 4; n++) {
    const of = { customerExternalId: `u-${n}` }
    await imports('customers', [{ externalId: `u-${n}`, name: 'Zarathustra', createdAt: years.made }])
    await imports('conversations', [{ ...of, externalId: `c-${n}`, channel: 'chat', createdAt: years.made }])
    const said = { conversationExternalId: `c-${n}`, direction: 'inbound', author: { type: 'customer' } }
    const messages = Array.from({ length: 5 }, (_, k) => ({
      ...said,
      body: `Zarathustra ${k}`,
      createdAt: years.ended,
    }))
    await Promise.all([
      imports('messages', messages),
      imports('tickets', [{ ...of, externalId: `t-${n}`, number: 1_000 * (n + 1), subject: 'Zarathustra' }]),
      drainAll(),
    ])
  }
  await live
  await drainAll()
  const [{ id }] = (await api.get('/v1/customers?externalId=u-2')).json.data
  const receipt = await api.post(`/v1/customers/${id}/erase`, undefined)
  expect(receipt.json.removed).toMatchObject({
    customer: 1,
    conversation: 1,
    message: 5,
    ticket: 1,
    booking: 0,
  })
  await drainAll()
  for (const follower of followers) expect(follower.faults).toEqual([])
  const fresh = follow(httpReader({ url: () => shared().url, token: api.token, kind: 'messages', limit: 7 }))
  await fresh.drain()
  expect(fresh.faults).toEqual([])
  const old = [...fresh.copy.values()].filter((body) => body.includes('Zarathustra'))
  expect(old.length).toBe(15)
  expect(old.every((body) => body.includes(`"createdAt":"${years.ended}"`))).toBe(true)
})
