/**
 * The commit function: the one writer of stamps, bodies, removals, events, counters and stored responses. Its text is
 * made from the stream tables, in the order in which it runs: versions, deletes, checks, writes. Each statement covers all
 * changes of the call; docs/schema.sql shows the result. Argument and answer: `commit-protocol.ts`. It takes the
 * organization's clock row first, and guarantees:
 *
 * - the stamp is later than every earlier commit of the organization, whatever the clocks say, and at most
 *   `max_clock_skew` ahead of the database's clock unless an earlier stamp is;
 * - a change that conflicts, takes a used unique value or refers to a missing row is refused with its unit, without
 *   effect on other units; a lone change whose row has moved on is missing from the answer, which means conflict;
 * - a removal removes or detaches the row's dependents, also those created a moment ago;
 * - `body_version` never decreases;
 * - an event exists exactly if its change committed.
 */
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import {
  clearedPointer,
  clearedReference,
  contentHash,
  detachedBody,
  detachedBytes,
  digestModulus,
  digestText,
  newBody,
  removalRecord,
  restamped,
  sumOfTerms,
  tailText,
  timestampText,
  versionHash,
} from './body.ts'
import { clockAheadCode, sectionOf } from './commit-protocol.ts'
import { refuseNotServed } from './not-served.ts'
import { changeableRows, rowByKey, storeResponses, unexpired } from './sql-fragments.ts'
import type { StreamReference, StreamTable } from './stream-table.ts'

/** Pure: the same arguments give the same text and name. `createDeliveries`: `delivery/create-deliveries.sql`. */
export function commitFunction(
  tables: readonly StreamTable[],
  createDeliveries: SchemaFunction,
): SchemaFunction {
  return schemaFunction(
    'commit',
    {
      arguments: 'p_organization_id uuid, p_now timestamptz, p_changes jsonb',
      returns: 'jsonb',
      settings: byKeyOnly,
    },
    `#variable_conflict use_column
${declarations}
begin
${begin}
${replay}
${versionsHeading}${tables.map(expectedCheck).join('')}
${deletesHeading}${tables.map((table) => deletes(table, tables)).join('')}
${checksHeading}${tables.map((table) => checks(table, tables)).join('')}
${unitsTogether}
${writesHeading}${tables.map((table) => [inserts(table), updates(table), searchDocuments(table)].join('')).join('')}
${end(createDeliveries)}
end;`,
  )
}

/** Changes find rows by key: plans made while tables were small would read all rows of the organization each time. */
const byKeyOnly = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
}

/**
 * The rows of `source`, each with the organization. Without statistics the planner expects few rows of one
 * organization, so `offset 0` hides that it is one. The condition always holds; it makes the planner expect one row,
 * for which the key is cheapest.
 */
function keyed(source: string, columns: string): string {
  const names = columns.split(', ').map((column) => column.split(' ')[0])
  const [id] = names
  return `(select p_organization_id as organization_id, ${names.map((name) => `k.${name}`).join(', ')}
          from ${source} as k(${columns}) where k.${id} = any(array[k.${id}]) offset 0)`
}

/** Row `t` exists. Written so that no partial index of existing rows matches and the key is used. */
const exists = `coalesce(t.removed_at, 'infinity') = 'infinity'`

/** The rows of `table` with ids in v_dependents, as d. */
function dependentsIn(table: StreamTable, columns: readonly string[]): string {
  return `${keyed('unnest(v_dependents)', 'id')} k
            cross join lateral (${rowByKey(table.name, ['organization_id', 'id', ...columns], 'k.organization_id', 'k.id')}) d`
}

const declarations = `declare
  v_last timestamptz(3);
  v_away text;
  v_stamp timestamptz(3);
  v_text text;
  v_tail text;
  v_refused uuid[] := '{}';
  v_refusals jsonb := '[]';
  v_found jsonb;
  v_done uuid[] := '{}';
  v_bodies text[] := '{}';
  v_rows uuid[];
  v_row_bodies text[];
  v_numbers jsonb := '{}';
  v_count bigint;
  v_bytes bigint;
  v_digest numeric;
  v_content numeric;
  v_number bigint;
  v_dependents uuid[];
  v_events uuid[] := '{}';
  v_event_types text[] := '{}';
  v_event_kinds text[] := '{}';
  v_event_subjects uuid[] := '{}';
  v_any boolean;
  v_woken jsonb;
  v_gone uuid[];
  v_receipt text;
  v_large boolean;
  v_period record;
  v_owner uuid;
  v_taken text[];
  v_existing text;`

