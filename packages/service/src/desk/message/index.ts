import { buildIndex } from '../../db/migration.ts'
import { indexOutdated, indexReference } from '../../db/migrations/stream-table.ts'
import { defineKind } from '../../kinds/model/define-kind.ts'
import { arrival, createMessage, messageEvents } from './arrival.ts'
import { messageFields } from './fields.ts'

const externalIds = {
  prepare: ['alter table messages add column if not exists external_id text'],
  indexes: buildIndex(
    'messages_external_id',
    'messages (organization_id, external_id) where external_id is not null',
    true,
  ),
}

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
  immutable: true,
  migrations: [
    indexReference('20261126-04-message-authors', 'messages', 'author_id'),
    { id: '20261126-13-message-external-ids', gradually: externalIds, statements: [] },
    { id: '20261126-14-messages-outdated', ...indexOutdated('messages', 2) },
  ],
  upgrades: [(shown) => ({ ...shown, externalId: null })],
  rules: { create: createMessage, events: messageEvents },
  effects: arrival,
  example: {
    conversationId: '01980000-0000-7000-8000-000000000002',
    direction: 'inbound',
    author: { type: 'customer', name: 'Ada Lovelace' },
    body: 'Where is my parcel?',
  },
})
