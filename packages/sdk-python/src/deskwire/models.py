"""Made by npm run generate from openapi.json."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from .stream import Checkpoint

ErrorCode = Literal["malformed_request", "malformed_json", "invalid_parameter", "invalid_cursor", "filter_not_allowed_in_sync", "unauthorized", "key_expired", "insufficient_scope", "not_found", "method_not_allowed", "request_timeout", "body_too_large", "unsupported_media_type", "duplicate", "booking_conflict", "delivery_succeeded", "delivery_failed", "delivery_skipped", "delivery_pending", "webhook_disabled", "limit_reached", "last_managing_key", "invalid_transition", "ticket_closed", "cursor_too_old", "version_mismatch", "validation_failed", "url_not_https", "url_not_public", "url_not_resolvable", "receiver_not_verified", "idempotency_key_reused", "rate_limited", "headers_too_large", "internal_error", "unavailable"]
"""What errors are told apart by. Later versions may know more."""

class FieldError(TypedDict):
    """A place of a body that is wrong."""

    pointer: str
    """JSON pointer into the body."""
    code: Literal["required", "unknown_field", "read_only", "invalid_type", "invalid_format", "invalid_value", "too_short", "too_long", "too_many", "unknown_reference"] | str
    """The fault."""
    detail: str
    """The values that are accepted."""


class Removed(TypedDict):
    """A removed row in a sync. Check `object` before any other field."""

    object: Literal["removed"]
    """Distinguishes it from a row."""
    id: str
    """Of the removed row."""
    resource: str
    """The kind of the removed row."""
    removedAt: str
    """Its place in the stream, the same in the *.deleted event."""


class Written(TypedDict):
    """The response about an object to a key that may write its kind and not read it: no values of the object."""

    id: str
    """Its id."""
    object: str
    """Its kind."""
    updatedAt: str
    """Its version."""


class Tenant(TypedDict):
    """An organization, as its operator sees it."""

    organizationId: str
    """Its id."""
    name: str
    """Its name."""
    status: Literal["active", "suspended", "deleting"] | str
    """Whether its keys work."""
    suspendedAt: str | None
    """When it was suspended; null where it is not."""
    createdAt: str
    """When it was made."""
    keys: int
    """Its keys that are not revoked."""
    rows: int
    """Its objects."""
    bytes: int
    """Of their representations."""
    database: str | None
    """Its database; null where there is one."""


class TenantList(TypedDict):
    """All organizations."""

    data: list[Tenant]
    """The oldest first."""


class TenantKey(TypedDict):
    """A key that was made."""

    organizationId: str
    """Its id."""
    apiKeyId: str
    """The id of the key."""
    token: str
    """The key, shown this once."""


class TenantDeletion(TypedDict):
    """A deletion."""

    organizationId: str
    """Its id."""
    rows: int
    """How many objects it deleted."""


TenantMove = TypedDict("TenantMove", {
    "organizationId": str,
    "outcome": Literal["moved", "unchanged"] | str,
    "from": str,
    "to": str,
    "rows": int,
    "paused": int | None,
})
"""A move."""


class _TenantCreateRequired(TypedDict):
    name: str
    """Its name. Must be a string of 1 to 255 characters (no U+0000)."""


class TenantCreate(_TenantCreateRequired, total=False):
    database: str | None
    """Its database. Must be a string of 1 to 255 characters (no U+0000), or null."""


class TenantKeyCreate(TypedDict):
    name: str
    """Its name. Must be a string of 1 to 255 characters (no U+0000)."""
    scopes: list[Literal["teammates:read", "teammates:write", "customers:read", "customers:write", "customers:erase", "conversations:read", "conversations:write", "messages:read", "messages:write", "notes:read", "notes:write", "tickets:read", "tickets:write", "bookings:read", "bookings:write", "webhooks:read", "webhooks:write", "import", "api_keys:manage", "*"]]
    """Its scopes. Must be a list of 1 to 100 of teammates:read, teammates:write, customers:read, customers:write, customers:erase, conversations:read, conversations:write, messages:read, messages:write, notes:read, notes:write, tickets:read, tickets:write, bookings:read, bookings:write, webhooks:read, webhooks:write, import, api_keys:manage, *."""


class TenantMoveTo(TypedDict):
    to: str
    """Its next database. Must be a string of 1 to 255 characters (no U+0000)."""


class Teammate(TypedDict):
    """A person who works at the desk."""

    id: str
    """Its id."""
    object: Literal["teammate"]
    """Its kind."""
    organizationId: str
    """Whose it is."""
    createdAt: str
    """When it was made."""
    name: str
    """Full name. No event: sync only."""
    email: str | None
    """Stored in lower case and Unicode NFC. No event: sync only."""
    active: bool
    """Whether work can be assigned. No event: sync only."""
    updatedAt: str
    """Its version, and its place in the stream: later than every change committed before."""


class _TeammateCreateRequired(TypedDict):
    name: str
    """Full name. Must be a string of 1 to 255 characters (no U+0000)."""


class TeammateCreate(_TeammateCreateRequired, total=False):
    email: str | None
    """Stored in lower case and Unicode NFC. Must be an email address of at most 320 characters, or null."""
    active: bool
    """Whether work can be assigned. Must be true or false. Initially `true`."""


class TeammatePatch(TypedDict, total=False):
    """Fields left out stay as they are."""

    name: str
    """Full name. Must be a string of 1 to 255 characters (no U+0000)."""
    email: str | None
    """Stored in lower case and Unicode NFC. Must be an email address of at most 320 characters, or null."""
    active: bool
    """Whether work can be assigned. Must be true or false. Initially `true`."""


class _TeammateImportRequired(TypedDict):
    name: str
    """Full name. Must be a string of 1 to 255 characters (no U+0000)."""


class TeammateImport(_TeammateImportRequired, total=False):
    """A teammate with its past. Times are not before its createdAt, nor in the future."""

    createdAt: str | None
    """When it was made. Now, unless given. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    email: str | None
    """Stored in lower case and Unicode NFC. Must be an email address of at most 320 characters, or null."""
    active: bool
    """Whether work can be assigned. Must be true or false. Initially `true`."""


class Customer(TypedDict):
    """A person or company the organization talks with."""

    id: str
    """Its id."""
    object: Literal["customer"]
    """Its kind."""
    organizationId: str
    """Whose it is."""
    createdAt: str
    """When it was made."""
    name: str | None
    """Full name. Reported by `customer.updated`."""
    company: str | None
    """The company that the customer belongs to. Reported by `customer.updated`."""
    email: str | None
    """Stored in lower case and Unicode NFC. Reported by `customer.updated`."""
    phone: str | None
    """Telephone number, E.164. Reported by `customer.updated`."""
    locale: str | None
    """Preferred language, BCP 47. Reported by `customer.updated`."""
    timezone: str | None
    """Time zone, IANA. Reported by `customer.updated`."""
    externalId: str | None
    """Your own id of it. Reported by `customer.updated`."""
    tags: list[str]
    """Labels. Repeats are dropped. Reported by `customer.updated`."""
    customAttributes: dict[str, str | float | bool]
    """Named values of your own. A PATCH merges; null deletes a key. Reported by `customer.updated`."""
    updatedAt: str
    """Its version, and its place in the stream: later than every change committed before."""


class CustomerCreate(TypedDict, total=False):
    """At least one of name, email, phone and externalId must have a value."""

    name: str | None
    """Full name. Must be a string of at most 255 characters (no U+0000), or null."""
    company: str | None
    """The company that the customer belongs to. Must be a string of at most 255 characters (no U+0000), or null."""
    email: str | None
    """Stored in lower case and Unicode NFC. Must be an email address of at most 320 characters, or null. Unique in the organization."""
    phone: str | None
    """Telephone number, E.164. Must be a telephone number in E.164, for example +4930123456, or null."""
    locale: str | None
    """Preferred language, BCP 47. Must be a language tag (BCP 47), for example en-GB, or null."""
    timezone: str | None
    """Time zone, IANA. Must be an IANA time zone, for example Europe/Berlin, or null."""
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""


class CustomerPatch(TypedDict, total=False):
    """Fields left out stay as they are. At least one of name, email, phone and externalId must have a value."""

    name: str | None
    """Full name. Must be a string of at most 255 characters (no U+0000), or null."""
    company: str | None
    """The company that the customer belongs to. Must be a string of at most 255 characters (no U+0000), or null."""
    email: str | None
    """Stored in lower case and Unicode NFC. Must be an email address of at most 320 characters, or null. Unique in the organization."""
    phone: str | None
    """Telephone number, E.164. Must be a telephone number in E.164, for example +4930123456, or null."""
    locale: str | None
    """Preferred language, BCP 47. Must be a language tag (BCP 47), for example en-GB, or null."""
    timezone: str | None
    """Time zone, IANA. Must be an IANA time zone, for example Europe/Berlin, or null."""
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""


class CustomerImport(TypedDict, total=False):
    """A customer with its past. Times are not before its createdAt, nor in the future."""

    createdAt: str | None
    """When it was made. Now, unless given. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    name: str | None
    """Full name. Must be a string of at most 255 characters (no U+0000), or null."""
    company: str | None
    """The company that the customer belongs to. Must be a string of at most 255 characters (no U+0000), or null."""
    email: str | None
    """Stored in lower case and Unicode NFC. Must be an email address of at most 320 characters, or null. Unique in the organization."""
    phone: str | None
    """Telephone number, E.164. Must be a telephone number in E.164, for example +4930123456, or null."""
    locale: str | None
    """Preferred language, BCP 47. Must be a language tag (BCP 47), for example en-GB, or null."""
    timezone: str | None
    """Time zone, IANA. Must be an IANA time zone, for example Europe/Berlin, or null."""
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""


class _CustomerUpsertRequired(TypedDict):
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""


class CustomerUpsert(_CustomerUpsertRequired, total=False):
    """Whole, it creates an object where there is none. Fields that only creation can set may be repeated as they are."""

    name: str | None
    """Full name. Must be a string of at most 255 characters (no U+0000), or null."""
    company: str | None
    """The company that the customer belongs to. Must be a string of at most 255 characters (no U+0000), or null."""
    email: str | None
    """Stored in lower case and Unicode NFC. Must be an email address of at most 320 characters, or null. Unique in the organization."""
    phone: str | None
    """Telephone number, E.164. Must be a telephone number in E.164, for example +4930123456, or null."""
    locale: str | None
    """Preferred language, BCP 47. Must be a language tag (BCP 47), for example en-GB, or null."""
    timezone: str | None
    """Time zone, IANA. Must be an IANA time zone, for example Europe/Berlin, or null."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""


class _ErasureRequired(TypedDict):
    object: Literal["erasure"]
    """Distinguishes it from a row."""
    resource: str
    """The kind of who was erased."""
    id: str
    """Who was erased."""
    erasedAt: str
    """The `removedAt` of every removal record."""
    removed: dict[str, int]
    """How many objects were removed, by kind; of the kinds that the key may read."""
    checkpoint: dict[str, Checkpoint]
    """The checkpoint of each of these kinds at `erasedAt`."""


class Erasure(_ErasureRequired, total=False):
    """The receipt of an erase."""

    remaining: list[Literal["payloads"]]
    """Parts that are still being erased; absent when none are. `payloads`: stored payloads, responses and answers of receivers. Repeat the request with its Idempotency-Key to see when it is done."""


class CustomerExport(TypedDict):
    """Everything about one customer."""

    object: Literal["customer_export"]
    """Distinguishes it from a row."""
    customer: Customer
    conversations: list[Conversation]
    """The oldest first."""
    messages: list[Message]
    """The oldest first."""
    notes: list[Note]
    """The oldest first."""
    tickets: list[Ticket]
    """The oldest first."""
    bookings: list[Booking]
    """The oldest first."""


