/** For each event type, a change that causes it. A type without one does not compile. */
import type {
  Booking,
  Client,
  Conversation,
  Customer,
  EventType,
  Message,
  Note,
  Teammate,
  Ticket,
} from '@deskwire/sdk'

/** One thing that was done. */
export interface Step {
  readonly did: 'created' | 'changed' | 'deleted'
  readonly object: string
  readonly id: string
  /** The events it caused, as the rules of its kind say. */
  readonly events: readonly CausedType[]
}

/** What a change of an object can cause. */
type CausedType = Exclude<EventType, 'ping' | `endpoint.${string}`>

type Trigger = (client: Client, done: (step: Step) => void) => Promise<void>

const triggers: Readonly<Record<CausedType, Trigger>> = {
  'customer.created': async (client, done) => {
    await newCustomer(client, done)
  },
  'customer.updated': async (client, done) => {
    const { id } = await newCustomer(client, done)
    await client.customers.update(id, { company: 'Analytical Engines' })
    done({ did: 'changed', object: 'customer', id, events: ['customer.updated'] })
  },
  'customer.deleted': async (client, done) => {
    const { id } = await newCustomer(client, done)
    await client.customers.delete(id)
    done({ did: 'deleted', object: 'customer', id, events: ['customer.deleted'] })
  },
  'conversation.created': async (client, done) => {
    await newConversation(client, done)
  },
  'conversation.assigned': async (client, done) => {
    const { id: assigneeId } = await newTeammate(client, done)
    const { id } = await newConversation(client, done)
    await client.conversations.update(id, { assigneeId })
    done({ did: 'changed', object: 'conversation', id, events: ['conversation.assigned'] })
  },
  'conversation.unassigned': async (client, done) => {
    const { id: assigneeId } = await newTeammate(client, done)
    const { id } = await newConversation(client, done)
    await client.conversations.update(id, { assigneeId })
    done({ did: 'changed', object: 'conversation', id, events: ['conversation.assigned'] })
    await client.conversations.update(id, { assigneeId: null })
    done({ did: 'changed', object: 'conversation', id, events: ['conversation.unassigned'] })
  },
  'conversation.escalated': async (client, done) => {
    const { id } = await newConversation(client, done, 'ai')
    await client.conversations.escalate(id)
    done({ did: 'changed', object: 'conversation', id, events: ['conversation.escalated'] })
  },
  'conversation.resolved': async (client, done) => {
    await resolvedConversation(client, done)
  },
  'conversation.reopened': async (client, done) => {
    const { id } = await resolvedConversation(client, done)
    await client.conversations.reopen(id)
    done({ did: 'changed', object: 'conversation', id, events: ['conversation.reopened'] })
  },
  'conversation.summarized': async (client, done) => {
    // Not waiting for the summarizer: written as an AI outside would write it.
    const { id } = await resolvedConversation(client, done)
    await client.conversations.summarize(id, { summary: 'The cards were jammed. They no longer are.' })
    done({ did: 'changed', object: 'conversation', id, events: ['conversation.summarized'] })
  },
  'conversation.deleted': async (client, done) => {
    const { id } = await newConversation(client, done)
    await client.conversations.delete(id)
    done({ did: 'deleted', object: 'conversation', id, events: ['conversation.deleted'] })
  },
  'message.received': async (client, done) => {
    const { id: conversationId } = await newConversation(client, done)
    const body = 'The engine halts. What should I do?'
    const { id } = await client.messages.create({
      conversationId,
      direction: 'inbound',
      author: { type: 'customer' },
      body,
    })
    done({ did: 'created', object: 'message', id, events: ['message.received'] })
  },
  'message.sent': async (client, done) => {
    await newReply(client, done)
  },
  'message.deleted': async (client, done) => {
    const { id } = await newReply(client, done)
    await client.messages.delete(id)
    done({ did: 'deleted', object: 'message', id, events: ['message.deleted'] })
  },
  'note.created': async (client, done) => {
    await newNote(client, done)
  },
  'note.updated': async (client, done) => {
    const { id } = await newNote(client, done)
    await client.notes.update(id, { body: 'The cards are damp, not jammed.' })
    done({ did: 'changed', object: 'note', id, events: ['note.updated'] })
  },
  'note.deleted': async (client, done) => {
    const { id } = await newNote(client, done)
    await client.notes.delete(id)
    done({ did: 'deleted', object: 'note', id, events: ['note.deleted'] })
  },
  'ticket.created': async (client, done) => {
    await newTicket(client, done)
  },
  'ticket.updated': async (client, done) => {
    const { id } = await newTicket(client, done)
    await client.tickets.update(id, { priority: 'high' })
    done({ did: 'changed', object: 'ticket', id, events: ['ticket.updated'] })
  },
  'ticket.status_changed': async (client, done) => {
    const { id } = await newTicket(client, done)
    await client.tickets.update(id, { status: 'pending' })
    done({ did: 'changed', object: 'ticket', id, events: ['ticket.updated', 'ticket.status_changed'] })
  },
  'ticket.assigned': async (client, done) => {
    const { id: assigneeId } = await newTeammate(client, done)
    const { id } = await newTicket(client, done)
    await client.tickets.update(id, { assigneeId })
    // Assigning a new ticket opens it.
    const events: CausedType[] = ['ticket.updated', 'ticket.status_changed', 'ticket.assigned']
    done({ did: 'changed', object: 'ticket', id, events })
  },
  'ticket.deleted': async (client, done) => {
    const { id } = await newTicket(client, done)
    await client.tickets.delete(id)
    done({ did: 'deleted', object: 'ticket', id, events: ['ticket.deleted'] })
  },
  'booking.created': async (client, done) => {
    await newBooking(client, done)
  },
  'booking.confirmed': async (client, done) => {
    const { id } = await newBooking(client, done)
    await client.bookings.confirm(id)
    done({ did: 'changed', object: 'booking', id, events: ['booking.confirmed'] })
  },
  'booking.rescheduled': async (client, done) => {
    const { id, endAt } = await newBooking(client, done)
    await client.bookings.reschedule(id, { startAt: endAt, endAt: later(endAt) })
    done({ did: 'changed', object: 'booking', id, events: ['booking.rescheduled'] })
  },
  'booking.cancelled': async (client, done) => {
    const { id } = await newBooking(client, done)
    await client.bookings.cancel(id, { by: 'customer', reason: 'The engine runs again.' })
    done({ did: 'changed', object: 'booking', id, events: ['booking.cancelled'] })
  },
  'booking.completed': async (client, done) => {
    const { id } = await newBooking(client, done, 'confirmed')
    await client.bookings.complete(id)
    done({ did: 'changed', object: 'booking', id, events: ['booking.completed'] })
  },
  'booking.no_show': async (client, done) => {
    const { id } = await newBooking(client, done, 'confirmed')
    await client.bookings.noShow(id)
    done({ did: 'changed', object: 'booking', id, events: ['booking.no_show'] })
  },
  'booking.rejected': async (client, done) => {
    const { id } = await newBooking(client, done)
    await client.bookings.reject(id, { reason: 'There is no time left that day.' })
    done({ did: 'changed', object: 'booking', id, events: ['booking.rejected'] })
  },
  'booking.deleted': async (client, done) => {
    const { id } = await newBooking(client, done)
    await client.bookings.delete(id)
    done({ did: 'deleted', object: 'booking', id, events: ['booking.deleted'] })
  },
  'teammate.deleted': async (client, done) => {
    const { id } = await newTeammate(client, done)
    await client.teammates.delete(id)
    done({ did: 'deleted', object: 'teammate', id, events: ['teammate.deleted'] })
  },
}

