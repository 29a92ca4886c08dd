import { text } from '../../kernel/fields/fields.ts'
import { defineKind } from '../../kinds/model/define-kind.ts'
import { action } from '../../kinds/model/kind.ts'
import { type Conversation, conversationFields, summaryLimit } from './fields.ts'
import {
  conversationEvents,
  createConversation,
  escalate,
  reopen,
  resolve,
  summarize,
  updateConversation,
} from './moves.ts'

/** A thread of messages with a customer (specification 4.4). */
export const conversation = defineKind({
  name: 'conversation',
  plural: 'conversations',
  description: 'A thread of messages with a customer.',
  fields: conversationFields,
  events: {
    'conversation.created': 'a thread starts',
    'conversation.assigned': 'given to a teammate',
    'conversation.unassigned': 'taken from its teammate',
    'conversation.escalated': 'handed to a person',
    'conversation.resolved': 'closed; its summary is still null',
    'conversation.reopened': 'open again, by the action or an inbound message',
    'conversation.summarized': 'its summary is written, some minutes after resolution',
    'conversation.deleted': 'a conversation is deleted, by itself or with its customer',
  },
  removedEvent: 'conversation.deleted',
  foundBy: [
    { plural: 'customers', phrase: 'its customer', column: 'customer_id' },
    { plural: 'messages', phrase: 'one of its messages', column: 'conversation_id', refersHere: true },
  ],
  rules: { create: createConversation, update: updateConversation, events: conversationEvents },
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
        summary: text({
          min: 1,
          max: summaryLimit,
          required: true,
          description: 'A summary of the messages.',
        }),
      },
      apply: (before: Conversation, { summary }, context) => summarize(before, summary, context),
    }),
  },
  example: {
    customerId: '01980000-0000-7000-8000-000000000001',
    channel: 'email',
    subject: 'Where is my parcel?',
  },
})
