-- The schema as a database has it. Generated: npm run generate.
--
-- First the map, then each table with its keys, checks and indexes, then the functions. The sources are .sql files next
-- to the code that calls them, in packages/service/src; each has the name of its function.
--
-- The map: each table below what it refers to, and what writes it. A commit is one call of the commit function: one
-- transaction, under the lock of the organization's row in organization_clocks.
--
--   installation             one row                             the first start, a key rotation, a restore
--   organizations            what owns everything else           the operator; a move sets `away`
--     organization_clocks    epoch; the row that is locked       every commit locks it, a restore changes it
--     commits                counts and digests after a commit   every commit; maintenance deletes all but the latest
--     restores               the span that each restore lost     a restore
--     api_keys               identities and their scopes         calls that manage keys
--       api_key_tokens       from a token's hash to its key      the same, rotations
--       api_key_uses         when it was last used               requests, at most every so often
--       console_links        links and sessions of the console   a key, the exchange of the link
--     revoked_api_keys       what keys were, for 30 days         a revocation
--
--   The stream: objects, and what happened to them
--     teammates, customers, conversations, messages, notes, tickets, bookings
--                            rows and removal records, in the    commits
--                            one order of (updated_at, id)
--     ..._words              what they are found by              commits
--     inbox                  open conversations that wait        triggers on conversations and messages
--     events                 what happened, a partition a week   commits, pings, reports of endpoints
--     idempotency_keys       stored responses, for 24 hours      the commit that made the response
--     erasures               what events, responses and the log  commits and deletions; maintenance deletes them
--                            still have of what was removed      once it has erased that
--
--   Delivery: of events to endpoints
--     webhooks               endpoints                           calls that manage endpoints, workers that disable
--       webhook_secrets      signing secrets, sealed             rotations
--       webhook_health       recent results                      completions
--       endpoint_queues      when work is due, and who has it    commits, claims, completions
--       delivery_jobs        deliveries still to be created:     large commits, and calls that replay missed
--                            of large commits, of replays        events; workers, piece by piece
--     deliveries             event and endpoint: pending ones    commits create them, completions complete them
--                            apart, completed a partition a week
--     attempts               all but each delivery's last        completions
--     delivery_stats         counts by the minute and the hour   completions
--     summary_jobs           resolutions without a summary       workers
--
--   Several databases (decision 65, decision 66)
--     directory_organizations, directory_tokens                  in the first database: what the others serve
--     organization_moves, move_changes                           in the source of a move
--     organization_arrivals                                      in the target of a move
--     moved_rows                                                 in both
--
--   schema_migrations        which migrations it has had         a start, `deskwire migrate`

-- Which migrations the database has had.
create table schema_migrations (
  id text not null,
  applied_at timestamptz(3) not null default now(),
  primary key (id)
);

-- One row. Its epoch is the one that organizations begin in: that of the last restore of this database.
create table installation (
  singleton boolean not null default true,
  epoch integer not null,
  key_check bytea,
  previous_key_check bytea,
  primary key (singleton),
  check (singleton)
);

-- What owns everything else. A suspended organization has its keys refused and its deliveries held; one whose
-- deletion has begun stays suspended. One that is away is served by another database, or by none for a moment.
create table organizations (
  organization_id uuid not null,
  name text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  suspended_at timestamptz(3),
  deletion_began_at timestamptz(3),
  away text,
  moves integer not null default 0,
  prevents_double_booking boolean not null default false,
  primary key (organization_id),
  check (away = any (array['arriving'::text, 'moved'::text])),
  check (deletion_began_at is null or suspended_at is not null)
);

-- One row an organization, locked first by every commit, which changes nothing in it: a row that every commit updates
-- gets slower with each while anybody holds a snapshot. last_stamp is the latest stamp given outside of commits, and
-- events_dropped_to the last event that is no longer stored. The epoch changes when the stream may have gone back in
-- time: cursors of another epoch are refused.
create table organization_clocks (
  organization_id uuid not null,
  last_stamp timestamptz(3) not null,
  epoch integer not null,
  away text,
  events_dropped_to uuid,
  primary key (organization_id),
  foreign key (organization_id) references organizations(organization_id),
  check (away = any (array['arriving'::text, 'moved'::text]))
);

-- What commits have counted: for each kind that a commit wrote, how many of its objects exist and how many were
-- removed, the bytes of those that exist, the sums of their terms (a digest is one modulo 2^64), and the last number
-- given, all after the commit. The latest of a kind says all; maintenance deletes those before.
create table commits (
  organization_id uuid not null,
  stamp timestamptz(3) not null,
  kind text not null,
  live_count bigint not null,
  removed_count bigint not null,
  stored_bytes bigint not null,
  last_number bigint not null,
  digest numeric not null,
  content_digest numeric not null,
  primary key (organization_id, kind, stamp)
);
create index commits_stamp on commits (organization_id, stamp);

-- The span that each restore lost.
create table restores (
  organization_id uuid not null,
  epoch integer not null,
  restored_to timestamptz(3) not null,
  restored_at timestamptz(3) not null,
  primary key (organization_id, epoch),
  foreign key (organization_id) references organizations(organization_id),
  check (restored_to <= restored_at)
);

-- Identities of clients and their scopes. A key outlives its tokens.
create table api_keys (
  organization_id uuid not null,
  id uuid not null,
  name text not null,
  scopes text[] not null,
  expires_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  expiry_settled_at timestamptz(3),
  primary key (organization_id, id),
  foreign key (organization_id) references organizations(organization_id),
  check (expiry_settled_at is null or expires_at is not null)
);
create index api_keys_expiring on api_keys (expires_at) where expires_at is not null and expiry_settled_at is null;
create index api_keys_newest on api_keys (organization_id, created_at desc, id desc);

-- From the hash of a token to its key: the one look-up without an organization, because it finds the organization.
create table api_key_tokens (
  token_hash bytea not null,
  organization_id uuid not null,
  api_key_id uuid not null,
  last4 text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  primary key (token_hash),
  foreign key (organization_id, api_key_id) references api_keys(organization_id, id) on delete cascade
);
create index api_key_tokens_of_key on api_key_tokens (organization_id, api_key_id);

-- When a key was last used. Uses change nothing of the key, not even updatedAt, so they have rows of their own.
create table api_key_uses (
  organization_id uuid not null,
  api_key_id uuid not null,
  last_used_at timestamptz(3) not null,
  primary key (organization_id, api_key_id),
  foreign key (organization_id, api_key_id) references api_keys(organization_id, id) on delete cascade
) with (fillfactor=50);

-- Links to sessions of the console, and the sessions that they began. Found by a hash alone, as tokens are.
create table console_links (
  token_hash bytea not null,
  organization_id uuid not null,
  id uuid not null,
  api_key_id uuid not null,
  scopes text[] not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  exchanged_at timestamptz(3),
  primary key (token_hash),
  unique (organization_id, id),
  foreign key (organization_id, api_key_id) references api_keys(organization_id, id) on delete cascade
);
create index console_links_expiring on console_links (expires_at);
create index console_links_of_key on console_links (organization_id, api_key_id);

-- Keys that were revoked, for 30 days.
create table revoked_api_keys (
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
  revoked_by uuid,
  revoked_by_name text,
  primary key (organization_id, id)
);
create index revoked_api_keys_age on revoked_api_keys (revoked_at);
create index revoked_api_keys_newest on revoked_api_keys (organization_id, revoked_at desc, id desc);

-- What happened, written by the commit that did it. A partition a week: an event's id has its commit's stamp, so
-- ids are in the order of time and the week follows from the id. The events of one change have ids that differ in the
-- last digit; the first, which ends in 0, has the body of all (events_with_body).
create table events (
  organization_id uuid not null,
  id uuid not null,
  type text not null,
  created_at timestamptz(3) not null,
  subject_kind text not null,
  subject_id uuid not null,
  body text,
  trace_context text,
  changed jsonb,
  cause jsonb,
  primary key (organization_id, id)
) partition by range (id);
create index events_subject on only events (organization_id, subject_id);
-- No statistics are kept of subject_kind, body.

create table events_default partition of events default;
create index events_default_age on events_default (created_at);

-- Stored responses to requests that may be repeated, for 24 hours.
create table idempotency_keys (
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
  sealed bytea,
  counted integer not null default 0,
  primary key (organization_id, api_key_id, method, path, key),
  check (body is null or sealed is null)
);
create index idempotency_keys_age on idempotency_keys (created_at);
create index idempotency_keys_subject on idempotency_keys (organization_id, subject_id);

-- What a removal leaves to maintenance: the stored payloads and responses of an object, those of an object that has
-- lost a reference, and the deliveries of an endpoint.
create table erasures (
  organization_id uuid not null,
  what text not null,
  subject_id uuid not null,
  removed_id uuid not null,
  field text not null default ''::text,
  removed_at timestamptz(3) not null,
  primary key (organization_id, subject_id, removed_id, field),
  check ((what = 'reference'::text) = (field <> ''::text)),
  check ((what = 'reference'::text) = (subject_id <> removed_id)),
  check (what = any (array['object'::text, 'reference'::text, 'endpoint'::text]))
);

-- Endpoints: addresses that events are delivered to.
create table webhooks (
  organization_id uuid not null,
  id uuid not null,
  url text not null,
  description text,
  events text[] not null,
  status text not null,
  disabled_reason text,
  disabled_at timestamptz(3),
  api_key_id uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  signatures text[] not null default '{service}'::text[],
  gap_since timestamptz(3),
  gap_until timestamptz(3),
  console_link_id uuid,
  options jsonb,
  sealed_headers bytea,
  ends_at timestamptz(3),
  reported_state text,
  reported_since timestamptz(3),
  primary key (organization_id, id),
  foreign key (organization_id) references organizations(organization_id),
  check ((gap_since is null) = (gap_until is null)),
  check ((status = 'disabled'::text) = (disabled_at is not null)),
  check ((status = 'disabled'::text) = (disabled_reason is not null)),
  check (disabled_reason = any (array['failing'::text, 'address_not_public'::text, 'registrant_revoked'::text, 'manual'::text, 'gone'::text])),
  check (signatures = '{service}'::text[] or signatures = '{service,standard}'::text[] or signatures = '{service,standard,v1a}'::text[]),
  check (status = any (array['active'::text, 'disabled'::text]))
);
create index webhooks_end on webhooks (ends_at) where ends_at is not null;
create index webhooks_registrant on webhooks (organization_id, api_key_id) where status = 'active'::text;
create index webhooks_reported on webhooks (organization_id, id) where reported_state is distinct from
case
    when status = 'disabled'::text then 'disabled'::text
    else null::text
end;

-- The signing secrets of endpoints, sealed.
create table webhook_secrets (
  organization_id uuid not null,
  webhook_id uuid not null,
  id uuid not null,
  sealed bytea not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  primary key (organization_id, webhook_id, id),
  foreign key (organization_id, webhook_id) references webhooks(organization_id, id) on delete cascade
);

-- Recent results of an endpoint. Counts change nothing of the endpoint, not even updatedAt, so they have rows of
-- their own.
create table webhook_health (
  organization_id uuid not null,
  webhook_id uuid not null,
  failure_count integer not null default 0,
  failing_since timestamptz(3),
  last_success_at timestamptz(3),
  primary key (organization_id, webhook_id),
  foreign key (organization_id, webhook_id) references webhooks(organization_id, id) on delete cascade,
  check ((failure_count = 0) = (failing_since is null))
) with (fillfactor=20);
create index webhook_health_failing on webhook_health (organization_id, webhook_id) where failing_since is not null;

-- One row an endpoint, its queue: when its next delivery is due, and which worker holds it. Found without locks by
-- due_at and leased by compare-and-set, so that one worker at a time sends to an endpoint.
create table endpoint_queues (
  organization_id uuid not null,
  webhook_id uuid not null,
  due_at timestamptz(3),
  lease_id uuid,
  lease_until timestamptz(3),
  worker_id uuid,
  priority smallint not null default 1,
  lost_leases smallint not null default 0,
  alone_left smallint not null default 0,
  alone_id uuid,
  alone_since timestamptz(3),
  read_to timestamptz(3),
  rewinds integer not null default 0,
  primary key (organization_id, webhook_id),
  foreign key (organization_id, webhook_id) references webhooks(organization_id, id) on delete cascade,
  check ((alone_id is null) = (alone_since is null)),
  check ((lease_id is null) = (lease_until is null)),
  check (priority >= 0 and priority <= 2)
) with (fillfactor=20, autovacuum_vacuum_threshold=200, autovacuum_vacuum_cost_delay=0);
create index endpoint_queues_due on endpoint_queues (priority, due_at) where due_at is not null;