const begin = `  -- 1. Lock the clock row, which serializes the organization's commits, and compute the stamp.

  -- Reject a clock that is ahead: stamps never decrease, so it would advance the stream permanently.
  if p_now > clock_timestamp() + make_interval(secs => (p_changes->>'max_clock_skew')::int / 1000.0) then
    raise exception 'the time given is % ahead of the database', p_now - clock_timestamp()
      using errcode = '${clockAheadCode}';
  end if;
  -- Longer than any ordinary commit: a call that waits longer, and the organizations with it, tries another way.
  perform set_config('lock_timeout', coalesce(p_changes->>'lock_timeout', '250ms'), true);
  select c.last_stamp, c.away into v_last, v_away from organization_clocks c
    where c.organization_id = p_organization_id for update;
  if not found then
    raise exception 'organization % has no clock', p_organization_id;
  end if;
  if v_away is not null then
    ${refuseNotServed('v_away')}
  end if;
  -- Large commits wait longer for row locks instead of restarting.
  if p_changes ? 'row_timeout' then
    perform set_config('lock_timeout', p_changes->>'row_timeout', true);
  end if;
  v_stamp := greatest(v_last + interval '1 millisecond', p_now);
  v_text := ${timestampText('v_stamp')};
  v_tail := ${tailText('v_text')};`

const refuseFound = `v_refusals := v_refusals || v_found;
      v_refused := v_refused || array(select f.id from jsonb_to_recordset(v_found) as f(id uuid));`

const replay = `
  -- 2. A change whose idempotency key has committed already is not made again: its caller gets the stored response.

  if p_changes ? 'idempotency' then
    select jsonb_agg(jsonb_build_object('id', i.subject_id, 'reason', 'replayed')) into v_found
      from ${keyed("jsonb_to_recordset(p_changes->'idempotency')", 'subject_id uuid, api_key_id uuid, method text, path text, key text')} i
      cross join lateral (select k.key from idempotency_keys k where k.organization_id = i.organization_id
        and k.api_key_id = i.api_key_id and k.method = i.method and k.path = i.path and k.key between i.key and i.key
        and k.${unexpired} order by k.key limit 1) k;
    if v_found is not null then
      ${refuseFound}
    end if;
  end if;
`

const versionsHeading = `
  -- 3. Rows that have moved on since a unit was decided. Before the deletes, so that a unit with one is refused whole.
`

const deletesHeading = `
  ${membersOfRefused()}

  -- 4. Deletes, and what they do to the rows that refer to what is removed. Whatever else the call brings then sees the
  -- rows gone, and their dependents changed.
`

function deletes(table: StreamTable, tables: readonly StreamTable[]): string {
  if (table.removedEvent === null) return ''
  const section = sectionOf.delete(table.kind)
  const changes = `p_changes->'${section}'`
  return `
  if p_changes ? '${section}' then
    with gone as (
      update ${table.name} t set ${removed(table)}
        from ${keyed(`jsonb_to_recordset(${changes})`, existingColumns)} r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and ${exists} and r.id <> all(v_refused)
        returning t.id, t.body, r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), -count(*), -sum(old_term), -sum(old_content), -sum(old_bytes)
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes from gone;
    if v_rows is not null then
      ${addDone}
      ${count(table, { rows: 'v_count' })}
      insert into erasures (organization_id, subject_id, removed_at)
        select p_organization_id, d.id, v_stamp from unnest(v_rows) as d(id);
      ${deleteSearchDocuments(table, 'v_rows')}
${table.isErasable ? erases(table, tables) : consequencesOf(table, tables, 'v_rows')}    end if;
  end if;
`
}

