/** What rows are found by (decision 27): the index entries, and the tables that have them. */
import type { Migration } from '../migration.ts'

export const searchMigrations: readonly Migration[] = [
  {
    id: '20261122-10-search-vector',
    statements: [
      // Each term with the end of the organization's id in front, so that the index needs no extension to find those of one
      // organization. One expression of built-in functions, which the planner puts in place of the call.
      `create function search_vector(p_organization_id uuid, p_terms text) returns tsvector
        language sql immutable parallel safe return array_to_tsvector(string_to_array(
          right(p_organization_id::text, 8) || replace(p_terms, ' ', ' ' || right(p_organization_id::text, 8)), ' '))`,
    ],
  },
]

/** The statements that create the table beside a stream table that its rows are found in. Released: never to change. */
export function createSearchTable(table: string): string[] {
  return [searchTable(table), ...searchIndexes(table)]
}

function searchTable(table: string): string {
  return `create table ${table}_words (
      organization_id uuid not null,
      id uuid not null,
      created_at timestamptz(3) not null,
      terms text not null
    )`
}

/** After the rows: indexes made at once take a fraction of the time of indexes kept. */
function searchIndexes(table: string): string[] {
  return [
    `alter table ${table}_words add constraint ${table}_words_pkey primary key (organization_id, id)`,
    // New entries wait in a list, which every search reads: 4 MiB of it, PostgreSQL's own limit, take 10 ms, whoever wrote them.
    `create index ${table}_words_found on ${table}_words using gin (search_vector(organization_id, terms))
      with (gin_pending_list_limit = 1024)`,
  ]
}

/** The terms of a row of the form before: an expression over its columns. */
function termsOf(tags: string, search: string): string {
  // Words were not cut before; longer ones than an index entry has room for were not found.
  const words = `case when length(${search}) <= 255 then nullif(${search}, '') else
          (select string_agg(left(x.word, 255), ' ') from unnest(string_to_array(left(${search}, 200000), ' ')) x(word)) end`
  const tagTerms = `(select string_agg('#' || replace(replace(x.tag, '%', '%25'), ' ', '%20'), ' ') from unnest(${tags}) x(tag))`
  return `concat_ws(' ', ${tagTerms}, ${words})`
}

/**
 * Brings a table of earlier releases to that form, beside processes that write the old one. A new table is filled in pieces, each
 * under the clock of its organization, while a trigger writes through what they write; then it takes the old one's name. From then on
 * they write the new table as if it were the old one (`translateSearchTable`). What they look for in it they find only if they
 * wrote it.
 */
export function reviseSearchTable(table: string): Omit<Migration, 'id'> {
  const next = `${table}_words_next`
  return {
    gradually: {
      prepare: [
        `create table if not exists ${next} (
          organization_id uuid not null,
          id uuid not null,
          created_at timestamptz(3) not null,
          terms text not null,
          constraint ${next}_pkey primary key (organization_id, id)
        )`,
        `create or replace function ${table}_words_through() returns trigger language plpgsql as $function$
begin
  if tg_op = 'DELETE' then
    delete from ${next} where organization_id = old.organization_id and id = old.id;
    return null;
  end if;
  insert into ${next} (organization_id, id, created_at, terms)
    select new.organization_id, new.id, t.created_at, ${termsOf('new.tags', 'new.search')}
      from ${table} t where t.organization_id = new.organization_id and t.id = new.id
    on conflict (organization_id, id) do update set created_at = excluded.created_at, terms = excluded.terms;
  return null;
end;
$function$`,
        `create or replace trigger ${table}_words_through after insert or update or delete on ${table}_words
          for each row execute function ${table}_words_through()`,
        // Nobody of the organization writes while a piece of it is under way: each takes the clock first, and what the piece reads was
        // read before, so that it need not come from a disk meanwhile. Rows are looked up one by one, whatever statistics say: a join
        // may read the whole table, and a page that is sorted all that is left of it. A page that is not full is the last: what comes later
        // comes through the trigger, and somebody who writes all the time would keep a page from ever being empty.
        `create or replace function ${table}_words_piece(p_after text) returns text language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $function$
declare
  v_organization_id uuid := split_part(p_after, ' ', 1)::uuid;
  v_after uuid := split_part(p_after, ' ', 2)::uuid;
  v_rows integer;
begin
  if v_organization_id is null then
    select o.organization_id into v_organization_id from organization_clocks o order by o.organization_id limit 1;
    v_after := '00000000-0000-0000-0000-000000000000';
  end if;
  perform w.tags, w.search, t.created_at
    from (select s.id, s.tags, s.search from ${table}_words s
        where s.organization_id = v_organization_id and s.id > v_after order by s.id limit 200) w
      cross join lateral (
        select r.created_at from ${table} r where r.organization_id = v_organization_id and r.id = w.id limit 1) t;
  perform 1 from organization_clocks c where c.organization_id = v_organization_id for update;
  with page as materialized (
      select w.id, w.tags, w.search from ${table}_words w
        where w.organization_id = v_organization_id and w.id > v_after order by w.id limit 200),
    put as (
      insert into ${next} (organization_id, id, created_at, terms)
        select v_organization_id, p.id, t.created_at, ${termsOf('p.tags', 'p.search')}
          from page p cross join lateral (
            select r.created_at from ${table} r where r.organization_id = v_organization_id and r.id = p.id limit 1) t
        on conflict (organization_id, id) do nothing)
    select (array_agg(p.id order by p.id desc))[1], count(*) into v_after, v_rows from page p;
  if v_rows = 200 then
    return v_organization_id || ' ' || v_after;
  end if;
  select o.organization_id into v_organization_id from organization_clocks o
    where o.organization_id > v_organization_id order by o.organization_id limit 1;
  return v_organization_id || ' 00000000-0000-0000-0000-000000000000';
end;
$function$`,
      ],
      piece: `select ${table}_words_piece($1) as next`,
      // After the pieces: a piece that kept it would now and then empty its list of new entries, all over the index, under the clock.
      indexes: [
        `drop index concurrently if exists ${next}_found`,
        `create index concurrently ${next}_found on ${next} using gin (search_vector(organization_id, terms))
          with (gin_pending_list_limit = 1024)`,
      ],
    },
    statements: [
      `drop table ${table}_words`,
      `drop function ${table}_words_through(), ${table}_words_piece(text)`,
      `alter table ${next} rename to ${table}_words`,
      `alter index ${next}_pkey rename to ${table}_words_pkey`,
      `alter index ${next}_found rename to ${table}_words_found`,
      ...translateSearchTable(table),
    ],
  }
}

/**
 * Has processes of the release that knew the old form write the new one: into columns that are null in all rows but those that they
 * wrote last, from which a trigger makes the terms. May be repeated.
 */
export function translateSearchTable(table: string): string[] {
  return [
    `alter table ${table}_words add column if not exists tags text[], add column if not exists search text`,
    `create or replace function ${table}_words_translate() returns trigger language plpgsql as $function$
begin
  if tg_op = 'UPDATE' and new.terms is distinct from old.terms then
    new.tags := null;
    new.search := null;
  elsif tg_op = 'UPDATE' or new.terms is null then
    new.terms := ${termsOf('new.tags', 'new.search')};
    new.created_at := coalesce(new.created_at,
      (select t.created_at from ${table} t where t.organization_id = new.organization_id and t.id = new.id));
  end if;
  return new;
end;
$function$`,
    `create or replace trigger ${table}_words_translate before insert or update on ${table}_words
        for each row when (new.search is not null) execute function ${table}_words_translate()`,
  ]
}
