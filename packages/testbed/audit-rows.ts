/** Compares rows of one kind with themselves and with what they refer to: part of the audit (audit.ts). */
import { isDeepStrictEqual } from 'node:util'
import type { Pool } from 'pg'
import { kinds } from '../service/src/desk/index.ts'
import type { Kind } from '../service/src/kinds/model/kind.ts'
import { columnValues, parseRepresentation } from '../service/src/kinds/model/representation.ts'
import { recordOf } from './follower.ts'

/** SQL: a timestamp as on the wire. */
export const text = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Columns agree with bodies, removed rows are empty, search documents belong to existing rows, references exist. */
export async function auditRows(
  pool: Pick<Pool, 'query'>,
  organizationId: string,
  kind: Kind,
): Promise<string[]> {
  return [
    ...(await auditColumns(pool, organizationId, kind)),
    ...(await auditWords(pool, organizationId, kind)),
    ...(await auditReferences(pool, organizationId, kind)),
  ]
}

async function auditColumns(
  pool: Pick<Pool, 'query'>,
  organizationId: string,
  kind: Kind,
): Promise<string[]> {
  const { name, table } = kind
  const shown = table.columns.map(
    (column) =>
      `'${column.name}', ${column.type === 'timestamptz(3)' ? text(`t.${column.name}`) : `t.${column.name}`}`,
  )
  // A number is never used again, so it stays with its removal record.
  const number = table.sequence === null ? 'null' : `t.${table.sequence.column}`
  const { rows } = await pool.query<{
    id: string
    body: string
    version: number
    at: string
    removed: boolean
    held: Record<string, unknown>
    number: string | null
  }>(
    `select t.id, t.body, t.body_version as version, ${text('t.updated_at')} as at, t.removed_at is not null as removed,
        json_build_object(${shown.join(', ')}) as held, ${number} as number
       from ${table.name} t where t.organization_id = $1`,
    [organizationId],
  )
  return rows.flatMap(({ id, body, version, at, removed, held, number }) => {
    const record = recordOf(body)
    const problems: string[] = []
    if (record.id !== id || record.at !== at || record.removed !== removed)
      problems.push(`${name} ${id}: ${body}`)
    const state = removed ? null : parseRepresentation(kind, { body, version }).state
    const wanted =
      state === null
        ? Object.fromEntries(table.columns.map((column) => [column.name, null]))
        : columnValues(kind, state)
    const misnumbered = table.sequence !== null && state?.[table.sequence.field] !== Number(number)
    if (!isDeepStrictEqual(held, wanted) || (misnumbered && !removed))
      problems.push(`${name} ${id} holds ${JSON.stringify(held)} and ${number}: ${body}`)
    return problems
  })
}

async function auditWords(
  pool: Pick<Pool, 'query'>,
  organizationId: string,
  { name, table }: Kind,
): Promise<string[]> {
  if (!table.searchable) return []
  const { rows } = await pool.query<{ id: string }>(
    `select coalesce(w.id, t.id) as id from ${table.name} t
       full join ${table.name}_words w on w.organization_id = t.organization_id and w.id = t.id
       where coalesce(t.organization_id, w.organization_id) = $1
         and (w.id is not null) <> (t.id is not null and t.removed_at is null)`,
    [organizationId],
  )
  return rows.map(({ id }) => `words of a ${name} that is not there, or none of one that is: ${id}`)
}

async function auditReferences(
  pool: Pick<Pool, 'query'>,
  organizationId: string,
  { name, table }: Kind,
): Promise<string[]> {
  const problems: string[] = []
  for (const { field, column, kind } of table.references) {
    const target = kinds.find((other) => other.name === kind) as Kind
    const { rows } = await pool.query<{ id: string }>(
      `select t.id from ${table.name} t where t.organization_id = $1 and t.${column.name} is not null
         and not exists (select 1 from ${target.table.name} o
           where o.organization_id = $1 and o.id = t.${column.name} and o.removed_at is null)`,
      [organizationId],
    )
    problems.push(...rows.map(({ id }) => `${field} of ${name} ${id} dangles`))
  }
  return problems
}
