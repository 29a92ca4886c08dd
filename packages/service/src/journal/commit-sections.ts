/** The parts of the commit function that write one table: creations, updates, words. */
import { counterStatement, recordColumns } from './commit-fragments.ts'
import type { StreamTable } from './stream-table.ts'

/** Creations and updates of one table, and what its rows are found by. */
export function writeSection(table: StreamTable): string {
  const sections = [createSection(table), updateSection(table)]
  if (table.words) sections.push(wordsSection(table))
  return sections.join('')
}

function createSection(table: StreamTable): string {
  const changes = `p_changes->'${table.kind}_create'`
  const names = table.columns.map((column) => column.name)
  const number = table.sequence === null ? '' : `'"${table.sequence.field}":' || r.number || ',' || `
  const numberColumn = table.sequence === null ? [] : [table.sequence.column]
  const numbered =
    table.sequence === null
      ? ''
      : `
    select c.last_number into v_number from kind_counters c
      where c.organization_id = p_organization_id and c.kind = '${table.kind}';
    v_number := coalesce(v_number, 0);`
  const source =
    table.sequence === null
      ? `jsonb_to_recordset(${changes}) as r(${recordColumns(table)})
          where r.id <> all(v_refused)`
      : `(select ${['id', 'created_at', 'head', ...names].map((column) => `s.${column}`).join(', ')},
            v_number + row_number() over (order by s.created_at, s.id) as number
          from jsonb_to_recordset(${changes}) as s(${recordColumns(table)})
          where s.id <> all(v_refused)) r`
  return `
  if p_changes ? '${table.kind}_create' then${numbered}
    with added as (
      insert into ${table.name} (${['organization_id', 'id', 'created_at', 'updated_at', 'body', ...names, ...numberColumn].join(', ')})
        select p_organization_id, r.id, r.created_at, v_stamp, r.head || ${number}v_tail${names.map((name) => `, r.${name}`).join('')}${table.sequence === null ? '' : ', r.number'}
        from ${source}
        returning id, body)
      select jsonb_agg(jsonb_build_object('id', id, 'body', body)), count(*), sum(digest_term(id, v_text))
        into v_rows, v_count, v_digest from added;
    if v_count > 0 then
      v_done := v_done || v_rows;
      ${counterStatement(table.kind, 'v_count', 'v_digest', table.sequence === null ? '0' : 'v_number + v_count')}
    end if;
  end if;
`
}

function updateSection(table: StreamTable): string {
  const changes = `p_changes->'${table.kind}_update'`
  return `
  if p_changes ? '${table.kind}_update' then
    with changed as (
      update ${table.name} t set ${table.columns.map((column) => `${column.name} = r.${column.name}, `).join('')}body = r.head || v_tail, updated_at = v_stamp
        from jsonb_to_recordset(${changes}) as r(${recordColumns(table)}, expected timestamptz)
        where t.organization_id = p_organization_id and t.id = r.id and t.updated_at = r.expected
          and t.removed_at is null and r.id <> all(v_refused)
        returning t.id, t.body)
      select jsonb_agg(jsonb_build_object('id', id, 'body', body)) into v_rows from changed;
    if v_rows is not null then
      v_done := v_done || v_rows;
      select sum(digest_term(d.id, v_text) - r.old_term) into v_digest
        from jsonb_to_recordset(v_rows) as d(id uuid)
        join jsonb_to_recordset(${changes}) as r(id uuid, old_term numeric) on r.id = d.id;
      ${counterStatement(table.kind, '0', 'v_digest', '0')}
    end if;
  end if;
`
}

/**
 * What rows are found by stands beside them and is written only when it changes: an index of words over the rows
 * themselves takes an entry for each word at every change of anything. Measured, that took 45 % of the changes a
 * second away.
 */
function wordsSection(table: StreamTable): string {
  return `
  if p_changes ? '${table.kind}_words' then
    insert into ${table.name}_words (organization_id, id, tags, search)
      select p_organization_id, r.id, r.tags, r.search
        from jsonb_to_recordset(p_changes->'${table.kind}_words') as r(id uuid, tags text[], search text)
        join jsonb_to_recordset(v_done) as d(id uuid) on d.id = r.id
      on conflict (organization_id, id) do update set tags = excluded.tags, search = excluded.search;
  end if;
`
}
