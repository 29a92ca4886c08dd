/** Made by npm run generate from the declarations of the service: what belongs to one kind, and no more. */
import type { Erasure, Open, RemovalRecord, Row } from './envelope.ts'
import type { ActionOptions, CallOptions } from './options.ts'
import { ChangeableResource, Resource } from './resource.ts'
import type { Send } from './transport.ts'

/** The release of the service that this was made with. */
export const version = '0.1.0'

/** The codes of the service's errors (docs/reference/errors.md). */
export type ErrorCode =
  | 'malformed_request'
  | 'malformed_json'
  | 'invalid_parameter'
  | 'invalid_cursor'
  | 'filter_not_allowed_in_sync'
  | 'unauthorized'
  | 'key_expired'
  | 'insufficient_scope'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'duplicate'
  | 'booking_conflict'
  | 'delivery_succeeded'
  | 'delivery_failed'
  | 'delivery_skipped'
  | 'delivery_pending'
  | 'webhook_disabled'
  | 'limit_reached'
  | 'last_managing_key'
  | 'invalid_transition'
  | 'ticket_closed'
  | 'cursor_too_old'
  | 'version_mismatch'
  | 'validation_failed'
  | 'url_not_https'
  | 'url_not_public'
  | 'url_not_resolvable'
  | 'receiver_not_verified'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'unavailable'

/** A person who works at the desk. */
export interface Teammate extends Row {
  object: 'teammate'
  /** Full name. */
  name: string
  /** Stored in lower case and Unicode NFC. */
  email: string | null
  /** Whether work can be assigned. */
  active: boolean
}

export interface TeammateInput {
  /** Full name. */
  name: string
  /** Stored in lower case and Unicode NFC. */
  email?: string | null
  /** Whether work can be assigned. */
  active?: boolean
}

export interface TeammatePatch {
  /** Full name. */
  name?: string
  /** Stored in lower case and Unicode NFC. */
  email?: string | null
  /** Whether work can be assigned. */
  active?: boolean
}

export interface TeammateFilters {
  /** Has this email. */
  email?: string | undefined
  /** Created later than this, exclusive. */
  createdAfter?: string | undefined
  /** Created earlier than this, exclusive. */
  createdBefore?: string | undefined
  /** It has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503. */
  q?: string | undefined
}

/** A person or company the organization talks with. */
export interface Customer extends Row {
  object: 'customer'
  /** Full name. */
  name: string | null
  /** The company that the customer belongs to. */
  company: string | null
  /** Stored in lower case and Unicode NFC. */
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
  /** The company that the customer belongs to. */
  company?: string | null
  /** Stored in lower case and Unicode NFC. */
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
  /** The company that the customer belongs to. */
  company?: string | null
  /** Stored in lower case and Unicode NFC. */
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
  /** Has this email. */
  email?: string | undefined
  /** Has this phone. */
  phone?: string | undefined
  /** Has this externalId. */
  externalId?: string | undefined
  /** Has this tag. */
  tag?: string | undefined
  /** Has this custom attribute: its name, a colon and its value, as in `plan:gold`. In the name, `\:` is a colon and `\\` a backslash. A value that is a JSON string, number or boolean is that one, as in `n:3` and `n:"3"`; any other is text. */
  customAttribute?: string | undefined
  /** Created later than this, exclusive. */
  createdAfter?: string | undefined
  /** Created earlier than this, exclusive. */
  createdBefore?: string | undefined
  /** It has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503. */
  q?: string | undefined
}

/** Everything about one customer, the oldest first. */
export interface CustomerExport {
  object: 'customer_export'
  customer: Customer
  conversations: Conversation[]
  messages: Message[]
  notes: Note[]
  tickets: Ticket[]
  bookings: Booking[]
}

/** The calls of customers: those of every kind, and its actions. */
export class Customers extends ChangeableResource<Customer, CustomerInput, CustomerPatch, CustomerFilters> {
  /** Erases a customer with everything of theirs. Safe to repeat: it always carries an Idempotency-Key. */
  async erase(id: string, options?: ActionOptions): Promise<Erasure> {
    return this.act(id, 'erase', undefined, options)
  }

  /** Everything about one customer. Needs the read scope of every kind in it. */
  async exportOne(id: string, options?: CallOptions): Promise<CustomerExport> {
    return this.send({ method: 'GET', path: `${this.address(id)}/export`, isDocument: true }, options)
  }
}

