-- Deliveries, their attempts and statistics. Pending deliveries have a partition of their own; a delivery moves
-- into the log when it is completed. Only columns that rows are found by have statistics: otherwise PostgreSQL
-- spent a seventh of its time on sampling deliveries.

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
) partition by range (log_day);

create table deliveries_pending partition of deliveries for values from ('infinity') to (maxvalue)
  with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);

create table deliveries_default partition of deliveries default;

-- The log by type, in each status, by id and so by time. With the day, so that counting needs only the index.
create index deliveries_default_type
  on deliveries_default (organization_id, webhook_id, event_type, status, id, log_day);

-- What succeeded, and what is pending, has no entry: an index takes the database 5 µs for each delivery, of 90.
create index deliveries_default_status on deliveries_default (organization_id, webhook_id, status, id, log_day)
  where status in ('failed', 'skipped');
create index deliveries_default_event on deliveries_default (organization_id, event_id, webhook_id);
create index deliveries_default_age on deliveries_default (created_at);

-- One pending delivery of an event to an endpoint. The condition holds of every row: with it, only a statement that
-- names events uses this index. Others would read all of an organization's, with those that are completed and dead.
create unique index deliveries_pending_event on deliveries_pending (organization_id, event_id, webhook_id)
  where event_id is not null;
create index deliveries_pending_due on deliveries_pending (organization_id, webhook_id, next_attempt_at, id);

alter table deliveries
  alter column event_created_at set statistics 0,
  alter column subject_kind set statistics 0,
  alter column subject_id set statistics 0,
  alter column payload set statistics 0,
  alter column attempt_count set statistics 0,
  alter column max_attempts set statistics 0,
  alter column response_status set statistics 0,
  alter column response_body set statistics 0,
  alter column last_error_code set statistics 0,
  alter column last_error_message set statistics 0,
  alter column duration_ms set statistics 0,
  alter column last_attempt_at set statistics 0,
  alter column delivered_at set statistics 0,
  alter column updated_at set statistics 0,
  alter column attempts_before set statistics 0;

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

create table attempts_default partition of attempts default;
create index attempts_default_age on attempts_default (delivery_id);

alter table attempts
  alter column at set statistics 0,
  alter column response_status set statistics 0,
  alter column error_code set statistics 0,
  alter column error_message set statistics 0,
  alter column duration_ms set statistics 0,
  alter column response_body set statistics 0;

-- Results of an endpoint's deliveries, counted by the minute and by the hour. A partition a week. Places:
-- packages/service/src/delivery/queue/tally.ts.
create table delivery_stats (
  organization_id uuid not null,
  webhook_id uuid not null,
  -- How long it counts, from `at` on. Rows of no length are folded into those of minutes.
  minutes smallint not null check (minutes in (0, 1, 60)),
  at timestamptz(3) not null,
  -- What is counted, and how often. A place may be there twice: it is the sum that counts.
  places smallint[] not null,
  counts integer[] not null,
  -- The latest success that a row of no length counts.
  succeeded_at timestamptz(3),
  primary key (organization_id, webhook_id, minutes, at)
) partition by range (at);

create table delivery_stats_default partition of delivery_stats default;
create index delivery_stats_default_age on delivery_stats_default (at);
