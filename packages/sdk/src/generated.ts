/** Made by npm run generate from openapi.json: types and methods of every resource. */
import type { CallPromise } from './call-promise.ts'
import type { Erasure, Open, Pagination, RemovalRecord } from './envelope.ts'
import type { Actor } from './event.ts'
import type { List, ListParams, PagedList } from './list.ts'
import { withMethods } from './methods.ts'
import type { ActionOptions, CallOptions, CreateOptions } from './options.ts'
import { ChangeableObjects, ChangeableResource, Resource } from './resource.ts'
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

/** An organization, as its operator sees it. */
export interface Tenant {
  /** Its id. */
  organizationId: string
  /** Its name. */
  name: string
  /** Whether its keys work. */
  status: Open<'active' | 'suspended' | 'deleting'>
  /** When it was suspended; null where it is not. */
  suspendedAt: string | null
  /** When it was made. */
  createdAt: string
  /** Its keys that are not revoked. */
  keys: number
  /** Its objects. */
  rows: number
  /** Of their representations. */
  bytes: number
  /** Its database; null where there is one. */
  database: string | null
}

/** All organizations. */
export interface TenantList {
  /** The oldest first. */
  data: Tenant[]
}

/** A key that was made. */
export interface TenantKey {
  /** Its id. */
  organizationId: string
  /** The id of the key. */
  apiKeyId: string
  /** The key, shown this once. */
  token: string
}

/** A deletion. */
export interface TenantDeletion {
  /** Its id. */
  organizationId: string
  /** How many objects it deleted. */
  rows: number
}

/** A move. */
export interface TenantMove {
  /** Its id. */
  organizationId: string
  /** Whether it was elsewhere. */
  outcome: Open<'moved' | 'unchanged'>
  /** The database it was in. */
  from: string
  /** The database it is in. */
  to: string
  /** How many rows were copied. */
  rows: number
  /** Milliseconds that its writers waited; null when an earlier call did that. */
  paused: number | null
}

/** What a request says. */
export interface TenantCreate {
  /** Its name. Must be a string of 1 to 255 characters (no U+0000). */
  name: string
  /** Its database. Must be a string of 1 to 255 characters (no U+0000), or null. */
  database?: string | null
}

/** What a request says. */
export interface TenantKeyCreate {
  /** Its name. Must be a string of 1 to 255 characters (no U+0000). */
  name: string
  /** Its scopes. Must be a list of 1 to 100 of teammates:read, teammates:write, customers:read, customers:write, customers:erase, conversations:read, conversations:write, messages:read, messages:write, notes:read, notes:write, tickets:read, tickets:write, bookings:read, bookings:write, webhooks:read, webhooks:write, import, api_keys:manage, *. */
  scopes: Scope[]
}

/** What a request says. */
export interface TenantMoveTo {
  /** Its next database. Must be a string of 1 to 255 characters (no U+0000). */
  to: string
}

/** A person who works at the desk. */
export interface Teammate {
  /** Its id. */
  id: string
  /** Its kind. */
  object: 'teammate'
  /** Whose it is. */
  organizationId: string
  /** When it was made. */
  createdAt: string
  /** Full name. No event: sync only. */
  name: string
  /** Stored in lower case and Unicode NFC. No event: sync only. */
  email: string | null
  /** Whether work can be assigned. No event: sync only. */
  active: boolean
  /** Its version, and its place in the stream: later than every change committed before. */
  updatedAt: string
}

/** What a request says. */
export interface TeammateCreate {
  /** Full name. Must be a string of 1 to 255 characters (no U+0000). */
  name: string
  /** Stored in lower case and Unicode NFC. Must be an email address of at most 320 characters, or null. */
  email?: string | null
  /** Whether work can be assigned. Must be true or false. Initially `true`. */
  active?: boolean
}

/** Fields left out stay as they are. */
export interface TeammatePatch {
  /** Full name. Must be a string of 1 to 255 characters (no U+0000). */
  name?: string
  /** Stored in lower case and Unicode NFC. Must be an email address of at most 320 characters, or null. */
  email?: string | null
  /** Whether work can be assigned. Must be true or false. Initially `true`. */
  active?: boolean
}

/** A person or company the organization talks with. */
export interface Customer {
  /** Its id. */
  id: string
  /** Its kind. */
  object: 'customer'
  /** Whose it is. */
  organizationId: string
  /** When it was made. */
  createdAt: string
  /** Full name. Reported by `customer.updated`. */
  name: string | null
  /** The company that the customer belongs to. Reported by `customer.updated`. */
  company: string | null
  /** Stored in lower case and Unicode NFC. Reported by `customer.updated`. */
  email: string | null
  /** Telephone number, E.164. Reported by `customer.updated`. */
  phone: string | null
  /** Preferred language, BCP 47. Reported by `customer.updated`. */
  locale: string | null
  /** Time zone, IANA. Reported by `customer.updated`. */
  timezone: string | null
  /** Your own id of it. Reported by `customer.updated`. */
  externalId: string | null
  /** Labels. Repeats are dropped. Reported by `customer.updated`. */
  tags: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. Reported by `customer.updated`. */
  customAttributes: Record<string, string | number | boolean>
  /** Its version, and its place in the stream: later than every change committed before. */
  updatedAt: string
}

/** At least one of name, email, phone and externalId must have a value. */
export interface CustomerCreate {
  /** Full name. Must be a string of at most 255 characters (no U+0000), or null. */
  name?: string | null
  /** The company that the customer belongs to. Must be a string of at most 255 characters (no U+0000), or null. */
  company?: string | null
  /** Stored in lower case and Unicode NFC. Must be an email address of at most 320 characters, or null. Unique in the organization. */
  email?: string | null
  /** Telephone number, E.164. Must be a telephone number in E.164, for example +4930123456, or null. */
  phone?: string | null
  /** Preferred language, BCP 47. Must be a language tag (BCP 47), for example en-GB, or null. */
  locale?: string | null
  /** Time zone, IANA. Must be an IANA time zone, for example Europe/Berlin, or null. */
  timezone?: string | null
  /** Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization. */
  externalId?: string | null
  /** Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`. */
  customAttributes?: Record<string, string | number | boolean | null>
}

/** Fields left out stay as they are. At least one of name, email, phone and externalId must have a value. */
export interface CustomerPatch {
  /** Full name. Must be a string of at most 255 characters (no U+0000), or null. */
  name?: string | null
  /** The company that the customer belongs to. Must be a string of at most 255 characters (no U+0000), or null. */
  company?: string | null
  /** Stored in lower case and Unicode NFC. Must be an email address of at most 320 characters, or null. Unique in the organization. */
  email?: string | null
  /** Telephone number, E.164. Must be a telephone number in E.164, for example +4930123456, or null. */
  phone?: string | null
  /** Preferred language, BCP 47. Must be a language tag (BCP 47), for example en-GB, or null. */
  locale?: string | null
  /** Time zone, IANA. Must be an IANA time zone, for example Europe/Berlin, or null. */
  timezone?: string | null
  /** Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization. */
  externalId?: string | null
  /** Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`. */
  customAttributes?: Record<string, string | number | boolean | null>
}

/** Everything about one customer. */
export interface CustomerExport {
  /** Distinguishes it from a row. */
  object: 'customer_export'
  customer: Customer
  /** The oldest first. */
  conversations: Conversation[]
  /** The oldest first. */
  messages: Message[]
  /** The oldest first. */
  notes: Note[]
  /** The oldest first. */
  tickets: Ticket[]
  /** The oldest first. */
  bookings: Booking[]
}

/** A thread of messages with a customer. */
export interface Conversation {
  /** Its id. */
  id: string
  /** Its kind. */
  object: 'conversation'
  /** Whose it is. */
  organizationId: string
  /** When it was made. */
  createdAt: string
  /** Where it takes place. Set at creation: reported by `conversation.created`. */
  channel: Open<'email' | 'chat' | 'sms' | 'whatsapp' | 'phone' | 'api'>
  /** The subject, as its list shows it. No event: sync only. */
  subject: string | null
  /** Moved by the actions resolve and reopen, and back to open by an inbound message. Reported by `conversation.resolved` or `conversation.reopened`. */
  status: Open<'open' | 'resolved'>
  /** Who answers. Escalation or assignment moves the conversation from an AI to a person. Reported by `conversation.escalated`, some changes also by `conversation.assigned`. */
  handledBy: Open<'ai' | 'human'>
  /** The teammate who answers. Reported by `conversation.assigned`, `conversation.unassigned` or `conversation.escalated`. No event reports that it loses a deleted object: sync only. */
  assigneeId: string | null
  /** When it was handed to a person. Reported by `conversation.escalated`, some changes also by `conversation.assigned`. */
  escalatedAt: string | null
  /** When it was last resolved; null while it is open. Reported by `conversation.resolved` or `conversation.reopened`. */
  resolvedAt: string | null
  /** The latest sentAt of its messages. No event: sync only. */
  lastMessageAt: string | null
  /** A summary of the messages, written some minutes after resolution; null until then. Unless a model or an AI of yours writes it, it repeats sentences of the messages, also to keys that may not read messages. Reported by `conversation.summarized` or `conversation.reopened`. */
  summary: string | null
  /** When the summary was written. Of an import resolved without a summary: when it was resolved, as none is written. Reported by `conversation.summarized` or `conversation.reopened`. */
  summarizedAt: string | null
  /** Your own id of it. No event: sync only. */
  externalId: string | null
  /** Labels. Repeats are dropped. No event: sync only. */
  tags: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. No event: sync only. */
  customAttributes: Record<string, string | number | boolean>
  /** Who the conversation is with. Becomes null when the customer is deleted. Set at creation: reported by `conversation.created`. No event reports that it loses a deleted object: sync only. */
  customerId: string | null
  /** Its version, and its place in the stream: later than every change committed before. */
  updatedAt: string
}

