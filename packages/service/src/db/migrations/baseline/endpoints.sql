-- Endpoints, their secrets, health and queues.

-- Endpoints: addresses that events are delivered to.
create table webhooks (
  organization_id uuid not null references organizations,
  id uuid not null,
  url text not null,
  description text,
  events text[] not null,
  status text not null check (status in ('active', 'disabled')),
  disabled_reason text
    check (disabled_reason in ('failing', 'address_not_public', 'registrant_revoked', 'manual', 'gone')),
  disabled_at timestamptz(3),
  api_key_id uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  signatures text[] not null default '{service}'
    check (signatures in ('{service}', '{service,standard}', '{service,standard,v1a}')),
  -- While an endpoint is disabled no deliveries are made for it. Enabled again, it remembers since when that was.
  gap_since timestamptz(3),
  gap_until timestamptz(3),
  -- The link of the console session that registered it. An endpoint outlives both.
  console_link_id uuid,
  -- What it asks for beyond the defaults: null, or false, asks for nothing.
  options jsonb,
  sealed_headers bytea,
  ends_at timestamptz(3),
  -- The last state that an event reported, and since when.
  reported_state text,
  reported_since timestamptz(3),
  primary key (organization_id, id),
  check ((status = 'disabled') = (disabled_at is not null)),
  check ((status = 'disabled') = (disabled_reason is not null)),
  check ((gap_since is null) = (gap_until is null))
);
create index webhooks_registrant on webhooks (organization_id, api_key_id) where status = 'active';
create index webhooks_end on webhooks (ends_at) where ends_at is not null;
create index webhooks_reported on webhooks (organization_id, id)
  where reported_state is distinct from case when status = 'disabled' then 'disabled' end;

-- The signing secrets of endpoints, sealed.
create table webhook_secrets (
  organization_id uuid not null,
  webhook_id uuid not null,
  id uuid not null,
  sealed bytea not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  primary key (organization_id, webhook_id, id),
  foreign key (organization_id, webhook_id) references webhooks on delete cascade
);

-- Recent results of an endpoint. Counts change nothing of the endpoint, not even updatedAt, so they have rows of
-- their own.
create table webhook_health (
  organization_id uuid not null,
  webhook_id uuid not null,
  failure_count integer not null default 0,
  failing_since timestamptz(3),
  -- Later ones may be in delivery_stats.
  last_success_at timestamptz(3),
  primary key (organization_id, webhook_id),
  foreign key (organization_id, webhook_id) references webhooks on delete cascade,
  check ((failure_count = 0) = (failing_since is null))
) with (fillfactor = 20);
create index webhook_health_failing on webhook_health (organization_id, webhook_id) where failing_since is not null;

-- One row an endpoint, its queue: when its next delivery is due, and which worker holds it. Found without locks by
-- due_at and leased by compare-and-set, so that one worker at a time sends to an endpoint.
create table endpoint_queues (
  organization_id uuid not null,
  webhook_id uuid not null,
  due_at timestamptz(3),
  lease_id uuid,
  lease_until timestamptz(3),
  -- The worker that leases the queue: it is notified of new deliveries.
  worker_id uuid,
  -- Its priority: 0 healthy, 1 unproven (nothing is known, or it responded late), 2 failing (it did not respond).
  priority smallint not null default 1 check (priority between 0 and 2),
  -- Leases in a row whose worker died; how many deliveries more are sent one at a time for it; and under the lease
  -- that runs, which of them, since when.
  lost_leases smallint not null default 0,
  alone_left smallint not null default 0,
  alone_id uuid,
  alone_since timestamptz(3),
  -- Every pending delivery is due at this time or later; null: not known. And how often one may have become due
  -- before it.
  read_to timestamptz(3),
  rewinds integer not null default 0,
  primary key (organization_id, webhook_id),
  foreign key (organization_id, webhook_id) references webhooks on delete cascade,
  check ((lease_id is null) = (lease_until is null)),
  check ((alone_id is null) = (alone_since is null))
) with (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0);

-- Each priority is searched by itself: none steps over the queues of another.
create index endpoint_queues_due on endpoint_queues (priority, due_at) where due_at is not null;