/** An erase removes every row that refers to the row, whatever its reference says; and tells what it removed. */
function erases(table: StreamTable, tables: readonly StreamTable[]): string {
  // Those to which others refer come last, so that a row is not detached before it is removed.
  const reached = tables
    .filter(({ references }) => references.some(({ kind }) => kind === table.kind))
    .sort((a, b) => Number(isReferredTo(a, tables)) - Number(isReferredTo(b, tables)))
  const removals = reached.flatMap((dependent) =>
    dependent.references
      .filter(({ kind }) => kind === table.kind)
      .map((reference) => removeDependents(dependent, reference, tables, 'v_rows')),
  )
  return `      if p_changes ? 'erase' then
${removals.join('')}
      v_receipt := ${receipt(table, [table, ...reached])};
      else
${consequencesOf(table, tables, 'v_rows')}      end if;
`
}

/** The call has no other removal, so those with its stamp are the erase's. */
function receipt({ kind }: StreamTable, removed: readonly StreamTable[]): string {
  const counts = removed.map(
    (table) => `'"${table.kind}":' || (select count(*) from ${table.name} t
          where t.organization_id = p_organization_id and t.updated_at = v_stamp and t.removed_at is not null)`,
  )
  const checkpoints = removed.map(
    (table) => `(select '"${table.kind}":{"count":' || coalesce(max(c.live_count), 0) || ',"digest":"'
          || ${digestText('coalesce(max(c.digest), 0)')} || '","contentDigest":"'
          || ${digestText('coalesce(max(c.content_digest), 0)')} || '"}' from kind_counters c
          where c.organization_id = p_organization_id and c.kind = '${table.kind}')`,
  )
  return `'{"object":"erasure","resource":"${kind}","id":"' || v_rows[1] || '","erasedAt":"' || v_text || '","removed":{'
        || ${counts.join(" || ',' || ")} || '},"checkpoint":{' || ${checkpoints.join(" || ',' || ")} || '}}'`
}

function isReferredTo({ kind }: StreamTable, tables: readonly StreamTable[]): boolean {
  return tables.some(({ references }) => references.some((reference) => reference.kind === kind))
}

/** What the removal of the rows with ids in the variable `removed` does to those that refer to them. */
function consequencesOf(table: StreamTable, tables: readonly StreamTable[], removed: string): string {
  const consequences = tables.flatMap((dependent) =>
    dependent.references
      .filter((reference) => reference.kind === table.kind)
      .map((reference) => consequence(dependent, reference, tables, removed)),
  )
  return consequences.join('')
}

/** A removed row keeps its key, its position in the order and its removal record. */
function removed(table: StreamTable): string {
  const own = table.columns.map((column) => `${column.name} = null, `).join('')
  return `${own}body = ${removalRecord(table.kind, 't.id', 'v_text')}, removed_at = v_stamp, updated_at = v_stamp`
}

function consequence(
  table: StreamTable,
  reference: StreamReference,
  tables: readonly StreamTable[],
  removed: string,
): string {
  if (reference.onRemove === 'remove') return removeDependents(table, reference, tables, removed)
  return detachDependents(table, reference, removed)
}

/** A removal with dependents is alone in its call, so the trace of the call's first event is theirs too. */
function removeDependents(
  table: StreamTable,
  reference: StreamReference,
  tables: readonly StreamTable[],
  removedIds: string,
): string {
  if (table.removedEvent === null)
    throw new Error(`${table.kind}: a cascade removes it, so it needs an event`)
  const deeper = isReferredTo(table, tables)
  if (deeper && removedIds !== 'v_rows')
    throw new Error(`${table.kind}: a cascade that goes on to a fourth table is not supported`)
  return `
      with referring as (
        select t.id, ${versionHash('t.id', timestampText('t.updated_at'))} as version, ${contentHash('t.body')} as content,
            octet_length(t.body) as bytes ${referringToRemoved(table, reference, removedIds)} offset 0)
        select array_agg(id), -count(*), -${sumOfTerms('version')}, -${sumOfTerms('content')}, -sum(bytes)
          into v_dependents, v_count, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        update ${table.name} t set ${removed(table)}
          from ${dependentsIn(table, ['updated_at'])} where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        with added as (
          insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, cause)
            select p_organization_id, new_uuid_v7(v_stamp), '${table.removedEvent}', v_stamp, '${table.kind}', d.id, d.body,
                p_changes->'events'->0->>'trace_context', p_changes->'events'->0->'cause'
              from ${dependentsIn(table, ['body'])}
            returning id, type, subject_kind, subject_id)
          ${addEvents};
        insert into erasures (organization_id, subject_id, removed_at)
          select p_organization_id, c.id, v_stamp from unnest(v_dependents) as c(id);
        ${deleteSearchDocuments(table, 'v_dependents')}
        ${count(table, { rows: 'v_count' })}${deeper ? `\n        v_gone := v_dependents;\n${consequencesOf(table, tables, 'v_gone')}` : ''}
      end if;
`
}