/** What a request says. */
export interface ConversationCreate {
  /** Who the conversation is with. Becomes null when the customer is deleted. Must be the id (a UUID) of a customer. */
  customerId: string
  /** Where it takes place. Must be one of email, chat, sms, whatsapp, phone, api. */
  channel: 'email' | 'chat' | 'sms' | 'whatsapp' | 'phone' | 'api'
  /** The subject, as its list shows it. Must be a string of at most 255 characters (no U+0000), or null. */
  subject?: string | null
  /** Who answers. Escalation or assignment moves the conversation from an AI to a person. Must be one of ai, human. Initially `"human"`. */
  handledBy?: 'ai' | 'human'
  /** The teammate who answers. Must be the id (a UUID) of a teammate, or null. */
  assigneeId?: string | null
  /** Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization. */
  externalId?: string | null
  /** Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`. */
  customAttributes?: Record<string, string | number | boolean | null>
}

/** What a request says. */
export interface ConversationSummarize {
  /** A summary of the messages. Must be a string of 1 to 10000 characters (no U+0000). */
  summary: string
}

/** Fields left out stay as they are. */
export interface ConversationPatch {
  /** The subject, as its list shows it. Must be a string of at most 255 characters (no U+0000), or null. */
  subject?: string | null
  /** The teammate who answers. Must be the id (a UUID) of a teammate, or null. */
  assigneeId?: string | null
  /** Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization. */
  externalId?: string | null
  /** Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`. */
  customAttributes?: Record<string, string | number | boolean | null>
}

/** Something said in a conversation. It never changes. */
export interface Message {
  /** Its id. */
  id: string
  /** Its kind. */
  object: 'message'
  /** Whose it is. */
  organizationId: string
  /** When it was made. */
  createdAt: string
  /** The conversation it belongs to. Set at creation: reported by `message.received` or `message.sent`. */
  conversationId: string
  /** inbound from the customer, outbound to the customer. Set at creation: reported by `message.received` or `message.sent`. */
  direction: Open<'inbound' | 'outbound'>
  /** Who wrote it. Of an inbound message the customer, and of no other. Set at creation: reported by `message.received` or `message.sent`. No event reports that it loses a deleted object: sync only. */
  author: { type: Open<'customer' | 'teammate' | 'ai' | 'system'>; id?: string; name?: string }
  /** The text. Required unless there are attachments. Set at creation: reported by `message.received` or `message.sent`. */
  body: string | null
  /** How the body is written. Set at creation: reported by `message.received` or `message.sent`. */
  contentType: Open<'text' | 'html' | 'markdown'>
  /** Links to files; the files themselves are kept elsewhere. Set at creation: reported by `message.received` or `message.sent`. */
  attachments: { fileName: string; contentType: string; sizeBytes: number; url: string }[]
  /** When it was sent. Now, unless given. Set at creation: reported by `message.received` or `message.sent`. */
  sentAt: string
  /** The conversation's. Set at creation: reported by `message.received` or `message.sent`. */
  channel: Open<'email' | 'chat' | 'sms' | 'whatsapp' | 'phone' | 'api'>
  /** Your own id of it. Set at creation: reported by `message.received` or `message.sent`. */
  externalId: string | null
  /** The conversation's. Becomes null when the customer is deleted. Set at creation: reported by `message.received` or `message.sent`. No event reports that it loses a deleted object: sync only. */
  customerId: string | null
  /** Its version, and its place in the stream: later than every change committed before. */
  updatedAt: string
}

/** What a request says. */
export interface MessageCreate {
  /** The conversation it belongs to. Must be the id (a UUID) of a conversation. */
  conversationId: string
  /** inbound from the customer, outbound to the customer. Must be one of inbound, outbound. */
  direction: 'inbound' | 'outbound'
  /** Who wrote it. Of an inbound message the customer, and of no other. Must be an object {type, id, name}: type customer, teammate, ai or system; id, optional, a teammate; name, optional, 1 to 255 characters. */
  author: { type: 'customer' | 'teammate' | 'ai' | 'system'; id?: string; name?: string }
  /** The text. Required unless there are attachments. Must be a string of at most 64000 characters (no U+0000), or null. */
  body?: string | null
  /** How the body is written. Must be one of text, html, markdown. Initially `"text"`. */
  contentType?: 'text' | 'html' | 'markdown'
  /** Links to files; the files themselves are kept elsewhere. Must be a list of at most 15 objects {fileName, contentType, sizeBytes, url}: a media type, a whole number of bytes, an http or https link. Initially `[]`. */
  attachments?: { fileName: string; contentType: string; sizeBytes: number; url: string }[]
  /** When it was sent. Now, unless given. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null. */
  sentAt?: string | null
  /** Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization. */
  externalId?: string | null
}

/** An internal note on a conversation. The customer never sees it. */
export interface Note {
  /** Its id. */
  id: string
  /** Its kind. */
  object: 'note'
  /** Whose it is. */
  organizationId: string
  /** When it was made. */
  createdAt: string
  /** The conversation it is about. Set at creation: reported by `note.created`. */
  conversationId: string
  /** Who wrote it. Set at creation: reported by `note.created`. No event reports that it loses a deleted object: sync only. */
  author: { type: Open<'teammate' | 'ai' | 'system'>; id?: string; name?: string }
  /** The text. The customer never sees it. Reported by `note.updated`. */
  body: string
  /** The conversation's. Becomes null when the customer is deleted. No event: sync only. */
  customerId: string | null
  /** Its version, and its place in the stream: later than every change committed before. */
  updatedAt: string
}

/** What a request says. */
export interface NoteCreate {
  /** The conversation it is about. Must be the id (a UUID) of a conversation. */
  conversationId: string
  /** Who wrote it. Must be an object {type, id, name}: type teammate, ai or system; id, optional, a teammate; name, optional, 1 to 255 characters. */
  author: { type: 'teammate' | 'ai' | 'system'; id?: string; name?: string }
  /** The text. The customer never sees it. Must be a string of 1 to 64000 characters (no U+0000). */
  body: string
}

/** Fields left out stay as they are. */
export interface NotePatch {
  /** The text. The customer never sees it. Must be a string of 1 to 64000 characters (no U+0000). */
  body?: string
}

/** Something to be done for a customer. */
export interface Ticket {
  /** Its id. */
  id: string
  /** Its kind. */
  object: 'ticket'
  /** Whose it is. */
  organizationId: string
  /** When it was made. */
  createdAt: string
  /** The conversation it came from. Reported by `ticket.updated`. No event reports that it loses a deleted object: sync only. */
  conversationId: string | null
  /** The subject, as its list shows it. Reported by `ticket.updated`. */
  subject: string
  /** The whole story. Reported by `ticket.updated`. */
  description: string | null
  /** The type of the ticket. Reported by `ticket.updated`. */
  type: Open<'question' | 'incident' | 'problem' | 'task'> | null
  /** How soon it matters. Reported by `ticket.updated`. */
  priority: Open<'low' | 'normal' | 'high' | 'urgent'>
  /** Where it stands. Which status allows which is in docs/specification.md. Reported by `ticket.updated` and `ticket.status_changed`. */
  status: Open<'new' | 'open' | 'pending' | 'on_hold' | 'resolved' | 'closed'>
  /** Who works on it. Assigning a new ticket opens it. Reported by `ticket.updated`, some changes also by `ticket.status_changed` or `ticket.assigned`. No event reports that it loses a deleted object: sync only. */
  assigneeId: string | null
  /** When it should be done. Reported by `ticket.updated`. */
  dueAt: string | null
  /** When it was last resolved. Reported by `ticket.updated` and `ticket.status_changed`. */
  resolvedAt: string | null
  /** When it was closed. Reported by `ticket.updated` and `ticket.status_changed`. */
  closedAt: string | null
  /** Your own id of it. Reported by `ticket.updated`. */
  externalId: string | null
  /** Labels. Repeats are dropped. Reported by `ticket.updated`. */
  tags: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. Reported by `ticket.updated`. */
  customAttributes: Record<string, string | number | boolean>
  /** Whose ticket it is. Deleting the customer deletes the ticket. Set at creation: reported by `ticket.created`. */
  customerId: string
  /** Counts up within the organization. Set at creation: reported by `ticket.created`. */
  number: number
  /** Its version, and its place in the stream: later than every change committed before. */
  updatedAt: string
}

