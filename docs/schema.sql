-- The schema as a database has it. Generated: npm run generate. Read it from the top: first what there is, then the functions
-- that write it, the commit function first. Weeks of events, deliveries and attempts are made as time goes and are not
-- shown. What each key of the commit function's argument means: packages/service/src/journal/commit-protocol.ts.

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

-- One row an organization, locked first by every commit. last_stamp is the latest stamp it gave, and
-- events_dropped_to the last event that is no longer stored. The epoch changes when the stream may have gone back
-- in time: cursors of another epoch are refused. Updated constantly: space for HOT updates.
create table organization_clocks (
  organization_id uuid not null,
  last_stamp timestamptz(3) not null,
  epoch integer not null,
  away text,
  events_dropped_to uuid,
  primary key (organization_id),
  foreign key (organization_id) references organizations(organization_id),
  check (away = any (array['arriving'::text, 'moved'::text]))
) with (fillfactor=20, autovacuum_vacuum_threshold=200, autovacuum_vacuum_cost_delay=0);

-- How many objects of a kind exist and how many were removed, the digests and bytes of those that exist, and the
-- last number given.
create table kind_counters (
  organization_id uuid not null,
  kind text not null,
  live_count bigint not null,
  digest numeric not null,
  last_number bigint not null,
  stored_bytes bigint not null default 0,
  removed_count bigint not null default 0,
  content_digest numeric not null,
  primary key (organization_id, kind),
  foreign key (organization_id) references organizations(organization_id),
  check (content_digest >= 0::numeric and content_digest < '18446744073709551616'::numeric),
  check (digest >= 0::numeric and digest < '18446744073709551616'::numeric)
) with (fillfactor=20, autovacuum_vacuum_threshold=200, autovacuum_vacuum_cost_delay=0);

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
-- ids are in the order of time and the week follows from the id.
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

-- Removed objects whose stored payloads and responses still have to be erased.
create table erasures (
  organization_id uuid not null,
  subject_id uuid not null,
  removed_at timestamptz(3) not null,
  primary key (organization_id, subject_id)
);

