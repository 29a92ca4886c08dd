-- A template (db/sql-file.ts): what is between "each kind" and "end kind" repeats for every kind.
--
-- The commit function: the one writer of the rows of an organization, with their stamps, removals, events, counters and
-- stored responses. The events of endpoints and the responses to their changes, others write under the same lock
-- (record-event.sql, store-response.sql). It does what a call asks for in this order: versions, deletes, checks,
-- writes. It guarantees:
--
-- - the stamp is later than that of every earlier commit of the organization, whatever the clocks say, and at most
--   max_clock_skew ahead of the database's clock, unless the stamp before it is further ahead;
-- - a change of a row that has moved on, one that takes a used unique value or time, and one that refers to a missing
--   row is refused with its unit, without effect on others; a lone change of a row that has moved on is missing from
--   the answer, which means conflict. Two units of a call never have a row, a unique value or a key in common
--   (group-commit.ts); where they would, an index fails the call, and each unit is sent by itself;
-- - a removal removes or detaches the row's dependents, also those created a moment ago;
-- - an event exists exactly if its change committed, and a delivery for each endpoint that is active and subscribed;
-- - the counters are those of the rows, at every stamp.
--
-- Commits of an organization come one after another: each locks its clock row, which none of them changes, and appends
-- to `commits` what it has counted, so that nothing here gets slower while somebody holds a snapshot; `clocks` and
-- `kind_counters` are views of the latest. p_changes: values of commit-change.sql; p_heads: the long texts, apart, as a
-- quote in a composite value is written twice. Both are texts with a separator that no entry can have between them: an
-- array would double each quote and backslash once more, and PostgreSQL reads it character by character.
create function commit(
  p_organization_id uuid, p_now timestamptz, p_limits commit_limits, p_changes text, p_heads text
) returns jsonb language plpgsql volatile
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $function$
declare
  v_changes commit_change[] := string_to_array(p_changes, e'\x1e"\x1e')::commit_change[];
  v_heads text[] := string_to_array(p_heads, e'\x1e"\x1e');
  v_set text;
  v_away text;
  v_floor timestamptz;
  v_stamp timestamptz(3);
  v_kinds text[] := p_limits.kinds;
  v_operations text[] := p_limits.operations;
  v_refused uuid[] := '{}';
  v_refusals jsonb := '[]';
  v_written written_row[] := '{}';
  v_gone written_row[];
  v_next written_row[];
  v_kind text;
  v_ids uuid[];
  v_erases boolean := p_limits.erases;
  v_receipt text;
  v_events new_delivery[];
  v_done jsonb;
  v_endpoints uuid[];
  v_made jsonb;
