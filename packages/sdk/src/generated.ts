/** Made by npm run generate from the declarations of the service: what belongs to one kind, and no more. */
import type { Open, RemovalRecord, Row } from './envelope.ts'
import { Resource } from './resource.ts'
import type { Send } from './transport.ts'

/** A person who works at the desk. */
export interface Teammate extends Row {
  object: 'teammate'
  /** Full name. */
  name: string
  /** Stored in lower case. */
  email: string | null
  /** Whether work can be assigned. */
  active: boolean
}

export interface TeammateInput {
  /** Full name. */
  name: string
  /** Stored in lower case. */
  email?: string | null
  /** Whether work can be assigned. */
  active?: boolean
}

export interface TeammatePatch {
  /** Full name. */
  name?: string
  /** Stored in lower case. */
  email?: string | null
  /** Whether work can be assigned. */
  active?: boolean
}

export interface TeammateFilters {
  email?: string
  createdAfter?: string
  createdBefore?: string
  q?: string
}

/** A person or company the organization talks with. */
export interface Customer extends Row {
  object: 'customer'
  /** Full name. */
  name: string | null
  /** The company the contact belongs to. */
  company: string | null
  /** Stored in lower case. */
  email: string | null
  /** Telephone number, E.164. */
  phone: string | null
  /** Preferred language, BCP 47. */
  locale: string | null
  /** Time zone, IANA. */
  timezone: string | null
  /** Your own id of it. */
  externalId: string | null
  /** Labels. Repeats are dropped. */
  tags: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. */
  customAttributes: Record<string, string | number | boolean>
}

export interface CustomerInput {
  /** Full name. */
  name?: string | null
  /** The company the contact belongs to. */
  company?: string | null
  /** Stored in lower case. */
  email?: string | null
  /** Telephone number, E.164. */
  phone?: string | null
  /** Preferred language, BCP 47. */
  locale?: string | null
  /** Time zone, IANA. */
  timezone?: string | null
  /** Your own id of it. */
  externalId?: string | null
  /** Labels. Repeats are dropped. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. */
  customAttributes?: Record<string, string | number | boolean | null>
}

export interface CustomerPatch {
  /** Full name. */
  name?: string | null
  /** The company the contact belongs to. */
  company?: string | null
  /** Stored in lower case. */
  email?: string | null
  /** Telephone number, E.164. */
  phone?: string | null
  /** Preferred language, BCP 47. */
  locale?: string | null
  /** Time zone, IANA. */
  timezone?: string | null
  /** Your own id of it. */
  externalId?: string | null
  /** Labels. Repeats are dropped. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. */
  customAttributes?: Record<string, string | number | boolean | null>
}

export interface CustomerFilters {
  email?: string
  phone?: string
  externalId?: string
  tag?: string
  createdAfter?: string
  createdBefore?: string
  q?: string
}

/** Something to be done for a customer. */
export interface Ticket extends Row {
  object: 'ticket'
  /** The conversation it came from. */
  conversationId: string | null
  /** What it is about. */
  subject: string
  /** The whole story. */
  description: string | null
  /** What sort of ticket it is. */
  type: Open<'question' | 'incident' | 'problem' | 'task'> | null
  /** How soon it matters. */
  priority: Open<'low' | 'normal' | 'high' | 'urgent'>
  /** Where it stands. Which status allows which is in docs/specification.md. */
  status: Open<'new' | 'open' | 'pending' | 'on_hold' | 'resolved' | 'closed'>
  /** Who works on it. Assigning a new ticket opens it. */
  assigneeId: string | null
  /** When it should be done. */
  dueAt: string | null
  /** When it was last resolved. */
  resolvedAt: string | null
  /** When it was closed. */
  closedAt: string | null
  /** Your own id of it. */
  externalId: string | null
  /** Labels. Repeats are dropped. */
  tags: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. */
  customAttributes: Record<string, string | number | boolean>
  /** Whose ticket it is. Deleting the customer deletes the ticket. */
  customerId: string
  /** Counts up within the organization. */
  number: number
}

export interface TicketInput {
  /** Whose ticket it is. Deleting the customer deletes the ticket. */
  customerId: string
  /** The conversation it came from. */
  conversationId?: string | null
  /** What it is about. */
  subject: string
  /** The whole story. */
  description?: string | null
  /** What sort of ticket it is. */
  type?: 'question' | 'incident' | 'problem' | 'task' | null
  /** How soon it matters. */
  priority?: 'low' | 'normal' | 'high' | 'urgent'
  /** Where it stands. Which status allows which is in docs/specification.md. */
  status?: 'new' | 'open' | 'pending' | 'on_hold' | 'resolved' | 'closed'
  /** Who works on it. Assigning a new ticket opens it. */
  assigneeId?: string | null
  /** When it should be done. */
  dueAt?: string | null
  /** Your own id of it. */
  externalId?: string | null
  /** Labels. Repeats are dropped. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. */
  customAttributes?: Record<string, string | number | boolean | null>
}

export interface TicketPatch {
  /** The conversation it came from. */
  conversationId?: string | null
  /** What it is about. */
  subject?: string
  /** The whole story. */
  description?: string | null
  /** What sort of ticket it is. */
  type?: 'question' | 'incident' | 'problem' | 'task' | null
  /** How soon it matters. */
  priority?: 'low' | 'normal' | 'high' | 'urgent'
  /** Where it stands. Which status allows which is in docs/specification.md. */
  status?: 'new' | 'open' | 'pending' | 'on_hold' | 'resolved' | 'closed'
  /** Who works on it. Assigning a new ticket opens it. */
  assigneeId?: string | null
  /** When it should be done. */
  dueAt?: string | null
  /** Your own id of it. */
  externalId?: string | null
  /** Labels. Repeats are dropped. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. */
  customAttributes?: Record<string, string | number | boolean | null>
}

export interface TicketFilters {
  customerId?: string
  conversationId?: string
  type?: 'question' | 'incident' | 'problem' | 'task'
  priority?: 'low' | 'normal' | 'high' | 'urgent'
  status?: 'new' | 'open' | 'pending' | 'on_hold' | 'resolved' | 'closed'
  assigneeId?: string
  externalId?: string
  tag?: string
  createdAfter?: string
  createdBefore?: string
  q?: string
}

/** What an event's `data` holds, by the event's type. */
export interface EventData {
  'customer.created': Customer
  'customer.updated': Customer
  'customer.deleted': RemovalRecord
  'ticket.created': Ticket
  'ticket.updated': Ticket
  'ticket.status_changed': Ticket
  'ticket.assigned': Ticket
  'ticket.deleted': RemovalRecord
}

/** The calls of every kind, by its plural. */
export const resources = (send: Send) => ({
  teammates: new Resource<Teammate, TeammateInput, TeammatePatch, TeammateFilters>(send, 'teammates'),
  customers: new Resource<Customer, CustomerInput, CustomerPatch, CustomerFilters>(send, 'customers'),
  tickets: new Resource<Ticket, TicketInput, TicketPatch, TicketFilters>(send, 'tickets'),
})
