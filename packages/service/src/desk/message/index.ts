import type { Migration } from '../../db/migration.ts'
import { indexOutdated, indexReference } from '../../db/migrations/stream-table.ts'
import { defineKind } from '../../kinds/model/define-kind.ts'
import { arrival, createMessage, messageEvents } from './arrival.ts'
import { messageFields } from './fields.ts'

/** Messages of a teammate, for its removal. */
const authorIndex = indexReference({
  id: '20261126-04-message-authors',
  table: 'messages',
  column: 'author_id',
})

const externalIds: Migration = {
  id: '20261126-13-message-external-ids',
  gradually: {
    prepare: ['alter table messages add column if not exists external_id text'],
    indexes: [
      'drop index concurrently if exists messages_external_id',
      `create unique index concurrently messages_external_id on messages (organization_id, external_id)
          where external_id is not null`,
    ],
  },
  statements: [],
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
    authorIndex,
    externalIds,
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