export const eventTypes = Object.keys(triggers) as readonly CausedType[]

/** The trigger of a type; null for a type that there is not. */
export function triggerOf(type: string): Trigger | null {
  return Object.hasOwn(triggers, type) ? triggers[type as CausedType] : null
}

async function newCustomer(client: Client, done: (step: Step) => void): Promise<Customer> {
  const customer = await client.customers.create({ name: 'Ada Lovelace' })
  done({ did: 'created', object: 'customer', id: customer.id, events: ['customer.created'] })
  return customer
}

async function newTeammate(client: Client, done: (step: Step) => void): Promise<Teammate> {
  const teammate = await client.teammates.create({ name: 'Grace Hopper' })
  done({ did: 'created', object: 'teammate', id: teammate.id, events: [] })
  return teammate
}

async function newConversation(
  client: Client,
  done: (step: Step) => void,
  handledBy: 'ai' | 'human' = 'human',
): Promise<Conversation> {
  const { id: customerId } = await newCustomer(client, done)
  const subject = 'The engine halts'
  const conversation = await client.conversations.create({ customerId, channel: 'chat', subject, handledBy })
  done({ did: 'created', object: 'conversation', id: conversation.id, events: ['conversation.created'] })
  return conversation
}

async function resolvedConversation(client: Client, done: (step: Step) => void): Promise<Conversation> {
  const { id } = await newConversation(client, done)
  const conversation = await client.conversations.resolve(id)
  done({ did: 'changed', object: 'conversation', id, events: ['conversation.resolved'] })
  return conversation
}

async function newReply(client: Client, done: (step: Step) => void): Promise<Message> {
  const { id: conversationId } = await newConversation(client, done)
  const body = 'Please take the jammed card out.'
  const message = await client.messages.create({
    conversationId,
    direction: 'outbound',
    author: { type: 'ai' },
    body,
  })
  done({ did: 'created', object: 'message', id: message.id, events: ['message.sent'] })
  return message
}

async function newNote(client: Client, done: (step: Step) => void): Promise<Note> {
  const { id: conversationId } = await newConversation(client, done)
  const body = 'The cards are jammed again.'
  const note = await client.notes.create({ conversationId, author: { type: 'system' }, body })
  done({ did: 'created', object: 'note', id: note.id, events: ['note.created'] })
  return note
}

async function newTicket(client: Client, done: (step: Step) => void): Promise<Ticket> {
  const { id: customerId } = await newCustomer(client, done)
  const ticket = await client.tickets.create({ customerId, subject: 'The engine halts' })
  done({ did: 'created', object: 'ticket', id: ticket.id, events: ['ticket.created'] })
  return ticket
}

/** It has begun when it is made, so that it can be completed or missed as well. */
async function newBooking(
  client: Client,
  done: (step: Step) => void,
  status: 'pending' | 'confirmed' = 'pending',
): Promise<Booking> {
  const { id: customerId } = await newCustomer(client, done)
  const startAt = '2026-01-31T09:30:00.000Z'
  const booking = await client.bookings.create({
    customerId,
    title: 'A look at the engine',
    startAt,
    endAt: later(startAt),
    timezone: 'Europe/London',
    status,
  })
  done({ did: 'created', object: 'booking', id: booking.id, events: ['booking.created'] })
  return booking
}

/** An hour after `time`. */
function later(time: string): string {
  return new Date(Date.parse(time) + 60 * 60 * 1_000).toISOString()
}