begin
  -- 1. The clock row: lock, and stamp. A clock that is ahead is refused, as stamps never decrease: it would advance the
  -- stream for good. A call waits longer for the lock only where no other organization waits with it.

  if p_now > clock_timestamp() + make_interval(secs => p_limits.max_clock_skew / 1000.0) then
    raise exception 'the time given is % ahead of the database', p_now - clock_timestamp() using errcode = 'DW001';
  end if;
  -- An assignment, as it costs no statement.
  v_set := set_config('lock_timeout', p_limits.lock_timeout, true);
  select c.away, c.last_stamp into v_away, v_floor from organization_clocks c
    where c.organization_id = p_organization_id for no key update;
  if not found then
    raise exception 'organization % has no clock', p_organization_id;
  end if;
  if v_away is not null then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = v_away;
  end if;
  if p_limits.row_timeout <> p_limits.lock_timeout then
    v_set := set_config('lock_timeout', p_limits.row_timeout, true);
  end if;

  -- Read after the lock, to see what was committed while it was waited for.
  select greatest(greatest(v_floor, (select k.stamp from commits k where k.organization_id = p_organization_id
    order by k.stamp desc limit 1)) + interval '1 millisecond', p_now) into v_stamp;

  -- 2. A change whose idempotency key has committed already is not made again: its caller gets the stored response.

  if p_limits.have_responses then
    v_refusals := coalesce((select jsonb_agg(jsonb_build_object('id', c.id, 'reason', 'replayed'))
      from unnest(v_changes) c
      cross join lateral jsonb_to_record(c.response) as i(api_key_id uuid, method text, path text, key text)
      cross join lateral (select k.key from idempotency_keys k where k.organization_id = p_organization_id
        and k.api_key_id = i.api_key_id and k.method = i.method and k.path = i.path and k.key between i.key and i.key
        and k.created_at > p_now - interval '24 hours' order by k.key limit 1) k
      where c.response is not null), '[]');
  end if;

  -- 3. Units of several changes or rows that were decided on rows which have moved on since. Before the deletes, which
  -- no later refusal undoes: a unit with a delete is refused for versions alone. A delete of a row that others may
  -- refer to is the only change of its call.

  if p_limits.are_together then
    -- each kind
    if '__kind__' = any(v_kinds) then
      v_refusals := v_refusals || moved_on___kind__(p_organization_id, v_changes);
    end if;
    -- end kind
  end if;
  if v_refusals <> '[]' then
    v_refused := units_of(v_changes, v_refusals);
  end if;

  -- 4. Deletes, and what they do to the rows that refer to what is removed, to those that refer to these, and so on.
  -- Whatever else the call brings then sees the rows gone, and their dependents changed.

  if p_limits.have_deletes then
    -- each kind
    if 'delete __kind__' = any(v_operations) then
      v_written := v_written || delete___kind__(p_organization_id, v_stamp, v_changes, v_refused);
    end if;
    -- end kind
    v_gone := v_written;
    while v_gone <> '{}' loop
      v_next := '{}';
      for v_kind, v_ids in select g.kind, array_agg(g.id) from unnest(v_gone) g where g.rows < 0 group by g.kind loop
        -- each kind
        v_next := v_next || unlink___kind__(p_organization_id, v_stamp, v_kind, v_ids, v_erases, v_changes[1]);
        -- end kind
      end loop;
      v_written := v_written || v_next;
      v_gone := v_next;
      -- Only what refers to the person itself goes with them.
      v_erases := false;
    end loop;
    -- Of whatever is removed, maintenance erases earlier payloads and responses.
    insert into erasures (organization_id, what, subject_id, removed_id, removed_at)
      select p_organization_id, 'object', g.id, g.id, v_stamp from unnest(v_written) g where g.rows < 0;
  end if;

  -- 5. Refusals: unique values and times that are taken, references that dangle, referring rows that have moved on.
  -- Then inserts beyond what the organization may store: counted as they came, without what was refused before. What
  -- this call deletes makes room for the next.

  if p_limits.checks <> '{}' then
    -- each kind
    if '__kind__' = any(v_kinds) then
      v_refusals := v_refusals || check___kind__(p_organization_id, v_changes, p_limits.checks, v_refused);
    end if;
    -- end kind
    v_refused := units_of(v_changes, v_refusals);
  end if;
  if p_limits.max_rows is not null or p_limits.max_bytes is not null then
    v_refusals := v_refusals || beyond_limits(p_organization_id, p_limits, v_changes, v_refused);
    v_refused := units_of(v_changes, v_refusals);
  end if;

  -- 6. New and changed rows.

  -- each kind
  if v_operations && '{insert __kind__,update __kind__}' then
    v_written := v_written || write___kind__(p_organization_id, v_stamp, v_changes, v_heads, v_operations, v_refused);
  end if;
  -- end kind
  if v_written = '{}' then
    return jsonb_build_object('refused', v_refusals, 'stamp', timestamp_text(v_stamp), 'done', '{}'::jsonb);
  end if;

  -- 7. Responses to store, which count as storage of the organization.

  -- each person
  if p_limits.erases and '__kind__' = any(v_kinds) then
    v_receipt := erasure_receipt(p_organization_id, v_stamp, '{__reached__}', v_written);
  end if;
  -- end person
  if p_limits.have_responses then
    v_written := v_written || store_responses(p_organization_id, p_now, array(
      select c.response || jsonb_build_object('subject_id', w.id,
          'body', coalesce(c.response->>'body', v_receipt, w.body))
        from unnest(v_changes) c join unnest(v_written) w on w.id = c.id
        where c.response is not null and w.tail is not null));
  end if;

  -- 8. Events, and the counters afterwards of each kind that was written. The body of a change is in its first
  -- event alone; the ids of its events differ in the last digit, so `offset 0` makes one id for all of them.

  with inserted as (
    insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body, trace_context, changed,
        cause)
      select p_organization_id, event_of_change(w.event_id, e.place), e.type, v_stamp, w.kind, w.id,
          case e.place when 1 then w.body end, w.trace_context, w.changed, w.cause
        from (select u.kind, u.id, u.body, u.events, u.trace_context, u.changed, u.cause,
            new_uuid_v7(v_stamp) as event_id from unnest(v_written) u where u.events is not null offset 0) w
        cross join lateral (select w.events[p.place] as type, p.place
          from (select generate_subscripts(w.events, 1) as place) p) e
      returning id, type, subject_kind, subject_id),
  counted as (
    insert into commits (organization_id, stamp, kind, live_count, removed_count, stored_bytes, last_number, digest,
        content_digest)
      select p_organization_id, v_stamp, a.kind, a.live_count, a.removed_count, a.stored_bytes, a.last_number, a.digest,
          a.content_digest
        from counters_after(p_organization_id, v_written) a)
  select array_agg((null, null, t.id, t.type, v_stamp, t.subject_kind, t.subject_id, p_limits.max_attempts, null,
      null, null, null)::new_delivery), (
      select jsonb_object_agg(w.id, coalesce(v_receipt, w.tail)) from unnest(v_written) w where w.tail is not null), (
      select array_agg(a.id) from active_endpoints(p_organization_id) a
        where a.events && array(select unnest(event_patterns(o.type)) from inserted o))
    into v_events, v_done, v_endpoints from inserted t;

  -- 9. Deliveries.

  if v_endpoints is not null then
    v_made := create_deliveries(p_organization_id, p_now, v_stamp, v_endpoints, v_events);
  end if;
  return jsonb_build_object('refused', v_refusals, 'stamp', timestamp_text(v_stamp), 'done', v_done,
    'deliveries', v_made, 'clock_skew', case when p_limits.max_clock_skew is not null
      then round(extract(epoch from v_stamp - clock_timestamp()) / 0.001) end);
end;
$function$;
