/** Pieces of SQL that several parts of the commit function are made of. */
import type { StreamTable } from './stream-table.ts'

/** 2^64. */
export const digestModulus = '18446744073709551616'

export const refuseFound = `v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));`

export function recordColumns(table: StreamTable): string {
  const own = table.columns.map((column) => `, ${column.name} ${column.type}`).join('')
  return `id uuid, created_at timestamptz, head text${own}`
}

/** A removed row keeps its place in the order and its removal record, and nothing else. */
export function clearedColumns(table: StreamTable): string {
  const own = table.columns.map((column) => `${column.name} = null, `).join('')
  const record = `'{"object":"removed","id":"' || t.id || '","resource":"${table.kind}","removedAt":"' || v_text || '"}'`
  return `${own}body = ${record}, removed_at = v_stamp, updated_at = v_stamp`
}

/** Rows existing, their digest (a sum modulo 2^64) and the last number given, per organization and kind. */
export function counterStatement(kind: string, count: string, digest: string, number: string): string {
  return `insert into kind_counters as c (organization_id, kind, live_count, digest, last_number)
        values (p_organization_id, '${kind}', ${count}, mod(mod(${digest}, ${digestModulus}) + ${digestModulus}, ${digestModulus}), ${number})
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          digest = mod(c.digest + excluded.digest, ${digestModulus}),
          last_number = greatest(c.last_number, excluded.last_number);`
}

/** A `timestamptz(3)` as the wire writes it. */
export function timestampText(expression: string): string {
  return `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** What the fan-out needs to know of the events just added. */
export const eventRecords = `jsonb_agg(jsonb_build_object('id', id, 'type', type, 'subject_kind', subject_kind,
      'subject_id', subject_id))`