class Conversation(TypedDict):
    """A thread of messages with a customer."""

    id: str
    """Its id."""
    object: Literal["conversation"]
    """Its kind."""
    organizationId: str
    """Whose it is."""
    createdAt: str
    """When it was made."""
    channel: Literal["email", "chat", "sms", "whatsapp", "phone", "api"] | str
    """Where it takes place. Set at creation: reported by `conversation.created`."""
    subject: str | None
    """The subject, as its list shows it. No event: sync only."""
    status: Literal["open", "resolved"] | str
    """Moved by the actions resolve and reopen, and back to open by an inbound message. Reported by `conversation.resolved` or `conversation.reopened`."""
    handledBy: Literal["ai", "human"] | str
    """Who answers. Escalation or assignment moves the conversation from an AI to a person. Reported by `conversation.escalated`, some changes also by `conversation.assigned`."""
    assigneeId: str | None
    """The teammate who answers. Reported by `conversation.assigned`, `conversation.unassigned` or `conversation.escalated`. No event reports that it loses a deleted object: sync only."""
    escalatedAt: str | None
    """When it was handed to a person. Reported by `conversation.escalated`, some changes also by `conversation.assigned`."""
    resolvedAt: str | None
    """When it was last resolved; null while it is open. Reported by `conversation.resolved` or `conversation.reopened`."""
    lastMessageAt: str | None
    """The latest sentAt of its messages. No event: sync only."""
    summary: str | None
    """A summary of the messages, written some minutes after resolution; null until then. Unless a model or an AI of yours writes it, it repeats sentences of the messages, also to keys that may not read messages. Reported by `conversation.summarized` or `conversation.reopened`."""
    summarizedAt: str | None
    """When the summary was written. Of an import resolved without a summary: when it was resolved, as none is written. Reported by `conversation.summarized` or `conversation.reopened`."""
    externalId: str | None
    """Your own id of it. No event: sync only."""
    tags: list[str]
    """Labels. Repeats are dropped. No event: sync only."""
    customAttributes: dict[str, str | float | bool]
    """Named values of your own. A PATCH merges; null deletes a key. No event: sync only."""
    customerId: str | None
    """Who the conversation is with. Becomes null when the customer is deleted. Set at creation: reported by `conversation.created`. No event reports that it loses a deleted object: sync only."""
    updatedAt: str
    """Its version, and its place in the stream: later than every change committed before."""


class _ConversationCreateRequired(TypedDict):
    customerId: str
    """Who the conversation is with. Becomes null when the customer is deleted. Must be the id (a UUID) of a customer."""
    channel: Literal["email", "chat", "sms", "whatsapp", "phone", "api"]
    """Where it takes place. Must be one of email, chat, sms, whatsapp, phone, api."""


class ConversationCreate(_ConversationCreateRequired, total=False):
    subject: str | None
    """The subject, as its list shows it. Must be a string of at most 255 characters (no U+0000), or null."""
    handledBy: Literal["ai", "human"]
    """Who answers. Escalation or assignment moves the conversation from an AI to a person. Must be one of ai, human. Initially `"human"`."""
    assigneeId: str | None
    """The teammate who answers. Must be the id (a UUID) of a teammate, or null."""
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""


class ConversationSummarize(TypedDict):
    summary: str
    """A summary of the messages. Must be a string of 1 to 10000 characters (no U+0000)."""


class ConversationPatch(TypedDict, total=False):
    """Fields left out stay as they are."""

    subject: str | None
    """The subject, as its list shows it. Must be a string of at most 255 characters (no U+0000), or null."""
    assigneeId: str | None
    """The teammate who answers. Must be the id (a UUID) of a teammate, or null."""
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""


class _ConversationImportRequired(TypedDict):
    channel: Literal["email", "chat", "sms", "whatsapp", "phone", "api"]
    """Where it takes place. Must be one of email, chat, sms, whatsapp, phone, api."""


class ConversationImport(_ConversationImportRequired, total=False):
    """A conversation with its past. Times are not before its createdAt, nor in the future."""

    createdAt: str | None
    """When it was made. Now, unless given. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    customerId: str | None
    """Who the conversation is with. Becomes null when the customer is deleted. Must be the id (a UUID) of a customer, or null."""
    subject: str | None
    """The subject, as its list shows it. Must be a string of at most 255 characters (no U+0000), or null."""
    status: Literal["open", "resolved"]
    """Moved by the actions resolve and reopen, and back to open by an inbound message. Must be one of open, resolved. Initially `"open"`."""
    handledBy: Literal["ai", "human"]
    """Who answers. Escalation or assignment moves the conversation from an AI to a person. Must be one of ai, human. Initially `"human"`."""
    assigneeId: str | None
    """The teammate who answers. Must be the id (a UUID) of a teammate, or null."""
    escalatedAt: str | None
    """When it was handed to a person. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    resolvedAt: str | None
    """When it was last resolved; null while it is open. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    lastMessageAt: str | None
    """The latest sentAt of its messages. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    summary: str | None
    """A summary of the messages, written some minutes after resolution; null until then. Unless a model or an AI of yours writes it, it repeats sentences of the messages, also to keys that may not read messages. Must be a string of at most 10000 characters (no U+0000), or null."""
    summarizedAt: str | None
    """When the summary was written. Of an import resolved without a summary: when it was resolved, as none is written. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""
    customerExternalId: str
    """Instead of customerId: the externalId of the customer."""


class _ConversationUpsertRequired(TypedDict):
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""


class ConversationUpsert(_ConversationUpsertRequired, total=False):
    """Whole, it creates an object where there is none. Fields that only creation can set may be repeated as they are."""

    customerId: str
    """Who the conversation is with. Becomes null when the customer is deleted. Must be the id (a UUID) of a customer."""
    channel: Literal["email", "chat", "sms", "whatsapp", "phone", "api"]
    """Where it takes place. Must be one of email, chat, sms, whatsapp, phone, api."""
    subject: str | None
    """The subject, as its list shows it. Must be a string of at most 255 characters (no U+0000), or null."""
    handledBy: Literal["ai", "human"]
    """Who answers. Escalation or assignment moves the conversation from an AI to a person. Must be one of ai, human. Initially `"human"`."""
    assigneeId: str | None
    """The teammate who answers. Must be the id (a UUID) of a teammate, or null."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""


class _MessageAuthorRequired(TypedDict):
    type: Literal["customer", "teammate", "ai", "system"]


class MessageAuthor(_MessageAuthorRequired, total=False):
    id: str
    name: str


class MessageAttachments(TypedDict):
    fileName: str
    contentType: str
    sizeBytes: int
    url: str


class Message(TypedDict):
    """Something said in a conversation. It never changes."""

    id: str
    """Its id."""
    object: Literal["message"]
    """Its kind."""
    organizationId: str
    """Whose it is."""
    createdAt: str
    """When it was made."""
    conversationId: str
    """The conversation it belongs to. Set at creation: reported by `message.received` or `message.sent`."""
    direction: Literal["inbound", "outbound"] | str
    """inbound from the customer, outbound to the customer. Set at creation: reported by `message.received` or `message.sent`."""
    author: MessageAuthor
    """Who wrote it. Of an inbound message the customer, and of no other. Set at creation: reported by `message.received` or `message.sent`. No event reports that it loses a deleted object: sync only."""
    body: str | None
    """The text. Required unless there are attachments. Set at creation: reported by `message.received` or `message.sent`."""
    contentType: Literal["text", "html", "markdown"] | str
    """How the body is written. Set at creation: reported by `message.received` or `message.sent`."""
    attachments: list[MessageAttachments]
    """Links to files; the files themselves are kept elsewhere. Set at creation: reported by `message.received` or `message.sent`."""
    sentAt: str
    """When it was sent. Now, unless given. Set at creation: reported by `message.received` or `message.sent`."""
    channel: Literal["email", "chat", "sms", "whatsapp", "phone", "api"] | str
    """The conversation's. Set at creation: reported by `message.received` or `message.sent`."""
    externalId: str | None
    """Your own id of it. Set at creation: reported by `message.received` or `message.sent`."""
    customerId: str | None
    """The conversation's. Becomes null when the customer is deleted. Set at creation: reported by `message.received` or `message.sent`. No event reports that it loses a deleted object: sync only."""
    updatedAt: str
    """Its version, and its place in the stream: later than every change committed before."""


class _MessageCreateAuthorRequired(TypedDict):
    type: Literal["customer", "teammate", "ai", "system"]


class MessageCreateAuthor(_MessageCreateAuthorRequired, total=False):
    id: str
    name: str


class MessageCreateAttachments(TypedDict):
    fileName: str
    contentType: str
    sizeBytes: int
    url: str


class _MessageCreateRequired(TypedDict):
    conversationId: str
    """The conversation it belongs to. Must be the id (a UUID) of a conversation."""
    direction: Literal["inbound", "outbound"]
    """inbound from the customer, outbound to the customer. Must be one of inbound, outbound."""
    author: MessageCreateAuthor
    """Who wrote it. Of an inbound message the customer, and of no other. Must be an object {type, id, name}: type customer, teammate, ai or system; id, optional, a teammate; name, optional, 1 to 255 characters."""


class MessageCreate(_MessageCreateRequired, total=False):
    body: str | None
    """The text. Required unless there are attachments. Must be a string of at most 64000 characters (no U+0000), or null."""
    contentType: Literal["text", "html", "markdown"]
    """How the body is written. Must be one of text, html, markdown. Initially `"text"`."""
    attachments: list[MessageCreateAttachments]
    """Links to files; the files themselves are kept elsewhere. Must be a list of at most 15 objects {fileName, contentType, sizeBytes, url}: a media type, a whole number of bytes, an http or https link. Initially `[]`."""
    sentAt: str | None
    """When it was sent. Now, unless given. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""


class _MessageImportAuthorRequired(TypedDict):
    type: Literal["customer", "teammate", "ai", "system"]


class MessageImportAuthor(_MessageImportAuthorRequired, total=False):
    id: str
    name: str


class MessageImportAttachments(TypedDict):
    fileName: str
    contentType: str
    sizeBytes: int
    url: str


class _MessageImportRequired(TypedDict):
    direction: Literal["inbound", "outbound"]
    """inbound from the customer, outbound to the customer. Must be one of inbound, outbound."""
    author: MessageImportAuthor
    """Who wrote it. Of an inbound message the customer, and of no other. Must be an object {type, id, name}: type customer, teammate, ai or system; id, optional, a teammate; name, optional, 1 to 255 characters."""


class MessageImport(_MessageImportRequired, total=False):
    """A message with its past. Times are not before its createdAt, nor in the future."""

    createdAt: str | None
    """When it was made. Now, unless given. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    conversationId: str
    """The conversation it belongs to. Must be the id (a UUID) of a conversation."""
    body: str | None
    """The text. Required unless there are attachments. Must be a string of at most 64000 characters (no U+0000), or null."""
    contentType: Literal["text", "html", "markdown"]
    """How the body is written. Must be one of text, html, markdown. Initially `"text"`."""
    attachments: list[MessageImportAttachments]
    """Links to files; the files themselves are kept elsewhere. Must be a list of at most 15 objects {fileName, contentType, sizeBytes, url}: a media type, a whole number of bytes, an http or https link. Initially `[]`."""
    sentAt: str | None
    """When it was sent. Now, unless given. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""
    conversationExternalId: str
    """Instead of conversationId: the externalId of the conversation."""


class _NoteAuthorRequired(TypedDict):
    type: Literal["teammate", "ai", "system"]


class NoteAuthor(_NoteAuthorRequired, total=False):
    id: str
    name: str


class Note(TypedDict):
    """An internal note on a conversation. The customer never sees it."""

    id: str
    """Its id."""
    object: Literal["note"]
    """Its kind."""
    organizationId: str
    """Whose it is."""
    createdAt: str
    """When it was made."""
    conversationId: str
    """The conversation it is about. Set at creation: reported by `note.created`."""
    author: NoteAuthor
    """Who wrote it. Set at creation: reported by `note.created`. No event reports that it loses a deleted object: sync only."""
    body: str
    """The text. The customer never sees it. Reported by `note.updated`."""
    customerId: str | None
    """The conversation's. Becomes null when the customer is deleted. No event: sync only."""
    updatedAt: str
    """Its version, and its place in the stream: later than every change committed before."""


