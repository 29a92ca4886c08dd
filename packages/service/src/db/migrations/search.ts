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

/** The statements that bring a table of earlier releases to that form. Released: never to change. */
export function reviseSearchTable(table: string): string[] {
  // Words were not cut before; longer ones than an index entry has room for were not found.
  const words = `case when length(w.search) <= 255 then nullif(w.search, '') else
          (select string_agg(left(x.word, 255), ' ') from unnest(string_to_array(left(w.search, 200000), ' ')) x(word)) end`
  const tags = `(select string_agg('#' || replace(replace(x.tag, '%', '%25'), ' ', '%20'), ' ') from unnest(w.tags) x(tag))`
  return [
    `alter table ${table}_words rename to ${table}_words_before`,
    searchTable(table),
    `insert into ${table}_words (organization_id, id, created_at, terms)
      select w.organization_id, w.id, t.created_at, concat_ws(' ', ${tags}, ${words})
        from ${table}_words_before w join ${table} t on t.organization_id = w.organization_id and t.id = w.id`,
    `drop table ${table}_words_before`,
    ...searchIndexes(table),
    `analyze ${table}_words`,
  ]
}
