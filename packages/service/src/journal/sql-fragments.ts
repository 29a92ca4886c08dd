/**
 * Fragments of the functions that change an organization's records outside of its stream. Each function takes the
 * clock row first, as commits do, so that no two run at once. Their arguments: p_organization_id, p_now and, where a
 * request can be repeated, p_response.
 */
import { refuseNotServed } from './not-served.ts'
import { sealedOtherwiseCode } from './responses.ts'
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
 * Stamps and writes an event that no commit makes, under the clock row; `v_stamp` and `v_event_id` are then set. Events are read in order
 * by cursor, so none may be lost after it was read. `values`: its type, created_at, subject_kind, subject_id and body.
 */
export const recordEvent = (values: string) => `perform set_config('synchronous_commit', 'on', true);
  select c.last_stamp into v_stamp from organization_clocks c where c.organization_id = p_organization_id;
  v_stamp := greatest(v_stamp + interval '1 millisecond', p_now);
  v_event_id := new_uuid_v7(v_stamp);
  insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
    values (p_organization_id, v_event_id, ${values});
  update organization_clocks set last_stamp = v_stamp where organization_id = p_organization_id;`

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

/** Refuses one more where p_limit of these rows, as SQL of a `from`, exist. */
export function refuseBeyondLimit(rows: string): string {
  return `if (select count(*) from ${rows}) >= p_limit then
    return 'limit_reached';
  end if;`
}

/** Comes before every refusal: a repeated request gets the stored response. */
export const replayed = `if p_response is not null then
    perform 1 from idempotency_keys k where k.organization_id = p_organization_id
      and k.api_key_id = (p_response->>'api_key_id')::uuid and k.method = p_response->>'method' and k.path = p_response->>'path'
      and k.key between p_response->>'key' and p_response->>'key' and k.${unexpired} order by k.key limit 1;
    if found then
      return 'replayed';
    end if;
  end if;`

/**
 * Refuses a value sealed with another key than the database names, and locks that name until the commit. So no value
 * stays under an old key after a key rotation (decision 56). `check`: the key's check value; null where nothing is
 * sealed.
 */
export function requireSealedWith(check: string): string {
  return `if ${check} is not null then
    perform 1 from installation i where i.singleton and (i.key_check is null or i.key_check = ${check}) for share;
    if not found then
      raise exception 'sealed with another encryption key than the database names'
        using errcode = '${sealedOtherwiseCode}';
    end if;
  end if;`
}

/** Stores the response, sealed or not. `subject`: the argument with its subject's id. */
export function storeResponseAbout(subject: string): string {
  return `${requireSealedWith("decode(p_response->>'sealed_with', 'hex')")}
  if p_response is not null then
    ${storeResponses(`select (p_response->>'api_key_id')::uuid as api_key_id, p_response->>'method' as method,
              p_response->>'path' as path, p_response->>'key' as key, decode(p_response->>'request_hash', 'hex') as request_hash,
              (p_response->>'status')::int as status, ${subject} as subject_id,
              p_response->>'body' as body, decode(p_response->>'sealed', 'hex') as sealed`)}
  end if;`
}