class _NoteCreateAuthorRequired(TypedDict):
    type: Literal["teammate", "ai", "system"]


class NoteCreateAuthor(_NoteCreateAuthorRequired, total=False):
    id: str
    name: str


class NoteCreate(TypedDict):
    conversationId: str
    """The conversation it is about. Must be the id (a UUID) of a conversation."""
    author: NoteCreateAuthor
    """Who wrote it. Must be an object {type, id, name}: type teammate, ai or system; id, optional, a teammate; name, optional, 1 to 255 characters."""
    body: str
    """The text. The customer never sees it. Must be a string of 1 to 64000 characters (no U+0000)."""


class NotePatch(TypedDict, total=False):
    """Fields left out stay as they are."""

    body: str
    """The text. The customer never sees it. Must be a string of 1 to 64000 characters (no U+0000)."""


class _NoteImportAuthorRequired(TypedDict):
    type: Literal["teammate", "ai", "system"]


class NoteImportAuthor(_NoteImportAuthorRequired, total=False):
    id: str
    name: str


class _NoteImportRequired(TypedDict):
    author: NoteImportAuthor
    """Who wrote it. Must be an object {type, id, name}: type teammate, ai or system; id, optional, a teammate; name, optional, 1 to 255 characters."""
    body: str
    """The text. The customer never sees it. Must be a string of 1 to 64000 characters (no U+0000)."""


class NoteImport(_NoteImportRequired, total=False):
    """A note with its past. Times are not before its createdAt, nor in the future."""

    createdAt: str | None
    """When it was made. Now, unless given. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    conversationId: str
    """The conversation it is about. Must be the id (a UUID) of a conversation."""
    conversationExternalId: str
    """Instead of conversationId: the externalId of the conversation."""


class Ticket(TypedDict):
    """Something to be done for a customer."""

    id: str
    """Its id."""
    object: Literal["ticket"]
    """Its kind."""
    organizationId: str
    """Whose it is."""
    createdAt: str
    """When it was made."""
    conversationId: str | None
    """The conversation it came from. Reported by `ticket.updated`. No event reports that it loses a deleted object: sync only."""
    subject: str
    """The subject, as its list shows it. Reported by `ticket.updated`."""
    description: str | None
    """The whole story. Reported by `ticket.updated`."""
    type: Literal["question", "incident", "problem", "task"] | str | None
    """The type of the ticket. Reported by `ticket.updated`."""
    priority: Literal["low", "normal", "high", "urgent"] | str
    """How soon it matters. Reported by `ticket.updated`."""
    status: Literal["new", "open", "pending", "on_hold", "resolved", "closed"] | str
    """Where it stands. Which status allows which is in docs/specification.md. Reported by `ticket.updated` and `ticket.status_changed`."""
    assigneeId: str | None
    """Who works on it. Assigning a new ticket opens it. Reported by `ticket.updated`, some changes also by `ticket.status_changed` or `ticket.assigned`. No event reports that it loses a deleted object: sync only."""
    dueAt: str | None
    """When it should be done. Reported by `ticket.updated`."""
    resolvedAt: str | None
    """When it was last resolved. Reported by `ticket.updated` and `ticket.status_changed`."""
    closedAt: str | None
    """When it was closed. Reported by `ticket.updated` and `ticket.status_changed`."""
    externalId: str | None
    """Your own id of it. Reported by `ticket.updated`."""
    tags: list[str]
    """Labels. Repeats are dropped. Reported by `ticket.updated`."""
    customAttributes: dict[str, str | float | bool]
    """Named values of your own. A PATCH merges; null deletes a key. Reported by `ticket.updated`."""
    customerId: str
    """Whose ticket it is. Deleting the customer deletes the ticket. Set at creation: reported by `ticket.created`."""
    number: int
    """Counts up within the organization. Set at creation: reported by `ticket.created`."""
    updatedAt: str
    """Its version, and its place in the stream: later than every change committed before."""


class _TicketCreateRequired(TypedDict):
    customerId: str
    """Whose ticket it is. Deleting the customer deletes the ticket. Must be the id (a UUID) of a customer."""
    subject: str
    """The subject, as its list shows it. Must be a string of 1 to 255 characters (no U+0000)."""


class TicketCreate(_TicketCreateRequired, total=False):
    conversationId: str | None
    """The conversation it came from. Must be the id (a UUID) of a conversation, or null."""
    description: str | None
    """The whole story. Must be a string of at most 64000 characters (no U+0000), or null."""
    type: Literal["question", "incident", "problem", "task", None]
    """The type of the ticket. Must be one of question, incident, problem, task or null."""
    priority: Literal["low", "normal", "high", "urgent"]
    """How soon it matters. Must be one of low, normal, high, urgent. Initially `"normal"`."""
    status: Literal["new", "open", "pending", "on_hold", "resolved", "closed"]
    """Where it stands. Which status allows which is in docs/specification.md. Must be one of new, open, pending, on_hold, resolved, closed. Initially `"new"`."""
    assigneeId: str | None
    """Who works on it. Assigning a new ticket opens it. Must be the id (a UUID) of a teammate, or null."""
    dueAt: str | None
    """When it should be done. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""


class TicketPatch(TypedDict, total=False):
    """Fields left out stay as they are."""

    conversationId: str | None
    """The conversation it came from. Must be the id (a UUID) of a conversation, or null."""
    subject: str
    """The subject, as its list shows it. Must be a string of 1 to 255 characters (no U+0000)."""
    description: str | None
    """The whole story. Must be a string of at most 64000 characters (no U+0000), or null."""
    type: Literal["question", "incident", "problem", "task", None]
    """The type of the ticket. Must be one of question, incident, problem, task or null."""
    priority: Literal["low", "normal", "high", "urgent"]
    """How soon it matters. Must be one of low, normal, high, urgent. Initially `"normal"`."""
    status: Literal["new", "open", "pending", "on_hold", "resolved", "closed"]
    """Where it stands. Which status allows which is in docs/specification.md. Must be one of new, open, pending, on_hold, resolved, closed. Initially `"new"`."""
    assigneeId: str | None
    """Who works on it. Assigning a new ticket opens it. Must be the id (a UUID) of a teammate, or null."""
    dueAt: str | None
    """When it should be done. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""


class _TicketImportRequired(TypedDict):
    subject: str
    """The subject, as its list shows it. Must be a string of 1 to 255 characters (no U+0000)."""


class TicketImport(_TicketImportRequired, total=False):
    """A ticket with its past. Times are not before its createdAt, nor in the future."""

    createdAt: str | None
    """When it was made. Now, unless given. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    customerId: str
    """Whose ticket it is. Deleting the customer deletes the ticket. Must be the id (a UUID) of a customer."""
    conversationId: str | None
    """The conversation it came from. Must be the id (a UUID) of a conversation, or null."""
    number: int
    """Counts up within the organization. Must be a whole number from 1 to 999999999999. Initially `0`."""
    description: str | None
    """The whole story. Must be a string of at most 64000 characters (no U+0000), or null."""
    type: Literal["question", "incident", "problem", "task", None]
    """The type of the ticket. Must be one of question, incident, problem, task or null."""
    priority: Literal["low", "normal", "high", "urgent"]
    """How soon it matters. Must be one of low, normal, high, urgent. Initially `"normal"`."""
    status: Literal["new", "open", "pending", "on_hold", "resolved", "closed"]
    """Where it stands. Which status allows which is in docs/specification.md. Must be one of new, open, pending, on_hold, resolved, closed. Initially `"new"`."""
    assigneeId: str | None
    """Who works on it. Assigning a new ticket opens it. Must be the id (a UUID) of a teammate, or null."""
    dueAt: str | None
    """When it should be done. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    resolvedAt: str | None
    """When it was last resolved. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    closedAt: str | None
    """When it was closed. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""
    customerExternalId: str
    """Instead of customerId: the externalId of the customer."""
    conversationExternalId: str
    """Instead of conversationId: the externalId of the conversation."""


class _TicketUpsertRequired(TypedDict):
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""


class TicketUpsert(_TicketUpsertRequired, total=False):
    """Whole, it creates an object where there is none. Fields that only creation can set may be repeated as they are."""

    customerId: str
    """Whose ticket it is. Deleting the customer deletes the ticket. Must be the id (a UUID) of a customer."""
    conversationId: str | None
    """The conversation it came from. Must be the id (a UUID) of a conversation, or null."""
    subject: str
    """The subject, as its list shows it. Must be a string of 1 to 255 characters (no U+0000)."""
    description: str | None
    """The whole story. Must be a string of at most 64000 characters (no U+0000), or null."""
    type: Literal["question", "incident", "problem", "task", None]
    """The type of the ticket. Must be one of question, incident, problem, task or null."""
    priority: Literal["low", "normal", "high", "urgent"]
    """How soon it matters. Must be one of low, normal, high, urgent. Initially `"normal"`."""
    status: Literal["new", "open", "pending", "on_hold", "resolved", "closed"]
    """Where it stands. Which status allows which is in docs/specification.md. Must be one of new, open, pending, on_hold, resolved, closed. Initially `"new"`."""
    assigneeId: str | None
    """Who works on it. Assigning a new ticket opens it. Must be the id (a UUID) of a teammate, or null."""
    dueAt: str | None
    """When it should be done. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""


class BookingLocation(TypedDict):
    type: Literal["in_person", "phone", "video", "other"]
    value: str


class Booking(TypedDict):
    """A time agreed with a customer."""

    id: str
    """Its id."""
    object: Literal["booking"]
    """Its kind."""
    organizationId: str
    """Whose it is."""
    createdAt: str
    """When it was made."""
    title: str
    """The title of the booking. No event: sync only."""
    startAt: str
    """When it starts. Moves by the action reschedule only. Reported by `booking.rescheduled`."""
    endAt: str
    """When it ends, after startAt. Moves by the action reschedule only. Reported by `booking.rescheduled`."""
    timezone: str
    """The time zone it takes place in, IANA. No event: sync only."""
    status: Literal["pending", "confirmed", "cancelled", "completed", "no_show", "rejected"] | str
    """pending or confirmed at creation; moved by actions from then on. Reported by `booking.confirmed`, `booking.rejected`, `booking.cancelled`, `booking.completed` or `booking.no_show`."""
    location: BookingLocation | None
    """Where it takes place: an address, a number or a link. No event: sync only."""
    assigneeId: str | None
    """The teammate who takes it. No event: sync only."""
    conversationId: str | None
    """The conversation it came from. No event: sync only."""
    notes: str | None
    """For those who work at the desk. No event: sync only."""
    cancelledBy: Literal["customer", "teammate", "system"] | str | None
    """Who cancelled it. Reported by `booking.cancelled`."""
    cancellationReason: str | None
    """Why it was cancelled. Reported by `booking.cancelled`."""
    rejectionReason: str | None
    """Why it was rejected. Reported by `booking.rejected`."""
    previousStartAt: str | None
    """When it started before it was last moved. Reported by `booking.rescheduled`."""
    rescheduleCount: int
    """How often it was moved. Reported by `booking.rescheduled`."""
    confirmedAt: str | None
    """When it was confirmed. Reported by `booking.confirmed`."""
    completedAt: str | None
    """When it was marked as completed. Reported by `booking.completed` or `booking.no_show`."""
    cancelledAt: str | None
    """When it was cancelled. Reported by `booking.cancelled`."""
    externalId: str | None
    """Your own id of it. No event: sync only."""
    tags: list[str]
    """Labels. Repeats are dropped. No event: sync only."""
    customAttributes: dict[str, str | float | bool]
    """Named values of your own. A PATCH merges; null deletes a key. No event: sync only."""
    customerId: str | None
    """Who booked. Becomes null when the customer is deleted. No event: sync only."""
    updatedAt: str
    """Its version, and its place in the stream: later than every change committed before."""


class BookingCreateLocation(TypedDict):
    type: Literal["in_person", "phone", "video", "other"]
    value: str


