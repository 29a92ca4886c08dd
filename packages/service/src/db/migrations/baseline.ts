/**
 * The tables and functions of the first release, those of kinds apart; docs/schema.sql shows the outcome. A released migration never
 * changes. Every key leads with organization_id, except in the directories, which find the organization of a request, and in the
 * installation's row.
 */

const functions: readonly string[] = [
  // A row's term of the checkpoint: the first eight bytes of SHA-256 as a signed number. Sums are modulo 2^64, where signs do not matter.
  `create function digest_term(p_id uuid, p_updated_at text) returns numeric
    language sql immutable parallel safe return
    ('x' || left(encode(sha256(convert_to(p_id::text || ':' || p_updated_at, 'UTF8')), 'hex'), 16))::bit(64)::bigint::numeric`,
  // A row's term of the content digest.
  `create function content_term(p_body text) returns bigint
    language sql immutable parallel safe return
    ('x' || left(encode(sha256(convert_to(p_body, 'UTF8')), 'hex'), 16))::bit(64)::bigint`,
  `create function new_uuid_v7(p_at timestamptz) returns uuid language sql volatile parallel safe return
    encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
      placing substring(int8send(floor(extract(epoch from p_at) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid`,
  // The least UUIDv7 of a millisecond.
  `create function first_uuid_v7(p_at timestamptz) returns uuid language sql immutable parallel safe return
    (lpad(to_hex(floor(extract(epoch from p_at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid`,
  // Immutable, unlike a sum with an interval, so a sharding layer accepts it in an update (decision 65).
  `create function millisecond_after(p_at timestamptz) returns timestamptz language sql immutable parallel safe return
    p_at + interval '1 millisecond'`,
  // Each term has the end of the organization's id in front, so that the index finds those of one organization without an extension. One
  // expression of built-in functions, which the planner inlines.
  `create function search_vector(p_organization_id uuid, p_terms text) returns tsvector
    language sql immutable parallel safe return array_to_tsvector(string_to_array(
      right(p_organization_id::text, 8) || replace(p_terms, ' ', ' ' || right(p_organization_id::text, 8)), ' '))`,
]

const organizations: readonly string[] = [
  `create table installation (
    singleton boolean primary key default true check (singleton),
    -- The epoch that organizations begin in. Each has its own; a restore begins another in all of them.
    epoch integer not null,
    -- Tells the installation's encryption key from another. Null: the next key that a process has is taken.
    key_check bytea,
    -- The key before it, while secrets that it seals may be left.
    previous_key_check bytea
  )`,
  'insert into installation (epoch) values (1)',
  `create table organizations (
    organization_id uuid primary key,
    name text not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    -- Null of both for an active organization. One that is being deleted is suspended as well, and stays so.
    suspended_at timestamptz(3),
    deletion_began_at timestamptz(3),
    -- Null for an organization that this database serves.
    away text check (away in ('arriving', 'moved')),
    moves integer not null default 0,
    prevents_double_booking boolean not null default false,
    check (deletion_began_at is null or suspended_at is not null)
  )`,
  // One row an organization, locked first by every commit. Updated constantly: space for HOT updates.
  `create table organization_clocks (
    organization_id uuid primary key references organizations,
    last_stamp timestamptz(3) not null,
    epoch integer not null,
    -- As in organizations: this is the row that every commit reads.
    away text check (away in ('arriving', 'moved')),
    events_dropped_to uuid
  ) with (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0)`,
  `create table kind_counters (
    organization_id uuid not null references organizations,
    kind text not null,
    live_count bigint not null,
    digest numeric not null check (digest >= 0 and digest < 18446744073709551616),
    last_number bigint not null,
    stored_bytes bigint not null default 0,
    removed_count bigint not null default 0,
    content_digest numeric not null check (content_digest >= 0 and content_digest < 18446744073709551616),
    primary key (organization_id, kind)
  ) with (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0)`,
  `create table restores (
    organization_id uuid not null references organizations,
    epoch integer not null,
    -- Stamps after restored_to and up to restored_at are of a past that is lost; no new commit ever has one.
    restored_to timestamptz(3) not null,
    restored_at timestamptz(3) not null,
    primary key (organization_id, epoch),
    check (restored_to <= restored_at)
  )`,
]

