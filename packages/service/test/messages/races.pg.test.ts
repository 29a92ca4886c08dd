/** A message that arrives while another process changes what it moves: decided again, it moves what is there then. */
import { describe, expect, test } from 'vitest'
import { audit } from '../../../testbed/audit.ts'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import { makeConversation, makeCustomer, makeMessage, makeTicket } from '../../../testbed/desk.ts'
import { interposed } from '../../../testbed/interpose.ts'
import { type Api, type TestService, testService } from '../../../testbed/service.ts'
import { schemaOf } from '../../src/schema.ts'

interface Scene {
  readonly api: Api
  readonly conversation: { readonly id: string; readonly customerId: string }
  /** On the conversation, open. */
  readonly ticket: { readonly id: string }
  /** The customer's too, pending, and of no conversation. */
  readonly apart: { readonly id: string }
}

/**
 * An inbound message decided by one service, committed after `meanwhile` went through another on the same database.
 * Answers with what there is then.
 */
async function race(meanwhile: (scene: Scene) => Promise<unknown>, weaken = async (_: TestDatabase) => {}) {
  await using database = await testDatabase()
  await weaken(database)
  let gap: (() => Promise<unknown>) | null = null
  const late = interposed(database, async (text, values) => {
    if (!text.includes('commit_') || !values.some((value) => String(value).includes(',insert,message,')))
      return
    const act = gap
    gap = null
    await act?.()
  })
  await using other = await testService({ database })
  await using service = await testService({ database: late })
  const { api } = other
  const conversation = await makeConversation(api)
  const { customerId } = conversation
  const ticket = await makeTicket(api, { customerId, conversationId: conversation.id })
  await api.patch(`/v1/tickets/${ticket.id}`, { status: 'open' })
  const apart = await makeTicket(api, { customerId, status: 'pending' })
  const scene: Scene = { api, conversation, ticket, apart }
  let acted = false
  gap = async () => {
    await meanwhile(scene)
    acted = true
  }
  const message = await makeMessage(service.withToken(api.token), { conversationId: conversation.id })
  expect(acted).toBe(true)
  const read = async (path: string) => (await api.get(path)).json
  return {
    message: await read(`/v1/messages/${message.id}`),
    conversation: await read(`/v1/conversations/${conversation.id}`),
    ticket: await read(`/v1/tickets/${ticket.id}`),
    apart: await read(`/v1/tickets/${apart.id}`),
    tickets: (await read('/v1/tickets')).data as { status: string; conversationId: string | null }[],
    problems: await audit(database.pool, api.organizationId),
  }
}

const rest = (status: string) => ({
  what: `its ticket is put to ${status}`,
  act: ({ api, ticket }: Scene) => api.patch(`/v1/tickets/${ticket.id}`, { status }),
})

/** Whatever brings a ticket to rest on the conversation. */
const resting = [
  rest('pending'),
  rest('on_hold'),
  rest('resolved'),
  {
    what: 'a pending ticket is made on it',
    act: ({ api, conversation }: Scene) =>
      makeTicket(api, {
        customerId: conversation.customerId,
        conversationId: conversation.id,
        status: 'pending',
      }),
  },
  {
    what: 'a pending ticket comes to it',
    act: ({ api, conversation, apart }: Scene) =>
      api.patch(`/v1/tickets/${apart.id}`, { conversationId: conversation.id }),
  },
]

const resters = (tickets: Awaited<ReturnType<typeof race>>['tickets']) =>
  tickets.filter(({ status, conversationId }) => conversationId !== null && status !== 'open')

describe('an inbound message leaves no ticket of its conversation at rest when, before it commits,', () => {
  test.each(resting)('$what', async ({ act }) => {
    const after = await race(act)
    expect(resters(after.tickets)).toEqual([])
    expect(after.problems).toEqual([])
  })

  test.each(resting)('and without its expectations it does when $what', async ({ act }) => {
    const after = await race(act, withoutExpectations)
    expect(resters(after.tickets)).toHaveLength(1)
    expect(after.problems).toEqual([expect.stringContaining('rested')])
  })
})

/** The functions of a ticket as they are, but for the checks of what a unit was decided on. */
async function withoutExpectations({ pool }: TestDatabase): Promise<void> {
  const { functions } = schemaOf()
  const edit = async (name: string, what: RegExp, instead: string) => {
    const found = functions.find((one) => one.name.replace(/_[0-9a-f]{12}$/, '') === name)
    const { definition = '' } = found ?? {}
    expect(definition).toMatch(what)
    await pool.query(definition.replace(what, instead))
  }
  await edit('moved_on_ticket', /c\.expected is not null/, 'false')
  await edit('check_ticket', /'ticket\.conversation_id\.referring' = any\(p_checks\)/, 'false')
}