/** What a request says. */
export interface TicketCreate {
  /** Whose ticket it is. Deleting the customer deletes the ticket. Must be the id (a UUID) of a customer. */
  customerId: string
  /** The conversation it came from. Must be the id (a UUID) of a conversation, or null. */
  conversationId?: string | null
  /** The subject, as its list shows it. Must be a string of 1 to 255 characters (no U+0000). */
  subject: string
  /** The whole story. Must be a string of at most 64000 characters (no U+0000), or null. */
  description?: string | null
  /** The type of the ticket. Must be one of question, incident, problem, task or null. */
  type?: 'question' | 'incident' | 'problem' | 'task' | null
  /** How soon it matters. Must be one of low, normal, high, urgent. Initially `"normal"`. */
  priority?: 'low' | 'normal' | 'high' | 'urgent'
  /** Where it stands. Which status allows which is in docs/specification.md. Must be one of new, open, pending, on_hold, resolved, closed. Initially `"new"`. */
  status?: 'new' | 'open' | 'pending' | 'on_hold' | 'resolved' | 'closed'
  /** Who works on it. Assigning a new ticket opens it. Must be the id (a UUID) of a teammate, or null. */
  assigneeId?: string | null
  /** When it should be done. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null. */
  dueAt?: string | null
  /** Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization. */
  externalId?: string | null
  /** Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`. */
  customAttributes?: Record<string, string | number | boolean | null>
}

/** Fields left out stay as they are. */
export interface TicketPatch {
  /** The conversation it came from. Must be the id (a UUID) of a conversation, or null. */
  conversationId?: string | null
  /** The subject, as its list shows it. Must be a string of 1 to 255 characters (no U+0000). */
  subject?: string
  /** The whole story. Must be a string of at most 64000 characters (no U+0000), or null. */
  description?: string | null
  /** The type of the ticket. Must be one of question, incident, problem, task or null. */
  type?: 'question' | 'incident' | 'problem' | 'task' | null
  /** How soon it matters. Must be one of low, normal, high, urgent. Initially `"normal"`. */
  priority?: 'low' | 'normal' | 'high' | 'urgent'
  /** Where it stands. Which status allows which is in docs/specification.md. Must be one of new, open, pending, on_hold, resolved, closed. Initially `"new"`. */
  status?: 'new' | 'open' | 'pending' | 'on_hold' | 'resolved' | 'closed'
  /** Who works on it. Assigning a new ticket opens it. Must be the id (a UUID) of a teammate, or null. */
  assigneeId?: string | null
  /** When it should be done. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null. */
  dueAt?: string | null
  /** Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization. */
  externalId?: string | null
  /** Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`. */
  customAttributes?: Record<string, string | number | boolean | null>
}

/** A time agreed with a customer. */
export interface Booking {
  /** Its id. */
  id: string
  /** Its kind. */
  object: 'booking'
  /** Whose it is. */
  organizationId: string
  /** When it was made. */
  createdAt: string
  /** The title of the booking. No event: sync only. */
  title: string
  /** When it starts. Moves by the action reschedule only. Reported by `booking.rescheduled`. */
  startAt: string
  /** When it ends, after startAt. Moves by the action reschedule only. Reported by `booking.rescheduled`. */
  endAt: string
  /** The time zone it takes place in, IANA. No event: sync only. */
  timezone: string
  /** pending or confirmed at creation; moved by actions from then on. Reported by `booking.confirmed`, `booking.rejected`, `booking.cancelled`, `booking.completed` or `booking.no_show`. */
  status: Open<'pending' | 'confirmed' | 'cancelled' | 'completed' | 'no_show' | 'rejected'>
  /** Where it takes place: an address, a number or a link. No event: sync only. */
  location: { type: Open<'in_person' | 'phone' | 'video' | 'other'>; value: string } | null
  /** The teammate who takes it. No event: sync only. */
  assigneeId: string | null
  /** The conversation it came from. No event: sync only. */
  conversationId: string | null
  /** For those who work at the desk. No event: sync only. */
  notes: string | null
  /** Who cancelled it. Reported by `booking.cancelled`. */
  cancelledBy: Open<'customer' | 'teammate' | 'system'> | null
  /** Why it was cancelled. Reported by `booking.cancelled`. */
  cancellationReason: string | null
  /** Why it was rejected. Reported by `booking.rejected`. */
  rejectionReason: string | null
  /** When it started before it was last moved. Reported by `booking.rescheduled`. */
  previousStartAt: string | null
  /** How often it was moved. Reported by `booking.rescheduled`. */
  rescheduleCount: number
  /** When it was confirmed. Reported by `booking.confirmed`. */
  confirmedAt: string | null
  /** When it was marked as completed. Reported by `booking.completed` or `booking.no_show`. */
  completedAt: string | null
  /** When it was cancelled. Reported by `booking.cancelled`. */
  cancelledAt: string | null
  /** Your own id of it. No event: sync only. */
  externalId: string | null
  /** Labels. Repeats are dropped. No event: sync only. */
  tags: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. No event: sync only. */
  customAttributes: Record<string, string | number | boolean>
  /** Who booked. Becomes null when the customer is deleted. No event: sync only. */
  customerId: string | null
  /** Its version, and its place in the stream: later than every change committed before. */
  updatedAt: string
}

/** What a request says. */
export interface BookingCreate {
  /** Who booked. Becomes null when the customer is deleted. Must be the id (a UUID) of a customer. */
  customerId: string
  /** The title of the booking. Must be a string of 1 to 255 characters (no U+0000). */
  title: string
  /** When it starts. Moves by the action reschedule only. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z. */
  startAt: string
  /** When it ends, after startAt. Moves by the action reschedule only. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z. */
  endAt: string
  /** The time zone it takes place in, IANA. Must be an IANA time zone, for example Europe/Berlin. */
  timezone: string
  /** pending or confirmed at creation; moved by actions from then on. Must be one of pending, confirmed. Initially `"pending"`. */
  status?: 'pending' | 'confirmed'
  /** Where it takes place: an address, a number or a link. Must be an object {type, value}: type in_person, phone, video or other; value a string of 1 to 2000 characters, or null. */
  location?: { type: 'in_person' | 'phone' | 'video' | 'other'; value: string } | null
  /** The teammate who takes it. Must be the id (a UUID) of a teammate, or null. */
  assigneeId?: string | null
  /** The conversation it came from. Must be the id (a UUID) of a conversation, or null. */
  conversationId?: string | null
  /** For those who work at the desk. Must be a string of at most 64000 characters (no U+0000), or null. */
  notes?: string | null
  /** Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization. */
  externalId?: string | null
  /** Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`. */
  customAttributes?: Record<string, string | number | boolean | null>
}

/** What a request says. */
export interface BookingReject {
  /** Why. Must be a string of at most 2000 characters (no U+0000), or null. */
  reason?: string | null
}

/** What a request says. */
export interface BookingCancel {
  /** Who cancels it. Must be one of customer, teammate, system. */
  by: 'customer' | 'teammate' | 'system'
  /** Why. Must be a string of at most 2000 characters (no U+0000), or null. */
  reason?: string | null
}

/** What a request says. */
export interface BookingReschedule {
  /** When it starts from now on. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z. */
  startAt: string
  /** When it ends from now on, after startAt. It lasts as long as before, unless given. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null. */
  endAt?: string | null
}

/** Fields left out stay as they are. */
export interface BookingPatch {
  /** Who booked. Becomes null when the customer is deleted. Must be the id (a UUID) of a customer. */
  customerId?: string
  /** The title of the booking. Must be a string of 1 to 255 characters (no U+0000). */
  title?: string
  /** The time zone it takes place in, IANA. Must be an IANA time zone, for example Europe/Berlin. */
  timezone?: string
  /** Where it takes place: an address, a number or a link. Must be an object {type, value}: type in_person, phone, video or other; value a string of 1 to 2000 characters, or null. */
  location?: { type: 'in_person' | 'phone' | 'video' | 'other'; value: string } | null
  /** The teammate who takes it. Must be the id (a UUID) of a teammate, or null. */
  assigneeId?: string | null
  /** The conversation it came from. Must be the id (a UUID) of a conversation, or null. */
  conversationId?: string | null
  /** For those who work at the desk. Must be a string of at most 64000 characters (no U+0000), or null. */
  notes?: string | null
  /** Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization. */
  externalId?: string | null
  /** Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`. */
  tags?: string[]
  /** Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`. */
  customAttributes?: Record<string, string | number | boolean | null>
}

/** A conversation in the inbox. */
export interface InboxEntry {
  /** Distinguishes it from a row. */
  object: 'inbox_entry'
  /** The conversation, as everywhere. */
  conversation: Conversation
  /** The message that was created last; null if there is none, or without the scope `messages:read`. */
  lastMessage: { id: string; author: Record<string, unknown>; sentAt: string; preview: string } | null
  /** When the customer's first message was sent that no teammate or AI has answered; null if all are answered. */
  awaitingReplySince: string | null
}

/** A page of a list. */
export interface InboxPage {
  /** The records of the page, in its order. */
  data: InboxEntry[]
  pagination: Pagination
}

/** How many conversations the inbox has. */
export interface InboxCounts {
  /** Distinguishes it from a row. */
  object: 'inbox_counts'
  /** Open conversations. */
  open: number
  /** Those whose customer waits for an answer. */
  waiting: number
  /** Those without an assignee. */
  unassigned: number
  /** Those of `assigneeId`; 0 without it. */
  assigned: number
}