const keys: readonly string[] = [
  `create table api_keys (
    organization_id uuid not null references organizations,
    id uuid not null,
    name text not null,
    scopes text[] not null,
    expires_at timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    -- Set by the worker that has disabled what the key registered. Until then the key is in api_keys_expiring.
    expiry_settled_at timestamptz(3),
    primary key (organization_id, id),
    check (expiry_settled_at is null or expires_at is not null)
  )`,
  'create index api_keys_expiring on api_keys (expires_at) where expires_at is not null and expiry_settled_at is null',
  'create index api_keys_newest on api_keys (organization_id, created_at desc, id desc)',
  // A key is an identity that outlives its tokens.
  `create table api_key_tokens (
    token_hash bytea primary key,
    organization_id uuid not null,
    api_key_id uuid not null,
    last4 text not null,
    created_at timestamptz(3) not null,
    expires_at timestamptz(3),
    foreign key (organization_id, api_key_id) references api_keys on delete cascade
  )`,
  'create index api_key_tokens_of_key on api_key_tokens (organization_id, api_key_id)',
  // Uses change nothing of the key, not even updatedAt, so they have rows of their own.
  `create table api_key_uses (
    organization_id uuid not null,
    api_key_id uuid not null,
    last_used_at timestamptz(3) not null,
    primary key (organization_id, api_key_id),
    foreign key (organization_id, api_key_id) references api_keys on delete cascade
  ) with (fillfactor = 50)`,
  `create table console_links (
    -- Of the link's secret until that is exchanged, and then of its session's token: either is good once.
    token_hash bytea not null primary key,
    organization_id uuid not null,
    id uuid not null,
    api_key_id uuid not null,
    scopes text[] not null,
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    exchanged_at timestamptz(3),
    unique (organization_id, id),
    foreign key (organization_id, api_key_id) references api_keys on delete cascade
  )`,
  'create index console_links_of_key on console_links (organization_id, api_key_id)',
  'create index console_links_expiring on console_links (expires_at)',
  // Keys that were revoked, for 30 days.
  `create table revoked_api_keys (
    organization_id uuid not null,
    id uuid not null,
    name text not null,
    scopes text[] not null,
    last4 text not null,
    expires_at timestamptz(3),
    last_used_at timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    revoked_at timestamptz(3) not null,
    -- The key that revoked it; null for the operator.
    revoked_by uuid,
    revoked_by_name text,
    primary key (organization_id, id)
  )`,
  'create index revoked_api_keys_newest on revoked_api_keys (organization_id, revoked_at desc, id desc)',
  'create index revoked_api_keys_age on revoked_api_keys (revoked_at)',
]

// Events, deliveries and attempts are in partitions by week, which are dropped when the log no longer reaches back to them. Pending
// deliveries have a partition of their own; a delivery moves into the log when it is completed.

