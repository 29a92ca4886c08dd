/** Endpoints, their deliveries, and the endpoint queues by which workers find what is due. */
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
      // One row an endpoint, its queue: when its next delivery is due, and which worker holds it. Found without locks by
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
      // Who leases the queue, so that a worker finds its own again; whether it listens for what comes in meanwhile;
      // and in which priority class it waits: 0 light, 1 heavy (it has a backlog), 2 slow, 3 fresh (nothing is known).
      `alter table lanes add column worker_id uuid, add column listening boolean not null default false,
        add column tier smallint not null default 3 check (tier between 0 and 3)`,
      // Each class is searched by itself: none steps over the queues of another.
      `create index lanes_due_by_tier on lanes (tier, due_at) where due_at is not null`,
      `drop index lanes_due`,
    ],
  },
]

// Events, deliveries and attempts stand in a partition a week, which is dropped when the log no longer reaches back to it.
// What is pending stands in a partition of its own, which nothing drops: a delivery moves into the log when it is completed.

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

// Recoveries: what brings back the events that an endpoint has missed, piece by piece.

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

// Large commits: what is left to be done of the deliveries that a commit did not make itself.

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

// A delivery's row holds all of its last attempt; what was logged before stands where the attempts before the last do. And of
// the log's columns only those that rows are found by are counted: PostgreSQL looks at them anew whenever a twentieth has changed,
// which among deliveries is every few seconds, and took a seventh of all its time for sorting bodies and times.

/** With the partitions that stand. */
function uncounted(table: string, columns: readonly string[]): string {
  return `alter table ${table} ${columns.map((column) => `alter column ${column} set statistics 0`).join(', ')}`
}

export const lastAttemptMigrations: readonly Migration[] = [
  {
    id: '20261121-40-last-attempts',
    statements: ['alter table deliveries add column response_body text'],
  },
  {
    id: '20261121-50-counted-columns',
    statements: [
      uncounted('events', ['subject_kind', 'body']),
      uncounted('deliveries', [
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
      ]),
      uncounted('attempts', [
        'at',
        'response_status',
        'error_code',
        'error_message',
        'duration_ms',
        'response_body',
      ]),
    ],
  },
]

// What deliveries remember of their schedule, and endpoint queues of the workers that had them.

export const deliveryMigrations: readonly Migration[] = [
  {
    id: '20261122-30-attempts-before',
    statements: [
      // Attempts made before the schedule that runs was begun: by hand and by a recovery it is begun anew.
      'alter table deliveries add column attempts_before integer not null default 0',
      'alter table deliveries alter column attempts_before set statistics 0',
    ],
  },
  {
    id: '20261122-30-attempts-before-begun',
    // What was begun anew until now does not say when; with the number of delays that there are unless set otherwise it did. An
    // endpoint at a time, under its queue's row, as completions are.
    gradually: {
      prepare: [
        `create or replace function attempts_before_piece(p_after text) returns text language plpgsql as $function$
declare
  v_organization_id uuid := split_part(p_after, ' ', 1)::uuid;
  v_webhook_id uuid := split_part(p_after, ' ', 2)::uuid;
begin
  if exists (select 1 from schema_migrations m where m.id = '20261122-31-lost-leases') then
    return null; -- It was done with the column, in a database that has what came after it.
  end if;
  select l.organization_id, l.webhook_id into v_organization_id, v_webhook_id from lanes l
    where p_after is null or (l.organization_id, l.webhook_id) > (v_organization_id, v_webhook_id)
    order by l.organization_id, l.webhook_id limit 1 for update;
  update deliveries d set attempts_before = d.max_attempts - 6
    where d.organization_id = v_organization_id and d.webhook_id = v_webhook_id and d.log_day = 'infinity'
      and d.payload = 'stored' and d.max_attempts > 6 and d.attempts_before = 0;
  return v_organization_id || ' ' || v_webhook_id;
end;
$function$`,
      ],
      piece: 'select attempts_before_piece($1) as next',
    },
    statements: ['drop function attempts_before_piece(text)'],
  },
  {
    id: '20261122-31-lost-leases',
    statements: [
      // Leases in a row whose worker died; how many deliveries more are sent one at a time for it; and under the lease that
      // runs, which of them, since when.
      `alter table lanes add column lost_leases smallint not null default 0, add column alone_left smallint not null default 0,
        add column alone_id uuid, add column alone_since timestamptz(3),
        add check ((alone_id is null) = (alone_since is null))`,
    ],
  },
]

// How deliveries to an endpoint are signed. Processes of earlier releases sign by `service`, which all have.

export const signatureMigrations: readonly Migration[] = [
  {
    id: '20261122-60-signatures',
    statements: [
      `alter table webhooks add column signatures text[] not null default '{service}'
        check (signatures in ('{service}', '{service,standard}'))`,
    ],
  },
]

// What becomes of deliveries, counted: the minute that is counted stands with the endpoint's health, those that are over by themselves.

export const statsMigrations: readonly Migration[] = [
  {
    id: '20261123-57-delivery-stats',
    statements: [
      'alter table webhook_health add column tally_at timestamptz(3), add column tally integer[]',
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
    ],
  },
]

// While an endpoint is disabled nothing is made for it. When it is enabled again, it remembers since when that was.

export const gapMigrations: readonly Migration[] = [
  {
    id: '20261125-11-gaps',
    statements: [
      `alter table webhooks add column gap_since timestamptz(3), add column gap_until timestamptz(3),
        add check ((gap_since is null) = (gap_until is null))`,
    ],
  },
]

// An endpoint lasts longer than a session of the console that registered it, and than its link: the id is all that stays of them.

export const sessionRegistrantMigrations: readonly Migration[] = [
  {
    id: '20261125-12-session-registrants',
    statements: ['alter table webhooks add column console_link_id uuid'],
  },
]