/** An endpoint that events are delivered to. */
export interface Webhook {
  /** Its id. */
  id: string
  /** Its kind. */
  object: 'webhook'
  /** Whose it is. */
  organizationId: string
  /** Where deliveries go. */
  url: string
  /** Its purpose, for people. */
  description: string | null
  /** The events it receives: types, and patterns as it was given them. */
  events: Open<
    | keyof EventData
    | 'teammate.*'
    | '*'
    | 'customer.*'
    | 'conversation.*'
    | 'message.*'
    | 'note.*'
    | 'ticket.*'
    | 'booking.*'
    | 'endpoint.*'
  >[]
  /** How deliveries are signed: `service` by X-Service-Signature, always; `standard` by the headers of Standard Webhooks as well; `v1a` in these also with the key pair of the organization (Ed25519). */
  signatures: Open<'service' | 'standard' | 'v1a'>[]
  /** The names of its own headers; absent without any. */
  headerNames?: string[]
  /** The most attempts a second; absent without a limit. */
  rateLimit?: number
  /** The most attempts at once; absent where that is 16. */
  maxConcurrent?: number
  /** The form of bodies; absent where it is the envelope. */
  format?: string
  /** The form of data; absent where it is the object. */
  payload?: string
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
  /** Seconds for which updates of an object are sent as one; absent where each is sent. */
  coalesce?: number
  /** Strings of the client that registered it; absent without any. */
  metadata?: Record<string, string>
  /** A paused endpoint gets its deliveries once it is active, a disabled one no events. */
  status: Open<'active' | 'paused' | 'disabled'>
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
  /** When it was registered. */
  createdAt: string
  /** When it was last changed. Counters such as failureCount do not change it. */
  updatedAt: string
}

/** An endpoint as creation and rotation answer it. */
export interface WebhookWithSecret {
  /** Its id. */
  id: string
  /** Its kind. */
  object: 'webhook'
  /** Whose it is. */
  organizationId: string
  /** Where deliveries go. */
  url: string
  /** Its purpose, for people. */
  description: string | null
  /** The events it receives: types, and patterns as it was given them. */
  events: Open<
    | keyof EventData
    | 'teammate.*'
    | '*'
    | 'customer.*'
    | 'conversation.*'
    | 'message.*'
    | 'note.*'
    | 'ticket.*'
    | 'booking.*'
    | 'endpoint.*'
  >[]
  /** How deliveries are signed: `service` by X-Service-Signature, always; `standard` by the headers of Standard Webhooks as well; `v1a` in these also with the key pair of the organization (Ed25519). */
  signatures: Open<'service' | 'standard' | 'v1a'>[]
  /** The names of its own headers; absent without any. */
  headerNames?: string[]
  /** The most attempts a second; absent without a limit. */
  rateLimit?: number
  /** The most attempts at once; absent where that is 16. */
  maxConcurrent?: number
  /** The form of bodies; absent where it is the envelope. */
  format?: string
  /** The form of data; absent where it is the object. */
  payload?: string
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
  /** Seconds for which updates of an object are sent as one; absent where each is sent. */
  coalesce?: number
  /** Strings of the client that registered it; absent without any. */
  metadata?: Record<string, string>
  /** A paused endpoint gets its deliveries once it is active, a disabled one no events. */
  status: Open<'active' | 'paused' | 'disabled'>
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
  /** When it was registered. */
  createdAt: string
  /** When it was last changed. Counters such as failureCount do not change it. */
  updatedAt: string
  /** Signs deliveries. Shown this once: keep it. */
  secret: string
}

/** What a request says. */
export interface WebhookCreate {
  /** Where deliveries go: https, a public address, no user info, no fragment. Must be a string of 1 to 2048 characters (no U+0000). */
  url: string
  /** Its purpose, for people. Must be a string of at most 255 characters (no U+0000), or null. */
  description?: string | null
  /** The events it receives: types, all of a kind (ticket.*), or all (*), also those that come later. Must be a list of 1 to 100 of teammate.deleted, customer.created, customer.updated, customer.deleted, conversation.created, conversation.assigned, conversation.unassigned, conversation.escalated, conversation.resolved, conversation.reopened, conversation.summarized, conversation.deleted, message.received, message.sent, message.deleted, note.created, note.updated, note.deleted, ticket.created, ticket.updated, ticket.status_changed, ticket.assigned, ticket.deleted, booking.created, booking.confirmed, booking.rescheduled, booking.cancelled, booking.completed, booking.no_show, booking.rejected, booking.deleted, endpoint.failing, endpoint.disabling_soon, endpoint.disabled, endpoint.recovered, teammate.*, *, customer.*, conversation.*, message.*, note.*, ticket.*, booking.*, endpoint.*. */
  events: (
    | keyof EventData
    | 'teammate.*'
    | '*'
    | 'customer.*'
    | 'conversation.*'
    | 'message.*'
    | 'note.*'
    | 'ticket.*'
    | 'booking.*'
    | 'endpoint.*'
  )[]
  /** How deliveries are signed: by X-Service-Signature, and with standard by the headers of Standard Webhooks as well, and with v1a in these also by Ed25519. Must be a list of service, which cannot be left out, and standard, to which v1a may be added. Initially `["service"]`. */
  signatures?: ('service' | 'standard' | 'v1a')[]
  /** When it ends by itself, a minute from now at least: nothing is sent any more, and it is deleted with its log. Null: it does not end. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null. */
  expiresAt?: string | null
  /** Headers that are sent along, such as Authorization. Their values are stored encrypted and never shown. A PATCH replaces all of them. Must be an object of at most 10 headers, each a name of at most 64 characters with a string of 1 to 1024 printable ASCII characters, 4096 together; not host, connection, content-*, user-agent, x-service-*, webhook-* or others that the service sets, or null. */
  headers?: Record<string, string> | null
  /** The most attempts a second. Must be a whole number from 1 to 1000, or null. */
  rateLimit?: number | null
  /** The most attempts at once, instead of 16. Must be a whole number from 1 to 16, or null. */
  maxConcurrent?: number | null
  /** The body of a delivery: the envelope, or with mcp an occurrence of the events proposal of the Model Context Protocol, which 410 and 413 refuse for good. Must be one of envelope, mcp. Initially `"envelope"`. */
  format?: 'envelope' | 'mcp'
  /** The data of an event: the object, or with thin its id and object alone. Must be one of full, thin. Initially `"full"`. */
  payload?: 'full' | 'thin'
  /** Whether a Retry-After with a 429 or 503 puts off the next attempt beyond its delay, by a day at most. Must be true or false. Initially `false`. */
  honorRetryAfter?: boolean
  /** Whether an answer of 410 disables the endpoint. Must be true or false. Initially `false`. */
  disableOn410?: boolean
  /** An event is sent if all conditions hold of its object as it was then. Removals are always sent, unless one is on id. Must be a list of at most 10 conditions, each an object of field, op and value, or null. */
  conditions?:
    | {
        field: string
        op: 'equals' | 'in' | 'changed' | 'exists'
        value?: string | number | boolean | null | (string | number | boolean | null)[]
      }[]
    | null
  /** Whether changedFields in the envelope of a change names the fields that changed. Must be true or false. Initially `false`. */
  changedFields?: boolean
  /** Whether envelopes have `actor`, who caused the event, and `requestId`, the X-Request-Id of the request. Must be true or false. Initially `false`. */
  includeActor?: boolean
  /** Whether events that the registering key, or a session of it, has caused are left out: they are in the log as skipped. Must be true or false. Initially `false`. */
  skipOwn?: boolean
  /** Seconds for which an `updated` event waits: those of the same object that come meanwhile are sent as one, with the object as it then is; the others are in the log as skipped, with `coalescedInto`. Must be a whole number from 1 to 3600, or null. */
  coalesce?: number | null
  /** Strings of your own, for your programs: deliveries do not have them. A PATCH merges; null deletes a key. Must be an object of at most 20 keys of 1 to 40 characters, each with a string of at most 500 characters (null deletes a key). Initially `{}`. */
  metadata?: Record<string, string | null>
  /** Signs deliveries: whsec_ and 24 to 64 random bytes in base64. Default: a new one. Must be whsec_ and 24 to 64 bytes in standard base64, or null. */
  secret?: string | null
  /** Whether the URL must agree first: it gets a signed POST of {"type": "verification", "challenge": …}, and must answer 2xx with {"challenge": …}, the same. Must be true or false. Initially `false`. */
  verify?: boolean
}