const events: readonly string[] = [
  // An event's id has its commit's stamp, so ids are in the order of time and the week follows from the id.
  `create table events (
    organization_id uuid not null,
    id uuid not null,
    type text not null,
    created_at timestamptz(3) not null,
    subject_kind text not null,
    subject_id uuid not null,
    body text,
    -- The trace in which its change was made, as a traceparent.
    trace_context text,
    changed jsonb,
    cause jsonb,
    primary key (organization_id, id)
  ) partition by range (id)`,
  // For erasing what events still have of a removed object.
  'create index events_subject on events (organization_id, subject_id)',
  // Takes rows without a week's partition: a commit never fails for want of one.
  'create table events_default partition of events default',
  'create index events_default_age on events_default (created_at)',
  withoutStatistics('events', ['subject_kind', 'body']),
  `create table idempotency_keys (
    organization_id uuid not null,
    api_key_id uuid not null,
    method text not null,
    path text not null,
    key text not null,
    request_hash bytea not null,
    status integer not null,
    subject_id uuid not null,
    body text,
    created_at timestamptz(3) not null,
    -- The body, encrypted, where it holds a secret.
    sealed bytea,
    -- The bytes that it has added to what its organization stores.
    counted integer not null default 0,
    primary key (organization_id, api_key_id, method, path, key),
    check (body is null or sealed is null)
  )`,
  'create index idempotency_keys_subject on idempotency_keys (organization_id, subject_id)',
  'create index idempotency_keys_age on idempotency_keys (created_at)',
  // Removed objects whose stored payloads and responses still have to be erased.
  `create table erasures (
    organization_id uuid not null,
    subject_id uuid not null,
    removed_at timestamptz(3) not null,
    primary key (organization_id, subject_id)
  )`,
  // Objects that a removal has taken a reference from: their stored payloads and responses still have it.
  `create table detachments (
    organization_id uuid not null,
    subject_id uuid not null,
    removed_id uuid not null,
    field text not null,
    primary key (organization_id, subject_id, removed_id)
  )`,
]

const endpoints: readonly string[] = [
  `create table webhooks (
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
    subscription_id text,
    ends_at timestamptz(3),
    -- The last state that an event reported, and since when.
    reported_state text,
    reported_since timestamptz(3),
    primary key (organization_id, id),
    check ((status = 'disabled') = (disabled_at is not null)),
    check ((status = 'disabled') = (disabled_reason is not null)),
    check ((gap_since is null) = (gap_until is null))
  )`,
  `create index webhooks_registrant on webhooks (organization_id, api_key_id) where status = 'active'`,
  'create index webhooks_end on webhooks (ends_at) where ends_at is not null',
  `create index webhooks_reported on webhooks (organization_id, id)
    where reported_state is distinct from case when status = 'disabled' then 'disabled' end`,
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
  // Counts change nothing of the endpoint, not even updatedAt, so they have rows of their own.
  `create table webhook_health (
    organization_id uuid not null,
    webhook_id uuid not null,
    failure_count integer not null default 0,
    failing_since timestamptz(3),
    last_success_at timestamptz(3),
    -- The minute that is being counted; those that are over are in delivery_stats.
    tally_at timestamptz(3),
    tally integer[],
    primary key (organization_id, webhook_id),
    foreign key (organization_id, webhook_id) references webhooks on delete cascade,
    check ((failure_count = 0) = (failing_since is null))
  ) with (fillfactor = 20)`,
  'create index webhook_health_failing on webhook_health (organization_id, webhook_id) where failing_since is not null',
  // One row an endpoint, its queue: when its next delivery is due, and which worker holds it. Found without locks by due_at and leased by
  // compare-and-set, so that one worker at a time sends to an endpoint.
  `create table endpoint_queues (
    organization_id uuid not null,
    webhook_id uuid not null,
    due_at timestamptz(3),
    lease_id uuid,
    lease_until timestamptz(3),
    -- The worker that leases the queue, and whether it is to be notified of new deliveries meanwhile.
    worker_id uuid,
    listening boolean not null default false,
    -- Its priority: 0 healthy, 1 unproven (nothing is known, or it responded late), 2 failing (it did not respond).
    priority smallint not null default 1 check (priority between 0 and 2),
    -- Leases in a row whose worker died; how many deliveries more are sent one at a time for it; and under the lease that runs,
    -- which of them, since when.
    lost_leases smallint not null default 0,
    alone_left smallint not null default 0,
    alone_id uuid,
    alone_since timestamptz(3),
    primary key (organization_id, webhook_id),
    foreign key (organization_id, webhook_id) references webhooks on delete cascade,
    check ((lease_id is null) = (lease_until is null)),
    check ((alone_id is null) = (alone_since is null))
  ) with (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0)`,
  // Each priority is searched by itself: none steps over the queues of another.
  'create index endpoint_queues_due on endpoint_queues (priority, due_at) where due_at is not null',
  // Endpoints whose deliveries still have to be removed after them.
  `create table removed_webhooks (
    organization_id uuid not null,
    webhook_id uuid not null,
    removed_at timestamptz(3) not null,
    primary key (organization_id, webhook_id)
  )`,
]