/** Detached rows move in the stream. By `detachments`, maintenance erases the reference from events and responses. */
function detachDependents(table: StreamTable, reference: StreamReference, removedIds: string): string {
  const { field, column, within = null, onRemove } = reference
  const inPlace = onRemove === 'clear'
  const without = clearedReference('t.body', field, within, `t.${column.name}`)
  const detached = inPlace ? restamped(`(${without.cleared})`, 'v_tail') : detachedBody('t.body', 'v_tail')
  return `
      with referring as (
        select t.id, ${versionHash('t.id', 'v_text')} as version, ${contentHash(detached)} as content,
            ${versionHash('t.id', timestampText('t.updated_at'))} as old_version, ${contentHash('t.body')} as old_content
          ${referringToRemoved(table, reference, removedIds)} offset 0)
        select array_agg(id), ${sumOfTerms('version')} - ${sumOfTerms('old_version')},
            ${sumOfTerms('content')} - ${sumOfTerms('old_content')}, sum(-${inPlace ? without.bytes : detachedBytes})
          into v_dependents, v_digest, v_content, v_bytes from referring;
      if v_dependents is not null then
        insert into detachments (organization_id, subject_id, removed_id, field)
          select p_organization_id, d.id, d.${column.name}, '${inPlace ? clearedPointer(field, within) : field}' from ${dependentsIn(table, [column.name])}
          on conflict do nothing;
        update ${table.name} t set ${column.name} = null, body = ${detached},
            updated_at = v_stamp
          from ${dependentsIn(table, ['updated_at'])} where t.organization_id = d.organization_id and t.id = d.id and t.updated_at = d.updated_at;
        ${count(table)}
      end if;
`
}

function referringToRemoved(table: StreamTable, { column }: StreamReference, removedIds: string): string {
  return `from ${keyed(`unnest(${removedIds})`, 'id')} d
        cross join lateral (select f.organization_id, f.id, f.body, f.updated_at, f.${column.name} from ${table.name} f
          where f.organization_id = d.organization_id and f.${column.name} between d.id and d.id and f.removed_at is null
          order by f.${column.name} offset 0) t`
}

function deleteSearchDocuments(table: StreamTable, ids: string): string {
  if (!table.searchable) return ''
  return `delete from ${table.name}_words w using ${keyed(`unnest(${ids})`, 'id')} d
        where w.organization_id = d.organization_id and w.id = d.id;`
}

/** Adds v_digest, v_content, v_bytes and `by` to the counters; digests modulo 2^64. A call adds rows or removes them. */
function count({ kind }: StreamTable, by: { readonly rows?: string; readonly number?: string } = {}): string {
  const { rows = '0', number = '0' } = by
  return `v_digest := mod(mod(v_digest, ${digestModulus}) + ${digestModulus}, ${digestModulus});
      v_content := mod(mod(v_content, ${digestModulus}) + ${digestModulus}, ${digestModulus});
      insert into kind_counters as c (organization_id, kind, live_count, digest, stored_bytes, last_number,
          content_digest)
        values (p_organization_id, '${kind}', ${rows}, v_digest, v_bytes, ${number}, v_content)
        on conflict (organization_id, kind) do update set
          live_count = c.live_count + excluded.live_count,
          removed_count = c.removed_count + greatest(-excluded.live_count, 0),
          digest = mod(c.digest + excluded.digest, ${digestModulus}),
          content_digest = mod(c.content_digest + excluded.content_digest, ${digestModulus}),
          stored_bytes = c.stored_bytes + excluded.stored_bytes,
          last_number = greatest(c.last_number, excluded.last_number);`
}

