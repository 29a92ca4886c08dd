/** Every event type of the desk, caused over HTTP, arrives at a receiver over TLS with the bytes of GET. */
import { verifySignature } from '@deskwire/sdk'
import { expect, test } from 'vitest'
import { createAuthority } from '../../../testbed/certificates.ts'
import { testClock } from '../../../testbed/clock.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeMessage,
  makeNote,
  makeTeammate,
  makeTicket,
} from '../../../testbed/desk.ts'
import { dataOf, day, makeWebhook } from '../../../testbed/hooks.ts'
import { answer, type ReceivedRequest, startReceiver } from '../../../testbed/receiver.ts'
import { runDue } from '../../../testbed/run-due.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { kinds } from '../../src/desk/index.ts'
import { createWorker } from '../../src/roles/worker.ts'

const eventTypes = kinds.flatMap((kind) => Object.keys(kind.events))

/** What a story needs to know of what it made, by the name of its kind. */
type Cast = Record<string, string>

interface Line {
  readonly what: string
  act(api: Api, cast: Cast): Promise<unknown>
  /** The events that it causes; no others. */
  readonly types: readonly string[]
}

const intricate = {
  name: 'Zoë </script> \u0001 \u2029 "quoted" \\ 🦁',
  email: 'zoe@example.com',
  tags: ['a', 'ü'],
  customAttributes: { __proto__x: 1e21, float: 0.1, yes: true, empty: '' },
}

const act = (kind: string, action: string, body?: object) => (api: Api, cast: Cast) =>
  api.post(`/v1/${kind}s/${cast[kind]}/${action}`, body)
const change = (kind: string, patch: object) => (api: Api, cast: Cast) =>
  api.patch(`/v1/${kind}s/${cast[kind]}`, patch)
const assign =
  (kind: string, more: object = {}) =>
  (api: Api, cast: Cast) =>
    change(kind, { assigneeId: cast.teammate, ...more })(api, cast)
const remove = (kind: string) => (api: Api, cast: Cast) => api.delete(`/v1/${kind}s/${cast[kind]}`)
const make = async (cast: Cast, kind: string, made: Promise<{ id: string }>) => {
  cast[kind] = (await made).id
}

/** What it takes for every event type of the desk to come about, and what has come when. */
const story: readonly Line[] = [
  {
    what: 'a teammate is no event',
    act: (api, cast) => make(cast, 'teammate', makeTeammate(api)),
    types: [],
  },
  {
    what: 'a customer',
    act: (api, cast) => make(cast, 'customer', makeCustomer(api, intricate)),
    types: ['customer.created'],
  },
  {
    what: 'the customer changes',
    act: change('customer', { company: 'Æther "GmbH" \\ \u2028' }),
    types: ['customer.updated'],
  },
  {
    what: 'a conversation, answered by an AI',
    act: (api, cast) =>
      make(
        cast,
        'conversation',
        makeConversation(api, { customerId: cast.customer, subject: 'Löwe 🦁', handledBy: 'ai' }),
      ),
    types: ['conversation.created'],
  },
  {
    what: 'a ticket of it',
    act: (api, cast) =>
      make(cast, 'ticket', makeTicket(api, { customerId: cast.customer, conversationId: cast.conversation })),
    types: ['ticket.created'],
  },
  { what: 'the ticket changes', act: change('ticket', { subject: 'Löwe 🦁' }), types: ['ticket.updated'] },
  {
    what: 'it is assigned, and waits',
    act: assign('ticket', { status: 'pending' }),
    types: ['ticket.updated', 'ticket.status_changed', 'ticket.assigned'],
  },
  {
    what: 'the AI hands over',
    act: act('conversation', 'escalate'),
    types: ['conversation.escalated'],
  },
  { what: 'to a teammate', act: assign('conversation'), types: ['conversation.assigned'] },
  {
    what: 'who answers',
    act: (api, cast) =>
      makeMessage(api, {
        conversationId: cast.conversation,
        direction: 'outbound',
        author: { type: 'teammate', id: cast.teammate },
      }),
    types: ['message.sent'],
  },
  {
    what: 'and closes it',
    act: act('conversation', 'resolve'),
    types: ['conversation.resolved'],
  },
  {
    what: 'which is summed up',
    act: act('conversation', 'summarize', { summary: 'A lion \u2028 was \\ "found".' }),
    types: ['conversation.summarized'],
  },
  {
    what: 'the customer writes again: conversation and ticket are open',
    act: (api, cast) => makeMessage(api, { conversationId: cast.conversation, body: 'And the 🦁?\u0001' }),
    types: ['message.received', 'conversation.reopened', 'ticket.updated', 'ticket.status_changed'],
  },
  {
    what: 'another conversation, assigned while an AI has it',
    act: async (api, cast) => {
      await make(cast, 'conversation', makeConversation(api, { customerId: cast.customer, handledBy: 'ai' }))
      await assign('conversation')(api, cast)
    },
    types: ['conversation.created', 'conversation.assigned', 'conversation.escalated'],
  },
  {
    what: 'and then to nobody',
    act: change('conversation', { assigneeId: null }),
    types: ['conversation.unassigned'],
  },
  {
    what: 'a message of it',
    act: (api, cast) => make(cast, 'message', makeMessage(api, { conversationId: cast.conversation })),
    types: ['message.received'],
  },
  { what: 'is deleted', act: remove('message'), types: ['message.deleted'] },
  {
    what: 'a note on it',
    act: (api, cast) => make(cast, 'note', makeNote(api, { conversationId: cast.conversation })),
    types: ['note.created'],
  },
  { what: 'changes', act: change('note', { body: 'Löwe 🦁' }), types: ['note.updated'] },
  { what: 'and is deleted', act: remove('note'), types: ['note.deleted'] },
  { what: 'and then the conversation', act: remove('conversation'), types: ['conversation.deleted'] },
  {
    what: 'a booking',
    act: (api, cast) =>
      make(
        cast,
        'booking',
        makeBooking(api, { customerId: cast.customer, location: { type: 'other', value: 'Zoo "Ost"' } }),
      ),
    types: ['booking.created'],
  },
  {
    what: 'is moved',
    act: act('booking', 'reschedule', {
      startAt: '2026-03-02T10:00:00+02:00',
      endAt: '2026-03-02T11:00:00+02:00',
    }),
    types: ['booking.rescheduled'],
  },
  { what: 'and confirmed', act: act('booking', 'confirm'), types: ['booking.confirmed'] },
  { what: 'it took place', act: act('booking', 'complete'), types: ['booking.completed'] },
  { what: 'or rather not', act: act('booking', 'no-show'), types: ['booking.no_show'] },
  {
    what: 'one that is cancelled',
    act: async (api, cast) => {
      await make(cast, 'booking', makeBooking(api, { customerId: cast.customer }))
      await act('booking', 'cancel', { by: 'customer', reason: 'a cold' })(api, cast)
    },
    types: ['booking.created', 'booking.cancelled'],
  },
  {
    what: 'one that is turned down',
    act: async (api, cast) => {
      await make(cast, 'booking', makeBooking(api, { customerId: cast.customer }))
      await act('booking', 'reject', { reason: 'full' })(api, cast)
    },
    types: ['booking.created', 'booking.rejected'],
  },
  { what: 'the booking goes', act: remove('booking'), types: ['booking.deleted'] },
  { what: 'the teammate goes', act: remove('teammate'), types: ['teammate.deleted'] },
  { what: 'the ticket goes', act: remove('ticket'), types: ['ticket.deleted'] },
  {
    what: 'another',
    act: (api, cast) => makeTicket(api, { customerId: cast.customer }),
    types: ['ticket.created'],
  },
  {
    what: 'goes with the customer; what stays loses its customer without an event',
    act: remove('customer'),
    types: ['ticket.deleted', 'customer.deleted'],
  },
]