/** A thread of messages with a customer. */
export interface Conversation extends Row {
  object: 'conversation'
  /** Where it takes place. */
  channel: Open<'email' | 'chat' | 'sms' | 'whatsapp' | 'phone' | 'api'>
  /** The subject, as its list shows it. */
  subject: string | null
  /** Moved by the actions resolve and reopen, and back to open by an inbound message. */
  status: Open<'open' | 'resolved'>
  /** Who answers. Escalation or assignment moves the conversation from an AI to a person. */
  handledBy: Open<'ai' | 'human'>
  /** The teammate who answers. */
  assigneeId: string | null
  /** When it was handed to a person. */
  escalatedAt: string | null
  /** When it was last resolved; null while it is open. */
  resolvedAt: string | null
  /** The latest sentAt of its messages. */
  lastMessageAt: string | null
  /** A summary of the messages, written some minutes after resolution; null until then. Unless a model or an AI of yours writes it, it repeats sentences of the messages, also to keys that may not read messages. */
  summary: string | null
  /** When the summary was written. Of an import resolved without a summary: when it was resolved, as none is written. */
  summarizedAt: string | null
  /** Your own id of it. */
  externalId: string | null
  /** Labels. Repeats are dropped. */
  tags: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. */
  customAttributes: Record<string, string | number | boolean>
  /** Who the conversation is with. Becomes null when the customer is deleted. */
  customerId: string | null
}

export interface ConversationInput {
  /** Who the conversation is with. Becomes null when the customer is deleted. */
  customerId: string
  /** Where it takes place. */
  channel: 'email' | 'chat' | 'sms' | 'whatsapp' | 'phone' | 'api'
  /** The subject, as its list shows it. */
  subject?: string | null
  /** Who answers. Escalation or assignment moves the conversation from an AI to a person. */
  handledBy?: 'ai' | 'human'
  /** The teammate who answers. */
  assigneeId?: string | null
  /** Your own id of it. */
  externalId?: string | null
  /** Labels. Repeats are dropped. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. */
  customAttributes?: Record<string, string | number | boolean | null>
}

export interface ConversationPatch {
  /** The subject, as its list shows it. */
  subject?: string | null
  /** The teammate who answers. */
  assigneeId?: string | null
  /** Your own id of it. */
  externalId?: string | null
  /** Labels. Repeats are dropped. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. */
  customAttributes?: Record<string, string | number | boolean | null>
}

export interface ConversationFilters {
  /** Has this customerId. */
  customerId?: string | undefined
  /** Has this channel. */
  channel?: 'email' | 'chat' | 'sms' | 'whatsapp' | 'phone' | 'api' | undefined
  /** Has this status. */
  status?: 'open' | 'resolved' | undefined
  /** Has this handledBy. */
  handledBy?: 'ai' | 'human' | undefined
  /** Has this assigneeId; `null`: has none. */
  assigneeId?: string | undefined
  /** Has this externalId. */
  externalId?: string | undefined
  /** Has this tag. */
  tag?: string | undefined
  /** Has this custom attribute: its name, a colon and its value, as in `plan:gold`. In the name, `\:` is a colon and `\\` a backslash. A value that is a JSON string, number or boolean is that one, as in `n:3` and `n:"3"`; any other is text. */
  customAttribute?: string | undefined
  /** Created later than this, exclusive. */
  createdAfter?: string | undefined
  /** Created earlier than this, exclusive. */
  createdBefore?: string | undefined
  /** It, or its customer, or one of its messages has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503. */
  q?: string | undefined
}

/** What `summarize` of a conversation takes. */
export interface ConversationSummarizeInput {
  /** A summary of the messages. */
  summary: string
}

/** The calls of conversations: those of every kind, and its actions. */
export class Conversations extends ChangeableResource<
  Conversation,
  ConversationInput,
  ConversationPatch,
  ConversationFilters
> {
  /** Hands it from an AI to a person. */
  async escalate(id: string, options?: ActionOptions): Promise<Conversation> {
    return this.act(id, 'escalate', undefined, options)
  }

  /** Closes it. Its summary is written some minutes later. */
  async resolve(id: string, options?: ActionOptions): Promise<Conversation> {
    return this.act(id, 'resolve', undefined, options)
  }

  /** Opens it again; resolvedAt, summary and summarizedAt become null. */
  async reopen(id: string, options?: ActionOptions): Promise<Conversation> {
    return this.act(id, 'reopen', undefined, options)
  }

  /** Writes the summary of a resolved conversation, as an AI outside does. */
  async summarize(
    id: string,
    input: ConversationSummarizeInput,
    options?: ActionOptions,
  ): Promise<Conversation> {
    return this.act(id, 'summarize', input, options)
  }
}

/** Something said in a conversation. It never changes. */
export interface Message extends Row {
  object: 'message'
  /** The conversation it belongs to. */
  conversationId: string
  /** inbound from the customer, outbound to the customer. */
  direction: Open<'inbound' | 'outbound'>
  /** Who wrote it. Of an inbound message the customer, and of no other. */
  author: { type: Open<'customer' | 'teammate' | 'ai' | 'system'>; id?: string; name?: string }
  /** The text. Required unless there are attachments. */
  body: string | null
  /** How the body is written. */
  contentType: Open<'text' | 'html' | 'markdown'>
  /** Links to files; the files themselves are kept elsewhere. */
  attachments: { fileName: string; contentType: string; sizeBytes: number; url: string }[]
  /** When it was sent. Now, unless given. */
  sentAt: string
  /** The conversation's. */
  channel: Open<'email' | 'chat' | 'sms' | 'whatsapp' | 'phone' | 'api'>
  /** Your own id of it. */
  externalId: string | null
  /** The conversation's. Becomes null when the customer is deleted. */
  customerId: string | null
}

