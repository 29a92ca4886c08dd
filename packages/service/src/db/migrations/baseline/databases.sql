-- The directory and the moves of several databases (decision 65, decision 66). Every database has the tables; the
-- directory is used in the first.

-- Which database serves an organization, in the first of several databases. An organization without a row is served
-- by that database.
create table directory_organizations (
  organization_id uuid not null primary key,
  -- As DESKWIRE_DATABASES names it.
  database_name text not null,
  -- How often it has moved: of two databases that both say that they serve it, the one with more is right.
  moves integer not null default 0,
  placed_at timestamptz(3) not null default now()
);

-- From the hash of a token to its organization, of those that the first database does not serve.
create table directory_tokens (
  -- Of a key's token, of a console link, or of its session.
  token_hash bytea not null primary key,
  organization_id uuid not null,
  noted_at timestamptz(3) not null default now()
);
create index directory_tokens_of_organization on directory_tokens (organization_id);

-- In the database that an organization leaves, from the first step until its rows are dropped: where it goes, and
-- how far it is.
create table organization_moves (
  organization_id uuid primary key,
  target text not null,
  state text not null check (state in ('copying', 'left', 'arrived')),
  -- Until then no worker begins to deliver anything of it here.
  draining_until timestamptz(3) not null default '-infinity',
  runner uuid not null,
  began_at timestamptz(3) not null
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
  organization_id uuid primary key,
  source text not null,
  runner uuid not null,
  copied jsonb not null default '{}',
  sums jsonb,
  ready boolean not null default false
);

-- In both databases of a move: the rows that make an organization work, in the order of insertion.
create table moved_rows (
  organization_id uuid not null,
  place integer not null,
  table_name text not null,
  content jsonb not null,
  primary key (organization_id, place)
);