describe('a message that was decided before', () => {
  test('its ticket left the conversation leaves that at rest', async () => {
    const { ticket } = await race(({ api, ticket }) =>
      api.patch(`/v1/tickets/${ticket.id}`, { conversationId: null, status: 'pending' }),
    )
    expect(ticket).toMatchObject({ status: 'pending', conversationId: null })
  })

  test('its ticket was deleted is taken in', async () => {
    const { ticket, problems } = await race(({ api, ticket }) => api.delete(`/v1/tickets/${ticket.id}`))
    expect(ticket.code).toBe('not_found')
    expect(problems).toEqual([])
  })

  test('its conversation was resolved reopens it', async () => {
    const { conversation } = await race(({ api, conversation }) =>
      api.post(`/v1/conversations/${conversation.id}/resolve`, undefined),
    )
    expect(conversation).toMatchObject({ status: 'open', resolvedAt: null })
  })

  test('its conversation got another subject keeps that', async () => {
    const { conversation, message } = await race(({ api, conversation }) =>
      api.patch(`/v1/conversations/${conversation.id}`, { subject: 'Parcels' }),
    )
    expect(conversation).toMatchObject({ subject: 'Parcels', lastMessageAt: message.sentAt })
  })

  test('another message came counts with it', async () => {
    const sentAt = '2200-01-01T00:00:00.000Z'
    const { conversation, problems } = await race(({ api, conversation }) =>
      makeMessage(api, { conversationId: conversation.id, sentAt }),
    )
    expect(conversation.lastMessageAt).toBe(sentAt)
    expect(problems).toEqual([])
  })

  test('its customer was deleted has none', async () => {
    const { message, conversation, tickets, problems } = await race(({ api, conversation }) =>
      api.delete(`/v1/customers/${conversation.customerId}`),
    )
    expect([message.customerId, conversation.customerId]).toEqual([null, null])
    expect(conversation.lastMessageAt).toBe(message.sentAt)
    expect(tickets).toEqual([])
    expect(problems).toEqual([])
  })
})

test('many messages on one conversation at once, through three services, are all taken in', async () => {
  await using database = await testDatabase()
  await using stack = new AsyncDisposableStack()
  const services: TestService[] = []
  for (let n = 0; n < 3; n++) services.push(stack.use(await testService({ database })))
  const apis = services.map((service) => service.withToken(services[0]!.api.token))
  const api = services[0]!.api
  const { id: conversationId, customerId } = await makeConversation(api)
  const ticket = await makeTicket(api, { customerId, conversationId })
  const rests = ['pending', 'on_hold', 'resolved']
  const messages = Array.from({ length: 60 }, (_, n) =>
    makeMessage(apis[n % 3]!, { conversationId, direction: n % 4 === 0 ? 'outbound' : 'inbound' }),
  )
  const patches = Array.from({ length: 30 }, (_, n) =>
    apis[(n + 1) % 3]!.patch(`/v1/tickets/${ticket.id}`, { status: rests[n % 3] }),
  )
  const made = await Promise.all(messages)
  const answers = await Promise.all(patches)
  expect(answers.filter(({ status }) => status !== 200 && status !== 409).map(({ text }) => text)).toEqual([])
  const latest = made
    .map(({ sentAt }) => sentAt)
    .sort()
    .at(-1)
  expect((await api.get(`/v1/conversations/${conversationId}`)).json.lastMessageAt).toBe(latest)
  expect((await api.get(`/v1/messages?conversationId=${conversationId}`)).json.pagination.total).toBe(60)
  expect(await audit(database.pool, api.organizationId)).toEqual([])
  await makeMessage(apis[2]!, { conversationId })
  expect((await api.get(`/v1/tickets/${ticket.id}`)).json.status).toBe('open')
})

test('messages of one conversation to which its customer is lost meanwhile: some before, the rest without one', async () => {
  await using database = await testDatabase()
  await using stack = new AsyncDisposableStack()
  const [first, second] = [
    stack.use(await testService({ database })),
    stack.use(await testService({ database })),
  ]
  const { api } = first
  const beside = second.withToken(api.token)
  for (let round = 0; round < 5; round++) {
    const { id: customerId } = await makeCustomer(api)
    const { id: conversationId } = await makeConversation(api, { customerId })
    const [deleted, ...made] = await Promise.all([
      beside.delete(`/v1/customers/${customerId}`),
      ...Array.from({ length: 8 }, (_, n) => makeMessage(n % 2 ? api : beside, { conversationId })),
    ])
    expect(deleted.status).toBe(204)
    expect(made).toHaveLength(8)
    const { data } = (await api.get(`/v1/messages?conversationId=${conversationId}`)).json
    expect(data.map(({ customerId }: { customerId: string | null }) => customerId)).toEqual(
      Array(8).fill(null),
    )
  }
  expect(await audit(database.pool, api.organizationId)).toEqual([])
})
