/**
 * The commit function: the one writer of stamps, bodies, removals, events, counters and idempotency records.
 *
 * Its text is made from the stream tables: first removals, then every check, then what is written, each a section a
 * table, every statement set-based over the changes of the call and of one table alone. It promises, under the
 * organization's clock row, which it takes first:
 *
 * - the stamp is strictly later than every earlier commit of the organization, whatever the clocks say;
 * - no time that is further ahead of the database's clock than the call allows becomes a stamp;
 * - a change whose row has moved on, whose unique value is taken or whose reference dangles is left out and
 *   says so; it takes the changes of its own unit with it, and never fails its neighbours;
 * - a removed row takes its dependents with it or detaches them, those created a moment ago included;
 * - an event exists exactly if its change committed.
 *
 * It takes the changes as one JSON object; `commit-call.ts` makes it and says what is in it.
 */
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import { insteadOfExpired, unexpired } from './call-fragments.ts'
import { checkSection, unitSection } from './commit-checks.ts'
import { eventRecords, refuseFound, timestampText } from './commit-fragments.ts'
import { removeSection } from './commit-removals.ts'
import { writeSection } from './commit-sections.ts'
import { clockAheadCode } from './lead.ts'
import type { StreamTable } from './stream-table.ts'

/** The commit function for these tables. Pure: the same tables give the same text and name. */
export function commitFunction(tables: readonly StreamTable[]): SchemaFunction {
  return schemaFunction(
    'commit',
    { arguments: 'p_organization_id uuid, p_now timestamptz, p_changes jsonb', returns: 'jsonb' },
    functionBody(tables),
  )
}

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
  v_dependents uuid[];
  v_events jsonb := '[]';
  v_webhooks uuid[];
begin
  -- A clock that is wrong must not take the stream with it, whose time never goes back.
  if p_now > clock_timestamp() + make_interval(secs => (p_changes->>'max_lead')::int / 1000.0) then
    raise exception 'the time given is % ahead of the database', p_now - clock_timestamp()
      using errcode = '${clockAheadCode}';
  end if;
  -- Longer than any ordinary commit: a call that waits longer, and the organizations with it, tries another way.
  if not p_changes ? 'patient' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  select c.last_stamp into v_last from organization_clocks c
    where c.organization_id = p_organization_id for update;
  if not found then
    raise exception 'organization % has no clock', p_organization_id;
  end if;
  v_stamp := greatest(v_last + interval '1 millisecond', p_now);
  v_text := ${timestampText('v_stamp')};
  v_tail := '"updatedAt":"' || v_text || '"}';
${replaySection}
${tables.map((table) => removeSection(table, tables)).join('')}
${tables.map((table) => checkSection(table, tables)).join('')}
${unitSection}
${tables.map((table) => writeSection(table)).join('')}
  if v_done = '[]' then
    return jsonb_build_object('refused', v_refusals, 'done', v_done);
  end if;

  with added as (
    insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
      select p_organization_id, new_uuid_v7(v_stamp), e.type, v_stamp, e.subject_kind, e.subject_id, d.body
        from jsonb_to_recordset(p_changes->'events') as e(type text, subject_kind text, subject_id uuid)
        join jsonb_to_recordset(v_done) as d(id uuid, body text) on d.id = e.subject_id
      returning id, type, subject_kind, subject_id)
    select v_events || coalesce(${eventRecords}, '[]') into v_events from added;
${fanOutSection}
  if p_changes ? 'idempotency' then
    insert into idempotency_keys
        (organization_id, api_key_id, method, path, key, request_hash, status, subject_id, body, created_at)
      select p_organization_id, i.api_key_id, i.method, i.path, i.key, decode(i.request_hash, 'hex'), i.status,
          i.subject_id, coalesce(i.answer, d.body), p_now
        from jsonb_to_recordset(p_changes->'idempotency') as i(subject_id uuid, api_key_id uuid, method text, path text,
          key text, request_hash text, status int, answer text)
        join jsonb_to_recordset(v_done) as d(id uuid, body text) on d.id = i.subject_id
      ${insteadOfExpired};
  end if;

  update organization_clocks set last_stamp = v_stamp where organization_id = p_organization_id;
  return jsonb_build_object('refused', v_refusals, 'done', v_done, 'deliveries', v_webhooks is not null,
    'lead', case when p_changes ? 'max_lead' then round(extract(epoch from v_stamp - clock_timestamp()) / 0.001) end);
end;`
}

/**
 * A delivery for each endpoint that is active and subscribed now, under the clock row that a disabling takes too.
 * The lanes are locked, not only woken: a worker that is just finding its lane empty waits, and then finds these. A worker
 * that has its hands full is not told: it looks again before it lets the lane go.
 */
const fanOutSection = `
  select array_agg(w.id) into v_webhooks from webhooks w
    where w.organization_id = p_organization_id and w.status = 'active'
      and w.events && array(select e.type from jsonb_to_recordset(v_events) as e(type text));
  if v_webhooks is not null then
    insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at,
        subject_kind, subject_id, status, payload, attempt_count, max_attempts, next_attempt_at, created_at, updated_at)
      select p_organization_id, new_uuid_v7(p_now), w.id, 'infinity', e.id, e.type, v_stamp, e.subject_kind, e.subject_id,
          'pending', 'current', 0, (p_changes->>'max_attempts')::int, p_now, p_now, p_now
        from webhooks w
        join jsonb_to_recordset(v_events) as e(id uuid, type text, subject_kind text, subject_id uuid)
          on e.type = any(w.events)
        where w.organization_id = p_organization_id and w.id = any(v_webhooks);
    perform 1 from lanes l where l.organization_id = p_organization_id and l.webhook_id = any(v_webhooks)
      order by l.webhook_id for update;
    update lanes set due_at = p_now where organization_id = p_organization_id and webhook_id = any(v_webhooks)
      and (due_at is null or due_at > p_now) and (lease_id is null or listening);
  end if;`

/** A change whose idempotency key has committed already is not made again: its caller gets the first answer. */
const replaySection = `
  if p_changes ? 'idempotency' then
    select jsonb_agg(jsonb_build_object('id', i.subject_id, 'outcome', 'replayed')) into v_found
      from jsonb_to_recordset(p_changes->'idempotency')
        as i(subject_id uuid, api_key_id uuid, method text, path text, key text)
      join idempotency_keys k on k.organization_id = p_organization_id and k.api_key_id = i.api_key_id
        and k.method = i.method and k.path = i.path and k.key = i.key
        and k.${unexpired};
    if v_found is not null then
      ${refuseFound}
    end if;
  end if;
`
