/**
 * The commit function: the one writer of stamps, bodies, removals, events, counters and idempotency records.
 *
 * Its text is made from the stream tables, one section a table, every statement set-based over the changes of
 * the call and of one table alone. It promises, under the organization's clock row, which it takes first:
 *
 * - the stamp is strictly later than every earlier commit of the organization, whatever the clocks say;
 * - a change whose row has moved on, whose unique value is taken or whose reference dangles is left out and
 *   says so; it never fails its neighbours;
 * - a removed row takes its dependents with it, those created a moment ago included;
 * - an event exists exactly if its change committed.
 *
 * It takes the changes as one JSON object; `commit-call.ts` makes it and says what is in it.
 */
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import type { StreamReference, StreamTable } from './stream-table.ts'

/** The commit function for these tables. Pure: the same tables give the same text and name. */
export function commitFunction(tables: readonly StreamTable[]): SchemaFunction {
  return schemaFunction(
    'commit',
    { arguments: 'p_organization_id uuid, p_now timestamptz, p_changes jsonb', returns: 'jsonb' },
    functionBody(tables),
  )
}

/** 2^64. */
const modulus = '18446744073709551616'

const refuseFound = `v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));`

function functionBody(tables: readonly StreamTable[]): string {
  return `#variable_conflict use_column
declare
  v_last timestamptz(3);
  v_stamp timestamptz(3);
  v_text text;
  v_tail text;
  v_refused uuid[] := '{}';
  v_refusals jsonb := '[]';
  v_found jsonb;
  v_done jsonb := '[]';
  v_rows jsonb;
  v_count bigint;
  v_digest numeric;
  v_number bigint;
  v_cascaded uuid[];
  v_events jsonb := '[]';
  v_webhooks uuid[];
begin
  select c.last_stamp into v_last from organization_clocks c
    where c.organization_id = p_organization_id for update;
  if not found then
    raise exception 'organization % has no clock', p_organization_id;
  end if;
  v_stamp := greatest(v_last + interval '1 millisecond', p_now);
  v_text := ${timestampText('v_stamp')};
  v_tail := '"updatedAt":"' || v_text || '"}';
${replaySection}
${tables.map((table) => tableSection(table, tables)).join('\n')}
  if v_done = '[]' then
    return jsonb_build_object('refused', v_refusals, 'done', v_done);
  end if;

  with added as (
    insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
      select p_organization_id, e.id, e.type, v_stamp, e.subject_kind, e.subject_id, d.body
        from jsonb_to_recordset(p_changes->'events') as e(id uuid, type text, subject_kind text, subject_id uuid)
        join jsonb_to_recordset(v_done) as d(id uuid, body text) on d.id = e.subject_id
      returning id, type)
    select v_events || coalesce(jsonb_agg(jsonb_build_object('id', id, 'type', type)), '[]') into v_events from added;
${fanOutSection}
  if p_changes ? 'idempotency' then
    insert into idempotency_keys
        (organization_id, api_key_id, method, path, key, request_hash, status, subject_id, body, created_at)
      select p_organization_id, i.api_key_id, i.method, i.path, i.key, decode(i.request_hash, 'hex'), i.status,
          i.subject_id, d.body, p_now
        from jsonb_to_recordset(p_changes->'idempotency')
          as i(subject_id uuid, api_key_id uuid, method text, path text, key text, request_hash text, status int)
        join jsonb_to_recordset(v_done) as d(id uuid, body text) on d.id = i.subject_id;
  end if;

  update organization_clocks set last_stamp = v_stamp where organization_id = p_organization_id;
  return jsonb_build_object('refused', v_refusals, 'done', v_done, 'deliveries', v_webhooks is not null);
end;`
}

/**
 * A delivery for each endpoint that is active and subscribed now, under the clock row that a disabling takes too.
 * The lanes are locked, not only woken: a worker that is just finding its lane empty waits, and then finds these.
 */
const fanOutSection = `
  select array_agg(w.id) into v_webhooks from webhooks w
    where w.organization_id = p_organization_id and w.status = 'active'
      and w.events && array(select e.type from jsonb_to_recordset(v_events) as e(type text));
  if v_webhooks is not null then
    insert into deliveries (organization_id, id, webhook_id, event_id, event_type, status, payload, attempt_count,
        max_attempts, next_attempt_at, created_at, updated_at)
      select p_organization_id, new_uuid_v7(p_now), w.id, e.id, e.type, 'pending', 'current', 0,
          (p_changes->>'max_attempts')::int, p_now, p_now, p_now
        from webhooks w join jsonb_to_recordset(v_events) as e(id uuid, type text) on e.type = any(w.events)
        where w.organization_id = p_organization_id and w.id = any(v_webhooks);
    perform 1 from lanes l where l.organization_id = p_organization_id and l.webhook_id = any(v_webhooks)
      order by l.webhook_id for update;
    update lanes set due_at = p_now where organization_id = p_organization_id and webhook_id = any(v_webhooks)
      and (due_at is null or due_at > p_now);
  end if;`

/** A change whose idempotency key has committed already is not made again: its caller gets the first answer. */
const replaySection = `
  if p_changes ? 'idempotency' then
    select jsonb_agg(jsonb_build_object('id', i.subject_id, 'outcome', 'replayed')) into v_found
      from jsonb_to_recordset(p_changes->'idempotency')
        as i(subject_id uuid, api_key_id uuid, method text, path text, key text)
      join idempotency_keys k on k.organization_id = p_organization_id and k.api_key_id = i.api_key_id
        and k.method = i.method and k.path = i.path and k.key = i.key
        and k.created_at > p_now - interval '24 hours';
    if v_found is not null then
      ${refuseFound}
    end if;
    delete from idempotency_keys k using jsonb_to_recordset(p_changes->'idempotency')
        as i(api_key_id uuid, method text, path text, key text)
      where k.organization_id = p_organization_id and k.api_key_id = i.api_key_id
        and k.method = i.method and k.path = i.path and k.key = i.key
        and k.created_at <= p_now - interval '24 hours';
  end if;
`

function tableSection(table: StreamTable, tables: readonly StreamTable[]): string {
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

/** Refuses changes whose unique values are taken or whose references dangle. */
function checks(
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

function recordColumns(table: StreamTable): string {
  const own = table.columns.map((column) => `, ${column.name} ${column.type}`).join('')
  return `id uuid, created_at timestamptz, head text${own}`
}

/** A removed row keeps its place in the order and its removal record, and nothing else. */
function clearedColumns(table: StreamTable): string {
  const own = table.columns.map((column) => `${column.name} = null, `).join('')
  const record = `'{"object":"removed","id":"' || t.id || '","resource":"${table.kind}","removedAt":"' || v_text || '"}'`
  return `${own}body = ${record}, removed_at = v_stamp, updated_at = v_stamp`
}

/** Rows existing, their digest (a sum modulo 2^64) and the last number given, per organization and kind. */
function counterStatement(kind: string, count: string, digest: string, number: string): string {
  return `insert into kind_counters as c (organization_id, kind, live_count, digest, last_number)
        values (p_organization_id, '${kind}', ${count}, mod(mod(${digest}, ${modulus}) + ${modulus}, ${modulus}), ${number})
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          digest = mod(c.digest + excluded.digest, ${modulus}),
          last_number = greatest(c.last_number, excluded.last_number);`
}

/** A `timestamptz(3)` as the wire writes it. */
export function timestampText(expression: string): string {
  return `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}
