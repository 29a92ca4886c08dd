/**
 * The part of the commit function that removes rows, and what their removal does to the rows that refer to them.
 * It comes first: whatever else the call brings then sees the rows gone, and their dependents changed.
 */
import { clearedColumns, counterStatement, eventRecords, timestampText } from './commit-fragments.ts'
import type { StreamReference, StreamTable } from './stream-table.ts'

/** Removals of one table. */
export function removeSection(table: StreamTable, tables: readonly StreamTable[]): string {
  if (table.removedEvent === null) return ''
  const changes = `p_changes->'${table.kind}_remove'`
  const dependents = tables.flatMap((dependent) =>
    dependent.references
      .filter((reference) => reference.kind === table.kind)
      .map((reference) => dependentSection(dependent, reference, tables)),
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
${dependents.join('')}    end if;
  end if;
`
}

function dependentSection(
  table: StreamTable,
  reference: StreamReference,
  tables: readonly StreamTable[],
): string {
  switch (reference.onRemove) {
    case 'remove':
      return cascadeSection(table, reference, tables)
    case 'detach':
      return detachSection(table, reference)
    case 'keep':
      return ''
  }
}

/** Rows that refer to the rows just removed, whose ids are in v_rows. */
function referring(table: StreamTable, { column }: StreamReference): string {
  return `from ${table.name} t
        where t.organization_id = p_organization_id and t.removed_at is null
          and t.${column.name} in (select d.id from jsonb_to_recordset(v_rows) as d(id uuid))`
}

/** Removes the rows that refer to those just removed, an event each. */
function cascadeSection(
  table: StreamTable,
  reference: StreamReference,
  tables: readonly StreamTable[],
): string {
  if (table.removedEvent === null)
    throw new Error(`${table.kind}: a cascade removes it, so it needs an event`)
  const deeper = tables.some(({ references }) =>
    references.some(({ kind, onRemove }) => kind === table.kind && onRemove !== 'keep'),
  )
  if (deeper) throw new Error(`${table.kind}: a cascade that goes on to a third table is not supported`)
  return `
      select array_agg(t.id), -count(*), -sum(digest_term(t.id, ${timestampText('t.updated_at')}))
        into v_dependents, v_count, v_digest ${referring(table, reference)};
      if v_dependents is not null then
        update ${table.name} t set ${clearedColumns(table)}
          where t.organization_id = p_organization_id and t.id = any(v_dependents);
        with added as (
          insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
            select p_organization_id, new_uuid_v7(v_stamp), '${table.removedEvent}', v_stamp, '${table.kind}', t.id, t.body
              from ${table.name} t where t.organization_id = p_organization_id and t.id = any(v_dependents)
            returning id, type, subject_kind, subject_id)
          select v_events || ${eventRecords} into v_events from added;
        insert into erasures (organization_id, subject_id, removed_at)
          select p_organization_id, c.id, v_stamp from unnest(v_dependents) as c(id);
        ${forgetWords(table, 'select c.id from unnest(v_dependents) as c(id)')}
        ${counterStatement(table.kind, 'v_count', 'v_digest', '0')}
      end if;
`
}

/**
 * Rows that stay lose their reference to those just removed, and move in the stream. A representation ends in the
 * reference and `updatedAt`, both of one length always: nothing of a body but its end is looked at.
 */
function detachSection(table: StreamTable, reference: StreamReference): string {
  const { field, column } = reference
  const id = '00000000-0000-0000-0000-000000000000'
  const ending = `"${field}":"${id}","updatedAt":"2026-01-31T09:30:00.000Z"}`.length
  return `
      select array_agg(t.id), sum(digest_term(t.id, v_text) - digest_term(t.id, ${timestampText('t.updated_at')}))
        into v_dependents, v_digest ${referring(table, reference)};
      if v_dependents is not null then
        update ${table.name} t set ${column.name} = null, body = left(t.body, -${ending}) || '"${field}":null,' || v_tail,
            updated_at = v_stamp
          where t.organization_id = p_organization_id and t.id = any(v_dependents);
        ${counterStatement(table.kind, '0', 'v_digest', '0')}
      end if;
`
}

/** Removes what the rows with these ids are found by. */
function forgetWords(table: StreamTable, ids: string): string {
  if (!table.words) return ''
  return `delete from ${table.name}_words where organization_id = p_organization_id and id in (${ids});`
}
