/** The part of the commit function that refuses: unique values that are taken, references that dangle. */
import { refuseFound } from './commit-fragments.ts'
import type { StreamTable } from './stream-table.ts'

/** Refuses changes whose unique values are taken or whose references dangle. */
export function checks(
  table: StreamTable,
  changes: string,
  tables: readonly StreamTable[],
  operation: 'create' | 'update',
): string {
  const notItself = operation === 'create' ? '' : ' and t.id <> r.id'
  const refuse = `${operation === 'create' ? '' : keepCurrent(table, changes)}
    if v_found is not null then
      ${refuseFound}
    end if;`
  const unique = table.unique.map(
    ({
      field,
      column,
    }) => `    select jsonb_agg(jsonb_build_object('id', r.id, 'outcome', 'duplicate', 'field', '${field}', 'existingId', t.id))
      into v_found from jsonb_to_recordset(${changes}) as r(id uuid, ${column.name} ${column.type})
      join ${table.name} t on t.organization_id = p_organization_id and t.${column.name} = r.${column.name}${notItself}
      where r.id <> all(v_refused);${refuse}`,
  )
  const references = table.references.map(({ field, column, kind, condition }) => {
    const target = tables.find((other) => other.kind === kind)
    // A kind that this installation does not have has no objects: every id of it is unknown.
    const missing =
      target === undefined
        ? 'true'
        : `not exists (select 1 from ${target.name} t where t.organization_id = p_organization_id
          and t.id = r.check_${column.name} and t.removed_at is null${condition === undefined ? '' : ` and t.${condition.column}`})`
    return `    select jsonb_agg(jsonb_build_object('id', r.id, 'outcome', 'dangling', 'field', '${field}'))
      into v_found from jsonb_to_recordset(${changes}) as r(id uuid, check_${column.name} uuid)
      where r.check_${column.name} is not null and r.id <> all(v_refused) and ${missing};${refuse}`
  })
  return [...unique, ...references].join('\n')
}

/**
 * What a change of an outdated row would run into is no reason to refuse it: its caller has to decide anew, on
 * the row as it is. Left out of the refusals here, it ends as the conflict that it is.
 */
function keepCurrent(table: StreamTable, changes: string): string {
  return `
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join jsonb_to_recordset(${changes}) as r(id uuid, expected timestamptz) on r.id = (f.refusal->>'id')::uuid
        join ${table.name} t on t.organization_id = p_organization_id and t.id = r.id
          and t.updated_at = r.expected and t.removed_at is null;
    end if;`
}