const deliveries: readonly string[] = [
  `create table deliveries (
    organization_id uuid not null,
    id uuid not null,
    webhook_id uuid not null,
    log_day date not null,
    event_id uuid not null,
    event_type text not null,
    event_created_at timestamptz(3) not null,
    subject_kind text not null,
    subject_id uuid not null,
    status text not null check (status in ('pending', 'succeeded', 'failed', 'skipped')),
    payload text not null check (payload in ('current', 'stored')),
    attempt_count integer not null,
    max_attempts integer not null check (max_attempts > 0),
    -- The last attempt.
    response_status integer,
    last_error_code text,
    last_error_message text,
    duration_ms integer,
    last_attempt_at timestamptz(3),
    next_attempt_at timestamptz(3),
    delivered_at timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    response_body text,
    -- Attempts made before the present schedule began: a retry by hand and a recovery begin it anew.
    attempts_before integer not null default 0,
    primary key (organization_id, webhook_id, id, log_day),
    check ((status = 'pending') = (next_attempt_at is not null)),
    check ((status = 'succeeded') = (delivered_at is not null)),
    check ((status = 'pending') = (log_day = 'infinity'))
  ) partition by range (log_day)`,
  `create table deliveries_pending partition of deliveries for values from ('infinity') to (maxvalue)
    with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05)`,
  'create table deliveries_default partition of deliveries default',
  // The log by type, in each status, by id and so by time. With the day, so that counting needs only the index.
  'create index deliveries_default_type on deliveries_default (organization_id, webhook_id, event_type, status, id, log_day)',
  // What succeeded, and what is pending, has no entry: an index takes the database 5 µs for each delivery, of 90.
  `create index deliveries_default_status on deliveries_default (organization_id, webhook_id, status, id, log_day)
    where status in ('failed', 'skipped')`,
  'create index deliveries_default_event on deliveries_default (organization_id, event_id, webhook_id)',
  'create index deliveries_default_age on deliveries_default (created_at)',
  'create unique index deliveries_pending_event on deliveries_pending (organization_id, event_id, webhook_id)',
  `create index deliveries_pending_gap on deliveries_pending (organization_id, webhook_id) where event_type = 'gap'`,
  'create index deliveries_pending_due on deliveries_pending (organization_id, webhook_id, next_attempt_at, id)',
  withoutStatistics('deliveries', [
    'event_created_at',
    'subject_kind',
    'subject_id',
    'payload',
    'attempt_count',
    'max_attempts',
    'response_status',
    'response_body',
    'last_error_code',
    'last_error_message',
    'duration_ms',
    'last_attempt_at',
    'delivered_at',
    'updated_at',
    'attempts_before',
  ]),
  // Attempts before the last, in the week of their delivery, whose id says it.
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
  ) partition by range (delivery_id)`,
  'create table attempts_default partition of attempts default',
  'create index attempts_default_age on attempts_default (delivery_id)',
  withoutStatistics('attempts', [
    'at',
    'response_status',
    'error_code',
    'error_message',
    'duration_ms',
    'response_body',
  ]),
  `create table delivery_stats (
    organization_id uuid not null,
    webhook_id uuid not null,
    -- How long it counts, from \`at\` on.
    minutes smallint not null check (minutes in (1, 60)),
    at timestamptz(3) not null,
    -- What is counted, and how often. A place may be there twice: it is the sum that counts.
    places smallint[] not null,
    counts integer[] not null,
    primary key (organization_id, webhook_id, minutes, at)
  ) partition by range (at)`,
  'create table delivery_stats_default partition of delivery_stats default',
  'create index delivery_stats_default_age on delivery_stats_default (at)',
]

