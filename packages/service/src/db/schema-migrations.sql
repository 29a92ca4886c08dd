-- Which migrations the database has had.
create table if not exists schema_migrations (
  id text primary key,
  applied_at timestamptz(3) not null default now()
);
