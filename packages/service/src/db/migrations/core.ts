/**
 * The tables that belong to no kind. Every key leads with organization_id; the token directory, which finds the
 * organization of a request, and the installation's one row are the exceptions.
 */
import type { Migration } from '../migration.ts'

export const coreMigrations: readonly Migration[] = [
  {
    id: '20261120-01-core',
    statements: [
      // The epoch that organizations begin in. Each has its own (below); a restore begins another in all of them.
      `create table installation (
        singleton boolean primary key default true check (singleton),
        epoch integer not null
      )`,
      `insert into installation (epoch) values (1)`,
      `create table organizations (
        organization_id uuid primary key,
        name text not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null
      )`,
      // One row an organization, locked first by every commit. Updated constantly: room for HOT updates.
      `create table organization_clocks (
        organization_id uuid primary key references organizations,
        last_stamp timestamptz(3) not null
      ) with (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0)`,
      `create table kind_counters (
        organization_id uuid not null references organizations,
        kind text not null,
        live_count bigint not null,
        digest numeric not null check (digest >= 0 and digest < 18446744073709551616),
        last_number bigint not null,
        primary key (organization_id, kind)
      ) with (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0)`,
      `create table api_keys (
        organization_id uuid not null references organizations,
        id uuid not null,
        name text not null,
        scopes text[] not null,
        expires_at timestamptz(3),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        primary key (organization_id, id)
      )`,
      // The token directory: from a presented token to its key. A key is an identity that outlives its tokens.
      `create table api_key_tokens (
        token_hash bytea primary key,
        organization_id uuid not null,
        api_key_id uuid not null,
        last4 text not null,
        created_at timestamptz(3) not null,
        expires_at timestamptz(3),
        foreign key (organization_id, api_key_id) references api_keys on delete cascade
      )`,
      `create table events (
        organization_id uuid not null,
        id uuid not null,
        type text not null,
        created_at timestamptz(3) not null,
        subject_kind text not null,
        subject_id uuid not null,
        body text,
        primary key (organization_id, id)
      )`,
      // For erasing what events still hold of a removed object.
      `create index events_subject on events (organization_id, subject_id)`,
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
        primary key (organization_id, api_key_id, method, path, key)
      )`,
      `create index idempotency_keys_subject on idempotency_keys (organization_id, subject_id)`,
      `create index idempotency_keys_age on idempotency_keys (created_at)`,
      // Removed objects whose stored payloads and responses still have to be erased.
      `create table erasures (
        organization_id uuid not null,
        subject_id uuid not null,
        removed_at timestamptz(3) not null,
        primary key (organization_id, subject_id)
      )`,
    ],
  },
  {
    id: '20261120-02-functions',
    statements: [
      // A row's part in the checkpoint: the first eight bytes of SHA-256, here as a signed number. Sums are
      // taken modulo 2^64, where signed and unsigned agree.
      `create function digest_term(p_id uuid, p_updated_at text) returns numeric
        language sql immutable parallel safe return
        ('x' || left(encode(sha256(convert_to(p_id::text || ':' || p_updated_at, 'UTF8')), 'hex'), 16))::bit(64)::bigint::numeric`,
      `create function new_uuid_v7(p_at timestamptz) returns uuid language sql volatile parallel safe return
        encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
          placing substring(int8send(floor(extract(epoch from p_at) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid`,
    ],
  },
  {
    id: '20261122-10-key-check',
    statements: [
      // What tells the installation's encryption key from another. Null until a process has started, empty where the next
      // key is to be taken, whichever it is.
      `alter table installation add column key_check bytea`,
    ],
  },
  {
    id: '20261122-11-detachments',
    statements: [
      // Objects that a removal has taken a reference from: their stored payloads and responses still have it.
      `create table detachments (
        organization_id uuid not null,
        subject_id uuid not null,
        removed_id uuid not null,
        field text not null,
        primary key (organization_id, subject_id, removed_id)
      )`,
    ],
  },
  {
    id: '20261122-40-stored-counts',
    statements: [
      // What an organization stores, beside what a checkpoint needs. Filled by a migration of each kind that there was.
      `alter table kind_counters add column stored_bytes bigint not null default 0,
         add column removed_count bigint not null default 0`,
    ],
  },
  {
    id: '20261122-60-suspension',
    statements: [
      // Null of both for an organization that works. What is being deleted is suspended as well, and stays so.
      `alter table organizations add column suspended_at timestamptz(3), add column deletion_began_at timestamptz(3),
         add check (deletion_began_at is null or suspended_at is not null)`,
    ],
  },
  {
    id: '20261122-90-content-digests',
    statements: [
      // A row's part in the content digest: the first eight bytes of SHA-256 of its body, signed as digest_term is.
      `create function content_term(p_body text) returns bigint
        language sql immutable parallel safe return
        ('x' || left(encode(sha256(convert_to(p_body, 'UTF8')), 'hex'), 16))::bit(64)::bigint`,
      // Null: nothing was counted yet. content_of_digest: the digest that content_digest goes with; where the row's digest is
      // another, a process of an earlier release has written since. content_recount: content_digest is of no more than what
      // has changed since this recount began; null when it is of all rows.
      `alter table kind_counters
         add column content_digest numeric check (content_digest >= 0 and content_digest < 18446744073709551616),
         add column content_of_digest numeric,
         add column content_recount uuid`,
    ],
  },
  {
    id: '20261123-10-previous-key',
    statements: [
      // Beside key_check: the key before it, while secrets that it seals may be left.
      `alter table installation add column previous_key_check bytea`,
    ],
  },
  {
    id: '20261123-54-trace-context',
    statements: [
      // The trace in which its change was made, as a `traceparent`: null where it was not traced.
      `alter table events add column trace_context text`,
    ],
  },
  {
    id: '20261123-63-organization-epochs',
    statements: [
      // Whoever begins an epoch has these rows first: what is read next is the last that an earlier release began.
      `lock table organization_clocks in access exclusive mode`,
      // Every organization has the installation's, those that processes of earlier releases are still to make too. No row is
      // written: a default that is a constant stands in the catalogue.
      `do $$ begin
        execute format('alter table organization_clocks add column epoch integer not null default %s',
          (select i.epoch from installation i where i.singleton));
      end $$`,
    ],
  },
  {
    id: '20261123-64-millisecond-after',
    statements: [
      // With an interval, a sum is not immutable, as months and days of it would depend on the session's time zone; a millisecond does not.
      // So it may stand in an update of a table that is spread over servers (decision 64).
      `create function millisecond_after(p_at timestamptz) returns timestamptz language sql immutable parallel safe return
        p_at + interval '1 millisecond'`,
    ],
  },
  {
    id: '20261125-10-stored-responses',
    statements: [
      // What a stored response has added to what its organization stores. Those of earlier releases, a day of them, have added nothing.
      `alter table idempotency_keys add column counted integer not null default 0`,
    ],
  },
]

// What managing keys over HTTP needs beside the keys themselves.

export const keyMigrations: readonly Migration[] = [
  {
    id: '20261121-10-keys',
    statements: [
      // What counts moves neither updatedAt nor anything else of the key: rows of their own.
      `create table api_key_uses (
        organization_id uuid not null,
        api_key_id uuid not null,
        last_used_at timestamptz(3) not null,
        primary key (organization_id, api_key_id),
        foreign key (organization_id, api_key_id) references api_keys on delete cascade
      ) with (fillfactor = 50)`,
      // Set by the worker that has taken note of the expiry: what the key registered is disabled. Until then the key
      // is in the index that such keys are found by, whenever they expire.
      `alter table api_keys add column expiry_settled_at timestamptz(3)`,
      `alter table api_keys add check (expiry_settled_at is null or expires_at is not null)`,
      `create index api_keys_expiring on api_keys (expires_at) where expires_at is not null and expiry_settled_at is null`,
      `create index api_keys_newest on api_keys (organization_id, created_at desc, id desc)`,
      `create index api_key_tokens_of_key on api_key_tokens (organization_id, api_key_id)`,
      `create index webhooks_registrant on webhooks (organization_id, api_key_id) where status = 'active'`,
    ],
  },
]

// Links to sessions of the console, which act for the key that made the link.

export const consoleLinkMigrations: readonly Migration[] = [
  {
    id: '20261123-57-console-links',
    statements: [
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
    ],
  },
]

// What is remembered of restores: which span of an organization's stream was lost.

export const restoreMigrations: readonly Migration[] = [
  {
    id: '20261121-30-restores',
    statements: [
      // Stamps after restored_to and up to restored_at are of a past that is lost; no new commit ever has one.
      `create table restores (
        organization_id uuid not null references organizations,
        epoch integer not null,
        restored_to timestamptz(3) not null,
        restored_at timestamptz(3) not null,
        primary key (organization_id, epoch),
        check (restored_to <= restored_at)
      )`,
    ],
  },
]

// Where organizations live, when there are several databases (decision 65). Every database has the tables, and uses them when it
// is the first of an installation.

export const directoryMigrations: readonly Migration[] = [
  {
    id: '20261123-65-directory',
    statements: [
      // Null for an organization that is served here. Beside the clock too, as that is what every commit locks.
      `alter table organizations add column away text check (away in ('arriving', 'fenced', 'moved')),
         add column moves integer not null default 0`,
      `alter table organization_clocks add column away text check (away in ('arriving', 'fenced', 'moved'))`,
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
    ],
  },
]