/** Ends a statement that adds events: collects what `create_deliveries` needs of them. */
const addEvents = `select v_events || array_agg(id), v_event_types || array_agg(type), v_event_kinds || array_agg(subject_kind),
            v_event_subjects || array_agg(subject_id)
          into v_events, v_event_types, v_event_kinds, v_event_subjects from added`

const checksHeading = `
  -- 5. Refusals: unique values that are taken, references that dangle, times that are taken, referring rows that have moved on.
`

function checks(table: StreamTable, tables: readonly StreamTable[]): string {
  return [
    uniqueCheck(table),
    referencesCheck(table, tables),
    periodsCheck(table),
    ...table.references.map((reference) => referringCheck(table, reference)),
  ].join('')
}

function uniqueCheck(table: StreamTable): string {
  const { sequence } = table
  const number = sequence && { field: sequence.field, column: { name: sequence.column, type: 'bigint' } }
  const unique = number === null ? table.unique : [...table.unique, number]
  if (unique.length === 0) return ''
  const section = sectionOf.unique(table.kind)
  const changes = `p_changes->'${section}'`
  const statements = unique.map(
    ({ field, column }) => `
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'duplicate', 'field', '${field}', 'existingId', t.id))
      into v_found from ${keyed(`jsonb_to_recordset(${changes})`, `id uuid, ${column.name} ${column.type}`)} r
      join ${table.name} t on t.organization_id = r.organization_id and t.${column.name} = r.${column.name} and t.id <> r.id
      where r.id <> all(v_refused);${refuseCurrent(table, changes)}`,
  )
  return check(section, statements.join(''))
}

function referencesCheck(table: StreamTable, tables: readonly StreamTable[]): string {
  if (table.references.length === 0) return ''
  const section = sectionOf.references(table.kind)
  const changes = `p_changes->'${section}'`
  const statements = table.references.map(({ field, column, kind, condition }) => {
    const target = tables.find((other) => other.kind === kind)
    // A kind that this installation lacks has no objects, so every id of it is unknown.
    const missing =
      target === undefined
        ? 'true'
        : `not exists (select 1 from (${rowByKey(target.name, ['removed_at', ...(condition === undefined ? [] : [condition.column])], 'r.organization_id', `r.${column.name}`)}) t
          where t.removed_at is null${condition === undefined ? '' : ` and t.${condition.column}`})`
    return `
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'dangling', 'field', '${field}'))
      into v_found from ${keyed(`jsonb_to_recordset(${changes})`, `id uuid, ${column.name} uuid`)} r
      where r.${column.name} is not null and r.id <> all(v_refused) and ${missing};${refuseCurrent(table, changes)}`
  })
  return check(section, statements.join(''))
}

/** A change that is refused as a conflict is not compared. Stored objects count as they were before the call. */
function periodsCheck({ kind, name, periods }: StreamTable): string {
  if (periods === null) return ''
  const section = sectionOf.periods(kind)
  // The organization is read in the loop's query: in the condition before it, each commit would plan that read again.
  return check(
    section,
    `
    for v_period in select r.id, r.expected, r.owner, r.starts collate "C" as starts, r.ends collate "C" as ends
        from rows from (jsonb_to_recordset(p_changes->'${section}') as (id uuid, expected timestamptz, owner uuid, starts text, ends text))
          with ordinality as r(id, expected, owner, starts, ends, place)
        where r.id <> all(v_refused) and exists (select 1 from organizations o
          where o.organization_id = p_organization_id and o.prevents_double_booking) order by r.owner, r.place loop
      continue when v_period.expected is not null and not exists (select 1 from ${name} t
        where t.organization_id = p_organization_id and t.id = v_period.id and t.updated_at = v_period.expected);
      if v_owner is distinct from v_period.owner then
        v_owner := v_period.owner;
        v_taken := '{}';
      end if;
      select t.id into v_existing from ${name} t
        where t.organization_id = p_organization_id and t.${periods.owner} = v_owner and ${takesTime(periods)}
          and ${endOf(periods)} > v_period.starts and t.${periods.starts} < v_period.ends::timestamptz and t.id <> v_period.id
        order by ${endOf(periods)} limit 1;
      if v_existing is null then
        select split_part(o.period, ' ', 3) into v_existing from unnest(v_taken) as o(period)
          where split_part(o.period, ' ', 1) collate "C" < v_period.ends and split_part(o.period, ' ', 2) collate "C" > v_period.starts limit 1;
      end if;
      if v_existing is null then
        v_taken := v_taken || concat_ws(' ', v_period.starts, v_period.ends, v_period.id);
      else
        v_found := jsonb_build_array(jsonb_build_object('id', v_period.id, 'reason', 'overlap', 'existingId', v_existing));
        ${refuseFound}
      end if;
    end loop;`,
  )
}

