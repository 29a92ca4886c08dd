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
} from './transitions.ts'

const escalation = { always: ['conversation.escalated'], sometimes: ['conversation.assigned'] }
const resolution = { sometimes: ['conversation.resolved', 'conversation.reopened'] }
const summary = { sometimes: ['conversation.summarized', 'conversation.reopened'] }

const exampleSummary = 'The parcel was found.'
const exampleEscalated = { escalatedAt: '2026-03-01T12:00:00.000Z' }
const exampleResolved = { status: 'resolved', resolvedAt: '2026-03-01T12:00:00.000Z' }

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
  documentedEvents: {
    fields: {
      status: resolution,
      handledBy: escalation,
      assigneeId: {
        sometimes: ['conversation.assigned', 'conversation.unassigned', 'conversation.escalated'],
      },
      escalatedAt: escalation,
      resolvedAt: resolution,
      summary,
      summarizedAt: summary,
    },
    examples: {
      'conversation.assigned': { ...exampleEscalated, assigneeId: '01980000-0000-7000-8000-000000000001' },
      'conversation.unassigned': exampleEscalated,
      'conversation.escalated': exampleEscalated,
      'conversation.resolved': exampleResolved,
      'conversation.summarized': {
        ...exampleResolved,
        summary: exampleSummary,
        summarizedAt: exampleResolved.resolvedAt,
      },
    },
  },
  foundBy: [
    { plural: 'customers', phrase: 'its customer', column: 'customer_id' },
    { plural: 'messages', phrase: 'one of its messages', column: 'conversation_id', refersHere: true },
  ],
  rules: { create: createConversation, update: updateConversation, events: conversationEvents },
  actions: {
    escalate: action({
      description: 'Hands it from an AI to a person.',
      fields: {},
      events: ['conversation.escalated'],
      apply: (before: Conversation, _input, context) => escalate(before, context),
    }),
    resolve: action({
      description: 'Closes it. Its summary is written some minutes later.',
      fields: {},
      events: ['conversation.resolved'],
      apply: (before: Conversation, _input, context) => resolve(before, context),
    }),
    reopen: action({
      description: 'Opens it again; resolvedAt, summary and summarizedAt become null.',
      fields: {},
      events: ['conversation.reopened'],
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
      example: { summary: exampleSummary },
      events: ['conversation.summarized'],
      apply: (before: Conversation, { summary }, context) => summarize(before, summary, context),
    }),
  },
  example: {
    customerId: '01980000-0000-7000-8000-000000000001',
    channel: 'email',
    subject: 'Where is my parcel?',
  },
})