export interface MessageInput {
  /** The conversation it belongs to. */
  conversationId: string
  /** inbound from the customer, outbound to the customer. */
  direction: 'inbound' | 'outbound'
  /** Who wrote it. Of an inbound message the customer, and of no other. */
  author: { type: 'customer' | 'teammate' | 'ai' | 'system'; id?: string; name?: string }
  /** The text. Required unless there are attachments. */
  body?: string | null
  /** How the body is written. */
  contentType?: 'text' | 'html' | 'markdown'
  /** Links to files; the files themselves are kept elsewhere. */
  attachments?: { fileName: string; contentType: string; sizeBytes: number; url: string }[]
  /** When it was sent. Now, unless given. */
  sentAt?: string | null
  /** Your own id of it. */
  externalId?: string | null
}

export interface MessageFilters {
  /** Has this conversationId. */
  conversationId?: string | undefined
  /** Has this direction. */
  direction?: 'inbound' | 'outbound' | undefined
  /** Has this externalId. */
  externalId?: string | undefined
  /** Has this customerId. */
  customerId?: string | undefined
  /** Created later than this, exclusive. */
  createdAfter?: string | undefined
  /** Created earlier than this, exclusive. */
  createdBefore?: string | undefined
  /** It has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503. */
  q?: string | undefined
}

/** An internal note on a conversation. The customer never sees it. */
export interface Note extends Row {
  object: 'note'
  /** The conversation it is about. */
  conversationId: string
  /** Who wrote it. */
  author: { type: Open<'teammate' | 'ai' | 'system'>; id?: string; name?: string }
  /** The text. The customer never sees it. */
  body: string
  /** The conversation's. Becomes null when the customer is deleted. */
  customerId: string | null
}

export interface NoteInput {
  /** The conversation it is about. */
  conversationId: string
  /** Who wrote it. */
  author: { type: 'teammate' | 'ai' | 'system'; id?: string; name?: string }
  /** The text. The customer never sees it. */
  body: string
}

export interface NotePatch {
  /** The text. The customer never sees it. */
  body?: string
}

export interface NoteFilters {
  /** Has this conversationId. */
  conversationId?: string | undefined
  /** Has this customerId. */
  customerId?: string | undefined
  /** Created later than this, exclusive. */
  createdAfter?: string | undefined
  /** Created earlier than this, exclusive. */
  createdBefore?: string | undefined
  /** It has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503. */
  q?: string | undefined
}

/** Something to be done for a customer. */
export interface Ticket extends Row {
  object: 'ticket'
  /** The conversation it came from. */
  conversationId: string | null
  /** The subject, as its list shows it. */
  subject: string
  /** The whole story. */
  description: string | null
  /** The type of the ticket. */
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
  /** The subject, as its list shows it. */
  subject: string
  /** The whole story. */
  description?: string | null
  /** The type of the ticket. */
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
  /** The subject, as its list shows it. */
  subject?: string
  /** The whole story. */
  description?: string | null
  /** The type of the ticket. */
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
  /** Has this customerId. */
  customerId?: string | undefined
  /** Has this conversationId. */
  conversationId?: string | undefined
  /** Has this number. */
  number?: number | undefined
  /** Has this type. */
  type?: 'question' | 'incident' | 'problem' | 'task' | undefined
  /** Has this priority. */
  priority?: 'low' | 'normal' | 'high' | 'urgent' | undefined
  /** Has this status. */
  status?: 'new' | 'open' | 'pending' | 'on_hold' | 'resolved' | 'closed' | undefined
  /** Has this assigneeId; `null`: has none. */
  assigneeId?: string | undefined
  /** Has this externalId. */
  externalId?: string | undefined
  /** Has this tag. */
  tag?: string | undefined
  /** Has this custom attribute: its name, a colon and its value, as in `plan:gold`. In the name, `\:` is a colon and `\\` a backslash. A value that is a JSON string, number or boolean is that one, as in `n:3` and `n:"3"`; any other is text. */
  customAttribute?: string | undefined
  /** Created later than this, exclusive. */
  createdAfter?: string | undefined
  /** Created earlier than this, exclusive. */
  createdBefore?: string | undefined
  /** With `true`: is due before now, and neither resolved nor closed. */
  overdue?: 'true' | undefined
  /** It, or its customer has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503. */
  q?: string | undefined
}