class _BookingCreateRequired(TypedDict):
    customerId: str
    """Who booked. Becomes null when the customer is deleted. Must be the id (a UUID) of a customer."""
    title: str
    """The title of the booking. Must be a string of 1 to 255 characters (no U+0000)."""
    startAt: str
    """When it starts. Moves by the action reschedule only. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z."""
    endAt: str
    """When it ends, after startAt. Moves by the action reschedule only. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z."""
    timezone: str
    """The time zone it takes place in, IANA. Must be an IANA time zone, for example Europe/Berlin."""


class BookingCreate(_BookingCreateRequired, total=False):
    status: Literal["pending", "confirmed"]
    """pending or confirmed at creation; moved by actions from then on. Must be one of pending, confirmed. Initially `"pending"`."""
    location: BookingCreateLocation | None
    """Where it takes place: an address, a number or a link. Must be an object {type, value}: type in_person, phone, video or other; value a string of 1 to 2000 characters, or null."""
    assigneeId: str | None
    """The teammate who takes it. Must be the id (a UUID) of a teammate, or null."""
    conversationId: str | None
    """The conversation it came from. Must be the id (a UUID) of a conversation, or null."""
    notes: str | None
    """For those who work at the desk. Must be a string of at most 64000 characters (no U+0000), or null."""
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""


class BookingReject(TypedDict, total=False):
    reason: str | None
    """Why. Must be a string of at most 2000 characters (no U+0000), or null."""


class _BookingCancelRequired(TypedDict):
    by: Literal["customer", "teammate", "system"]
    """Who cancels it. Must be one of customer, teammate, system."""


class BookingCancel(_BookingCancelRequired, total=False):
    reason: str | None
    """Why. Must be a string of at most 2000 characters (no U+0000), or null."""


class _BookingRescheduleRequired(TypedDict):
    startAt: str
    """When it starts from now on. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z."""


class BookingReschedule(_BookingRescheduleRequired, total=False):
    endAt: str | None
    """When it ends from now on, after startAt. It lasts as long as before, unless given. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""


class BookingPatchLocation(TypedDict):
    type: Literal["in_person", "phone", "video", "other"]
    value: str


class BookingPatch(TypedDict, total=False):
    """Fields left out stay as they are."""

    customerId: str
    """Who booked. Becomes null when the customer is deleted. Must be the id (a UUID) of a customer."""
    title: str
    """The title of the booking. Must be a string of 1 to 255 characters (no U+0000)."""
    timezone: str
    """The time zone it takes place in, IANA. Must be an IANA time zone, for example Europe/Berlin."""
    location: BookingPatchLocation | None
    """Where it takes place: an address, a number or a link. Must be an object {type, value}: type in_person, phone, video or other; value a string of 1 to 2000 characters, or null."""
    assigneeId: str | None
    """The teammate who takes it. Must be the id (a UUID) of a teammate, or null."""
    conversationId: str | None
    """The conversation it came from. Must be the id (a UUID) of a conversation, or null."""
    notes: str | None
    """For those who work at the desk. Must be a string of at most 64000 characters (no U+0000), or null."""
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""


class BookingImportLocation(TypedDict):
    type: Literal["in_person", "phone", "video", "other"]
    value: str


class _BookingImportRequired(TypedDict):
    title: str
    """The title of the booking. Must be a string of 1 to 255 characters (no U+0000)."""
    startAt: str
    """When it starts. Moves by the action reschedule only. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z."""
    endAt: str
    """When it ends, after startAt. Moves by the action reschedule only. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z."""
    timezone: str
    """The time zone it takes place in, IANA. Must be an IANA time zone, for example Europe/Berlin."""


class BookingImport(_BookingImportRequired, total=False):
    """A booking with its past. Times are not before its createdAt, nor in the future."""

    createdAt: str | None
    """When it was made. Now, unless given. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    customerId: str | None
    """Who booked. Becomes null when the customer is deleted. Must be the id (a UUID) of a customer, or null."""
    status: Literal["pending", "confirmed", "cancelled", "completed", "no_show", "rejected"]
    """pending or confirmed at creation; moved by actions from then on. Must be one of pending, confirmed, cancelled, completed, no_show, rejected. Initially `"pending"`."""
    location: BookingImportLocation | None
    """Where it takes place: an address, a number or a link. Must be an object {type, value}: type in_person, phone, video or other; value a string of 1 to 2000 characters, or null."""
    assigneeId: str | None
    """The teammate who takes it. Must be the id (a UUID) of a teammate, or null."""
    conversationId: str | None
    """The conversation it came from. Must be the id (a UUID) of a conversation, or null."""
    notes: str | None
    """For those who work at the desk. Must be a string of at most 64000 characters (no U+0000), or null."""
    cancelledBy: Literal["customer", "teammate", "system", None]
    """Who cancelled it. Must be one of customer, teammate, system or null."""
    cancellationReason: str | None
    """Why it was cancelled. Must be a string of at most 2000 characters (no U+0000), or null."""
    rejectionReason: str | None
    """Why it was rejected. Must be a string of at most 2000 characters (no U+0000), or null."""
    previousStartAt: str | None
    """When it started before it was last moved. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    rescheduleCount: int
    """How often it was moved. Must be a whole number from 0 up. Initially `0`."""
    confirmedAt: str | None
    """When it was confirmed. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    completedAt: str | None
    """When it was marked as completed. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    cancelledAt: str | None
    """When it was cancelled. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""
    customerExternalId: str
    """Instead of customerId: the externalId of the customer."""
    conversationExternalId: str
    """Instead of conversationId: the externalId of the conversation."""


class BookingUpsertLocation(TypedDict):
    type: Literal["in_person", "phone", "video", "other"]
    value: str


class _BookingUpsertRequired(TypedDict):
    externalId: str | None
    """Your own id of it. Must be a string of 1 to 255 characters (no U+0000), or null. Unique in the organization."""


class BookingUpsert(_BookingUpsertRequired, total=False):
    """Whole, it creates an object where there is none. Fields that only creation can set may be repeated as they are."""

    customerId: str
    """Who booked. Becomes null when the customer is deleted. Must be the id (a UUID) of a customer."""
    title: str
    """The title of the booking. Must be a string of 1 to 255 characters (no U+0000)."""
    startAt: str
    """When it starts. Moves by the action reschedule only. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z."""
    endAt: str
    """When it ends, after startAt. Moves by the action reschedule only. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z."""
    timezone: str
    """The time zone it takes place in, IANA. Must be an IANA time zone, for example Europe/Berlin."""
    status: Literal["pending", "confirmed"]
    """pending or confirmed at creation; moved by actions from then on. Must be one of pending, confirmed. Initially `"pending"`."""
    location: BookingUpsertLocation | None
    """Where it takes place: an address, a number or a link. Must be an object {type, value}: type in_person, phone, video or other; value a string of 1 to 2000 characters, or null."""
    assigneeId: str | None
    """The teammate who takes it. Must be the id (a UUID) of a teammate, or null."""
    conversationId: str | None
    """The conversation it came from. Must be the id (a UUID) of a conversation, or null."""
    notes: str | None
    """For those who work at the desk. Must be a string of at most 64000 characters (no U+0000), or null."""
    tags: list[str]
    """Labels. Repeats are dropped. Must be a list of at most 50 strings of 1 to 50 characters. Initially `[]`."""
    customAttributes: dict[str, str | float | bool | None]
    """Named values of your own. A PATCH merges; null deletes a key. Must be an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key). Initially `{}`."""


class InboxEntryLastMessage(TypedDict):
    id: str
    """The id of the message."""
    author: dict[str, Any]
    """Its author."""
    sentAt: str
    """When it was sent."""
    preview: str
    """The first 200 characters of its body; empty if it has none."""


class InboxEntry(TypedDict):
    """A conversation in the inbox."""

    object: Literal["inbox_entry"]
    """Distinguishes it from a row."""
    conversation: Conversation
    """The conversation, as everywhere."""
    lastMessage: InboxEntryLastMessage | None
    """The message that was created last; null if there is none, or without the scope `messages:read`."""
    awaitingReplySince: str | None
    """When the customer's first message was sent that no teammate or AI has answered; null if all are answered."""


class InboxCounts(TypedDict):
    """How many conversations the inbox has."""

    object: Literal["inbox_counts"]
    """Distinguishes it from a row."""
    open: int
    """Open conversations."""
    waiting: int
    """Those whose customer waits for an answer."""
    unassigned: int
    """Those without an assignee."""
    assigned: int
    """Those of `assigneeId`; 0 without it."""


class BatchAnswer(TypedDict):
    """The outcome of each item, and how many have each outcome."""

    data: list[BatchItem]
    """One for each item, in their order."""
    created: int
    """Items that made an object."""
    updated: int
    """Items that changed one."""
    unchanged: int
    """Items that repeated what is there."""
    refused: int
    """Items that were left out."""


class _BatchItemRequired(TypedDict):
    index: int
    """Its place among the items, from 0."""
    outcome: Literal["created", "updated", "unchanged", "refused"] | str
    """The outcome."""
    status: int
    """The status that it would have had alone."""


class BatchItem(_BatchItemRequired, total=False):
    """The outcome of an item: an id, or a problem."""

    id: str
    """The object, unless refused."""
    problem: ItemProblem


class _ItemProblemRequired(TypedDict):
    code: Literal["malformed_request", "malformed_json", "invalid_parameter", "invalid_cursor", "filter_not_allowed_in_sync", "unauthorized", "key_expired", "insufficient_scope", "not_found", "method_not_allowed", "request_timeout", "body_too_large", "unsupported_media_type", "duplicate", "booking_conflict", "delivery_succeeded", "delivery_failed", "delivery_skipped", "delivery_pending", "webhook_disabled", "limit_reached", "last_managing_key", "invalid_transition", "ticket_closed", "cursor_too_old", "version_mismatch", "validation_failed", "url_not_https", "url_not_public", "url_not_resolvable", "receiver_not_verified", "idempotency_key_reused", "rate_limited", "headers_too_large", "internal_error", "unavailable"] | str
    """What to decide by. Later versions may know more."""
    title: str
    """The same for every problem with this code."""
    detail: str
    """The fault of this request, and what is accepted or to do next."""


class ItemProblem(_ItemProblemRequired, total=False):
    """Why an item was refused: a Problem without what the answer as a whole says. To a key that may not read the kind it reports nothing about the state of an object."""

    errors: list[FieldError]
    """For validation_failed: every place of the body that is wrong, a hundred at most."""
    existingId: str
    """For duplicate: the object that has the value; for booking_conflict: the other booking."""
    reason: Literal["challenge_failed", "http_4xx", "http_5xx", "timeout", "tls_error", "connection_refused"] | str
    """For receiver_not_verified: in a word, why not."""


class RangeDigests(TypedDict):
    """Counts and digests of ranges of ids, all at one moment."""

    asOf: str
    """The moment: every updatedAt and removedAt up to it is counted in, and no later one."""
    cursor: str
    """The same moment in the sync of the kind: the next page from it has what came later."""
    data: list[RangeDigest]
    """The ranges, lowest first."""


class _RangeDigestRequired(TypedDict):
    after: str
    """Its ids are higher than this."""
    before: str
    """They are this at most."""
    count: int
    """Rows that exist."""
    digest: str
    """The sum over them, modulo 2^64, of the first eight bytes of SHA-256(`<id>:<updatedAt>`)."""
    contentDigest: str
    """The same sum of SHA-256 of the bytes of each, as they are served."""


class RangeDigest(_RangeDigestRequired, total=False):
    """Count and digests of a range of ids."""

    ids: list[str]
    """Its ids, lowest first, where they are no more than idsUpTo."""
    contentDigests: list[str]
    """The contentDigest of each of ids alone, in their order."""


class _WebhookConditionsRequired(TypedDict):
    field: str
    op: Literal["equals", "in", "changed", "exists"] | str


class WebhookConditions(_WebhookConditionsRequired, total=False):
    value: str | float | bool | None | list[str | float | bool | None]


