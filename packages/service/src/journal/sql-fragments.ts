/**
 * Fragments of the functions that change an organization's records outside of its stream. Each function takes the
 * clock row first, as commits do, so that no two run at once. Their arguments: p_organization_id, p_now and, where a
 * request can be repeated, p_response.
 */
import { refuseNotServed } from './not-served.ts'
import type { StreamReference } from './stream-table.ts'

/**
 * Takes the clock row. It fails with `lock_not_available` after the caller's limit or 250 ms, as a connection should
 * not wait for a transaction that may take a minute. The caller tries again (`GroupCommit.exclusiveTask`,
 * `unlessBusy`). Other rows are held for moments only, so they have no limit.
 */
export const lockClock = `if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  if exists (select 1 from organization_clocks c where c.organization_id = p_organization_id and c.away is not null) then
    ${refuseNotServed('(select c.away from organization_clocks c where c.organization_id = p_organization_id)')}
  end if;`

/**
 * SQL: the row of a stream table with this key, as a subquery in FROM. Without statistics the planner takes any index
 * that begins with the organization for as good as the primary key. Only the key has this order; it is a range
 * because an equality makes the order irrelevant.
 */
export function rowByKey(
  table: string,
  columns: readonly string[],
  organizationId: string,
  id: string,
): string {
  const selected = columns.map((column) => `f.${column}`).join(', ')
  return `select ${selected} from ${table} f where f.organization_id = ${organizationId} and f.id between ${id} and ${id}
              order by f.id limit 1`
}

/**
 * SQL after the condition of a row `f` that refers to another: the newest hundred that a change of that one may change.
 * Only one index has the order, for the reason above.
 */
export function changeableRows({ field, column, changeable }: StreamReference): string {
  if (changeable === undefined) throw new Error(`nothing changes objects by ${field}`)
  const values = changeable.values.map((value) => `'${value}'`).join(', ')
  return `and f.${changeable.column} in (${values}) order by f.${column.name}, f.created_at desc, f.id desc limit 100`
}

/** A stored response that has not expired (specification 13.1). */
export const unexpired = "created_at > p_now - interval '24 hours'"

/** The kind under which `kind_counters` counts stored responses' bytes. No real kind's name has a space. */
const responseCounter = 'stored response'

/**
 * Stores the responses of `select`, after a check for unexpired ones: an existing row has expired, and its bytes are
 * counted until its replacement is deleted. They count as storage of the organization (specification 14.3).
 */
export function storeResponses(select: string): string {
  return `with stored as (
      insert into idempotency_keys (organization_id, api_key_id, method, path, key, request_hash, status, subject_id, body, sealed,
          created_at, counted)
        select p_organization_id, s.api_key_id, s.method, s.path, s.key, s.request_hash, s.status, s.subject_id, s.body, s.sealed, p_now,
            coalesce(octet_length(s.body), octet_length(s.sealed), 0)
          from (${select}) s
        on conflict (organization_id, api_key_id, method, path, key) do update
          set request_hash = excluded.request_hash, status = excluded.status, subject_id = excluded.subject_id,
            body = excluded.body, sealed = excluded.sealed, created_at = excluded.created_at,
            counted = idempotency_keys.counted + excluded.counted
        returning coalesce(octet_length(body), octet_length(sealed), 0) as bytes)
    insert into kind_counters as c (organization_id, kind, live_count, digest, content_digest, last_number, stored_bytes)
      select p_organization_id, '${responseCounter}', 0, 0, 0, 0, sum(s.bytes) from stored s having count(s.bytes) > 0
      on conflict (organization_id, kind) do update set stored_bytes = c.stored_bytes + excluded.stored_bytes;`
}

/**
 * Subtracts the bytes of stored responses that the statement `gone` deletes; it returns their `counted`. A move's
 * leftovers are not counted.
 */
export function uncountResponses(gone: string): string {
  return `with gone as (${gone})
    update kind_counters c set stored_bytes = c.stored_bytes - g.counted
      from (select sum(o.counted) as counted from gone o) g
      where c.organization_id = $1 and c.kind = '${responseCounter}' and g.counted > 0
        and not exists (select 1 from organizations o where o.organization_id = $1 and o.away is not null)`
}
