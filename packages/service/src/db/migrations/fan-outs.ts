/** Large commits: what is left to be done of the deliveries that a commit did not make itself. */
import type { Migration } from '../migration.ts'

export const fanOutMigrations: readonly Migration[] = [
  {
    id: '20261122-30-fan-outs',
    statements: [
      // One row a commit and endpoint. It has all that decides who gets what: what becomes of the endpoint later changes
      // nothing of it, and it goes with the endpoint.
      `create table fan_outs (
        organization_id uuid not null,
        webhook_id uuid not null,
        -- The commit's: its events, and no other's, have ids of this millisecond.
        stamp timestamptz(3) not null,
        -- What the endpoint was subscribed to.
        types text[] not null,
        max_attempts integer not null check (max_attempts > 0),
        -- No event up to this id is left to make a delivery of.
        position uuid not null,
        -- When the next piece is due. Those that have had one later wait behind those that have not.
        due_at timestamptz(3) not null,
        primary key (organization_id, webhook_id, stamp),
        foreign key (organization_id, webhook_id) references webhooks on delete cascade
      )`,
      'create index fan_outs_due on fan_outs (due_at)',
    ],
  },
]