class _WebhookRequired(TypedDict):
    id: str
    """Its id."""
    object: Literal["webhook"]
    """Its kind."""
    organizationId: str
    """Whose it is."""
    url: str
    """Where deliveries go."""
    description: str | None
    """Its purpose, for people."""
    events: list[Literal["teammate.deleted", "customer.created", "customer.updated", "customer.deleted", "conversation.created", "conversation.assigned", "conversation.unassigned", "conversation.escalated", "conversation.resolved", "conversation.reopened", "conversation.summarized", "conversation.deleted", "message.received", "message.sent", "message.deleted", "note.created", "note.updated", "note.deleted", "ticket.created", "ticket.updated", "ticket.status_changed", "ticket.assigned", "ticket.deleted", "booking.created", "booking.confirmed", "booking.rescheduled", "booking.cancelled", "booking.completed", "booking.no_show", "booking.rejected", "booking.deleted", "endpoint.failing", "endpoint.disabling_soon", "endpoint.disabled", "endpoint.recovered", "teammate.*", "*", "customer.*", "conversation.*", "message.*", "note.*", "ticket.*", "booking.*", "endpoint.*"] | str]
    """The events it receives: types, and patterns as it was given them."""
    signatures: list[Literal["service", "standard", "v1a"] | str]
    """How deliveries are signed: `service` by X-Service-Signature, always; `standard` by the headers of Standard Webhooks as well; `v1a` in these also with the key pair of the organization (Ed25519)."""
    status: Literal["active", "paused", "disabled"] | str
    """A paused endpoint gets its deliveries once it is active, a disabled one no events."""
    disabledReason: Literal["failing", "address_not_public", "registrant_revoked", "manual", "gone"] | str | None
    """Why it is disabled; null while active."""
    disabledAt: str | None
    """Since when it is disabled; null while active."""
    failingSince: str | None
    """The first failure since the last success."""
    disablesAt: str | None
    """From when on a failed attempt disables it, unless one succeeds before; null while it does not fail, and while it is disabled."""
    failureCount: int
    """Failed attempts since the last success."""
    lastSuccessAt: str | None
    """The last delivery that succeeded."""
    missedSince: str | None
    """Where a recovery has to begin: no event before this, as far as the log goes back, has failed or was left out while it was disabled. Null when none was."""
    previousSecretExpiresAt: str | None
    """Until when a replaced secret signs as well; null when none does."""
    apiKeyId: str
    """The key that registered it. Deliveries go out while that key may read their subjects."""
    consoleLinkId: str | None
    """The console link whose session registered it, for that key; null when the key did so itself. It stays after the session has ended."""
    createdAt: str
    """When it was registered."""
    updatedAt: str
    """When it was last changed. Counters such as failureCount do not change it."""


class Webhook(_WebhookRequired, total=False):
    """An endpoint that events are delivered to."""

    headerNames: list[str]
    """The names of its own headers; absent without any."""
    rateLimit: int
    """The most attempts a second; absent without a limit."""
    maxConcurrent: int
    """The most attempts at once; absent where that is 16."""
    format: str
    """The form of bodies; absent where it is the envelope."""
    payload: str
    """The form of data; absent where it is the object."""
    honorRetryAfter: bool
    """Retry-After puts off attempts; absent where it does not."""
    disableOn410: bool
    """A 410 disables it; absent where it does not."""
    conditions: list[WebhookConditions]
    """All must hold for an event to be sent; absent without any."""
    changedFields: bool
    """Envelopes of changes name them; absent where they do not."""
    includeActor: bool
    """Envelopes say who caused the event; absent where they do not."""
    skipOwn: bool
    """Events that its own key has caused are skipped; absent where not."""
    coalesce: int
    """Seconds for which updates of an object are sent as one; absent where each is sent."""
    metadata: dict[str, str]
    """Strings of the client that registered it; absent without any."""
    expiresAt: str
    """When it ends: nothing is sent any more, and it is deleted with its log. Absent where it does not end by itself."""


class _WebhookWithSecretConditionsRequired(TypedDict):
    field: str
    op: Literal["equals", "in", "changed", "exists"] | str


class WebhookWithSecretConditions(_WebhookWithSecretConditionsRequired, total=False):
    value: str | float | bool | None | list[str | float | bool | None]


class _WebhookWithSecretRequired(TypedDict):
    id: str
    """Its id."""
    object: Literal["webhook"]
    """Its kind."""
    organizationId: str
    """Whose it is."""
    url: str
    """Where deliveries go."""
    description: str | None
    """Its purpose, for people."""
    events: list[Literal["teammate.deleted", "customer.created", "customer.updated", "customer.deleted", "conversation.created", "conversation.assigned", "conversation.unassigned", "conversation.escalated", "conversation.resolved", "conversation.reopened", "conversation.summarized", "conversation.deleted", "message.received", "message.sent", "message.deleted", "note.created", "note.updated", "note.deleted", "ticket.created", "ticket.updated", "ticket.status_changed", "ticket.assigned", "ticket.deleted", "booking.created", "booking.confirmed", "booking.rescheduled", "booking.cancelled", "booking.completed", "booking.no_show", "booking.rejected", "booking.deleted", "endpoint.failing", "endpoint.disabling_soon", "endpoint.disabled", "endpoint.recovered", "teammate.*", "*", "customer.*", "conversation.*", "message.*", "note.*", "ticket.*", "booking.*", "endpoint.*"] | str]
    """The events it receives: types, and patterns as it was given them."""
    signatures: list[Literal["service", "standard", "v1a"] | str]
    """How deliveries are signed: `service` by X-Service-Signature, always; `standard` by the headers of Standard Webhooks as well; `v1a` in these also with the key pair of the organization (Ed25519)."""
    status: Literal["active", "paused", "disabled"] | str
    """A paused endpoint gets its deliveries once it is active, a disabled one no events."""
    disabledReason: Literal["failing", "address_not_public", "registrant_revoked", "manual", "gone"] | str | None
    """Why it is disabled; null while active."""
    disabledAt: str | None
    """Since when it is disabled; null while active."""
    failingSince: str | None
    """The first failure since the last success."""
    disablesAt: str | None
    """From when on a failed attempt disables it, unless one succeeds before; null while it does not fail, and while it is disabled."""
    failureCount: int
    """Failed attempts since the last success."""
    lastSuccessAt: str | None
    """The last delivery that succeeded."""
    missedSince: str | None
    """Where a recovery has to begin: no event before this, as far as the log goes back, has failed or was left out while it was disabled. Null when none was."""
    previousSecretExpiresAt: str | None
    """Until when a replaced secret signs as well; null when none does."""
    apiKeyId: str
    """The key that registered it. Deliveries go out while that key may read their subjects."""
    consoleLinkId: str | None
    """The console link whose session registered it, for that key; null when the key did so itself. It stays after the session has ended."""
    createdAt: str
    """When it was registered."""
    updatedAt: str
    """When it was last changed. Counters such as failureCount do not change it."""
    secret: str
    """Signs deliveries. Shown this once: keep it."""


class WebhookWithSecret(_WebhookWithSecretRequired, total=False):
    """An endpoint as creation and rotation answer it."""

    headerNames: list[str]
    """The names of its own headers; absent without any."""
    rateLimit: int
    """The most attempts a second; absent without a limit."""
    maxConcurrent: int
    """The most attempts at once; absent where that is 16."""
    format: str
    """The form of bodies; absent where it is the envelope."""
    payload: str
    """The form of data; absent where it is the object."""
    honorRetryAfter: bool
    """Retry-After puts off attempts; absent where it does not."""
    disableOn410: bool
    """A 410 disables it; absent where it does not."""
    conditions: list[WebhookWithSecretConditions]
    """All must hold for an event to be sent; absent without any."""
    changedFields: bool
    """Envelopes of changes name them; absent where they do not."""
    includeActor: bool
    """Envelopes say who caused the event; absent where they do not."""
    skipOwn: bool
    """Events that its own key has caused are skipped; absent where not."""
    coalesce: int
    """Seconds for which updates of an object are sent as one; absent where each is sent."""
    metadata: dict[str, str]
    """Strings of the client that registered it; absent without any."""
    expiresAt: str
    """When it ends: nothing is sent any more, and it is deleted with its log. Absent where it does not end by itself."""


class _WebhookCreateConditionsRequired(TypedDict):
    field: str
    op: Literal["equals", "in", "changed", "exists"]


class WebhookCreateConditions(_WebhookCreateConditionsRequired, total=False):
    value: str | float | bool | None | list[str | float | bool | None]


class _WebhookCreateRequired(TypedDict):
    url: str
    """Where deliveries go: https, a public address, no user info, no fragment. Must be a string of 1 to 2048 characters (no U+0000)."""
    events: list[Literal["teammate.deleted", "customer.created", "customer.updated", "customer.deleted", "conversation.created", "conversation.assigned", "conversation.unassigned", "conversation.escalated", "conversation.resolved", "conversation.reopened", "conversation.summarized", "conversation.deleted", "message.received", "message.sent", "message.deleted", "note.created", "note.updated", "note.deleted", "ticket.created", "ticket.updated", "ticket.status_changed", "ticket.assigned", "ticket.deleted", "booking.created", "booking.confirmed", "booking.rescheduled", "booking.cancelled", "booking.completed", "booking.no_show", "booking.rejected", "booking.deleted", "endpoint.failing", "endpoint.disabling_soon", "endpoint.disabled", "endpoint.recovered", "teammate.*", "*", "customer.*", "conversation.*", "message.*", "note.*", "ticket.*", "booking.*", "endpoint.*"]]
    """The events it receives: types, all of a kind (ticket.*), or all (*), also those that come later. Must be a list of 1 to 100 of teammate.deleted, customer.created, customer.updated, customer.deleted, conversation.created, conversation.assigned, conversation.unassigned, conversation.escalated, conversation.resolved, conversation.reopened, conversation.summarized, conversation.deleted, message.received, message.sent, message.deleted, note.created, note.updated, note.deleted, ticket.created, ticket.updated, ticket.status_changed, ticket.assigned, ticket.deleted, booking.created, booking.confirmed, booking.rescheduled, booking.cancelled, booking.completed, booking.no_show, booking.rejected, booking.deleted, endpoint.failing, endpoint.disabling_soon, endpoint.disabled, endpoint.recovered, teammate.*, *, customer.*, conversation.*, message.*, note.*, ticket.*, booking.*, endpoint.*."""