/** A time agreed with a customer. */
export interface Booking extends Row {
  object: 'booking'
  /** The title of the booking. */
  title: string
  /** When it starts. Moves by the action reschedule only. */
  startAt: string
  /** When it ends, after startAt. Moves by the action reschedule only. */
  endAt: string
  /** The time zone it takes place in, IANA. */
  timezone: string
  /** pending or confirmed at creation; moved by actions from then on. */
  status: Open<'pending' | 'confirmed' | 'cancelled' | 'completed' | 'no_show' | 'rejected'>
  /** Where it takes place: an address, a number or a link. */
  location: { type: Open<'in_person' | 'phone' | 'video' | 'other'>; value: string } | null
  /** The teammate who takes it. */
  assigneeId: string | null
  /** The conversation it came from. */
  conversationId: string | null
  /** For those who work at the desk. */
  notes: string | null
  /** Who cancelled it. */
  cancelledBy: Open<'customer' | 'teammate' | 'system'> | null
  /** Why it was cancelled. */
  cancellationReason: string | null
  /** Why it was rejected. */
  rejectionReason: string | null
  /** When it started before it was last moved. */
  previousStartAt: string | null
  /** How often it was moved. */
  rescheduleCount: number
  /** When it was confirmed. */
  confirmedAt: string | null
  /** When it was marked as completed. */
  completedAt: string | null
  /** When it was cancelled. */
  cancelledAt: string | null
  /** Your own id of it. */
  externalId: string | null
  /** Labels. Repeats are dropped. */
  tags: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. */
  customAttributes: Record<string, string | number | boolean>
  /** Who booked. Becomes null when the customer is deleted. */
  customerId: string | null
}

export interface BookingInput {
  /** Who booked. Becomes null when the customer is deleted. */
  customerId: string
  /** The title of the booking. */
  title: string
  /** When it starts. Moves by the action reschedule only. */
  startAt: string
  /** When it ends, after startAt. Moves by the action reschedule only. */
  endAt: string
  /** The time zone it takes place in, IANA. */
  timezone: string
  /** pending or confirmed at creation; moved by actions from then on. */
  status?: 'pending' | 'confirmed'
  /** Where it takes place: an address, a number or a link. */
  location?: { type: 'in_person' | 'phone' | 'video' | 'other'; value: string } | null
  /** The teammate who takes it. */
  assigneeId?: string | null
  /** The conversation it came from. */
  conversationId?: string | null
  /** For those who work at the desk. */
  notes?: string | null
  /** Your own id of it. */
  externalId?: string | null
  /** Labels. Repeats are dropped. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. */
  customAttributes?: Record<string, string | number | boolean | null>
}

export interface BookingPatch {
  /** Who booked. Becomes null when the customer is deleted. */
  customerId?: string
  /** The title of the booking. */
  title?: string
  /** The time zone it takes place in, IANA. */
  timezone?: string
  /** Where it takes place: an address, a number or a link. */
  location?: { type: 'in_person' | 'phone' | 'video' | 'other'; value: string } | null
  /** The teammate who takes it. */
  assigneeId?: string | null
  /** The conversation it came from. */
  conversationId?: string | null
  /** For those who work at the desk. */
  notes?: string | null
  /** Your own id of it. */
  externalId?: string | null
  /** Labels. Repeats are dropped. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. */
  customAttributes?: Record<string, string | number | boolean | null>
}

export interface BookingFilters {
  /** Has this customerId. */
  customerId?: string | undefined
  /** Has this status. */
  status?: 'pending' | 'confirmed' | 'cancelled' | 'completed' | 'no_show' | 'rejected' | undefined
  /** Has this assigneeId; `null`: has none. */
  assigneeId?: string | undefined
  /** Has this externalId. */
  externalId?: string | undefined
  /** Has this tag. */
  tag?: string | undefined
  /** Has this custom attribute: its name, a colon and its value, as in `plan:gold`. In the name, `\:` is a colon and `\\` a backslash. A value that is a JSON string, number or boolean is that one, as in `n:3` and `n:"3"`; any other is text. */
  customAttribute?: string | undefined
  /** Created later than this, exclusive. */
  createdAfter?: string | undefined
  /** Created earlier than this, exclusive. */
  createdBefore?: string | undefined
  /** Has a startAt later than this. */
  startAfter?: string | undefined
  /** Has a startAt earlier than this. */
  startBefore?: string | undefined
  /** Has a endAt later than this. */
  endAfter?: string | undefined
  /** Has a endAt earlier than this. */
  endBefore?: string | undefined
  /** It, or its customer has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503. */
  q?: string | undefined
}

/** What `reject` of a booking takes. */
export interface BookingRejectInput {
  /** Why. */
  reason?: string | null
}

/** What `cancel` of a booking takes. */
export interface BookingCancelInput {
  /** Who cancels it. */
  by: 'customer' | 'teammate' | 'system'
  /** Why. */
  reason?: string | null
}

/** What `reschedule` of a booking takes. */
export interface BookingRescheduleInput {
  /** When it starts from now on. */
  startAt: string
  /** When it ends from now on, after startAt. It lasts as long as before, unless given. */
  endAt?: string | null
}

