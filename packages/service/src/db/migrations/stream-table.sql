-- A stream table, as a template: __name__ is the table, column the kind's own columns, and the other lists are columns
-- of those.

-- The stream of __name__: rows that exist, and removal records where rows were, in the one order of (updated_at, id).
create table __name__ (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  removed_at timestamptz(3),
  body text not null,
  -- each column
  __column__ __type__,
  -- end column
  body_version smallint not null default 1,
  primary key (organization_id, id),
  check (updated_at >= created_at),
  check (removed_at = updated_at)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);

-- The stream: rows and removals in one order.
create index __name___stream on __name__ (organization_id, updated_at, id);

-- A first sync reads existing rows without stepping over old removals, and removals without stepping over rows.
create index __name___live on __name__ (organization_id, updated_at, id) where removed_at is null;
create index __name___removed on __name__ (organization_id, updated_at, id) where removed_at is not null;

create index __name___browse on __name__ (organization_id, created_at desc, id desc) where removed_at is null;

-- each unique
-- Unique within the organization, nulls apart.
create unique index __name_____column__ on __name__ (organization_id, __column__) where __column__ is not null;
-- end unique

-- each lookup
-- To find rows by, within the organization, newest first.
create index __name_____column__ on __name__ (organization_id, __column__, created_at desc, id desc)
  where removed_at is null and __column__ is not null;
-- end lookup

-- each lookup_or_null
-- Likewise, and rows are also found by having none.
create index __name_____column__ on __name__ (organization_id, __column__, created_at desc, id desc)
  where removed_at is null;
-- end lookup_or_null

-- each reference
-- By which a removal finds the rows that refer to what is removed.
create index __name_____column__ on __name__ (organization_id, __column__)
  where removed_at is null and __column__ is not null;
-- end reference