class WebhookCreate(_WebhookCreateRequired, total=False):
    description: str | None
    """Its purpose, for people. Must be a string of at most 255 characters (no U+0000), or null."""
    signatures: list[Literal["service", "standard", "v1a"]]
    """How deliveries are signed: by X-Service-Signature, and with standard by the headers of Standard Webhooks as well, and with v1a in these also by Ed25519. Must be a list of service, which cannot be left out, and standard, to which v1a may be added. Initially `["service"]`."""
    expiresAt: str | None
    """When it ends by itself, a minute from now at least: nothing is sent any more, and it is deleted with its log. Null: it does not end. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    headers: dict[str, str] | None
    """Headers that are sent along, such as Authorization. Their values are stored encrypted and never shown. A PATCH replaces all of them. Must be an object of at most 10 headers, each a name of at most 64 characters with a string of 1 to 1024 printable ASCII characters, 4096 together; not host, connection, content-*, user-agent, x-service-*, webhook-* or others that the service sets, or null."""
    rateLimit: int | None
    """The most attempts a second. Must be a whole number from 1 to 1000, or null."""
    maxConcurrent: int | None
    """The most attempts at once, instead of 16. Must be a whole number from 1 to 16, or null."""
    format: Literal["envelope", "mcp"]
    """The body of a delivery: the envelope, or with mcp an occurrence of the events proposal of the Model Context Protocol, which 410 and 413 refuse for good. Must be one of envelope, mcp. Initially `"envelope"`."""
    payload: Literal["full", "thin"]
    """The data of an event: the object, or with thin its id and object alone. Must be one of full, thin. Initially `"full"`."""
    honorRetryAfter: bool
    """Whether a Retry-After with a 429 or 503 puts off the next attempt beyond its delay, by a day at most. Must be true or false. Initially `false`."""
    disableOn410: bool
    """Whether an answer of 410 disables the endpoint. Must be true or false. Initially `false`."""
    conditions: list[WebhookCreateConditions] | None
    """An event is sent if all conditions hold of its object as it was then. Removals are always sent, unless one is on id. Must be a list of at most 10 conditions, each an object of field, op and value, or null."""
    changedFields: bool
    """Whether changedFields in the envelope of a change names the fields that changed. Must be true or false. Initially `false`."""
    includeActor: bool
    """Whether envelopes have `actor`, who caused the event, and `requestId`, the X-Request-Id of the request. Must be true or false. Initially `false`."""
    skipOwn: bool
    """Whether events that the registering key, or a session of it, has caused are left out: they are in the log as skipped. Must be true or false. Initially `false`."""
    coalesce: int | None
    """Seconds for which an `updated` event waits: those of the same object that come meanwhile are sent as one, with the object as it then is; the others are in the log as skipped, with `coalescedInto`. Must be a whole number from 1 to 3600, or null."""
    metadata: dict[str, str | None]
    """Strings of your own, for your programs: deliveries do not have them. A PATCH merges; null deletes a key. Must be an object of at most 20 keys of 1 to 40 characters, each with a string of at most 500 characters (null deletes a key). Initially `{}`."""
    secret: str | None
    """Signs deliveries: whsec_ and 24 to 64 random bytes in base64. Default: a new one. Must be whsec_ and 24 to 64 bytes in standard base64, or null."""
    verify: bool
    """Whether the URL must agree first: it gets a signed POST of {"type": "verification", "challenge": …}, and must answer 2xx with {"challenge": …}, the same. Must be true or false. Initially `false`."""


class _WebhookPatchConditionsRequired(TypedDict):
    field: str
    op: Literal["equals", "in", "changed", "exists"]


class WebhookPatchConditions(_WebhookPatchConditionsRequired, total=False):
    value: str | float | bool | None | list[str | float | bool | None]


class WebhookPatch(TypedDict, total=False):
    """Fields left out stay as they are."""

    url: str
    """Where deliveries go: https, a public address, no user info, no fragment. Must be a string of 1 to 2048 characters (no U+0000)."""
    description: str | None
    """Its purpose, for people. Must be a string of at most 255 characters (no U+0000), or null."""
    events: list[Literal["teammate.deleted", "customer.created", "customer.updated", "customer.deleted", "conversation.created", "conversation.assigned", "conversation.unassigned", "conversation.escalated", "conversation.resolved", "conversation.reopened", "conversation.summarized", "conversation.deleted", "message.received", "message.sent", "message.deleted", "note.created", "note.updated", "note.deleted", "ticket.created", "ticket.updated", "ticket.status_changed", "ticket.assigned", "ticket.deleted", "booking.created", "booking.confirmed", "booking.rescheduled", "booking.cancelled", "booking.completed", "booking.no_show", "booking.rejected", "booking.deleted", "endpoint.failing", "endpoint.disabling_soon", "endpoint.disabled", "endpoint.recovered", "teammate.*", "*", "customer.*", "conversation.*", "message.*", "note.*", "ticket.*", "booking.*", "endpoint.*"]]
    """The events it receives: types, all of a kind (ticket.*), or all (*), also those that come later. Must be a list of 1 to 100 of teammate.deleted, customer.created, customer.updated, customer.deleted, conversation.created, conversation.assigned, conversation.unassigned, conversation.escalated, conversation.resolved, conversation.reopened, conversation.summarized, conversation.deleted, message.received, message.sent, message.deleted, note.created, note.updated, note.deleted, ticket.created, ticket.updated, ticket.status_changed, ticket.assigned, ticket.deleted, booking.created, booking.confirmed, booking.rescheduled, booking.cancelled, booking.completed, booking.no_show, booking.rejected, booking.deleted, endpoint.failing, endpoint.disabling_soon, endpoint.disabled, endpoint.recovered, teammate.*, *, customer.*, conversation.*, message.*, note.*, ticket.*, booking.*, endpoint.*."""
    signatures: list[Literal["service", "standard", "v1a"]]
    """How deliveries are signed: by X-Service-Signature, and with standard by the headers of Standard Webhooks as well, and with v1a in these also by Ed25519. Must be a list of service, which cannot be left out, and standard, to which v1a may be added. Initially `["service"]`."""
    expiresAt: str | None
    """When it ends by itself, a minute from now at least: nothing is sent any more, and it is deleted with its log. Null: it does not end. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    headers: dict[str, str] | None
    """Headers that are sent along, such as Authorization. Their values are stored encrypted and never shown. A PATCH replaces all of them. Must be an object of at most 10 headers, each a name of at most 64 characters with a string of 1 to 1024 printable ASCII characters, 4096 together; not host, connection, content-*, user-agent, x-service-*, webhook-* or others that the service sets, or null."""
    rateLimit: int | None
    """The most attempts a second. Must be a whole number from 1 to 1000, or null."""
    maxConcurrent: int | None
    """The most attempts at once, instead of 16. Must be a whole number from 1 to 16, or null."""
    format: Literal["envelope", "mcp"]
    """The body of a delivery: the envelope, or with mcp an occurrence of the events proposal of the Model Context Protocol, which 410 and 413 refuse for good. Must be one of envelope, mcp. Initially `"envelope"`."""
    payload: Literal["full", "thin"]
    """The data of an event: the object, or with thin its id and object alone. Must be one of full, thin. Initially `"full"`."""
    honorRetryAfter: bool
    """Whether a Retry-After with a 429 or 503 puts off the next attempt beyond its delay, by a day at most. Must be true or false. Initially `false`."""
    disableOn410: bool
    """Whether an answer of 410 disables the endpoint. Must be true or false. Initially `false`."""
    conditions: list[WebhookPatchConditions] | None
    """An event is sent if all conditions hold of its object as it was then. Removals are always sent, unless one is on id. Must be a list of at most 10 conditions, each an object of field, op and value, or null."""
    changedFields: bool
    """Whether changedFields in the envelope of a change names the fields that changed. Must be true or false. Initially `false`."""
    includeActor: bool
    """Whether envelopes have `actor`, who caused the event, and `requestId`, the X-Request-Id of the request. Must be true or false. Initially `false`."""
    skipOwn: bool
    """Whether events that the registering key, or a session of it, has caused are left out: they are in the log as skipped. Must be true or false. Initially `false`."""
    coalesce: int | None
    """Seconds for which an `updated` event waits: those of the same object that come meanwhile are sent as one, with the object as it then is; the others are in the log as skipped, with `coalescedInto`. Must be a whole number from 1 to 3600, or null."""
    metadata: dict[str, str | None]
    """Strings of your own, for your programs: deliveries do not have them. A PATCH merges; null deletes a key. Must be an object of at most 20 keys of 1 to 40 characters, each with a string of at most 500 characters (null deletes a key). Initially `{}`."""
    status: Literal["active", "paused", "disabled"]
    """active resets the failure count; paused keeps deliveries until it is active again. Must be one of active, paused, disabled. Initially `"active"`."""


class WebhookRotation(TypedDict, total=False):
    secret: str | None
    """Signs deliveries: whsec_ and 24 to 64 random bytes in base64. Default: a new one. Must be whsec_ and 24 to 64 bytes in standard base64, or null."""
    overlap: int | None
    """How long the replaced secret still signs, in seconds, up to seven days; 0 ends it at once. Default: 24 hours, or what the operator has set. Must be a whole number from 0 to 604800, or null."""


class DeliveryLastError(TypedDict):
    code: Literal["timeout", "connection_failed", "tls_error", "redirect", "non_2xx", "address_not_public", "resolver_failed", "proxy_failed", "endpoint_disabled", "subject_unavailable", "worker_lost", "paused_too_long", "own_change", "conditions_not_met", "coalesced"] | str
    message: str


class _DeliveryRequired(TypedDict):
    id: str
    """Its id."""
    object: Literal["delivery"]
    """Its kind."""
    organizationId: str
    """Whose it is."""
    webhookId: str
    """The endpoint it goes to."""
    eventId: str
    """The event: `id` of the envelope, the same on every attempt."""
    eventType: str
    """The type of the event; `ping` for a ping."""
    status: Literal["pending", "succeeded", "failed", "skipped"] | str
    """Its state; `skipped`: by the options of the endpoint nothing was to be sent, `lastError` says why."""
    attemptCount: int
    """Attempts made so far."""
    maxAttempts: int
    """Attempts it has in all; a manual retry adds a whole schedule."""
    responseStatus: int | None
    """The last status of the receiver."""
    lastError: DeliveryLastError | None
    """Why the last attempt failed."""
    durationMs: int | None
    """How long the last attempt took, in milliseconds."""
    lastAttemptAt: str | None
    """When the last attempt began."""
    nextAttemptAt: str | None
    """When the next attempt is due; null unless pending."""
    deliveredAt: str | None
    """When it succeeded."""
    createdAt: str
    """When it was made: with its event, or later, by a recovery."""
    updatedAt: str
    """When it last changed."""


class Delivery(_DeliveryRequired, total=False):
    """One event on its way to one endpoint. It never holds the payload."""

    coalescedInto: str
    """The delivery that is sent for this update too; absent where it is sent itself."""


class AttemptError(TypedDict):
    code: Literal["timeout", "connection_failed", "tls_error", "redirect", "non_2xx", "address_not_public", "resolver_failed", "proxy_failed", "endpoint_disabled", "subject_unavailable", "worker_lost", "paused_too_long", "own_change", "conditions_not_met", "coalesced"] | str
    message: str


class Attempt(TypedDict):
    """One try of a delivery."""

    number: int
    """Counts up within the delivery."""
    at: str
    """When it began."""
    responseStatus: int | None
    """The status of the receiver; null when it sent none."""
    error: AttemptError | None
    """Why it failed; null when it succeeded."""
    durationMs: int
    """How long it took, in milliseconds."""
    responseBody: str | None
    """The beginning of the answer, 1 KiB at most, as text; null without the read scope of the event."""


class RetriedNow(TypedDict):
    """The deliveries that are attempted now."""

    object: Literal["retried_now"]
    """Its kind."""
    webhookId: str
    """The endpoint."""
    retried: int
    """Deliveries that are attempted now instead of later."""
    hasMore: bool
    """Whether others still wait: ask again."""


class _RecoveryRequired(TypedDict):
    id: str
    """Its id."""
    object: Literal["recovery"]
    """Its kind."""
    webhookId: str
    """The endpoint whose missed events come back."""
    since: str
    """The beginning of the window, in it."""
    until: str
    """The end of the window, in it."""
    status: Literal["running", "done"] | str
    """Whether all events of the window have been examined."""
    retried: int
    """Deliveries that had failed and are sent again, so far."""
    created: int
    """Deliveries that were missing and have been made, so far."""
    createdAt: str
    """When the request for it came."""
    finishedAt: str | None
    """When it was done; deliveries may still be pending then."""


class Recovery(_RecoveryRequired, total=False):
    """The replay of events that an endpoint missed."""

    includeSucceeded: bool
    """Events that had arrived are sent again too; only shown where they are."""


class _RecoveryCreateRequired(TypedDict):
    since: str
    """Events from here on, this moment included; no longer ago than the delivery log goes back. Earlier than the endpoint's createdAt is read as createdAt, unless includeBeforeCreation is true. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z."""


