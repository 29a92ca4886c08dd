-- Writes the results of attempts, if the lease still holds, and keeps or releases the queue. The results are arrays
-- by column, which cost much less than JSON.
--
-- The queue is locked in one statement and what is due is read in a later one, whose snapshot has every commit before
-- the lock; a single statement could leave a delivery behind. A delivery is completed only if it has not changed
-- since the claim: one that was started over meanwhile must not end with an older attempt.
--
-- The queue's row changes only when its state does: a release, and a lease of which half is over. `p_known` are the
-- deliveries that the worker has and keeps; `p_read_to`, `p_read_to_id` and `p_rewinds` where it has read to
-- (`read-position.ts`). A delivery that this makes due before that, or a result that finds its delivery changed,
-- rewinds the queue.
--
-- Counts are appended to `delivery_stats`, and the endpoint's health changes when it fails or recovers: a row that
-- every completion updates would get a version with each. A release notes the latest success under the lease,
-- `p_succeeded_last`.
--
-- Returns whether the lease is held; when the next delivery is due that the worker does not have, as milliseconds;
-- until when the queue is leased; and since when the endpoint fails, if the results changed its health.
create function complete_deliveries(
  p_organization_id uuid, p_webhook_id uuid, p_lease_id uuid, p_now timestamptz, p_lease_until timestamptz,
  p_next text, p_priority int, p_known uuid[], p_rewinds int, p_read_to timestamptz, p_read_to_id uuid,
  p_succeeded_at timestamptz, p_failures int, p_failed_at timestamptz, p_succeeded_last timestamptz,
  p_places smallint[], p_counts int[], p_fold_from timestamptz,
  p_id uuid[], p_due float8[], p_number int[], p_seen float8[], p_status text[], p_attempted boolean[],
    p_started_at float8[], p_ended_at float8[],
  p_response_status int[], p_response_body text[], p_error_code text[], p_error_message text[], p_duration_ms int[],
  p_next_attempt_at float8[]
) returns jsonb
language plpgsql volatile as $function$
declare
  v_lease_until timestamptz(3);
  v_rewinds int;
  v_written int;
  v_first timestamptz(3);
  v_last timestamptz(3);
  v_rewound boolean := false;
  v_failing_since timestamptz(3);
  v_read_to timestamptz(3);
  v_read_to_id uuid;
  v_due timestamptz(3);
  v_soon timestamptz := p_now + interval '__clocks_apart__ milliseconds';