type Periods = NonNullable<StreamTable['periods']>

function takesTime({ state, taking }: Periods): string {
  return `t.removed_at is null and t.${state} in (${taking.map((word) => `'${word}'`).join(', ')})`
}

function endOf({ ends }: Periods): string {
  return `((t.body::json)->>'${ends}') collate "C"`
}

function expectedCheck(table: StreamTable): string {
  const section = sectionOf.expected(table.kind)
  return check(
    section,
    `
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from ${keyed(`jsonb_to_recordset(p_changes->'${section}')`, 'id uuid, expected timestamptz')} r
      where not exists (select 1 from ${table.name} t where t.organization_id = r.organization_id
        and t.id = r.id and t.updated_at = r.expected and ${exists});${refuse}`,
  )
}

/** Refuses units decided on the rows which refer to another, when their number or latest stamp has changed. */
function referringCheck(table: StreamTable, reference: StreamReference): string {
  const column = reference.column.name
  const section = sectionOf.referring(table.kind, column)
  const which = reference.changeable === undefined ? '' : changeableRows(reference)
  const rows = `from (select f.updated_at from ${table.name} f where f.organization_id = p_organization_id
          and f.${column} between r.target and r.target and f.removed_at is null ${which}) t`
  return check(
    section,
    `
    select jsonb_agg(jsonb_build_object('id', r.id, 'reason', 'conflict'))
      into v_found from jsonb_to_recordset(p_changes->'${section}') as r(id uuid, target uuid, count bigint, latest timestamptz)
      where r.count <> (select count(*) ${rows})
        or r.latest is distinct from (select max(t.updated_at) ${rows});${refuse}`,
  )
}

function check(section: string, statements: string): string {
  return `
  if p_changes ? '${section}' then${statements}
  end if;
`
}

const refuse = `
    if v_found is not null then
      ${refuseFound}
    end if;`

/** Keeps only refusals of changes decided on the current row: the others are conflicts, to be decided again. */
function refuseCurrent(table: StreamTable, changes: string): string {
  return `
    if v_found is not null then
      select jsonb_agg(f.refusal) into v_found from jsonb_array_elements(v_found) as f(refusal)
        join ${keyed(`jsonb_to_recordset(${changes})`, 'id uuid, expected timestamptz')} r on r.id = (f.refusal->>'id')::uuid
        where r.expected is null or exists (select 1 from ${table.name} t where t.organization_id = r.organization_id
          and t.id = r.id and t.updated_at = r.expected and ${exists});
    end if;${refuse}`
}

function membersOfRefused(): string {
  return `if v_refused <> '{}' and p_changes ? 'units' then
    select v_refused || coalesce(array_agg(m.id), '{}') into v_refused
      from jsonb_to_recordset(p_changes->'units') as m(unit int, id uuid)
      where m.unit in (select n.unit from jsonb_to_recordset(p_changes->'units') as n(unit int, id uuid)
        where n.id = any(v_refused));
  end if;`
}