/** The calls of bookings: those of every kind, and its actions. */
export class Bookings extends ChangeableResource<Booking, BookingInput, BookingPatch, BookingFilters> {
  /** Confirms a pending booking. */
  async confirm(id: string, options?: ActionOptions): Promise<Booking> {
    return this.act(id, 'confirm', undefined, options)
  }

  /** Turns a pending booking down. */
  async reject(id: string, input: BookingRejectInput = {}, options?: ActionOptions): Promise<Booking> {
    return this.act(id, 'reject', input, options)
  }

  /** Cancels a booking that has not taken place. */
  async cancel(id: string, input: BookingCancelInput, options?: ActionOptions): Promise<Booking> {
    return this.act(id, 'cancel', input, options)
  }

  /** Moves it to another time; it stays pending or confirmed. */
  async reschedule(id: string, input: BookingRescheduleInput, options?: ActionOptions): Promise<Booking> {
    return this.act(id, 'reschedule', input, options)
  }

  /** It took place: from startAt on. Corrects a no-show too. */
  async complete(id: string, options?: ActionOptions): Promise<Booking> {
    return this.act(id, 'complete', undefined, options)
  }

  /** The customer did not come: from startAt on. Corrects a completion too. */
  async noShow(id: string, options?: ActionOptions): Promise<Booking> {
    return this.act(id, 'no-show', undefined, options)
  }
}

/** A row of any kind. */
export type AnyRow = Teammate | Customer | Conversation | Message | Note | Ticket | Booking

/** What an event's `data` holds, by the event's type. */
export interface EventData {
  'teammate.deleted': RemovalRecord
  'customer.created': Customer
  'customer.updated': Customer
  'customer.deleted': RemovalRecord
  'conversation.created': Conversation
  'conversation.assigned': Conversation
  'conversation.unassigned': Conversation
  'conversation.escalated': Conversation
  'conversation.resolved': Conversation
  'conversation.reopened': Conversation
  'conversation.summarized': Conversation
  'conversation.deleted': RemovalRecord
  'message.received': Message
  'message.sent': Message
  'message.deleted': RemovalRecord
  'note.created': Note
  'note.updated': Note
  'note.deleted': RemovalRecord
  'ticket.created': Ticket
  'ticket.updated': Ticket
  'ticket.status_changed': Ticket
  'ticket.assigned': Ticket
  'ticket.deleted': RemovalRecord
  'booking.created': Booking
  'booking.confirmed': Booking
  'booking.rescheduled': Booking
  'booking.cancelled': Booking
  'booking.completed': Booking
  'booking.no_show': Booking
  'booking.rejected': Booking
  'booking.deleted': RemovalRecord
  'endpoint.failing': Webhook
  'endpoint.disabling_soon': Webhook
  'endpoint.disabled': Webhook
  'endpoint.recovered': Webhook
}

/** An endpoint that events are delivered to. */
export interface Webhook extends Row {
  object: 'webhook'
  /** Where deliveries go. */
  url: string
  /** Its purpose, for people. */
  description: string | null
  /** The event types it receives. */
  events: Open<keyof EventData>[]
  /** How deliveries are signed: `service` by X-Service-Signature, always; `standard` by the headers of Standard Webhooks as well; `v1a` in these also with the key pair of the organization (Ed25519). */
  signatures: Open<'service' | 'standard' | 'v1a'>[]
  /** The names of its own headers; absent without any. */
  headerNames?: string[]
  /** The most attempts a second; absent without a limit. */
  rateLimit?: number
  /** The most attempts at once; absent where that is 16. */
  maxConcurrent?: number
  /** The form of bodies; absent where it is the envelope. */
  format?: Open<'mcp'>
  /** The form of data; absent where it is the object. */
  payload?: Open<'thin'>
  /** Retry-After puts off attempts; absent where it does not. */
  honorRetryAfter?: boolean
  /** A 410 disables it; absent where it does not. */
  disableOn410?: boolean
  /** All must hold for an event to be sent; absent without any. */
  conditions?: {
    field: string
    op: Open<'equals' | 'in' | 'changed' | 'exists'>
    value?: string | number | boolean | null | (string | number | boolean | null)[]
  }[]
  /** Envelopes of changes name them; absent where they do not. */
  changedFields?: boolean
  /** Envelopes say who caused the event; absent where they do not. */
  includeActor?: boolean
  /** Events that its own key has caused are skipped; absent where not. */
  skipOwn?: boolean
  /** Strings of the client that registered it; absent without any. */
  metadata?: Record<string, string>
  /** A disabled endpoint gets no events. */
  status: Open<'active' | 'disabled'>
  /** Why it is disabled; null while active. */
  disabledReason: Open<'failing' | 'address_not_public' | 'registrant_revoked' | 'manual' | 'gone'> | null
  /** Since when it is disabled; null while active. */
  disabledAt: string | null
  /** The first failure since the last success. */
  failingSince: string | null
  /** From when on a failed attempt disables it, unless one succeeds before; null while it does not fail, and while it is disabled. */
  disablesAt: string | null
  /** Failed attempts since the last success. */
  failureCount: number
  /** The last delivery that succeeded. */
  lastSuccessAt: string | null
  /** Where a recovery has to begin: no event before this, as far as the log goes back, has failed or was left out while it was disabled. Null when none was. */
  missedSince: string | null
  /** Until when a replaced secret signs as well; null when none does. */
  previousSecretExpiresAt: string | null
  /** The key that registered it. Deliveries go out while that key may read their subjects. */
  apiKeyId: string
  /** The console link whose session registered it, for that key; null when the key did so itself. It stays after the session has ended. */
  consoleLinkId: string | null
  /** When it ends: nothing is sent any more, and it is deleted with its log. Absent where it does not end by itself. */
  expiresAt?: string
}