/** Fields left out stay as they are. */
export interface WebhookPatch {
  /** Where deliveries go: https, a public address, no user info, no fragment. Must be a string of 1 to 2048 characters (no U+0000). */
  url?: string
  /** Its purpose, for people. Must be a string of at most 255 characters (no U+0000), or null. */
  description?: string | null
  /** The events it receives: types, all of a kind (ticket.*), or all (*), also those that come later. Must be a list of 1 to 100 of teammate.deleted, customer.created, customer.updated, customer.deleted, conversation.created, conversation.assigned, conversation.unassigned, conversation.escalated, conversation.resolved, conversation.reopened, conversation.summarized, conversation.deleted, message.received, message.sent, message.deleted, note.created, note.updated, note.deleted, ticket.created, ticket.updated, ticket.status_changed, ticket.assigned, ticket.deleted, booking.created, booking.confirmed, booking.rescheduled, booking.cancelled, booking.completed, booking.no_show, booking.rejected, booking.deleted, endpoint.failing, endpoint.disabling_soon, endpoint.disabled, endpoint.recovered, teammate.*, *, customer.*, conversation.*, message.*, note.*, ticket.*, booking.*, endpoint.*. */
  events?: (
    | keyof EventData
    | 'teammate.*'
    | '*'
    | 'customer.*'
    | 'conversation.*'
    | 'message.*'
    | 'note.*'
    | 'ticket.*'
    | 'booking.*'
    | 'endpoint.*'
  )[]
  /** How deliveries are signed: by X-Service-Signature, and with standard by the headers of Standard Webhooks as well, and with v1a in these also by Ed25519. Must be a list of service, which cannot be left out, and standard, to which v1a may be added. Initially `["service"]`. */
  signatures?: ('service' | 'standard' | 'v1a')[]
  /** When it ends by itself, a minute from now at least: nothing is sent any more, and it is deleted with its log. Null: it does not end. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null. */
  expiresAt?: string | null
  /** Headers that are sent along, such as Authorization. Their values are stored encrypted and never shown. A PATCH replaces all of them. Must be an object of at most 10 headers, each a name of at most 64 characters with a string of 1 to 1024 printable ASCII characters, 4096 together; not host, connection, content-*, user-agent, x-service-*, webhook-* or others that the service sets, or null. */
  headers?: Record<string, string> | null
  /** The most attempts a second. Must be a whole number from 1 to 1000, or null. */
  rateLimit?: number | null
  /** The most attempts at once, instead of 16. Must be a whole number from 1 to 16, or null. */
  maxConcurrent?: number | null
  /** The body of a delivery: the envelope, or with mcp an occurrence of the events proposal of the Model Context Protocol, which 410 and 413 refuse for good. Must be one of envelope, mcp. Initially `"envelope"`. */
  format?: 'envelope' | 'mcp'
  /** The data of an event: the object, or with thin its id and object alone. Must be one of full, thin. Initially `"full"`. */
  payload?: 'full' | 'thin'
  /** Whether a Retry-After with a 429 or 503 puts off the next attempt beyond its delay, by a day at most. Must be true or false. Initially `false`. */
  honorRetryAfter?: boolean
  /** Whether an answer of 410 disables the endpoint. Must be true or false. Initially `false`. */
  disableOn410?: boolean
  /** An event is sent if all conditions hold of its object as it was then. Removals are always sent, unless one is on id. Must be a list of at most 10 conditions, each an object of field, op and value, or null. */
  conditions?:
    | {
        field: string
        op: 'equals' | 'in' | 'changed' | 'exists'
        value?: string | number | boolean | null | (string | number | boolean | null)[]
      }[]
    | null
  /** Whether changedFields in the envelope of a change names the fields that changed. Must be true or false. Initially `false`. */
  changedFields?: boolean
  /** Whether envelopes have `actor`, who caused the event, and `requestId`, the X-Request-Id of the request. Must be true or false. Initially `false`. */
  includeActor?: boolean
  /** Whether events that the registering key, or a session of it, has caused are left out: they are in the log as skipped. Must be true or false. Initially `false`. */
  skipOwn?: boolean
  /** Seconds for which an `updated` event waits: those of the same object that come meanwhile are sent as one, with the object as it then is; the others are in the log as skipped, with `coalescedInto`. Must be a whole number from 1 to 3600, or null. */
  coalesce?: number | null
  /** Strings of your own, for your programs: deliveries do not have them. A PATCH merges; null deletes a key. Must be an object of at most 20 keys of 1 to 40 characters, each with a string of at most 500 characters (null deletes a key). Initially `{}`. */
  metadata?: Record<string, string | null>
  /** active resets the failure count; paused keeps deliveries until it is active again. Must be one of active, paused, disabled. Initially `"active"`. */
  status?: 'active' | 'paused' | 'disabled'
}

/** What a request says. */
export interface WebhookRotation {
  /** Signs deliveries: whsec_ and 24 to 64 random bytes in base64. Default: a new one. Must be whsec_ and 24 to 64 bytes in standard base64, or null. */
  secret?: string | null
  /** How long the replaced secret still signs, in seconds, up to seven days; 0 ends it at once. Default: 24 hours, or what the operator has set. Must be a whole number from 0 to 604800, or null. */
  overlap?: number | null
}

/** One event on its way to one endpoint. It never holds the payload. */
export interface Delivery {
  /** Its id. */
  id: string
  /** Its kind. */
  object: 'delivery'
  /** Whose it is. */
  organizationId: string
  /** The endpoint it goes to. */
  webhookId: string
  /** The event: `id` of the envelope, the same on every attempt. */
  eventId: string
  /** The type of the event; `ping` for a ping. */
  eventType: string
  /** Its state; `skipped`: by the options of the endpoint nothing was to be sent, `lastError` says why. */
  status: Open<'pending' | 'succeeded' | 'failed' | 'skipped'>
  /** The delivery that is sent for this update too; absent where it is sent itself. */
  coalescedInto?: string
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
      | 'proxy_failed'
      | 'endpoint_disabled'
      | 'subject_unavailable'
      | 'worker_lost'
      | 'paused_too_long'
      | 'own_change'
      | 'conditions_not_met'
      | 'coalesced'
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
  /** When it was made: with its event, or later, by a recovery. */
  createdAt: string
  /** When it last changed. */
  updatedAt: string
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
      | 'proxy_failed'
      | 'endpoint_disabled'
      | 'subject_unavailable'
      | 'worker_lost'
      | 'paused_too_long'
      | 'own_change'
      | 'conditions_not_met'
      | 'coalesced'
    >
    message: string
  } | null
  /** How long it took, in milliseconds. */
  durationMs: number
  /** The beginning of the answer, 1 KiB at most, as text; null without the read scope of the event. */
  responseBody: string | null
}

/** The deliveries that are attempted now. */
export interface RetriedNow {
  /** Its kind. */
  object: 'retried_now'
  /** The endpoint. */
  webhookId: string
  /** Deliveries that are attempted now instead of later. */
  retried: number
  /** Whether others still wait: ask again. */
  hasMore: boolean
}

/** The replay of events that an endpoint missed. */
export interface Recovery {
  /** Its id. */
  id: string
  /** Its kind. */
  object: 'recovery'
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

/** What a request says. */
export interface RecoveryCreate {
  /** Events from here on, this moment included; no longer ago than the delivery log goes back. Earlier than the endpoint's createdAt is read as createdAt, unless includeBeforeCreation is true. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z. */
  since: string
  /** Events up to here, this moment included; by default all until now. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null. */
  until?: string | null
  /** Whether events from before the endpoint was registered are sent too. Must be true or false. Initially `false`. */
  includeBeforeCreation?: boolean
  /** Whether events that the receiver has answered with a 2xx are sent again, each as a new delivery. Must be true or false. Initially `false`. */
  includeSucceeded?: boolean
}

/** The counts of one step. */
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

/** The counts of all steps together. */
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

/** The counts, step by step. */
export interface Stats {
  /** Every step, the earliest first. */
  data: StatsPoint[]
  total: StatsTotal
}

/** A page of a list. */
export interface EventPage {
  /** The records of the page, in its order. */
  data: ListedEvent[]
  pagination: EventPagination
}

/** An event, as a delivery carries it. */
export interface ListedEvent {
  /** The event, as receivers deduplicate it. */
  id: string
  /** The type of the event. */
  type: Open<keyof EventData>
  /** The version of the envelope. */
  apiVersion: string
  /** When it happened. */
  createdAt: string
  /** Whose it is. */
  organizationId: string
  actor?: Actor
  /** The teammate in X-Acting-Teammate, with `include=actor`; absent without one. */
  onBehalfOf?: Actor
  /** The X-Request-Id of the request that caused it, with `include=actor`; null for the service itself. */
  requestId?: string | null
  /** The object now, or its removal record; null when it is gone. */
  data: Record<string, unknown> | null
}

/** Where a page of events stands. */
export interface EventPagination {
  /** The page size applied. */
  limit: number
  /** True while more events follow. */
  hasMore: boolean
  /** Send it as cursor to go on; it stays valid. */
  nextCursor: string
}

/** An API key, without its token. */
export interface ApiKey {
  /** Its id. It stays when its tokens change. */
  id: string
  /** Its kind. */
  object: 'api_key'
  /** Whose it is. */
  organizationId: string
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
  /** When it was made. */
  createdAt: string
  /** When it was last changed or rotated. */
  updatedAt: string
  /** When it was revoked; only where revoked keys are listed. */
  revokedAt?: string
  /** The key that revoked it; null: the operator. */
  revokedBy?: { id: string; name: string | null } | null
}

/** An API key as creation and rotation answer it. */
export interface ApiKeyWithToken {
  /** Its id. It stays when its tokens change. */
  id: string
  /** Its kind. */
  object: 'api_key'
  /** Whose it is. */
  organizationId: string
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
  /** When it was made. */
  createdAt: string
  /** When it was last changed or rotated. */
  updatedAt: string
  /** When it was revoked; only where revoked keys are listed. */
  revokedAt?: string
  /** The key that revoked it; null: the operator. */
  revokedBy?: { id: string; name: string | null } | null
  /** The token that calls carry as Authorization: Bearer. Shown only now: keep it. */
  token: string
}

/** What a request says. */
export interface ApiKeyCreate {
  /** Its purpose, for people. Must be a string of 1 to 255 characters (no U+0000). */
  name: string
  /** The calls that it may make. A key can grant only scopes that it holds itself. Must be a list of 1 to 100 of teammates:read, teammates:write, customers:read, customers:write, customers:erase, conversations:read, conversations:write, messages:read, messages:write, notes:read, notes:write, tickets:read, tickets:write, bookings:read, bookings:write, webhooks:read, webhooks:write, import, api_keys:manage, *. */
  scopes: Scope[]
  /** When it ceases to work, a time to come; null for never. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null. */
  expiresAt?: string | null
}

/** Fields left out stay as they are. */
export interface ApiKeyPatch {
  /** Its purpose, for people. Must be a string of 1 to 255 characters (no U+0000). */
  name?: string
  /** The calls that it may make. A key can grant only scopes that it holds itself. Must be a list of 1 to 100 of teammates:read, teammates:write, customers:read, customers:write, customers:erase, conversations:read, conversations:write, messages:read, messages:write, notes:read, notes:write, tickets:read, tickets:write, bookings:read, bookings:write, webhooks:read, webhooks:write, import, api_keys:manage, *. */
  scopes?: Scope[]
  /** When it ceases to work, a time to come; null for never. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null. */
  expiresAt?: string | null
}

/** A link to the console. */
export interface ConsoleLink {
  /** Its id. */
  id: string
  /** Its kind. */
  object: 'console_link'
  /** The scopes of its session. */
  scopes: Open<Scope>[]
  /** Opens the console, once. Its secret is behind the #, which browsers send to nobody. */
  url: string
  /** When link and session end, if not before. */
  expiresAt: string
}

/** A session of the console. */
export interface ConsoleSession {
  /** The id of its link, by which it is ended. */
  id: string
  /** Its kind. */
  object: 'console_session'
  /** Whose it is. */
  organizationId: string
  /** The calls that it may make. */
  scopes: Open<Scope>[]
  /** Says who calls, as the token of a key does. Shown this once. */
  token: string
  /** When it ends, if not before. */
  expiresAt: string
}

/** What a request says. */
export interface ConsoleLinkCreate {
  /** The scopes of its session, at most those of the key that makes it. It cannot manage keys. Must be a list of 1 to 100 of teammates:read, teammates:write, customers:read, customers:write, customers:erase, conversations:read, conversations:write, messages:read, messages:write, notes:read, notes:write, tickets:read, tickets:write, bookings:read, bookings:write, webhooks:read, webhooks:write, import. */
  scopes: Exclude<Scope, '*' | 'api_keys:manage'>[]
  /** After how many seconds link and session end; an hour unless given. Must be a whole number from 60 to 86400, or null. */
  expiresIn?: number | null
}

/** What a request says. */
export interface ConsoleLinkExchange {
  /** The part of the URL after #link=. Must be a string of 1 to 100 characters (no U+0000). */
  link: string
}

/** The owner of everything that a key can reach. */
export interface Organization {
  /** Its id: `organizationId` of everything that it owns. */
  id: string
  /** Its kind. */
  object: 'organization'
  /** Its name. */
  name: string
  /** Whether a booking is refused (409 booking_conflict) that overlaps with another of its assignee. */
  preventDoubleBooking: boolean
  /** When it was made. */
  createdAt: string
  /** When it was last changed. */
  updatedAt: string
}

/** Fields left out stay as they are. */
export interface OrganizationPatch {
  /** Its name. Must be a string of 1 to 255 characters (no U+0000). */
  name?: string
  /** Whether a booking is refused (409 booking_conflict) that overlaps with another of its assignee. Must be true or false. Initially `false`. */
  preventDoubleBooking?: boolean
}

/** Several filters must all hold. */
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

/** Several filters must all hold. */
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

/** Several filters must all hold. */
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
  assigneeId?: string | null | undefined
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

/** Several filters must all hold. */
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

/** Several filters must all hold. */
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

/** Several filters must all hold. */
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
  assigneeId?: string | null | undefined
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
  overdue?: true | 'true' | undefined
  /** It, or its customer has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503. */
  q?: string | undefined
}