class RecoveryCreate(_RecoveryCreateRequired, total=False):
    until: str | None
    """Events up to here, this moment included; by default all until now. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""
    includeBeforeCreation: bool
    """Whether events from before the endpoint was registered are sent too. Must be true or false. Initially `false`."""
    includeSucceeded: bool
    """Whether events that the receiver has answered with a 2xx are sent again, each as a new delivery. Must be true or false. Initially `false`."""


class StatsPoint(TypedDict):
    """The counts of one step."""

    at: str
    """When the step began. Its length is that of the request."""
    succeeded: int
    """Deliveries that arrived."""
    failed: dict[str, int]
    """Attempts that failed, and deliveries that failed without one, by the code of the error; without those that did not happen."""
    p50: int | None
    """How long half of the attempts took at most, in milliseconds, from counts by duration; null where none was made."""
    p95: int | None
    """How long 95 of 100 attempts took at most, likewise."""
    changes: dict[str, int]
    """Objects that were created, changed or removed, by their kind, each where its latest change is; without kinds of which none was."""


class StatsTotal(TypedDict):
    """The counts of all steps together."""

    succeeded: int
    """Deliveries that arrived."""
    failed: dict[str, int]
    """Attempts that failed, and deliveries that failed without one, by the code of the error; without those that did not happen."""
    p50: int | None
    """How long half of the attempts took at most, in milliseconds, from counts by duration; null where none was made."""
    p95: int | None
    """How long 95 of 100 attempts took at most, likewise."""


class Stats(TypedDict):
    """The counts, step by step."""

    data: list[StatsPoint]
    """Every step, the earliest first."""
    total: StatsTotal


class EventPage(TypedDict):
    """A page of a list."""

    data: list[ListedEvent]
    """The records of the page, in its order."""
    pagination: EventPagination


class _ListedEventRequired(TypedDict):
    id: str
    """The event, as receivers deduplicate it."""
    type: Literal["teammate.deleted", "customer.created", "customer.updated", "customer.deleted", "conversation.created", "conversation.assigned", "conversation.unassigned", "conversation.escalated", "conversation.resolved", "conversation.reopened", "conversation.summarized", "conversation.deleted", "message.received", "message.sent", "message.deleted", "note.created", "note.updated", "note.deleted", "ticket.created", "ticket.updated", "ticket.status_changed", "ticket.assigned", "ticket.deleted", "booking.created", "booking.confirmed", "booking.rescheduled", "booking.cancelled", "booking.completed", "booking.no_show", "booking.rejected", "booking.deleted", "endpoint.failing", "endpoint.disabling_soon", "endpoint.disabled", "endpoint.recovered"] | str
    """The type of the event."""
    apiVersion: str
    """The version of the envelope."""
    createdAt: str
    """When it happened."""
    organizationId: str
    """Whose it is."""
    data: dict[str, Any] | None
    """The object now, or its removal record; null when it is gone."""


class ListedEvent(_ListedEventRequired, total=False):
    """An event, as a delivery carries it."""

    actor: Actor
    onBehalfOf: Actor
    """The teammate in X-Acting-Teammate, with `include=actor`; absent without one."""
    requestId: str | None
    """The X-Request-Id of the request that caused it, with `include=actor`; null for the service itself."""


class Actor(TypedDict):
    """Who caused an event, for those that ask."""

    type: Literal["api_key", "session", "teammate", "system"] | str
    """The kind of actor; `system` is the service itself, as with pings; `teammate` in `onBehalfOf` only."""
    id: str | None
    """The id of the key, of the console link of the session, or of the teammate."""
    name: str | None
    """The name of the key or the teammate; null once it is gone, and without the scope `teammates:read`."""


class EventPagination(TypedDict):
    """Where a page of events stands."""

    limit: int
    """The page size applied."""
    hasMore: bool
    """True while more events follow."""
    nextCursor: str
    """Send it as cursor to go on; it stays valid."""


class ApiKeyRevokedBy(TypedDict):
    id: str
    """Its id."""
    name: str | None
    """Its name when it did."""


class _ApiKeyRequired(TypedDict):
    id: str
    """Its id. It stays when its tokens change."""
    object: Literal["api_key"]
    """Its kind."""
    organizationId: str
    """Whose it is."""
    name: str
    """Its purpose, for people."""
    scopes: list[Literal["teammates:read", "teammates:write", "customers:read", "customers:write", "customers:erase", "conversations:read", "conversations:write", "messages:read", "messages:write", "notes:read", "notes:write", "tickets:read", "tickets:write", "bookings:read", "bookings:write", "webhooks:read", "webhooks:write", "import", "api_keys:manage", "*"] | str]
    """The calls that it may make."""
    expiresAt: str | None
    """When it ceases to work; null when it does not expire."""
    last4: str
    """The last four characters of its newest token."""
    previousTokenExpiresAt: str | None
    """Until when a replaced token works as well; null when none does."""
    lastUsedAt: str | None
    """When a call was last made with it, exact to a minute; null when none was. It does not move updatedAt."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it was last changed or rotated."""


class ApiKey(_ApiKeyRequired, total=False):
    """An API key, without its token."""

    revokedAt: str
    """When it was revoked; only where revoked keys are listed."""
    revokedBy: ApiKeyRevokedBy | None
    """The key that revoked it; null: the operator."""


class ApiKeyWithTokenRevokedBy(TypedDict):
    id: str
    """Its id."""
    name: str | None
    """Its name when it did."""


class _ApiKeyWithTokenRequired(TypedDict):
    id: str
    """Its id. It stays when its tokens change."""
    object: Literal["api_key"]
    """Its kind."""
    organizationId: str
    """Whose it is."""
    name: str
    """Its purpose, for people."""
    scopes: list[Literal["teammates:read", "teammates:write", "customers:read", "customers:write", "customers:erase", "conversations:read", "conversations:write", "messages:read", "messages:write", "notes:read", "notes:write", "tickets:read", "tickets:write", "bookings:read", "bookings:write", "webhooks:read", "webhooks:write", "import", "api_keys:manage", "*"] | str]
    """The calls that it may make."""
    expiresAt: str | None
    """When it ceases to work; null when it does not expire."""
    last4: str
    """The last four characters of its newest token."""
    previousTokenExpiresAt: str | None
    """Until when a replaced token works as well; null when none does."""
    lastUsedAt: str | None
    """When a call was last made with it, exact to a minute; null when none was. It does not move updatedAt."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it was last changed or rotated."""
    token: str
    """The token that calls carry as Authorization: Bearer. Shown only now: keep it."""


class ApiKeyWithToken(_ApiKeyWithTokenRequired, total=False):
    """An API key as creation and rotation answer it."""

    revokedAt: str
    """When it was revoked; only where revoked keys are listed."""
    revokedBy: ApiKeyWithTokenRevokedBy | None
    """The key that revoked it; null: the operator."""


class _ApiKeyCreateRequired(TypedDict):
    name: str
    """Its purpose, for people. Must be a string of 1 to 255 characters (no U+0000)."""
    scopes: list[Literal["teammates:read", "teammates:write", "customers:read", "customers:write", "customers:erase", "conversations:read", "conversations:write", "messages:read", "messages:write", "notes:read", "notes:write", "tickets:read", "tickets:write", "bookings:read", "bookings:write", "webhooks:read", "webhooks:write", "import", "api_keys:manage", "*"]]
    """The calls that it may make. A key can grant only scopes that it holds itself. Must be a list of 1 to 100 of teammates:read, teammates:write, customers:read, customers:write, customers:erase, conversations:read, conversations:write, messages:read, messages:write, notes:read, notes:write, tickets:read, tickets:write, bookings:read, bookings:write, webhooks:read, webhooks:write, import, api_keys:manage, *."""


class ApiKeyCreate(_ApiKeyCreateRequired, total=False):
    expiresAt: str | None
    """When it ceases to work, a time to come; null for never. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""


class ApiKeyPatch(TypedDict, total=False):
    """Fields left out stay as they are."""

    name: str
    """Its purpose, for people. Must be a string of 1 to 255 characters (no U+0000)."""
    scopes: list[Literal["teammates:read", "teammates:write", "customers:read", "customers:write", "customers:erase", "conversations:read", "conversations:write", "messages:read", "messages:write", "notes:read", "notes:write", "tickets:read", "tickets:write", "bookings:read", "bookings:write", "webhooks:read", "webhooks:write", "import", "api_keys:manage", "*"]]
    """The calls that it may make. A key can grant only scopes that it holds itself. Must be a list of 1 to 100 of teammates:read, teammates:write, customers:read, customers:write, customers:erase, conversations:read, conversations:write, messages:read, messages:write, notes:read, notes:write, tickets:read, tickets:write, bookings:read, bookings:write, webhooks:read, webhooks:write, import, api_keys:manage, *."""
    expiresAt: str | None
    """When it ceases to work, a time to come; null for never. Must be a date-time with an offset (RFC 3339), for example 2026-01-31T09:30:00.000Z, or null."""


class ConsoleLink(TypedDict):
    """A link to the console."""

    id: str
    """Its id."""
    object: Literal["console_link"]
    """Its kind."""
    scopes: list[Literal["teammates:read", "teammates:write", "customers:read", "customers:write", "customers:erase", "conversations:read", "conversations:write", "messages:read", "messages:write", "notes:read", "notes:write", "tickets:read", "tickets:write", "bookings:read", "bookings:write", "webhooks:read", "webhooks:write", "import", "api_keys:manage", "*"] | str]
    """The scopes of its session."""
    url: str
    """Opens the console, once. Its secret is behind the #, which browsers send to nobody."""
    expiresAt: str
    """When link and session end, if not before."""


class ConsoleSession(TypedDict):
    """A session of the console."""

    id: str
    """The id of its link, by which it is ended."""
    object: Literal["console_session"]
    """Its kind."""
    organizationId: str
    """Whose it is."""
    scopes: list[Literal["teammates:read", "teammates:write", "customers:read", "customers:write", "customers:erase", "conversations:read", "conversations:write", "messages:read", "messages:write", "notes:read", "notes:write", "tickets:read", "tickets:write", "bookings:read", "bookings:write", "webhooks:read", "webhooks:write", "import", "api_keys:manage", "*"] | str]
    """The calls that it may make."""
    token: str
    """Says who calls, as the token of a key does. Shown this once."""
    expiresAt: str
    """When it ends, if not before."""


class _ConsoleLinkCreateRequired(TypedDict):
    scopes: list[Literal["teammates:read", "teammates:write", "customers:read", "customers:write", "customers:erase", "conversations:read", "conversations:write", "messages:read", "messages:write", "notes:read", "notes:write", "tickets:read", "tickets:write", "bookings:read", "bookings:write", "webhooks:read", "webhooks:write", "import"]]
    """The scopes of its session, at most those of the key that makes it. It cannot manage keys. Must be a list of 1 to 100 of teammates:read, teammates:write, customers:read, customers:write, customers:erase, conversations:read, conversations:write, messages:read, messages:write, notes:read, notes:write, tickets:read, tickets:write, bookings:read, bookings:write, webhooks:read, webhooks:write, import."""


class ConsoleLinkCreate(_ConsoleLinkCreateRequired, total=False):
    expiresIn: int | None
    """After how many seconds link and session end; an hour unless given. Must be a whole number from 60 to 86400, or null."""


class ConsoleLinkExchange(TypedDict):
    link: str
    """The part of the URL after #link=. Must be a string of 1 to 100 characters (no U+0000)."""


class Organization(TypedDict):
    """The owner of everything that a key can reach."""

    id: str
    """Its id: `organizationId` of everything that it owns."""
    object: Literal["organization"]
    """Its kind."""
    name: str
    """Its name."""
    preventDoubleBooking: bool
    """Whether a booking is refused (409 booking_conflict) that overlaps with another of its assignee."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it was last changed."""


class OrganizationPatch(TypedDict, total=False):
    """Fields left out stay as they are."""

    name: str
    """Its name. Must be a string of 1 to 255 characters (no U+0000)."""
    preventDoubleBooking: bool
    """Whether a booking is refused (409 booking_conflict) that overlaps with another of its assignee. Must be true or false. Initially `false`."""


class TeammateFilters(TypedDict, total=False):
    """Several filters must all hold."""

    email: str
    """Has this email."""
    createdAfter: str
    """Created later than this, exclusive."""
    createdBefore: str
    """Created earlier than this, exclusive."""
    q: str
    """It has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503."""


class CustomerFilters(TypedDict, total=False):
    """Several filters must all hold."""

    email: str
    """Has this email."""
    phone: str
    """Has this phone."""
    externalId: str
    """Has this externalId."""
    tag: str
    """Has this tag."""
    customAttribute: str
    """Has this custom attribute: its name, a colon and its value, as in `plan:gold`. In the name, `\\:` is a colon and `\\\\` a backslash. A value that is a JSON string, number or boolean is that one, as in `n:3` and `n:"3"`; any other is text."""
    createdAfter: str
    """Created later than this, exclusive."""
    createdBefore: str
    """Created earlier than this, exclusive."""
    q: str
    """It has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503."""


