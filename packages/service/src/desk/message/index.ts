import { reviseSearchTable, translateSearchTable } from '../../db/migrations/search.ts'
import { addBodyVersion, createStreamTable } from '../../db/migrations/stream-table.ts'
import { defineKind } from '../../kinds/model/define-kind.ts'
import { reviseWords } from '../../kinds/model/revise-words.ts'
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
  },
  removedEvent: null,
  immutable: true,
  rules: { create: createMessage, events: messageEvents },
  effects: arrival,
  migrations: [
    {
      id: '20261121-02-messages',
      statements: createStreamTable({
        name: 'messages',
        columns: ['conversation_id uuid', 'customer_id uuid', 'author_id uuid', 'direction text'],
        lookup: ['conversation_id', 'customer_id', 'direction'],
        words: true,
      }),
    },
    { id: '20261122-20-message-search', ...reviseSearchTable('messages') },
    { id: '20261122-41-message-stored-counts', statements: [] },
    { id: '20261122-50-message-body-version', statements: [addBodyVersion('messages')] },
    // In databases that had the search tables before they took what earlier releases write.
    { id: '20261123-20-message-words', statements: translateSearchTable('messages') },
    { id: '20261125-20-message-marks', ...reviseWords('messages', ['body']) },
  ],
  example: {
    conversationId: '01980000-0000-7000-8000-000000000002',
    direction: 'inbound',
    author: { type: 'customer', name: 'Ada Lovelace' },
    body: 'Where is my parcel?',
  },
})