/** Several filters must all hold. */
export interface BookingFilters {
  /** Has this customerId. */
  customerId?: string | undefined
  /** Has this status. */
  status?: 'pending' | 'confirmed' | 'cancelled' | 'completed' | 'no_show' | 'rejected' | undefined
  /** Has this assigneeId; `null`: has none. */
  assigneeId?: string | null | undefined
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

/** Several filters must all hold. */
export interface InboxFilters {
  /** Whether the customer waits for an answer. */
  awaitingReply?: boolean | 'true' | 'false' | undefined
  /** Has this customerId. */
  customerId?: string | undefined
  /** Has this channel. */
  channel?: 'email' | 'chat' | 'sms' | 'whatsapp' | 'phone' | 'api' | undefined
  /** Has this handledBy. */
  handledBy?: 'ai' | 'human' | undefined
  /** Has this assigneeId; `null`: has none. */
  assigneeId?: string | null | undefined
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

/** Several filters must all hold. */
export interface WebhookFilters {
  /** Has this status. */
  status?: 'active' | 'paused' | 'disabled' | undefined
  /** Created later than this, exclusive. */
  createdAfter?: string | undefined
  /** Created earlier than this, exclusive. */
  createdBefore?: string | undefined
}

/** Several filters must all hold. */
export interface DeliveryFilters {
  /** Has this status; `undelivered`: is pending or failed. */
  status?: 'pending' | 'succeeded' | 'failed' | 'skipped' | 'undelivered' | undefined
  /** Reports this. */
  eventType?: keyof EventData | 'ping' | undefined
  /** Reports the event with this id, which receivers get as `id` and `webhook-id`. */
  eventId?: string | undefined
  /** Created later than this, exclusive. */
  createdAfter?: string | undefined
  /** Created earlier than this, exclusive. */
  createdBefore?: string | undefined
}

/** Several filters must all hold. */
export interface AllDeliveryFilters {
  /** Has this status; `undelivered`: is pending or failed. */
  status?: 'pending' | 'succeeded' | 'failed' | 'skipped' | 'undelivered' | undefined
  /** Reports this. */
  eventType?: keyof EventData | 'ping' | undefined
  /** Reports the event with this id, which receivers get as `id` and `webhook-id`. */
  eventId?: string | undefined
  /** Created later than this, exclusive. */
  createdAfter?: string | undefined
  /** Created earlier than this, exclusive. */
  createdBefore?: string | undefined
  /** Goes to this endpoint; to one that does not exist, nothing does. */
  webhookId?: string | undefined
}

/** Several filters must all hold. */
export interface EventFilters {
  /** Of these types, separated by commas: of teammate.deleted, customer.created, customer.updated, customer.deleted, conversation.created, conversation.assigned, conversation.unassigned, conversation.escalated, conversation.resolved, conversation.reopened, conversation.summarized, conversation.deleted, message.received, message.sent, message.deleted, note.created, note.updated, note.deleted, ticket.created, ticket.updated, ticket.status_changed, ticket.assigned, ticket.deleted, booking.created, booking.confirmed, booking.rescheduled, booking.cancelled, booking.completed, booking.no_show, booking.rejected, booking.deleted, endpoint.failing, endpoint.disabling_soon, endpoint.disabled, endpoint.recovered. Default: all that the key may read. */
  types?: string | readonly string[] | undefined
  /** About the object with this id. */
  subject?: string | undefined
  /** Where to start, exclusive; without a cursor only. Default: the oldest event that is kept. */
  createdAfter?: string | undefined
  /** Also who caused each event, as `actor` and `requestId`. */
  include?: 'actor' | undefined
}

/** Several filters must all hold. */
export interface ApiKeyFilters {
  /** Created later than this, exclusive. */
  createdAfter?: string | undefined
  /** Created earlier than this, exclusive. */
  createdBefore?: string | undefined
  /** With `true`: instead those that were revoked in the last 30 days, the latest first. */
  revoked?: boolean | 'true' | 'false' | undefined
}

/** The calls of customers: those of every kind, and its own. */
export interface Customers
  extends ChangeableResource<Customer, CustomerCreate, CustomerPatch, CustomerFilters> {
  /** Erase a customer with everything of theirs. Removes the customer and its conversations, messages, notes, tickets, bookings in one commit, each with its removal record and event; then erases stored payloads, responses and receivers' answers about them. The answer is a receipt, of the kinds that the key may read, which names what is not erased yet. Causes `customer.deleted`, and can cause `conversation.deleted`, `message.deleted`, `note.deleted`, `ticket.deleted`, `booking.deleted`. Needs a key with the scope `customers:erase`. */
  erase(id: string, options?: CreateOptions): CallPromise<Erasure>

  /** Everything about one customer. The customer and each object that refers to it, whole. Needs customers:read, conversations:read, messages:read, notes:read, tickets:read, bookings:read. An answer that is no whole JSON was cut off. Needs a key with the scope `customers:read`. */
  exportOne(id: string, options?: CallOptions): CallPromise<CustomerExport>
}

/** The calls of conversations: those of every kind, and its own. */
export interface Conversations
  extends ChangeableResource<Conversation, ConversationCreate, ConversationPatch, ConversationFilters> {
  /** Hands it from an AI to a person. Causes `conversation.escalated`. Needs a key with the scope `conversations:write`. */
  escalate(id: string, options?: ActionOptions): CallPromise<Conversation>

  /** Closes it. Its summary is written some minutes later. Causes `conversation.resolved`. Needs a key with the scope `conversations:write`. */
  resolve(id: string, options?: ActionOptions): CallPromise<Conversation>

  /** Opens it again; resolvedAt, summary and summarizedAt become null. Causes `conversation.reopened`. Needs a key with the scope `conversations:write`. */
  reopen(id: string, options?: ActionOptions): CallPromise<Conversation>

  /** Writes the summary of a resolved conversation, as an AI outside does. Causes `conversation.summarized`. Needs a key with the scope `conversations:write`. */
  summarize(id: string, input: ConversationSummarize, options?: ActionOptions): CallPromise<Conversation>
}

/** The calls of bookings: those of every kind, and its own. */
export interface Bookings extends ChangeableResource<Booking, BookingCreate, BookingPatch, BookingFilters> {
  /** Confirms a pending booking. Causes `booking.confirmed`. Needs a key with the scope `bookings:write`. */
  confirm(id: string, options?: ActionOptions): CallPromise<Booking>