class ConversationFilters(TypedDict, total=False):
    """Several filters must all hold."""

    customerId: str
    """Has this customerId."""
    channel: Literal["email", "chat", "sms", "whatsapp", "phone", "api"]
    """Has this channel."""
    status: Literal["open", "resolved"]
    """Has this status."""
    handledBy: Literal["ai", "human"]
    """Has this handledBy."""
    assigneeId: str | None
    """Has this assigneeId; `null`: has none."""
    externalId: str
    """Has this externalId."""
    tag: str
    """Has this tag."""
    customAttribute: str
    """Has this custom attribute: its name, a colon and its value, as in `plan:gold`. In the name, `\\:` is a colon and `\\\\` a backslash. A value that is a JSON string, number or boolean is that one, as in `n:3` and `n:"3"`; any other is text."""
    createdAfter: str
    """Created later than this, exclusive."""
    createdBefore: str
    """Created earlier than this, exclusive."""
    q: str
    """It, or its customer, or one of its messages has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503."""


class MessageFilters(TypedDict, total=False):
    """Several filters must all hold."""

    conversationId: str
    """Has this conversationId."""
    direction: Literal["inbound", "outbound"]
    """Has this direction."""
    externalId: str
    """Has this externalId."""
    customerId: str
    """Has this customerId."""
    createdAfter: str
    """Created later than this, exclusive."""
    createdBefore: str
    """Created earlier than this, exclusive."""
    q: str
    """It has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503."""


class NoteFilters(TypedDict, total=False):
    """Several filters must all hold."""

    conversationId: str
    """Has this conversationId."""
    customerId: str
    """Has this customerId."""
    createdAfter: str
    """Created later than this, exclusive."""
    createdBefore: str
    """Created earlier than this, exclusive."""
    q: str
    """It has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503."""


class TicketFilters(TypedDict, total=False):
    """Several filters must all hold."""

    customerId: str
    """Has this customerId."""
    conversationId: str
    """Has this conversationId."""
    number: int
    """Has this number."""
    type: Literal["question", "incident", "problem", "task"]
    """Has this type."""
    priority: Literal["low", "normal", "high", "urgent"]
    """Has this priority."""
    status: Literal["new", "open", "pending", "on_hold", "resolved", "closed"]
    """Has this status."""
    assigneeId: str | None
    """Has this assigneeId; `null`: has none."""
    externalId: str
    """Has this externalId."""
    tag: str
    """Has this tag."""
    customAttribute: str
    """Has this custom attribute: its name, a colon and its value, as in `plan:gold`. In the name, `\\:` is a colon and `\\\\` a backslash. A value that is a JSON string, number or boolean is that one, as in `n:3` and `n:"3"`; any other is text."""
    createdAfter: str
    """Created later than this, exclusive."""
    createdBefore: str
    """Created earlier than this, exclusive."""
    overdue: bool | Literal["true"]
    """With `true`: is due before now, and neither resolved nor closed."""
    q: str
    """It, or its customer has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503."""


class BookingFilters(TypedDict, total=False):
    """Several filters must all hold."""

    customerId: str
    """Has this customerId."""
    status: Literal["pending", "confirmed", "cancelled", "completed", "no_show", "rejected"]
    """Has this status."""
    assigneeId: str | None
    """Has this assigneeId; `null`: has none."""
    externalId: str
    """Has this externalId."""
    tag: str
    """Has this tag."""
    customAttribute: str
    """Has this custom attribute: its name, a colon and its value, as in `plan:gold`. In the name, `\\:` is a colon and `\\\\` a backslash. A value that is a JSON string, number or boolean is that one, as in `n:3` and `n:"3"`; any other is text."""
    createdAfter: str
    """Created later than this, exclusive."""
    createdBefore: str
    """Created earlier than this, exclusive."""
    startAfter: str
    """Has a startAt later than this."""
    startBefore: str
    """Has a startAt earlier than this."""
    endAfter: str
    """Has a endAt later than this."""
    endBefore: str
    """Has a endAt earlier than this."""
    q: str
    """It, or its customer has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503."""


class InboxFilters(TypedDict, total=False):
    """Several filters must all hold."""

    awaitingReply: bool | Literal["true", "false"]
    """Whether the customer waits for an answer."""
    customerId: str
    """Has this customerId."""
    channel: Literal["email", "chat", "sms", "whatsapp", "phone", "api"]
    """Has this channel."""
    handledBy: Literal["ai", "human"]
    """Has this handledBy."""
    assigneeId: str | None
    """Has this assigneeId; `null`: has none."""
    externalId: str
    """Has this externalId."""
    tag: str
    """Has this tag."""
    customAttribute: str
    """Has this custom attribute: its name, a colon and its value, as in `plan:gold`. In the name, `\\:` is a colon and `\\\\` a backslash. A value that is a JSON string, number or boolean is that one, as in `n:3` and `n:"3"`; any other is text."""
    createdAfter: str
    """Created later than this, exclusive."""
    createdBefore: str
    """Created earlier than this, exclusive."""
    q: str
    """It, or its customer, or one of its messages has words that begin with each of these, at most 16, whatever their case and accents. A search that takes longer than a few seconds is ended: 503."""


class WebhookFilters(TypedDict, total=False):
    """Several filters must all hold."""

    status: Literal["active", "paused", "disabled"]
    """Has this status."""
    createdAfter: str
    """Created later than this, exclusive."""
    createdBefore: str
    """Created earlier than this, exclusive."""


class DeliveryFilters(TypedDict, total=False):
    """Several filters must all hold."""

    status: Literal["pending", "succeeded", "failed", "skipped", "undelivered"]
    """Has this status; `undelivered`: is pending or failed."""
    eventType: Literal["teammate.deleted", "customer.created", "customer.updated", "customer.deleted", "conversation.created", "conversation.assigned", "conversation.unassigned", "conversation.escalated", "conversation.resolved", "conversation.reopened", "conversation.summarized", "conversation.deleted", "message.received", "message.sent", "message.deleted", "note.created", "note.updated", "note.deleted", "ticket.created", "ticket.updated", "ticket.status_changed", "ticket.assigned", "ticket.deleted", "booking.created", "booking.confirmed", "booking.rescheduled", "booking.cancelled", "booking.completed", "booking.no_show", "booking.rejected", "booking.deleted", "endpoint.failing", "endpoint.disabling_soon", "endpoint.disabled", "endpoint.recovered", "ping"]
    """Reports this."""
    eventId: str
    """Reports the event with this id, which receivers get as `id` and `webhook-id`."""
    createdAfter: str
    """Created later than this, exclusive."""
    createdBefore: str
    """Created earlier than this, exclusive."""


class AllDeliveryFilters(TypedDict, total=False):
    """Several filters must all hold."""

    status: Literal["pending", "succeeded", "failed", "skipped", "undelivered"]
    """Has this status; `undelivered`: is pending or failed."""
    eventType: Literal["teammate.deleted", "customer.created", "customer.updated", "customer.deleted", "conversation.created", "conversation.assigned", "conversation.unassigned", "conversation.escalated", "conversation.resolved", "conversation.reopened", "conversation.summarized", "conversation.deleted", "message.received", "message.sent", "message.deleted", "note.created", "note.updated", "note.deleted", "ticket.created", "ticket.updated", "ticket.status_changed", "ticket.assigned", "ticket.deleted", "booking.created", "booking.confirmed", "booking.rescheduled", "booking.cancelled", "booking.completed", "booking.no_show", "booking.rejected", "booking.deleted", "endpoint.failing", "endpoint.disabling_soon", "endpoint.disabled", "endpoint.recovered", "ping"]
    """Reports this."""
    eventId: str
    """Reports the event with this id, which receivers get as `id` and `webhook-id`."""
    createdAfter: str
    """Created later than this, exclusive."""
    createdBefore: str
    """Created earlier than this, exclusive."""
    webhookId: str
    """Goes to this endpoint; to one that does not exist, nothing does."""


class EventFilters(TypedDict, total=False):
    """Several filters must all hold."""

    types: str | list[str]
    """Of these types, separated by commas: of teammate.deleted, customer.created, customer.updated, customer.deleted, conversation.created, conversation.assigned, conversation.unassigned, conversation.escalated, conversation.resolved, conversation.reopened, conversation.summarized, conversation.deleted, message.received, message.sent, message.deleted, note.created, note.updated, note.deleted, ticket.created, ticket.updated, ticket.status_changed, ticket.assigned, ticket.deleted, booking.created, booking.confirmed, booking.rescheduled, booking.cancelled, booking.completed, booking.no_show, booking.rejected, booking.deleted, endpoint.failing, endpoint.disabling_soon, endpoint.disabled, endpoint.recovered. Default: all that the key may read."""
    subject: str
    """About the object with this id."""
    createdAfter: str
    """Where to start, exclusive; without a cursor only. Default: the oldest event that is kept."""
    include: Literal["actor"]
    """Also who caused each event, as `actor` and `requestId`."""


class ApiKeyFilters(TypedDict, total=False):
    """Several filters must all hold."""

    createdAfter: str
    """Created later than this, exclusive."""
    createdBefore: str
    """Created earlier than this, exclusive."""
    revoked: bool | Literal["true", "false"]
    """With `true`: instead those that were revoked in the last 30 days, the latest first."""


AnyRow = Teammate | Customer | Conversation | Message | Note | Ticket | Booking
"""A row of any kind."""

class _Envelope(TypedDict):
    id: str
    """The same on every attempt: deduplicate by it."""
    apiVersion: str
    createdAt: str
    organizationId: str


class RemovalEvent(_Envelope):
    type: Literal["teammate.deleted", "customer.deleted", "conversation.deleted", "message.deleted", "note.deleted", "ticket.deleted", "booking.deleted"]
    data: Removed


class CustomerEvent(_Envelope):
    type: Literal["customer.created", "customer.updated"]
    data: Customer


class ConversationEvent(_Envelope):
    type: Literal["conversation.created", "conversation.assigned", "conversation.unassigned", "conversation.escalated", "conversation.resolved", "conversation.reopened", "conversation.summarized"]
    data: Conversation


class MessageEvent(_Envelope):
    type: Literal["message.received", "message.sent"]
    data: Message


class NoteEvent(_Envelope):
    type: Literal["note.created", "note.updated"]
    data: Note


class TicketEvent(_Envelope):
    type: Literal["ticket.created", "ticket.updated", "ticket.status_changed", "ticket.assigned"]
    data: Ticket


class BookingEvent(_Envelope):
    type: Literal["booking.created", "booking.confirmed", "booking.rescheduled", "booking.cancelled", "booking.completed", "booking.no_show", "booking.rejected"]
    data: Booking


class WebhookEvent(_Envelope):
    type: Literal["endpoint.failing", "endpoint.disabling_soon", "endpoint.disabled", "endpoint.recovered"]
    data: Webhook


class PingEvent(_Envelope):
    type: Literal["ping"]
    data: dict[str, Any]


Event = RemovalEvent | CustomerEvent | ConversationEvent | MessageEvent | NoteEvent | TicketEvent | BookingEvent | WebhookEvent | PingEvent
"""What a receiver gets. Later versions may send more types: answer them 2xx."""

EventType = Literal["teammate.deleted", "customer.created", "customer.updated", "customer.deleted", "conversation.created", "conversation.assigned", "conversation.unassigned", "conversation.escalated", "conversation.resolved", "conversation.reopened", "conversation.summarized", "conversation.deleted", "message.received", "message.sent", "message.deleted", "note.created", "note.updated", "note.deleted", "ticket.created", "ticket.updated", "ticket.status_changed", "ticket.assigned", "ticket.deleted", "booking.created", "booking.confirmed", "booking.rescheduled", "booking.cancelled", "booking.completed", "booking.no_show", "booking.rejected", "booking.deleted", "endpoint.failing", "endpoint.disabling_soon", "endpoint.disabled", "endpoint.recovered", "ping"]
