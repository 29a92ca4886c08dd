/** Endpoints, their deliveries, and the lanes by which workers find what is due. */
import type { Migration } from '../migration.ts'

export const webhookMigrations: readonly Migration[] = [
  {
    id: '20261121-01-webhooks',
    statements: [
      `create table webhooks (
        organization_id uuid not null references organizations,
        id uuid not null,
        url text not null,
        description text,
        events text[] not null,
        status text not null check (status in ('active', 'disabled')),
        disabled_reason text
          check (disabled_reason in ('failing', 'address_not_public', 'registrant_revoked', 'manual')),
        disabled_at timestamptz(3),
        api_key_id uuid not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        primary key (organization_id, id),
        check ((status = 'disabled') = (disabled_at is not null)),
        check ((status = 'disabled') = (disabled_reason is not null))
      )`,
      `create table webhook_secrets (
        organization_id uuid not null,
        webhook_id uuid not null,
        id uuid not null,
        sealed bytea not null,
        created_at timestamptz(3) not null,
        expires_at timestamptz(3),
        primary key (organization_id, webhook_id, id),
        foreign key (organization_id, webhook_id) references webhooks on delete cascade
      )`,
      // What counts moves neither updatedAt nor anything else of the endpoint: rows of their own.
      `create table webhook_health (
        organization_id uuid not null,
        webhook_id uuid not null,
        failure_count integer not null default 0,
        failing_since timestamptz(3),
        last_success_at timestamptz(3),
        primary key (organization_id, webhook_id),
        foreign key (organization_id, webhook_id) references webhooks on delete cascade,
        check ((failure_count = 0) = (failing_since is null))
      ) with (fillfactor = 20)`,
      // One lane an endpoint: when its next delivery is due, and which worker holds it. Found without locks by
      // due_at, leased by compare-and-set, so at most one worker sends to an endpoint at a time.
      `create table lanes (
        organization_id uuid not null,
        webhook_id uuid not null,
        due_at timestamptz(3),
        lease_id uuid,
        lease_until timestamptz(3),
        primary key (organization_id, webhook_id),
        foreign key (organization_id, webhook_id) references webhooks on delete cascade,
        check ((lease_id is null) = (lease_until is null))
      ) with (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0)`,
      `create index lanes_due on lanes (due_at) where due_at is not null`,
      `create table deliveries (
        organization_id uuid not null,
        id uuid not null,
        webhook_id uuid not null,
        event_id uuid not null,
        event_type text not null,
        status text not null check (status in ('pending', 'succeeded', 'failed')),
        payload text not null check (payload in ('current', 'stored')),
        attempt_count integer not null,
        max_attempts integer not null check (max_attempts > 0),
        response_status integer,
        last_error_code text,
        last_error_message text,
        duration_ms integer,
        last_attempt_at timestamptz(3),
        next_attempt_at timestamptz(3),
        delivered_at timestamptz(3),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        primary key (organization_id, id),
        check ((status = 'pending') = (next_attempt_at is not null)),
        check ((status = 'succeeded') = (delivered_at is not null))
      ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05)`,
      `create index deliveries_due on deliveries (organization_id, webhook_id, next_attempt_at, id)
        where status = 'pending'`,
      `create index deliveries_log on deliveries (organization_id, webhook_id, created_at desc, id desc)`,
      `create unique index deliveries_event on deliveries (organization_id, event_id, webhook_id)`,
      `create table attempts (
        organization_id uuid not null,
        delivery_id uuid not null,
        number integer not null,
        at timestamptz(3) not null,
        response_status integer,
        error_code text,
        error_message text,
        duration_ms integer not null,
        response_body text,
        primary key (organization_id, delivery_id, number)
      )`,
      // Endpoints whose deliveries still have to be removed after them.
      `create table removed_webhooks (
        organization_id uuid not null,
        webhook_id uuid not null,
        removed_at timestamptz(3) not null,
        primary key (organization_id, webhook_id)
      )`,
      // Answers that hold a secret are kept encrypted.
      `alter table idempotency_keys add column sealed bytea`,
      `alter table idempotency_keys add check (body is null or sealed is null)`,
    ],
  },
  {
    id: '20261121-40-lane-tiers',
    statements: [
      // Who holds the lane, so that a worker finds its own again; whether it wants to hear of what comes in meanwhile;
      // and in which tier the lane waits: 0 light, 1 heavy (it has a backlog), 2 slow, 3 fresh (nothing is known).
      `alter table lanes add column worker_id uuid, add column listening boolean not null default false,
        add column tier smallint not null default 3 check (tier between 0 and 3)`,
      // Each tier is searched by itself: none steps over the lanes of another.
      `create index lanes_due_by_tier on lanes (tier, due_at) where due_at is not null`,
      `drop index lanes_due`,
    ],
  },
]
