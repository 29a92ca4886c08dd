-- A piece of an organization's delivery jobs. Reads up to `p_events` events in commit order, `p_each` of one job at a
-- time; an event of a recovery counts as __recovery_weight__, as it takes so much longer. A job that has had its turn
-- goes behind those that have not.
--
-- A large commit: creates a delivery to the endpoint by the subscription at the commit, unless the event has one.
-- Deliveries to an endpoint that is disabled now have failed.
--
-- A recovery: for the types that the endpoint subscribes to now, restarts failed deliveries, with their stored
-- payloads, and creates missing and skipped ones if its present conditions hold. Pending ones are left, and succeeded
-- ones unless the recovery includes them: then a new delivery is created. So are coalesced ones, unless what they were
-- coalesced into has failed. It waits a minute while the endpoint is
-- disabled, and while deliveries of a large commit in its window are still to be created.
--
-- Either waits while the endpoint is paused, and while `p_backlog` deliveries are due at it, so that new events do not
-- wait behind all of it.
--
-- The position moves in the same transaction, so each event is looked at once. One piece of an organization runs at a
-- time; it waits 250 ms for the clock row and then raises lock_not_available. The clock row keeps retries and disabling
-- out; a completion may come between, and makes no failed delivery of one that this changes.
--
-- Returns 'more', 'done' when nothing is due, or 'busy' when another worker runs a piece of the organization.
create function delivery_job_piece(
  p_organization_id uuid, p_now timestamptz, p_events int, p_each int, p_backlog int, p_attempts int
) returns text
language plpgsql volatile as $function$
declare
  v_webhook_id uuid;
  v_id uuid;
  v_is_recovery boolean;
  v_since timestamptz(3);
  v_until timestamptz(3);
  v_position uuid;
  v_again boolean;
  v_disabled text;
  v_is_paused boolean;
  v_types text[];
  v_conditions jsonb;
  v_own_key text;
  v_coalesce int;
  v_waits_until timestamptz;
  v_left int := p_events;
  v_weight int;
  v_step int;
  v_seen int;
  v_last uuid;
  v_events uuid[];
  v_day date;
  v_known uuid[];
  v_failed uuid[];
  v_retried int;
  v_created int;