export interface WebhookInput {
  /** Where deliveries go: https, a public address, no user info, no fragment. */
  url: string
  /** Its purpose, for people. */
  description?: string | null
  /** The event types it receives. */
  events: (keyof EventData)[]
  /** How deliveries are signed: by X-Service-Signature, and with standard by the headers of Standard Webhooks as well, and with v1a in these also by Ed25519. */
  signatures?: ('service' | 'standard' | 'v1a')[]
  /** When it ends by itself, a minute from now at least: nothing is sent any more, and it is deleted with its log. Null: it does not end. */
  expiresAt?: string | null
  /** Headers that are sent along, such as Authorization. Their values are stored encrypted and never shown. A PATCH replaces all of them. */
  headers?: Record<string, string> | null
  /** The most attempts a second. */
  rateLimit?: number | null
  /** The most attempts at once, instead of 16. */
  maxConcurrent?: number | null
  /** The body of a delivery: the envelope, or with mcp an occurrence of the events proposal of the Model Context Protocol, which 410 and 413 refuse for good. */
  format?: 'envelope' | 'mcp'
  /** The data of an event: the object, or with thin its id and object alone. */
  payload?: 'full' | 'thin'
  /** Whether a Retry-After with a 429 or 503 puts off the next attempt beyond its delay, by a day at most. */
  honorRetryAfter?: boolean
  /** Whether an answer of 410 disables the endpoint. */
  disableOn410?: boolean
  /** An event is sent if all conditions hold of its object as it was then. Removals are always sent, unless one is on id. */
  conditions?:
    | {
        field: string
        op: 'equals' | 'in' | 'changed' | 'exists'
        value?: string | number | boolean | null | (string | number | boolean | null)[]
      }[]
    | null
  /** Whether changedFields in the envelope of a change names the fields that changed. */
  changedFields?: boolean
  /** Whether envelopes have `actor`, who caused the event, and `requestId`, the X-Request-Id of the request. */
  includeActor?: boolean
  /** Whether events that the registering key, or a session of it, has caused are left out: they are in the log as skipped. */
  skipOwn?: boolean
  /** Strings of your own, for your programs: deliveries do not have them. A PATCH merges; null deletes a key. */
  metadata?: Record<string, string | null>
  /** Signs deliveries: whsec_ and 24 to 64 random bytes in base64. Default: a new one. */
  secret?: string | null
  /** Whether the URL must agree first: it gets a signed POST of {"type": "verification", "challenge": …}, and must answer 2xx with {"challenge": …}, the same. */
  verify?: boolean
}

export interface WebhookPatch {
  /** Where deliveries go: https, a public address, no user info, no fragment. */
  url?: string
  /** Its purpose, for people. */
  description?: string | null
  /** The event types it receives. */
  events?: (keyof EventData)[]
  /** How deliveries are signed: by X-Service-Signature, and with standard by the headers of Standard Webhooks as well, and with v1a in these also by Ed25519. */
  signatures?: ('service' | 'standard' | 'v1a')[]
  /** When it ends by itself, a minute from now at least: nothing is sent any more, and it is deleted with its log. Null: it does not end. */
  expiresAt?: string | null
  /** Headers that are sent along, such as Authorization. Their values are stored encrypted and never shown. A PATCH replaces all of them. */
  headers?: Record<string, string> | null
  /** The most attempts a second. */
  rateLimit?: number | null
  /** The most attempts at once, instead of 16. */
  maxConcurrent?: number | null
  /** The body of a delivery: the envelope, or with mcp an occurrence of the events proposal of the Model Context Protocol, which 410 and 413 refuse for good. */
  format?: 'envelope' | 'mcp'
  /** The data of an event: the object, or with thin its id and object alone. */
  payload?: 'full' | 'thin'
  /** Whether a Retry-After with a 429 or 503 puts off the next attempt beyond its delay, by a day at most. */
  honorRetryAfter?: boolean
  /** Whether an answer of 410 disables the endpoint. */
  disableOn410?: boolean
  /** An event is sent if all conditions hold of its object as it was then. Removals are always sent, unless one is on id. */
  conditions?:
    | {
        field: string
        op: 'equals' | 'in' | 'changed' | 'exists'
        value?: string | number | boolean | null | (string | number | boolean | null)[]
      }[]
    | null
  /** Whether changedFields in the envelope of a change names the fields that changed. */
  changedFields?: boolean
  /** Whether envelopes have `actor`, who caused the event, and `requestId`, the X-Request-Id of the request. */
  includeActor?: boolean
  /** Whether events that the registering key, or a session of it, has caused are left out: they are in the log as skipped. */
  skipOwn?: boolean
  /** Strings of your own, for your programs: deliveries do not have them. A PATCH merges; null deletes a key. */
  metadata?: Record<string, string | null>
  /** active resets the failure count. */
  status?: 'active' | 'disabled'
}