-- Events on their way to endpoints: pending deliveries in a partition of their own, completed ones in a partition a
-- week.
create table deliveries (
  organization_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  log_day date not null,
  event_id uuid not null,
  event_type text not null,
  event_created_at timestamptz(3) not null,
  subject_kind text not null,
  subject_id uuid not null,
  status text not null,
  payload text not null,
  attempt_count integer not null,
  max_attempts integer not null,
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
  attempts_before integer not null default 0,
  primary key (organization_id, webhook_id, id, log_day),
  check ((status = 'pending'::text) = (log_day = 'infinity'::date)),
  check ((status = 'pending'::text) = (next_attempt_at is not null)),
  check ((status = 'succeeded'::text) = (delivered_at is not null)),
  check (max_attempts > 0),
  check (payload = any (array['current'::text, 'stored'::text])),
  check (status = any (array['pending'::text, 'succeeded'::text, 'failed'::text, 'skipped'::text]))
) partition by range (log_day);
-- No statistics are kept of event_created_at, subject_kind, subject_id, payload, attempt_count, max_attempts, response_status, last_error_code, last_error_message, duration_ms, last_attempt_at, delivered_at, updated_at, response_body, attempts_before.

create table deliveries_default partition of deliveries default;
create index deliveries_default_age on deliveries_default (created_at);
create index deliveries_default_event on deliveries_default (organization_id, event_id, webhook_id);
create index deliveries_default_status on deliveries_default (organization_id, webhook_id, status, id, log_day) where status = any (array['failed'::text, 'skipped'::text]);
create index deliveries_default_type on deliveries_default (organization_id, webhook_id, event_type, status, id, log_day);

create table deliveries_pending partition of deliveries for values from ('infinity') to (maxvalue) with (fillfactor=85, autovacuum_vacuum_scale_factor=0.05);
create index deliveries_pending_due on deliveries_pending (organization_id, webhook_id, next_attempt_at, id);
create unique index deliveries_pending_event on deliveries_pending (organization_id, event_id, webhook_id) where event_id is not null;
create index deliveries_pending_waiting on deliveries_pending (organization_id, webhook_id, subject_id) where attempt_count = 0 and next_attempt_at > created_at;

-- Attempts before the last, which is in the row of its delivery. In the week of the delivery, whose id says it.
create table attempts (
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
) partition by range (delivery_id);
-- No statistics are kept of at, response_status, error_code, error_message, duration_ms, response_body.

create table attempts_default partition of attempts default;
create index attempts_default_age on attempts_default (delivery_id);

-- Results of an endpoint's deliveries, counted by the minute and by the hour. A partition a week. Places:
-- packages/service/src/delivery/queue/tally.ts.
create table delivery_stats (
  organization_id uuid not null,
  webhook_id uuid not null,
  minutes smallint not null,
  at timestamptz(3) not null,
  places smallint[] not null,
  counts integer[] not null,
  succeeded_at timestamptz(3),
  primary key (organization_id, webhook_id, minutes, at),
  check (minutes = any (array[0, 1, 60]))
) partition by range (at);

create table delivery_stats_default partition of delivery_stats default;
create index delivery_stats_default_age on delivery_stats_default (at);

-- Spans of events of which an endpoint still gets deliveries: those of a large commit, a row a commit and endpoint, and
-- those that it missed (a recovery, which stays as a record when it is done).
create table delivery_jobs (
  organization_id uuid not null,
  webhook_id uuid not null,
  id uuid not null,
  kind text not null,
  since timestamptz(3) not null,
  until timestamptz(3) not null,
  types text[],
  conditions jsonb,
  own_key text,
  include_succeeded boolean not null default false,
  retried integer not null default 0,
  created integer not null default 0,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  position uuid not null,
  due_at timestamptz(3),
  primary key (organization_id, webhook_id, id),
  foreign key (organization_id, webhook_id) references webhooks(organization_id, id) on delete cascade,
  check ((finished_at is null) = (due_at is not null)),
  check ((kind = 'large_commit'::text) = (types is not null)),
  check (kind = any (array['large_commit'::text, 'recovery'::text])),
  check (since <= until)
);
create index delivery_jobs_due on delivery_jobs (due_at) where due_at is not null;

-- Resolutions that wait for their summary, until nothing is left to write.
create table summary_jobs (
  organization_id uuid not null,
  conversation_id uuid not null,
  resolved_at timestamptz(3) not null,
  due_at timestamptz(3) not null,
  attempts integer not null,
  primary key (organization_id, conversation_id),
  foreign key (organization_id) references organizations(organization_id),
  check (attempts >= 0)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);
create index summary_jobs_due on summary_jobs (organization_id, due_at);

-- Which database serves an organization, in the first of several databases. An organization without a row is served
-- by that database.
create table directory_organizations (
  organization_id uuid not null,
  database_name text not null,
  moves integer not null default 0,
  placed_at timestamptz(3) not null default now(),
  primary key (organization_id)
);

-- From the hash of a token to its organization, of those that the first database does not serve.
create table directory_tokens (
  token_hash bytea not null,
  organization_id uuid not null,
  noted_at timestamptz(3) not null default now(),
  primary key (token_hash)
);
create index directory_tokens_of_organization on directory_tokens (organization_id);

-- In the database that an organization leaves, from the first step until its rows are dropped: where it goes, and
-- how far it is.
create table organization_moves (
  organization_id uuid not null,
  target text not null,
  state text not null,
  draining_until timestamptz(3) not null default '-infinity'::timestamptz,
  runner uuid not null,
  began_at timestamptz(3) not null,
  primary key (organization_id),
  check (state = any (array['copying'::text, 'left'::text, 'arrived'::text]))
);

-- In the database that an organization leaves: keys of rows that have changed and are still to be copied.
create table move_changes (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  table_name text not null,
  key jsonb not null,
  primary key (organization_id, id)
);

-- In the database that an organization comes to, until it serves the organization: how far each table is copied,
-- and the counts and digests of what is there.
create table organization_arrivals (
  organization_id uuid not null,
  source text not null,
  runner uuid not null,
  copied jsonb not null default '{}'::jsonb,
  sums jsonb,
  ready boolean not null default false,
  primary key (organization_id)
);

-- In both databases of a move: the rows that make an organization work, in the order of insertion.
create table moved_rows (
  organization_id uuid not null,
  place integer not null,
  table_name text not null,
  content jsonb not null,
  primary key (organization_id, place)
);

-- The stream of teammates: rows that exist, and removal records where rows were, in the one order of (updated_at, id).
create table teammates (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  removed_at timestamptz(3),
  body text not null,
  email text,
  active boolean,
  body_version smallint not null default 1,
  primary key (organization_id, id),
  check (removed_at = updated_at),
  check (updated_at >= created_at)
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0.05);
create index teammates_browse on teammates (organization_id, created_at desc, id desc) where removed_at is null;
create index teammates_email on teammates (organization_id, email, created_at desc, id desc) where removed_at is null and email is not null;
create index teammates_live on teammates (organization_id, updated_at, id) where removed_at is null;
create index teammates_removed on teammates (organization_id, updated_at, id) where removed_at is not null;
create index teammates_stream on teammates (organization_id, updated_at, id);

-- The words that teammates are found by, in a table of their own, so that other changes write nothing here.
create table teammates_words (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  terms text not null,
  primary key (organization_id, id)
);
create index teammates_words_found on teammates_words using gin (search_vector(organization_id, terms)) with (gin_pending_list_limit='1024');
create index teammates_words_outdated on teammates_words (organization_id, id) where "left"(terms, 2) <> '~4'::text;

-- The stream of customers: rows that exist, and removal records where rows were, in the one order of (updated_at, id).
create table customers (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  removed_at timestamptz(3),
  body text not null,
  email text,
  phone text,
  external_id text,
  body_version smallint not null default 1,
  primary key (organization_id, id),
  check (removed_at = updated_at),
  check (updated_at >= created_at)
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0.05);
create index customers_browse on customers (organization_id, created_at desc, id desc) where removed_at is null;
create unique index customers_email on customers (organization_id, email) where email is not null;
create unique index customers_external_id on customers (organization_id, external_id) where external_id is not null;
create index customers_live on customers (organization_id, updated_at, id) where removed_at is null;
create index customers_phone on customers (organization_id, phone, created_at desc, id desc) where removed_at is null and phone is not null;
create index customers_removed on customers (organization_id, updated_at, id) where removed_at is not null;
create index customers_stream on customers (organization_id, updated_at, id);

-- customers_words is like teammates_words.

-- The stream of conversations: rows that exist, and removal records where rows were, in the one order of (updated_at, id).
create table conversations (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  removed_at timestamptz(3),
  body text not null,
  customer_id uuid,
  assignee_id uuid,
  channel text,
  status text,
  handled_by text,
  resolved_at timestamptz(3),
  summarized_at timestamptz(3),
  external_id text,
  body_version smallint not null default 1,
  primary key (organization_id, id),
  check (removed_at = updated_at),
  check (updated_at >= created_at)
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0.05);
create index conversations_assignee_id on conversations (organization_id, assignee_id, created_at desc, id desc) where removed_at is null;
create index conversations_browse on conversations (organization_id, created_at desc, id desc) where removed_at is null;
create index conversations_channel on conversations (organization_id, channel, created_at desc, id desc) where removed_at is null and channel is not null;
create index conversations_customer_id on conversations (organization_id, customer_id, created_at desc, id desc) where removed_at is null and customer_id is not null;
create unique index conversations_external_id on conversations (organization_id, external_id) where external_id is not null;
create index conversations_handled_by on conversations (organization_id, handled_by, created_at desc, id desc) where removed_at is null and handled_by is not null;
create index conversations_live on conversations (organization_id, updated_at, id) where removed_at is null;
create index conversations_removed on conversations (organization_id, updated_at, id) where removed_at is not null;
create index conversations_status on conversations (organization_id, status, created_at desc, id desc) where removed_at is null and status is not null;
create index conversations_stream on conversations (organization_id, updated_at, id);
create index conversations_unsummarized on conversations (resolved_at) where resolved_at is not null and summarized_at is null;
create trigger inbox_changed after update on conversations for each row when ((old.status is distinct from new.status or old.assignee_id is distinct from new.assignee_id or old.removed_at is distinct from new.removed_at) and current_setting('deskwire.copying'::text, true) is distinct from 'on'::text) execute function inbox_conversation();
create trigger inbox_new after insert on conversations for each row when (current_setting('deskwire.copying'::text, true) is distinct from 'on'::text) execute function inbox_conversation();

-- conversations_words is like teammates_words.

-- The stream of messages: rows that exist, and removal records where rows were, in the one order of (updated_at, id).
create table messages (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  removed_at timestamptz(3),
  body text not null,
  conversation_id uuid,
  customer_id uuid,
  author_id uuid,
  direction text,
  external_id text,
  body_version smallint not null default 1,
  primary key (organization_id, id),
  check (removed_at = updated_at),
  check (updated_at >= created_at)
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0.05);
create index messages_author_id on messages (organization_id, author_id) where removed_at is null and author_id is not null;
create index messages_browse on messages (organization_id, created_at desc, id desc) where removed_at is null;
create index messages_conversation_id on messages (organization_id, conversation_id, created_at desc, id desc) where removed_at is null and conversation_id is not null;
create index messages_customer_id on messages (organization_id, customer_id, created_at desc, id desc) where removed_at is null and customer_id is not null;
create index messages_direction on messages (organization_id, direction, created_at desc, id desc) where removed_at is null and direction is not null;
create unique index messages_external_id on messages (organization_id, external_id) where external_id is not null;
create index messages_live on messages (organization_id, updated_at, id) where removed_at is null;
create index messages_removed on messages (organization_id, updated_at, id) where removed_at is not null;
create index messages_stream on messages (organization_id, updated_at, id);
create trigger inbox_new after insert on messages for each row when (current_setting('deskwire.copying'::text, true) is distinct from 'on'::text) execute function inbox_message();
create trigger inbox_removed after update on messages referencing old table as before_rows new table as after_rows for each statement when (current_setting('deskwire.copying'::text, true) is distinct from 'on'::text) execute function inbox_removed_messages();

-- messages_words is like teammates_words.

-- The stream of notes: rows that exist, and removal records where rows were, in the one order of (updated_at, id).
create table notes (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  removed_at timestamptz(3),
  body text not null,
  conversation_id uuid,
  author_id uuid,
  customer_id uuid,
  body_version smallint not null default 1,
  primary key (organization_id, id),
  check (removed_at = updated_at),
  check (updated_at >= created_at)
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0.05);
create index notes_author_id on notes (organization_id, author_id, created_at desc, id desc) where removed_at is null and author_id is not null;
create index notes_browse on notes (organization_id, created_at desc, id desc) where removed_at is null;
create index notes_conversation_id on notes (organization_id, conversation_id, created_at desc, id desc) where removed_at is null and conversation_id is not null;
create index notes_customer_id on notes (organization_id, customer_id, created_at desc, id desc) where removed_at is null and customer_id is not null;
create index notes_live on notes (organization_id, updated_at, id) where removed_at is null;
create index notes_removed on notes (organization_id, updated_at, id) where removed_at is not null;
create index notes_stream on notes (organization_id, updated_at, id);

