/** The tables of the first release's kinds: part of the baseline, which never changes. Later changes are migrations. */
import { createStreamTable } from '../db/migrations/stream-table.ts'

export const deskTables: readonly string[] = [
  ...createStreamTable({
    name: 'teammates',
    columns: ['email text', 'active boolean'],
    lookup: ['email'],
    search: true,
  }),
  ...createStreamTable({
    name: 'customers',
    columns: ['email text', 'phone text', 'external_id text'],
    unique: ['email', 'external_id'],
    lookup: ['phone'],
    search: true,
  }),
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
    search: true,
  }),
  // Conversations that need a summary, of all organizations: the summarizer finds its work here.
  `create index conversations_unsummarized on conversations (resolved_at)
    where resolved_at is not null and summarized_at is null`,
  ...createStreamTable({
    name: 'messages',
    columns: ['conversation_id uuid', 'customer_id uuid', 'author_id uuid', 'direction text'],
    lookup: ['conversation_id', 'customer_id', 'direction'],
    search: true,
  }),
  ...createStreamTable({
    name: 'tickets',
    columns: [
      'number bigint',
      'customer_id uuid',
      'conversation_id uuid',
      'assignee_id uuid',
      'type text',
      'priority text',
      'status text',
      'external_id text',
    ],
    unique: ['number', 'external_id'],
    lookup: ['customer_id', 'conversation_id', 'assignee_id', 'type', 'priority', 'status'],
    search: true,
  }),
  ...createStreamTable({
    name: 'bookings',
    columns: [
      'customer_id uuid',
      'assignee_id uuid',
      'conversation_id uuid',
      'start_at timestamptz(3)',
      'status text',
      'external_id text',
    ],
    unique: ['external_id'],
    lookup: ['customer_id', 'assignee_id', 'start_at', 'status'],
    search: true,
  }),
]