export interface RotationInput {
  /** Signs deliveries: whsec_ and 24 to 64 random bytes in base64. Default: a new one. */
  secret?: string | null
  /** How long the replaced secret still signs, in seconds, up to seven days; 0 ends it at once. Default: 24 hours, or what the operator has set. */
  overlap?: number | null
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
  /** Where it stands; `skipped`: the conditions of the endpoint did not hold. */
  status: Open<'pending' | 'succeeded' | 'failed' | 'skipped'>
  /** Attempts made so far. */
  attemptCount: number
  /** Attempts it has in all; a manual retry adds a whole schedule. */
  maxAttempts: number
  /** The last status of the receiver. */
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
      | 'worker_lost'
      | 'own_change'
      | 'conditions_not_met'
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
  status?: 'pending' | 'succeeded' | 'failed' | 'skipped' | 'undelivered'
  eventType?: keyof EventData | 'ping'
  eventId?: string
  createdAfter?: string
  createdBefore?: string
}

export interface AllDeliveryFilters extends DeliveryFilters {
  webhookId?: string
}

/** One try of a delivery. */
export interface Attempt {
  /** Counts up within the delivery. */
  number: number
  /** When it began. */
  at: string
  /** The status of the receiver; null when it sent none. */
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
      | 'worker_lost'
      | 'own_change'
      | 'conditions_not_met'
    >
    message: string
  } | null
  /** How long it took, in milliseconds. */
  durationMs: number
  /** The beginning of the answer, 1 KiB at most, as text; null without the read scope of the event. */
  responseBody: string | null
}

/** What is counted in one step of time. */
export interface StatsPoint {
  /** When the step began. Its length is that of the request. */
  at: string
  /** Deliveries that arrived. */
  succeeded: number
  /** Attempts that failed, and deliveries that failed without one, by the code of the error; without those that did not happen. */
  failed: Record<string, number>
  /** How long half of the attempts took at most, in milliseconds, from counts by duration; null where none was made. */
  p50: number | null
  /** How long 95 of 100 attempts took at most, likewise. */
  p95: number | null
  /** Objects that were created, changed or removed, by their kind, each where its latest change is; without kinds of which none was. */
  changes: Record<string, number>
}

/** What is counted in all steps together. */
export interface StatsTotal {
  /** Deliveries that arrived. */
  succeeded: number
  /** Attempts that failed, and deliveries that failed without one, by the code of the error; without those that did not happen. */
  failed: Record<string, number>
  /** How long half of the attempts took at most, in milliseconds, from counts by duration; null where none was made. */
  p50: number | null
  /** How long 95 of 100 attempts took at most, likewise. */
  p95: number | null
}

export interface StatsRange {
  from?: string
  to?: string
  step?: '1m' | '1h' | '1d'
}

/** What `retryNow` made due at once. */
export interface RetriedNow {
  object: 'hastening'
  /** The endpoint. */
  webhookId: string
  /** Deliveries that are attempted now instead of later. */
  hastened: number
  /** Whether others still wait: ask again. */
  hasMore: boolean
}

/** The replay of events that an endpoint missed. */
export interface Recovery {
  object: 'recovery'
  /** Its id. */
  id: string
  /** The endpoint whose missed events come back. */
  webhookId: string
  /** The beginning of the window, in it. */
  since: string
  /** The end of the window, in it. */
  until: string
  /** Events that had arrived are sent again too; only shown where they are. */
  includeSucceeded?: boolean
  /** Whether all events of the window have been examined. */
  status: Open<'running' | 'done'>
  /** Deliveries that had failed and are sent again, so far. */
  retried: number
  /** Deliveries that were missing and have been made, so far. */
  created: number
  /** When the request for it came. */
  createdAt: string
  /** When it was done; deliveries may still be pending then. */
  finishedAt: string | null
}

