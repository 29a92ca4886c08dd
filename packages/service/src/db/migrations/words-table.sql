-- Search terms of a kind (decision 27), as a template: __name__ is its stream table.

-- The words that __name__ are found by, in a table of their own, so that other changes write nothing here.
create table __name___words (
  organization_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  terms text not null,
  primary key (organization_id, id)
);

-- New entries wait in a list that every search reads: PostgreSQL's default of 4 MiB takes 10 ms.
create index __name___words_found on __name___words using gin (search_vector(organization_id, terms))
  with (gin_pending_list_limit = 1024);

-- Documents that an earlier release wrote (kinds/model/backfill.ts): empty when all are written anew.
create index __name___words_outdated on __name___words (organization_id, id) where left(terms, 2) <> '~4';
