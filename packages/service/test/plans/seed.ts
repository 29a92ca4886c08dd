/** Rows by the hundred thousand, written straight into a kind's table: enough for plans, and for nothing else. */
import type { Pool } from 'pg'
import { z } from 'zod'
import type { Field } from '../../src/kernel/fields/field.ts'
import type { Kind } from '../../src/kinds/model/kind.ts'
import { attributeTerm, documentVersion } from '../../src/kinds/model/search.ts'

/** That one row in five hundred has. */
export const seededAttribute = ['plan', 'gold'] as const

/** What a column holds in the nth row, in SQL. */
function valueInRow(field: Field): string {
  if (field.column?.name === 'email') return `'v' || n || '@example.com'`
  if (field.column?.name === 'phone') return `'+49' || 10000000 + n % 10000`
  const words = choicesOf(field)
  if (words !== null)
    return `(array[${words.map((word) => `'${word}'`).join(', ')}])[1 + n % ${words.length}]`
  switch (field.column?.type) {
    case 'uuid':
      return `md5((n % 1000)::text)::uuid`
    case 'boolean':
      return 'n % 2 = 0'
    case 'bigint':
      return 'n'
    case 'timestamptz(3)':
      return `timestamptz '2026-01-01 00:00:00Z' + n * interval '1 minute'`
    default:
      return `'v' || n`
  }
}

/** What a representation has of the fields that a list is filtered by without a column, in SQL. */
function bodyInRow({ fields }: Kind): string {
  const times = Object.keys(fields).filter((name) => fields[name]?.range && fields[name]?.column === null)
  const time = `to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  return `json_build_object(${times.map((name) => `'${name}', ${time}`).join(', ')})::text`
}

/** The words that a field is one of; null when it is something else. */
export function choicesOf({ shown, schema }: Field): readonly string[] | null {
  const choices = z.toJSONSchema(shown ?? schema, { unrepresentable: 'any' }) as { enum?: string[] }
  return choices.enum ?? null
}

/** Fills a kind's table for an organization, and tells the planner. */
export async function seedRows(pool: Pool, kind: Kind, organizationId: string, rows: number): Promise<void> {
  const stored = Object.values(kind.fields).filter(({ column }) => column !== null)
  const names = stored.map(({ column }) => column?.name)
  await pool.query(
    `insert into ${kind.table.name} (organization_id, id, created_at, updated_at, body, ${names.join(', ')})
       select $1::uuid, md5($1::uuid::text || n)::uuid, at, at, ${bodyInRow(kind)}, ${stored.map(valueInRow).join(', ')}
         from (select n, timestamptz '2026-01-01 00:00:00Z' + n * interval '1 minute' as at
           from generate_series(1, $2::int) n) s`,
    [organizationId, rows],
  )
  if (kind.table.searchable) {
    await pool.query(
      `insert into ${kind.table.name}_words (organization_id, id, created_at, terms)
         select $1::uuid, md5($1::uuid::text || n)::uuid, timestamptz '2026-01-01 00:00:00Z' + n * interval '1 minute',
             '${documentVersion}\n' || case when n % 500 = 77 then '${attributeTerm(...seededAttribute)} ' else '' end
               || '#t' || n % 500 || ' word' || n % 5000 || ' name' || n
           from generate_series(1, $2::int) n`,
      [organizationId, rows],
    )
    await pool.query(`vacuum analyze ${kind.table.name}_words`)
  }
  await pool.query(`vacuum analyze ${kind.table.name}`)
}