begin
  select q.lease_until, q.rewinds, q.read_to into v_lease_until, v_rewinds, v_read_to from endpoint_queues q
    where q.organization_id = p_organization_id and q.webhook_id = p_webhook_id
      and q.lease_id = p_lease_id for no key update;
  if not found then
    return jsonb_build_object('held', false);
  end if;

  if cardinality(p_id) > 0 then
    select to_timestamp(min(u.due) / 1000), to_timestamp(max(u.due) / 1000) into v_first, v_last
      from unnest(p_due) as u(due);
    if 1 < any(p_number) then
      perform archive_attempts(p_organization_id, p_webhook_id, p_id, v_first, v_last);
    end if;
    -- The rows are found by their ids and when they were due. By the ids alone the planner, which counts no dead
    -- entries, may read all of an index, as it would for a join with the arguments. `generate_subscripts` makes it
    -- expect a thousand results; arrays alone, ten, and a nested loop.
    update deliveries d set status = r.status, attempt_count = d.attempt_count + r.attempted::int,
          response_status = case when r.attempted then r.response_status else d.response_status end,
          response_body = case when r.attempted then r.response_body else d.response_body end,
          last_error_code = r.error_code, last_error_message = r.error_message,
          duration_ms = case when r.attempted then r.duration_ms else d.duration_ms end,
          last_attempt_at = case when r.attempted then to_timestamp(r.started_at / 1000) else d.last_attempt_at end,
          next_attempt_at = to_timestamp(r.next_attempt_at / 1000), updated_at = greatest(d.updated_at, p_now),
          delivered_at = case when r.status = 'succeeded' then to_timestamp(r.ended_at / 1000) end,
          log_day = case when r.status = 'pending' then 'infinity' else (d.created_at at time zone 'UTC')::date end
        from rows from (unnest(p_id), unnest(p_number), unnest(p_seen), unnest(p_status), unnest(p_attempted),
          unnest(p_started_at),
            unnest(p_ended_at), unnest(p_response_status), unnest(p_response_body), unnest(p_error_code),
              unnest(p_error_message),
            unnest(p_duration_ms), unnest(p_next_attempt_at), generate_subscripts(p_id, 1))
          as r(id, number, seen, status, attempted, started_at, ended_at, response_status, response_body, error_code,
            error_message,
            duration_ms, next_attempt_at, place)
        where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(p_id) and d.id = r.id
          and d.log_day = 'infinity' and d.next_attempt_at >= v_first and d.next_attempt_at <= v_last
            and d.attempt_count = r.number - 1 and d.updated_at = to_timestamp(r.seen / 1000);
    get diagnostics v_written = row_count;
    v_rewound := v_written < cardinality(p_id)
      or extract(epoch from p_read_to) * 1000 >= (select min(u.at) from unnest(p_next_attempt_at) as u(at));

    perform count_deliveries(p_organization_id, p_webhook_id, p_now, p_places, p_counts, p_succeeded_at, p_fold_from);
    update webhook_health h set last_success_at = coalesce(p_succeeded_at, h.last_success_at),
        failure_count = case when p_succeeded_at is null then h.failure_count else 0 end + p_failures,
        failing_since = coalesce(case when p_succeeded_at is null then h.failing_since end, p_failed_at)
      where h.organization_id = p_organization_id and h.webhook_id = p_webhook_id
        and (p_failures > 0 or p_succeeded_at is not null and h.failing_since is not null)
      returning h.failing_since into v_failing_since;
  end if;
  if p_succeeded_last is not null then
    update webhook_health h set last_success_at = p_succeeded_last
      where h.organization_id = p_organization_id and h.webhook_id = p_webhook_id
        and p_succeeded_last > coalesce(h.last_success_at, '-infinity');
  end if;

  if v_rewound then
    update endpoint_queues set rewinds = rewinds + 1, read_to = null
      where organization_id = p_organization_id and webhook_id = p_webhook_id;
    v_read_to := null;
  elsif v_rewinds = p_rewinds then
    v_read_to := p_read_to;
    v_read_to_id := p_read_to_id;
  end if;
  -- A first attempt is due when its commit is there, as for a claim.
  select case when d.attempt_count = 0 and d.next_attempt_at <= v_soon and d.next_attempt_at <= d.created_at
    then least(d.next_attempt_at, p_now) else d.next_attempt_at end
    into v_due from deliveries d
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day = 'infinity'
      and (d.next_attempt_at, d.id) >= (coalesce(v_read_to, '-infinity'), coalesce(v_read_to_id,
        '00000000-0000-0000-0000-000000000000'))
      and d.id <> all(p_known)
    order by d.next_attempt_at, d.id limit 1;
  if p_next = 'release' then
    -- Disabled meanwhile: what is pending is not to wait for its next attempt, but to fail now.
    if v_due > p_now and exists (select 1 from webhooks w where w.organization_id = p_organization_id
      and w.id = p_webhook_id
        and w.status = 'disabled') then
      v_due := p_now;
    end if;
    -- A backlog waits behind those that have waited longer: its queue was drained just now.
    update endpoint_queues set due_at = case when v_due > p_now then v_due when v_due is not null then p_now end,
        lease_id = null, lease_until = null, worker_id = null,
        lost_leases = 0, alone_id = null, alone_since = null,
        alone_left = case when alone_left > 0 and v_due <= p_now then alone_left - 1 else 0 end,
        priority = p_priority, read_to = v_read_to
      where organization_id = p_organization_id and webhook_id = p_webhook_id;
  elsif p_lease_until - v_lease_until > (p_lease_until - p_now) / 2 then
    update endpoint_queues set lease_until = p_lease_until, due_at = p_lease_until
      where organization_id = p_organization_id and webhook_id = p_webhook_id;
    v_lease_until := p_lease_until;
  end if;
  return jsonb_build_object('held', true, 'failing_since', v_failing_since, 'due', floor(extract(epoch
    from v_due) * 1000),
    'lease_until', floor(extract(epoch from v_lease_until) * 1000));
end;
$function$;