  /** Turns a pending booking down. Causes `booking.rejected`. Needs a key with the scope `bookings:write`. */
  reject(id: string, input?: BookingReject, options?: ActionOptions): CallPromise<Booking>

  /** Cancels a booking that has not taken place. Causes `booking.cancelled`. Needs a key with the scope `bookings:write`. */
  cancel(id: string, input: BookingCancel, options?: ActionOptions): CallPromise<Booking>

  /** Moves it to another time; it stays pending or confirmed. Causes `booking.rescheduled`. Needs a key with the scope `bookings:write`. */
  reschedule(id: string, input: BookingReschedule, options?: ActionOptions): CallPromise<Booking>

  /** It took place: from startAt on. Corrects a no-show too. Causes `booking.completed`. Needs a key with the scope `bookings:write`. */
  complete(id: string, options?: ActionOptions): CallPromise<Booking>

  /** The customer did not come: from startAt on. Corrects a completion too. Causes `booking.no_show`. Needs a key with the scope `bookings:write`. */
  noShow(id: string, options?: ActionOptions): CallPromise<Booking>
}

/** The calls of inbox. */
export interface Inbox {
  /** List open conversations by how long the customer waits. Conversations whose customer waits for an answer come first, the longest wait before others; then the rest, newest first. `total` counts to 1000. `lastMessage` is null for a key without `messages:read`. Needs a key with the scope `conversations:read`. */
  list(
    params?: {
      after?: string | undefined
      afterSince?: string | undefined
      awaitingReply?: boolean | 'true' | 'false' | undefined
      customerId?: string | undefined
      channel?: 'email' | 'chat' | 'sms' | 'whatsapp' | 'phone' | 'api' | undefined
      handledBy?: 'ai' | 'human' | undefined
      assigneeId?: string | null | undefined
      externalId?: string | undefined
      tag?: string | undefined
      customAttribute?: string | undefined
      createdAfter?: string | undefined
      createdBefore?: string | undefined
      q?: string | undefined
    } & { limit?: number | undefined },
    options?: CallOptions,
  ): PagedList<InboxEntry, InboxPage>

  /** Count the conversations of the inbox. Each count ends at 1000, which means that many or more. Needs a key with the scope `conversations:read`. */
  counts(params?: { assigneeId?: string | undefined }, options?: CallOptions): CallPromise<InboxCounts>
}

/**
 * The calls of webhooks.
 * - `list`: List endpoints. Needs a key with the scope `webhooks:read`.
 * - `create`: Register an endpoint. The key needs the read scope of every subscribed type as well. The secret is in this answer and nowhere else. Needs a key with the scope `webhooks:write`.
 * - `get`: Read an endpoint. Needs a key with the scope `webhooks:read`.
 * - `update`: Change an endpoint, pause or disable it, or make it active again. A change of url, events, signatures, status or conditions, and any of an endpoint of another key, needs the read scope of every subscribed type as well. A change of url or events, or to active, makes the caller the registrant; status active resets the failure count. standard is added to signatures only when every secret that signs is in standard base64, as new ones are. Needs a key with the scope `webhooks:write`.
 * - `delete`: Delete an endpoint with its log. Of another key: needs the read scope of every subscribed type as well. Needs a key with the scope `webhooks:write`.
 */
export interface Webhooks
  extends ChangeableObjects<Webhook, WebhookCreate, WebhookPatch, WebhookFilters, WebhookWithSecret> {
  /** Replace the secret; the old one signs as well for a while. At most 20 secrets sign, the new one among them. Sending the newest one again changes nothing. Needs the read scope of every subscribed type as well. Needs a key with the scope `webhooks:write`. */
  rotateSecret(id: string, input?: WebhookRotation, options?: CreateOptions): CallPromise<WebhookWithSecret>

  /** End the overlap: only the newest secret signs. Needs a key with the scope `webhooks:write`. */
  deletePreviousSecret(id: string, options?: CallOptions): CallPromise<void>

  /** Send a ping: one attempt, also while disabled. Needs a key with the scope `webhooks:write`. */
  ping(id: string, options?: CreateOptions): CallPromise<Delivery>

  /** The delivery log, newest first. Needs a key with the scope `webhooks:read`. */
  deliveries(id: string, params?: ListParams<DeliveryFilters>, options?: CallOptions): List<Delivery>

  /** Attempt now what waits for a later attempt. For an endpoint that is healthy again: deliveries that are pending are attempted at once instead of at the end of their delay; their schedules go on from there. Up to 5,000 a call, those that are due soonest first: while `hasMore` is true, ask again. Needs the read scope of every subscribed type as well. Needs a key with the scope `webhooks:write`. */
  retryNow(id: string, options?: CreateOptions): CallPromise<RetriedNow>

  /** Bring back what an endpoint has missed. For every event of a subscribed type in the window: a failed delivery is sent again, with its stored payload; a missing one is made, and reads anew. Pending and succeeded ones stay as they are; with `includeSucceeded`, succeeded ones are sent again. Goes on by itself: read the recovery to see how far it is. Needs the read scope of every subscribed type as well. Needs a key with the scope `webhooks:write`. */
  recover(id: string, input: RecoveryCreate, options?: CreateOptions): CallPromise<Recovery>

  /** An endpoint's recoveries, newest first. Needs a key with the scope `webhooks:read`. */
  recoveries(id: string, params?: ListParams<object>, options?: CallOptions): List<Recovery>

  /** Results of an endpoint's deliveries in steps of time. As GET /v1/stats. Changes are of the kinds that it is subscribed to and the key may read, whether or not the endpoint got them. Needs a key with the scope `webhooks:read`. */
  stats(
    id: string,
    params?: { from?: string | undefined; to?: string | undefined; step?: '1m' | '1h' | '1d' | undefined },
    options?: CallOptions,
  ): CallPromise<Stats>

  /** The addresses that deliveries come from. As CIDRs, for the firewall of a receiver; only where the operator has set them. Needs no key. */
  addresses(options?: CallOptions): CallPromise<{ addresses: string[] }>

  /** The public keys that verify deliveries. A JSON Web Key Set, for endpoints whose `signatures` include `v1a`. Two keys while the encryption key is rotated. Needs no key. */
  publicKeys(
    params?: { organizationId?: string | undefined },
    options?: CallOptions,
  ): CallPromise<{ keys: { kty: string; crv: string; x: string; kid: string; use: string; alg: string }[] }>
}

/** The calls of deliveries. */
export interface Deliveries {
  /** The delivery log of all endpoints, newest first. Needs a key with the scope `webhooks:read`. */
  list(params?: ListParams<AllDeliveryFilters>, options?: CallOptions): List<Delivery>

  /** Read a delivery. Needs a key with the scope `webhooks:read`. */
  get(webhookId: string, deliveryId: string, options?: CallOptions): CallPromise<Delivery>

  /** A delivery's attempts, newest first. `responseBody` is null for a key without the read scope of the event. Needs a key with the scope `webhooks:read`. */
  attempts(
    webhookId: string,
    deliveryId: string,
    params?: ListParams<object>,
    options?: CallOptions,
  ): List<Attempt>

  /** Read the body that the delivery would have now. Byte for byte what the next attempt sends as its body; of one that is not pending, what a retry would. Needs the read scope of its event as well. Needs a key with the scope `webhooks:read`. */
  payload(webhookId: string, deliveryId: string, options?: CallOptions): CallPromise<Record<string, unknown>>

  /** Send a failed delivery again. It goes out with the payload that was stored with its event, and the whole schedule begins anew. Needs the read scope of every subscribed type as well. Needs a key with the scope `webhooks:write`. */
  retry(webhookId: string, deliveryId: string, options?: CreateOptions): CallPromise<Delivery>

  /** Send an event that has arrived once more. Makes a new delivery of the same event, with the same event id; `data` is read anew. The delivery that has succeeded stays in the log as it is. Needs the read scope of every subscribed type as well. Needs a key with the scope `webhooks:write`. */
  resend(webhookId: string, deliveryId: string, options?: CreateOptions): CallPromise<Delivery>

