/**
 * Events, deliveries and attempts stand in a partition a week, which is dropped when the log no longer reaches back to it.
 * What is pending stands in a partition of its own, which nothing drops: a delivery moves into the log when it is settled.
 */
import type { Migration } from '../migration.ts'

const deliveryColumns = `organization_id, id, webhook_id, event_id, event_type, status, payload, attempt_count, max_attempts,
  response_status, last_error_code, last_error_message, duration_ms, last_attempt_at, next_attempt_at, delivered_at,
  created_at, updated_at`

export const logWeekMigrations: readonly Migration[] = [
  {
    id: '20261121-10-log-weeks',
    statements: [
      // The least UUIDv7 of a millisecond: ids made at that time or later are not below it.
      `create function first_uuid_v7(p_at timestamptz) returns uuid language sql immutable parallel safe return
        (lpad(to_hex(floor(extract(epoch from p_at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid`,

      // An event's id is made with its commit's stamp, so ids are in the order of time and the week follows from the id.
      'alter table events rename to events_before',
      'alter table events_before drop constraint events_pkey',
      'drop index events_subject',
      `create table events (
        organization_id uuid not null,
        id uuid not null,
        type text not null,
        created_at timestamptz(3) not null,
        subject_kind text not null,
        subject_id uuid not null,
        body text,
        primary key (organization_id, id)
      ) partition by range (id)`,
      'create index events_subject on events (organization_id, subject_id)',
      // Takes what no week was made for: a commit never fails for want of a partition.
      'create table events_default partition of events default',
      'create index events_default_age on events_default (created_at)',
      `insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
        select b.organization_id, b.id, b.type, b.created_at, b.subject_kind, b.subject_id, b.body from events_before b`,

      'alter table deliveries rename to deliveries_before',
      'alter table deliveries_before drop constraint deliveries_pkey',
      'drop index deliveries_due, deliveries_log, deliveries_event',
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
        primary key (organization_id, webhook_id, id, log_day),
        check ((status = 'pending') = (next_attempt_at is not null)),
        check ((status = 'succeeded') = (delivered_at is not null)),
        check ((status = 'pending') = (log_day = 'infinity'))
      ) partition by range (log_day)`,
      `create table deliveries_pending partition of deliveries for values from ('infinity') to (maxvalue)
        with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05)`,
      'create table deliveries_default partition of deliveries default',
      // The log by type, in each status, in the order of ids, which is that of time. With the day, so that what is counted
      // by index needs no row.
      'create index deliveries_type on deliveries (organization_id, webhook_id, event_type, status, id, log_day)',
      'create index deliveries_default_status on deliveries_default (organization_id, webhook_id, status, id, log_day)',
      'create index deliveries_default_event on deliveries_default (organization_id, event_id, webhook_id)',
      'create index deliveries_default_age on deliveries_default (created_at)',
      'create unique index deliveries_pending_event on deliveries_pending (organization_id, event_id, webhook_id)',
      'create index deliveries_pending_due on deliveries_pending (organization_id, webhook_id, next_attempt_at, id)',
      `insert into deliveries (log_day, event_created_at, subject_kind, subject_id, ${deliveryColumns})
        select case when b.status = 'pending' then 'infinity' else (b.created_at at time zone 'UTC')::date end,
            e.created_at, e.subject_kind, e.subject_id, ${deliveryColumns.replace(/\w+/g, (name) => `b.${name}`)}
          from deliveries_before b
          join events_before e on e.organization_id = b.organization_id and e.id = b.event_id`,
      'drop table deliveries_before',
      'drop table events_before',

      // With their delivery: its id says the week.
      'alter table attempts rename to attempts_before',
      'alter table attempts_before drop constraint attempts_pkey',
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
      `insert into attempts (organization_id, delivery_id, number, at, response_status, error_code, error_message,
          duration_ms, response_body)
        select b.organization_id, b.delivery_id, b.number, b.at, b.response_status, b.error_code, b.error_message,
            b.duration_ms, b.response_body
          from attempts_before b`,
      'drop table attempts_before',
    ],
  },
]
