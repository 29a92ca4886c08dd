/** Recoveries: what brings back the events that an endpoint has missed, piece by piece. */
import type { Migration } from '../migration.ts'

export const recoveryMigrations: readonly Migration[] = [
  {
    id: '20261121-11-recoveries',
    statements: [
      `create table recoveries (
        organization_id uuid not null,
        webhook_id uuid not null,
        id uuid not null,
        since timestamptz(3) not null,
        until timestamptz(3) not null,
        retried integer not null default 0,
        created integer not null default 0,
        created_at timestamptz(3) not null,
        finished_at timestamptz(3),
        -- No event up to this id is left to look at.
        position uuid not null,
        -- When the next piece is due, and which worker does the pieces.
        due_at timestamptz(3),
        lease_id uuid,
        lease_until timestamptz(3),
        primary key (organization_id, webhook_id, id),
        foreign key (organization_id, webhook_id) references webhooks on delete cascade,
        check (since <= until),
        check ((finished_at is null) = (due_at is not null)),
        check ((lease_id is null) = (lease_until is null))
      )`,
      'create index recoveries_due on recoveries (due_at) where due_at is not null',
    ],
  },
]