  /** Results of deliveries, and changes, in steps of time. Steps are whole, in UTC: none before the one that the delivery log begins in, none after now. Changes are of the kinds that the key may read, each object where its latest change is. Needs a key with the scope `webhooks:read`. */
  stats(
    params?: { from?: string | undefined; to?: string | undefined; step?: '1m' | '1h' | '1d' | undefined },
    options?: CallOptions,
  ): CallPromise<Stats>
}

/** The calls of recoveries. */
export interface Recoveries {
  /** Read how far a recovery is. Needs a key with the scope `webhooks:read`. */
  get(webhookId: string, recoveryId: string, options?: CallOptions): CallPromise<Recovery>
}

/** The calls of events. */
export interface Events {
  /** Read events, oldest first. Every event that the key may read, each as a delivery would carry it now; `data` is null where its object is gone. The cursor of the last page stays valid and goes on later, with `wait` as soon as something happens; with `Accept: text/event-stream`, the pages come as server-sent events. Events are kept as long as the delivery log. Needs a key, whatever its scopes. */
  list(
    params?: {
      types?: string | readonly string[] | undefined
      subject?: string | undefined
      createdAfter?: string | undefined
      cursor?: string | undefined
      include?: 'actor' | undefined
      wait?: number | undefined
    } & { limit?: number | undefined },
    options?: CallOptions,
  ): PagedList<ListedEvent, EventPage>
}

/**
 * The calls of api-keys.
 * - `list`: List keys. Those that have expired are among them. Needs a key with the scope `api_keys:manage`.
 * - `create`: Make a key. A key can grant only scopes that it holds itself. The token is in this answer and nowhere else. Needs a key with the scope `api_keys:manage`.
 * - `get`: Read a key. Needs a key with the scope `api_keys:manage`.
 * - `update`: Change name, scopes or expiry of a key. Needs every scope of that key as well. Scopes can only become such as the caller holds. A key that has expired stays so. Needs a key with the scope `api_keys:manage`.
 * - `delete`: Revoke a key at once. Needs every scope of that key as well. The endpoints that it registered are disabled in the same commit. Needs a key with the scope `api_keys:manage`.
 */
export interface ApiKeys
  extends ChangeableObjects<ApiKey, ApiKeyCreate, ApiKeyPatch, ApiKeyFilters, ApiKeyWithToken> {
  /** Read the key that makes the call. For programs and pages that offer no more than their key may do. Needs a key, whatever its scopes. */
  self(options?: CallOptions): CallPromise<ApiKey>

  /** Replace the token; the old one works 24 hours more. Needs every scope of that key as well. Needs a key with the scope `api_keys:manage`. */
  rotate(id: string, options?: CreateOptions): CallPromise<ApiKeyWithToken>

  /** End the overlap: only the newest token works. Needs every scope of that key as well. Needs a key with the scope `api_keys:manage`. */
  deletePreviousToken(id: string, options?: CallOptions): CallPromise<void>
}

/** The calls of console-links. */
export interface ConsoleLinks {
  /** Make a link to the console for somebody without a key. The link works once: the console exchanges it for a session that may do what the link says, for the key that made it, and ends with the link, with that key, or when the link is deleted. A session cannot make links. Needs a key, whatever its scopes. */
  create(input: ConsoleLinkCreate, options?: CreateOptions): CallPromise<ConsoleLink>

  /** Exchange a link for the token of its session, once. Needs no key. The token is sent as the token of a key is. Needs no key. */
  exchange(input: ConsoleLinkExchange, options?: CallOptions): CallPromise<ConsoleSession>

  /** End a link and its session at once. By the key that made it, by a key with api_keys:manage, or by the session itself, for which the id is in the answer to its exchange. Needs a key, whatever its scopes. */
  delete(id: string, options?: CallOptions): CallPromise<void>
}

/** The calls of organization. */
export interface OrganizationCalls {
  /** Read the organization. Needs a key, whatever its scopes. */
  get(options?: CallOptions): CallPromise<Organization>

  /** Change the organization. Needs a key with the scope `api_keys:manage`. */
  update(input: OrganizationPatch, options?: CallOptions): CallPromise<Organization>
}

/** The calls of organizations. */
export interface Organizations {
  /** List organizations, the oldest first. Needs the key of the operator. */
  list(options?: CallOptions): CallPromise<TenantList>

  /** Create an organization with its first key. Needs the key of the operator. */
  create(input: TenantCreate, options?: CreateOptions): CallPromise<TenantKey>

  /** Read an organization. Needs the key of the operator. */
  get(id: string, options?: CallOptions): CallPromise<Tenant>

  /** Delete an organization and everything of it. Needs the key of the operator. */
  delete(id: string, options?: CallOptions): CallPromise<TenantDeletion>

  /** Refuse the keys of an organization and hold its deliveries. Needs the key of the operator. */
  suspend(id: string, options?: CreateOptions): CallPromise<Tenant>

  /** End the suspension of an organization. Needs the key of the operator. */
  resume(id: string, options?: CreateOptions): CallPromise<Tenant>

  /** Make a key of an organization. Needs the key of the operator. */
  createKey(id: string, input: TenantKeyCreate, options?: CreateOptions): CallPromise<TenantKey>

  /** Move an organization to another database. Needs the key of the operator. */
  move(id: string, input: TenantMoveTo, options?: CreateOptions): CallPromise<TenantMove>
}

/** Every resource of a client, by its name. */
export interface Resources {
  readonly teammates: ChangeableResource<Teammate, TeammateCreate, TeammatePatch, TeammateFilters>
  readonly customers: Customers
  readonly conversations: Conversations
  readonly messages: Resource<Message, MessageCreate, MessageFilters>
  readonly notes: ChangeableResource<Note, NoteCreate, NotePatch, NoteFilters>
  readonly tickets: ChangeableResource<Ticket, TicketCreate, TicketPatch, TicketFilters>
  readonly bookings: Bookings
  readonly inbox: Inbox
  readonly webhooks: Webhooks
  readonly deliveries: Deliveries
  readonly recoveries: Recoveries
  readonly events: Events
  readonly apiKeys: ApiKeys
  readonly consoleLinks: ConsoleLinks
  readonly organization: OrganizationCalls
}

export const resources = (send: Send): Resources => ({
  teammates: new ChangeableResource(send, 'teammates'),
  customers: withMethods(
    send,
    {
      erase: 'POST /customers/{}/erase',
      exportOne: 'GET /customers/{}/export document',
    },
    new ChangeableResource(send, 'customers'),
  ),
  conversations: withMethods(
    send,
    {
      escalate: 'POST /conversations/{}/escalate',
      resolve: 'POST /conversations/{}/resolve',
      reopen: 'POST /conversations/{}/reopen',
      summarize: 'POST /conversations/{}/summarize body',
    },
    new ChangeableResource(send, 'conversations'),
  ),
  messages: new Resource(send, 'messages'),
  notes: new ChangeableResource(send, 'notes'),
  tickets: new ChangeableResource(send, 'tickets'),
  bookings: withMethods(
    send,
    {
      confirm: 'POST /bookings/{}/confirm',
      reject: 'POST /bookings/{}/reject body',
      cancel: 'POST /bookings/{}/cancel body',
      reschedule: 'POST /bookings/{}/reschedule body',
      complete: 'POST /bookings/{}/complete',
      noShow: 'POST /bookings/{}/no-show',
    },
    new ChangeableResource(send, 'bookings'),
  ),
  inbox: withMethods(send, {
    list: 'GET /inbox wait',
    counts: 'GET /inbox/counts query',
  }),
  webhooks: withMethods(
    send,
    {
      rotateSecret: 'POST /webhooks/{}/rotate-secret body',
      deletePreviousSecret: 'DELETE /webhooks/{}/previous-secret',
      ping: 'POST /webhooks/{}/ping',
      deliveries: 'GET /webhooks/{}/deliveries list',
      retryNow: 'POST /webhooks/{}/retry-now',
      recover: 'POST /webhooks/{}/recover body',
      recoveries: 'GET /webhooks/{}/recoveries list',
      stats: 'GET /webhooks/{}/stats query',
      addresses: 'GET /../.well-known/webhook-addresses.json',
      publicKeys: 'GET /../.well-known/jwks.json query',
    },
    new ChangeableObjects(send, 'webhooks'),
  ),
  deliveries: withMethods(send, {
    list: 'GET /deliveries list',
    get: 'GET /webhooks/{}/deliveries/{}',
    attempts: 'GET /webhooks/{}/deliveries/{}/attempts list',
    payload: 'GET /webhooks/{}/deliveries/{}/payload',
    retry: 'POST /webhooks/{}/deliveries/{}/retry',
    resend: 'POST /webhooks/{}/deliveries/{}/resend',
    stats: 'GET /stats query',
  }),
  recoveries: withMethods(send, {
    get: 'GET /webhooks/{}/recoveries/{}',
  }),
  events: withMethods(send, {
    list: 'GET /events cursor',
  }),
  apiKeys: withMethods(
    send,
    {
      self: 'GET /api-keys/self',
      rotate: 'POST /api-keys/{}/rotate',
      deletePreviousToken: 'DELETE /api-keys/{}/previous-token',
    },
    new ChangeableObjects(send, 'api-keys'),
  ),
  consoleLinks: withMethods(send, {
    create: 'POST /console-links body',
    exchange: 'POST /console-links/exchange body',
    delete: 'DELETE /console-links/{}',
  }),
  organization: withMethods(send, {
    get: 'GET /organization',
    update: 'PATCH /organization body',
  }),
})

/** Every resource of a client of the operator, by its name. */
export interface AdminResources {
  readonly organizations: Organizations
}

export const adminResources = (send: Send): AdminResources => ({
  organizations: withMethods(send, {
    list: 'GET /../admin/v1/organizations',
    create: 'POST /../admin/v1/organizations body',
    get: 'GET /../admin/v1/organizations/{}',
    delete: 'DELETE /../admin/v1/organizations/{}',
    suspend: 'POST /../admin/v1/organizations/{}/suspend',
    resume: 'POST /../admin/v1/organizations/{}/resume',
    createKey: 'POST /../admin/v1/organizations/{}/keys body',
    move: 'POST /../admin/v1/organizations/{}/move body',
  }),
})
