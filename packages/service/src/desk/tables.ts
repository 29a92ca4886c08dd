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
    lookup: ['customer_id', 'channel', 'status', 'handled_by'],
    lookupOrNull: ['assignee_id'],
    search: true,
  }),
  // Conversations that need a summary, of all organizations: the summarizer finds its work here.
  `create index conversations_unsummarized on conversations (resolved_at)
    where resolved_at is not null and summarized_at is null`,
  ...createStreamTable({
    name: 'messages',
    columns: [
      'conversation_id uuid',
      'customer_id uuid',
      'author_id uuid',
      'direction text',
      'external_id text',
    ],
    unique: ['external_id'],
    lookup: ['conversation_id', 'customer_id', 'direction'],
    references: ['author_id'],
    search: true,
  }),
  ...createStreamTable({
    name: 'notes',
    columns: ['conversation_id uuid', 'author_id uuid', 'customer_id uuid'],
    lookup: ['conversation_id', 'author_id', 'customer_id'],
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
    lookup: ['customer_id', 'conversation_id', 'type', 'priority', 'status'],
    lookupOrNull: ['assignee_id'],
    search: true,
  }),
  // Tickets that are overdue. Stored times sort as text.
  `create index tickets_due on tickets (organization_id, ((body::json ->> 'dueAt') collate "C"))
    where removed_at is null and status in ('new', 'open', 'pending', 'on_hold')
      and (body::json ->> 'dueAt') collate "C" is not null`,
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
    lookup: ['customer_id', 'start_at', 'status'],
    lookupOrNull: ['assignee_id'],
    references: ['conversation_id'],
    search: true,
  }),
  // Where an assignee's time is taken.
  `create index bookings_times on bookings (organization_id, assignee_id, ((body::json ->> 'endAt') collate "C"))
    where removed_at is null and assignee_id is not null and status in ('pending', 'confirmed')`,
]
