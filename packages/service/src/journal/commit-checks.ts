/**
 * The part of the commit function that refuses, before anything but removals is written: unique values that are
 * taken, references that dangle, rows that have moved on, and units of which one member is refused.
 */
import { refuseFound } from './commit-fragments.ts'
import type { StreamTable } from './stream-table.ts'

/** Refuses what cannot be done to one table. */
export function checkSection(table: StreamTable, tables: readonly StreamTable[]): string {
  return [
    ...uniqueChecks(table),
    ...referenceChecks(table, tables),
    expectedCheck(table),
    ...table.references.map(({ column }) => referringCheck(table, column.name)),
  ].join('')
}

/** All members of a unit of which one was refused. */
export const unitSection = `
  if v_refused <> '{}' and p_changes ? 'units' then
    select v_refused || coalesce(array_agg(m.id), '{}') into v_refused
      from jsonb_to_recordset(p_changes->'units') as m(unit int, id uuid)
      where m.unit in (select n.unit from jsonb_to_recordset(p_changes->'units') as n(unit int, id uuid)
        where n.id = any(v_refused));
  end if;
`

function uniqueChecks(table: StreamTable): string[] {
  if (table.unique.length === 0) return []
  const changes = `p_changes->'${table.kind}_unique'`
  const checks = table.unique.map(
    ({ field, column }) => `
    select jsonb_agg(jsonb_build_object('id', r.id, 'outcome', 'duplicate', 'field', '${field}', 'existingId', t.id))
      into v_found from jsonb_to_recordset(${changes}) as r(id uuid, ${column.name} ${column.type})
      join ${table.name} t on t.organization_id = p_organization_id and t.${column.name} = r.${column.name} and t.id <> r.id
      where r.id <> all(v_refused);${refuseCurrent(table, changes)}`,
  )
  return [section(`${table.kind}_unique`, checks.join(''))]
}

function referenceChecks(table: StreamTable, tables: readonly StreamTable[]): string[] {
  if (table.references.length === 0) return []
  const changes = `p_changes->'${table.kind}_references'`
  const checks = table.references.map(({ field, column, kind, condition }) => {
    const target = tables.find((other) => other.kind === kind)
    // A kind that this installation does not have has no objects: every id of it is unknown.
    const missing =
      target === undefined
        ? 'true'
        : `not exists (select 1 from ${target.name} t where t.organization_id = p_organization_id
          and t.id = r.${column.name} and t.removed_at is null${condition === undefined ? '' : ` and t.${condition.column}`})`
    return `
    select jsonb_agg(jsonb_build_object('id', r.id, 'outcome', 'dangling', 'field', '${field}'))
      into v_found from jsonb_to_recordset(${changes}) as r(id uuid, ${column.name} uuid)
      where r.${column.name} is not null and r.id <> all(v_refused) and ${missing};${refuseCurrent(table, changes)}`
  })
  return [section(`${table.kind}_references`, checks.join(''))]
}

/** Rows that units were decided on and that are not as they were. */
function expectedCheck(table: StreamTable): string {
  return section(
    `${table.kind}_expected`,
    `
    select jsonb_agg(jsonb_build_object('id', r.id, 'outcome', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'${table.kind}_expected') as r(id uuid, expected timestamptz)
      where not exists (select 1 from ${table.name} t where t.organization_id = p_organization_id
        and t.id = r.id and t.updated_at = r.expected and t.removed_at is null);${refuse}`,
  )
}

/** Rows that refer to another row: whatever came, went or changed moved their number or their latest stamp. */
function referringCheck(table: StreamTable, column: string): string {
  const changes = `${table.kind}_${column}_referring`
  const rows = `from ${table.name} t where t.organization_id = p_organization_id and t.${column} = r.target
          and t.removed_at is null`
  return section(
    changes,
    `
    select jsonb_agg(jsonb_build_object('id', r.id, 'outcome', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'${changes}') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) ${rows})
        or r.latest is distinct from (select max(t.updated_at) ${rows});${refuse}`,
  )
}

function section(key: string, statements: string): string {
  return `
  if p_changes ? '${key}' then${statements}
  end if;
`
}

const refuse = `
    if v_found is not null then
      ${refuseFound}
    end if;`

/**
 * What a change of an outdated row would run into is no reason to refuse it: its caller has to decide anew, on
 * the row as it is. Left out of the refusals here, it ends as the conflict that it is.
 */
function refuseCurrent(table: StreamTable, changes: string): string {
  return `
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join jsonb_to_recordset(${changes}) as r(id uuid, expected timestamptz) on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from ${table.name} t where t.organization_id = p_organization_id
          and t.id = r.id and t.updated_at = r.expected and t.removed_at is null);
    end if;${refuse}`
}
