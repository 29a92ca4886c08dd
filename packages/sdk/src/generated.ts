/** Made by npm run generate from the declarations of the service: what belongs to one kind, and no more. */
import type { Open, RemovalRecord, Row } from './envelope.ts'
import { RemovableResource, Resource } from './resource.ts'
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

/** An endpoint that events are delivered to. */
export interface Webhook extends Row {
  object: 'webhook'
  /** Where deliveries go. */
  url: string
  /** What it is for. */
  description: string | null
  /** The event types it receives. */
  events: Open<keyof EventData>[]
  /** A disabled endpoint gets no events. */
  status: Open<'active' | 'disabled'>
  /** Why it is disabled; null while active. */
  disabledReason: Open<'failing' | 'address_not_public' | 'registrant_revoked' | 'manual'> | null
  /** Since when it is disabled; null while active. */
  disabledAt: string | null
  /** The first failure since the last success. */
  failingSince: string | null
  /** Failed attempts since the last success. */
  failureCount: number
  /** The last delivery that succeeded. */
  lastSuccessAt: string | null
  /** Until when a replaced secret signs as well; null when none does. */
  previousSecretExpiresAt: string | null
  /** The key that registered it. Deliveries go out while that key may read their subjects. */
  apiKeyId: string
}

export interface WebhookInput {
  /** Where deliveries go: https, a public address, no user info, no fragment. */
  url: string
  /** What it is for. */
  description?: string | null
  /** The event types it receives. */
  events: (keyof EventData)[]
}

export interface WebhookPatch {
  /** Where deliveries go: https, a public address, no user info, no fragment. */
  url?: string
  /** What it is for. */
  description?: string | null
  /** The event types it receives. */
  events?: (keyof EventData)[]
  /** active resets the failure count. */
  status?: 'active' | 'disabled'
}

export interface WebhookFilters {
  status?: 'active' | 'disabled'
  createdAfter?: string
  createdBefore?: string
}

/** One event on its way to one endpoint. It never holds the payload. */
export interface Delivery extends Row {
  object: 'delivery'
  /** The endpoint it goes to. */
  webhookId: string
  /** The event: `id` of the envelope, the same on every attempt. */
  eventId: string
  /** The type of the event; `ping` for a ping. */
  eventType: string
  /** Where it stands. */
  status: Open<'pending' | 'succeeded' | 'failed'>
  /** Attempts made so far. */
  attemptCount: number
  /** Attempts it has in all; a manual retry adds a whole schedule. */
  maxAttempts: number
  /** What the receiver answered last. */
  responseStatus: number | null
  /** Why the last attempt failed. */
  lastError: {
    code: Open<
      | 'timeout'
      | 'connection_failed'
      | 'tls_error'
      | 'redirect'
      | 'non_2xx'
      | 'address_not_public'
      | 'resolver_failed'
      | 'endpoint_disabled'
      | 'subject_unavailable'
    >
    message: string
  } | null
  /** How long the last attempt took, in milliseconds. */
  durationMs: number | null
  /** When the last attempt began. */
  lastAttemptAt: string | null
  /** When the next attempt is due; null unless pending. */
  nextAttemptAt: string | null
  /** When it succeeded. */
  deliveredAt: string | null
}

export interface DeliveryFilters {
  status?: 'pending' | 'succeeded' | 'failed'
  eventType?: keyof EventData | 'ping'
}

/** One try of a delivery. */
export interface Attempt {
  /** Counts up within the delivery. */
  number: number
  /** When it began. */
  at: string
  /** What the receiver answered; null when nothing came. */
  responseStatus: number | null
  /** Why it failed; null when it succeeded. */
  error: {
    code: Open<
      | 'timeout'
      | 'connection_failed'
      | 'tls_error'
      | 'redirect'
      | 'non_2xx'
      | 'address_not_public'
      | 'resolver_failed'
      | 'endpoint_disabled'
      | 'subject_unavailable'
    >
    message: string
  } | null
  /** How long it took, in milliseconds. */
  durationMs: number
  /** The beginning of the answer, 1 KiB at most, as text. */
  responseBody: string | null
}

/** The calls of every kind, by its plural. */
export const resources = (send: Send) => ({
  teammates: new Resource<Teammate, TeammateInput, TeammatePatch, TeammateFilters>(send, 'teammates'),
  customers: new RemovableResource<Customer, CustomerInput, CustomerPatch, CustomerFilters>(
    send,
    'customers',
  ),
  tickets: new RemovableResource<Ticket, TicketInput, TicketPatch, TicketFilters>(send, 'tickets'),
})