export interface RecoveryInput {
  /** Events from here on, this moment included; no longer ago than the delivery log goes back. Earlier than the endpoint's createdAt is read as createdAt, unless includeBeforeCreation is true. */
  since: string
  /** Events up to here, this moment included; by default all until now. */
  until?: string | null
  /** Whether events from before the endpoint was registered are sent too. */
  includeBeforeCreation?: boolean
  /** Whether events that the receiver has answered with a 2xx are sent again, each as a new delivery. */
  includeSucceeded?: boolean
}

/** The calls of every kind, by its plural. */
export const resources = (send: Send) => ({
  teammates: new ChangeableResource<Teammate, TeammateInput, TeammatePatch, TeammateFilters>(
    send,
    'teammates',
  ),
  customers: new Customers(send, 'customers'),
  conversations: new Conversations(send, 'conversations'),
  messages: new Resource<Message, MessageInput, MessageFilters>(send, 'messages'),
  notes: new ChangeableResource<Note, NoteInput, NotePatch, NoteFilters>(send, 'notes'),
  tickets: new ChangeableResource<Ticket, TicketInput, TicketPatch, TicketFilters>(send, 'tickets'),
  bookings: new Bookings(send, 'bookings'),
})

/** What a key may do. `write` does not imply `read`; `*` is everything. */
export type Scope =
  | 'teammates:read'
  | 'teammates:write'
  | 'customers:read'
  | 'customers:write'
  | 'customers:erase'
  | 'conversations:read'
  | 'conversations:write'
  | 'messages:read'
  | 'messages:write'
  | 'notes:read'
  | 'notes:write'
  | 'tickets:read'
  | 'tickets:write'
  | 'bookings:read'
  | 'bookings:write'
  | 'webhooks:read'
  | 'webhooks:write'
  | 'import'
  | 'api_keys:manage'
  | '*'

/** An API key, without its token: that is shown by creation and rotation alone. */
export interface ApiKey extends Row {
  object: 'api_key'
  /** Its purpose, for people. */
  name: string
  /** The calls that it may make. */
  scopes: Open<Scope>[]
  /** When it ceases to work; null when it does not expire. */
  expiresAt: string | null
  /** The last four characters of its newest token. */
  last4: string
  /** Until when a replaced token works as well; null when none does. */
  previousTokenExpiresAt: string | null
  /** When a call was last made with it, exact to a minute; null when none was. It does not move updatedAt. */
  lastUsedAt: string | null
  /** When it was revoked; only where revoked keys are listed. */
  revokedAt?: string
  /** The key that revoked it; null: the operator. */
  revokedBy?: { id: string; name: string | null } | null
}

export interface ApiKeyInput {
  /** Its purpose, for people. */
  name: string
  /** The calls that it may make. A key can grant only scopes that it holds itself. */
  scopes: Scope[]
  /** When it ceases to work, a time to come; null for never. */
  expiresAt?: string | null
}

export interface ApiKeyPatch {
  /** Its purpose, for people. */
  name?: string
  /** The calls that it may make. A key can grant only scopes that it holds itself. */
  scopes?: Scope[]
  /** When it ceases to work, a time to come; null for never. */
  expiresAt?: string | null
}

export interface ApiKeyFilters {
  createdAfter?: string
  createdBefore?: string
  revoked?: boolean
}

/** A link to the console, which works once. */
export interface ConsoleLink {
  /** Its id. */
  id: string
  /** Its kind. */
  object: string
  /** The scopes of its session. */
  scopes: Open<Scope>[]
  /** Opens the console, once. Its secret is behind the #, which browsers send to nobody. */
  url: string
  /** When link and session end, if not before. */
  expiresAt: string
}

export interface ConsoleLinkInput {
  /** The scopes of its session, at most those of the key that makes it. It cannot manage keys. */
  scopes: Exclude<Scope, '*' | 'api_keys:manage'>[]
  /** After how many seconds link and session end; an hour unless given. */
  expiresIn?: number | null
}

/** What a link is exchanged for. */
export interface ConsoleSession {
  /** The id of its link, by which it is ended. */
  id: string
  /** Its kind. */
  object: string
  /** Whose it is. */
  organizationId: string
  /** The calls that it may make. */
  scopes: Open<Scope>[]
  /** Says who calls, as the token of a key does. Shown this once. */
  token: string
  /** When it ends, if not before. */
  expiresAt: string
}

/** What owns everything that a key can reach. */
export interface Organization {
  object: 'organization'
  /** Its id: `organizationId` of everything that it owns. */
  id: string
  /** Its name. */
  name: string
  /** Whether a booking is refused (409 booking_conflict) that overlaps with another of its assignee. */
  preventDoubleBooking: boolean
  /** When it was made. */
  createdAt: string
  /** When it was last changed. */
  updatedAt: string
}

export interface OrganizationPatch {
  /** Its name. */
  name?: string
  /** Whether a booking is refused (409 booking_conflict) that overlaps with another of its assignee. */
  preventDoubleBooking?: boolean
}