const jobs: readonly string[] = [
  // Replays the events that an endpoint has missed, piece by piece.
  `create table recoveries (
    organization_id uuid not null,
    webhook_id uuid not null,
    id uuid not null,
    since timestamptz(3) not null,
    until timestamptz(3) not null,
    retried integer not null default 0,
    created integer not null default 0,
    include_succeeded boolean not null default false,
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
  // Deliveries of large commits still to be created, a row a commit and endpoint. Later changes of the endpoint do not change it.
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
    conditions jsonb,
    own_key text,
    primary key (organization_id, webhook_id, stamp),
    foreign key (organization_id, webhook_id) references webhooks on delete cascade
  )`,
  'create index fan_outs_due on fan_outs (due_at)',
  // A resolution that waits for its summary, until nothing is left to write.
  `create table summary_jobs (
    organization_id uuid not null references organizations,
    conversation_id uuid not null,
    resolved_at timestamptz(3) not null,
    -- When a worker may take it; the worker that takes it moves due_at to the end of its lease.
    due_at timestamptz(3) not null,
    lease_id uuid,
    attempts integer not null check (attempts >= 0),
    gave_up boolean not null,
    -- Who has, or had, the lease: when it died, its jobs are found by it.
    worker_id uuid,
    primary key (organization_id, conversation_id)
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05)`,
  'create index summary_jobs_due on summary_jobs (organization_id, due_at)',
]

// The directory and moves of several databases (decision 65, decision 66). Every database has the tables; the directory is used in the
// first.

const databases: readonly string[] = [
  `create table directory_organizations (
    organization_id uuid not null primary key,
    -- As DESKWIRE_DATABASES names it.
    database_name text not null,
    -- How often it has moved: of two databases that both say that they serve it, the one with more is right.
    moves integer not null default 0,
    placed_at timestamptz(3) not null default now()
  )`,
  `create table directory_tokens (
    -- Of a key's token, of a console link, or of its session.
    token_hash bytea not null primary key,
    organization_id uuid not null,
    noted_at timestamptz(3) not null default now()
  )`,
  'create index directory_tokens_of_organization on directory_tokens (organization_id)',
  // In the source, from the first step until the left-over rows are dropped.
  `create table organization_moves (
    organization_id uuid primary key,
    target text not null,
    state text not null check (state in ('copying', 'left', 'arrived')),
    -- Until then no worker begins to deliver anything of it here.
    draining_until timestamptz(3) not null default '-infinity',
    runner uuid not null,
    began_at timestamptz(3) not null
  )`,
  // In the source: rows that have changed and are still to be copied.
  `create table move_changes (
    organization_id uuid not null,
    id uuid not null default gen_random_uuid(),
    table_name text not null,
    key jsonb not null,
    primary key (organization_id, id)
  )`,
  // In the target, until the organization is served there.
  `create table organization_arrivals (
    organization_id uuid primary key,
    source text not null,
    runner uuid not null,
    copied jsonb not null default '{}',
    sums jsonb,
    ready boolean not null default false
  )`,
  // In both: the rows that make an organization work, in the order of insertion.
  `create table moved_rows (
    organization_id uuid not null,
    place integer not null,
    table_name text not null,
    content jsonb not null,
    primary key (organization_id, place)
  )`,
]

/** Only columns that rows are found by get statistics: otherwise PostgreSQL spent a seventh of its time on sampling deliveries. */
function withoutStatistics(table: string, columns: readonly string[]): string {
  return `alter table ${table} ${columns.map((column) => `alter column ${column} set statistics 0`).join(', ')}`
}

export const baseline: readonly string[] = [
  ...functions,
  ...organizations,
  ...keys,
  ...events,
  ...endpoints,
  ...deliveries,
  ...jobs,
  ...databases,
]
