/** The inbox over HTTP: conversations with what their stored rows lack, the longest wait first. */
import { grants } from '../auth/scopes.ts'
import { conversation } from '../desk/conversation/index.ts'
import { anId, invalid, paging, readQuery, time, unknownParameter, word } from '../http/list-parameters.ts'
import { headersOnly, listBody, searchParameters } from '../http/replies.ts'
import type { Problem } from '../kernel/errors.ts'
import { done, fail, ok, type Result, refused } from '../kernel/outcome.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { exampleObject } from '../kinds/docs/kind-schemas.ts'
import { filtersOf, readConditions } from '../kinds/http/list-query.ts'
import { noSuchPlace, searchTooLong } from '../kinds/http/routes.ts'
import {
  type ApiModule,
  constant,
  exampleId,
  exampleList,
  exampleTime,
  pageOf,
  ref,
  routesOf,
} from '../openapi/api-module.ts'
import { field, nullable, recordSchema, time as shownTime, uuid } from '../openapi/field-schemas.ts'
import { countedTo, countInbox, type InboxQuery, type InboxReader, previewLength, readInbox } from './read.ts'

const route = routesOf<InboxReader>()

const own = {
  limit: paging.limit,
  after: anId(
    'The rows that come after the conversation with this id. Send its awaitingReplySince too.',
    null,
  ),
  afterSince: time('The awaitingReplySince of the row that `after` names; left out if that is null.'),
  awaitingReply: word(['true', 'false'], 'Whether the customer waits for an answer.'),
} as const

// The inbox has open conversations only.
const { status: _, ...filters } = filtersOf(conversation)

const exampleEntry = () => ({
  object: 'inbox_entry',
  conversation: exampleObject(conversation),
  lastMessage: {
    id: exampleId(3),
    author: { type: 'customer', name: 'Ada Lovelace' },
    sentAt: exampleTime,
    preview: 'Where is my parcel?',
  },
  awaitingReplySince: exampleTime,
})

const listInbox = route({
  tag: conversation.plural,
  access: `${conversation.plural}:read`,
  method: 'get',
  path: '/v1/inbox',
  id: 'listInbox',
  summary: 'List open conversations by how long the customer waits',
  description: `Conversations whose customer waits for an answer come first, the longest wait before others; then the rest, newest first. \`total\` counts to ${countedTo}. \`lastMessage\` is null for a key without \`messages:read\`.`,
  query: { ...own, ...filters },
  answers: {
    200: {
      description: 'A page of the inbox.',
      schema: ref('InboxPage'),
      examples: () => ({ page: exampleList(exampleEntry()) }),
    },
  },
  async handle(services, call) {
    const { organizationId, scopes } = call.caller
    const query = parseInboxQuery(
      searchParameters(call.request),
      formatTimestamp(services.clock.now()),
      scopes,
    )
    if (!query.ok) return refused(query.error)
    const head = headersOnly(call.request)
    if (head !== null) return head
    const showsMessages = grants(scopes, 'messages:read')
    const signal = call.request.disconnected
    const page = await readInbox(services, organizationId, query.value, showsMessages, signal)
    if (page === 'too_long') return refused(searchTooLong)
    if (page === 'unknown') return refused(noSuchPlace(query.value.after))
    const { records, total, hasMore } = page
    return done(listBody(records, { total, limit: query.value.limit, offset: 0, hasMore }))
  },
})

const counted = {
  assigneeId: anId('The teammate whose conversations `assigned` counts.', null),
} as const

const countInboxRoute = route({
  tag: conversation.plural,
  access: `${conversation.plural}:read`,
  method: 'get',
  path: '/v1/inbox/counts',
  id: 'countInbox',
  summary: 'Count the conversations of the inbox',
  description: `Each count ends at ${countedTo}, which means that many or more.`,
  query: counted,
  answers: { 200: { description: 'The counts.', schema: ref('InboxCounts') } },
  async handle(services, call) {
    const query = readQuery(searchParameters(call.request), counted)
    if (!query.ok) return refused(query.error)
    const { assigneeId } = query.value
    const signal = call.request.disconnected
    const counts = await countInbox(services, call.caller.organizationId, assigneeId, signal)
    const [open, waiting, unassigned, assigned] = counts
    return done({ object: 'inbox_counts', open, waiting, unassigned, assigned })
  },
})

const count = (description: string) => field({ type: 'integer', minimum: 0, maximum: countedTo }, description)

function parseInboxQuery(
  query: URLSearchParams,
  now: string,
  scopes: readonly string[],
): Result<InboxQuery, Problem> {
  const unknown = unknownParameter(query, [...Object.keys(own), ...Object.keys(filters)])
  if (unknown !== null) return fail(unknown)
  const values = readQuery(new URLSearchParams([...query].filter(([name]) => name in own)), own)
  if (!values.ok) return values
  const { limit, after, afterSince, awaitingReply } = values.value
  if (afterSince !== null && after === null) return invalid('afterSince goes with after: send both.')
  const conditions = readConditions(conversation, query, now, scopes)
  if (!conditions.ok) return conditions
  return ok({
    limit,
    after,
    afterSince,
    awaitingReply: awaitingReply as InboxQuery['awaitingReply'],
    conditions: conditions.value,
  })
}

export const inboxApi = {
  tags: [],
  routes: [listInbox, countInboxRoute],
  schemas: () => ({
    InboxEntry: recordSchema(
      'A conversation in the inbox.',
      {
        object: field(constant('inbox_entry'), 'Distinguishes it from a row.'),
        conversation: field(ref('Conversation'), 'The conversation, as everywhere.'),
        lastMessage: field(
          {
            type: ['object', 'null'],
            required: ['id', 'author', 'sentAt', 'preview'],
            properties: {
              id: { ...uuid, description: 'The id of the message.' },
              author: { type: 'object', description: 'Its author.' },
              sentAt: { ...shownTime, description: 'When it was sent.' },
              preview: {
                type: 'string',
                description: `The first ${previewLength} characters of its body; empty if it has none.`,
              },
            },
          },
          'The message that was created last; null if there is none, or without the scope `messages:read`.',
        ),
        awaitingReplySince: field(
          nullable(shownTime),
          "When the customer's first message was sent that no teammate or AI has answered; null if all are answered.",
        ),
      },
      exampleEntry(),
    ),
    InboxPage: pageOf(ref('InboxEntry')),
    InboxCounts: recordSchema(
      'How many conversations the inbox has.',
      {
        object: field(constant('inbox_counts'), 'Distinguishes it from a row.'),
        open: count('Open conversations.'),
        waiting: count('Those whose customer waits for an answer.'),
        unassigned: count('Those without an assignee.'),
        assigned: count('Those of `assigneeId`; 0 without it.'),
      },
      { object: 'inbox_counts', open: 31, waiting: 12, unassigned: 5, assigned: 7 },
    ),
  }),
} satisfies ApiModule
