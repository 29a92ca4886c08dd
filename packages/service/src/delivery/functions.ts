/** What the delivery room does in the database under a lock, each one call of one function. */
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import { lockClock } from '../journal/call-fragments.ts'
import { fanOutFunction } from './fan-out-function.ts'
import { settledRows, settlingArguments } from './lane-settling.ts'
import { recoverFunction } from './recovery-function.ts'

/** Where a settled delivery stands in the log. What is pending stands apart, under the day 'infinity'. */
function logDay(delivery: string): string {
  return `(${delivery}.created_at at time zone 'UTC')::date`
}

/**
 * A delivery's row holds its last attempt. Those before it stand in a table of their own, to which this takes the last of these
 * deliveries, before its row tells of something else: most need one attempt, and no row there. One may stand there already, as
 * a row also tells why nothing was attempted.
 */
const takeLastAttempts = (
  ids: string,
) => `insert into attempts (organization_id, delivery_id, number, at, response_status,
      error_code, error_message, duration_ms, response_body)
    select p_organization_id, d.id, d.attempt_count, d.last_attempt_at, d.response_status, d.last_error_code,
        d.last_error_message, d.duration_ms, d.response_body
      from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(${ids})
        and d.log_day = 'infinity' and d.last_attempt_at is not null
    on conflict do nothing;`

/** A time that came as milliseconds since the Unix epoch. */
const time = (milliseconds: string) => `to_timestamp(${milliseconds} / 1000)`

/**
 * Settles a round's results, fenced by the lease: a worker that lost the lane changes nothing. The lane is locked in
 * one statement and what is due computed in a later one, whose snapshot sees every commit that filled the lane before
 * it was locked; in one statement, with its older snapshot, a delivery could be left behind. A delivery is settled
 * only as it was when it was taken: a lane taken while another settles it shows what was due before that, and what was
 * begun anew meanwhile, by a retry or a recovery, is not to end with an attempt from before.
 */
export const settleFunction: SchemaFunction = schemaFunction(
  'settle_lane',
  {
    arguments: `p_organization_id uuid, p_webhook_id uuid, p_lease_id uuid, p_now timestamptz, p_lease_until timestamptz,
      ${settlingArguments}`,
    returns: 'jsonb',
  },
  `declare
  v_failing_since timestamptz(3);
  v_due timestamptz(3);
begin
  perform 1 from lanes l where l.organization_id = p_organization_id and l.webhook_id = p_webhook_id
    and l.lease_id = p_lease_id for update;
  if not found then
    return jsonb_build_object('held', false);
  end if;

  if 1 < any(p_number) then
    ${takeLastAttempts('p_id')}
  end if;
  -- The rows are found by their ids, each by the index: a join with what came would read all that is pending.
  update deliveries d set status = r.status, attempt_count = d.attempt_count + r.attempted::int,
        response_status = case when r.attempted then r.response_status else d.response_status end,
        response_body = case when r.attempted then r.response_body else d.response_body end,
        last_error_code = r.error_code, last_error_message = r.error_message,
        duration_ms = case when r.attempted then r.duration_ms else d.duration_ms end,
        last_attempt_at = case when r.attempted then ${time('r.started_at')} else d.last_attempt_at end,
        next_attempt_at = ${time('r.next_attempt_at')}, updated_at = greatest(d.updated_at, p_now),
        delivered_at = case when r.status = 'succeeded' then ${time('r.ended_at')} end,
        log_day = case when r.status = 'pending' then 'infinity' else ${logDay('d')} end
      from ${settledRows}
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(p_id) and d.id = r.id
        and d.log_day = 'infinity' and d.attempt_count = r.number - 1 and d.updated_at = ${time('r.seen')};

  if p_succeeded_at is not null or p_failures > 0 then
    update webhook_health h set last_success_at = coalesce(p_succeeded_at, h.last_success_at),
        failure_count = case when p_succeeded_at is null then h.failure_count else 0 end + p_failures,
        failing_since = coalesce(case when p_succeeded_at is null then h.failing_since end, p_failed_at)
      where h.organization_id = p_organization_id and h.webhook_id = p_webhook_id
      returning h.failing_since into v_failing_since;
  end if;

  select d.next_attempt_at into v_due from deliveries d
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day = 'infinity'
      and d.id <> all(p_known)
    order by d.next_attempt_at, d.id limit 1;
  if p_next = 'release' then
    -- Disabled meanwhile: what is pending is not to wait for its next attempt, but to fail now.
    if v_due > p_now and exists (select 1 from webhooks w where w.organization_id = p_organization_id
        and w.id = p_webhook_id and w.status = 'disabled') then
      v_due := p_now;
    end if;
    -- A backlog waits behind those that have waited longer: its lane has just had its turn.
    update lanes set due_at = case when v_due > p_now then v_due when v_due is not null then p_now end,
        lease_id = null, lease_until = null, worker_id = null, listening = false,
        lost_leases = 0, alone_id = null, alone_since = null,
        alone_left = case when alone_left > 0 and v_due <= p_now then alone_left - 1 else 0 end,
        tier = case when p_tier >= 2 then p_tier when v_due <= p_now then 1 else 0 end
      where organization_id = p_organization_id and webhook_id = p_webhook_id;
  else
    -- Until then only its holder has to look at it.
    update lanes set lease_until = p_lease_until, listening = p_next = 'listen',
        due_at = case when p_next = 'listen' then least(v_due, p_lease_until) else p_lease_until end
      where organization_id = p_organization_id and webhook_id = p_webhook_id;
  end if;
  return jsonb_build_object('held', true, 'failing_since', v_failing_since, 'more', v_due is not null and v_due <= p_now);
end;`,
)