-- notes_words is like teammates_words.

-- The stream of tickets: rows that exist, and removal records where rows were, in the one order of (updated_at, id).
create table tickets (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  removed_at timestamptz(3),
  body text not null,
  number bigint,
  customer_id uuid,
  conversation_id uuid,
  assignee_id uuid,
  type text,
  priority text,
  status text,
  external_id text,
  body_version smallint not null default 1,
  primary key (organization_id, id),
  check (removed_at = updated_at),
  check (updated_at >= created_at)
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0.05);
create index tickets_assignee_id on tickets (organization_id, assignee_id, created_at desc, id desc) where removed_at is null;
create index tickets_browse on tickets (organization_id, created_at desc, id desc) where removed_at is null;
create index tickets_conversation_id on tickets (organization_id, conversation_id, created_at desc, id desc) where removed_at is null and conversation_id is not null;
create index tickets_customer_id on tickets (organization_id, customer_id, created_at desc, id desc) where removed_at is null and customer_id is not null;
create index tickets_due on tickets (organization_id, (body::json ->> 'dueAt'::text) collate "c") where removed_at is null and (status = any (array['new'::text, 'open'::text, 'pending'::text, 'on_hold'::text])) and ((body::json ->> 'dueAt'::text) collate "c") is not null;
create unique index tickets_external_id on tickets (organization_id, external_id) where external_id is not null;
create index tickets_live on tickets (organization_id, updated_at, id) where removed_at is null;
create unique index tickets_number on tickets (organization_id, number) where number is not null;
create index tickets_priority on tickets (organization_id, priority, created_at desc, id desc) where removed_at is null and priority is not null;
create index tickets_removed on tickets (organization_id, updated_at, id) where removed_at is not null;
create index tickets_status on tickets (organization_id, status, created_at desc, id desc) where removed_at is null and status is not null;
create index tickets_stream on tickets (organization_id, updated_at, id);
create index tickets_type on tickets (organization_id, type, created_at desc, id desc) where removed_at is null and type is not null;

-- tickets_words is like teammates_words.

-- The stream of bookings: rows that exist, and removal records where rows were, in the one order of (updated_at, id).
create table bookings (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  removed_at timestamptz(3),
  body text not null,
  customer_id uuid,
  assignee_id uuid,
  conversation_id uuid,
  start_at timestamptz(3),
  status text,
  external_id text,
  body_version smallint not null default 1,
  primary key (organization_id, id),
  check (removed_at = updated_at),
  check (updated_at >= created_at)
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0.05);
create index bookings_assignee_id on bookings (organization_id, assignee_id, created_at desc, id desc) where removed_at is null;
create index bookings_browse on bookings (organization_id, created_at desc, id desc) where removed_at is null;
create index bookings_conversation_id on bookings (organization_id, conversation_id) where removed_at is null and conversation_id is not null;
create index bookings_customer_id on bookings (organization_id, customer_id, created_at desc, id desc) where removed_at is null and customer_id is not null;
create unique index bookings_external_id on bookings (organization_id, external_id) where external_id is not null;
create index bookings_live on bookings (organization_id, updated_at, id) where removed_at is null;
create index bookings_removed on bookings (organization_id, updated_at, id) where removed_at is not null;
create index bookings_spans on bookings (organization_id, (body::json ->> 'endAt'::text) collate "c", start_at) where removed_at is null;
create index bookings_start_at on bookings (organization_id, start_at, created_at desc, id desc) where removed_at is null and start_at is not null;
create index bookings_status on bookings (organization_id, status, created_at desc, id desc) where removed_at is null and status is not null;
create index bookings_stream on bookings (organization_id, updated_at, id);
create index bookings_times on bookings (organization_id, assignee_id, (body::json ->> 'endAt'::text) collate "c") where removed_at is null and assignee_id is not null and (status = any (array['pending'::text, 'confirmed'::text]));

-- bookings_words is like teammates_words.

-- Open conversations, each with the time since when its customer waits.
create table inbox (
  organization_id uuid not null,
  conversation_id uuid not null,
  assignee_id uuid,
  awaiting_since timestamptz(3) not null,
  primary key (organization_id, conversation_id)
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0.05);
create index inbox_assignee on inbox (organization_id, assignee_id, awaiting_since, conversation_id desc);
create index inbox_longest on inbox (organization_id, awaiting_since, conversation_id desc);

-- The clocks as readers see them.
create view clocks as
  select o.organization_id, o.epoch, o.away, o.events_dropped_to, greatest(o.last_stamp, c.stamp) as last_stamp
    from organization_clocks o
    left join lateral (select k.stamp from commits k where k.organization_id = o.organization_id
      order by k.stamp desc limit 1) c on true;

-- The counters of each kind that has had a row, and of stored responses. The kinds of an organization are found by
-- stepping from one to the next.
create view kind_counters as
  select o.organization_id, k.kind, c.live_count, c.removed_count, c.stored_bytes, c.last_number, c.digest,
      c.content_digest
    from organizations o
    cross join lateral (
      with recursive kinds as (
        (select f.kind from commits f where f.organization_id = o.organization_id order by f.kind limit 1)
        union all
        select (select f.kind from commits f where f.organization_id = o.organization_id and f.kind > k.kind
            order by f.kind limit 1) from kinds k where k.kind is not null)
      select k.kind from kinds k where k.kind is not null) k
    cross join lateral (
      select f.live_count, f.removed_count, f.stored_bytes, f.last_number, f.digest, f.content_digest from commits f
        where f.organization_id = o.organization_id and f.kind between k.kind and k.kind
        order by f.kind desc, f.stamp desc limit 1) c;

-- Events with what the object was after their change.
create view events_with_body as
  select e.organization_id, e.id, e.type, e.created_at, e.subject_kind, e.subject_id,
      coalesce(e.body, f.body) as body, e.trace_context, e.changed, e.cause
    from events e
    left join events f on f.organization_id = e.organization_id and f.id = event_of_change(e.id, 1) and e.body is null;

-- Functions that migrations made.

-- The end of a body, which its commit appends: 39 characters.
create function body_tail(p_stamp timestamptz) returns text language sql stable parallel safe return
  '"updatedAt":"' || timestamp_text(p_stamp) || '"}';

-- The body with null for the reference `p_field`: the first member of this name, as no field with names of clients
-- comes before it. Quotes within texts are escaped.
create function body_without_field(p_body text, p_tail text, p_field text, p_id uuid) returns text
language sql stable parallel safe return
  left(overlay(p_body placing '"' || p_field || '":null'
    from strpos(p_body, '"' || p_field || '":') for length(p_field) + 41), -39) || p_tail;

-- The body with null for the reference right before its tail, whose name need not be known: 36 characters of an id.
create function body_without_last(p_body text, p_tail text) returns text language sql stable parallel safe return
  left(p_body, -78) || 'null,' || p_tail;

-- The body without the member `p_member` of an object in it, where that is this id.
create function body_without_member(p_body text, p_tail text, p_member text, p_id uuid) returns text
language sql stable parallel safe return
  left(replace(p_body, ',"' || p_member || '":"' || p_id || '"', ''), -39) || p_tail;