const unitsTogether = `
  -- 6. All members of a unit of which one was refused. Then inserts beyond what the organization may store, where that is
  -- limited: they are counted as they came, after what is there and without what was refused before.

  ${membersOfRefused()}
  if p_changes ? 'inserts' then
    select coalesce(sum(k.live_count), 0), coalesce(sum(k.stored_bytes), 0) into v_count, v_bytes
      from kind_counters k where k.organization_id = p_organization_id;
    select jsonb_agg(jsonb_build_object('id', g.id, 'reason', 'full', 'of', g.beyond, 'most', p_changes->('max_' || g.beyond)))
      into v_found from (
        select c.id, case when v_count + count(c.id) over earlier > (p_changes->>'max_rows')::bigint then 'rows'
            when v_bytes + sum(c.bytes) over earlier > (p_changes->>'max_bytes')::bigint then 'bytes' end as beyond
          from rows from (jsonb_to_recordset(p_changes->'inserts') as (id uuid, bytes bigint)) with ordinality
            as c(id, bytes, place)
          where c.id <> all(v_refused)
          window earlier as (order by c.place)) g
      where g.beyond is not null;${refuse}
    ${membersOfRefused()}
  end if;
`

const writesHeading = `
  -- 7. What is written: new rows, changed rows, and what they are found by.
`

function inserts(table: StreamTable): string {
  const { sequence } = table
  const section = sectionOf.insert(table.kind)
  const changes = `p_changes->'${section}'`
  const names = table.columns.map((column) => column.name)
  const numbers = sequence === null ? [] : [sequence.column]
  const numbered =
    sequence === null
      ? ''
      : `
    select c.last_number into v_number from kind_counters c
      where c.organization_id = p_organization_id and c.kind = '${table.kind}';
    v_number := coalesce(v_number, 0);`
  const body = newBody('r.head', sequence && { field: sequence.field, number: 'r.number' }, 'v_tail')
  const source =
    sequence === null
      ? `jsonb_to_recordset(${changes}) as r(${writtenColumns(table)})
          where r.id <> all(v_refused)`
      : `(select ${['id', 'created_at', 'head', ...names].map((column) => `s.${column}`).join(', ')},
            coalesce(s.${sequence.column}, greatest(v_number, max(s.${sequence.column}) over ())
              + count(*) filter (where s.${sequence.column} is null) over (order by s.created_at, s.id)) as number
          from jsonb_to_recordset(${changes}) as s(${writtenColumns(table)})
          where s.id <> all(v_refused)) r`
  return `
  if p_changes ? '${section}' then${numbered}
    with added as (
      insert into ${table.name} (${['organization_id', 'id', 'created_at', 'updated_at', 'body', 'body_version', ...names, ...numbers].join(', ')})
        select p_organization_id, r.id, r.created_at, v_stamp, ${body}, ${table.version}${names.map((name) => `, r.${name}`).join('')}${sequence === null ? '' : ', r.number'}
        from ${source}
        returning ${['id', 'body', ...numbers].join(', ')}, ${versionHash('id', 'v_text')} as version, ${contentHash('body')} as content)
      select array_agg(id), array_agg(body), count(*), ${sumOfTerms('version')}, ${sumOfTerms('content')}, sum(octet_length(body))${sequence === null ? '' : `, jsonb_object_agg(id, ${sequence.column}), max(${sequence.column})`}
        into v_rows, v_row_bodies, v_count, v_digest, v_content, v_bytes${sequence === null ? '' : ', v_found, v_number'} from added;
    if v_count > 0 then
      ${addDone}${sequence === null ? '' : '\n      v_numbers := v_numbers || v_found;'}
      ${count(table, { rows: 'v_count', ...(sequence === null ? {} : { number: 'v_number' }) })}
    end if;
  end if;
`
}

/** A body of a later version of its kind keeps that version, as it keeps the members that this version lacks. */
function updates(table: StreamTable): string {
  const section = sectionOf.update(table.kind)
  const changes = `p_changes->'${section}'`
  return `
  if p_changes ? '${section}' then
    with changed as (
      update ${table.name} t set ${table.columns.map((column) => `${column.name} = r.${column.name}, `).join('')}body = r.head || v_tail,
          body_version = greatest(t.body_version, ${table.version}), updated_at = v_stamp
        from ${keyed(`jsonb_to_recordset(${changes})`, `${existingColumns}, head text${ownColumns(table)}`)} r
        where t.organization_id = r.organization_id and t.id = r.id and t.updated_at = r.expected
          and ${exists} and r.id <> all(v_refused)
        returning t.id, t.body, ${versionHash('t.id', 'v_text')} as version, ${contentHash('t.body')} as content,
          r.old_term, r.old_content, r.old_bytes)
      select array_agg(id), array_agg(body), ${sumOfTerms('version')} - sum(old_term),
          ${sumOfTerms('content')} - sum(old_content), sum(octet_length(body)) - sum(old_bytes)
        into v_rows, v_row_bodies, v_digest, v_content, v_bytes from changed;
    if v_rows is not null then
      ${addDone}
      ${count(table)}
    end if;
  end if;
`
}