/**
 * Disables an endpoint, if it still is active and what its worker found still holds: for failing, that it has not
 * succeeded since before p_failing_before; for address_not_public, that its URL is the one that was tried; for
 * registrant_revoked, that its registrant is gone. Under the organization's clock, so that no commit fans out to it
 * and nobody changes it meanwhile.
 */
export const disableFunction: SchemaFunction = schemaFunction(
  'disable_webhook',
  {
    arguments:
      'p_organization_id uuid, p_webhook_id uuid, p_url text, p_reason text, p_now timestamptz, p_failing_before timestamptz',
    returns: 'boolean',
  },
  `begin
  ${lockClock}
  update webhooks w set status = 'disabled', disabled_reason = p_reason, disabled_at = p_now,
      updated_at = greatest(w.updated_at + interval '1 millisecond', p_now)
    where w.organization_id = p_organization_id and w.id = p_webhook_id and w.status = 'active'
      and case p_reason
        when 'failing' then exists (select 1 from webhook_health h where h.organization_id = p_organization_id
          and h.webhook_id = p_webhook_id and h.failing_since <= p_failing_before)
        when 'address_not_public' then w.url = p_url
        when 'registrant_revoked' then not exists (select 1 from api_keys k
          where k.organization_id = p_organization_id and k.id = w.api_key_id
            and (k.expires_at is null or k.expires_at > p_now))
      end;
  if not found then
    return false;
  end if;
  update lanes set due_at = p_now where organization_id = p_organization_id and webhook_id = p_webhook_id;
  return true;
end;`,
)

/**
 * Fails up to p_limit pending deliveries of a disabled endpoint, pings apart, and says how many. An endpoint that is
 * active again keeps what is pending, so the row is held against an enabling; the lane against a settling, whose
 * rows these are too.
 */
export const failPendingFunction: SchemaFunction = schemaFunction(
  'fail_pending',
  {
    arguments: 'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_reason text, p_limit int',
    returns: 'int',
  },
  `declare
  v_ids uuid[];
begin
  perform 1 from webhooks w where w.organization_id = p_organization_id and w.id = p_webhook_id
    and w.status = 'disabled' for share;
  if not found then
    return 0;
  end if;
  perform 1 from lanes l where l.organization_id = p_organization_id and l.webhook_id = p_webhook_id for update;
  select array_agg(x.id) into v_ids from (
    select d.id from deliveries d where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
      and d.log_day = 'infinity' and d.event_type <> 'ping' limit p_limit) x;
  ${takeLastAttempts('v_ids')}
  update deliveries d set status = 'failed', next_attempt_at = null, updated_at = greatest(d.updated_at, p_now),
      last_error_code = 'endpoint_disabled', last_error_message = 'the endpoint was disabled: ' || p_reason,
      log_day = ${logDay('d')}
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(v_ids)
      and d.log_day = 'infinity';
  -- Begun anew it is another attempt, that nobody has died of.
  update lanes set alone_id = null, alone_since = null
    where organization_id = p_organization_id and webhook_id = p_webhook_id and alone_id = any(v_ids);
  return coalesce(cardinality(v_ids), 0);
end;`,
)

export const deliveryFunctions: readonly SchemaFunction[] = [
  settleFunction,
  disableFunction,
  failPendingFunction,
  recoverFunction,
  fanOutFunction,
]
