/** Everything that belongs to one kind: its row, its inputs, its filters, and its line in `resources`. */
import type { Open, Row } from './envelope.ts'
import { Resource } from './resource.ts'
import type { Send } from './transport.ts'

export type CustomAttributes = Record<string, string | number | boolean>

/** What customers and tickets carry alike, as it is read. */
export interface Labels {
  externalId: string | null
  tags: string[]
  customAttributes: CustomAttributes
}

/** The same as it is written. */
export interface LabelsInput {
  /** At most 255 characters, unique per organization and kind. */
  externalId?: string | null
  /** At most 50 of at most 50 characters. */
  tags?: string[]
  /** At most 50 keys of at most 40 characters; in an update null deletes a key. */
  customAttributes?: Record<string, string | number | boolean | null>
}

/** Filters that every list takes. Times are RFC 3339. */
export interface CommonFilters {
  externalId?: string
  tag?: string
  createdAfter?: string
  createdBefore?: string
  q?: string
}

export interface Customer extends Row, Labels {
  object: 'customer'
  name: string | null
  company: string | null
  email: string | null
  phone: string | null
  locale: string | null
  timezone: string | null
}

/** At least one of name, email, phone and externalId is needed. */
export interface CustomerInput extends LabelsInput {
  name?: string | null
  company?: string | null
  /** Lower-cased; unique per organization. */
  email?: string | null
  /** E.164. */
  phone?: string | null
  /** BCP 47. */
  locale?: string | null
  /** An IANA name. */
  timezone?: string | null
}

export type CustomerPatch = CustomerInput

export interface CustomerFilters extends CommonFilters {
  email?: string
  phone?: string
}

export type TicketType = 'question' | 'incident' | 'problem' | 'task'
export type TicketPriority = 'low' | 'normal' | 'high' | 'urgent'
export type TicketStatus = 'new' | 'open' | 'pending' | 'on_hold' | 'resolved' | 'closed'

export interface Ticket extends Row, Labels {
  object: 'ticket'
  /** Counts up within the organization. */
  number: number
  customerId: string
  conversationId: string | null
  subject: string
  description: string | null
  type: Open<TicketType> | null
  priority: Open<TicketPriority>
  status: Open<TicketStatus>
  assigneeId: string | null
  dueAt: string | null
  resolvedAt: string | null
  closedAt: string | null
}

export interface TicketPatch extends LabelsInput {
  conversationId?: string | null
  subject?: string
  description?: string | null
  type?: TicketType | null
  priority?: TicketPriority
  /** Moves that the service does not allow are `invalid_transition` (409), with the allowed ones named. */
  status?: TicketStatus
  assigneeId?: string | null
  dueAt?: string | null
}

export interface TicketInput extends TicketPatch {
  customerId: string
  /** 1 to 255 characters. */
  subject: string
}

export interface TicketFilters extends CommonFilters {
  customerId?: string
  conversationId?: string
  status?: TicketStatus
  priority?: TicketPriority
  type?: TicketType
  assigneeId?: string
}

/** One line per kind. */
export const resources = (send: Send) => ({
  customers: new Resource<Customer, CustomerInput, CustomerPatch, CustomerFilters>(send, 'customers'),
  tickets: new Resource<Ticket, TicketInput, TicketPatch, TicketFilters>(send, 'tickets'),
})