-- Objects that a removal took a reference from: their stored payloads and responses still have it.
create table detachments (
  organization_id uuid not null,
  subject_id uuid not null,
  removed_id uuid not null,
  field text not null,
  primary key (organization_id, subject_id, removed_id)
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
  subscription_id text,
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

-- Endpoints that are gone and whose deliveries still have to be removed.
create table removed_webhooks (
  organization_id uuid not null,
  webhook_id uuid not null,
  removed_at timestamptz(3) not null,
  primary key (organization_id, webhook_id)
);

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
create index deliveries_pending_gap on deliveries_pending (organization_id, webhook_id) where event_type = 'gap'::text;

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
-- packages/service/src/delivery/tally.ts.
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

-- Jobs that replay the events that an endpoint missed, piece by piece.
create table recoveries (
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
  position uuid not null,
  due_at timestamptz(3),
  lease_id uuid,
  lease_until timestamptz(3),
  primary key (organization_id, webhook_id, id),
  foreign key (organization_id, webhook_id) references webhooks(organization_id, id) on delete cascade,
  check ((finished_at is null) = (due_at is not null)),
  check ((lease_id is null) = (lease_until is null)),
  check (since <= until)
);
create index recoveries_due on recoveries (due_at) where due_at is not null;

-- Deliveries of large commits that are still to be created, a row a commit and endpoint. Later changes of the
-- endpoint do not change it.
create table fan_outs (
  organization_id uuid not null,
  webhook_id uuid not null,
  stamp timestamptz(3) not null,
  types text[] not null,
  max_attempts integer not null,
  position uuid not null,
  due_at timestamptz(3) not null,
  conditions jsonb,
  own_key text,
  primary key (organization_id, webhook_id, stamp),
  foreign key (organization_id, webhook_id) references webhooks(organization_id, id) on delete cascade,
  check (max_attempts > 0)
);
create index fan_outs_due on fan_outs (due_at);

-- Resolutions that wait for their summary, until nothing is left to write.
create table summary_jobs (
  organization_id uuid not null,
  conversation_id uuid not null,
  resolved_at timestamptz(3) not null,
  due_at timestamptz(3) not null,
  lease_id uuid,
  attempts integer not null,
  gave_up boolean not null,
  worker_id uuid,
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
create index teammates_words_outdated on teammates_words (organization_id, id) where "left"(terms, 2) <> '~3'::text;

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

-- The words that customers are found by, in a table of their own, so that other changes write nothing here.
create table customers_words (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  terms text not null,
  primary key (organization_id, id)
);
create index customers_words_found on customers_words using gin (search_vector(organization_id, terms)) with (gin_pending_list_limit='1024');
create index customers_words_outdated on customers_words (organization_id, id) where "left"(terms, 2) <> '~3'::text;

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

-- The words that conversations are found by, in a table of their own, so that other changes write nothing here.
create table conversations_words (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  terms text not null,
  primary key (organization_id, id)
);
create index conversations_words_found on conversations_words using gin (search_vector(organization_id, terms)) with (gin_pending_list_limit='1024');
create index conversations_words_outdated on conversations_words (organization_id, id) where "left"(terms, 2) <> '~3'::text;

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

-- The words that messages are found by, in a table of their own, so that other changes write nothing here.
create table messages_words (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  terms text not null,
  primary key (organization_id, id)
);
create index messages_words_found on messages_words using gin (search_vector(organization_id, terms)) with (gin_pending_list_limit='1024');
create index messages_words_outdated on messages_words (organization_id, id) where "left"(terms, 2) <> '~3'::text;

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

-- The words that notes are found by, in a table of their own, so that other changes write nothing here.
create table notes_words (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  terms text not null,
  primary key (organization_id, id)
);
create index notes_words_found on notes_words using gin (search_vector(organization_id, terms)) with (gin_pending_list_limit='1024');
create index notes_words_outdated on notes_words (organization_id, id) where "left"(terms, 2) <> '~3'::text;

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

-- The words that tickets are found by, in a table of their own, so that other changes write nothing here.
create table tickets_words (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  terms text not null,
  primary key (organization_id, id)
);
create index tickets_words_found on tickets_words using gin (search_vector(organization_id, terms)) with (gin_pending_list_limit='1024');
create index tickets_words_outdated on tickets_words (organization_id, id) where "left"(terms, 2) <> '~3'::text;

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
create index bookings_start_at on bookings (organization_id, start_at, created_at desc, id desc) where removed_at is null and start_at is not null;
create index bookings_status on bookings (organization_id, status, created_at desc, id desc) where removed_at is null and status is not null;
create index bookings_stream on bookings (organization_id, updated_at, id);
create index bookings_times on bookings (organization_id, assignee_id, (body::json ->> 'endAt'::text) collate "c") where removed_at is null and assignee_id is not null and (status = any (array['pending'::text, 'confirmed'::text]));

-- The words that bookings are found by, in a table of their own, so that other changes write nothing here.
create table bookings_words (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  terms text not null,
  primary key (organization_id, id)
);
create index bookings_words_found on bookings_words using gin (search_vector(organization_id, terms)) with (gin_pending_list_limit='1024');
create index bookings_words_outdated on bookings_words (organization_id, id) where "left"(terms, 2) <> '~3'::text;

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

-- Functions that migrations made.

CREATE OR REPLACE FUNCTION public.content_term(p_body text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((('x'::text || "left"(encode(sha256(convert_to(p_body, 'UTF8'::name)), 'hex'::text), 16)))::bit(64))::bigint;

CREATE OR REPLACE FUNCTION public.digest_term(p_id uuid, p_updated_at text)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (((('x'::text || "left"(encode(sha256(convert_to((((p_id)::text || ':'::text) || p_updated_at), 'UTF8'::name)), 'hex'::text), 16)))::bit(64))::bigint)::numeric;

CREATE OR REPLACE FUNCTION public.first_uuid_v7(p_at timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((lpad(to_hex((floor((EXTRACT(epoch FROM p_at) * (1000)::numeric)))::bigint), 12, '0'::text) || '70008000000000000000'::text))::uuid;

CREATE OR REPLACE FUNCTION public.inbox_conversation()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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

CREATE OR REPLACE FUNCTION public.inbox_message()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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

CREATE OR REPLACE FUNCTION public.inbox_removed_messages()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update inbox i set awaiting_since = inbox_since(i.organization_id, i.conversation_id)
    from (select distinct b.organization_id, b.conversation_id from before_rows b
      join after_rows a on a.organization_id = b.organization_id and a.id = b.id
      where b.removed_at is null and a.removed_at is not null and b.conversation_id is not null) r
    where i.organization_id = r.organization_id and i.conversation_id = r.conversation_id;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION public.inbox_since(p_organization_id uuid, p_conversation_id uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
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

CREATE OR REPLACE FUNCTION public.millisecond_after(p_at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (p_at + '00:00:00.001'::interval);

CREATE OR REPLACE FUNCTION public.new_uuid_v7(p_at timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
RETURN (encode(set_bit(set_bit(OVERLAY(uuid_send(gen_random_uuid()) PLACING SUBSTRING(int8send((floor((EXTRACT(epoch FROM p_at) * (1000)::numeric)))::bigint) FROM 3) FROM 1 FOR 6), (52)::bigint, 1), (53)::bigint, 1), 'hex'::text))::uuid;

CREATE OR REPLACE FUNCTION public.search_vector(p_organization_id uuid, p_terms text)
 RETURNS tsvector
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN array_to_tsvector(string_to_array(("right"((p_organization_id)::text, 8) || replace(p_terms, ' '::text, (' '::text || "right"((p_organization_id)::text, 8)))), ' '::text));

-- Functions of this version: each name ends in a hash of the text. The first is the one writer of the stream.

create or replace function commit_f24edd111368(p_organization_id uuid, p_now timestamptz, p_changes jsonb) returns jsonb
language plpgsql volatile set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $function$
#variable_conflict use_column
declare
  v_last timestamptz(3);
  v_away text;
  v_stamp timestamptz(3);
  v_text text;
  v_tail text;
  v_refused uuid[] := '{}';
  v_refusals jsonb := '[]';
  v_found jsonb;
  v_done uuid[] := '{}';
  v_bodies text[] := '{}';
  v_rows uuid[];
  v_row_bodies text[];
  v_numbers jsonb := '{}';
  v_count bigint;
  v_bytes bigint;
  v_digest numeric;
  v_content numeric;
  v_number bigint;
  v_dependents uuid[];
  v_events uuid[] := '{}';
  v_event_types text[] := '{}';
  v_event_kinds text[] := '{}';
  v_event_subjects uuid[] := '{}';
  v_any boolean;
  v_woken jsonb;
  v_gone uuid[];
  v_receipt text;
  v_large boolean;
  v_period record;
  v_owner uuid;
  v_taken text[];
  v_existing text;
begin
  -- 1. Lock the clock row, which serializes the organization's commits, and compute the stamp.

  -- Reject a clock that is ahead: stamps never decrease, so it would advance the stream permanently.
  if p_now > clock_timestamp() + make_interval(secs => (p_changes->>'max_clock_skew')::int / 1000.0) then
    raise exception 'the time given is % ahead of the database', p_now - clock_timestamp()
      using errcode = 'DW001';
  end if;
  -- Longer than any ordinary commit: a call that waits longer, and the organizations with it, tries another way.
  perform set_config('lock_timeout', coalesce(p_changes->>'lock_timeout', '250ms'), true);
  select c.last_stamp, c.away into v_last, v_away from organization_clocks c
    where c.organization_id = p_organization_id for update;
  if not found then
    raise exception 'organization % has no clock', p_organization_id;
  end if;
  if v_away is not null then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = v_away;
  end if;
  -- Large commits wait longer for row locks instead of restarting.
  if p_changes ? 'row_timeout' then
    perform set_config('lock_timeout', p_changes->>'row_timeout', true);
  end if;
  v_stamp := greatest(v_last + interval '1 millisecond', p_now);
  v_text := to_char(v_stamp at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  v_tail := '"updatedAt":"' || v_text || '"}';

  -- 2. A change whose idempotency key has committed already is not made again: its caller gets the stored response.

  if p_changes ? 'idempotency' then
    select jsonb_agg(jsonb_build_object('id', i.subject_id, 'reason', 'replayed')) into v_found
      from (select p_organization_id as organization_id, k.subject_id, k.api_key_id, k.method, k.path, k.key
          from jsonb_to_recordset(p_changes->'idempotency') as k(subject_id uuid, api_key_id uuid, method text, path text, key text) where k.subject_id = any(array[k.subject_id]) offset 0) i
      cross join lateral (select k.key from idempotency_keys k where k.organization_id = i.organization_id
        and k.api_key_id = i.api_key_id and k.method = i.method and k.path = i.path and k.key between i.key and i.key
        and k.created_at > p_now - interval '24 hours' order by k.key limit 1) k;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;


  -- 3. Rows that have moved on since a unit was decided. Before the deletes, so that a unit with one is refused whole.

  if p_changes ? 'teammate_expected' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'teammate_expected') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r
      where not exists (select 1 from teammates t where t.organization_id = r.organization_id
        and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'customer_expected' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'customer_expected') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r
      where not exists (select 1 from customers t where t.organization_id = r.organization_id
        and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'conversation_expected' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'conversation_expected') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r
      where not exists (select 1 from conversations t where t.organization_id = r.organization_id
        and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'message_expected' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'message_expected') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r
      where not exists (select 1 from messages t where t.organization_id = r.organization_id
        and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'note_expected' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'note_expected') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r
      where not exists (select 1 from notes t where t.organization_id = r.organization_id
        and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'ticket_expected' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'ticket_expected') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r
      where not exists (select 1 from tickets t where t.organization_id = r.organization_id
        and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'booking_expected' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'booking_expected') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r
      where not exists (select 1 from bookings t where t.organization_id = r.organization_id
        and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;


  if v_refused <> '{}' and p_changes ? 'units' then
    select v_refused || coalesce(array_agg(m.id), '{}') into v_refused
      from jsonb_to_recordset(p_changes->'units') as m(unit int, id uuid)
      where m.unit in (select n.unit from jsonb_to_recordset(p_changes->'units') as n(unit int, id uuid)
        where n.id = any(v_refused));
  end if;

  -- 4. Deletes, and what they do to the rows that refer to what is removed. Whatever else the call brings then sees the
  -- rows gone, and their dependents changed.

  if p_changes ? 'teammate_delete' then
    with gone as (
      update teammates t set email = null, active = null, body = '{"object":"removed","id":"' || t.id || '","resource":"teammate","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
        from (select p_organization_id as organization_id, k.id, k.expected, k.old_term, k.old_content, k.old_bytes
          from jsonb_to_recordset(p_changes->'teammate_delete') as k(id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int) where k.id = any(array[k.id]) offset 0) r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and coalesce(t.removed_at, 'infinity') = 'infinity' and r.id <> all(v_refused)
        returning t.id, t.body, r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), -count(*), -sum(old_term), -sum(old_content), -sum(old_bytes)
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes from gone;
    if v_rows is not null then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'teammate', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      insert into erasures (organization_id, subject_id, removed_at)
        select p_organization_id, d.id, v_stamp from unnest(v_rows) as d(id);
      delete from teammates_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(left((overlay(t.body placing '"assigneeId":null' from strpos(t.body, '"assigneeId":') for 51)), -39) || v_tail, 'UTF8')) as content,
            sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as old_version, sha256(convert_to(t.body, 'UTF8')) as old_content
          from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.assignee_id from conversations f
          where f.organization_id = d.organization_id and f.assignee_id between d.id and d.id and f.removed_at is null
          order by f.assignee_id offset 0) t offset 0)
        select array_agg(id), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616),
            mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(-34)
          into v_dependents, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        insert into detachments (organization_id, subject_id, removed_id, field)
          select p_organization_id, d.id, d.assignee_id, '/assigneeId' from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.assignee_id from conversations f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
          on conflict do nothing;
        update conversations t set assignee_id = null, body = left((overlay(t.body placing '"assigneeId":null' from strpos(t.body, '"assigneeId":') for 51)), -39) || v_tail,
            updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from conversations f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'conversation', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(left((overlay(t.body placing '' from strpos(t.body, ',"id":"' || t.author_id || '"') for 44)), -39) || v_tail, 'UTF8')) as content,
            sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as old_version, sha256(convert_to(t.body, 'UTF8')) as old_content
          from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.author_id from messages f
          where f.organization_id = d.organization_id and f.author_id between d.id and d.id and f.removed_at is null
          order by f.author_id offset 0) t offset 0)
        select array_agg(id), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616),
            mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(-44)
          into v_dependents, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        insert into detachments (organization_id, subject_id, removed_id, field)
          select p_organization_id, d.id, d.author_id, '/author/id' from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.author_id from messages f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
          on conflict do nothing;
        update messages t set author_id = null, body = left((overlay(t.body placing '' from strpos(t.body, ',"id":"' || t.author_id || '"') for 44)), -39) || v_tail,
            updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from messages f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'message', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(left((overlay(t.body placing '' from strpos(t.body, ',"id":"' || t.author_id || '"') for 44)), -39) || v_tail, 'UTF8')) as content,
            sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as old_version, sha256(convert_to(t.body, 'UTF8')) as old_content
          from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.author_id from notes f
          where f.organization_id = d.organization_id and f.author_id between d.id and d.id and f.removed_at is null
          order by f.author_id offset 0) t offset 0)
        select array_agg(id), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616),
            mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(-44)
          into v_dependents, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        insert into detachments (organization_id, subject_id, removed_id, field)
          select p_organization_id, d.id, d.author_id, '/author/id' from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.author_id from notes f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
          on conflict do nothing;
        update notes t set author_id = null, body = left((overlay(t.body placing '' from strpos(t.body, ',"id":"' || t.author_id || '"') for 44)), -39) || v_tail,
            updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from notes f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'note', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(left((overlay(t.body placing '"assigneeId":null' from strpos(t.body, '"assigneeId":') for 51)), -39) || v_tail, 'UTF8')) as content,
            sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as old_version, sha256(convert_to(t.body, 'UTF8')) as old_content
          from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.assignee_id from tickets f
          where f.organization_id = d.organization_id and f.assignee_id between d.id and d.id and f.removed_at is null
          order by f.assignee_id offset 0) t offset 0)
        select array_agg(id), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616),
            mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(-34)
          into v_dependents, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        insert into detachments (organization_id, subject_id, removed_id, field)
          select p_organization_id, d.id, d.assignee_id, '/assigneeId' from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.assignee_id from tickets f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
          on conflict do nothing;
        update tickets t set assignee_id = null, body = left((overlay(t.body placing '"assigneeId":null' from strpos(t.body, '"assigneeId":') for 51)), -39) || v_tail,
            updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from tickets f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'ticket', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(left((overlay(t.body placing '"assigneeId":null' from strpos(t.body, '"assigneeId":') for 51)), -39) || v_tail, 'UTF8')) as content,
            sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as old_version, sha256(convert_to(t.body, 'UTF8')) as old_content
          from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.assignee_id from bookings f
          where f.organization_id = d.organization_id and f.assignee_id between d.id and d.id and f.removed_at is null
          order by f.assignee_id offset 0) t offset 0)
        select array_agg(id), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616),
            mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(-34)
          into v_dependents, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        insert into detachments (organization_id, subject_id, removed_id, field)
          select p_organization_id, d.id, d.assignee_id, '/assigneeId' from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.assignee_id from bookings f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
          on conflict do nothing;
        update bookings t set assignee_id = null, body = left((overlay(t.body placing '"assigneeId":null' from strpos(t.body, '"assigneeId":') for 51)), -39) || v_tail,
            updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from bookings f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'booking', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;
    end if;
  end if;

  if p_changes ? 'customer_delete' then
    with gone as (
      update customers t set email = null, phone = null, external_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"customer","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
        from (select p_organization_id as organization_id, k.id, k.expected, k.old_term, k.old_content, k.old_bytes
          from jsonb_to_recordset(p_changes->'customer_delete') as k(id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int) where k.id = any(array[k.id]) offset 0) r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and coalesce(t.removed_at, 'infinity') = 'infinity' and r.id <> all(v_refused)
        returning t.id, t.body, r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), -count(*), -sum(old_term), -sum(old_content), -sum(old_bytes)
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes from gone;
    if v_rows is not null then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'customer', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      insert into erasures (organization_id, subject_id, removed_at)
        select p_organization_id, d.id, v_stamp from unnest(v_rows) as d(id);
      delete from customers_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
      if p_changes ? 'erase' then

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
            octet_length(t.body) as bytes from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.customer_id from messages f
          where f.organization_id = d.organization_id and f.customer_id between d.id and d.id and f.removed_at is null
          order by f.customer_id offset 0) t offset 0)
        select array_agg(id), -count(*), -mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -sum(bytes)
          into v_dependents, v_count, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        update messages t set conversation_id = null, direction = null, author_id = null, external_id = null, customer_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"message","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from messages f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        with added as (
          insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, cause)
            select p_organization_id, new_uuid_v7(v_stamp), 'message.deleted', v_stamp, 'message', d.id, d.body,
                p_changes->'events'->0->>'trace_context', p_changes->'events'->0->'cause'
              from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.body from messages f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
            returning id, type, subject_kind, subject_id)
          select v_events || array_agg(id), v_event_types || array_agg(type), v_event_kinds || array_agg(subject_kind),
            v_event_subjects || array_agg(subject_id)
          into v_events, v_event_types, v_event_kinds, v_event_subjects from added;
        insert into erasures (organization_id, subject_id, removed_at)
          select p_organization_id, c.id, v_stamp from unnest(v_dependents) as c(id);
        delete from messages_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'message', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
            octet_length(t.body) as bytes from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.customer_id from notes f
          where f.organization_id = d.organization_id and f.customer_id between d.id and d.id and f.removed_at is null
          order by f.customer_id offset 0) t offset 0)
        select array_agg(id), -count(*), -mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -sum(bytes)
          into v_dependents, v_count, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        update notes t set conversation_id = null, author_id = null, customer_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"note","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from notes f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        with added as (
          insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, cause)
            select p_organization_id, new_uuid_v7(v_stamp), 'note.deleted', v_stamp, 'note', d.id, d.body,
                p_changes->'events'->0->>'trace_context', p_changes->'events'->0->'cause'
              from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.body from notes f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
            returning id, type, subject_kind, subject_id)
          select v_events || array_agg(id), v_event_types || array_agg(type), v_event_kinds || array_agg(subject_kind),
            v_event_subjects || array_agg(subject_id)
          into v_events, v_event_types, v_event_kinds, v_event_subjects from added;
        insert into erasures (organization_id, subject_id, removed_at)
          select p_organization_id, c.id, v_stamp from unnest(v_dependents) as c(id);
        delete from notes_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'note', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
            octet_length(t.body) as bytes from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.customer_id from tickets f
          where f.organization_id = d.organization_id and f.customer_id between d.id and d.id and f.removed_at is null
          order by f.customer_id offset 0) t offset 0)
        select array_agg(id), -count(*), -mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -sum(bytes)
          into v_dependents, v_count, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        update tickets t set customer_id = null, conversation_id = null, type = null, priority = null, status = null, assignee_id = null, external_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"ticket","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from tickets f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        with added as (
          insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, cause)
            select p_organization_id, new_uuid_v7(v_stamp), 'ticket.deleted', v_stamp, 'ticket', d.id, d.body,
                p_changes->'events'->0->>'trace_context', p_changes->'events'->0->'cause'
              from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.body from tickets f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
            returning id, type, subject_kind, subject_id)
          select v_events || array_agg(id), v_event_types || array_agg(type), v_event_kinds || array_agg(subject_kind),
            v_event_subjects || array_agg(subject_id)
          into v_events, v_event_types, v_event_kinds, v_event_subjects from added;
        insert into erasures (organization_id, subject_id, removed_at)
          select p_organization_id, c.id, v_stamp from unnest(v_dependents) as c(id);
        delete from tickets_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'ticket', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
            octet_length(t.body) as bytes from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.customer_id from bookings f
          where f.organization_id = d.organization_id and f.customer_id between d.id and d.id and f.removed_at is null
          order by f.customer_id offset 0) t offset 0)
        select array_agg(id), -count(*), -mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -sum(bytes)
          into v_dependents, v_count, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        update bookings t set customer_id = null, start_at = null, status = null, assignee_id = null, conversation_id = null, external_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"booking","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from bookings f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        with added as (
          insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, cause)
            select p_organization_id, new_uuid_v7(v_stamp), 'booking.deleted', v_stamp, 'booking', d.id, d.body,
                p_changes->'events'->0->>'trace_context', p_changes->'events'->0->'cause'
              from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.body from bookings f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
            returning id, type, subject_kind, subject_id)
          select v_events || array_agg(id), v_event_types || array_agg(type), v_event_kinds || array_agg(subject_kind),
            v_event_subjects || array_agg(subject_id)
          into v_events, v_event_types, v_event_kinds, v_event_subjects from added;
        insert into erasures (organization_id, subject_id, removed_at)
          select p_organization_id, c.id, v_stamp from unnest(v_dependents) as c(id);
        delete from bookings_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'booking', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
            octet_length(t.body) as bytes from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.customer_id from conversations f
          where f.organization_id = d.organization_id and f.customer_id between d.id and d.id and f.removed_at is null
          order by f.customer_id offset 0) t offset 0)
        select array_agg(id), -count(*), -mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -sum(bytes)
          into v_dependents, v_count, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        update conversations t set customer_id = null, channel = null, status = null, handled_by = null, assignee_id = null, resolved_at = null, summarized_at = null, external_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"conversation","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from conversations f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        with added as (
          insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, cause)
            select p_organization_id, new_uuid_v7(v_stamp), 'conversation.deleted', v_stamp, 'conversation', d.id, d.body,
                p_changes->'events'->0->>'trace_context', p_changes->'events'->0->'cause'
              from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.body from conversations f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
            returning id, type, subject_kind, subject_id)
          select v_events || array_agg(id), v_event_types || array_agg(type), v_event_kinds || array_agg(subject_kind),
            v_event_subjects || array_agg(subject_id)
          into v_events, v_event_types, v_event_kinds, v_event_subjects from added;
        insert into erasures (organization_id, subject_id, removed_at)
          select p_organization_id, c.id, v_stamp from unnest(v_dependents) as c(id);
        delete from conversations_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'conversation', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
        v_gone := v_dependents;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
            octet_length(t.body) as bytes from (select p_organization_id as organization_id, k.id
          from unnest(v_gone) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.conversation_id from messages f
          where f.organization_id = d.organization_id and f.conversation_id between d.id and d.id and f.removed_at is null
          order by f.conversation_id offset 0) t offset 0)
        select array_agg(id), -count(*), -mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -sum(bytes)
          into v_dependents, v_count, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        update messages t set conversation_id = null, direction = null, author_id = null, external_id = null, customer_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"message","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from messages f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        with added as (
          insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, cause)
            select p_organization_id, new_uuid_v7(v_stamp), 'message.deleted', v_stamp, 'message', d.id, d.body,
                p_changes->'events'->0->>'trace_context', p_changes->'events'->0->'cause'
              from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.body from messages f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
            returning id, type, subject_kind, subject_id)
          select v_events || array_agg(id), v_event_types || array_agg(type), v_event_kinds || array_agg(subject_kind),
            v_event_subjects || array_agg(subject_id)
          into v_events, v_event_types, v_event_kinds, v_event_subjects from added;
        insert into erasures (organization_id, subject_id, removed_at)
          select p_organization_id, c.id, v_stamp from unnest(v_dependents) as c(id);
        delete from messages_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'message', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
            octet_length(t.body) as bytes from (select p_organization_id as organization_id, k.id
          from unnest(v_gone) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.conversation_id from notes f
          where f.organization_id = d.organization_id and f.conversation_id between d.id and d.id and f.removed_at is null
          order by f.conversation_id offset 0) t offset 0)
        select array_agg(id), -count(*), -mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -sum(bytes)
          into v_dependents, v_count, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        update notes t set conversation_id = null, author_id = null, customer_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"note","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from notes f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        with added as (
          insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, cause)
            select p_organization_id, new_uuid_v7(v_stamp), 'note.deleted', v_stamp, 'note', d.id, d.body,
                p_changes->'events'->0->>'trace_context', p_changes->'events'->0->'cause'
              from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.body from notes f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
            returning id, type, subject_kind, subject_id)
          select v_events || array_agg(id), v_event_types || array_agg(type), v_event_kinds || array_agg(subject_kind),
            v_event_subjects || array_agg(subject_id)
          into v_events, v_event_types, v_event_kinds, v_event_subjects from added;
        insert into erasures (organization_id, subject_id, removed_at)
          select p_organization_id, c.id, v_stamp from unnest(v_dependents) as c(id);
        delete from notes_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'note', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(left((overlay(t.body placing '"conversationId":null' from strpos(t.body, '"conversationId":') for 55)), -39) || v_tail, 'UTF8')) as content,
            sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as old_version, sha256(convert_to(t.body, 'UTF8')) as old_content
          from (select p_organization_id as organization_id, k.id
          from unnest(v_gone) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.conversation_id from tickets f
          where f.organization_id = d.organization_id and f.conversation_id between d.id and d.id and f.removed_at is null
          order by f.conversation_id offset 0) t offset 0)
        select array_agg(id), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616),
            mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(-34)
          into v_dependents, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        insert into detachments (organization_id, subject_id, removed_id, field)
          select p_organization_id, d.id, d.conversation_id, '/conversationId' from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.conversation_id from tickets f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
          on conflict do nothing;
        update tickets t set conversation_id = null, body = left((overlay(t.body placing '"conversationId":null' from strpos(t.body, '"conversationId":') for 55)), -39) || v_tail,
            updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from tickets f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'ticket', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(left((overlay(t.body placing '"conversationId":null' from strpos(t.body, '"conversationId":') for 55)), -39) || v_tail, 'UTF8')) as content,
            sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as old_version, sha256(convert_to(t.body, 'UTF8')) as old_content
          from (select p_organization_id as organization_id, k.id
          from unnest(v_gone) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.conversation_id from bookings f
          where f.organization_id = d.organization_id and f.conversation_id between d.id and d.id and f.removed_at is null
          order by f.conversation_id offset 0) t offset 0)
        select array_agg(id), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616),
            mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(-34)
          into v_dependents, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        insert into detachments (organization_id, subject_id, removed_id, field)
          select p_organization_id, d.id, d.conversation_id, '/conversationId' from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.conversation_id from bookings f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
          on conflict do nothing;
        update bookings t set conversation_id = null, body = left((overlay(t.body placing '"conversationId":null' from strpos(t.body, '"conversationId":') for 55)), -39) || v_tail,
            updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from bookings f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'booking', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      end if;

      v_receipt := '{"object":"erasure","resource":"customer","id":"' || v_rows[1] || '","erasedAt":"' || v_text || '","removed":{'
        || '"customer":' || (select count(*) from customers t
          where t.organization_id = p_organization_id and t.updated_at = v_stamp and t.removed_at is not null) || ',' || '"message":' || (select count(*) from messages t
          where t.organization_id = p_organization_id and t.updated_at = v_stamp and t.removed_at is not null) || ',' || '"note":' || (select count(*) from notes t
          where t.organization_id = p_organization_id and t.updated_at = v_stamp and t.removed_at is not null) || ',' || '"ticket":' || (select count(*) from tickets t
          where t.organization_id = p_organization_id and t.updated_at = v_stamp and t.removed_at is not null) || ',' || '"booking":' || (select count(*) from bookings t
          where t.organization_id = p_organization_id and t.updated_at = v_stamp and t.removed_at is not null) || ',' || '"conversation":' || (select count(*) from conversations t
          where t.organization_id = p_organization_id and t.updated_at = v_stamp and t.removed_at is not null) || '},"checkpoint":{' || (select '"customer":{"count":' || coalesce(max(c.live_count), 0) || ',"digest":"'
          || lpad(to_hex((coalesce(max(c.digest), 0) - case when coalesce(max(c.digest), 0) < 9223372036854775808 then 0 else 18446744073709551616 end)::bigint), 16, '0') || '","contentDigest":"'
          || lpad(to_hex((coalesce(max(c.content_digest), 0) - case when coalesce(max(c.content_digest), 0) < 9223372036854775808 then 0 else 18446744073709551616 end)::bigint), 16, '0') || '"}' from kind_counters c
          where c.organization_id = p_organization_id and c.kind = 'customer') || ',' || (select '"message":{"count":' || coalesce(max(c.live_count), 0) || ',"digest":"'
          || lpad(to_hex((coalesce(max(c.digest), 0) - case when coalesce(max(c.digest), 0) < 9223372036854775808 then 0 else 18446744073709551616 end)::bigint), 16, '0') || '","contentDigest":"'
          || lpad(to_hex((coalesce(max(c.content_digest), 0) - case when coalesce(max(c.content_digest), 0) < 9223372036854775808 then 0 else 18446744073709551616 end)::bigint), 16, '0') || '"}' from kind_counters c
          where c.organization_id = p_organization_id and c.kind = 'message') || ',' || (select '"note":{"count":' || coalesce(max(c.live_count), 0) || ',"digest":"'
          || lpad(to_hex((coalesce(max(c.digest), 0) - case when coalesce(max(c.digest), 0) < 9223372036854775808 then 0 else 18446744073709551616 end)::bigint), 16, '0') || '","contentDigest":"'
          || lpad(to_hex((coalesce(max(c.content_digest), 0) - case when coalesce(max(c.content_digest), 0) < 9223372036854775808 then 0 else 18446744073709551616 end)::bigint), 16, '0') || '"}' from kind_counters c
          where c.organization_id = p_organization_id and c.kind = 'note') || ',' || (select '"ticket":{"count":' || coalesce(max(c.live_count), 0) || ',"digest":"'
          || lpad(to_hex((coalesce(max(c.digest), 0) - case when coalesce(max(c.digest), 0) < 9223372036854775808 then 0 else 18446744073709551616 end)::bigint), 16, '0') || '","contentDigest":"'
          || lpad(to_hex((coalesce(max(c.content_digest), 0) - case when coalesce(max(c.content_digest), 0) < 9223372036854775808 then 0 else 18446744073709551616 end)::bigint), 16, '0') || '"}' from kind_counters c
          where c.organization_id = p_organization_id and c.kind = 'ticket') || ',' || (select '"booking":{"count":' || coalesce(max(c.live_count), 0) || ',"digest":"'
          || lpad(to_hex((coalesce(max(c.digest), 0) - case when coalesce(max(c.digest), 0) < 9223372036854775808 then 0 else 18446744073709551616 end)::bigint), 16, '0') || '","contentDigest":"'
          || lpad(to_hex((coalesce(max(c.content_digest), 0) - case when coalesce(max(c.content_digest), 0) < 9223372036854775808 then 0 else 18446744073709551616 end)::bigint), 16, '0') || '"}' from kind_counters c
          where c.organization_id = p_organization_id and c.kind = 'booking') || ',' || (select '"conversation":{"count":' || coalesce(max(c.live_count), 0) || ',"digest":"'
          || lpad(to_hex((coalesce(max(c.digest), 0) - case when coalesce(max(c.digest), 0) < 9223372036854775808 then 0 else 18446744073709551616 end)::bigint), 16, '0') || '","contentDigest":"'
          || lpad(to_hex((coalesce(max(c.content_digest), 0) - case when coalesce(max(c.content_digest), 0) < 9223372036854775808 then 0 else 18446744073709551616 end)::bigint), 16, '0') || '"}' from kind_counters c
          where c.organization_id = p_organization_id and c.kind = 'conversation') || '}}';
      else

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(left(t.body, -78) || 'null,' || v_tail, 'UTF8')) as content,
            sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as old_version, sha256(convert_to(t.body, 'UTF8')) as old_content
          from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.customer_id from conversations f
          where f.organization_id = d.organization_id and f.customer_id between d.id and d.id and f.removed_at is null
          order by f.customer_id offset 0) t offset 0)
        select array_agg(id), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616),
            mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(-34)
          into v_dependents, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        insert into detachments (organization_id, subject_id, removed_id, field)
          select p_organization_id, d.id, d.customer_id, 'customerId' from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.customer_id from conversations f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
          on conflict do nothing;
        update conversations t set customer_id = null, body = left(t.body, -78) || 'null,' || v_tail,
            updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from conversations f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'conversation', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(left(t.body, -78) || 'null,' || v_tail, 'UTF8')) as content,
            sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as old_version, sha256(convert_to(t.body, 'UTF8')) as old_content
          from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.customer_id from messages f
          where f.organization_id = d.organization_id and f.customer_id between d.id and d.id and f.removed_at is null
          order by f.customer_id offset 0) t offset 0)
        select array_agg(id), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616),
            mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(-34)
          into v_dependents, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        insert into detachments (organization_id, subject_id, removed_id, field)
          select p_organization_id, d.id, d.customer_id, 'customerId' from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.customer_id from messages f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
          on conflict do nothing;
        update messages t set customer_id = null, body = left(t.body, -78) || 'null,' || v_tail,
            updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from messages f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'message', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(left(t.body, -78) || 'null,' || v_tail, 'UTF8')) as content,
            sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as old_version, sha256(convert_to(t.body, 'UTF8')) as old_content
          from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.customer_id from notes f
          where f.organization_id = d.organization_id and f.customer_id between d.id and d.id and f.removed_at is null
          order by f.customer_id offset 0) t offset 0)
        select array_agg(id), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616),
            mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(-34)
          into v_dependents, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        insert into detachments (organization_id, subject_id, removed_id, field)
          select p_organization_id, d.id, d.customer_id, 'customerId' from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.customer_id from notes f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
          on conflict do nothing;
        update notes t set customer_id = null, body = left(t.body, -78) || 'null,' || v_tail,
            updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from notes f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'note', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
            octet_length(t.body) as bytes from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.customer_id from tickets f
          where f.organization_id = d.organization_id and f.customer_id between d.id and d.id and f.removed_at is null
          order by f.customer_id offset 0) t offset 0)
        select array_agg(id), -count(*), -mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -sum(bytes)
          into v_dependents, v_count, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        update tickets t set customer_id = null, conversation_id = null, type = null, priority = null, status = null, assignee_id = null, external_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"ticket","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from tickets f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        with added as (
          insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, cause)
            select p_organization_id, new_uuid_v7(v_stamp), 'ticket.deleted', v_stamp, 'ticket', d.id, d.body,
                p_changes->'events'->0->>'trace_context', p_changes->'events'->0->'cause'
              from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.body from tickets f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
            returning id, type, subject_kind, subject_id)
          select v_events || array_agg(id), v_event_types || array_agg(type), v_event_kinds || array_agg(subject_kind),
            v_event_subjects || array_agg(subject_id)
          into v_events, v_event_types, v_event_kinds, v_event_subjects from added;
        insert into erasures (organization_id, subject_id, removed_at)
          select p_organization_id, c.id, v_stamp from unnest(v_dependents) as c(id);
        delete from tickets_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'ticket', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(left(t.body, -78) || 'null,' || v_tail, 'UTF8')) as content,
            sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as old_version, sha256(convert_to(t.body, 'UTF8')) as old_content
          from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.customer_id from bookings f
          where f.organization_id = d.organization_id and f.customer_id between d.id and d.id and f.removed_at is null
          order by f.customer_id offset 0) t offset 0)
        select array_agg(id), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616),
            mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(-34)
          into v_dependents, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        insert into detachments (organization_id, subject_id, removed_id, field)
          select p_organization_id, d.id, d.customer_id, 'customerId' from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.customer_id from bookings f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
          on conflict do nothing;
        update bookings t set customer_id = null, body = left(t.body, -78) || 'null,' || v_tail,
            updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from bookings f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'booking', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;
      end if;
    end if;
  end if;

  if p_changes ? 'conversation_delete' then
    with gone as (
      update conversations t set customer_id = null, channel = null, status = null, handled_by = null, assignee_id = null, resolved_at = null, summarized_at = null, external_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"conversation","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
        from (select p_organization_id as organization_id, k.id, k.expected, k.old_term, k.old_content, k.old_bytes
          from jsonb_to_recordset(p_changes->'conversation_delete') as k(id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int) where k.id = any(array[k.id]) offset 0) r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and coalesce(t.removed_at, 'infinity') = 'infinity' and r.id <> all(v_refused)
        returning t.id, t.body, r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), -count(*), -sum(old_term), -sum(old_content), -sum(old_bytes)
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes from gone;
    if v_rows is not null then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'conversation', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      insert into erasures (organization_id, subject_id, removed_at)
        select p_organization_id, d.id, v_stamp from unnest(v_rows) as d(id);
      delete from conversations_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
            octet_length(t.body) as bytes from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.conversation_id from messages f
          where f.organization_id = d.organization_id and f.conversation_id between d.id and d.id and f.removed_at is null
          order by f.conversation_id offset 0) t offset 0)
        select array_agg(id), -count(*), -mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -sum(bytes)
          into v_dependents, v_count, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        update messages t set conversation_id = null, direction = null, author_id = null, external_id = null, customer_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"message","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from messages f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        with added as (
          insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, cause)
            select p_organization_id, new_uuid_v7(v_stamp), 'message.deleted', v_stamp, 'message', d.id, d.body,
                p_changes->'events'->0->>'trace_context', p_changes->'events'->0->'cause'
              from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.body from messages f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
            returning id, type, subject_kind, subject_id)
          select v_events || array_agg(id), v_event_types || array_agg(type), v_event_kinds || array_agg(subject_kind),
            v_event_subjects || array_agg(subject_id)
          into v_events, v_event_types, v_event_kinds, v_event_subjects from added;
        insert into erasures (organization_id, subject_id, removed_at)
          select p_organization_id, c.id, v_stamp from unnest(v_dependents) as c(id);
        delete from messages_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'message', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
            octet_length(t.body) as bytes from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.conversation_id from notes f
          where f.organization_id = d.organization_id and f.conversation_id between d.id and d.id and f.removed_at is null
          order by f.conversation_id offset 0) t offset 0)
        select array_agg(id), -count(*), -mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), -sum(bytes)
          into v_dependents, v_count, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        update notes t set conversation_id = null, author_id = null, customer_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"note","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from notes f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        with added as (
          insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, cause)
            select p_organization_id, new_uuid_v7(v_stamp), 'note.deleted', v_stamp, 'note', d.id, d.body,
                p_changes->'events'->0->>'trace_context', p_changes->'events'->0->'cause'
              from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.body from notes f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
            returning id, type, subject_kind, subject_id)
          select v_events || array_agg(id), v_event_types || array_agg(type), v_event_kinds || array_agg(subject_kind),
            v_event_subjects || array_agg(subject_id)
          into v_events, v_event_types, v_event_kinds, v_event_subjects from added;
        insert into erasures (organization_id, subject_id, removed_at)
          select p_organization_id, c.id, v_stamp from unnest(v_dependents) as c(id);
        delete from notes_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'note', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(left((overlay(t.body placing '"conversationId":null' from strpos(t.body, '"conversationId":') for 55)), -39) || v_tail, 'UTF8')) as content,
            sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as old_version, sha256(convert_to(t.body, 'UTF8')) as old_content
          from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.conversation_id from tickets f
          where f.organization_id = d.organization_id and f.conversation_id between d.id and d.id and f.removed_at is null
          order by f.conversation_id offset 0) t offset 0)
        select array_agg(id), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616),
            mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(-34)
          into v_dependents, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        insert into detachments (organization_id, subject_id, removed_id, field)
          select p_organization_id, d.id, d.conversation_id, '/conversationId' from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.conversation_id from tickets f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
          on conflict do nothing;
        update tickets t set conversation_id = null, body = left((overlay(t.body placing '"conversationId":null' from strpos(t.body, '"conversationId":') for 55)), -39) || v_tail,
            updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from tickets f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'ticket', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;

      with referring as (
        select t.id, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(left((overlay(t.body placing '"conversationId":null' from strpos(t.body, '"conversationId":') for 55)), -39) || v_tail, 'UTF8')) as content,
            sha256(convert_to(t.id || ':' || to_char(t.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'UTF8')) as old_version, sha256(convert_to(t.body, 'UTF8')) as old_content
          from (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.conversation_id from bookings f
          where f.organization_id = d.organization_id and f.conversation_id between d.id and d.id and f.removed_at is null
          order by f.conversation_id offset 0) t offset 0)
        select array_agg(id), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616),
            mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - mod(mod(sum(('x' || encode(substr(old_content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(-34)
          into v_dependents, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        insert into detachments (organization_id, subject_id, removed_id, field)
          select p_organization_id, d.id, d.conversation_id, '/conversationId' from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.conversation_id from bookings f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d
          on conflict do nothing;
        update bookings t set conversation_id = null, body = left((overlay(t.body placing '"conversationId":null' from strpos(t.body, '"conversationId":') for 55)), -39) || v_tail,
            updated_at = v_stamp
          from (select p_organization_id as organization_id, k.id
          from unnest(v_dependents) as k(id) where k.id = any(array[k.id]) offset 0) k
            cross join lateral (select f.organization_id, f.id, f.updated_at from bookings f where f.organization_id = k.organization_id and f.id between k.id and k.id
              order by f.id limit 1) d where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'booking', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      end if;
    end if;
  end if;

  if p_changes ? 'message_delete' then
    with gone as (
      update messages t set conversation_id = null, direction = null, author_id = null, external_id = null, customer_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"message","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
        from (select p_organization_id as organization_id, k.id, k.expected, k.old_term, k.old_content, k.old_bytes
          from jsonb_to_recordset(p_changes->'message_delete') as k(id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int) where k.id = any(array[k.id]) offset 0) r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and coalesce(t.removed_at, 'infinity') = 'infinity' and r.id <> all(v_refused)
        returning t.id, t.body, r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), -count(*), -sum(old_term), -sum(old_content), -sum(old_bytes)
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes from gone;
    if v_rows is not null then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'message', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      insert into erasures (organization_id, subject_id, removed_at)
        select p_organization_id, d.id, v_stamp from unnest(v_rows) as d(id);
      delete from messages_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
    end if;
  end if;

  if p_changes ? 'note_delete' then
    with gone as (
      update notes t set conversation_id = null, author_id = null, customer_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"note","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
        from (select p_organization_id as organization_id, k.id, k.expected, k.old_term, k.old_content, k.old_bytes
          from jsonb_to_recordset(p_changes->'note_delete') as k(id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int) where k.id = any(array[k.id]) offset 0) r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and coalesce(t.removed_at, 'infinity') = 'infinity' and r.id <> all(v_refused)
        returning t.id, t.body, r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), -count(*), -sum(old_term), -sum(old_content), -sum(old_bytes)
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes from gone;
    if v_rows is not null then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'note', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      insert into erasures (organization_id, subject_id, removed_at)
        select p_organization_id, d.id, v_stamp from unnest(v_rows) as d(id);
      delete from notes_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
    end if;
  end if;

  if p_changes ? 'ticket_delete' then
    with gone as (
      update tickets t set customer_id = null, conversation_id = null, type = null, priority = null, status = null, assignee_id = null, external_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"ticket","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
        from (select p_organization_id as organization_id, k.id, k.expected, k.old_term, k.old_content, k.old_bytes
          from jsonb_to_recordset(p_changes->'ticket_delete') as k(id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int) where k.id = any(array[k.id]) offset 0) r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and coalesce(t.removed_at, 'infinity') = 'infinity' and r.id <> all(v_refused)
        returning t.id, t.body, r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), -count(*), -sum(old_term), -sum(old_content), -sum(old_bytes)
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes from gone;
    if v_rows is not null then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'ticket', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      insert into erasures (organization_id, subject_id, removed_at)
        select p_organization_id, d.id, v_stamp from unnest(v_rows) as d(id);
      delete from tickets_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
    end if;
  end if;

  if p_changes ? 'booking_delete' then
    with gone as (
      update bookings t set customer_id = null, start_at = null, status = null, assignee_id = null, conversation_id = null, external_id = null, body = '{"object":"removed","id":"' || t.id || '","resource":"booking","removedAt":"' || v_text || '"}', removed_at = v_stamp, updated_at = v_stamp
        from (select p_organization_id as organization_id, k.id, k.expected, k.old_term, k.old_content, k.old_bytes
          from jsonb_to_recordset(p_changes->'booking_delete') as k(id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int) where k.id = any(array[k.id]) offset 0) r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and coalesce(t.removed_at, 'infinity') = 'infinity' and r.id <> all(v_refused)
        returning t.id, t.body, r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), -count(*), -sum(old_term), -sum(old_content), -sum(old_bytes)
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes from gone;
    if v_rows is not null then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'booking', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
      insert into erasures (organization_id, subject_id, removed_at)
        select p_organization_id, d.id, v_stamp from unnest(v_rows) as d(id);
      delete from bookings_words w using (select p_organization_id as organization_id, k.id
          from unnest(v_rows) as k(id) where k.id = any(array[k.id]) offset 0) d
        where w.organization_id = d.organization_id and w.id = d.id;
    end if;
  end if;


  -- 5. Refusals: unique values that are taken, references that dangle, times that are taken, referring rows that have moved on.

  if p_changes ? 'customer_unique' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'duplicate', 'field', 'email', 'existingId', t.id))
      into v_found from (select p_organization_id as organization_id, k.id, k.email
          from jsonb_to_recordset(p_changes->'customer_unique') as k(id uuid, email text) where k.id = any(array[k.id]) offset 0) r
      join customers t on t.organization_id = r.organization_id and t.email = r.email and t.id <> r.id
      where r.id <> all(v_refused);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'customer_unique') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from customers t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'duplicate', 'field', 'externalId', 'existingId', t.id))
      into v_found from (select p_organization_id as organization_id, k.id, k.external_id
          from jsonb_to_recordset(p_changes->'customer_unique') as k(id uuid, external_id text) where k.id = any(array[k.id]) offset 0) r
      join customers t on t.organization_id = r.organization_id and t.external_id = r.external_id and t.id <> r.id
      where r.id <> all(v_refused);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'customer_unique') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from customers t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'conversation_unique' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'duplicate', 'field', 'externalId', 'existingId', t.id))
      into v_found from (select p_organization_id as organization_id, k.id, k.external_id
          from jsonb_to_recordset(p_changes->'conversation_unique') as k(id uuid, external_id text) where k.id = any(array[k.id]) offset 0) r
      join conversations t on t.organization_id = r.organization_id and t.external_id = r.external_id and t.id <> r.id
      where r.id <> all(v_refused);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'conversation_unique') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from conversations t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'conversation_references' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', 'customerId'))
      into v_found from (select p_organization_id as organization_id, k.id, k.customer_id
          from jsonb_to_recordset(p_changes->'conversation_references') as k(id uuid, customer_id uuid) where k.id = any(array[k.id]) offset 0) r
      where r.customer_id is not null and r.id <> all(v_refused) and not exists (select 1 from (select f.removed_at from customers f where f.organization_id = r.organization_id and f.id between r.customer_id and r.customer_id
              order by f.id limit 1) t
          where t.removed_at is null);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'conversation_references') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from conversations t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', 'assigneeId'))
      into v_found from (select p_organization_id as organization_id, k.id, k.assignee_id
          from jsonb_to_recordset(p_changes->'conversation_references') as k(id uuid, assignee_id uuid) where k.id = any(array[k.id]) offset 0) r
      where r.assignee_id is not null and r.id <> all(v_refused) and not exists (select 1 from (select f.removed_at, f.active from teammates f where f.organization_id = r.organization_id and f.id between r.assignee_id and r.assignee_id
              order by f.id limit 1) t
          where t.removed_at is null and t.active);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'conversation_references') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from conversations t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'conversation_customer_id_referring' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'conversation_customer_id_referring') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) from (select f.updated_at from conversations f where f.organization_id = p_organization_id
          and f.customer_id between r.target and r.target and f.removed_at is null ) t)
        or r.latest is distinct from (select max(t.updated_at) from (select f.updated_at from conversations f where f.organization_id = p_organization_id
          and f.customer_id between r.target and r.target and f.removed_at is null ) t);
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'conversation_assignee_id_referring' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'conversation_assignee_id_referring') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) from (select f.updated_at from conversations f where f.organization_id = p_organization_id
          and f.assignee_id between r.target and r.target and f.removed_at is null ) t)
        or r.latest is distinct from (select max(t.updated_at) from (select f.updated_at from conversations f where f.organization_id = p_organization_id
          and f.assignee_id between r.target and r.target and f.removed_at is null ) t);
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'message_unique' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'duplicate', 'field', 'externalId', 'existingId', t.id))
      into v_found from (select p_organization_id as organization_id, k.id, k.external_id
          from jsonb_to_recordset(p_changes->'message_unique') as k(id uuid, external_id text) where k.id = any(array[k.id]) offset 0) r
      join messages t on t.organization_id = r.organization_id and t.external_id = r.external_id and t.id <> r.id
      where r.id <> all(v_refused);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'message_unique') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from messages t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'message_references' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', 'conversationId'))
      into v_found from (select p_organization_id as organization_id, k.id, k.conversation_id
          from jsonb_to_recordset(p_changes->'message_references') as k(id uuid, conversation_id uuid) where k.id = any(array[k.id]) offset 0) r
      where r.conversation_id is not null and r.id <> all(v_refused) and not exists (select 1 from (select f.removed_at from conversations f where f.organization_id = r.organization_id and f.id between r.conversation_id and r.conversation_id
              order by f.id limit 1) t
          where t.removed_at is null);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'message_references') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from messages t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', 'author'))
      into v_found from (select p_organization_id as organization_id, k.id, k.author_id
          from jsonb_to_recordset(p_changes->'message_references') as k(id uuid, author_id uuid) where k.id = any(array[k.id]) offset 0) r
      where r.author_id is not null and r.id <> all(v_refused) and not exists (select 1 from (select f.removed_at from teammates f where f.organization_id = r.organization_id and f.id between r.author_id and r.author_id
              order by f.id limit 1) t
          where t.removed_at is null);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'message_references') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from messages t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', 'customerId'))
      into v_found from (select p_organization_id as organization_id, k.id, k.customer_id
          from jsonb_to_recordset(p_changes->'message_references') as k(id uuid, customer_id uuid) where k.id = any(array[k.id]) offset 0) r
      where r.customer_id is not null and r.id <> all(v_refused) and not exists (select 1 from (select f.removed_at from customers f where f.organization_id = r.organization_id and f.id between r.customer_id and r.customer_id
              order by f.id limit 1) t
          where t.removed_at is null);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'message_references') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from messages t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'message_conversation_id_referring' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'message_conversation_id_referring') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) from (select f.updated_at from messages f where f.organization_id = p_organization_id
          and f.conversation_id between r.target and r.target and f.removed_at is null ) t)
        or r.latest is distinct from (select max(t.updated_at) from (select f.updated_at from messages f where f.organization_id = p_organization_id
          and f.conversation_id between r.target and r.target and f.removed_at is null ) t);
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'message_author_id_referring' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'message_author_id_referring') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) from (select f.updated_at from messages f where f.organization_id = p_organization_id
          and f.author_id between r.target and r.target and f.removed_at is null ) t)
        or r.latest is distinct from (select max(t.updated_at) from (select f.updated_at from messages f where f.organization_id = p_organization_id
          and f.author_id between r.target and r.target and f.removed_at is null ) t);
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'message_customer_id_referring' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'message_customer_id_referring') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) from (select f.updated_at from messages f where f.organization_id = p_organization_id
          and f.customer_id between r.target and r.target and f.removed_at is null ) t)
        or r.latest is distinct from (select max(t.updated_at) from (select f.updated_at from messages f where f.organization_id = p_organization_id
          and f.customer_id between r.target and r.target and f.removed_at is null ) t);
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'note_references' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', 'conversationId'))
      into v_found from (select p_organization_id as organization_id, k.id, k.conversation_id
          from jsonb_to_recordset(p_changes->'note_references') as k(id uuid, conversation_id uuid) where k.id = any(array[k.id]) offset 0) r
      where r.conversation_id is not null and r.id <> all(v_refused) and not exists (select 1 from (select f.removed_at from conversations f where f.organization_id = r.organization_id and f.id between r.conversation_id and r.conversation_id
              order by f.id limit 1) t
          where t.removed_at is null);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'note_references') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from notes t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', 'author'))
      into v_found from (select p_organization_id as organization_id, k.id, k.author_id
          from jsonb_to_recordset(p_changes->'note_references') as k(id uuid, author_id uuid) where k.id = any(array[k.id]) offset 0) r
      where r.author_id is not null and r.id <> all(v_refused) and not exists (select 1 from (select f.removed_at from teammates f where f.organization_id = r.organization_id and f.id between r.author_id and r.author_id
              order by f.id limit 1) t
          where t.removed_at is null);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'note_references') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from notes t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', 'customerId'))
      into v_found from (select p_organization_id as organization_id, k.id, k.customer_id
          from jsonb_to_recordset(p_changes->'note_references') as k(id uuid, customer_id uuid) where k.id = any(array[k.id]) offset 0) r
      where r.customer_id is not null and r.id <> all(v_refused) and not exists (select 1 from (select f.removed_at from customers f where f.organization_id = r.organization_id and f.id between r.customer_id and r.customer_id
              order by f.id limit 1) t
          where t.removed_at is null);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'note_references') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from notes t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'note_conversation_id_referring' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'note_conversation_id_referring') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) from (select f.updated_at from notes f where f.organization_id = p_organization_id
          and f.conversation_id between r.target and r.target and f.removed_at is null ) t)
        or r.latest is distinct from (select max(t.updated_at) from (select f.updated_at from notes f where f.organization_id = p_organization_id
          and f.conversation_id between r.target and r.target and f.removed_at is null ) t);
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'note_author_id_referring' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'note_author_id_referring') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) from (select f.updated_at from notes f where f.organization_id = p_organization_id
          and f.author_id between r.target and r.target and f.removed_at is null ) t)
        or r.latest is distinct from (select max(t.updated_at) from (select f.updated_at from notes f where f.organization_id = p_organization_id
          and f.author_id between r.target and r.target and f.removed_at is null ) t);
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'note_customer_id_referring' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'note_customer_id_referring') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) from (select f.updated_at from notes f where f.organization_id = p_organization_id
          and f.customer_id between r.target and r.target and f.removed_at is null ) t)
        or r.latest is distinct from (select max(t.updated_at) from (select f.updated_at from notes f where f.organization_id = p_organization_id
          and f.customer_id between r.target and r.target and f.removed_at is null ) t);
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'ticket_unique' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'duplicate', 'field', 'externalId', 'existingId', t.id))
      into v_found from (select p_organization_id as organization_id, k.id, k.external_id
          from jsonb_to_recordset(p_changes->'ticket_unique') as k(id uuid, external_id text) where k.id = any(array[k.id]) offset 0) r
      join tickets t on t.organization_id = r.organization_id and t.external_id = r.external_id and t.id <> r.id
      where r.id <> all(v_refused);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'ticket_unique') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from tickets t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'duplicate', 'field', 'number', 'existingId', t.id))
      into v_found from (select p_organization_id as organization_id, k.id, k.number
          from jsonb_to_recordset(p_changes->'ticket_unique') as k(id uuid, number bigint) where k.id = any(array[k.id]) offset 0) r
      join tickets t on t.organization_id = r.organization_id and t.number = r.number and t.id <> r.id
      where r.id <> all(v_refused);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'ticket_unique') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from tickets t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'ticket_references' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', 'customerId'))
      into v_found from (select p_organization_id as organization_id, k.id, k.customer_id
          from jsonb_to_recordset(p_changes->'ticket_references') as k(id uuid, customer_id uuid) where k.id = any(array[k.id]) offset 0) r
      where r.customer_id is not null and r.id <> all(v_refused) and not exists (select 1 from (select f.removed_at from customers f where f.organization_id = r.organization_id and f.id between r.customer_id and r.customer_id
              order by f.id limit 1) t
          where t.removed_at is null);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'ticket_references') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from tickets t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', 'conversationId'))
      into v_found from (select p_organization_id as organization_id, k.id, k.conversation_id
          from jsonb_to_recordset(p_changes->'ticket_references') as k(id uuid, conversation_id uuid) where k.id = any(array[k.id]) offset 0) r
      where r.conversation_id is not null and r.id <> all(v_refused) and not exists (select 1 from (select f.removed_at from conversations f where f.organization_id = r.organization_id and f.id between r.conversation_id and r.conversation_id
              order by f.id limit 1) t
          where t.removed_at is null);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'ticket_references') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from tickets t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', 'assigneeId'))
      into v_found from (select p_organization_id as organization_id, k.id, k.assignee_id
          from jsonb_to_recordset(p_changes->'ticket_references') as k(id uuid, assignee_id uuid) where k.id = any(array[k.id]) offset 0) r
      where r.assignee_id is not null and r.id <> all(v_refused) and not exists (select 1 from (select f.removed_at, f.active from teammates f where f.organization_id = r.organization_id and f.id between r.assignee_id and r.assignee_id
              order by f.id limit 1) t
          where t.removed_at is null and t.active);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'ticket_references') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from tickets t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'ticket_customer_id_referring' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'ticket_customer_id_referring') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) from (select f.updated_at from tickets f where f.organization_id = p_organization_id
          and f.customer_id between r.target and r.target and f.removed_at is null ) t)
        or r.latest is distinct from (select max(t.updated_at) from (select f.updated_at from tickets f where f.organization_id = p_organization_id
          and f.customer_id between r.target and r.target and f.removed_at is null ) t);
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'ticket_conversation_id_referring' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'ticket_conversation_id_referring') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) from (select f.updated_at from tickets f where f.organization_id = p_organization_id
          and f.conversation_id between r.target and r.target and f.removed_at is null and f.status in ('pending', 'on_hold', 'resolved') order by f.conversation_id, f.created_at desc, f.id desc limit 100) t)
        or r.latest is distinct from (select max(t.updated_at) from (select f.updated_at from tickets f where f.organization_id = p_organization_id
          and f.conversation_id between r.target and r.target and f.removed_at is null and f.status in ('pending', 'on_hold', 'resolved') order by f.conversation_id, f.created_at desc, f.id desc limit 100) t);
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'ticket_assignee_id_referring' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'ticket_assignee_id_referring') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) from (select f.updated_at from tickets f where f.organization_id = p_organization_id
          and f.assignee_id between r.target and r.target and f.removed_at is null ) t)
        or r.latest is distinct from (select max(t.updated_at) from (select f.updated_at from tickets f where f.organization_id = p_organization_id
          and f.assignee_id between r.target and r.target and f.removed_at is null ) t);
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'booking_unique' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'duplicate', 'field', 'externalId', 'existingId', t.id))
      into v_found from (select p_organization_id as organization_id, k.id, k.external_id
          from jsonb_to_recordset(p_changes->'booking_unique') as k(id uuid, external_id text) where k.id = any(array[k.id]) offset 0) r
      join bookings t on t.organization_id = r.organization_id and t.external_id = r.external_id and t.id <> r.id
      where r.id <> all(v_refused);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'booking_unique') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from bookings t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'booking_references' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', 'customerId'))
      into v_found from (select p_organization_id as organization_id, k.id, k.customer_id
          from jsonb_to_recordset(p_changes->'booking_references') as k(id uuid, customer_id uuid) where k.id = any(array[k.id]) offset 0) r
      where r.customer_id is not null and r.id <> all(v_refused) and not exists (select 1 from (select f.removed_at from customers f where f.organization_id = r.organization_id and f.id between r.customer_id and r.customer_id
              order by f.id limit 1) t
          where t.removed_at is null);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'booking_references') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from bookings t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', 'assigneeId'))
      into v_found from (select p_organization_id as organization_id, k.id, k.assignee_id
          from jsonb_to_recordset(p_changes->'booking_references') as k(id uuid, assignee_id uuid) where k.id = any(array[k.id]) offset 0) r
      where r.assignee_id is not null and r.id <> all(v_refused) and not exists (select 1 from (select f.removed_at, f.active from teammates f where f.organization_id = r.organization_id and f.id between r.assignee_id and r.assignee_id
              order by f.id limit 1) t
          where t.removed_at is null and t.active);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'booking_references') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from bookings t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', 'conversationId'))
      into v_found from (select p_organization_id as organization_id, k.id, k.conversation_id
          from jsonb_to_recordset(p_changes->'booking_references') as k(id uuid, conversation_id uuid) where k.id = any(array[k.id]) offset 0) r
      where r.conversation_id is not null and r.id <> all(v_refused) and not exists (select 1 from (select f.removed_at from conversations f where f.organization_id = r.organization_id and f.id between r.conversation_id and r.conversation_id
              order by f.id limit 1) t
          where t.removed_at is null);
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join (select p_organization_id as organization_id, k.id, k.expected
          from jsonb_to_recordset(p_changes->'booking_references') as k(id uuid, expected timestamptz) where k.id = any(array[k.id]) offset 0) r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from bookings t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and coalesce(t.removed_at, 'infinity') = 'infinity');
    end if;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'booking_periods' then
    for v_period in select r.id, r.expected, r.owner, r.starts collate "C" as starts, r.ends collate "C" as ends
        from rows from (jsonb_to_recordset(p_changes->'booking_periods') as (id uuid, expected timestamptz, owner uuid, starts text, ends text))
          with ordinality as r(id, expected, owner, starts, ends, place)
        where r.id <> all(v_refused) and exists (select 1 from organizations o
          where o.organization_id = p_organization_id and o.prevents_double_booking) order by r.owner, r.place loop
      continue when v_period.expected is not null and not exists (select 1 from bookings t
        where t.organization_id = p_organization_id and t.id = v_period.id and t.updated_at = v_period.expected);
      if v_owner is distinct from v_period.owner then
        v_owner := v_period.owner;
        v_taken := '{}';
      end if;
      select t.id into v_existing from bookings t
        where t.organization_id = p_organization_id and t.assignee_id = v_owner and t.removed_at is null and t.status in ('pending', 'confirmed')
          and ((t.body::json)->>'endAt') collate "C" > v_period.starts and t.start_at < v_period.ends::timestamptz and t.id <> v_period.id
        order by ((t.body::json)->>'endAt') collate "C" limit 1;
      if v_existing is null then
        select split_part(o.period, ' ', 3) into v_existing from unnest(v_taken) as o(period)
          where split_part(o.period, ' ', 1) collate "C" < v_period.ends and split_part(o.period, ' ', 2) collate "C" > v_period.starts limit 1;
      end if;
      if v_existing is null then
        v_taken := v_taken || concat_ws(' ', v_period.starts, v_period.ends, v_period.id);
      else
        v_found := jsonb_build_array(jsonb_build_object('id', v_period.id, 'reason', 'overlap', 'existingId', v_existing));
        v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
      end if;
    end loop;
  end if;

  if p_changes ? 'booking_customer_id_referring' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'booking_customer_id_referring') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) from (select f.updated_at from bookings f where f.organization_id = p_organization_id
          and f.customer_id between r.target and r.target and f.removed_at is null ) t)
        or r.latest is distinct from (select max(t.updated_at) from (select f.updated_at from bookings f where f.organization_id = p_organization_id
          and f.customer_id between r.target and r.target and f.removed_at is null ) t);
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'booking_assignee_id_referring' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'booking_assignee_id_referring') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) from (select f.updated_at from bookings f where f.organization_id = p_organization_id
          and f.assignee_id between r.target and r.target and f.removed_at is null ) t)
        or r.latest is distinct from (select max(t.updated_at) from (select f.updated_at from bookings f where f.organization_id = p_organization_id
          and f.assignee_id between r.target and r.target and f.removed_at is null ) t);
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;

  if p_changes ? 'booking_conversation_id_referring' then
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'booking_conversation_id_referring') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) from (select f.updated_at from bookings f where f.organization_id = p_organization_id
          and f.conversation_id between r.target and r.target and f.removed_at is null ) t)
        or r.latest is distinct from (select max(t.updated_at) from (select f.updated_at from bookings f where f.organization_id = p_organization_id
          and f.conversation_id between r.target and r.target and f.removed_at is null ) t);
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
  end if;


  -- 6. All members of a unit of which one was refused. Then inserts beyond what the organization may store, where that is
  -- limited: they are counted as they came, after what is there and without what was refused before.

  if v_refused <> '{}' and p_changes ? 'units' then
    select v_refused || coalesce(array_agg(m.id), '{}') into v_refused
      from jsonb_to_recordset(p_changes->'units') as m(unit int, id uuid)
      where m.unit in (select n.unit from jsonb_to_recordset(p_changes->'units') as n(unit int, id uuid)
        where n.id = any(v_refused));
  end if;
  if p_changes ? 'inserts' then
    select coalesce(sum(k.live_count), 0), coalesce(sum(k.stored_bytes), 0) into v_count, v_bytes
      from kind_counters k where k.organization_id = p_organization_id;
    select jsonb_agg(jsonb_build_object('id', g.id, 'reason', 'full', 'of', g.beyond, 'most', p_changes->('max_' || g.beyond)))
      into v_found from (
        select c.id, case when v_count + count(c.id) over earlier > (p_changes->>'max_rows')::bigint then 'rows'
            when v_bytes + sum(c.bytes) over earlier > (p_changes->>'max_bytes')::bigint then 'bytes' end as beyond
          from rows from (jsonb_to_recordset(p_changes->'inserts') as (id uuid, bytes bigint)) with ordinality
            as c(id, bytes, place)
          where c.id <> all(v_refused)
          window earlier as (order by c.place)) g
      where g.beyond is not null;
    if v_found is not null then
      v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));
    end if;
    if v_refused <> '{}' and p_changes ? 'units' then
    select v_refused || coalesce(array_agg(m.id), '{}') into v_refused
      from jsonb_to_recordset(p_changes->'units') as m(unit int, id uuid)
      where m.unit in (select n.unit from jsonb_to_recordset(p_changes->'units') as n(unit int, id uuid)
        where n.id = any(v_refused));
  end if;
  end if;


  -- 7. What is written: new rows, changed rows, and what they are found by.

  if p_changes ? 'teammate_insert' then
    with added as (
      insert into teammates (organization_id, id, created_at, updated_at, body, body_version, email, active)
        select p_organization_id, r.id, r.created_at, v_stamp, r.head || v_tail, 1, r.email, r.active
        from jsonb_to_recordset(p_changes->'teammate_insert') as r(id uuid, created_at timestamptz, head text, email text, active boolean)
          where r.id <> all(v_refused)
        returning id, body, sha256(convert_to(id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(body, 'UTF8')) as content)
      select array_agg(id), array_agg(body), count(*), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(octet_length(body))
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes from added;
    if v_count > 0 then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'teammate', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
    end if;
  end if;

  if p_changes ? 'teammate_update' then
    with changed as (
      update teammates t set email = r.email, active = r.active, body = r.head || v_tail,
          body_version = greatest(t.body_version, 1), updated_at = v_stamp
        from (select p_organization_id as organization_id, k.id, k.expected, k.old_term, k.old_content, k.old_bytes, k.head, k.email, k.active
          from jsonb_to_recordset(p_changes->'teammate_update') as k(id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int, head text, email text, active boolean) where k.id = any(array[k.id]) offset 0) r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and coalesce(t.removed_at, 'infinity') = 'infinity' and r.id <> all(v_refused)
        returning t.id, t.body, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
          r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - sum(old_term),
          mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - sum(old_content), sum(octet_length(body)) - sum(old_bytes)
        into v_rows, v_row_bodies, v_digest, v_content, v_bytes from changed;
    if v_rows is not null then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'teammate', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
    end if;
  end if;

  if p_changes ? 'teammate_search_documents' then
    insert into teammates_words (organization_id, id, created_at, terms)
      select p_organization_id, r.id, r.created_at, r.terms
        from jsonb_to_recordset(p_changes->'teammate_search_documents') as r(id uuid, created_at timestamptz, terms text)
        join unnest(v_done) as d(id) on d.id = r.id
      on conflict (organization_id, id) do update set terms = excluded.terms;
  end if;

  if p_changes ? 'customer_insert' then
    with added as (
      insert into customers (organization_id, id, created_at, updated_at, body, body_version, email, phone, external_id)
        select p_organization_id, r.id, r.created_at, v_stamp, r.head || v_tail, 1, r.email, r.phone, r.external_id
        from jsonb_to_recordset(p_changes->'customer_insert') as r(id uuid, created_at timestamptz, head text, email text, phone text, external_id text)
          where r.id <> all(v_refused)
        returning id, body, sha256(convert_to(id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(body, 'UTF8')) as content)
      select array_agg(id), array_agg(body), count(*), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(octet_length(body))
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes from added;
    if v_count > 0 then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'customer', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
    end if;
  end if;

  if p_changes ? 'customer_update' then
    with changed as (
      update customers t set email = r.email, phone = r.phone, external_id = r.external_id, body = r.head || v_tail,
          body_version = greatest(t.body_version, 1), updated_at = v_stamp
        from (select p_organization_id as organization_id, k.id, k.expected, k.old_term, k.old_content, k.old_bytes, k.head, k.email, k.phone, k.external_id
          from jsonb_to_recordset(p_changes->'customer_update') as k(id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int, head text, email text, phone text, external_id text) where k.id = any(array[k.id]) offset 0) r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and coalesce(t.removed_at, 'infinity') = 'infinity' and r.id <> all(v_refused)
        returning t.id, t.body, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
          r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - sum(old_term),
          mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - sum(old_content), sum(octet_length(body)) - sum(old_bytes)
        into v_rows, v_row_bodies, v_digest, v_content, v_bytes from changed;
    if v_rows is not null then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'customer', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
    end if;
  end if;

  if p_changes ? 'customer_search_documents' then
    insert into customers_words (organization_id, id, created_at, terms)
      select p_organization_id, r.id, r.created_at, r.terms
        from jsonb_to_recordset(p_changes->'customer_search_documents') as r(id uuid, created_at timestamptz, terms text)
        join unnest(v_done) as d(id) on d.id = r.id
      on conflict (organization_id, id) do update set terms = excluded.terms;
  end if;

  if p_changes ? 'conversation_insert' then
    with added as (
      insert into conversations (organization_id, id, created_at, updated_at, body, body_version, customer_id, channel, status, handled_by, assignee_id, resolved_at, summarized_at, external_id)
        select p_organization_id, r.id, r.created_at, v_stamp, r.head || v_tail, 1, r.customer_id, r.channel, r.status, r.handled_by, r.assignee_id, r.resolved_at, r.summarized_at, r.external_id
        from jsonb_to_recordset(p_changes->'conversation_insert') as r(id uuid, created_at timestamptz, head text, customer_id uuid, channel text, status text, handled_by text, assignee_id uuid, resolved_at timestamptz(3), summarized_at timestamptz(3), external_id text)
          where r.id <> all(v_refused)
        returning id, body, sha256(convert_to(id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(body, 'UTF8')) as content)
      select array_agg(id), array_agg(body), count(*), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(octet_length(body))
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes from added;
    if v_count > 0 then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'conversation', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
    end if;
  end if;

  if p_changes ? 'conversation_update' then
    with changed as (
      update conversations t set customer_id = r.customer_id, channel = r.channel, status = r.status, handled_by = r.handled_by, assignee_id = r.assignee_id, resolved_at = r.resolved_at, summarized_at = r.summarized_at, external_id = r.external_id, body = r.head || v_tail,
          body_version = greatest(t.body_version, 1), updated_at = v_stamp
        from (select p_organization_id as organization_id, k.id, k.expected, k.old_term, k.old_content, k.old_bytes, k.head, k.customer_id, k.channel, k.status, k.handled_by, k.assignee_id, k.resolved_at, k.summarized_at, k.external_id
          from jsonb_to_recordset(p_changes->'conversation_update') as k(id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int, head text, customer_id uuid, channel text, status text, handled_by text, assignee_id uuid, resolved_at timestamptz(3), summarized_at timestamptz(3), external_id text) where k.id = any(array[k.id]) offset 0) r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and coalesce(t.removed_at, 'infinity') = 'infinity' and r.id <> all(v_refused)
        returning t.id, t.body, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
          r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - sum(old_term),
          mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - sum(old_content), sum(octet_length(body)) - sum(old_bytes)
        into v_rows, v_row_bodies, v_digest, v_content, v_bytes from changed;
    if v_rows is not null then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'conversation', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
    end if;
  end if;

  if p_changes ? 'conversation_search_documents' then
    insert into conversations_words (organization_id, id, created_at, terms)
      select p_organization_id, r.id, r.created_at, r.terms
        from jsonb_to_recordset(p_changes->'conversation_search_documents') as r(id uuid, created_at timestamptz, terms text)
        join unnest(v_done) as d(id) on d.id = r.id
      on conflict (organization_id, id) do update set terms = excluded.terms;
  end if;

  if p_changes ? 'message_insert' then
    with added as (
      insert into messages (organization_id, id, created_at, updated_at, body, body_version, conversation_id, direction, author_id, external_id, customer_id)
        select p_organization_id, r.id, r.created_at, v_stamp, r.head || v_tail, 1, r.conversation_id, r.direction, r.author_id, r.external_id, r.customer_id
        from jsonb_to_recordset(p_changes->'message_insert') as r(id uuid, created_at timestamptz, head text, conversation_id uuid, direction text, author_id uuid, external_id text, customer_id uuid)
          where r.id <> all(v_refused)
        returning id, body, sha256(convert_to(id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(body, 'UTF8')) as content)
      select array_agg(id), array_agg(body), count(*), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(octet_length(body))
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes from added;
    if v_count > 0 then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'message', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
    end if;
  end if;

  if p_changes ? 'message_update' then
    with changed as (
      update messages t set conversation_id = r.conversation_id, direction = r.direction, author_id = r.author_id, external_id = r.external_id, customer_id = r.customer_id, body = r.head || v_tail,
          body_version = greatest(t.body_version, 1), updated_at = v_stamp
        from (select p_organization_id as organization_id, k.id, k.expected, k.old_term, k.old_content, k.old_bytes, k.head, k.conversation_id, k.direction, k.author_id, k.external_id, k.customer_id
          from jsonb_to_recordset(p_changes->'message_update') as k(id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int, head text, conversation_id uuid, direction text, author_id uuid, external_id text, customer_id uuid) where k.id = any(array[k.id]) offset 0) r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and coalesce(t.removed_at, 'infinity') = 'infinity' and r.id <> all(v_refused)
        returning t.id, t.body, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
          r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - sum(old_term),
          mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - sum(old_content), sum(octet_length(body)) - sum(old_bytes)
        into v_rows, v_row_bodies, v_digest, v_content, v_bytes from changed;
    if v_rows is not null then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'message', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
    end if;
  end if;

  if p_changes ? 'message_search_documents' then
    insert into messages_words (organization_id, id, created_at, terms)
      select p_organization_id, r.id, r.created_at, r.terms
        from jsonb_to_recordset(p_changes->'message_search_documents') as r(id uuid, created_at timestamptz, terms text)
        join unnest(v_done) as d(id) on d.id = r.id
      on conflict (organization_id, id) do update set terms = excluded.terms;
  end if;

  if p_changes ? 'note_insert' then
    with added as (
      insert into notes (organization_id, id, created_at, updated_at, body, body_version, conversation_id, author_id, customer_id)
        select p_organization_id, r.id, r.created_at, v_stamp, r.head || v_tail, 1, r.conversation_id, r.author_id, r.customer_id
        from jsonb_to_recordset(p_changes->'note_insert') as r(id uuid, created_at timestamptz, head text, conversation_id uuid, author_id uuid, customer_id uuid)
          where r.id <> all(v_refused)
        returning id, body, sha256(convert_to(id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(body, 'UTF8')) as content)
      select array_agg(id), array_agg(body), count(*), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(octet_length(body))
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes from added;
    if v_count > 0 then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'note', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
    end if;
  end if;

  if p_changes ? 'note_update' then
    with changed as (
      update notes t set conversation_id = r.conversation_id, author_id = r.author_id, customer_id = r.customer_id, body = r.head || v_tail,
          body_version = greatest(t.body_version, 1), updated_at = v_stamp
        from (select p_organization_id as organization_id, k.id, k.expected, k.old_term, k.old_content, k.old_bytes, k.head, k.conversation_id, k.author_id, k.customer_id
          from jsonb_to_recordset(p_changes->'note_update') as k(id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int, head text, conversation_id uuid, author_id uuid, customer_id uuid) where k.id = any(array[k.id]) offset 0) r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and coalesce(t.removed_at, 'infinity') = 'infinity' and r.id <> all(v_refused)
        returning t.id, t.body, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
          r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - sum(old_term),
          mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - sum(old_content), sum(octet_length(body)) - sum(old_bytes)
        into v_rows, v_row_bodies, v_digest, v_content, v_bytes from changed;
    if v_rows is not null then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'note', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
    end if;
  end if;

  if p_changes ? 'note_search_documents' then
    insert into notes_words (organization_id, id, created_at, terms)
      select p_organization_id, r.id, r.created_at, r.terms
        from jsonb_to_recordset(p_changes->'note_search_documents') as r(id uuid, created_at timestamptz, terms text)
        join unnest(v_done) as d(id) on d.id = r.id
      on conflict (organization_id, id) do update set terms = excluded.terms;
  end if;

  if p_changes ? 'ticket_insert' then
    select c.last_number into v_number from kind_counters c
      where c.organization_id = p_organization_id and c.kind = 'ticket';
    v_number := coalesce(v_number, 0);
    with added as (
      insert into tickets (organization_id, id, created_at, updated_at, body, body_version, customer_id, conversation_id, type, priority, status, assignee_id, external_id, number)
        select p_organization_id, r.id, r.created_at, v_stamp, r.head || '"number":' || r.number || ',' || v_tail, 1, r.customer_id, r.conversation_id, r.type, r.priority, r.status, r.assignee_id, r.external_id, r.number
        from (select s.id, s.created_at, s.head, s.customer_id, s.conversation_id, s.type, s.priority, s.status, s.assignee_id, s.external_id,
            coalesce(s.number, greatest(v_number, max(s.number) over ())
              + count(*) filter (where s.number is null) over (order by s.created_at, s.id)) as number
          from jsonb_to_recordset(p_changes->'ticket_insert') as s(id uuid, created_at timestamptz, head text, customer_id uuid, conversation_id uuid, type text, priority text, status text, assignee_id uuid, external_id text, number bigint)
          where s.id <> all(v_refused)) r
        returning id, body, number, sha256(convert_to(id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(body, 'UTF8')) as content)
      select array_agg(id), array_agg(body), count(*), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(octet_length(body)), jsonb_object_agg(id, number), max(number)
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes, v_found, v_number from added;
    if v_count > 0 then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_numbers := v_numbers || v_found;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'ticket', v_count, v_digest, v_bytes, v_number, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
    end if;
  end if;

  if p_changes ? 'ticket_update' then
    with changed as (
      update tickets t set customer_id = r.customer_id, conversation_id = r.conversation_id, type = r.type, priority = r.priority, status = r.status, assignee_id = r.assignee_id, external_id = r.external_id, body = r.head || v_tail,
          body_version = greatest(t.body_version, 1), updated_at = v_stamp
        from (select p_organization_id as organization_id, k.id, k.expected, k.old_term, k.old_content, k.old_bytes, k.head, k.customer_id, k.conversation_id, k.type, k.priority, k.status, k.assignee_id, k.external_id
          from jsonb_to_recordset(p_changes->'ticket_update') as k(id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int, head text, customer_id uuid, conversation_id uuid, type text, priority text, status text, assignee_id uuid, external_id text) where k.id = any(array[k.id]) offset 0) r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and coalesce(t.removed_at, 'infinity') = 'infinity' and r.id <> all(v_refused)
        returning t.id, t.body, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
          r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - sum(old_term),
          mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - sum(old_content), sum(octet_length(body)) - sum(old_bytes)
        into v_rows, v_row_bodies, v_digest, v_content, v_bytes from changed;
    if v_rows is not null then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'ticket', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
    end if;
  end if;

  if p_changes ? 'ticket_search_documents' then
    insert into tickets_words (organization_id, id, created_at, terms)
      select p_organization_id, r.id, r.created_at, r.terms || coalesce(' ' || (v_numbers->>r.id::text), '')
        from jsonb_to_recordset(p_changes->'ticket_search_documents') as r(id uuid, created_at timestamptz, terms text)
        join unnest(v_done) as d(id) on d.id = r.id
      on conflict (organization_id, id) do update set terms = excluded.terms;
  end if;

  if p_changes ? 'booking_insert' then
    with added as (
      insert into bookings (organization_id, id, created_at, updated_at, body, body_version, customer_id, start_at, status, assignee_id, conversation_id, external_id)
        select p_organization_id, r.id, r.created_at, v_stamp, r.head || v_tail, 1, r.customer_id, r.start_at, r.status, r.assignee_id, r.conversation_id, r.external_id
        from jsonb_to_recordset(p_changes->'booking_insert') as r(id uuid, created_at timestamptz, head text, customer_id uuid, start_at timestamptz(3), status text, assignee_id uuid, conversation_id uuid, external_id text)
          where r.id <> all(v_refused)
        returning id, body, sha256(convert_to(id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(body, 'UTF8')) as content)
      select array_agg(id), array_agg(body), count(*), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616), sum(octet_length(body))
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes from added;
    if v_count > 0 then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'booking', v_count, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
    end if;
  end if;

  if p_changes ? 'booking_update' then
    with changed as (
      update bookings t set customer_id = r.customer_id, start_at = r.start_at, status = r.status, assignee_id = r.assignee_id, conversation_id = r.conversation_id, external_id = r.external_id, body = r.head || v_tail,
          body_version = greatest(t.body_version, 1), updated_at = v_stamp
        from (select p_organization_id as organization_id, k.id, k.expected, k.old_term, k.old_content, k.old_bytes, k.head, k.customer_id, k.start_at, k.status, k.assignee_id, k.conversation_id, k.external_id
          from jsonb_to_recordset(p_changes->'booking_update') as k(id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int, head text, customer_id uuid, start_at timestamptz(3), status text, assignee_id uuid, conversation_id uuid, external_id text) where k.id = any(array[k.id]) offset 0) r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and coalesce(t.removed_at, 'infinity') = 'infinity' and r.id <> all(v_refused)
        returning t.id, t.body, sha256(convert_to(t.id || ':' || v_text, 'UTF8')) as version, sha256(convert_to(t.body, 'UTF8')) as content,
          r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), mod(mod(sum(('x' || encode(substr(version, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - sum(old_term),
          mod(mod(sum(('x' || encode(substr(content, 1, 8), 'hex'))::bit(64)::bigint), 18446744073709551616) + 18446744073709551616, 18446744073709551616) - sum(old_content), sum(octet_length(body)) - sum(old_bytes)
        into v_rows, v_row_bodies, v_digest, v_content, v_bytes from changed;
    if v_rows is not null then
      v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;
      v_digest := mod(mod(v_digest, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      v_content := mod(mod(v_content, 18446744073709551616) + 18446744073709551616, 18446744073709551616);
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, 'booking', 0, v_digest, v_bytes, 0, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, 18446744073709551616),
          content_digest = mod(c.content_digest + excluded.content_digest, 18446744073709551616),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);
    end if;
  end if;

  if p_changes ? 'booking_search_documents' then
    insert into bookings_words (organization_id, id, created_at, terms)
      select p_organization_id, r.id, r.created_at, r.terms
        from jsonb_to_recordset(p_changes->'booking_search_documents') as r(id uuid, created_at timestamptz, terms text)
        join unnest(v_done) as d(id) on d.id = r.id
      on conflict (organization_id, id) do update set terms = excluded.terms;
  end if;


  -- 8. Write events and deliveries.

  if v_done = '{}' then
    return jsonb_build_object('refused', v_refusals, 'stamp', v_text, 'done', to_jsonb(v_done));
  end if;

  with added as (
    insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, changed, cause)
      select p_organization_id, new_uuid_v7(v_stamp), e.type, v_stamp, e.subject_kind, e.subject_id, d.body, e.trace_context, e.changed, e.cause
        from jsonb_to_recordset(p_changes->'events') as e(type text, subject_kind text, subject_id uuid, trace_context text, changed jsonb,
          cause jsonb)
        join unnest(v_done, v_bodies) as d(id, body) on d.id = e.subject_id
      returning id, type, subject_kind, subject_id)
    select v_events || array_agg(id), v_event_types || array_agg(type), v_event_kinds || array_agg(subject_kind),
            v_event_subjects || array_agg(subject_id)
          into v_events, v_event_types, v_event_kinds, v_event_subjects from added;

  select d.p_any, d.p_large, d.p_woken into v_any, v_large, v_woken
    from create_deliveries_1e900b6d5b5e(p_organization_id, p_now, v_stamp, (p_changes->>'max_attempts')::int,
      v_events, v_event_types, v_event_kinds, v_event_subjects) d;

  -- 9. Responses to store, and last the clock.

  if p_changes ? 'idempotency' then
    with stored as (
      insert into idempotency_keys (organization_id, api_key_id, method, path, key, request_hash, status, subject_id, body, sealed,
          created_at, counted)
        select p_organization_id, s.api_key_id, s.method, s.path, s.key, s.request_hash, s.status, s.subject_id, s.body, s.sealed, p_now,
            coalesce(octet_length(s.body), octet_length(s.sealed), 0)
          from (select i.subject_id, i.api_key_id, i.method, i.path, i.key, decode(i.request_hash, 'hex') as request_hash, i.status,
            coalesce(i.response, v_receipt, d.body) as body, null::bytea as sealed
          from jsonb_to_recordset(p_changes->'idempotency') as i(subject_id uuid, api_key_id uuid, method text, path text,
            key text, request_hash text, status int, response text)
          join unnest(v_done, v_bodies) as d(id, body) on d.id = i.subject_id) s
        on conflict (organization_id, api_key_id, method, path, key) do update
          set request_hash = excluded.request_hash, status = excluded.status, subject_id = excluded.subject_id,
            body = excluded.body, sealed = excluded.sealed, created_at = excluded.created_at,
            counted = idempotency_keys.counted + excluded.counted
        returning coalesce(octet_length(body), octet_length(sealed), 0) as bytes)
    insert into kind_counters as c (organization_id, kind, live_count, digest, content_digest, last_number, stored_bytes)
      select p_organization_id, 'stored response', 0, 0, 0, 0, sum(s.bytes) from stored s having count(s.bytes) > 0
      on conflict (organization_id, kind) do update set stored_bytes = c.stored_bytes + excluded.stored_bytes;
  end if;

  update organization_clocks set last_stamp = v_stamp where organization_id = p_organization_id;
  return jsonb_build_object('refused', v_refusals, 'stamp', v_text, 'done', to_jsonb(v_done), 'numbers', v_numbers, 'receipt', v_receipt,
    'deliveries', v_any, 'woken', v_woken,
    'large', v_large, 'clock_skew', case when p_changes ? 'max_clock_skew' then round(extract(epoch from v_stamp - clock_timestamp()) / 0.001) end);
end;
$function$;

-- A delivery to be created: pending and due now, unless the endpoint was `disabled`, or the event is `skipped`, for that reason.
-- Without `id` it gets a new one.
create type new_delivery_6b81efe51766 as (
  id uuid,
  webhook_id uuid,
  event_id uuid,
  event_type text,
  event_created_at timestamptz(3),
  subject_kind text,
  subject_id uuid,
  max_attempts int,
  disabled text,
  skipped text
);

-- Inserts deliveries, and returns how many: the one statement that does. The caller holds the organization's clock row, and wakes the
-- queues of the endpoints that get pending ones.
create or replace function insert_deliveries_b04f1de00f2a(p_organization_id uuid, p_now timestamptz, p_deliveries new_delivery_6b81efe51766[]) returns int
language plpgsql volatile as $function$
declare
  v_inserted int;
begin
  insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at, subject_kind, subject_id,
      status, payload, attempt_count, max_attempts, last_error_code, last_error_message, next_attempt_at, created_at, updated_at)
    select p_organization_id, coalesce(d.id, new_uuid_v7(p_now)), d.webhook_id,
        case s.status when 'pending' then 'infinity' else (p_now at time zone 'UTC')::date end,
        d.event_id, d.event_type, d.event_created_at, d.subject_kind, d.subject_id, s.status, 'current', 0, d.max_attempts,
        case s.status when 'failed' then 'endpoint_disabled' when 'skipped' then d.skipped end,
        case when s.status = 'failed' then 'the endpoint was disabled: ' || d.disabled
          when d.skipped = 'own_change' then 'the key of the endpoint caused it'
          when d.skipped = 'conditions_not_met' then 'the conditions of the endpoint did not hold' end,
        case s.status when 'pending' then p_now end, p_now, p_now
      from unnest(p_deliveries) as d
        cross join lateral (select case when d.disabled is not null then 'failed' when d.skipped is not null then 'skipped'
          else 'pending' end as status) s;
  get diagnostics v_inserted = row_count;
  return v_inserted;
end;
$function$;

-- Why an endpoint with these conditions, and this key as its own where it skips what that causes, gets no delivery of an event:
-- 'own_change', 'conditions_not_met', or null when it does. Without conditions and key, no event is read.
--
-- Conditions, but for those on the id, always hold of a removal, so that receivers do not keep what is gone, of an event about an endpoint,
-- and of a body that was erased. Of an event that lists no changes, as an insert, every field with a value counts as changed. They hold of
-- an object that the endpoint's registrant may not read: its delivery fails, where a skip would show that key which values the object has.
create or replace function skip_reason_07fecb2924ab(p_organization_id uuid, p_webhook_id uuid, p_event_id uuid, p_conditions jsonb, p_own_key text) returns text
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
      when 'teammate' then 'teammates:read'
      when 'customer' then 'customers:read'
      when 'conversation' then 'conversations:read'
      when 'message' then 'messages:read'
      when 'note' then 'notes:read'
      when 'ticket' then 'tickets:read'
      when 'booking' then 'bookings:read'
      when 'endpoint' then 'webhooks:read' end
    into v_key, v_body, v_changed, v_scope
    from events e where e.organization_id = p_organization_id and e.id = p_event_id;
  if v_key = p_own_key then
    return 'own_change';
  end if;
  if v_body is null or not exists (select 1 from webhooks w
      join api_keys k on k.organization_id = w.organization_id and k.id = w.api_key_id
      where w.organization_id = p_organization_id and w.id = p_webhook_id and k.scopes && array['*', v_scope]) then
    return null;
  end if;
  if exists (select 1 from jsonb_array_elements(p_conditions) as c(condition)
      cross join lateral (select c.condition->>'field' as field, coalesce(v_body->(c.condition->>'field'), 'null') as actual) f
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

-- Creates a delivery of each event of a commit to each endpoint that is active and subscribed now. The commit function calls it under the
-- organization's clock row, which disabling an endpoint takes too. The events come as arrays of their ids, types, kinds and subjects;
-- their time is `p_stamp`. With no endpoint that subscribes, it costs one statement.
--
-- Beyond 1000 deliveries nothing is inserted, as nothing else of the organization can commit meanwhile: the subscriptions are noted,
-- and workers create the deliveries in pieces after the commit.
--
-- They are created and due at the commit's stamp, so that a worker that goes on from where it has read to misses none: stamps increase in the order of
-- commits (`read-position.ts`). Where clocks are so far apart that this would delay them, it is now instead, and the worker begins again.
--
-- A queue that a worker holds is not changed, as its row would get a version with each commit: that worker is notified, and looks again
-- before it releases the queue. Both lock the queue, so that they do not miss each other.
--
-- Returns in `p_any` whether an endpoint subscribes, in `p_large` whether workers have to create the deliveries, and in `p_woken`, by
-- endpoint, the priority of each queue of which a worker has to be notified, and the worker that holds it or null.
create or replace function create_deliveries_1e900b6d5b5e(
  p_organization_id uuid, p_now timestamptz, p_stamp timestamptz, p_max_attempts int,
  p_events uuid[], p_types text[], p_kinds text[], p_subjects uuid[],
  out p_any boolean, out p_large boolean, out p_woken jsonb
) language plpgsql volatile as $function$
declare
  v_webhooks uuid[];
  v_idle uuid[];
  v_apart boolean := p_stamp > p_now + interval '1000 milliseconds';
begin
  p_large := false;
  p_woken := '{}';
  select array_agg(w.id) into v_webhooks from webhooks w
    where w.organization_id = p_organization_id and w.status = 'active'
      and w.events && array(select distinct t.type from unnest(p_types) as t(type));
  p_any := v_webhooks is not null;
  if not p_any then
    return;
  end if;

  if cardinality(p_events) > 1000 / cardinality(v_webhooks) then
    select sum(t.count) > 1000 into p_large from webhooks w
      join (select u.type, count(*) as count from unnest(p_types) as u(type) group by u.type) t on t.type = any(w.events)
      where w.organization_id = p_organization_id and w.id = any(v_webhooks);
  end if;
  if p_large then
    insert into fan_outs (organization_id, webhook_id, stamp, types, conditions, own_key, max_attempts, position, due_at)
      select p_organization_id, w.id, p_stamp, w.events, w.options->'conditions',
          case when w.options ? 'skipOwn' then w.api_key_id::text end, p_max_attempts, first_uuid_v7(p_stamp), p_now
        from webhooks w where w.organization_id = p_organization_id and w.id = any(v_webhooks);
    return;
  end if;

  perform insert_deliveries_b04f1de00f2a(p_organization_id, case when v_apart then p_now else p_stamp end, array(
    select (null, w.id, e.id, e.type, p_stamp, e.subject_kind, e.subject_id, p_max_attempts,
        null, s.reason)::new_delivery_6b81efe51766
      from webhooks w
        join unnest(p_events, p_types, p_kinds, p_subjects) as e(id, type, subject_kind, subject_id) on e.type = any(w.events)
        cross join lateral (select case when w.options ?| '{conditions,skipOwn}' then skip_reason_07fecb2924ab(p_organization_id, w.id, e.id,
          w.options->'conditions', case when w.options ? 'skipOwn' then w.api_key_id::text end) end as reason offset 0) s
      where w.organization_id = p_organization_id and w.id = any(v_webhooks)));

  select array_agg(q.webhook_id) filter (where q.lease_id is null and coalesce(q.due_at > p_now, true)),
      coalesce(jsonb_object_agg(q.webhook_id, jsonb_build_array(q.priority, case when q.lease_until > p_now then q.worker_id end))
        filter (where q.lease_id is not null or coalesce(q.due_at > p_now, true)), '{}')
    into v_idle, p_woken
    from (select l.webhook_id, l.due_at, l.lease_id, l.lease_until, l.worker_id, l.priority from endpoint_queues l
      where l.organization_id = p_organization_id and l.webhook_id = any(v_webhooks) order by l.webhook_id for no key update) q;
  if v_apart then
    perform wake_queues_9ecb59d30a87(p_organization_id, v_webhooks, p_now);
  elsif v_idle is not null then
    update endpoint_queues set due_at = p_now where organization_id = p_organization_id and webhook_id = any(v_idle);
  end if;
end;
$function$;

-- Makes the queues of these endpoints due, after deliveries were created or made due outside of a commit. It locks the queues first, in
-- their order, as a completion computes under that lock what is due on one.
--
-- The deliveries may be due before where the worker that holds the queue has read to: `rewinds` tells it to begin again.
create or replace function wake_queues_9ecb59d30a87(p_organization_id uuid, p_webhook_ids uuid[], p_now timestamptz) returns void
language plpgsql volatile as $function$
begin
  perform 1 from endpoint_queues q where q.organization_id = p_organization_id and q.webhook_id = any(p_webhook_ids)
    order by q.webhook_id for no key update;
  update endpoint_queues set due_at = least(due_at, p_now), rewinds = rewinds + 1, read_to = null
    where organization_id = p_organization_id and webhook_id = any(p_webhook_ids);
end;
$function$;

-- Copies the attempts that these pending deliveries' rows hold to `attempts`, before the next overwrite them. They are due between
-- `p_first` and `p_last`. Where the last update was no attempt, the row exists.
create or replace function archive_attempts_8cb38686d7f5(
  p_organization_id uuid, p_webhook_id uuid, p_ids uuid[], p_first timestamptz, p_last timestamptz
) returns void
language plpgsql volatile as $function$
begin
  insert into attempts (organization_id, delivery_id, number, at, response_status, error_code, error_message, duration_ms, response_body)
    select p_organization_id, d.id, d.attempt_count, d.last_attempt_at, d.response_status, d.last_error_code, d.last_error_message,
        d.duration_ms, d.response_body
      from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(p_ids)
        and d.log_day = 'infinity' and d.next_attempt_at >= p_first and d.next_attempt_at <= p_last and d.last_attempt_at is not null
    on conflict do nothing;
end;
$function$;

-- Creates a control event of this type, and its delivery, for each of these endpoints that is a subscription. The caller holds the
-- organization's clock row or the endpoint's queue, and wakes the queues.
create or replace function notify_subscriptions_68792076af87(
  p_organization_id uuid, p_now timestamptz, p_type text, p_webhook_ids uuid[], p_max_attempts int
) returns void
language plpgsql volatile as $function$
declare
  v_deliveries new_delivery_6b81efe51766[];
begin
  with created as (
    insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
      select p_organization_id, new_uuid_v7(p_now), p_type, p_now, 'webhook', w.id, '{}'
        from webhooks w
        where w.organization_id = p_organization_id and w.id = any(p_webhook_ids) and w.subscription_id is not null
      returning id, subject_id)
    select array_agg((null, c.subject_id, c.id, p_type, p_now, 'webhook', c.subject_id, p_max_attempts, null, null)::new_delivery_6b81efe51766)
      into v_deliveries from created c;
  perform insert_deliveries_b04f1de00f2a(p_organization_id, p_now, v_deliveries);
end;
$function$;

-- Counts deliveries of an endpoint (specification 11.5): what is counted in `p_places`, how often in `p_counts` (`tally.ts`), and the latest
-- success among them. Each call appends a row of no length, so that no row gets a version with each; the rows of minutes that are over
-- become one a minute, and the minutes of hours that are over one more an hour.
--
-- The caller says from when on such rows may be left, or null where none are: only rows of a minute that is over are folded, and their
-- latest success is noted in the endpoint's health. A row that stays is counted as well as one that is folded. Counts are added, so a
-- minute that is folded again, as clocks differ or one was set back, has what it had before.
create or replace function count_deliveries_5fdd2279ca7a(
  p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_places smallint[], p_counts int[], p_succeeded_at timestamptz,
  p_fold_from timestamptz
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
    delete from delivery_stats s where s.organization_id = p_organization_id and s.webhook_id = p_webhook_id and s.minutes = 0
        and s.at >= p_fold_from and s.at < v_minute
      returning date_bin('1 minute', s.at, timestamptz '1970-01-01 00:00:00Z') as at, s.places, s.counts, s.succeeded_at
  ), added as (
    insert into delivery_stats as s (organization_id, webhook_id, minutes, at, places, counts)
      select p_organization_id, p_webhook_id, 1, m.at, array_agg(m.place), array_agg(m.count)
        from (select g.at, c.place, sum(c.count)::int as count from gone g cross join lateral unnest(g.places, g.counts) as c(place, count)
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
          join delivery_stats s on s.organization_id = p_organization_id and s.webhook_id = p_webhook_id and s.minutes = 1
            and s.at >= h.hour and s.at < h.hour + interval '1 hour'
          cross join lateral unnest(s.places, s.counts) as c(place, count)
        group by h.hour, c.place) m
      group by m.hour
    on conflict (organization_id, webhook_id, minutes, at) do update set places = excluded.places, counts = excluded.counts;
  update webhook_health set last_success_at = v_succeeded_at
    where organization_id = p_organization_id and webhook_id = p_webhook_id and v_succeeded_at > coalesce(last_success_at, '-infinity');
end;
$function$;

-- Takes the clock row of an organization, as commits do, so that no two functions change its records at once. Each
-- function that changes records outside of the stream begins with it.
--
-- Fails with `lock_not_available` after the caller's limit or 250 ms, as a connection should not wait for a transaction
-- that may take a minute. The caller tries again (`GroupCommit.exclusiveTask`, `unlessBusy`). Other rows are held for
-- moments only, so they have no limit. Fails with `DW003` (`journal/not-served.ts`) where another database serves the
-- organization.
create or replace function lock_clock_dd363ef23099(p_organization_id uuid) returns void
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

-- Whether the request that p_response answers has a stored response that has not expired (specification 13.1). Comes
-- before every refusal: a repeated request gets the stored response. False where p_response is null: the request has no
-- key.
create or replace function replayed_55624a46aaf1(p_organization_id uuid, p_now timestamptz, p_response jsonb) returns boolean
language plpgsql volatile as $function$
begin
  if p_response is null then
    return false;
  end if;
  -- A range of keys and their order make the primary key the only index that fits.
  perform 1 from idempotency_keys k
    where k.organization_id = p_organization_id and k.api_key_id = (p_response->>'api_key_id')::uuid
      and k.method = p_response->>'method' and k.path = p_response->>'path'
      and k.key between p_response->>'key' and p_response->>'key'
      and k.created_at > p_now - interval '24 hours'
    order by k.key limit 1;
  return found;
end;
$function$;

-- Refuses a value sealed with another encryption key than the database names, with `DW002` (`journal/responses.ts`), and
-- locks that name until the commit. So no value stays under an old key after a key rotation (decision 56). p_key_check:
-- the check value of the key that sealed the organization's value; null where nothing is sealed.
create or replace function require_sealed_with_66c15d180f7b(p_organization_id uuid, p_key_check bytea) returns void
language plpgsql volatile as $function$
begin
  if p_key_check is null then
    return;
  end if;
  perform 1 from installation i where i.singleton and (i.key_check is null or i.key_check = p_key_check) for share;
  if not found then
    raise exception 'sealed with another encryption key than the database names' using errcode = 'DW002';
  end if;
end;
$function$;

-- Stores the response p_response about the object p_subject_id, sealed or not; nothing where it is null. The caller has
-- found no unexpired response (`replayed`), under the clock row. Stored bytes count as storage of the organization
-- (specification 14.3).
create or replace function store_response_71a961d90400(p_organization_id uuid, p_subject_id uuid, p_now timestamptz, p_response jsonb)
returns void
language plpgsql volatile as $function$
begin
  perform require_sealed_with_66c15d180f7b(p_organization_id, decode(p_response->>'sealed_with', 'hex'));
  if p_response is null then
    return;
  end if;
  -- An existing row has expired; its bytes are counted until its replacement is deleted.
  with stored as (
    insert into idempotency_keys (organization_id, api_key_id, method, path, key, request_hash, status, subject_id, body,
        sealed, created_at, counted)
      select p_organization_id, (p_response->>'api_key_id')::uuid, p_response->>'method', p_response->>'path',
          p_response->>'key', decode(p_response->>'request_hash', 'hex'), (p_response->>'status')::int, p_subject_id,
          p_response->>'body', decode(p_response->>'sealed', 'hex'), p_now,
          coalesce(octet_length(p_response->>'body'), octet_length(decode(p_response->>'sealed', 'hex')), 0)
      on conflict (organization_id, api_key_id, method, path, key) do update
        set request_hash = excluded.request_hash, status = excluded.status, subject_id = excluded.subject_id,
          body = excluded.body, sealed = excluded.sealed, created_at = excluded.created_at,
          counted = idempotency_keys.counted + excluded.counted
      returning coalesce(octet_length(body), octet_length(sealed), 0) as bytes)
  insert into kind_counters as c (organization_id, kind, live_count, digest, content_digest, last_number, stored_bytes)
    select p_organization_id, 'stored response', 0, 0, 0, 0, sum(s.bytes) from stored s having count(s.bytes) > 0
    on conflict (organization_id, kind) do update set stored_bytes = c.stored_bytes + excluded.stored_bytes;
end;
$function$;

-- Stores the response p_response, about the object p_subject_id, to a request that committed nothing: 'done', or
-- 'replayed' where its key has one already. Under the clock row, so that a concurrent identical request that changes
-- something either sees this response, or is seen.
create or replace function store_lone_response_c7bff712f84c(p_organization_id uuid, p_subject_id uuid, p_now timestamptz, p_response jsonb)
returns text
language plpgsql volatile as $function$
begin
  perform lock_clock_dd363ef23099(p_organization_id);
  if replayed_55624a46aaf1(p_organization_id, p_now, p_response) then
    return 'replayed';
  end if;
  perform store_response_71a961d90400(p_organization_id, p_subject_id, p_now, p_response);
  return 'done';
end;
$function$;

-- Writes the results of attempts, if the lease still holds, and keeps or releases the queue. The results are arrays by column, which cost
-- much less than JSON.
--
-- The queue is locked in one statement and what is due is read in a later one, whose snapshot has every commit before the lock; a single
-- statement could leave a delivery behind. A delivery is completed only if it has not changed since the claim: one that was started over
-- meanwhile must not end with an older attempt.
--
-- The queue's row changes only when its state does: a release, and a lease of which half is over. `p_known` are the deliveries that the
-- worker has and keeps; `p_read_to`, `p_read_to_id` and `p_rewinds` where it has read to (`read-position.ts`). A delivery that this makes
-- due before that, or a result that finds its delivery changed, rewinds the queue.
--
-- Counts are appended to `delivery_stats`, and the endpoint's health changes when it fails or recovers: a row that every completion updates
-- would get a version with each. A release notes the latest success under the lease, `p_succeeded_last`.
--
-- Returns whether the lease is held; when the next delivery is due that the worker does not have, as milliseconds; until when the queue is
-- leased; and since when the endpoint fails, if the results changed its health.
create or replace function complete_deliveries_6c074fcbb4dc(
  p_organization_id uuid, p_webhook_id uuid, p_lease_id uuid, p_now timestamptz, p_lease_until timestamptz,
  p_next text, p_priority int, p_known uuid[], p_rewinds int, p_read_to timestamptz, p_read_to_id uuid,
  p_succeeded_at timestamptz, p_failures int, p_failed_at timestamptz, p_succeeded_last timestamptz,
  p_places smallint[], p_counts int[], p_fold_from timestamptz,
  p_id uuid[], p_due float8[], p_number int[], p_seen float8[], p_status text[], p_attempted boolean[], p_started_at float8[], p_ended_at float8[],
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
    where q.organization_id = p_organization_id and q.webhook_id = p_webhook_id and q.lease_id = p_lease_id for no key update;
  if not found then
    return jsonb_build_object('held', false);
  end if;

  if cardinality(p_id) > 0 then
    select to_timestamp(min(u.due) / 1000), to_timestamp(max(u.due) / 1000) into v_first, v_last from unnest(p_due) as u(due);
    if 1 < any(p_number) then
      perform archive_attempts_8cb38686d7f5(p_organization_id, p_webhook_id, p_id, v_first, v_last);
    end if;
    -- The rows are found by their ids and when they were due. By the ids alone the planner, which counts no dead entries, may read all of
    -- an index; and a join with what came would. `generate_subscripts` makes it expect a thousand results; arrays alone, ten, and a
    -- nested loop.
    update deliveries d set status = r.status, attempt_count = d.attempt_count + r.attempted::int,
          response_status = case when r.attempted then r.response_status else d.response_status end,
          response_body = case when r.attempted then r.response_body else d.response_body end,
          last_error_code = r.error_code, last_error_message = r.error_message,
          duration_ms = case when r.attempted then r.duration_ms else d.duration_ms end,
          last_attempt_at = case when r.attempted then to_timestamp(r.started_at / 1000) else d.last_attempt_at end,
          next_attempt_at = to_timestamp(r.next_attempt_at / 1000), updated_at = greatest(d.updated_at, p_now),
          delivered_at = case when r.status = 'succeeded' then to_timestamp(r.ended_at / 1000) end,
          log_day = case when r.status = 'pending' then 'infinity' else (d.created_at at time zone 'UTC')::date end
        from rows from (unnest(p_id), unnest(p_number), unnest(p_seen), unnest(p_status), unnest(p_attempted), unnest(p_started_at),
            unnest(p_ended_at), unnest(p_response_status), unnest(p_response_body), unnest(p_error_code), unnest(p_error_message),
            unnest(p_duration_ms), unnest(p_next_attempt_at), generate_subscripts(p_id, 1))
          as r(id, number, seen, status, attempted, started_at, ended_at, response_status, response_body, error_code, error_message,
            duration_ms, next_attempt_at, place)
        where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(p_id) and d.id = r.id
          and d.log_day = 'infinity' and d.next_attempt_at >= v_first and d.next_attempt_at <= v_last and d.attempt_count = r.number - 1 and d.updated_at = to_timestamp(r.seen / 1000);
    get diagnostics v_written = row_count;
    v_rewound := v_written < cardinality(p_id)
      or extract(epoch from p_read_to) * 1000 >= (select min(u.at) from unnest(p_next_attempt_at) as u(at));

    -- Creates a gap event for a subscription that has missed something, one at a time.
    if 'failed' = any(p_status) and exists (select 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id
        and w.subscription_id is not null and w.status = 'active')
        and exists (select 1 from deliveries d where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
          and d.id = any(p_id) and d.status = 'failed' and d.event_type not in ('ping', 'gap', 'terminated')
          and coalesce(d.response_status, 0) not in (410, 413))
        and not exists (select 1 from deliveries d where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
          and d.log_day = 'infinity' and d.event_type = 'gap') then
      perform notify_subscriptions_68792076af87(p_organization_id, p_now, 'gap', array[p_webhook_id], (select max(u.number) from unnest(p_number) as u(number)));
      v_rewound := true;
    end if;

    perform count_deliveries_5fdd2279ca7a(p_organization_id, p_webhook_id, p_now, p_places, p_counts, p_succeeded_at, p_fold_from);
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
  select case when d.attempt_count = 0 and d.next_attempt_at <= v_soon then least(d.next_attempt_at, p_now) else d.next_attempt_at end
    into v_due from deliveries d
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day = 'infinity'
      and (d.next_attempt_at, d.id) >= (coalesce(v_read_to, '-infinity'), coalesce(v_read_to_id, '00000000-0000-0000-0000-000000000000'))
      and d.id <> all(p_known)
    order by d.next_attempt_at, d.id limit 1;
  if p_next = 'release' then
    -- Disabled meanwhile: what is pending is not to wait for its next attempt, but to fail now.
    if v_due > p_now and exists (select 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id
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
  return jsonb_build_object('held', true, 'failing_since', v_failing_since, 'due', floor(extract(epoch from v_due) * 1000),
    'lease_until', floor(extract(epoch from v_lease_until) * 1000));
end;
$function$;

-- Disables an active endpoint if its worker's reason still holds: no success since `p_failing_before`, the URL `p_url`, or no registrant.
-- Under the clock row, so that no commit creates deliveries to it meanwhile. Returns whether it did.
create or replace function disable_webhook_ccdee5df659e(
  p_organization_id uuid, p_webhook_id uuid, p_url text, p_reason text, p_now timestamptz, p_failing_before timestamptz
) returns boolean
language plpgsql volatile as $function$
begin
  perform lock_clock_dd363ef23099(p_organization_id);
  update webhooks w set status = 'disabled', disabled_reason = p_reason, disabled_at = p_now,
      updated_at = greatest(millisecond_after(w.updated_at), p_now)
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.status = 'active'
      and case p_reason
        when 'failing' then exists (select 1 from webhook_health h where h.organization_id = p_organization_id
          and h.webhook_id = p_webhook_id and h.failing_since <= p_failing_before)
        when 'address_not_public' then w.url = p_url
        when 'gone' then w.url = p_url
        when 'registrant_revoked' then not exists (select 1 from api_keys k
          where k.organization_id = p_organization_id and k.id = w.api_key_id
            and (k.expires_at is null or k.expires_at > p_now))
      end;
  if not found then
    return false;
  end if;
  update endpoint_queues set due_at = p_now where organization_id = p_organization_id and webhook_id = p_webhook_id;
  return true;
end;
$function$;

-- Fails up to `p_limit` pending deliveries of a disabled endpoint, except those that reach disabled ones too, and returns how many. It
-- locks the endpoint, as enabling it keeps what is pending, and the queue, as a completion writes the same rows.
create or replace function fail_pending_1c29e0430124(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_reason text, p_limit int) returns int
language plpgsql volatile as $function$
declare
  v_ids uuid[];
begin
  perform 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id and w.status = 'disabled' for share;
  if not found then
    return 0;
  end if;
  perform 1 from endpoint_queues q where q.organization_id = p_organization_id and q.webhook_id = p_webhook_id for no key update;
  select array_agg(x.id) into v_ids from (
    select d.id from deliveries d where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
      and d.log_day = 'infinity' and d.event_type not in ('ping', 'terminated') limit p_limit) x;
  if v_ids is null then
    return 0;
  end if;
  perform archive_attempts_8cb38686d7f5(p_organization_id, p_webhook_id, v_ids, '-infinity', 'infinity');
  update deliveries d set status = 'failed', next_attempt_at = null, updated_at = greatest(d.updated_at, p_now),
      last_error_code = 'endpoint_disabled', last_error_message = 'the endpoint was disabled: ' || p_reason,
      log_day = (d.created_at at time zone 'UTC')::date
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(v_ids) and d.log_day = 'infinity';
  perform count_deliveries_5fdd2279ca7a(p_organization_id, p_webhook_id, p_now, array[36]::smallint[], array[cardinality(v_ids)],
    null, '-infinity');
  -- Clear the isolation: this delivery is no longer a suspect.
  update endpoint_queues set alone_id = null, alone_since = null
    where organization_id = p_organization_id and webhook_id = p_webhook_id and alone_id = any(v_ids);
  return cardinality(v_ids);
end;
$function$;

-- Makes up to `p_limit` deliveries that wait for a retry due now, the soonest first, and returns how many; null unless the endpoint is
-- active. It locks the queue first, as a completion computes its due time.
create or replace function retry_now_eb04d9474567(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_limit int) returns int
language plpgsql volatile as $function$
declare
  v_retried int;
begin
  perform 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id and w.status = 'active' for share;
  if not found then
    return null;
  end if;
  perform wake_queues_9ecb59d30a87(p_organization_id, array[p_webhook_id], p_now);
  update deliveries d set next_attempt_at = p_now, updated_at = greatest(millisecond_after(d.updated_at), p_now)
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day = 'infinity'
      and d.id in (select x.id from deliveries x where x.organization_id = p_organization_id
        and x.webhook_id = p_webhook_id and x.log_day = 'infinity' and x.next_attempt_at > p_now
        order by x.next_attempt_at limit p_limit);
  get diagnostics v_retried = row_count;
  return v_retried;
end;
$function$;

create or replace function recover_piece_fdbfd6387bf8(p_organization_id uuid, p_webhook_id uuid, p_recovery_id uuid, p_lease_id uuid, p_now timestamptz, p_lease_until timestamptz, p_events int, p_backlog int, p_attempts int) returns text
language plpgsql volatile as $function$
declare
  v_position uuid;
  v_end uuid;
  v_waits boolean;
  v_again boolean;
  v_types text[];
  v_conditions jsonb;
  v_own_key text;
  v_since date;
  v_seen int;
  v_events uuid[];
  v_known uuid[];
  v_failed uuid[];
  v_retried int := 0;
  v_created int := 0;
  v_soon timestamptz := p_now + interval '250 milliseconds';
  v_later timestamptz := p_now + interval '1 minute';
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  if exists (select 1 from organization_clocks c where c.organization_id = p_organization_id and c.away is not null) then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = (select c.away from organization_clocks c where c.organization_id = p_organization_id);
  end if;
  select r.position, first_uuid_v7(r.until + interval '1 millisecond'), exists (select 1 from fan_outs f
        where f.organization_id = p_organization_id and f.webhook_id = p_webhook_id and f.stamp between r.since and r.until),
        r.include_succeeded
      into v_position, v_end, v_waits, v_again from recoveries r
    where r.organization_id = p_organization_id and r.webhook_id = p_webhook_id and r.id = p_recovery_id
      and r.lease_id = p_lease_id;
  if not found then
    return 'lost';
  end if;

  select w.events, w.options->'conditions', case when w.options ? 'skipOwn' then w.api_key_id::text end
      into v_types, v_conditions, v_own_key from webhooks w
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.status = 'active';
  if not found then
    update recoveries set due_at = v_later, lease_id = null, lease_until = null
      where organization_id = p_organization_id and webhook_id = p_webhook_id and id = p_recovery_id;
    return 'disabled';
  end if;
  if not v_waits then
    perform 1 from deliveries d where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
      and d.log_day = 'infinity' and d.next_attempt_at <= p_now offset p_backlog - 1 limit 1;
    v_waits := found;
  end if;
  if v_waits then
    update recoveries set due_at = v_soon, lease_id = null, lease_until = null
      where organization_id = p_organization_id and webhook_id = p_webhook_id and id = p_recovery_id;
    return 'waiting';
  end if;

  select count(*), array_agg(x.id) filter (where x.type = any(v_types)), (array_agg(x.id order by x.id desc))[1],
      (min(x.created_at) at time zone 'UTC')::date - 1
    into v_seen, v_events, v_position, v_since
    from (select e.id, e.type, e.created_at from events e where e.organization_id = p_organization_id
      and e.id > v_position and e.id < v_end order by e.id limit p_events) x;
  if v_events is not null then
    -- The latest delivery of an event decides: an earlier one was sent again. A delivery is no older than its event, but for what
    -- clocks are apart: a day is plenty.
    select coalesce(array_agg(l.event_id) filter (where l.status <> 'skipped' and not (v_again and l.status = 'succeeded')), '{}'),
        coalesce(array_agg(l.id) filter (where l.status = 'failed'), '{}')
      into v_known, v_failed
      from (select distinct on (d.event_id) d.event_id, d.id, d.status from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.event_id = any(v_events)
          and d.log_day >= v_since
        order by d.event_id, d.id desc) l;
    update deliveries d set status = 'pending', payload = 'stored', attempts_before = attempt_count,
      max_attempts = attempt_count + p_attempts, next_attempt_at = p_now, log_day = 'infinity',
        updated_at = greatest(millisecond_after(d.updated_at), p_now)
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(v_failed)
        and d.log_day >= v_since and d.log_day < 'infinity' and d.status = 'failed';
    get diagnostics v_retried = row_count;
    insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at, subject_kind,
        subject_id, status, payload, attempt_count, max_attempts, last_error_code, last_error_message, next_attempt_at, created_at, updated_at)
      select p_organization_id, new_uuid_v7(p_now), p_webhook_id, 'infinity', e.id, e.type, e.created_at, e.subject_kind,
          e.subject_id, 'pending', 'current', 0, p_attempts, null, null, p_now, p_now, p_now
        from events e where e.organization_id = p_organization_id and e.id = any(v_events) and e.id <> all(v_known)
        and e.subject_id <> p_webhook_id
        and e.cause->>'key' is distinct from coalesce(v_own_key, '')
        and case when v_conditions is null then true else coalesce((
          select not exists (select 1 from jsonb_array_elements(v_conditions) as k(k)
            where (b.body->>'object' not in ('removed', 'webhook') or k.k->>'field' = 'id') and not case k.k->>'op'
              when 'exists' then (coalesce(b.body->(k.k->>'field'), 'null') <> 'null') = coalesce((k.k->>'value')::boolean, true)
              when 'changed' then coalesce(b.changed ? (k.k->>'field'), coalesce(b.body->(k.k->>'field'), 'null') <> 'null')
              when 'in' then k.k->'value' @> coalesce(b.body->(k.k->>'field'), 'null')
              else coalesce(b.body->(k.k->>'field'), 'null') = k.k->'value' end)
          from (select x.body::jsonb as body, x.changed from events x where x.organization_id = p_organization_id
            and x.id = e.id and x.body is not null
            and exists (select 1 from webhooks r join api_keys k on k.organization_id = r.organization_id and k.id = r.api_key_id
                where r.organization_id = p_organization_id and r.id = p_webhook_id and k.scopes && array['*', case x.subject_kind when 'teammate' then 'teammates:read' when 'customer' then 'customers:read' when 'conversation' then 'conversations:read' when 'message' then 'messages:read' when 'note' then 'notes:read' when 'ticket' then 'tickets:read' when 'booking' then 'bookings:read' when 'endpoint' then 'webhooks:read' end])) b), true) end;
    get diagnostics v_created = row_count;
  end if;

  if v_retried + v_created > 0 then
    perform wake_queues_9ecb59d30a87(p_organization_id, array[p_webhook_id], p_now);
  end if;
  update recoveries set position = coalesce(v_position, position), retried = retried + v_retried,
      created = created + v_created,
      finished_at = case when v_seen < p_events then p_now end,
      due_at = case when v_seen < p_events then null else p_now end,
      lease_id = case when v_seen < p_events then null else lease_id end,
      lease_until = case when v_seen < p_events then null else p_lease_until end
    where organization_id = p_organization_id and webhook_id = p_webhook_id and id = p_recovery_id;
  return case when v_seen < p_events then 'done' else 'more' end;
end;
$function$;

create or replace function report_endpoint_9038c8374517(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_expected timestamptz, p_before text, p_state text, p_since timestamptz, p_type text, p_body text, p_attempts int) returns boolean
language plpgsql volatile as $function$
declare
  v_stamp timestamptz(3);
  v_event_id uuid;
  v_event_types text[] := array[p_type];
  v_webhooks uuid[];
  v_may_skip boolean;
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  if exists (select 1 from organization_clocks c where c.organization_id = p_organization_id and c.away is not null) then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = (select c.away from organization_clocks c where c.organization_id = p_organization_id);
  end if;
  update webhooks w set reported_state = p_state, reported_since = p_since
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.updated_at = p_expected
      and w.reported_state is not distinct from p_before;
  if not found then
    return false;
  end if;
  perform set_config('synchronous_commit', 'on', true);
  select c.last_stamp into v_stamp from organization_clocks c where c.organization_id = p_organization_id;
  v_stamp := greatest(v_stamp + interval '1 millisecond', p_now);
  v_event_id := new_uuid_v7(v_stamp);
  insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
    values (p_organization_id, v_event_id, p_type, v_stamp, 'endpoint', p_webhook_id, p_body);
  update organization_clocks set last_stamp = v_stamp where organization_id = p_organization_id;
  select array_agg(w.id), bool_or(w.options ?| '{conditions,skipOwn}') into v_webhooks, v_may_skip from webhooks w
    where w.organization_id = p_organization_id and w.status = 'active'
      and w.events && array(select distinct e.type from unnest(v_event_types) as e(type));
  v_webhooks := array(select x.id from unnest(v_webhooks) as x(id) where x.id <> p_webhook_id);
  insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at, subject_kind,
        subject_id, status, payload, attempt_count, max_attempts, last_error_code, last_error_message, next_attempt_at, created_at, updated_at)
      select p_organization_id, new_uuid_v7(p_now), w.id, case when not c.holds then (p_now at time zone 'UTC')::date else 'infinity' end, e.id, e.type, e.created_at, e.subject_kind,
          e.subject_id, case when not c.holds then 'skipped' else 'pending' end, 'current', 0, p_attempts, case when not c.holds then 'conditions_not_met' else null end, case when not c.holds then 'the conditions of the endpoint did not hold' else null end, case when not c.holds then null else p_now end, p_now, p_now
        from webhooks w
        join (select v_event_id as id, p_type as type, v_stamp as created_at, 'endpoint' as subject_kind, p_webhook_id as subject_id) e
          on e.type = any(w.events) cross join lateral (select case when w.options->'conditions' is null then true else coalesce((
          select not exists (select 1 from jsonb_array_elements(w.options->'conditions') as k(k)
            where (b.body->>'object' not in ('removed', 'webhook') or k.k->>'field' = 'id') and not case k.k->>'op'
              when 'exists' then (coalesce(b.body->(k.k->>'field'), 'null') <> 'null') = coalesce((k.k->>'value')::boolean, true)
              when 'changed' then coalesce(b.changed ? (k.k->>'field'), coalesce(b.body->(k.k->>'field'), 'null') <> 'null')
              when 'in' then k.k->'value' @> coalesce(b.body->(k.k->>'field'), 'null')
              else coalesce(b.body->(k.k->>'field'), 'null') = k.k->'value' end)
          from (select x.body::jsonb as body, x.changed from events x where x.organization_id = p_organization_id
            and x.id = e.id and x.body is not null
            and exists (select 1 from webhooks r join api_keys k on k.organization_id = r.organization_id and k.id = r.api_key_id
                where r.organization_id = p_organization_id and r.id = w.id and k.scopes && array['*', case x.subject_kind  when 'endpoint' then 'webhooks:read' end])) b), true) end as holds offset 0) c
        where w.organization_id = p_organization_id and w.id = any(v_webhooks);
  perform wake_queues_9ecb59d30a87(p_organization_id, v_webhooks, p_now);
  perform pg_notify('deskwire_stream', p_organization_id || ':' || p_type);
  return true;
end;
$function$;

-- Reads up to `p_events` events of an organization's large commits, `p_each` of one commit and endpoint at a time, and creates deliveries to
-- the endpoints that were active and subscribed at the commit, by their options then. What has had a piece goes behind what has not.
-- Events with a delivery to the endpoint are skipped. A disabled endpoint gets failed deliveries; one with `p_backlog` due deliveries gets
-- no more until they are sent, so that new events do not wait behind all of a large commit.
--
-- The position moves in the same transaction, so each delivery is created once. One piece of an organization runs at a time; it waits 250
-- ms for the clock row and then raises lock_not_available.
--
-- Returns 'more', 'done' when nothing is due, or 'busy' when another worker runs a piece of the organization.
create or replace function fan_out_piece_e5c3befd8999(p_organization_id uuid, p_now timestamptz, p_events int, p_each int, p_backlog int) returns text
language plpgsql volatile as $function$
declare
  v_webhook_id uuid;
  v_stamp timestamptz(3);
  v_types text[];
  v_conditions jsonb;
  v_own_key text;
  v_position uuid;
  v_max_attempts int;
  v_reason text;
  v_left int := p_events;
  v_soon timestamptz := p_now + interval '250 milliseconds';
  v_step int;
  v_seen int;
  v_last uuid;
  v_events uuid[];
  v_known uuid[];
begin
  if not pg_try_advisory_xact_lock(673720110, hashtext(p_organization_id::text)) then
    return 'busy';
  end if;
  perform lock_clock_dd363ef23099(p_organization_id);
  while v_left > 0 loop
    select f.webhook_id, f.stamp, f.types, f.conditions, f.own_key, f.position, f.max_attempts, w.disabled_reason
      into v_webhook_id, v_stamp, v_types, v_conditions, v_own_key, v_position, v_max_attempts, v_reason
      from fan_outs f join webhooks w on w.organization_id = f.organization_id and w.id = f.webhook_id
      where f.organization_id = p_organization_id and f.due_at <= p_now
      order by f.due_at, f.stamp, f.webhook_id limit 1;
    if not found then
      return 'done';
    end if;

    if v_reason is null then
      perform 1 from deliveries d where d.organization_id = p_organization_id and d.webhook_id = v_webhook_id
        and d.log_day = 'infinity' and d.next_attempt_at <= p_now offset p_backlog - 1 limit 1;
      if found then
        update fan_outs set due_at = v_soon
          where organization_id = p_organization_id and webhook_id = v_webhook_id and stamp = v_stamp;
        continue;
      end if;
    end if;

    v_step := least(p_each, v_left);
    select count(*), array_agg(x.id) filter (where x.type = any(v_types)), (array_agg(x.id order by x.id desc))[1]
      into v_seen, v_events, v_last
      from (select e.id, e.type from events e where e.organization_id = p_organization_id
        and e.id > v_position and e.id < first_uuid_v7(v_stamp + interval '1 millisecond')
        order by e.id limit v_step) x;
    v_left := v_left - greatest(v_seen, 1);
    if v_events is not null then
      -- A delivery is no older than its event, but for what clocks are apart: a day is plenty.
      select coalesce(array_agg(d.event_id), '{}') into v_known from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = v_webhook_id and d.event_id = any(v_events)
          and d.log_day >= (v_stamp at time zone 'UTC')::date - 1;
      perform insert_deliveries_b04f1de00f2a(p_organization_id, p_now, array(
        select (null, v_webhook_id, e.id, e.type, e.created_at, e.subject_kind, e.subject_id, v_max_attempts, v_reason,
            skip_reason_07fecb2924ab(p_organization_id, v_webhook_id, e.id, v_conditions, v_own_key))::new_delivery_6b81efe51766
          from events e where e.organization_id = p_organization_id and e.id = any(v_events) and e.id <> all(v_known)));
      if v_reason is null then
        perform wake_queues_9ecb59d30a87(p_organization_id, array[v_webhook_id], p_now);
      end if;
    end if;
    if v_seen < v_step then
      delete from fan_outs
        where organization_id = p_organization_id and webhook_id = v_webhook_id and stamp = v_stamp;
    else
      update fan_outs set position = v_last, due_at = p_now
        where organization_id = p_organization_id and webhook_id = v_webhook_id and stamp = v_stamp;
    end if;
  end loop;
  return 'more';
end;
$function$;

-- Disables the active endpoints that a key registered, under the clock row, makes their queues due, and returns their ids. Subscriptions
-- are notified that they have ended, and end in an hour.
create or replace function disable_registered_57ac6e41aa1f(p_organization_id uuid, p_api_key_id uuid, p_now timestamptz) returns uuid[]
language plpgsql volatile as $function$
declare
  v_webhook_ids uuid[];
  v_ends_at timestamptz := p_now + interval '1 hour';
begin
  select array_agg(w.id) into v_webhook_ids from webhooks w
    where w.organization_id = p_organization_id and w.api_key_id = p_api_key_id and w.status = 'active';
  update webhooks set status = 'disabled', disabled_reason = 'registrant_revoked', disabled_at = p_now,
      ends_at = least(ends_at, v_ends_at), updated_at = greatest(millisecond_after(updated_at), p_now)
    where organization_id = p_organization_id and id = any(v_webhook_ids);
  perform notify_subscriptions_68792076af87(p_organization_id, p_now, 'terminated', v_webhook_ids, 3);
  perform wake_queues_9ecb59d30a87(p_organization_id, v_webhook_ids, p_now);
  return v_webhook_ids;
end;
$function$;

-- Carries out the expiry of a key: disables the endpoints that it registered, and returns their ids; null when that was done before, or the
-- key has not expired.
create or replace function expire_api_key_3df7ef7bf123(p_organization_id uuid, p_api_key_id uuid, p_now timestamptz) returns uuid[]
language plpgsql volatile as $function$
begin
  perform lock_clock_dd363ef23099(p_organization_id);
  update api_keys set expiry_settled_at = p_now
    where organization_id = p_organization_id and id = p_api_key_id and expires_at <= p_now and expiry_settled_at is null;
  if not found then
    return null;
  end if;
  return disable_registered_57ac6e41aa1f(p_organization_id, p_api_key_id, p_now);
end;
$function$;

create or replace function create_webhook_68f2ce5b56b1(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_row jsonb, p_secret_id uuid, p_sealed bytea, p_sealed_with bytea, p_limit int, p_response jsonb) returns text
language plpgsql volatile as $function$
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  if exists (select 1 from organization_clocks c where c.organization_id = p_organization_id and c.away is not null) then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = (select c.away from organization_clocks c where c.organization_id = p_organization_id);
  end if;
  if p_response is not null then
    perform 1 from idempotency_keys k where k.organization_id = p_organization_id
      and k.api_key_id = (p_response->>'api_key_id')::uuid and k.method = p_response->>'method' and k.path = p_response->>'path'
      and k.key between p_response->>'key' and p_response->>'key' and k.created_at > p_now - interval '24 hours' order by k.key limit 1;
    if found then
      return 'replayed';
    end if;
  end if;
  if not exists (select 1 from api_keys k where k.organization_id = p_organization_id
      and k.id = (p_row->>'api_key_id')::uuid and (k.expires_at is null or k.expires_at > p_now)) then
    return 'registrant_gone';
  end if;
  perform 1 from webhooks w where w.organization_id = p_organization_id
    and w.subscription_id = p_row->>'subscription_id';
  if found then
    return 'conflict';
  end if;
  if (select count(*) from webhooks w where w.organization_id = p_organization_id
    and (w.subscription_id is null) = (p_row->>'subscription_id' is null)) >= p_limit then
    return 'limit_reached';
  end if;
  if p_sealed_with is not null then
    perform 1 from installation i where i.singleton and (i.key_check is null or i.key_check = p_sealed_with) for share;
    if not found then
      raise exception 'sealed with another encryption key than the database names'
        using errcode = 'DW002';
    end if;
  end if;
  if decode(p_response->>'sealed_with', 'hex') is not null then
    perform 1 from installation i where i.singleton and (i.key_check is null or i.key_check = decode(p_response->>'sealed_with', 'hex')) for share;
    if not found then
      raise exception 'sealed with another encryption key than the database names'
        using errcode = 'DW002';
    end if;
  end if;
  if p_response is not null then
    with stored as (
      insert into idempotency_keys (organization_id, api_key_id, method, path, key, request_hash, status, subject_id, body, sealed,
          created_at, counted)
        select p_organization_id, s.api_key_id, s.method, s.path, s.key, s.request_hash, s.status, s.subject_id, s.body, s.sealed, p_now,
            coalesce(octet_length(s.body), octet_length(s.sealed), 0)
          from (select (p_response->>'api_key_id')::uuid as api_key_id, p_response->>'method' as method,
              p_response->>'path' as path, p_response->>'key' as key, decode(p_response->>'request_hash', 'hex') as request_hash,
              (p_response->>'status')::int as status, p_webhook_id as subject_id,
              p_response->>'body' as body, decode(p_response->>'sealed', 'hex') as sealed) s
        on conflict (organization_id, api_key_id, method, path, key) do update
          set request_hash = excluded.request_hash, status = excluded.status, subject_id = excluded.subject_id,
            body = excluded.body, sealed = excluded.sealed, created_at = excluded.created_at,
            counted = idempotency_keys.counted + excluded.counted
        returning coalesce(octet_length(body), octet_length(sealed), 0) as bytes)
    insert into kind_counters as c (organization_id, kind, live_count, digest, content_digest, last_number, stored_bytes)
      select p_organization_id, 'stored response', 0, 0, 0, 0, sum(s.bytes) from stored s having count(s.bytes) > 0
      on conflict (organization_id, kind) do update set stored_bytes = c.stored_bytes + excluded.stored_bytes;
  end if;
  insert into webhooks (organization_id, id, url, description, events, signatures, options, sealed_headers, status, api_key_id,
      console_link_id, subscription_id, ends_at, created_at, updated_at)
    select p_organization_id, p_webhook_id, r.url, r.description, r.events, r.signatures, r.options, decode(r.sealed_headers, 'hex'),
        'active', r.api_key_id, r.console_link_id, r.subscription_id, r.ends_at, p_now, p_now
      from jsonb_to_record(p_row) as r(url text, description text, events text[], signatures text[], options jsonb,
        sealed_headers text, api_key_id uuid, console_link_id uuid, subscription_id text, ends_at timestamptz);
  insert into webhook_secrets (organization_id, webhook_id, id, sealed, created_at)
    values (p_organization_id, p_webhook_id, p_secret_id, p_sealed, p_now);
  insert into webhook_health (organization_id, webhook_id) values (p_organization_id, p_webhook_id);
  insert into endpoint_queues (organization_id, webhook_id) values (p_organization_id, p_webhook_id);
  if p_row ? 'position' then
    insert into recoveries (organization_id, webhook_id, id, since, until, created_at, position, due_at)
      select p_organization_id, p_webhook_id, (p_row->>'recovery_id')::uuid, least((p_row->>'since')::timestamptz, p_now), greatest(c.last_stamp, p_now), p_now, (p_row->>'position')::uuid, p_now
        from organization_clocks c where c.organization_id = p_organization_id;
  end if;
  return 'done';
end;
$function$;

create or replace function refresh_subscription_5ef91d564334(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_ends_at timestamptz, p_secret_id uuid, p_sealed bytea, p_sealed_with bytea, p_expires_at timestamptz, p_recovery_id uuid, p_log_begin timestamptz) returns text
language plpgsql volatile as $function$
declare
  v_since timestamptz;
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  if exists (select 1 from organization_clocks c where c.organization_id = p_organization_id and c.away is not null) then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = (select c.away from organization_clocks c where c.organization_id = p_organization_id);
  end if;
  select missed_since_55ca2aa7091c(p_organization_id, p_webhook_id, p_now, p_log_begin)
    into v_since from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id;
  update webhooks w set ends_at = p_ends_at, status = 'active', disabled_reason = null, disabled_at = null,
      gap_since = coalesce(w.gap_since, w.disabled_at),
      gap_until = case when w.disabled_at is null then w.gap_until else p_now end,
      updated_at = greatest(millisecond_after(w.updated_at), p_now)
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.subscription_id is not null
      and w.ends_at > p_now and w.disabled_reason is distinct from 'registrant_revoked';
  if not found then
    return 'conflict';
  end if;
  if p_sealed_with is not null then
    perform 1 from installation i where i.singleton and (i.key_check is null or i.key_check = p_sealed_with) for share;
    if not found then
      raise exception 'sealed with another encryption key than the database names'
        using errcode = 'DW002';
    end if;
  end if;
  if p_sealed is not null then
    delete from webhook_secrets where organization_id = p_organization_id and webhook_id = p_webhook_id
      and expires_at is not null;
    update webhook_secrets set expires_at = p_expires_at
      where organization_id = p_organization_id and webhook_id = p_webhook_id;
    insert into webhook_secrets (organization_id, webhook_id, id, sealed, created_at)
    select p_organization_id, p_webhook_id, p_secret_id, p_sealed,
        greatest(p_now, max(s.created_at) + interval '1 millisecond')
      from webhook_secrets s where s.organization_id = p_organization_id and s.webhook_id = p_webhook_id;
  end if;
  perform 1 from recoveries r where r.organization_id = p_organization_id and r.webhook_id = p_webhook_id
    and r.finished_at is null;
  if v_since is not null and not found then
    insert into recoveries (organization_id, webhook_id, id, since, until, created_at, position, due_at)
      select p_organization_id, p_webhook_id, p_recovery_id, least(v_since, p_now), greatest(c.last_stamp, p_now), p_now, first_uuid_v7(least(v_since, p_now)), p_now
        from organization_clocks c where c.organization_id = p_organization_id;
    update webhooks set gap_since = null, gap_until = null
    where organization_id = p_organization_id and id = p_webhook_id;
  end if;
  perform wake_queues_9ecb59d30a87(p_organization_id, array[p_webhook_id], p_now);
  update webhook_health set failure_count = 0, failing_since = null
    where organization_id = p_organization_id and webhook_id = p_webhook_id;
  return 'done';
end;
$function$;

create or replace function update_webhook_637c3093f21d(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_expected timestamptz, p_row jsonb, p_reset boolean, p_registers boolean) returns text
language plpgsql volatile as $function$
declare
  r record;
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  if exists (select 1 from organization_clocks c where c.organization_id = p_organization_id and c.away is not null) then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = (select c.away from organization_clocks c where c.organization_id = p_organization_id);
  end if;
  if p_registers and not exists (select 1 from api_keys k where k.organization_id = p_organization_id
      and k.id = (p_row->>'api_key_id')::uuid and (k.expires_at is null or k.expires_at > p_now)) then
    return 'registrant_gone';
  end if;
  if decode(p_row->>'sealed_with', 'hex') is not null then
    perform 1 from installation i where i.singleton and (i.key_check is null or i.key_check = decode(p_row->>'sealed_with', 'hex')) for share;
    if not found then
      raise exception 'sealed with another encryption key than the database names'
        using errcode = 'DW002';
    end if;
  end if;
  select x.url, x.description, x.events, x.signatures, x.options, x.sealed_headers, x.status, x.disabled_reason, x.disabled_at, x.gap_since, x.gap_until,
      x.api_key_id, x.console_link_id, x.updated_at into r
    from jsonb_to_record(p_row) as x(url text, description text, events text[], signatures text[],
      options jsonb, sealed_headers text, status text, disabled_reason text, disabled_at timestamptz, gap_since timestamptz, gap_until timestamptz,
      api_key_id uuid, console_link_id uuid, updated_at timestamptz);
  update webhooks w set url = r.url, description = r.description, events = r.events, signatures = r.signatures,
      options = r.options, sealed_headers = case when p_row ? 'sealed_headers' then decode(r.sealed_headers, 'hex')
        when r.options ? 'headers' then w.sealed_headers end,
      status = r.status, disabled_reason = r.disabled_reason, disabled_at = r.disabled_at, gap_since = r.gap_since,
      gap_until = r.gap_until, api_key_id = r.api_key_id, console_link_id = r.console_link_id,
      updated_at = r.updated_at
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.updated_at = p_expected;
  if not found then
    return 'conflict';
  end if;
  perform wake_queues_9ecb59d30a87(p_organization_id, array[p_webhook_id], p_now);
  if p_reset then
    update webhook_health set failure_count = 0, failing_since = null
    where organization_id = p_organization_id and webhook_id = p_webhook_id;
  end if;
  return 'done';
end;
$function$;

create or replace function delete_webhook_3b3aef4fa6c1(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz) returns boolean
language plpgsql volatile as $function$
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  if exists (select 1 from organization_clocks c where c.organization_id = p_organization_id and c.away is not null) then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = (select c.away from organization_clocks c where c.organization_id = p_organization_id);
  end if;
  perform 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id for update;
  perform 1 from endpoint_queues l where l.organization_id = p_organization_id and l.webhook_id = p_webhook_id for update;
  delete from webhooks where organization_id = p_organization_id and id = p_webhook_id;
  if not found then
    return false;
  end if;
  insert into removed_webhooks (organization_id, webhook_id, removed_at)
    values (p_organization_id, p_webhook_id, p_now);
  return true;
end;
$function$;

create or replace function rotate_webhook_secret_5b36e585bedd(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_expected timestamptz, p_updated_at timestamptz, p_secret_id uuid, p_sealed bytea, p_sealed_with bytea, p_expires_at timestamptz, p_limit int, p_response jsonb) returns text
language plpgsql volatile as $function$
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  if exists (select 1 from organization_clocks c where c.organization_id = p_organization_id and c.away is not null) then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = (select c.away from organization_clocks c where c.organization_id = p_organization_id);
  end if;
  if p_response is not null then
    perform 1 from idempotency_keys k where k.organization_id = p_organization_id
      and k.api_key_id = (p_response->>'api_key_id')::uuid and k.method = p_response->>'method' and k.path = p_response->>'path'
      and k.key between p_response->>'key' and p_response->>'key' and k.created_at > p_now - interval '24 hours' order by k.key limit 1;
    if found then
      return 'replayed';
    end if;
  end if;
  perform 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id
    and w.updated_at = p_expected;
  if not found then
    return 'conflict';
  end if;
  if (select count(*) from webhook_secrets s where s.organization_id = p_organization_id
    and s.webhook_id = p_webhook_id and (s.expires_at is null or s.expires_at > p_now)) >= p_limit then
    return 'limit_reached';
  end if;
  if p_sealed_with is not null then
    perform 1 from installation i where i.singleton and (i.key_check is null or i.key_check = p_sealed_with) for share;
    if not found then
      raise exception 'sealed with another encryption key than the database names'
        using errcode = 'DW002';
    end if;
  end if;
  if decode(p_response->>'sealed_with', 'hex') is not null then
    perform 1 from installation i where i.singleton and (i.key_check is null or i.key_check = decode(p_response->>'sealed_with', 'hex')) for share;
    if not found then
      raise exception 'sealed with another encryption key than the database names'
        using errcode = 'DW002';
    end if;
  end if;
  if p_response is not null then
    with stored as (
      insert into idempotency_keys (organization_id, api_key_id, method, path, key, request_hash, status, subject_id, body, sealed,
          created_at, counted)
        select p_organization_id, s.api_key_id, s.method, s.path, s.key, s.request_hash, s.status, s.subject_id, s.body, s.sealed, p_now,
            coalesce(octet_length(s.body), octet_length(s.sealed), 0)
          from (select (p_response->>'api_key_id')::uuid as api_key_id, p_response->>'method' as method,
              p_response->>'path' as path, p_response->>'key' as key, decode(p_response->>'request_hash', 'hex') as request_hash,
              (p_response->>'status')::int as status, p_webhook_id as subject_id,
              p_response->>'body' as body, decode(p_response->>'sealed', 'hex') as sealed) s
        on conflict (organization_id, api_key_id, method, path, key) do update
          set request_hash = excluded.request_hash, status = excluded.status, subject_id = excluded.subject_id,
            body = excluded.body, sealed = excluded.sealed, created_at = excluded.created_at,
            counted = idempotency_keys.counted + excluded.counted
        returning coalesce(octet_length(body), octet_length(sealed), 0) as bytes)
    insert into kind_counters as c (organization_id, kind, live_count, digest, content_digest, last_number, stored_bytes)
      select p_organization_id, 'stored response', 0, 0, 0, 0, sum(s.bytes) from stored s having count(s.bytes) > 0
      on conflict (organization_id, kind) do update set stored_bytes = c.stored_bytes + excluded.stored_bytes;
  end if;
  delete from webhook_secrets where organization_id = p_organization_id and webhook_id = p_webhook_id
    and expires_at <= p_now;
  update webhook_secrets set expires_at = p_expires_at
    where organization_id = p_organization_id and webhook_id = p_webhook_id and expires_at is null;
  insert into webhook_secrets (organization_id, webhook_id, id, sealed, created_at)
    select p_organization_id, p_webhook_id, p_secret_id, p_sealed,
        greatest(p_now, max(s.created_at) + interval '1 millisecond')
      from webhook_secrets s where s.organization_id = p_organization_id and s.webhook_id = p_webhook_id;
  update webhooks set updated_at = p_updated_at where organization_id = p_organization_id and id = p_webhook_id;
  return 'done';
end;
$function$;

create or replace function drop_previous_secrets_a69acaf0b5e2(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz) returns boolean
language plpgsql volatile as $function$
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  if exists (select 1 from organization_clocks c where c.organization_id = p_organization_id and c.away is not null) then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = (select c.away from organization_clocks c where c.organization_id = p_organization_id);
  end if;
  update webhooks w set updated_at = greatest(millisecond_after(w.updated_at), p_now)
    where w.organization_id = p_organization_id and w.id = p_webhook_id
      and exists (select 1 from webhook_secrets s where s.organization_id = p_organization_id
        and s.webhook_id = p_webhook_id and s.expires_at > p_now);
  delete from webhook_secrets where organization_id = p_organization_id and webhook_id = p_webhook_id
    and expires_at is not null;
  return exists (select 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id);
end;
$function$;

create or replace function ping_webhook_c180b36f73e2(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_event_id uuid, p_delivery_id uuid, p_response jsonb) returns text
language plpgsql volatile as $function$
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  if exists (select 1 from organization_clocks c where c.organization_id = p_organization_id and c.away is not null) then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = (select c.away from organization_clocks c where c.organization_id = p_organization_id);
  end if;
  if p_response is not null then
    perform 1 from idempotency_keys k where k.organization_id = p_organization_id
      and k.api_key_id = (p_response->>'api_key_id')::uuid and k.method = p_response->>'method' and k.path = p_response->>'path'
      and k.key between p_response->>'key' and p_response->>'key' and k.created_at > p_now - interval '24 hours' order by k.key limit 1;
    if found then
      return 'replayed';
    end if;
  end if;
  perform 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id;
  if not found then
    return 'missing';
  end if;
  if decode(p_response->>'sealed_with', 'hex') is not null then
    perform 1 from installation i where i.singleton and (i.key_check is null or i.key_check = decode(p_response->>'sealed_with', 'hex')) for share;
    if not found then
      raise exception 'sealed with another encryption key than the database names'
        using errcode = 'DW002';
    end if;
  end if;
  if p_response is not null then
    with stored as (
      insert into idempotency_keys (organization_id, api_key_id, method, path, key, request_hash, status, subject_id, body, sealed,
          created_at, counted)
        select p_organization_id, s.api_key_id, s.method, s.path, s.key, s.request_hash, s.status, s.subject_id, s.body, s.sealed, p_now,
            coalesce(octet_length(s.body), octet_length(s.sealed), 0)
          from (select (p_response->>'api_key_id')::uuid as api_key_id, p_response->>'method' as method,
              p_response->>'path' as path, p_response->>'key' as key, decode(p_response->>'request_hash', 'hex') as request_hash,
              (p_response->>'status')::int as status, p_webhook_id as subject_id,
              p_response->>'body' as body, decode(p_response->>'sealed', 'hex') as sealed) s
        on conflict (organization_id, api_key_id, method, path, key) do update
          set request_hash = excluded.request_hash, status = excluded.status, subject_id = excluded.subject_id,
            body = excluded.body, sealed = excluded.sealed, created_at = excluded.created_at,
            counted = idempotency_keys.counted + excluded.counted
        returning coalesce(octet_length(body), octet_length(sealed), 0) as bytes)
    insert into kind_counters as c (organization_id, kind, live_count, digest, content_digest, last_number, stored_bytes)
      select p_organization_id, 'stored response', 0, 0, 0, 0, sum(s.bytes) from stored s having count(s.bytes) > 0
      on conflict (organization_id, kind) do update set stored_bytes = c.stored_bytes + excluded.stored_bytes;
  end if;
  insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
    values (p_organization_id, p_event_id, 'ping', p_now, 'webhook', p_webhook_id, '{}');
  insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at, subject_kind,
        subject_id, status, payload, attempt_count, max_attempts, last_error_code, last_error_message, next_attempt_at, created_at, updated_at)
      select p_organization_id, p_delivery_id, p_webhook_id, 'infinity', e.id, e.type, e.created_at, e.subject_kind,
          e.subject_id, 'pending', 'current', 0, 1, null, null, p_now, p_now, p_now
        from events e where e.organization_id = p_organization_id and e.id = p_event_id;
  perform wake_queues_9ecb59d30a87(p_organization_id, array[p_webhook_id], p_now);
  return 'done';
end;
$function$;

create or replace function retry_delivery_c1fd58b77eef(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_delivery_id uuid, p_updated_at timestamptz, p_attempts int, p_response jsonb) returns text
language plpgsql volatile as $function$
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  if exists (select 1 from organization_clocks c where c.organization_id = p_organization_id and c.away is not null) then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = (select c.away from organization_clocks c where c.organization_id = p_organization_id);
  end if;
  if p_response is not null then
    perform 1 from idempotency_keys k where k.organization_id = p_organization_id
      and k.api_key_id = (p_response->>'api_key_id')::uuid and k.method = p_response->>'method' and k.path = p_response->>'path'
      and k.key between p_response->>'key' and p_response->>'key' and k.created_at > p_now - interval '24 hours' order by k.key limit 1;
    if found then
      return 'replayed';
    end if;
  end if;
  perform 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id
    and w.status = 'active';
  if not found then
    return 'refused';
  end if;
  perform 1 from deliveries d
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
      and d.id = p_delivery_id and d.log_day < 'infinity' and d.status = 'failed'
      and not exists (select 1 from deliveries o where o.organization_id = p_organization_id
        and o.webhook_id = p_webhook_id and o.event_id = d.event_id and o.log_day = 'infinity');
  if not found then
    return 'refused';
  end if;
  if decode(p_response->>'sealed_with', 'hex') is not null then
    perform 1 from installation i where i.singleton and (i.key_check is null or i.key_check = decode(p_response->>'sealed_with', 'hex')) for share;
    if not found then
      raise exception 'sealed with another encryption key than the database names'
        using errcode = 'DW002';
    end if;
  end if;
  if p_response is not null then
    with stored as (
      insert into idempotency_keys (organization_id, api_key_id, method, path, key, request_hash, status, subject_id, body, sealed,
          created_at, counted)
        select p_organization_id, s.api_key_id, s.method, s.path, s.key, s.request_hash, s.status, s.subject_id, s.body, s.sealed, p_now,
            coalesce(octet_length(s.body), octet_length(s.sealed), 0)
          from (select (p_response->>'api_key_id')::uuid as api_key_id, p_response->>'method' as method,
              p_response->>'path' as path, p_response->>'key' as key, decode(p_response->>'request_hash', 'hex') as request_hash,
              (p_response->>'status')::int as status, p_webhook_id as subject_id,
              p_response->>'body' as body, decode(p_response->>'sealed', 'hex') as sealed) s
        on conflict (organization_id, api_key_id, method, path, key) do update
          set request_hash = excluded.request_hash, status = excluded.status, subject_id = excluded.subject_id,
            body = excluded.body, sealed = excluded.sealed, created_at = excluded.created_at,
            counted = idempotency_keys.counted + excluded.counted
        returning coalesce(octet_length(body), octet_length(sealed), 0) as bytes)
    insert into kind_counters as c (organization_id, kind, live_count, digest, content_digest, last_number, stored_bytes)
      select p_organization_id, 'stored response', 0, 0, 0, 0, sum(s.bytes) from stored s having count(s.bytes) > 0
      on conflict (organization_id, kind) do update set stored_bytes = c.stored_bytes + excluded.stored_bytes;
  end if;
  update deliveries set status = 'pending', payload = 'stored', attempts_before = attempt_count,
      max_attempts = attempt_count + p_attempts, next_attempt_at = p_now, log_day = 'infinity',
      updated_at = p_updated_at
    where organization_id = p_organization_id and webhook_id = p_webhook_id and id = p_delivery_id
      and log_day < 'infinity' and status = 'failed';
  perform wake_queues_9ecb59d30a87(p_organization_id, array[p_webhook_id], p_now);
  return 'done';
end;
$function$;

create or replace function resend_delivery_affb6c7f1858(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_delivery_id uuid, p_new_id uuid, p_attempts int, p_response jsonb) returns text
language plpgsql volatile as $function$
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  if exists (select 1 from organization_clocks c where c.organization_id = p_organization_id and c.away is not null) then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = (select c.away from organization_clocks c where c.organization_id = p_organization_id);
  end if;
  if p_response is not null then
    perform 1 from idempotency_keys k where k.organization_id = p_organization_id
      and k.api_key_id = (p_response->>'api_key_id')::uuid and k.method = p_response->>'method' and k.path = p_response->>'path'
      and k.key between p_response->>'key' and p_response->>'key' and k.created_at > p_now - interval '24 hours' order by k.key limit 1;
    if found then
      return 'replayed';
    end if;
  end if;
  perform 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id
    and w.status = 'active';
  if not found then
    return 'refused';
  end if;
  perform 1 from deliveries d
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
      and d.id = p_delivery_id and d.log_day < 'infinity' and d.status = 'succeeded'
      and not exists (select 1 from deliveries o where o.organization_id = p_organization_id
        and o.webhook_id = p_webhook_id and o.event_id = d.event_id and o.log_day = 'infinity');
  if not found then
    return 'refused';
  end if;
  if decode(p_response->>'sealed_with', 'hex') is not null then
    perform 1 from installation i where i.singleton and (i.key_check is null or i.key_check = decode(p_response->>'sealed_with', 'hex')) for share;
    if not found then
      raise exception 'sealed with another encryption key than the database names'
        using errcode = 'DW002';
    end if;
  end if;
  if p_response is not null then
    with stored as (
      insert into idempotency_keys (organization_id, api_key_id, method, path, key, request_hash, status, subject_id, body, sealed,
          created_at, counted)
        select p_organization_id, s.api_key_id, s.method, s.path, s.key, s.request_hash, s.status, s.subject_id, s.body, s.sealed, p_now,
            coalesce(octet_length(s.body), octet_length(s.sealed), 0)
          from (select (p_response->>'api_key_id')::uuid as api_key_id, p_response->>'method' as method,
              p_response->>'path' as path, p_response->>'key' as key, decode(p_response->>'request_hash', 'hex') as request_hash,
              (p_response->>'status')::int as status, p_webhook_id as subject_id,
              p_response->>'body' as body, decode(p_response->>'sealed', 'hex') as sealed) s
        on conflict (organization_id, api_key_id, method, path, key) do update
          set request_hash = excluded.request_hash, status = excluded.status, subject_id = excluded.subject_id,
            body = excluded.body, sealed = excluded.sealed, created_at = excluded.created_at,
            counted = idempotency_keys.counted + excluded.counted
        returning coalesce(octet_length(body), octet_length(sealed), 0) as bytes)
    insert into kind_counters as c (organization_id, kind, live_count, digest, content_digest, last_number, stored_bytes)
      select p_organization_id, 'stored response', 0, 0, 0, 0, sum(s.bytes) from stored s having count(s.bytes) > 0
      on conflict (organization_id, kind) do update set stored_bytes = c.stored_bytes + excluded.stored_bytes;
  end if;
  insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at, subject_kind,
        subject_id, status, payload, attempt_count, max_attempts, last_error_code, last_error_message, next_attempt_at, created_at, updated_at)
      select p_organization_id, p_new_id, p_webhook_id, 'infinity', e.id, e.type, e.created_at, e.subject_kind,
          e.subject_id, 'pending', 'current', 0, p_attempts, null, null, p_now, p_now, p_now
        from (select d.event_id as id, d.event_type as type, d.event_created_at as created_at, d.subject_kind, d.subject_id
          from deliveries d where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
            and d.id = p_delivery_id and d.log_day < 'infinity') e;
  perform wake_queues_9ecb59d30a87(p_organization_id, array[p_webhook_id], p_now);
  return 'done';
end;
$function$;

create or replace function read_log_1cfffe60a7df(p_organization_id uuid, p_webhook_id uuid, p_status text, p_event_type text, p_since timestamptz, p_after timestamptz, p_before timestamptz, p_event_id uuid, p_limit bigint, p_offset bigint) returns table (id uuid, webhook_id uuid, event_id uuid, event_type text, status text, attempt_count int, max_attempts int, response_status int, last_error_code text, last_error_message text, duration_ms int, last_attempt_at timestamptz, next_attempt_at timestamptz, delivered_at timestamptz, created_at timestamptz, updated_at timestamptz)
language plpgsql volatile set plan_cache_mode = force_generic_plan set enable_sort = off as $function$
#variable_conflict use_column
begin
  if p_event_id is not null then
      return query select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from deliveries d
          where d.organization_id = p_organization_id and d.event_id = p_event_id
            and (d.log_day = 'infinity' or d.log_day >= (p_since::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity' and d.id >= first_uuid_v7(p_since::timestamptz + interval '1 millisecond'))
            and (p_webhook_id is null or d.webhook_id = p_webhook_id)
            and (p_status is null or d.status = p_status or p_status = 'undelivered' and d.status in ('pending', 'failed'))
            and (p_event_type is null or d.event_type = p_event_type)
            and (p_after is null or d.created_at > p_after) and (p_before is null or d.created_at < p_before)
          order by d.event_id desc, d.webhook_id desc) d join webhooks w on w.organization_id = p_organization_id and w.id = d.webhook_id order by d.id desc limit p_limit offset p_offset;
  elsif p_status is not distinct from null
        and (p_event_type is not null) = false then
      return query select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from (
          select w.id as webhook_id, f.id, f.log_day from webhooks w cross join lateral (select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day = 'infinity'
          and (d.id) >= (first_uuid_v7(greatest(p_after, 'epoch')::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit p_offset + p_limit) f union all select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.id) >= (first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit p_offset + p_limit) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id)
            order by f.id desc limit p_limit offset p_offset) f
        cross join lateral (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from deliveries d where d.organization_id = p_organization_id
          and d.webhook_id = f.webhook_id and d.log_day = f.log_day and d.id >= f.id and d.id <= f.id order by d.id limit 1) d
        order by f.id desc;
  elsif p_status is not distinct from null
        and (p_event_type is not null) = true then
      return query select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from (
          select w.id as webhook_id, f.id, f.log_day from webhooks w cross join lateral (select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day = 'infinity' and d.event_type = p_event_type
          and (d.id) >= (first_uuid_v7(greatest(p_after, 'epoch')::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit p_offset + p_limit) f union all select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.event_type, d.status, d.id) >= (p_event_type, 'succeeded', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.event_type, d.status, d.id) <= (p_event_type, 'succeeded', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.event_type desc, d.status desc, d.id desc limit p_offset + p_limit) f union all select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.event_type, d.status, d.id) >= (p_event_type, 'failed', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.event_type, d.status, d.id) <= (p_event_type, 'failed', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.event_type desc, d.status desc, d.id desc limit p_offset + p_limit) f union all select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.event_type, d.status, d.id) >= (p_event_type, 'skipped', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.event_type, d.status, d.id) <= (p_event_type, 'skipped', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.event_type desc, d.status desc, d.id desc limit p_offset + p_limit) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id)
            order by f.id desc limit p_limit offset p_offset) f
        cross join lateral (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from deliveries d where d.organization_id = p_organization_id
          and d.webhook_id = f.webhook_id and d.log_day = f.log_day and d.id >= f.id and d.id <= f.id order by d.id limit 1) d
        order by f.id desc;
  elsif p_status is not distinct from 'pending'
        and (p_event_type is not null) = false then
      return query select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from (
          select w.id as webhook_id, f.id, f.log_day from webhooks w cross join lateral (select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day = 'infinity'
          and (d.id) >= (first_uuid_v7(greatest(p_after, 'epoch')::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit p_offset + p_limit) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id)
            order by f.id desc limit p_limit offset p_offset) f
        cross join lateral (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from deliveries d where d.organization_id = p_organization_id
          and d.webhook_id = f.webhook_id and d.log_day = f.log_day and d.id >= f.id and d.id <= f.id order by d.id limit 1) d
        order by f.id desc;
  elsif p_status is not distinct from 'pending'
        and (p_event_type is not null) = true then
      return query select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from (
          select w.id as webhook_id, f.id, f.log_day from webhooks w cross join lateral (select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day = 'infinity' and d.event_type = p_event_type
          and (d.id) >= (first_uuid_v7(greatest(p_after, 'epoch')::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit p_offset + p_limit) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id)
            order by f.id desc limit p_limit offset p_offset) f
        cross join lateral (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from deliveries d where d.organization_id = p_organization_id
          and d.webhook_id = f.webhook_id and d.log_day = f.log_day and d.id >= f.id and d.id <= f.id order by d.id limit 1) d
        order by f.id desc;
  elsif p_status is not distinct from 'succeeded'
        and (p_event_type is not null) = false then
      return query select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from (
          select w.id as webhook_id, f.id, f.log_day from webhooks w cross join lateral (select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity' and d.status = 'succeeded'
          and (d.id) >= (first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit p_offset + p_limit) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id)
            order by f.id desc limit p_limit offset p_offset) f
        cross join lateral (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from deliveries d where d.organization_id = p_organization_id
          and d.webhook_id = f.webhook_id and d.log_day = f.log_day and d.id >= f.id and d.id <= f.id order by d.id limit 1) d
        order by f.id desc;
  elsif p_status is not distinct from 'succeeded'
        and (p_event_type is not null) = true then
      return query select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from (
          select w.id as webhook_id, f.id, f.log_day from webhooks w cross join lateral (select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.event_type, d.status, d.id) >= (p_event_type, 'succeeded', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.event_type, d.status, d.id) <= (p_event_type, 'succeeded', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.event_type desc, d.status desc, d.id desc limit p_offset + p_limit) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id)
            order by f.id desc limit p_limit offset p_offset) f
        cross join lateral (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from deliveries d where d.organization_id = p_organization_id
          and d.webhook_id = f.webhook_id and d.log_day = f.log_day and d.id >= f.id and d.id <= f.id order by d.id limit 1) d
        order by f.id desc;
  elsif p_status is not distinct from 'failed'
        and (p_event_type is not null) = false then
      return query select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from (
          select w.id as webhook_id, f.id, f.log_day from webhooks w cross join lateral (select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity' and d.status in ('failed', 'skipped')
          and (d.status, d.id) >= ('failed', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.status, d.id) <= ('failed', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.status desc, d.id desc limit p_offset + p_limit) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id)
            order by f.id desc limit p_limit offset p_offset) f
        cross join lateral (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from deliveries d where d.organization_id = p_organization_id
          and d.webhook_id = f.webhook_id and d.log_day = f.log_day and d.id >= f.id and d.id <= f.id order by d.id limit 1) d
        order by f.id desc;
  elsif p_status is not distinct from 'failed'
        and (p_event_type is not null) = true then
      return query select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from (
          select w.id as webhook_id, f.id, f.log_day from webhooks w cross join lateral (select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.event_type, d.status, d.id) >= (p_event_type, 'failed', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.event_type, d.status, d.id) <= (p_event_type, 'failed', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.event_type desc, d.status desc, d.id desc limit p_offset + p_limit) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id)
            order by f.id desc limit p_limit offset p_offset) f
        cross join lateral (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from deliveries d where d.organization_id = p_organization_id
          and d.webhook_id = f.webhook_id and d.log_day = f.log_day and d.id >= f.id and d.id <= f.id order by d.id limit 1) d
        order by f.id desc;
  elsif p_status is not distinct from 'skipped'
        and (p_event_type is not null) = false then
      return query select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from (
          select w.id as webhook_id, f.id, f.log_day from webhooks w cross join lateral (select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity' and d.status in ('failed', 'skipped')
          and (d.status, d.id) >= ('skipped', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.status, d.id) <= ('skipped', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.status desc, d.id desc limit p_offset + p_limit) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id)
            order by f.id desc limit p_limit offset p_offset) f
        cross join lateral (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from deliveries d where d.organization_id = p_organization_id
          and d.webhook_id = f.webhook_id and d.log_day = f.log_day and d.id >= f.id and d.id <= f.id order by d.id limit 1) d
        order by f.id desc;
  elsif p_status is not distinct from 'skipped'
        and (p_event_type is not null) = true then
      return query select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from (
          select w.id as webhook_id, f.id, f.log_day from webhooks w cross join lateral (select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.event_type, d.status, d.id) >= (p_event_type, 'skipped', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.event_type, d.status, d.id) <= (p_event_type, 'skipped', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.event_type desc, d.status desc, d.id desc limit p_offset + p_limit) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id)
            order by f.id desc limit p_limit offset p_offset) f
        cross join lateral (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from deliveries d where d.organization_id = p_organization_id
          and d.webhook_id = f.webhook_id and d.log_day = f.log_day and d.id >= f.id and d.id <= f.id order by d.id limit 1) d
        order by f.id desc;
  elsif p_status is not distinct from 'undelivered'
        and (p_event_type is not null) = false then
      return query select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from (
          select w.id as webhook_id, f.id, f.log_day from webhooks w cross join lateral (select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day = 'infinity'
          and (d.id) >= (first_uuid_v7(greatest(p_after, 'epoch')::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit p_offset + p_limit) f union all select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity' and d.status in ('failed', 'skipped')
          and (d.status, d.id) >= ('failed', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.status, d.id) <= ('failed', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.status desc, d.id desc limit p_offset + p_limit) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id)
            order by f.id desc limit p_limit offset p_offset) f
        cross join lateral (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from deliveries d where d.organization_id = p_organization_id
          and d.webhook_id = f.webhook_id and d.log_day = f.log_day and d.id >= f.id and d.id <= f.id order by d.id limit 1) d
        order by f.id desc;
  elsif p_status is not distinct from 'undelivered'
        and (p_event_type is not null) = true then
      return query select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from (
          select w.id as webhook_id, f.id, f.log_day from webhooks w cross join lateral (select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day = 'infinity' and d.event_type = p_event_type
          and (d.id) >= (first_uuid_v7(greatest(p_after, 'epoch')::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit p_offset + p_limit) f union all select f.id, f.log_day from (select d.id, d.log_day from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.event_type, d.status, d.id) >= (p_event_type, 'failed', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.event_type, d.status, d.id) <= (p_event_type, 'failed', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.event_type desc, d.status desc, d.id desc limit p_offset + p_limit) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id)
            order by f.id desc limit p_limit offset p_offset) f
        cross join lateral (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from deliveries d where d.organization_id = p_organization_id
          and d.webhook_id = f.webhook_id and d.log_day = f.log_day and d.id >= f.id and d.id <= f.id order by d.id limit 1) d
        order by f.id desc;
  end if;
end;
$function$;

create or replace function count_log_f59c5e8bede3(p_organization_id uuid, p_webhook_id uuid, p_status text, p_event_type text, p_since timestamptz, p_after timestamptz, p_before timestamptz, p_event_id uuid) returns bigint
language plpgsql volatile set plan_cache_mode = force_generic_plan set enable_sort = off as $function$
#variable_conflict use_column
begin
  if p_event_id is not null then
      return (select count(*) from (select 1 from (select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts, d.response_status, d.last_error_code, d.last_error_message, d.duration_ms, d.last_attempt_at, d.next_attempt_at, d.delivered_at, d.created_at, d.updated_at from deliveries d
          where d.organization_id = p_organization_id and d.event_id = p_event_id
            and (d.log_day = 'infinity' or d.log_day >= (p_since::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity' and d.id >= first_uuid_v7(p_since::timestamptz + interval '1 millisecond'))
            and (p_webhook_id is null or d.webhook_id = p_webhook_id)
            and (p_status is null or d.status = p_status or p_status = 'undelivered' and d.status in ('pending', 'failed'))
            and (p_event_type is null or d.event_type = p_event_type)
            and (p_after is null or d.created_at > p_after) and (p_before is null or d.created_at < p_before)
          order by d.event_id desc, d.webhook_id desc) d join webhooks w on w.organization_id = p_organization_id and w.id = d.webhook_id limit 10001) c);
  elsif p_status is not distinct from null
        and (p_event_type is not null) = false then
      return (select count(*) from (select 1 from webhooks w cross join lateral (select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day = 'infinity'
          and (d.id) >= (first_uuid_v7(greatest(p_after, 'epoch')::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit 10001) f union all select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.id) >= (first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit 10001) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id) limit 10001) c);
  elsif p_status is not distinct from null
        and (p_event_type is not null) = true then
      return (select count(*) from (select 1 from webhooks w cross join lateral (select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day = 'infinity' and d.event_type = p_event_type
          and (d.id) >= (first_uuid_v7(greatest(p_after, 'epoch')::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit 10001) f union all select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.event_type, d.status, d.id) >= (p_event_type, 'succeeded', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.event_type, d.status, d.id) <= (p_event_type, 'succeeded', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.event_type desc, d.status desc, d.id desc limit 10001) f union all select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.event_type, d.status, d.id) >= (p_event_type, 'failed', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.event_type, d.status, d.id) <= (p_event_type, 'failed', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.event_type desc, d.status desc, d.id desc limit 10001) f union all select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.event_type, d.status, d.id) >= (p_event_type, 'skipped', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.event_type, d.status, d.id) <= (p_event_type, 'skipped', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.event_type desc, d.status desc, d.id desc limit 10001) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id) limit 10001) c);
  elsif p_status is not distinct from 'pending'
        and (p_event_type is not null) = false then
      return (select count(*) from (select 1 from webhooks w cross join lateral (select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day = 'infinity'
          and (d.id) >= (first_uuid_v7(greatest(p_after, 'epoch')::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit 10001) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id) limit 10001) c);
  elsif p_status is not distinct from 'pending'
        and (p_event_type is not null) = true then
      return (select count(*) from (select 1 from webhooks w cross join lateral (select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day = 'infinity' and d.event_type = p_event_type
          and (d.id) >= (first_uuid_v7(greatest(p_after, 'epoch')::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit 10001) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id) limit 10001) c);
  elsif p_status is not distinct from 'succeeded'
        and (p_event_type is not null) = false then
      return (select count(*) from (select 1 from webhooks w cross join lateral (select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity' and d.status = 'succeeded'
          and (d.id) >= (first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit 10001) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id) limit 10001) c);
  elsif p_status is not distinct from 'succeeded'
        and (p_event_type is not null) = true then
      return (select count(*) from (select 1 from webhooks w cross join lateral (select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.event_type, d.status, d.id) >= (p_event_type, 'succeeded', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.event_type, d.status, d.id) <= (p_event_type, 'succeeded', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.event_type desc, d.status desc, d.id desc limit 10001) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id) limit 10001) c);
  elsif p_status is not distinct from 'failed'
        and (p_event_type is not null) = false then
      return (select count(*) from (select 1 from webhooks w cross join lateral (select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity' and d.status in ('failed', 'skipped')
          and (d.status, d.id) >= ('failed', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.status, d.id) <= ('failed', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.status desc, d.id desc limit 10001) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id) limit 10001) c);
  elsif p_status is not distinct from 'failed'
        and (p_event_type is not null) = true then
      return (select count(*) from (select 1 from webhooks w cross join lateral (select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.event_type, d.status, d.id) >= (p_event_type, 'failed', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.event_type, d.status, d.id) <= (p_event_type, 'failed', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.event_type desc, d.status desc, d.id desc limit 10001) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id) limit 10001) c);
  elsif p_status is not distinct from 'skipped'
        and (p_event_type is not null) = false then
      return (select count(*) from (select 1 from webhooks w cross join lateral (select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity' and d.status in ('failed', 'skipped')
          and (d.status, d.id) >= ('skipped', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.status, d.id) <= ('skipped', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.status desc, d.id desc limit 10001) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id) limit 10001) c);
  elsif p_status is not distinct from 'skipped'
        and (p_event_type is not null) = true then
      return (select count(*) from (select 1 from webhooks w cross join lateral (select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.event_type, d.status, d.id) >= (p_event_type, 'skipped', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.event_type, d.status, d.id) <= (p_event_type, 'skipped', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.event_type desc, d.status desc, d.id desc limit 10001) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id) limit 10001) c);
  elsif p_status is not distinct from 'undelivered'
        and (p_event_type is not null) = false then
      return (select count(*) from (select 1 from webhooks w cross join lateral (select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day = 'infinity'
          and (d.id) >= (first_uuid_v7(greatest(p_after, 'epoch')::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit 10001) f union all select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity' and d.status in ('failed', 'skipped')
          and (d.status, d.id) >= ('failed', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.status, d.id) <= ('failed', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.status desc, d.id desc limit 10001) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id) limit 10001) c);
  elsif p_status is not distinct from 'undelivered'
        and (p_event_type is not null) = true then
      return (select count(*) from (select 1 from webhooks w cross join lateral (select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day = 'infinity' and d.event_type = p_event_type
          and (d.id) >= (first_uuid_v7(greatest(p_after, 'epoch')::timestamptz + interval '1 millisecond')) and (d.id) <= (case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.id desc limit 10001) f union all select 1 from (select 1 from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and d.log_day >= (greatest(p_since, p_after)::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'
          and (d.event_type, d.status, d.id) >= (p_event_type, 'failed', first_uuid_v7(greatest(p_since, p_after)::timestamptz + interval '1 millisecond')) and (d.event_type, d.status, d.id) <= (p_event_type, 'failed', case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end)
        order by d.event_type desc, d.status desc, d.id desc limit 10001) f) f
          where w.organization_id = p_organization_id and (p_webhook_id is null or w.id = p_webhook_id) limit 10001) c);
  end if;
end;
$function$;

-- Where a recovery of all missed events of an endpoint must begin (specification 11.4): perhaps before the first missed event, never after
-- it; null when nothing was missed.
--
-- The earliest of: the events of the oldest failed deliveries, of which so many are looked at, as those of a large commit are created late
-- though their events are older; the windows of recoveries whose deliveries (younger than their events) failed; and the time at which the
-- endpoint was disabled, less a minute, as clocks differ. Not earlier than the endpoint, or than what a recovery requested within a minute
-- may begin at.
create or replace function missed_since_55ca2aa7091c(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_log_begin timestamptz) returns timestamptz
language plpgsql volatile set plan_cache_mode = force_generic_plan set enable_sort = off as $function$
declare
  v_created_at timestamptz;
  v_since timestamptz;
begin
  select w.created_at, least(
      (select min(f.event_created_at) from (select d.event_created_at from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
          and d.log_day >= (p_log_begin at time zone 'UTC')::date and d.log_day < 'infinity' and d.status in ('failed', 'skipped')
          and (d.status, d.id) >= ('failed', first_uuid_v7(p_log_begin + interval '1 millisecond'))
          and (d.status, d.id) <= ('failed', 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
          and d.event_type not in ('ping', 'gap', 'terminated')
          and (w.subscription_id is null or coalesce(d.response_status, 0) not in (410, 413))
        order by d.status, d.id limit 100) f),
      (select min(r.since) from recoveries r
        where r.organization_id = p_organization_id and r.webhook_id = p_webhook_id and r.created > 0
          and exists (select 1 from deliveries d
            where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
              and d.log_day >= (p_log_begin at time zone 'UTC')::date and d.log_day < 'infinity' and d.status in ('failed', 'skipped')
              and (d.status, d.id) >= ('failed', first_uuid_v7(r.created_at - interval '1 minute'))
              and (d.status, d.id) <= ('failed', first_uuid_v7(coalesce(r.finished_at, p_now) + interval '1 minute'))
              and d.event_type not in ('ping', 'gap', 'terminated')
              and (w.subscription_id is null or coalesce(d.response_status, 0) not in (410, 413)))),
      case when w.disabled_at is not null or w.gap_until >= p_log_begin
        then least(w.gap_since, w.disabled_at) - interval '1 minute' end)
    into v_created_at, v_since
    from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id;
  return case when v_since is not null then greatest(v_since, v_created_at, p_log_begin + interval '1 minute') end;
end;
$function$;

create or replace function recover_webhook_7440a40df6fd(p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_recovery_id uuid, p_since timestamptz, p_until timestamptz, p_include_succeeded boolean, p_response jsonb) returns text
language plpgsql volatile as $function$
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  if exists (select 1 from organization_clocks c where c.organization_id = p_organization_id and c.away is not null) then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = (select c.away from organization_clocks c where c.organization_id = p_organization_id);
  end if;
  if p_response is not null then
    perform 1 from idempotency_keys k where k.organization_id = p_organization_id
      and k.api_key_id = (p_response->>'api_key_id')::uuid and k.method = p_response->>'method' and k.path = p_response->>'path'
      and k.key between p_response->>'key' and p_response->>'key' and k.created_at > p_now - interval '24 hours' order by k.key limit 1;
    if found then
      return 'replayed';
    end if;
  end if;
  perform 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id
    and w.status = 'active';
  if not found then
    return 'refused';
  end if;
  if decode(p_response->>'sealed_with', 'hex') is not null then
    perform 1 from installation i where i.singleton and (i.key_check is null or i.key_check = decode(p_response->>'sealed_with', 'hex')) for share;
    if not found then
      raise exception 'sealed with another encryption key than the database names'
        using errcode = 'DW002';
    end if;
  end if;
  if p_response is not null then
    with stored as (
      insert into idempotency_keys (organization_id, api_key_id, method, path, key, request_hash, status, subject_id, body, sealed,
          created_at, counted)
        select p_organization_id, s.api_key_id, s.method, s.path, s.key, s.request_hash, s.status, s.subject_id, s.body, s.sealed, p_now,
            coalesce(octet_length(s.body), octet_length(s.sealed), 0)
          from (select (p_response->>'api_key_id')::uuid as api_key_id, p_response->>'method' as method,
              p_response->>'path' as path, p_response->>'key' as key, decode(p_response->>'request_hash', 'hex') as request_hash,
              (p_response->>'status')::int as status, p_webhook_id as subject_id,
              p_response->>'body' as body, decode(p_response->>'sealed', 'hex') as sealed) s
        on conflict (organization_id, api_key_id, method, path, key) do update
          set request_hash = excluded.request_hash, status = excluded.status, subject_id = excluded.subject_id,
            body = excluded.body, sealed = excluded.sealed, created_at = excluded.created_at,
            counted = idempotency_keys.counted + excluded.counted
        returning coalesce(octet_length(body), octet_length(sealed), 0) as bytes)
    insert into kind_counters as c (organization_id, kind, live_count, digest, content_digest, last_number, stored_bytes)
      select p_organization_id, 'stored response', 0, 0, 0, 0, sum(s.bytes) from stored s having count(s.bytes) > 0
      on conflict (organization_id, kind) do update set stored_bytes = c.stored_bytes + excluded.stored_bytes;
  end if;
  insert into recoveries (organization_id, webhook_id, id, since, until, include_succeeded, created_at, position, due_at)
    values (p_organization_id, p_webhook_id, p_recovery_id, p_since, p_until, p_include_succeeded, p_now, first_uuid_v7(p_since), p_now);
  -- What was left out while it was disabled is the recovery's from now on.
  update webhooks set gap_since = null, gap_until = null
    where organization_id = p_organization_id and id = p_webhook_id and gap_since >= p_since and gap_until <= p_until;
  return 'done';
end;
$function$;

-- Whether a calling key is as it was at authentication: neither revoked nor expired, and with the same scopes. Each change
-- of keys checks its caller again, under the clock.
create or replace function key_is_unchanged_1eac7626033d(p_organization_id uuid, p_api_key_id uuid, p_scopes text[], p_now timestamptz)
returns boolean
language plpgsql volatile as $function$
begin
  return exists (select 1 from api_keys k where k.organization_id = p_organization_id and k.id = p_api_key_id
    and k.scopes = p_scopes and (k.expires_at is null or k.expires_at > p_now));
end;
$function$;

-- Whether the key is the only valid one of its organization that can manage keys.
create or replace function is_last_manager_bc6d6d67c590(p_organization_id uuid, p_api_key_id uuid, p_now timestamptz) returns boolean
language plpgsql volatile as $function$
begin
  return exists (select 1 from api_keys k where k.organization_id = p_organization_id and k.id = p_api_key_id
      and k.scopes && array['*', 'api_keys:manage'] and (k.expires_at is null or k.expires_at > p_now))
    and not exists (select 1 from api_keys k where k.organization_id = p_organization_id and k.id <> p_api_key_id
      and k.scopes && array['*', 'api_keys:manage'] and (k.expires_at is null or k.expires_at > p_now));
end;
$function$;

-- Creates the key in p_row with its first token: 'done', 'replayed', 'caller_changed', or 'limit_reached' where p_limit
-- keys exist.
create or replace function create_api_key_75fccce2a385(
  p_organization_id uuid, p_api_key_id uuid, p_now timestamptz, p_caller_id uuid, p_caller_scopes text[],
  p_row jsonb, p_token_hash bytea, p_last4 text, p_limit int, p_response jsonb
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock_dd363ef23099(p_organization_id);
  if replayed_55624a46aaf1(p_organization_id, p_now, p_response) then
    return 'replayed';
  end if;
  if not key_is_unchanged_1eac7626033d(p_organization_id, p_caller_id, p_caller_scopes, p_now) then
    return 'caller_changed';
  end if;
  if (select count(*) from api_keys k where k.organization_id = p_organization_id) >= p_limit then
    return 'limit_reached';
  end if;
  perform store_response_71a961d90400(p_organization_id, p_api_key_id, p_now, p_response);
  insert into api_keys (organization_id, id, name, scopes, expires_at, created_at, updated_at)
    select p_organization_id, p_api_key_id, r.name, r.scopes, r.expires_at, p_now, p_now
      from jsonb_to_record(p_row) as r(name text, scopes text[], expires_at timestamptz);
  insert into api_key_tokens (token_hash, organization_id, api_key_id, last4, created_at)
    values (p_token_hash, p_organization_id, p_api_key_id, p_last4, p_now);
  return 'done';
end;
$function$;

-- Writes the key as in p_row: 'done', 'caller_changed', 'conflict' where it no longer has the version p_expected, or
-- 'last_managing_key' where it is the last that manages keys and would not (p_manages). An expiry that a worker has
-- processed no longer changes: 'conflict' too.
create or replace function update_api_key_dcc28f8e18f1(
  p_organization_id uuid, p_api_key_id uuid, p_now timestamptz, p_expected timestamptz,
  p_caller_id uuid, p_caller_scopes text[], p_row jsonb, p_manages boolean
) returns text
language plpgsql volatile as $function$
declare
  r record;
begin
  perform lock_clock_dd363ef23099(p_organization_id);
  if not key_is_unchanged_1eac7626033d(p_organization_id, p_caller_id, p_caller_scopes, p_now) then
    return 'caller_changed';
  end if;
  perform 1 from api_keys k
    where k.organization_id = p_organization_id and k.id = p_api_key_id and k.updated_at = p_expected;
  if not found then
    return 'conflict';
  end if;
  if not p_manages and is_last_manager_bc6d6d67c590(p_organization_id, p_api_key_id, p_now) then
    return 'last_managing_key';
  end if;
  select x.name, x.scopes, x.expires_at, x.updated_at into r
    from jsonb_to_record(p_row) as x(name text, scopes text[], expires_at timestamptz, updated_at timestamptz);
  update api_keys k set name = r.name, scopes = r.scopes, expires_at = r.expires_at, updated_at = r.updated_at
    where k.organization_id = p_organization_id and k.id = p_api_key_id
      and (k.expiry_settled_at is null or k.expires_at is not distinct from r.expires_at);
  if not found then
    return 'conflict';
  end if;
  return 'done';
end;
$function$;

-- Creates a token. Earlier ones work until p_expires_at, or their own earlier end. Returns 'done', 'replayed',
-- 'caller_changed', or 'conflict' where the key no longer has the version p_expected.
create or replace function rotate_api_key_935805316e1d(
  p_organization_id uuid, p_api_key_id uuid, p_now timestamptz, p_expected timestamptz,
  p_caller_id uuid, p_caller_scopes text[], p_updated_at timestamptz, p_token_hash bytea, p_last4 text,
  p_expires_at timestamptz, p_response jsonb
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock_dd363ef23099(p_organization_id);
  if replayed_55624a46aaf1(p_organization_id, p_now, p_response) then
    return 'replayed';
  end if;
  if not key_is_unchanged_1eac7626033d(p_organization_id, p_caller_id, p_caller_scopes, p_now) then
    return 'caller_changed';
  end if;
  perform 1 from api_keys k
    where k.organization_id = p_organization_id and k.id = p_api_key_id and k.updated_at = p_expected;
  if not found then
    return 'conflict';
  end if;
  perform store_response_71a961d90400(p_organization_id, p_api_key_id, p_now, p_response);
  delete from api_key_tokens
    where organization_id = p_organization_id and api_key_id = p_api_key_id and expires_at <= p_now;
  update api_key_tokens set expires_at = p_expires_at
    where organization_id = p_organization_id and api_key_id = p_api_key_id and expires_at is null;
  insert into api_key_tokens (token_hash, organization_id, api_key_id, last4, created_at)
    values (p_token_hash, p_organization_id, p_api_key_id, p_last4, p_now);
  update api_keys set updated_at = p_updated_at where organization_id = p_organization_id and id = p_api_key_id;
  return 'done';
end;
$function$;

-- Ends all tokens of the key but its latest, and sets its updated_at if one of them still worked: 'done',
-- 'caller_changed', or 'conflict' where the key no longer has the version p_expected.
create or replace function drop_previous_tokens_099e66ebab83(
  p_organization_id uuid, p_api_key_id uuid, p_now timestamptz, p_expected timestamptz,
  p_caller_id uuid, p_caller_scopes text[], p_updated_at timestamptz
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock_dd363ef23099(p_organization_id);
  if not key_is_unchanged_1eac7626033d(p_organization_id, p_caller_id, p_caller_scopes, p_now) then
    return 'caller_changed';
  end if;
  perform 1 from api_keys k
    where k.organization_id = p_organization_id and k.id = p_api_key_id and k.updated_at = p_expected;
  if not found then
    return 'conflict';
  end if;
  update api_keys k set updated_at = p_updated_at
    where k.organization_id = p_organization_id and k.id = p_api_key_id
      and exists (select 1 from api_key_tokens t
        where t.organization_id = p_organization_id and t.api_key_id = p_api_key_id and t.expires_at > p_now);
  delete from api_key_tokens
    where organization_id = p_organization_id and api_key_id = p_api_key_id and expires_at is not null;
  return 'done';
end;
$function$;

-- Deletes the key with its tokens, disables the endpoints that it registered, erases stored responses with its tokens, and
-- notes what the key was: 'done', 'caller_changed', 'conflict' where it no longer has the version p_expected, or
-- 'last_managing_key'. Without p_caller_id: for the operator, who may revoke the last key that manages keys.
create or replace function revoke_api_key_b7eac8c96507(
  p_organization_id uuid, p_api_key_id uuid, p_now timestamptz, p_expected timestamptz,
  p_caller_id uuid, p_caller_scopes text[]
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock_dd363ef23099(p_organization_id);
  if p_caller_id is not null
      and not key_is_unchanged_1eac7626033d(p_organization_id, p_caller_id, p_caller_scopes, p_now) then
    return 'caller_changed';
  end if;
  perform 1 from api_keys k
    where k.organization_id = p_organization_id and k.id = p_api_key_id and k.updated_at = p_expected;
  if not found then
    return 'conflict';
  end if;
  if p_caller_id is not null and is_last_manager_bc6d6d67c590(p_organization_id, p_api_key_id, p_now) then
    return 'last_managing_key';
  end if;
  perform disable_registered_57ac6e41aa1f(p_organization_id, p_api_key_id, p_now);
  update idempotency_keys set sealed = null
    where organization_id = p_organization_id and subject_id = p_api_key_id;
  insert into revoked_api_keys (organization_id, id, name, scopes, last4, expires_at, last_used_at, created_at,
      updated_at, revoked_at, revoked_by, revoked_by_name)
    select p_organization_id, k.id, k.name, k.scopes,
        coalesce((select t.last4 from api_key_tokens t
          where t.organization_id = p_organization_id and t.api_key_id = p_api_key_id
          order by t.expires_at desc nulls first, t.created_at desc limit 1), ''),
        k.expires_at,
        (select u.last_used_at from api_key_uses u
          where u.organization_id = p_organization_id and u.api_key_id = p_api_key_id),
        k.created_at, k.updated_at, p_now, p_caller_id,
        (select c.name from api_keys c where c.organization_id = p_organization_id and c.id = p_caller_id)
      from api_keys k where k.organization_id = p_organization_id and k.id = p_api_key_id;
  delete from api_keys where organization_id = p_organization_id and id = p_api_key_id;
  return 'done';
end;
$function$;

-- Creates a link to the console with the scopes p_scopes, of which the calling key has all: 'done', 'replayed',
-- 'caller_changed', or 'limit_reached' where p_limit links have not ended.
create or replace function create_console_link_d30d17515d5e(
  p_organization_id uuid, p_link_id uuid, p_now timestamptz, p_caller_id uuid, p_scopes text[], p_token_hash bytea,
  p_expires_at timestamptz, p_limit int, p_response jsonb
) returns text
language plpgsql volatile as $function$
begin
  perform lock_clock_dd363ef23099(p_organization_id);
  if replayed_55624a46aaf1(p_organization_id, p_now, p_response) then
    return 'replayed';
  end if;
  perform 1 from api_keys k where k.organization_id = p_organization_id and k.id = p_caller_id
    and (k.scopes @> p_scopes or '*' = any(k.scopes)) and (k.expires_at is null or k.expires_at > p_now);
  if not found then
    return 'caller_changed';
  end if;
  if (select count(*) from console_links c
      where c.organization_id = p_organization_id and c.expires_at > p_now) >= p_limit then
    return 'limit_reached';
  end if;
  perform store_response_71a961d90400(p_organization_id, p_link_id, p_now, p_response);
  insert into console_links (token_hash, organization_id, id, api_key_id, scopes, created_at, expires_at)
    values (p_token_hash, p_organization_id, p_link_id, p_caller_id, p_scopes, p_now, p_expires_at);
  return 'done';
end;
$function$;