const typeOf = ({ headers }: ReceivedRequest) => headers['x-service-event-type'] ?? ''

test('the story causes every event type there is', () => {
  expect(eventTypes).toHaveLength(31)
  expect([...new Set(story.flatMap(({ types }) => types))].sort()).toEqual([...eventTypes].sort())
})

test('each arrives under its type, signed, with what GET or the sync answers, byte for byte', async () => {
  const clock = testClock()
  const start = new Date(clock.now()).toISOString()
  await using service = await testService({ clock })
  const authority = createAuthority()
  const receiver = await startReceiver({ ...authority.issue(['127.0.0.1']), host: '127.0.0.1' })
  receiver.will(answer(200))
  const { pool } = service.database
  const settings = { ...deliverySettings, targetCa: authority.ca }
  const worker = createWorker({ pool, clock, log: service.app.server.log, kinds, settings })
  try {
    const { api } = service
    const webhook = await makeWebhook(api, {
      url: `https://127.0.0.1:${receiver.port}/`,
      events: eventTypes,
    })
    const cast: Cast = {}
    let seen = 0
    for (const { what, act, types } of story) {
      await act(api, cast)
      await runDue(worker.engine)
      const arrived = receiver.requests.slice(seen)
      seen += arrived.length
      expect(arrived.map(typeOf).sort(), what).toEqual([...types].sort())
      for (const request of arrived) await expectRight(request, webhook.secret, api)
      clock.advance(day)
    }
  } finally {
    await worker.close()
    await receiver.close()
  }

  async function expectRight(request: ReceivedRequest, secret: string, api: Api): Promise<void> {
    const body = request.body.toString()
    const type = typeOf(request)
    const envelope = JSON.parse(body)
    expect(envelope).toMatchObject({
      id: request.headers['x-service-event-id'],
      type,
      apiVersion: 'v1',
      organizationId: api.organizationId,
    })
    expect(Object.keys(envelope)).toEqual(['id', 'type', 'apiVersion', 'createdAt', 'organizationId', 'data'])
    const now = Math.floor(clock.now() / 1000)
    await verifySignature(request.body, request.headers, secret, { now })
    const [kind, what] = type.split('.')
    const path = `/v1/${kind}s`
    if (what === 'deleted') {
      expect((await api.get(`${path}?updatedAfter=${start}`)).text).toContain(dataOf({ body }))
    } else {
      expect(dataOf({ body })).toBe((await api.get(`${path}/${envelope.data.id}`)).text)
    }
  }
})