begin
  if not pg_try_advisory_xact_lock(__lock_number__, hashtext(p_organization_id::text)) then
    return 'busy';
  end if;
  perform lock_clock(p_organization_id);
  while v_left > 0 loop
    select j.webhook_id, j.id, j.kind = 'recovery', j.since, j.until, j.position, j.include_succeeded,
        w.disabled_reason, coalesce(w.options ? 'paused', false), coalesce(j.types, w.events),
        case when j.types is null then w.options->'conditions' else j.conditions end,
        case when j.types is not null then j.own_key when w.options ? 'skipOwn' then w.api_key_id::text end,
        (w.options->>'coalesce')::int
      into v_webhook_id, v_id, v_is_recovery, v_since, v_until, v_position, v_again,
        v_disabled, v_is_paused, v_types, v_conditions, v_own_key, v_coalesce
      from delivery_jobs j join webhooks w on w.organization_id = j.organization_id and w.id = j.webhook_id
      where j.organization_id = p_organization_id and j.due_at <= p_now
      order by j.due_at, j.since, j.webhook_id, j.id limit 1;
    if not found then
      return 'done';
    end if;

    v_waits_until := null;
    if v_disabled is not null then
      v_waits_until := case when v_is_recovery then p_now + interval '1 minute' end;
    elsif v_is_paused then
      v_waits_until := p_now + interval '1 minute';
    else
      perform 1 from deliveries d where d.organization_id = p_organization_id and d.webhook_id = v_webhook_id
        and d.log_day = 'infinity' and d.next_attempt_at <= p_now offset p_backlog - 1 limit 1;
      if found or v_is_recovery and exists (select 1 from delivery_jobs j
          where j.organization_id = p_organization_id and j.webhook_id = v_webhook_id and j.kind = 'large_commit'
            and j.since between v_since and v_until) then
        v_waits_until := p_now + interval '250 milliseconds';
      end if;
    end if;
    if v_waits_until is not null then
      update delivery_jobs set due_at = v_waits_until
        where organization_id = p_organization_id and webhook_id = v_webhook_id and id = v_id;
      continue;
    end if;

    v_weight := case when v_is_recovery then __recovery_weight__ else 1 end;
    v_step := greatest(least(p_each, v_left / v_weight), 1);
    select count(*), array_agg(x.id) filter (where v_types && event_patterns(x.type)),
        (array_agg(x.id order by x.id desc))[1],
        (min(x.created_at) at time zone 'UTC')::date - 1
      into v_seen, v_events, v_last, v_day
      from (select e.id, e.type, e.created_at from events e where e.organization_id = p_organization_id
        and e.id > v_position and e.id < first_uuid_v7(v_until + interval '1 millisecond')
        order by e.id limit v_step) x;
    v_left := v_left - greatest(v_seen, 1) * v_weight;
    v_retried := 0;
    v_created := 0;
    if v_events is not null then
      -- The latest delivery of an event decides: an earlier one was sent again. A delivery is no older than its event,
      -- but for what clocks are apart: a day is plenty.
      select coalesce(array_agg(l.event_id) filter (where not v_is_recovery
              or case when l.coalesced_into is null
                then l.status <> 'skipped' and not (v_again and l.status = 'succeeded')
                else not exists (select 1 from deliveries f where f.organization_id = p_organization_id
                  and f.webhook_id = v_webhook_id and f.id = l.coalesced_into and f.status = 'failed') end), '{}'),
          coalesce(array_agg(l.id) filter (where v_is_recovery and l.status = 'failed'), '{}')
        into v_known, v_failed
        from (select distinct on (d.event_id) d.event_id, d.id, d.status,
            case d.last_error_code when 'coalesced' then d.last_error_message::uuid end as coalesced_into
          from deliveries d
          where d.organization_id = p_organization_id and d.webhook_id = v_webhook_id
            and d.event_id = any(v_events) and d.log_day >= v_day
          order by d.event_id, d.id desc) l;
      if v_failed <> '{}' then
        update deliveries d set status = 'pending',
            payload = case when v_coalesce is null then 'stored' else 'current' end, attempts_before = d.attempt_count,
            max_attempts = d.attempt_count + p_attempts, next_attempt_at = p_now, log_day = 'infinity',
            updated_at = greatest(millisecond_after(d.updated_at), p_now)
          where d.organization_id = p_organization_id and d.webhook_id = v_webhook_id and d.id = any(v_failed)
            and d.log_day >= v_day and d.log_day < 'infinity' and d.status = 'failed';
        get diagnostics v_retried = row_count;
      end if;
      v_created := insert_deliveries(p_organization_id, p_now, array(
        select (null, v_webhook_id, e.id, e.type, e.created_at, e.subject_kind, e.subject_id, p_attempts,
            v_disabled, s.reason, v_coalesce, null)::new_delivery
          from events e cross join lateral (select skip_reason(p_organization_id, v_webhook_id, e.id,
            v_conditions, v_own_key) as reason offset 0) s
          where e.organization_id = p_organization_id and e.id = any(v_events) and e.id <> all(v_known)
            and e.subject_id <> v_webhook_id and (s.reason is null or not v_is_recovery)));
    end if;
    if v_disabled is null and v_retried + v_created > 0 then
      perform wake_queues(p_organization_id, array[v_webhook_id], p_now);
    end if;

    if v_seen = v_step then
      update delivery_jobs set position = v_last, due_at = p_now, retried = retried + v_retried,
          created = created + v_created
        where organization_id = p_organization_id and webhook_id = v_webhook_id and id = v_id;
    elsif v_is_recovery then
      update delivery_jobs set position = coalesce(v_last, position), due_at = null, finished_at = p_now,
          retried = retried + v_retried, created = created + v_created
        where organization_id = p_organization_id and webhook_id = v_webhook_id and id = v_id;
    else
      delete from delivery_jobs
        where organization_id = p_organization_id and webhook_id = v_webhook_id and id = v_id;
    end if;
  end loop;
  return 'more';
end;
$function$;
