import { reviseSearchTable, translateSearchTable } from '../../db/migrations/search.ts'
import { addBodyVersion, createStreamTable } from '../../db/migrations/stream-table.ts'
import { defineKind } from '../../kinds/model/define-kind.ts'
import { text } from '../../kinds/model/fields.ts'
import { action } from '../../kinds/model/kind.ts'
import { reviseWords } from '../../kinds/model/revise-words.ts'
import { type Conversation, conversationFields, summaryLimit } from './fields.ts'
import { conversationEvents, escalate, reopen, resolve, summarize, updateConversation } from './moves.ts'

/** A thread of messages with a customer (specification 4.4). */
export const conversation = defineKind({
  name: 'conversation',
  plural: 'conversations',
  description: 'A thread of messages with a customer.',
  fields: conversationFields,
  events: {
    'conversation.created': 'a thread starts',
    'conversation.assigned': 'given to a teammate',
    'conversation.escalated': 'handed to a person',
    'conversation.resolved': 'closed; its summary is still null',
    'conversation.summarized': 'its summary is written, some minutes after resolution',
  },
  removedEvent: null,
  rules: { update: updateConversation, events: conversationEvents },
  actions: {
    escalate: action({
      description: 'Hands it from an AI to a person.',
      fields: {},
      apply: (before: Conversation, _input, context) => escalate(before, context),
    }),
    resolve: action({
      description: 'Closes it. Its summary is written some minutes later.',
      fields: {},
      apply: (before: Conversation, _input, context) => resolve(before, context),
    }),
    reopen: action({
      description: 'Opens it again; resolvedAt, summary and summarizedAt become null.',
      fields: {},
      apply: (before: Conversation) => reopen(before),
    }),
    summarize: action({
      description: 'Writes the summary of a resolved conversation, as an AI outside does.',
      fields: {
        summary: text({ min: 1, max: summaryLimit, required: true, description: 'What was said.' }),
      },
      apply: (before: Conversation, { summary }, context) => summarize(before, summary, context),
    }),
  },
  migrations: [
    {
      id: '20261121-01-conversations',
      statements: [
        ...createStreamTable({
          name: 'conversations',
          columns: [
            'customer_id uuid',
            'assignee_id uuid',
            'channel text',
            'status text',
            'handled_by text',
            'resolved_at timestamptz(3)',
            'summarized_at timestamptz(3)',
            'external_id text',
          ],
          unique: ['external_id'],
          lookup: ['customer_id', 'assignee_id', 'channel', 'status', 'handled_by'],
          words: true,
        }),
        // What waits for a summary, across organizations: the search for due work.
        `create index conversations_unsummarized on conversations (resolved_at)
          where resolved_at is not null and summarized_at is null`,
      ],
    },
    { id: '20261122-20-conversation-search', ...reviseSearchTable('conversations') },
    {
      id: '20261122-41-conversation-stored-counts',
      statements: [],
    },
    { id: '20261122-50-conversation-body-version', statements: [addBodyVersion('conversations')] },
    // In databases that had the search tables before they took what earlier releases write.
    { id: '20261123-20-conversation-words', statements: translateSearchTable('conversations') },
    { id: '20261125-20-conversation-marks', ...reviseWords('conversations', ['subject']) },
  ],
  example: {
    customerId: '01980000-0000-7000-8000-000000000001',
    channel: 'email',
    subject: 'Where is my parcel?',
  },
})