create function content_term(p_body text) returns bigint language sql stable parallel safe return
  ('x' || encode(substr(sha256(convert_to(p_body, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint;

-- A digest in 16 hex digits: the sum of its terms modulo 2^64.
create function digest_text(p_sum numeric) returns text language sql stable parallel safe return
  lpad(to_hex((mod(mod(p_sum, 18446744073709551616) + 27670116110564327424, 18446744073709551616)
    - 9223372036854775808)::bigint), 16, '0');

-- The id of an event of the same change as that with the id `p_event_id`: of the first, or of another of at most 16.
create function event_of_change(p_event_id uuid, p_place integer) returns uuid
language sql immutable parallel safe return
  (left(p_event_id::text, 35) || to_hex(p_place - 1))::uuid;

-- The least UUIDv7 of the millisecond of p_at.
create function first_uuid_v7(p_at timestamptz) returns uuid
language sql immutable parallel safe
return (lpad(to_hex(floor(extract(epoch from p_at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;

-- Adds a conversation to the inbox when it is open, removes it when it is not, and keeps its assignee.
create function inbox_conversation() returns trigger
language plpgsql as $function$
begin
  if new.status <> 'open' or new.removed_at is not null then
    delete from inbox i where i.organization_id = new.organization_id and i.conversation_id = new.id;
    return null;
  end if;
  update inbox i set assignee_id = new.assignee_id
    where i.organization_id = new.organization_id and i.conversation_id = new.id;
  if not found then
    insert into inbox (organization_id, conversation_id, assignee_id, awaiting_since)
      values (new.organization_id, new.id, new.assignee_id, inbox_since(new.organization_id, new.id));
  end if;
  return null;
end;
$function$;

-- A customer's message begins the wait, an answer ends it. An imported message may be older than others of its
-- conversation: then the conversation's messages are read again.
create function inbox_message() returns trigger
language plpgsql as $function$
declare
  v_sent_at timestamptz := coalesce((new.body::json ->> 'sentAt')::timestamptz, new.created_at);
begin
  if new.direction = 'inbound' then
    update inbox i set awaiting_since = case when new.created_at < new.updated_at
        then inbox_since(new.organization_id, new.conversation_id) else v_sent_at end
      where i.organization_id = new.organization_id and i.conversation_id = new.conversation_id
        and (i.awaiting_since = 'infinity' or new.created_at < new.updated_at and i.awaiting_since > v_sent_at);
  elsif new.direction = 'outbound' and strpos(new.body, '"author":{"type":"system"') = 0 then
    update inbox i set awaiting_since = case when new.created_at < new.updated_at
        then inbox_since(new.organization_id, new.conversation_id) else 'infinity' end
      where i.organization_id = new.organization_id and i.conversation_id = new.conversation_id
        and i.awaiting_since <> 'infinity';
  end if;
  return null;
end;
$function$;

-- Reads the messages of conversations again that lost some. Once for the statement: of a conversation with thousands of
-- messages, each would look at all that are gone.
create function inbox_removed_messages() returns trigger
language plpgsql as $function$
begin
  update inbox i set awaiting_since = inbox_since(i.organization_id, i.conversation_id)
    from (select distinct b.organization_id, b.conversation_id from before_rows b
      join after_rows a on a.organization_id = b.organization_id and a.id = b.id
      where b.removed_at is null and a.removed_at is not null and b.conversation_id is not null) r
    where i.organization_id = r.organization_id and i.conversation_id = r.conversation_id;
  return null;
end;
$function$;

-- The time since when the customer of a conversation waits: that of the customer's first message after the last answer,
-- or infinity. Messages of one batch have one time of creation.
create function inbox_since(p_organization_id uuid, p_conversation_id uuid) returns timestamptz
language sql stable as $function$
  with answer as (
    select a.created_at, max(a.body::json ->> 'sentAt') as sent_at from messages a
      where a.organization_id = p_organization_id and a.conversation_id = p_conversation_id and a.removed_at is null
        and a.direction = 'outbound' and strpos(a.body, '"author":{"type":"system"') = 0
        and a.created_at = (select l.created_at from messages l
          where l.organization_id = p_organization_id and l.conversation_id = p_conversation_id and l.removed_at is null
            and l.direction = 'outbound' and strpos(l.body, '"author":{"type":"system"') = 0
          order by l.created_at desc limit 1)
      group by a.created_at)
  select coalesce((select coalesce((m.body::json ->> 'sentAt')::timestamptz, m.created_at) from messages m
      where m.organization_id = p_organization_id and m.conversation_id = p_conversation_id and m.removed_at is null
        and m.direction = 'inbound' and m.created_at >= coalesce((select a.created_at from answer a), '-infinity')
        and (m.created_at, m.body::json ->> 'sentAt')
          > (coalesce((select a.created_at from answer a), '-infinity'), coalesce((select a.sent_at from answer a), ''))
      order by m.created_at, m.body::json ->> 'sentAt' limit 1), 'infinity')
$function$;

-- Immutable, unlike a sum with an interval, so a sharding layer accepts it in an update (decision 65).
create function millisecond_after(p_at timestamptz) returns timestamptz
language sql immutable parallel safe
return p_at + interval '1 millisecond';

-- A new UUIDv7 of the time p_at: its milliseconds, then random bits.
create function new_uuid_v7(p_at timestamptz) returns uuid
language sql volatile parallel safe
return encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  placing substring(int8send(floor(extract(epoch from p_at) * 1000)::bigint) from 3) from 1 for 6),
  52, 1), 53, 1), 'hex')::uuid;

-- The body of a removed row.
create function removal_record(p_kind text, p_id uuid, p_stamp timestamptz) returns text
language sql stable parallel safe return
  '{"object":"removed","id":"' || p_id || '","resource":"' || p_kind || '","removedAt":"' || timestamp_text(p_stamp)
    || '"}';

-- What the words p_terms are indexed as. Each term has the end of the organization's id in front, so that the index
-- finds those of one organization without an extension. They are on the last line of the document. One expression of
-- built-in functions, which the planner inlines.
create function search_vector(p_organization_id uuid, p_terms text) returns tsvector
language sql immutable parallel safe
return array_to_tsvector(string_to_array(
  right(p_organization_id::text, 8)
    || replace(split_part(p_terms, e'\n', -1), ' ', ' ' || right(p_organization_id::text, 8)), ' '));

-- The layout of a body's bytes (body.ts) for statements: what the database appends, and how it takes a reference out
-- of a stored body. Stored bodies have it, so it never changes. All are expressions that the planner puts in place.

-- A time as the wire writes it.
create function timestamp_text(p_at timestamptz) returns text language sql stable parallel safe return
  to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- A row's terms of the two digests (specification 7.8), signed: of its version, of the version that a body shows, and
-- of its bytes. Not immutable, as the conversion to bytes is not, so that they are put in place.
create function version_term(p_id uuid, p_stamp text) returns bigint language sql stable parallel safe return
  ('x' || encode(substr(sha256(convert_to(p_id || ':' || p_stamp, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint;

create function version_term_of(p_body text) returns bigint language sql stable parallel safe return
  ('x' || encode(substr(sha256(convert_to(substr(p_body, 8, 36) || ':' || left(right(p_body, 26), 24), 'UTF8')),
    1, 8), 'hex'))::bit(64)::bigint;

-- Functions of this version, the commit function first. In a database each name ends in a hash of the function's text,
-- so that processes of two releases can share it. What has a part for each kind is shown for one: conversation.
-- What each key of the commit function's argument means: packages/service/src/journal/commit-protocol.ts.

-- A delivery to be created: pending and due now, unless the endpoint was `disabled`, or the event is `skipped`, for
-- that reason. Without `id` it gets a new one. `wait`: for how many seconds the endpoint coalesces updates, or null;
-- `coalesced_into` is for the function that does that.
create type new_delivery as (
  id uuid,
  webhook_id uuid,
  event_id uuid,
  event_type text,
  event_created_at timestamptz(3),
  subject_kind text,
  subject_id uuid,
  max_attempts int,
  disabled text,
  skipped text,
  wait int,
  coalesced_into uuid
);

-- The same deliveries, where those of updates to endpoints that coalesce (`wait`) are sent as one for each object and
-- type: one waits, and reads the object when its time has come; those that come meanwhile are skipped, as `coalesced`
-- into it. All others are as they are, and wait for nothing.
--
-- The one that waits gets a new version with each, so that a worker whose clock is ahead, which may have read the
-- object before this change, cannot complete it: the delivery is then sent again. The queues are locked first, as a
-- completion moves the same rows to another partition.
create function coalesce_deliveries(p_organization_id uuid, p_now timestamptz, p_deliveries new_delivery[])
returns new_delivery[]
language plpgsql volatile as $function$
declare
  v_deliveries new_delivery[];
  v_waiting uuid[];
begin
  perform 1 from endpoint_queues q where q.organization_id = p_organization_id
    and q.webhook_id in (select d.webhook_id from unnest(p_deliveries) d where d.wait is not null)
    order by q.webhook_id for no key update;
  with given as materialized (
    select coalesce(d.id, new_uuid_v7(p_now)) as id, d.webhook_id, d.event_id, d.event_type, d.event_created_at,
        d.subject_kind, d.subject_id, d.max_attempts, d.disabled, d.skipped, d.wait, d.place,
        d.wait is not null and d.event_type like '%.updated' and d.disabled is null and d.skipped is null as joins
      from unnest(p_deliveries) with ordinality as d(id, webhook_id, event_id, event_type, event_created_at,
        subject_kind, subject_id, max_attempts, disabled, skipped, wait, coalesced_into, place)
  ), waiting as materialized (
    select g.webhook_id, g.subject_id, g.event_type, coalesce(
        (select d.id from deliveries d where d.organization_id = p_organization_id and d.webhook_id = g.webhook_id
          and d.subject_id = g.subject_id and d.event_type = g.event_type and d.log_day = 'infinity'
          and d.attempt_count = 0 and d.next_attempt_at > d.created_at and d.next_attempt_at > p_now limit 1),
        (array_agg(g.id order by g.place))[1]) as id
      from given g where g.joins group by g.webhook_id, g.subject_id, g.event_type
  )
  select array_agg((g.id, g.webhook_id, g.event_id, g.event_type, g.event_created_at, g.subject_kind, g.subject_id,
        g.max_attempts, g.disabled, case when w.id <> g.id then 'coalesced' else g.skipped end,
        case when w.id = g.id then g.wait end, case when w.id <> g.id then w.id end)::new_delivery order by g.place),
      array(select w.id from waiting w)
    into v_deliveries, v_waiting
    from given g left join waiting w on g.joins and w.webhook_id = g.webhook_id and w.subject_id = g.subject_id
      and w.event_type = g.event_type;
  update deliveries d set updated_at = greatest(millisecond_after(d.updated_at), p_now)
    where d.organization_id = p_organization_id and d.webhook_id in (select n.webhook_id from unnest(v_deliveries) n)
      and d.id = any(v_waiting) and d.log_day = 'infinity';
  return v_deliveries;
end;
$function$;

-- Inserts deliveries, and returns how many: the one statement that does. The caller holds the organization's clock
-- row, and wakes the queues of the endpoints that get pending ones.
create function insert_deliveries(p_organization_id uuid, p_now timestamptz, p_deliveries new_delivery[]) returns int
language plpgsql volatile as $function$
declare
  v_inserted int;
begin
  if exists (select 1 from unnest(p_deliveries) d where d.wait is not null) then
    p_deliveries := coalesce_deliveries(p_organization_id, p_now, p_deliveries);
  end if;
  insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at,
      subject_kind, subject_id, status, payload, attempt_count, max_attempts, last_error_code, last_error_message,
      next_attempt_at, created_at, updated_at)
    select p_organization_id, coalesce(d.id, new_uuid_v7(p_now)), d.webhook_id,
        case s.status when 'pending' then 'infinity' else (p_now at time zone 'UTC')::date end,
        d.event_id, d.event_type, d.event_created_at, d.subject_kind, d.subject_id, s.status, 'current', 0,
          d.max_attempts,
        case s.status when 'failed' then 'endpoint_disabled' when 'skipped' then d.skipped end,
        case when s.status = 'failed' then 'the endpoint was disabled: ' || d.disabled
          when d.skipped = 'coalesced' then d.coalesced_into::text
          when d.skipped = 'own_change' then 'the key of the endpoint caused it'
          when d.skipped = 'conditions_not_met' then 'the conditions of the endpoint did not hold' end,
        case s.status when 'pending' then p_now + make_interval(secs => coalesce(d.wait, 0)) end, p_now, p_now
      from unnest(p_deliveries) as d
        cross join lateral (select case when d.disabled is not null then 'failed'
          when d.skipped is not null then 'skipped' else 'pending' end as status) s;
  get diagnostics v_inserted = row_count;
  return v_inserted;
end;
$function$;

-- Why an endpoint with these conditions, and this key as its own where it skips what that causes, gets no delivery of
-- an event: 'own_change', 'conditions_not_met', or null when it does. Without conditions and key, no event is read.
--
-- Conditions, but for those on the id, always hold of a removal, so that receivers do not keep what is gone, of an
-- event about an endpoint, and of a body that was erased. Of an event that lists no changes, as an insert, every
-- field with a value counts as changed. They hold of an object that the endpoint's registrant may not read: its
-- delivery fails, where a skip would show that key which values the object has.
create function skip_reason(p_organization_id uuid, p_webhook_id uuid, p_event_id uuid, p_conditions jsonb,
  p_own_key text) returns text
language plpgsql stable as $function$
declare
  v_key text;
  v_body jsonb;
  v_changed jsonb;
  v_scope text;
begin
  if p_conditions is null and p_own_key is null then
    return null;
  end if;
  select e.cause->>'key', case when p_conditions is not null then e.body::jsonb end, e.changed, case e.subject_kind
      when 'conversation' then 'conversations:read'
      when 'endpoint' then 'webhooks:read' end
    into v_key, v_body, v_changed, v_scope
    from events_with_body e where e.organization_id = p_organization_id and e.id = p_event_id;
  if v_key = p_own_key then
    return 'own_change';
  end if;
  if v_body is null or not exists (select 1 from webhooks w
      join api_keys k on k.organization_id = w.organization_id and k.id = w.api_key_id
      where w.organization_id = p_organization_id and w.id = p_webhook_id and k.scopes && array['*', v_scope]) then
    return null;
  end if;
  if exists (select 1 from jsonb_array_elements(p_conditions) as c(condition)
      cross join lateral (select c.condition->>'field' as field,
        coalesce(v_body->(c.condition->>'field'), 'null') as actual) f
      where (v_body->>'object' not in ('removed', 'webhook') or f.field = 'id') and not case c.condition->>'op'
        when 'exists' then (f.actual <> 'null') = coalesce((c.condition->>'value')::boolean, true)
        when 'changed' then coalesce(v_changed ? f.field, f.actual <> 'null')
        when 'in' then c.condition->'value' @> f.actual
        else f.actual = c.condition->'value' end) then
    return 'conditions_not_met';
  end if;
  return null;
end;
$function$;

-- Makes the queues of these endpoints due, after deliveries were created or made due outside of a commit, or in
-- one that may lie before where a queue has read to. It locks the queues first, in their order, as a completion
-- computes under that lock what is due on one.
--
-- The deliveries may be due before where the worker that holds the queue has read to: `rewinds` tells it to begin
-- again.
create function wake_queues(p_organization_id uuid, p_webhook_ids uuid[], p_now timestamptz) returns void
language plpgsql volatile as $function$
begin
  perform 1 from endpoint_queues q where q.organization_id = p_organization_id and q.webhook_id = any(p_webhook_ids)
    order by q.webhook_id for no key update;
  update endpoint_queues set due_at = least(due_at, p_now), rewinds = rewinds + 1, read_to = null
    where organization_id = p_organization_id and webhook_id = any(p_webhook_ids);
end;
$function$;

-- What an endpoint may be subscribed to in order to receive events of this type: the type, all of its kind, or all. A
-- ping belongs to no kind: nobody subscribes to it. The planner puts it in place.
create function event_patterns(p_type text) returns text[]
language sql immutable parallel safe as $function$
  select array[p_type, split_part(p_type, '.', 1) || '.*', case when strpos(p_type, '.') > 0 then '*' end]
$function$;

-- The endpoints of an organization that get deliveries now, and what they are subscribed to (`event-patterns.sql`).
-- The planner puts it in place.
create function active_endpoints(p_organization_id uuid) returns table (id uuid, events text[])
language sql stable as $function$
  select w.id, w.events from webhooks w where w.organization_id = p_organization_id and w.status = 'active'
$function$;

-- Creates a delivery of each event of a commit to each of the endpoints `p_webhooks` that is subscribed to it. They are
-- active, and stay so until the commit, as disabling one takes the organization's clock row too. `p_events`: the events
-- as deliveries to no endpoint yet; their time is `p_stamp`.
--
-- Beyond 1000 deliveries nothing is inserted, as nothing else of the organization can commit meanwhile: the
-- subscriptions are noted, and workers create the deliveries in pieces after the commit.
--
-- They are created and due at the commit's stamp, so that a worker that has read to a position and goes on from
-- there misses none: stamps increase in the order of commits (`read-position.ts`). Where clocks are so far apart that
-- this would delay them, it is now instead, and the worker begins again.
--
-- A queue that a worker holds is not changed, as its row would get a version with each commit: that worker is
-- notified, and looks again before it releases the queue. Both lock the queue, so that they do not miss each other.
--
-- A queue that is held, as its endpoint is paused, is due at 'infinity' and stays so.
--
-- Returns as `large` whether workers have to create the deliveries, and as `woken`, by endpoint, the priority of each
-- queue of which a worker has to be notified, and the worker that holds it or null.
create function create_deliveries(
  p_organization_id uuid, p_now timestamptz, p_stamp timestamptz, p_webhooks uuid[], p_events new_delivery[]
) returns jsonb language plpgsql volatile as $function$
declare
  v_large boolean := false;
  v_woken jsonb;
  v_idle uuid[];
  v_apart boolean := p_stamp > p_now + interval '1000 milliseconds';
begin
  if cardinality(p_events) > 1000 / cardinality(p_webhooks) then
    select sum(t.count) > 1000 into v_large from webhooks w
      join (select u.event_type, count(*) as count from unnest(p_events) u group by u.event_type) t
        on w.events && event_patterns(t.event_type)
      where w.organization_id = p_organization_id and w.id = any(p_webhooks);
  end if;
  if v_large then
    insert into delivery_jobs (organization_id, webhook_id, id, kind, since, until, types, conditions, own_key,
        created_at, position, due_at)
      select p_organization_id, w.id, first_uuid_v7(p_stamp), 'large_commit', p_stamp, p_stamp, w.events,
          w.options->'conditions', case when w.options ? 'skipOwn' then w.api_key_id::text end,
          p_now, first_uuid_v7(p_stamp), p_now
        from webhooks w where w.organization_id = p_organization_id and w.id = any(p_webhooks);
    return jsonb_build_object('large', true, 'woken', '{}'::jsonb);
  end if;

  perform insert_deliveries(p_organization_id, case when v_apart then p_now else p_stamp end, array(
    select (null, w.id, e.event_id, e.event_type, p_stamp, e.subject_kind, e.subject_id, e.max_attempts,
        null, s.reason, (w.options->>'coalesce')::int, null)::new_delivery
      from webhooks w
        join unnest(p_events) e on w.events && event_patterns(e.event_type)
        cross join lateral (select case when w.options ?| '{conditions,skipOwn}'
          then skip_reason(p_organization_id, w.id, e.event_id, w.options->'conditions',
            case when w.options ? 'skipOwn' then w.api_key_id::text end) end as reason offset 0) s
      where w.organization_id = p_organization_id and w.id = any(p_webhooks)));

  select array_agg(q.webhook_id) filter (where q.lease_id is null and coalesce(q.due_at > p_now, true)
        and q.due_at is distinct from 'infinity'),
      coalesce(jsonb_object_agg(q.webhook_id, jsonb_build_array(q.priority, case when q.lease_until > p_now
        then q.worker_id end))
        filter (where q.lease_id is not null or coalesce(q.due_at > p_now, true)
          and q.due_at is distinct from 'infinity'), '{}')
    into v_idle, v_woken
    from (select l.webhook_id, l.due_at, l.lease_id, l.lease_until, l.worker_id, l.priority from endpoint_queues l
      where l.organization_id = p_organization_id and l.webhook_id = any(p_webhooks) order by l.webhook_id
        for no key update) q;
  if v_apart then
    perform wake_queues(p_organization_id, p_webhooks, p_now);
  elsif v_idle is not null then
    update endpoint_queues set due_at = p_now where organization_id = p_organization_id and webhook_id = any(v_idle);
  end if;
  return jsonb_build_object('large', false, 'woken', v_woken);
end;
$function$;

-- One thing that a call of the commit function asks for; what a row does not need is null. In the order of
-- commit-protocol.ts, which writes it.
create type commit_change as (
  -- Those of one number commit together or not at all. Rows that a unit was decided on have its number too.
  unit integer,
  -- insert, update, delete; require: the row is as it was expected; referring: so are the rows that refer to it.
  operation text,
  kind text,
  id uuid,
  -- The version that it was decided on. A row of another version is not changed; null: a new row.
  expected timestamptz,
  created_at timestamptz,
  -- The place in p_heads of its head: the body, up to the part that the database writes.
  head integer,
  -- The kind's own columns, by name. referring: target, count and latest.
  own jsonb,
  -- Which of them must be unique or refer to rows that exist, as kind.column; kind.period: the time must be free.
  checks text[],
  -- When the time that it takes ends.
  ends text,
  -- The terms and bytes of the row that it expects, which its version proves; of a new row the most bytes it can have.
  old_term bigint,
  old_content bigint,
  bytes integer,
  -- What it is found by; null: as before.
  terms text,
  events text[],
  -- The fields that an update changes.
  changed jsonb,
  trace_context text,
  -- Who caused it; null: the service itself.
  cause jsonb,
  -- The response to store with it (idempotency/stored-responses.ts).
  response jsonb
);

-- What holds for a whole call of the commit function, and what its changes are, so that it takes no step that they do
-- not need.
create type commit_limits as (
  max_attempts integer,
  -- How long to wait for the clock row, and for any other.
  lock_timeout text,
  row_timeout text,
  -- How far the time given may be ahead of the database's clock, in milliseconds; null: any.
  max_clock_skew integer,
  -- Of all objects of the organization; null: no limit.
  max_rows bigint,
  max_bytes bigint,
  -- The delete of the call also removes the rows that it would only detach from what is removed.
  erases boolean,
  -- The kinds of its changes; each operation with its kind, and index with the kind of a change that has terms; checks.
  kinds text[],
  operations text[],
  checks text[],
  -- Whether a unit has several entries, whether a change is a delete, and whether one has a response.
  are_together boolean,
  have_deletes boolean,
  have_responses boolean
);

-- One row that a commit has written, as the functions of its kind report it: what is told of it, and what it adds to
-- its kind's counters.
create type written_row as (
  kind text,
  id uuid,
  -- Null: it was detached, of which no event tells; or it is no row, but the bytes of stored responses.
  body text,
  -- Of a row that the call asked for, what the database has appended to the head that it was given, or the removal
  -- record; null: the row was reached by a removal.
  tail text,
  events text[],
  changed jsonb,
  trace_context text,
  cause jsonb,
  -- 1: new; -1: removed; 0: changed or detached.
  rows integer,
  bytes bigint,
  term numeric,
  content numeric,
  number bigint
);

-- The changes of one kind that are not refused, or those of one operation, with their organization. The planner puts
-- it in place, but does not see that it is one organization, and expects one change: without statistics it would
-- expect few rows of an organization, and read all of them instead of finding each by its key.
create function changes_of(
  p_organization_id uuid, p_changes commit_change[], p_kind text, p_operation text, p_refused uuid[]
) returns table (
  organization_id uuid, id uuid, expected timestamptz, created_at timestamptz, head integer, own jsonb, checks text[],
  old_term bigint, old_content bigint, bytes integer, terms text, events text[], changed jsonb, trace_context text,
  cause jsonb, change commit_change
) language sql stable as $function$
  select p_organization_id, c.id, c.expected, c.created_at, c.head, c.own, c.checks, c.old_term, c.old_content, c.bytes,
      c.terms, c.events, c.changed, c.trace_context, c.cause, c
    from unnest(p_changes) c
    where c.kind = p_kind and (p_operation is null or c.operation = p_operation) and c.id <> all(p_refused)
      and c.id = any(array[c.id])
    offset 0
$function$;

-- The counters of each kind of which rows were written, as they are afterwards. The planner puts it in place. The
-- latest row of a kind is found by the key, the one index with that order.
create function counters_after(p_organization_id uuid, p_written written_row[]) returns table (
  kind text, live_count bigint, removed_count bigint, stored_bytes bigint, last_number bigint, digest numeric,
  content_digest numeric
) language sql stable as $function$
  select w.kind, coalesce(c.live_count, 0) + w.rows, coalesce(c.removed_count, 0) + w.removed,
      coalesce(c.stored_bytes, 0) + w.bytes, greatest(c.last_number, w.number),
      coalesce(c.digest, 0) + w.term, coalesce(c.content_digest, 0) + w.content
    from (
      select u.kind, sum(u.rows) as rows, count(*) filter (where u.rows < 0) as removed, sum(u.bytes) as bytes,
          coalesce(max(u.number), 0) as number, sum(u.term) as term, sum(u.content) as content
        from unnest(p_written) u group by u.kind) w
    left join lateral (
      select k.live_count, k.removed_count, k.stored_bytes, k.last_number, k.digest, k.content_digest from commits k
        where k.organization_id = p_organization_id and k.kind between w.kind and w.kind
        order by k.kind desc, k.stamp desc limit 1) c on true
$function$;

-- The ids of all changes whose unit has a refused one: they commit together or not at all. `p_refusals`: an array of
-- objects with the `id` of a change, or of a row that its unit was decided on.
create function units_of(p_changes commit_change[], p_refusals jsonb) returns uuid[]
language plpgsql stable as $function$
begin
  return array(select c.id from unnest(p_changes) c where c.unit in (
    select n.unit from unnest(p_changes) n join jsonb_array_elements(p_refusals) r on n.id = (r->>'id')::uuid));
end;
$function$;

-- Refusals of inserts beyond what the organization may store, in the order of `p_changes`, after what is there; without
-- the changes `p_refused`.
create function beyond_limits(
  p_organization_id uuid, p_limits commit_limits, p_changes commit_change[], p_refused uuid[]
) returns jsonb language plpgsql stable as $function$
declare
  v_rows bigint;
  v_bytes bigint;
begin
  select coalesce(sum(k.live_count), 0), coalesce(sum(k.stored_bytes), 0) into v_rows, v_bytes
    from kind_counters k where k.organization_id = p_organization_id;
  return coalesce((select jsonb_agg(jsonb_build_object('id', g.id, 'reason', 'full', 'of', g.beyond, 'most',
      case g.beyond when 'rows' then p_limits.max_rows else p_limits.max_bytes end))
    from (select c.id, case
        when v_rows + count(*) over earlier > p_limits.max_rows then 'rows'
        when v_bytes + sum(c.bytes) over earlier > p_limits.max_bytes then 'bytes' end as beyond
      from unnest(p_changes) with ordinality c
      where c.operation = 'insert' and c.id <> all(p_refused) window earlier as (order by c.ordinality)) g
    where g.beyond is not null), '[]');
end;
$function$;

-- Stores responses that no unexpired ones exist of. Each is JSON: the columns, `request_hash` and `sealed` in hex.
-- Returns the bytes that they add to what the organization stores, as a row of the kind `stored response`, whose name
-- no kind has.
create function store_responses(p_organization_id uuid, p_now timestamptz, p_responses jsonb[]) returns written_row
language plpgsql volatile as $function$
declare
  v_bytes bigint;
begin
  with stored as (
    insert into idempotency_keys as k (organization_id, api_key_id, method, path, key, request_hash, status, subject_id,
        body, sealed, created_at, counted)
      select p_organization_id, s.api_key_id, s.method, s.path, s.key, decode(s.request_hash, 'hex'), s.status,
          s.subject_id, s.body, decode(s.sealed, 'hex'), p_now,
          coalesce(octet_length(s.body), octet_length(decode(s.sealed, 'hex')), 0)
        from unnest(p_responses) r(response) cross join lateral jsonb_to_record(r.response) as s(api_key_id uuid,
          method text, path text, key text, request_hash text, status int, subject_id uuid, body text, sealed text)
      -- The one that it replaces has expired; its bytes count until this one is deleted.
      on conflict (organization_id, api_key_id, method, path, key) do update
        set request_hash = excluded.request_hash, status = excluded.status, subject_id = excluded.subject_id,
          body = excluded.body, sealed = excluded.sealed, created_at = excluded.created_at,
          counted = k.counted + excluded.counted
      returning coalesce(octet_length(k.body), octet_length(k.sealed), 0) as bytes)
  select coalesce(sum(s.bytes), 0) into v_bytes from stored s;
  return row('stored response', null, null, null, null, null, null, null, 0, v_bytes, 0, 0, 0)::written_row;
end;
$function$;

-- What the removal of rows of `p_kind` does to the rows of one kind that refer to them. They are removed as well,
-- always where the removal erases a person, or lose the reference. Those that lose it move in the stream, without an
-- event; maintenance then takes it from what is stored of them. `p_of`: the delete that began it.
--
-- The updates name `updated_at` too: without it a plan may look for a row in all of the stream's index.
create function unlink_conversation(
  p_organization_id uuid, p_stamp timestamptz, p_kind text, p_removed uuid[], p_erases boolean, p_of commit_change
) returns written_row[] language plpgsql volatile as $function$
declare
  v_tail text := body_tail(p_stamp);
  v_found written_row[];
  v_all written_row[];
begin
  if p_kind = 'customer' and exists (select 1 from unnest(p_removed) d(id)
      cross join lateral (select f.id from conversations f
        where f.organization_id = p_organization_id and f.customer_id between d.id and d.id and f.removed_at is null
        order by f.customer_id limit 1) f) then
    with referring as materialized (
      select p_organization_id as organization_id, t.id, t.updated_at, t.body, d.id as removed_id
        from unnest(p_removed) d(id)
        cross join lateral (select f.id, f.updated_at, f.body from conversations f
          where f.organization_id = p_organization_id and f.customer_id between d.id and d.id and f.removed_at is null
          order by f.customer_id offset 0) t),
    gone as (
      update conversations t set (removed_at, updated_at, body, customer_id, channel, status, handled_by, assignee_id, resolved_at, summarized_at, external_id)
          = row(p_stamp, p_stamp, removal_record('conversation', t.id, p_stamp), null, null, null, null, null, null, null, null)
        from referring r where (p_erases or false)
          and t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.updated_at
        returning t.id, t.body, r.body as old_body),
    detached as (
      update conversations t set customer_id = null, updated_at = p_stamp, body = body_without_last(r.body, v_tail)
        from referring r where not (p_erases or false)
          and t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.updated_at
        returning t.id, t.body, r.body as old_body, r.removed_id),
    noted as (
      insert into erasures (organization_id, what, subject_id, removed_id, field, removed_at)
        select p_organization_id, 'reference', d.id, d.removed_id, 'customerId', p_stamp from detached d
        on conflict do nothing)
    select array_agg(row('conversation', w.id, w.reported, null,
        case when w.reported is not null then '{conversation.deleted}'::text[] end, null, p_of.trace_context, p_of.cause,
        -(w.reported is not null)::int,
        coalesce(octet_length(w.body), 0) - octet_length(w.old_body),
        coalesce(version_term_of(w.body), 0)::numeric - version_term_of(w.old_body),
        coalesce(content_term(w.body), 0)::numeric - content_term(w.old_body), 0)::written_row) into v_found
      from (select g.id, g.body as reported, null as body, g.old_body from gone g
        union all select d.id, null, d.body, d.old_body from detached d) w;
    v_all := v_all || v_found;
  end if;
  if p_kind = 'teammate' and exists (select 1 from unnest(p_removed) d(id)
      cross join lateral (select f.id from conversations f
        where f.organization_id = p_organization_id and f.assignee_id between d.id and d.id and f.removed_at is null
        order by f.assignee_id limit 1) f) then
    with referring as materialized (
      select p_organization_id as organization_id, t.id, t.updated_at, t.body, d.id as removed_id
        from unnest(p_removed) d(id)
        cross join lateral (select f.id, f.updated_at, f.body from conversations f
          where f.organization_id = p_organization_id and f.assignee_id between d.id and d.id and f.removed_at is null
          order by f.assignee_id offset 0) t),
    gone as (
      update conversations t set (removed_at, updated_at, body, customer_id, channel, status, handled_by, assignee_id, resolved_at, summarized_at, external_id)
          = row(p_stamp, p_stamp, removal_record('conversation', t.id, p_stamp), null, null, null, null, null, null, null, null)
        from referring r where (p_erases or false)
          and t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.updated_at
        returning t.id, t.body, r.body as old_body),
    detached as (
      update conversations t set assignee_id = null, updated_at = p_stamp, body = body_without_field(r.body, v_tail, 'assigneeId', r.removed_id)
        from referring r where not (p_erases or false)
          and t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.updated_at
        returning t.id, t.body, r.body as old_body, r.removed_id),
    noted as (
      insert into erasures (organization_id, what, subject_id, removed_id, field, removed_at)
        select p_organization_id, 'reference', d.id, d.removed_id, '/assigneeId', p_stamp from detached d
        on conflict do nothing)
    select array_agg(row('conversation', w.id, w.reported, null,
        case when w.reported is not null then '{conversation.deleted}'::text[] end, null, p_of.trace_context, p_of.cause,
        -(w.reported is not null)::int,
        coalesce(octet_length(w.body), 0) - octet_length(w.old_body),
        coalesce(version_term_of(w.body), 0)::numeric - version_term_of(w.old_body),
        coalesce(content_term(w.body), 0)::numeric - content_term(w.old_body), 0)::written_row) into v_found
      from (select g.id, g.body as reported, null as body, g.old_body from gone g
        union all select d.id, null, d.body, d.old_body from detached d) w;
    v_all := v_all || v_found;
  end if;
  if v_all is not null then
    delete from conversations_words w
      using (select p_organization_id as organization_id, g.id from unnest(v_all) g where g.rows < 0 offset 0) g
      where w.organization_id = g.organization_id and w.id = g.id;
  end if;
  return v_all;
end;
$function$;

-- The part of one kind in a commit, made for each kind from its declaration; `conversations` holds its rows. commit.sql
-- calls the functions in this order, under the clock row; after the deletes those of unlink.sql. Each returns what it
-- has refused or written. No other kind's table is read, but to see that a row referred to exists.
--
-- No removed row has an expected version, as its removal has a stamp of its own. Rows are found by their key, whatever
-- the planner knows of the tables: a row referred to by a range, of which only the key has the order; see also
-- changes-of.sql.

-- Refusals of changes, and of rows that their units were decided on, that are in another version by now.
create function moved_on_conversation(p_organization_id uuid, p_changes commit_change[]) returns jsonb
language plpgsql stable as $function$
begin
  return to_jsonb(array(select jsonb_build_object('id', c.id, 'reason', 'conflict')
    from changes_of(p_organization_id, p_changes, 'conversation', null, '{}') c
    where c.expected is not null
      and not exists (select 1 from conversations t where t.organization_id = c.organization_id and t.id = c.id
        and t.updated_at = c.expected)));
end;
$function$;

-- Deletes. A removed row keeps its key and its place in the order; its body is its removal record.
create function delete_conversation(
  p_organization_id uuid, p_stamp timestamptz, p_changes commit_change[], p_refused uuid[]
) returns written_row[] language plpgsql volatile as $function$
declare
  v_gone written_row[];
begin
  with gone as (
    update conversations t set (removed_at, updated_at, body, customer_id, channel, status, handled_by, assignee_id, resolved_at, summarized_at, external_id)
        = row(p_stamp, p_stamp, removal_record('conversation', t.id, p_stamp), null, null, null, null, null, null, null, null)
      from changes_of(p_organization_id, p_changes, 'conversation', 'delete', p_refused) c
      where t.organization_id = c.organization_id and t.id = c.id and t.updated_at = c.expected
      returning t.id, t.body, c.events, c.trace_context, c.cause, c.bytes, c.old_term, c.old_content)
  select array_agg(row('conversation', g.id, g.body, g.body, g.events, null, g.trace_context, g.cause,
      -1, -g.bytes, -g.old_term, -g.old_content, 0)::written_row) into v_gone from gone g;
  delete from conversations_words w
    using (select p_organization_id as organization_id, g.id from unnest(v_gone) g offset 0) g
    where w.organization_id = g.organization_id and w.id = g.id;
  return v_gone;
end;
$function$;

-- Refusals of changes that were decided on the current row: the others are conflicts, to be decided again. `p_checks`:
-- what the call asks for; nothing else is looked at.
create function check_conversation(
  p_organization_id uuid, p_changes commit_change[], p_checks text[], p_refused uuid[]
) returns jsonb language plpgsql stable as $function$
declare
  v_current commit_change[];
  v_found jsonb := '[]';
begin
  v_current := array(select c.change from changes_of(p_organization_id, p_changes, 'conversation', null, p_refused) c
    where c.checks is not null
      and (c.expected is null or exists (select 1 from conversations t where t.organization_id = c.organization_id
        and t.id = c.id and t.updated_at = c.expected)));
  -- Unique values that another row has.
  if 'conversation.external_id' = any(p_checks) then
    v_found := v_found || to_jsonb(array(
      select jsonb_build_object('id', c.id, 'reason', 'duplicate', 'field', 'externalId', 'existingId', t.id)
        from (select p_organization_id as organization_id, u.id, (u.own->>'external_id')::text as external_id
          from unnest(v_current) u where 'conversation.external_id' = any(u.checks) offset 0) c
        join conversations t on t.organization_id = c.organization_id and t.external_id = c.external_id and t.id <> c.id));
  end if;
  -- References to rows that do not exist, or that may not be referred to.
  if 'conversation.customer_id' = any(p_checks) then
    v_found := v_found || to_jsonb(array(
      select jsonb_build_object('id', c.id, 'reason', 'dangling', 'field', 'customerId')
        from unnest(v_current) c cross join lateral (select (c.own->>'customer_id')::uuid as customer_id) v
        where 'conversation.customer_id' = any(c.checks) and v.customer_id is not null
          and not exists (select 1 from (select f.removed_at, false as holds from conversations f
              where f.organization_id = p_organization_id and f.id between v.customer_id and v.customer_id
              order by f.id limit 1) t
            where t.removed_at is null and t.holds)));
  end if;
  -- Rows that refer to one on which a unit was decided, where any came, went or changed since.
  if 'conversation.customer_id.referring' = any(p_checks) then
    v_found := v_found || to_jsonb(array(
      select jsonb_build_object('id', c.id, 'reason', 'conflict')
        from unnest(p_changes) c
        cross join lateral jsonb_to_record(c.own) as v(target uuid, count bigint, latest timestamptz)
        cross join lateral (select count(*), max(f.updated_at) as latest
          from (select f.updated_at from conversations f where f.organization_id = p_organization_id
            and f.customer_id between v.target and v.target and f.removed_at is null and true) f) t
        where c.operation = 'referring' and 'conversation.customer_id.referring' = any(c.checks)
          and (v.count <> t.count or v.latest is distinct from t.latest)));
  end if;
  if 'conversation.assignee_id' = any(p_checks) then
    v_found := v_found || to_jsonb(array(
      select jsonb_build_object('id', c.id, 'reason', 'dangling', 'field', 'assigneeId')
        from unnest(v_current) c cross join lateral (select (c.own->>'assignee_id')::uuid as assignee_id) v
        where 'conversation.assignee_id' = any(c.checks) and v.assignee_id is not null
          and not exists (select 1 from (select f.removed_at, false as holds from conversations f
              where f.organization_id = p_organization_id and f.id between v.assignee_id and v.assignee_id
              order by f.id limit 1) t
            where t.removed_at is null and t.holds)));
  end if;
  -- Rows that refer to one on which a unit was decided, where any came, went or changed since.
  if 'conversation.assignee_id.referring' = any(p_checks) then
    v_found := v_found || to_jsonb(array(
      select jsonb_build_object('id', c.id, 'reason', 'conflict')
        from unnest(p_changes) c
        cross join lateral jsonb_to_record(c.own) as v(target uuid, count bigint, latest timestamptz)
        cross join lateral (select count(*), max(f.updated_at) as latest
          from (select f.updated_at from conversations f where f.organization_id = p_organization_id
            and f.assignee_id between v.target and v.target and f.removed_at is null and true) f) t
        where c.operation = 'referring' and 'conversation.assignee_id.referring' = any(c.checks)
          and (v.count <> t.count or v.latest is distinct from t.latest)));
  end if;
  return v_found;
end;
$function$;

-- New and changed rows, and what they are found by. A body of a later version of its kind keeps that version, as it
-- keeps the members that this version lacks.
create function write_conversation(
  p_organization_id uuid, p_stamp timestamptz, p_changes commit_change[], p_heads text[], p_operations text[],
  p_refused uuid[]
) returns written_row[] language plpgsql volatile as $function$
declare
  v_stamp text := timestamp_text(p_stamp);
  v_tail text := body_tail(p_stamp);
  v_numbers jsonb;
  v_new written_row[];
  v_changed written_row[];
begin
  if 'insert conversation' = any(p_operations) then
    with fresh as materialized (
      select c.id, c.created_at, p_heads[c.head] || t.tail as body, t.tail, c.own, c.terms, c.events, c.trace_context,
          c.cause, (v_numbers->>c.id::text)::bigint as number
        from changes_of(p_organization_id, p_changes, 'conversation', 'insert', p_refused) c
        cross join lateral (select '' || v_tail as tail) t),
    found_by as (
      insert into conversations_words (organization_id, id, created_at, terms)
        select p_organization_id, f.id, f.created_at, concat_ws(' ', f.terms, f.number) from fresh f
          where f.terms is not null),
    added as (
      insert into conversations (organization_id, id, created_at, updated_at, body, body_version, customer_id, channel, status, handled_by, assignee_id, resolved_at, summarized_at, external_id)
        select p_organization_id, f.id, f.created_at, p_stamp, f.body, 1, (f.own->>'customer_id')::uuid, (f.own->>'channel')::text, (f.own->>'status')::text, (f.own->>'handled_by')::text, (f.own->>'assignee_id')::uuid, (f.own->>'resolved_at')::timestamptz(3), (f.own->>'summarized_at')::timestamptz(3), (f.own->>'external_id')::text
          from fresh f)
    select array_agg(row('conversation', f.id, f.body, f.tail, f.events, null, f.trace_context, f.cause,
        1, octet_length(f.body), version_term(f.id, v_stamp), content_term(f.body), f.number)::written_row)
      into v_new from fresh f;
  end if;

  if 'update conversation' = any(p_operations) then
    with changed as (
      update conversations t set (updated_at, body, body_version, customer_id, channel, status, handled_by, assignee_id, resolved_at, summarized_at, external_id)
          = row(p_stamp, p_heads[c.head] || v_tail, greatest(t.body_version, 1), (c.own->>'customer_id')::uuid, (c.own->>'channel')::text, (c.own->>'status')::text, (c.own->>'handled_by')::text, (c.own->>'assignee_id')::uuid, (c.own->>'resolved_at')::timestamptz(3), (c.own->>'summarized_at')::timestamptz(3), (c.own->>'external_id')::text)
        from changes_of(p_organization_id, p_changes, 'conversation', 'update', p_refused) c
        where t.organization_id = c.organization_id and t.id = c.id and t.updated_at = c.expected
        returning t.id, t.body, c.events, c.changed, c.trace_context, c.cause, c.bytes, c.old_term, c.old_content)
    -- The terms and bytes of the row before come from the change, and its version proves them.
    select array_agg(row('conversation', u.id, u.body, v_tail, u.events, u.changed, u.trace_context, u.cause,
        0, octet_length(u.body) - u.bytes, version_term(u.id, v_stamp)::numeric - u.old_term,
        content_term(u.body)::numeric - u.old_content, 0)::written_row) into v_changed from changed u;
    if 'index conversation' = any(p_operations) then
      insert into conversations_words (organization_id, id, created_at, terms)
        select p_organization_id, c.id, c.created_at, c.terms
          from unnest(v_changed) u join unnest(p_changes) c on c.id = u.id and c.terms is not null
        on conflict (organization_id, id) do update set terms = excluded.terms;
    end if;
  end if;
  return v_new || v_changed;
end;
$function$;

-- A template (db/sql-file.ts): what is between "each kind" and "end kind" repeats for every kind.
--
-- The commit function: the one writer of the rows of an organization, with their stamps, removals, events, counters and
-- stored responses. The events of endpoints and the responses to their changes, others write under the same lock
-- (record-event.sql, store-response.sql). It does what a call asks for in this order: versions, deletes, checks,
-- writes. It guarantees:
--
-- - the stamp is later than that of every earlier commit of the organization, whatever the clocks say, and at most
--   max_clock_skew ahead of the database's clock, unless the stamp before it is further ahead;
-- - a change of a row that has moved on, one that takes a used unique value or time, and one that refers to a missing
--   row is refused with its unit, without effect on others; a lone change of a row that has moved on is missing from
--   the answer, which means conflict. Two units of a call never have a row, a unique value or a key in common
--   (group-commit.ts); where they would, an index fails the call, and each unit is sent by itself;
-- - a removal removes or detaches the row's dependents, also those created a moment ago;
-- - an event exists exactly if its change committed, and a delivery for each endpoint that is active and subscribed;
-- - the counters are those of the rows, at every stamp.
--
-- Commits of an organization come one after another: each locks its clock row, which none of them changes, and appends
-- to `commits` what it has counted, so that nothing here gets slower while somebody holds a snapshot; `clocks` and
-- `kind_counters` are views of the latest. p_changes: values of commit-change.sql; p_heads: the long texts, apart, as a
-- quote in a composite value is written twice. Both are texts with a separator that no entry can have between them: an
-- array would double each quote and backslash once more, and PostgreSQL reads it character by character.
create function commit(
  p_organization_id uuid, p_now timestamptz, p_limits commit_limits, p_changes text, p_heads text
) returns jsonb language plpgsql volatile
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $function$
declare
  v_changes commit_change[] := string_to_array(p_changes, e'\x1e"\x1e')::commit_change[];
  v_heads text[] := string_to_array(p_heads, e'\x1e"\x1e');
  v_set text;
  v_away text;
  v_floor timestamptz;
  v_stamp timestamptz(3);
  v_kinds text[] := p_limits.kinds;
  v_operations text[] := p_limits.operations;
  v_refused uuid[] := '{}';
  v_refusals jsonb := '[]';
  v_written written_row[] := '{}';
  v_gone written_row[];
  v_next written_row[];
  v_kind text;
  v_ids uuid[];
  v_erases boolean := p_limits.erases;
  v_receipt text;
  v_events new_delivery[];
  v_done jsonb;
  v_endpoints uuid[];
  v_made jsonb;
begin
  -- 1. The clock row: lock, and stamp. A clock that is ahead is refused, as stamps never decrease: it would advance the
  -- stream for good. A call waits longer for the lock only where no other organization waits with it.

  if p_now > clock_timestamp() + make_interval(secs => p_limits.max_clock_skew / 1000.0) then
    raise exception 'the time given is % ahead of the database', p_now - clock_timestamp() using errcode = 'DW001';
  end if;
  -- An assignment, as it costs no statement.
  v_set := set_config('lock_timeout', p_limits.lock_timeout, true);
  select c.away, c.last_stamp into v_away, v_floor from organization_clocks c
    where c.organization_id = p_organization_id for no key update;
  if not found then
    raise exception 'organization % has no clock', p_organization_id;
  end if;
  if v_away is not null then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = v_away;
  end if;
  if p_limits.row_timeout <> p_limits.lock_timeout then
    v_set := set_config('lock_timeout', p_limits.row_timeout, true);
  end if;

  -- Read after the lock, to see what was committed while it was waited for.
  select greatest(greatest(v_floor, (select k.stamp from commits k where k.organization_id = p_organization_id
    order by k.stamp desc limit 1)) + interval '1 millisecond', p_now) into v_stamp;

  -- 2. A change whose idempotency key has committed already is not made again: its caller gets the stored response.

  if p_limits.have_responses then
    v_refusals := coalesce((select jsonb_agg(jsonb_build_object('id', c.id, 'reason', 'replayed'))
      from unnest(v_changes) c
      cross join lateral jsonb_to_record(c.response) as i(api_key_id uuid, method text, path text, key text)
      cross join lateral (select k.key from idempotency_keys k where k.organization_id = p_organization_id
        and k.api_key_id = i.api_key_id and k.method = i.method and k.path = i.path and k.key between i.key and i.key
        and k.created_at > p_now - interval '24 hours' order by k.key limit 1) k
      where c.response is not null), '[]');
  end if;

  -- 3. Units of several changes or rows that were decided on rows which have moved on since. Before the deletes, which
  -- no later refusal undoes: a unit with a delete is refused for versions alone. A delete of a row that others may
  -- refer to is the only change of its call.

  if p_limits.are_together then
    if 'conversation' = any(v_kinds) then
      v_refusals := v_refusals || moved_on_conversation(p_organization_id, v_changes);
    end if;
  end if;
  if v_refusals <> '[]' then
    v_refused := units_of(v_changes, v_refusals);
  end if;

  -- 4. Deletes, and what they do to the rows that refer to what is removed, to those that refer to these, and so on.
  -- Whatever else the call brings then sees the rows gone, and their dependents changed.

  if p_limits.have_deletes then
    if 'delete conversation' = any(v_operations) then
      v_written := v_written || delete_conversation(p_organization_id, v_stamp, v_changes, v_refused);
    end if;
    v_gone := v_written;
    while v_gone <> '{}' loop
      v_next := '{}';
      for v_kind, v_ids in select g.kind, array_agg(g.id) from unnest(v_gone) g where g.rows < 0 group by g.kind loop
        v_next := v_next || unlink_conversation(p_organization_id, v_stamp, v_kind, v_ids, v_erases, v_changes[1]);
      end loop;
      v_written := v_written || v_next;
      v_gone := v_next;
      -- Only what refers to the person itself goes with them.
      v_erases := false;
    end loop;
    -- Of whatever is removed, maintenance erases earlier payloads and responses.
    insert into erasures (organization_id, what, subject_id, removed_id, removed_at)
      select p_organization_id, 'object', g.id, g.id, v_stamp from unnest(v_written) g where g.rows < 0;
  end if;

  -- 5. Refusals: unique values and times that are taken, references that dangle, referring rows that have moved on.
  -- Then inserts beyond what the organization may store: counted as they came, without what was refused before. What
  -- this call deletes makes room for the next.

  if p_limits.checks <> '{}' then
    if 'conversation' = any(v_kinds) then
      v_refusals := v_refusals || check_conversation(p_organization_id, v_changes, p_limits.checks, v_refused);
    end if;
    v_refused := units_of(v_changes, v_refusals);
  end if;
  if p_limits.max_rows is not null or p_limits.max_bytes is not null then
    v_refusals := v_refusals || beyond_limits(p_organization_id, p_limits, v_changes, v_refused);
    v_refused := units_of(v_changes, v_refusals);
  end if;

  -- 6. New and changed rows.

  if v_operations && '{insert conversation,update conversation}' then
    v_written := v_written || write_conversation(p_organization_id, v_stamp, v_changes, v_heads, v_operations, v_refused);
  end if;
  if v_written = '{}' then
    return jsonb_build_object('refused', v_refusals, 'stamp', timestamp_text(v_stamp), 'done', '{}'::jsonb);
  end if;

  -- 7. Responses to store, which count as storage of the organization.

  if p_limits.have_responses then
    v_written := v_written || store_responses(p_organization_id, p_now, array(
      select c.response || jsonb_build_object('subject_id', w.id,
          'body', coalesce(c.response->>'body', v_receipt, w.body))
        from unnest(v_changes) c join unnest(v_written) w on w.id = c.id
        where c.response is not null and w.tail is not null));
  end if;

  -- 8. Events, and the counters afterwards of each kind that was written. The body of a change is in its first
  -- event alone; the ids of its events differ in the last digit, so `offset 0` makes one id for all of them.

  with inserted as (
    insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, changed,
        cause)
      select p_organization_id, event_of_change(w.event_id, e.place), e.type, v_stamp, w.kind, w.id,
          case e.place when 1 then w.body end, w.trace_context, w.changed, w.cause
        from (select u.kind, u.id, u.body, u.events, u.trace_context, u.changed, u.cause,
            new_uuid_v7(v_stamp) as event_id from unnest(v_written) u where u.events is not null offset 0) w
        cross join lateral (select w.events[p.place] as type, p.place
          from (select generate_subscripts(w.events, 1) as place) p) e
      returning id, type, subject_kind, subject_id),
  counted as (
    insert into commits (organization_id, stamp, kind, live_count, removed_count, stored_bytes, last_number, digest,
        content_digest)
      select p_organization_id, v_stamp, a.kind, a.live_count, a.removed_count, a.stored_bytes, a.last_number, a.digest,
          a.content_digest
        from counters_after(p_organization_id, v_written) a)
  select array_agg((null, null, t.id, t.type, v_stamp, t.subject_kind, t.subject_id, p_limits.max_attempts, null,
      null, null, null)::new_delivery), (
      select jsonb_object_agg(w.id, coalesce(v_receipt, w.tail)) from unnest(v_written) w where w.tail is not null), (
      select array_agg(a.id) from active_endpoints(p_organization_id) a
        where a.events && array(select unnest(event_patterns(o.type)) from inserted o))
    into v_events, v_done, v_endpoints from inserted t;

  -- 9. Deliveries.

  if v_endpoints is not null then
    v_made := create_deliveries(p_organization_id, p_now, v_stamp, v_endpoints, v_events);
  end if;
  return jsonb_build_object('refused', v_refusals, 'stamp', timestamp_text(v_stamp), 'done', v_done,
    'deliveries', v_made, 'clock_skew', case when p_limits.max_clock_skew is not null
      then round(extract(epoch from v_stamp - clock_timestamp()) / 0.001) end);
end;
$function$;

-- Copies the attempts that these pending deliveries' rows hold to `attempts`, before the next overwrite them. They
-- are due between `p_first` and `p_last`. Where the last update was no attempt, the row exists.
create function archive_attempts(
  p_organization_id uuid, p_webhook_id uuid, p_ids uuid[], p_first timestamptz, p_last timestamptz
) returns void
language plpgsql volatile as $function$
begin
  insert into attempts (organization_id, delivery_id, number, at, response_status, error_code, error_message,
    duration_ms, response_body)
    select p_organization_id, d.id, d.attempt_count, d.last_attempt_at, d.response_status, d.last_error_code,
        d.last_error_message, d.duration_ms, d.response_body
      from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(p_ids)
        and d.log_day = 'infinity' and d.next_attempt_at >= p_first and d.next_attempt_at <= p_last
          and d.last_attempt_at is not null
    on conflict do nothing;
end;
$function$;

-- Counts deliveries of an endpoint (specification 11.5): what is counted in `p_places`, how often in `p_counts`
-- (`tally.ts`), and the latest success among them. Each call appends a row of no length, so that no row gets a
-- version with each; the rows of minutes that are over become one a minute, and the minutes of hours that are over
-- one more an hour.
--
-- The caller says from when on such rows may be left, or null where none are: only rows of a minute that is over are
-- folded, and their latest success is noted in the endpoint's health. A row that stays is counted as well as one that
-- is folded. Counts are added, so a minute that is folded again, as clocks differ or one was set back, has what it
-- had before.
create function count_deliveries(
  p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_places smallint[], p_counts int[],
  p_succeeded_at timestamptz, p_fold_from timestamptz
) returns void
language plpgsql volatile as $function$
declare
  v_minute timestamptz := date_bin('1 minute', p_now, timestamptz '1970-01-01 00:00:00Z');
  v_hour timestamptz := date_bin('1 hour', p_now, timestamptz '1970-01-01 00:00:00Z');
  v_hours timestamptz[];
  v_succeeded_at timestamptz(3);
begin
  insert into delivery_stats as s (organization_id, webhook_id, minutes, at, places, counts, succeeded_at)
    values (p_organization_id, p_webhook_id, 0, p_now, p_places, p_counts, p_succeeded_at)
    on conflict (organization_id, webhook_id, minutes, at) do update set places = s.places || excluded.places,
      counts = s.counts || excluded.counts, succeeded_at = greatest(s.succeeded_at, excluded.succeeded_at);
  if p_fold_from is null then
    return;
  end if;

  with gone as (
    delete from delivery_stats s where s.organization_id = p_organization_id and s.webhook_id = p_webhook_id
      and s.minutes = 0 and s.at >= p_fold_from and s.at < v_minute
      returning date_bin('1 minute', s.at, timestamptz '1970-01-01 00:00:00Z') as at, s.places, s.counts, s.succeeded_at
  ), added as (
    insert into delivery_stats as s (organization_id, webhook_id, minutes, at, places, counts)
      select p_organization_id, p_webhook_id, 1, m.at, array_agg(m.place), array_agg(m.count)
        from (select g.at, c.place, sum(c.count)::int as count from gone g
          cross join lateral unnest(g.places, g.counts) as c(place, count)
          group by g.at, c.place) m
        group by m.at
      on conflict (organization_id, webhook_id, minutes, at)
        do update set places = s.places || excluded.places, counts = s.counts || excluded.counts
      returning date_bin('1 hour', s.at, timestamptz '1970-01-01 00:00:00Z') as hour)
    select array(select distinct a.hour from added a where a.hour <> v_hour), (select max(g.succeeded_at) from gone g)
      into v_hours, v_succeeded_at;
  insert into delivery_stats as s (organization_id, webhook_id, minutes, at, places, counts)
    select p_organization_id, p_webhook_id, 60, m.hour, array_agg(m.place), array_agg(m.count)
      from (select h.hour, c.place, sum(c.count)::int as count
        from unnest(v_hours) as h(hour)
          join delivery_stats s on s.organization_id = p_organization_id and s.webhook_id = p_webhook_id
            and s.minutes = 1 and s.at >= h.hour and s.at < h.hour + interval '1 hour'
          cross join lateral unnest(s.places, s.counts) as c(place, count)
        group by h.hour, c.place) m
      group by m.hour
    on conflict (organization_id, webhook_id, minutes, at) do update set places = excluded.places,
      counts = excluded.counts;
  update webhook_health set last_success_at = v_succeeded_at
    where organization_id = p_organization_id and webhook_id = p_webhook_id
      and v_succeeded_at > coalesce(last_success_at, '-infinity');
end;
$function$;

-- Takes the clock row of an organization, as commits do, so that no two functions change its records at once. Each
-- function that changes records outside of the stream begins with it.
--
-- Fails with `lock_not_available` after the caller's limit or 250 ms, as a connection should not wait for a transaction
-- that may take a minute. The caller tries again (`GroupCommit.exclusiveTask`, `unlessBusy`). Other rows are held for
-- moments only, so they have no limit. Fails with `DW003` (`db/not-served.ts`) where another database serves the
-- organization.
create function lock_clock(p_organization_id uuid) returns void
language plpgsql volatile as $function$
declare
  v_away text;
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  select c.away into v_away from organization_clocks c where c.organization_id = p_organization_id;
  if v_away is not null then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = v_away;
  end if;
end;
$function$;

-- Writes the results of attempts, if the lease still holds, and keeps or releases the queue. The results are arrays
-- by column, which cost much less than JSON.
--
-- The queue is locked in one statement and what is due is read in a later one, whose snapshot has every commit before
-- the lock; a single statement could leave a delivery behind. A delivery is completed only if it has not changed
-- since the claim: one that was started over meanwhile must not end with an older attempt.
--
-- The queue's row changes only when its state does: a release, and a lease of which half is over. `p_known` are the
-- deliveries that the worker has and keeps; `p_read_to`, `p_read_to_id` and `p_rewinds` where it has read to
-- (`read-position.ts`). A delivery that this makes due before that, or a result that finds its delivery changed,
-- rewinds the queue.
--
-- Counts are appended to `delivery_stats`, and the endpoint's health changes when it fails or recovers: a row that
-- every completion updates would get a version with each. A release notes the latest success under the lease,
-- `p_succeeded_last`.
--
-- Returns whether the lease is held; when the next delivery is due that the worker does not have, as milliseconds;
-- until when the queue is leased; and since when the endpoint fails, if the results changed its health.
create function complete_deliveries(
  p_organization_id uuid, p_webhook_id uuid, p_lease_id uuid, p_now timestamptz, p_lease_until timestamptz,
  p_next text, p_priority int, p_known uuid[], p_rewinds int, p_read_to timestamptz, p_read_to_id uuid,
  p_succeeded_at timestamptz, p_failures int, p_failed_at timestamptz, p_succeeded_last timestamptz,
  p_places smallint[], p_counts int[], p_fold_from timestamptz,
  p_id uuid[], p_due float8[], p_number int[], p_seen float8[], p_status text[], p_attempted boolean[],
    p_started_at float8[], p_ended_at float8[],
  p_response_status int[], p_response_body text[], p_error_code text[], p_error_message text[], p_duration_ms int[],
  p_next_attempt_at float8[]
) returns jsonb
language plpgsql volatile as $function$
declare
  v_lease_until timestamptz(3);
  v_rewinds int;
  v_written int;
  v_first timestamptz(3);
  v_last timestamptz(3);
  v_rewound boolean := false;
  v_failing_since timestamptz(3);
  v_read_to timestamptz(3);
  v_read_to_id uuid;
  v_due timestamptz(3);
  v_soon timestamptz := p_now + interval '1000 milliseconds';
begin
  select q.lease_until, q.rewinds, q.read_to into v_lease_until, v_rewinds, v_read_to from endpoint_queues q
    where q.organization_id = p_organization_id and q.webhook_id = p_webhook_id
      and q.lease_id = p_lease_id for no key update;
  if not found then
    return jsonb_build_object('held', false);
  end if;

  if cardinality(p_id) > 0 then
    select to_timestamp(min(u.due) / 1000), to_timestamp(max(u.due) / 1000) into v_first, v_last
      from unnest(p_due) as u(due);
    if 1 < any(p_number) then
      perform archive_attempts(p_organization_id, p_webhook_id, p_id, v_first, v_last);
    end if;
    -- The rows are found by their ids and when they were due. By the ids alone the planner, which counts no dead
    -- entries, may read all of an index, as it would for a join with the arguments. `generate_subscripts` makes it
    -- expect a thousand results; arrays alone, ten, and a nested loop.
    update deliveries d set status = r.status, attempt_count = d.attempt_count + r.attempted::int,
          response_status = case when r.attempted then r.response_status else d.response_status end,
          response_body = case when r.attempted then r.response_body else d.response_body end,
          last_error_code = r.error_code, last_error_message = r.error_message,
          duration_ms = case when r.attempted then r.duration_ms else d.duration_ms end,
          last_attempt_at = case when r.attempted then to_timestamp(r.started_at / 1000) else d.last_attempt_at end,
          next_attempt_at = to_timestamp(r.next_attempt_at / 1000), updated_at = greatest(d.updated_at, p_now),
          delivered_at = case when r.status = 'succeeded' then to_timestamp(r.ended_at / 1000) end,
          log_day = case when r.status = 'pending' then 'infinity' else (d.created_at at time zone 'UTC')::date end
        from rows from (unnest(p_id), unnest(p_number), unnest(p_seen), unnest(p_status), unnest(p_attempted),
          unnest(p_started_at),
            unnest(p_ended_at), unnest(p_response_status), unnest(p_response_body), unnest(p_error_code),
              unnest(p_error_message),
            unnest(p_duration_ms), unnest(p_next_attempt_at), generate_subscripts(p_id, 1))
          as r(id, number, seen, status, attempted, started_at, ended_at, response_status, response_body, error_code,
            error_message,
            duration_ms, next_attempt_at, place)
        where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(p_id) and d.id = r.id
          and d.log_day = 'infinity' and d.next_attempt_at >= v_first and d.next_attempt_at <= v_last
            and d.attempt_count = r.number - 1 and d.updated_at = to_timestamp(r.seen / 1000);
    get diagnostics v_written = row_count;
    v_rewound := v_written < cardinality(p_id)
      or extract(epoch from p_read_to) * 1000 >= (select min(u.at) from unnest(p_next_attempt_at) as u(at));

    perform count_deliveries(p_organization_id, p_webhook_id, p_now, p_places, p_counts, p_succeeded_at, p_fold_from);
    update webhook_health h set last_success_at = coalesce(p_succeeded_at, h.last_success_at),
        failure_count = case when p_succeeded_at is null then h.failure_count else 0 end + p_failures,
        failing_since = coalesce(case when p_succeeded_at is null then h.failing_since end, p_failed_at)
      where h.organization_id = p_organization_id and h.webhook_id = p_webhook_id
        and (p_failures > 0 or p_succeeded_at is not null and h.failing_since is not null)
      returning h.failing_since into v_failing_since;
  end if;
  if p_succeeded_last is not null then
    update webhook_health h set last_success_at = p_succeeded_last
      where h.organization_id = p_organization_id and h.webhook_id = p_webhook_id
        and p_succeeded_last > coalesce(h.last_success_at, '-infinity');
  end if;

  if v_rewound then
    update endpoint_queues set rewinds = rewinds + 1, read_to = null
      where organization_id = p_organization_id and webhook_id = p_webhook_id;
    v_read_to := null;
  elsif v_rewinds = p_rewinds then
    v_read_to := p_read_to;
    v_read_to_id := p_read_to_id;
  end if;
  -- A first attempt is due when its commit is there, as for a claim.
  select case when d.attempt_count = 0 and d.next_attempt_at <= v_soon and d.next_attempt_at <= d.created_at
    then least(d.next_attempt_at, p_now) else d.next_attempt_at end
    into v_due from deliveries d
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day = 'infinity'
      and (d.next_attempt_at, d.id) >= (coalesce(v_read_to, '-infinity'), coalesce(v_read_to_id,
        '00000000-0000-0000-0000-000000000000'))
      and d.id <> all(p_known)
    order by d.next_attempt_at, d.id limit 1;
  if p_next = 'release' then
    -- Disabled meanwhile: what is pending is not to wait for its next attempt, but to fail now.
    if v_due > p_now and exists (select 1 from webhooks w where w.organization_id = p_organization_id
      and w.id = p_webhook_id
        and w.status = 'disabled') then
      v_due := p_now;
    end if;
    -- A backlog waits behind those that have waited longer: its queue was drained just now.
    update endpoint_queues set due_at = case when v_due > p_now then v_due when v_due is not null then p_now end,
        lease_id = null, lease_until = null, worker_id = null,
        lost_leases = 0, alone_id = null, alone_since = null,
        alone_left = case when alone_left > 0 and v_due <= p_now then alone_left - 1 else 0 end,
        priority = p_priority, read_to = v_read_to
      where organization_id = p_organization_id and webhook_id = p_webhook_id;
  elsif p_lease_until - v_lease_until > (p_lease_until - p_now) / 2 then
    update endpoint_queues set lease_until = p_lease_until, due_at = p_lease_until
      where organization_id = p_organization_id and webhook_id = p_webhook_id;
    v_lease_until := p_lease_until;
  end if;
  return jsonb_build_object('held', true, 'failing_since', v_failing_since, 'due', floor(extract(epoch
    from v_due) * 1000),
    'lease_until', floor(extract(epoch from v_lease_until) * 1000));
end;
$function$;

-- Others, each in a file of its name below packages/service/src:
-- count_log, count_responses, create_api_key, create_console_link, create_webhook, delete_webhook
-- delivery_job_piece, disable_registered, disable_webhook, drop_previous_secrets, drop_previous_tokens
-- erasure_receipt, expire_api_key, fail_pending, is_last_manager, key_is_unchanged, log_of_endpoint
-- log_of_event, missed_since, ping_webhook, read_log, record_event, recover_webhook, replayed, report_endpoint
-- require_sealed_with, retry_now, revoke_api_key, rotate_api_key, rotate_webhook_secret, send_again
-- store_lone_response, store_response, update_api_key, update_webhook
