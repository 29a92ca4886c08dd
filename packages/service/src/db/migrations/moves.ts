import type { Migration } from '../migration.ts'

/** What databases note of organizations that are moved from one to another (decision 66). */
export const moveMigrations: readonly Migration[] = [
  {
    id: '20261123-66-moves',
    statements: [
      // In the database that an organization leaves, from the first step until what it leaves behind is dropped.
      `create table organization_moves (
        organization_id uuid primary key,
        target text not null,
        state text not null check (state in ('copying', 'left', 'arrived')),
        -- Until then no worker begins to deliver anything of it here.
        draining_until timestamptz(3) not null default '-infinity',
        runner uuid not null,
        began_at timestamptz(3) not null
      )`,
      // In the database that it leaves: which rows have changed and are still to be copied. Never read without them.
      `create table move_changes (
        organization_id uuid not null,
        id uuid not null default gen_random_uuid(),
        table_name text not null,
        key jsonb not null,
        primary key (organization_id, id)
      )`,
      // In the database that it comes to, until it is served there.
      `create table organization_arrivals (
        organization_id uuid primary key,
        source text not null,
        runner uuid not null,
        copied jsonb not null default '{}',
        sums jsonb,
        ready boolean not null default false
      )`,
      // In both: what makes an organization work, in the order in which it is put in. There it waits for the turn; here it is kept.
      `create table moved_rows (
        organization_id uuid not null,
        place integer not null,
        table_name text not null,
        content jsonb not null,
        primary key (organization_id, place)
      )`,
    ],
  },
]
