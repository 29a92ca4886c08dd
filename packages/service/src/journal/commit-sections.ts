/** The parts of the commit function that write one table: creations, updates, words, removals, cascades. */
import { checks } from './commit-checks.ts'
import { clearedColumns, counterStatement, recordColumns, timestampText } from './commit-fragments.ts'
import type { StreamReference, StreamTable } from './stream-table.ts'

/** All that the commit function does with one table. */
export function tableSection(table: StreamTable, tables: readonly StreamTable[]): string {
  const sections = [createSection(table, tables), updateSection(table, tables)]
  if (table.words) sections.push(wordsSection(table))
  if (table.removedEvent !== null) sections.push(removeSection(table, tables))
  return sections.join('')
}

function createSection(table: StreamTable, tables: readonly StreamTable[]): string {
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
  if p_changes ? '${table.kind}_create' then
${checks(table, changes, tables, 'create')}${numbered}
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

function updateSection(table: StreamTable, tables: readonly StreamTable[]): string {
  const changes = `p_changes->'${table.kind}_update'`
  return `
  if p_changes ? '${table.kind}_update' then
${checks(table, changes, tables, 'update')}
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

/** Removes what the rows with these ids are found by. */
function forgetWords(table: StreamTable, ids: string): string {
  if (!table.words) return ''
  return `delete from ${table.name}_words where organization_id = p_organization_id and id in (${ids});`
}

function removeSection(table: StreamTable, tables: readonly StreamTable[]): string {
  const changes = `p_changes->'${table.kind}_remove'`
  const cascades = tables.flatMap((dependent) =>
    dependent.references
      .filter((reference) => reference.kind === table.kind && reference.onRemove === 'remove')
      .map((reference) => cascadeSection(dependent, reference, tables)),
  )
  return `
  if p_changes ? '${table.kind}_remove' then
    with gone as (
      update ${table.name} t set ${clearedColumns(table)}
        from jsonb_to_recordset(${changes}) as r(id uuid, expected timestamptz)
        where t.organization_id = p_organization_id and t.id = r.id and t.updated_at = r.expected
          and t.removed_at is null and r.id <> all(v_refused)
        returning t.id, t.body)
      select jsonb_agg(jsonb_build_object('id', id, 'body', body)) into v_rows from gone;
    if v_rows is not null then
      v_done := v_done || v_rows;
      select -count(*), -sum(r.old_term) into v_count, v_digest
        from jsonb_to_recordset(v_rows) as d(id uuid)
        join jsonb_to_recordset(${changes}) as r(id uuid, old_term numeric) on r.id = d.id;
      ${counterStatement(table.kind, 'v_count', 'v_digest', '0')}
      insert into erasures (organization_id, subject_id, removed_at)
        select p_organization_id, d.id, v_stamp from jsonb_to_recordset(v_rows) as d(id uuid);
      ${forgetWords(table, 'select d.id from jsonb_to_recordset(v_rows) as d(id uuid)')}
${cascades.join('')}    end if;
  end if;
`
}

/** Removes the rows that refer to the rows just removed (their ids in v_rows), an event each. */
function cascadeSection(
  table: StreamTable,
  reference: StreamReference,
  tables: readonly StreamTable[],
): string {
  if (table.removedEvent === null)
    throw new Error(`${table.kind}: a cascade removes it, so it needs an event`)
  const deeper = tables.some(({ references }) =>
    references.some(({ kind, onRemove }) => kind === table.kind && onRemove === 'remove'),
  )
  if (deeper) throw new Error(`${table.kind}: a cascade that goes on to a third table is not supported`)
  return `
      select array_agg(t.id), -count(*), -sum(digest_term(t.id, ${timestampText('t.updated_at')}))
        into v_cascaded, v_count, v_digest from ${table.name} t
        where t.organization_id = p_organization_id and t.removed_at is null
          and t.${reference.column.name} in (select d.id from jsonb_to_recordset(v_rows) as d(id uuid));
      if v_cascaded is not null then
        update ${table.name} t set ${clearedColumns(table)}
          where t.organization_id = p_organization_id and t.id = any(v_cascaded);
        with added as (
          insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
            select p_organization_id, new_uuid_v7(v_stamp), '${table.removedEvent}', v_stamp, '${table.kind}', t.id, t.body
              from ${table.name} t where t.organization_id = p_organization_id and t.id = any(v_cascaded)
            returning id, type)
          select v_events || jsonb_agg(jsonb_build_object('id', id, 'type', type)) into v_events from added;
        insert into erasures (organization_id, subject_id, removed_at)
          select p_organization_id, c.id, v_stamp from unnest(v_cascaded) as c(id);
        ${forgetWords(table, 'select c.id from unnest(v_cascaded) as c(id)')}
        ${counterStatement(table.kind, 'v_count', 'v_digest', '0')}
      end if;
`
}
