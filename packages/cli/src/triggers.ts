/** For each event type, a change that causes it. A type without one does not compile. */
import type { Client, Customer, EventType, Ticket } from '@deskwire/sdk'

/** One thing that was done. */
export interface Step {
  readonly did: 'created' | 'changed' | 'deleted'
  readonly object: string
  readonly id: string
  /** The events it caused, as the rules of its kind say. */
  readonly events: readonly CausedType[]
}

/** What a change can cause. */
export type CausedType = Exclude<EventType, 'ping'>

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
    await client.customers.remove(id)
    done({ did: 'deleted', object: 'customer', id, events: ['customer.deleted'] })
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
    const teammate = await client.teammates.create({ name: 'Grace Hopper' })
    done({ did: 'created', object: 'teammate', id: teammate.id, events: [] })
    const { id } = await newTicket(client, done)
    await client.tickets.update(id, { assigneeId: teammate.id })
    // Assigning a new ticket opens it.
    const events: CausedType[] = ['ticket.updated', 'ticket.status_changed', 'ticket.assigned']
    done({ did: 'changed', object: 'ticket', id, events })
  },
  'ticket.deleted': async (client, done) => {
    const { id } = await newTicket(client, done)
    await client.tickets.remove(id)
    done({ did: 'deleted', object: 'ticket', id, events: ['ticket.deleted'] })
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

async function newTicket(client: Client, done: (step: Step) => void): Promise<Ticket> {
  const { id: customerId } = await newCustomer(client, done)
  const ticket = await client.tickets.create({ customerId, subject: 'The engine halts' })
  done({ did: 'created', object: 'ticket', id: ticket.id, events: ['ticket.created'] })
  return ticket
}