function writtenColumns(table: StreamTable): string {
  const { sequence } = table
  const number = sequence === null ? '' : `, ${sequence.column} bigint`
  return `id uuid, created_at timestamptz, head text${ownColumns(table)}${number}`
}

function ownColumns(table: StreamTable): string {
  return table.columns.map((column) => `, ${column.name} ${column.type}`).join('')
}

/** Columns of the row that a change expects: its version, its terms and its bytes. */
const existingColumns = 'id uuid, expected timestamptz, old_term bigint, old_content bigint, old_bytes int'

const addDone = `v_done := v_done || v_rows;
      v_bodies := v_bodies || v_row_bodies;`

/** Search documents are written only when changed: an index over rows would get an entry a word with every change. */
function searchDocuments(table: StreamTable): string {
  if (!table.searchable) return ''
  const section = sectionOf.searchDocuments(table.kind)
  const number = table.sequence === null ? '' : ` || coalesce(' ' || (v_numbers->>r.id::text), '')`
  return `
  if p_changes ? '${section}' then
    insert into ${table.name}_words (organization_id, id, created_at, terms)
      select p_organization_id, r.id, r.created_at, r.terms${number}
        from jsonb_to_recordset(p_changes->'${section}') as r(id uuid, created_at timestamptz, terms text)
        join unnest(v_done) as d(id) on d.id = r.id
      on conflict (organization_id, id) do update set terms = excluded.terms;
  end if;
`
}

const end = (createDeliveries: SchemaFunction) => `
  -- 8. Write events and deliveries.

  if v_done = '{}' then
    return jsonb_build_object('refused', v_refusals, 'stamp', v_text, 'done', to_jsonb(v_done));
  end if;

  with added as (
    insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, changed, cause)
      select p_organization_id, new_uuid_v7(v_stamp), e.type, v_stamp, e.subject_kind, e.subject_id, d.body, e.trace_context, e.changed, e.cause
        from jsonb_to_recordset(p_changes->'events') as e(type text, subject_kind text, subject_id uuid, trace_context text, changed jsonb,
          cause jsonb)
        join unnest(v_done, v_bodies) as d(id, body) on d.id = e.subject_id
      returning id, type, subject_kind, subject_id)
    ${addEvents};

  select d.p_any, d.p_large, d.p_woken into v_any, v_large, v_woken
    from ${createDeliveries.name}(p_organization_id, p_now, v_stamp, (p_changes->>'max_attempts')::int,
      v_events, v_event_types, v_event_kinds, v_event_subjects) d;

  -- 9. Responses to store, and last the clock.

  if p_changes ? 'idempotency' then
    ${storeResponses(`select i.subject_id, i.api_key_id, i.method, i.path, i.key, decode(i.request_hash, 'hex') as request_hash, i.status,
            coalesce(i.response, v_receipt, d.body) as body, null::bytea as sealed
          from jsonb_to_recordset(p_changes->'idempotency') as i(subject_id uuid, api_key_id uuid, method text, path text,
            key text, request_hash text, status int, response text)
          join unnest(v_done, v_bodies) as d(id, body) on d.id = i.subject_id`)}
  end if;

  update organization_clocks set last_stamp = v_stamp where organization_id = p_organization_id;
  return jsonb_build_object('refused', v_refusals, 'stamp', v_text, 'done', to_jsonb(v_done), 'numbers', v_numbers, 'receipt', v_receipt,
    'deliveries', v_any, 'woken', v_woken,
    'large', v_large, 'clock_skew', case when p_changes ? 'max_clock_skew' then round(extract(epoch from v_stamp - clock_timestamp()) / 0.001) end);`
