import { defineKind } from '../../kinds/model/define-kind.ts'
import { arrival, createMessage, messageEvents } from './arrival.ts'
import { messageFields } from './fields.ts'

/** Something said in a conversation (specification 4.5). */
export const message = defineKind({
  name: 'message',
  plural: 'messages',
  description: 'Something said in a conversation. It never changes.',
  fields: messageFields,
  events: {
    'message.received': 'a message arrives',
    'message.sent': 'a message goes out',
    'message.deleted': 'a message is deleted, by itself, with its conversation or with its customer',
  },
  removedEvent: 'message.deleted',
  documentedEvents: {
    created: { sometimes: ['message.received', 'message.sent'] },
    examples: {
      'message.sent': { direction: 'outbound', author: { type: 'teammate', name: 'Grace Hopper' } },
    },
  },
  immutable: true,
  rules: { create: createMessage, events: messageEvents },
  effects: arrival,
  example: {
    conversationId: '01980000-0000-7000-8000-000000000002',
    direction: 'inbound',
    author: { type: 'customer', name: 'Ada Lovelace' },
    body: 'Where is my parcel?',
  },
})
