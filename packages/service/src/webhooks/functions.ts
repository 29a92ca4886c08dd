/** Changes of endpoints, each under the organization's clock row, so that they never interleave with the creation of deliveries. */
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import { restartSchedule, wakeQueue } from '../delivery/endpoint-queues.ts'
import { missedFunction } from '../delivery/missed.ts'
import { insertDeliveries } from '../delivery/new-deliveries.ts'
import {
  lockClock,
  refuseBeyondLimit,
  replayed,
  requireSealedWith,
  storeResponseAbout,
} from '../journal/sql-fragments.ts'
import {
  dateEndpoint,
  deleteEndpoint,
  endpointExists,
  endpointsOfSort,
  extendSubscription,
  findEndpoint,
  findSubscription,
  findUnchangedEndpoint,
  forgetGap,
  insertEndpoint,
  lockEndpoint,
  readEndpoint,
  redateEndpointWhere,
  refuseUnlessActive,
  updateEndpoint,
} from './table/endpoints.ts'

const storeResponse = storeResponseAbout('p_webhook_id')

/** SQL: the key that becomes the registrant still exists; it may have been revoked since authentication. */
const registrantLives = `exists (select 1 from api_keys k where k.organization_id = p_organization_id
      and k.id = (p_row->>'api_key_id')::uuid and (k.expires_at is null or k.expires_at > p_now))`

/** SQL: inserts a recovery from a position on, of all events so far. */
const recoverFrom = (id: string, since: string, position: string) =>
  `insert into recoveries (organization_id, webhook_id, id, since, until, created_at, position, due_at)
      select p_organization_id, p_webhook_id, ${id}, least(${since}, p_now), greatest(c.last_stamp, p_now), p_now, ${position}, p_now
        from organization_clocks c where c.organization_id = p_organization_id;`

/** SQL: adds a secret, later than every other, whatever the clocks say: it is the first to sign. */
const addSecret = `insert into webhook_secrets (organization_id, webhook_id, id, sealed, created_at)
    select p_organization_id, p_webhook_id, p_secret_id, p_sealed,
        greatest(p_now, max(s.created_at) + interval '1 millisecond')
      from webhook_secrets s where s.organization_id = p_organization_id and s.webhook_id = p_webhook_id;`

/** SQL: makes the endpoint healthy. After `wakeQueue`: completing locks them in this order, and the two could wait for each other. */
const resetHealth = `update webhook_health set failure_count = 0, failing_since = null
    where organization_id = p_organization_id and webhook_id = p_webhook_id;`

/**
 * Creates an endpoint with its first secret: 'done', 'limit_reached', 'registrant_gone' or 'replayed'; 'conflict' where
 * the subscription in p_row has one. A position in it is where a subscription goes on from.
 */
export const createFunction: SchemaFunction = schemaFunction(
  'create_webhook',
  {
    arguments:
      'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_row jsonb, p_secret_id uuid, p_sealed bytea, p_sealed_with bytea, p_limit int, p_response jsonb',
    returns: 'text',
  },
  `begin
  ${lockClock}
  ${replayed}
  if not ${registrantLives} then
    return 'registrant_gone';
  end if;
  ${findSubscription}
  if found then
    return 'conflict';
  end if;
  ${refuseBeyondLimit(endpointsOfSort)}
  ${requireSealedWith('p_sealed_with')}
  ${storeResponse}
  ${insertEndpoint}
  insert into webhook_secrets (organization_id, webhook_id, id, sealed, created_at)
    values (p_organization_id, p_webhook_id, p_secret_id, p_sealed, p_now);
  insert into webhook_health (organization_id, webhook_id) values (p_organization_id, p_webhook_id);
  insert into endpoint_queues (organization_id, webhook_id) values (p_organization_id, p_webhook_id);
  if p_row ? 'position' then
    ${recoverFrom("(p_row->>'recovery_id')::uuid", "(p_row->>'since')::timestamptz", "(p_row->>'position')::uuid")}
  end if;
  return 'done';
end;`,
)

/**
 * Extends a subscription until p_ends_at: 'done', or 'conflict' when it has ended. A new secret replaces the one before,
 * which signs until p_expires_at. What failed for good, or was left out while it was disabled, is sent again.
 */
export const refreshFunction: SchemaFunction = schemaFunction(
  'refresh_subscription',
  {
    arguments:
      'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_ends_at timestamptz, p_secret_id uuid, p_sealed bytea, p_sealed_with bytea, p_expires_at timestamptz, p_recovery_id uuid, p_log_begin timestamptz',
    returns: 'text',
  },
  `declare
  v_since timestamptz;
begin
  ${lockClock}
  ${readEndpoint(`${missedFunction.name}(p_organization_id, p_webhook_id, p_now, p_log_begin)`, 'v_since')}
  ${extendSubscription}
  if not found then
    return 'conflict';
  end if;
  ${requireSealedWith('p_sealed_with')}
  if p_sealed is not null then
    delete from webhook_secrets where organization_id = p_organization_id and webhook_id = p_webhook_id
      and expires_at is not null;
    update webhook_secrets set expires_at = p_expires_at
      where organization_id = p_organization_id and webhook_id = p_webhook_id;
    ${addSecret}
  end if;
  perform 1 from recoveries r where r.organization_id = p_organization_id and r.webhook_id = p_webhook_id
    and r.finished_at is null;
  if v_since is not null and not found then
    ${recoverFrom('p_recovery_id', 'v_since', 'first_uuid_v7(least(v_since, p_now))')}
    ${forgetGap}
  end if;
  ${wakeQueue}
  ${resetHealth}
  return 'done';
end;`,
)

/** Writes the endpoint as in p_row: 'done', 'conflict' with its version, or 'registrant_gone' when p_registers and the key is gone. */
export const updateFunction: SchemaFunction = schemaFunction(
  'update_webhook',
  {
    arguments:
      'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_expected timestamptz, p_row jsonb, p_reset boolean, p_registers boolean',
    returns: 'text',
  },
  `declare
  r record;
begin
  ${lockClock}
  if p_registers and not ${registrantLives} then
    return 'registrant_gone';
  end if;
  ${requireSealedWith("decode(p_row->>'sealed_with', 'hex')")}
  select x.url, x.description, x.events, x.signatures, x.options, x.sealed_headers, x.status, x.disabled_reason, x.disabled_at, x.gap_since, x.gap_until,
      x.api_key_id, x.console_link_id, x.updated_at into r
    from jsonb_to_record(p_row) as x(url text, description text, events text[], signatures text[],
      options jsonb, sealed_headers text, status text, disabled_reason text, disabled_at timestamptz, gap_since timestamptz, gap_until timestamptz,
      api_key_id uuid, console_link_id uuid, updated_at timestamptz);
  ${updateEndpoint}
  if not found then
    return 'conflict';
  end if;
  ${wakeQueue}
  if p_reset then
    ${resetHealth}
  end if;
  return 'done';
end;`,
)

/** Deletes the endpoint; maintenance removes its deliveries. Returns whether it existed. */
export const deleteFunction: SchemaFunction = schemaFunction(
  'delete_webhook',
  { arguments: 'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz', returns: 'boolean' },
  // The endpoint, its queue, then the remaining rows: a completion locks the queue before the health record.
  `begin
  ${lockClock}
  ${lockEndpoint}
  perform 1 from endpoint_queues l where l.organization_id = p_organization_id and l.webhook_id = p_webhook_id for update;
  ${deleteEndpoint}
  if not found then
    return false;
  end if;
  insert into removed_webhooks (organization_id, webhook_id, removed_at)
    values (p_organization_id, p_webhook_id, p_now);
  return true;
end;`,
)

/** Earlier secrets sign until p_expires_at at most: 'done', 'conflict' or 'replayed'; 'limit_reached' when p_limit already sign. */
export const rotateFunction: SchemaFunction = schemaFunction(
  'rotate_webhook_secret',
  {
    arguments:
      'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_expected timestamptz, p_updated_at timestamptz, p_secret_id uuid, p_sealed bytea, p_sealed_with bytea, p_expires_at timestamptz, p_limit int, p_response jsonb',
    returns: 'text',
  },
  `begin
  ${lockClock}
  ${replayed}
  ${findUnchangedEndpoint}
  if not found then
    return 'conflict';
  end if;
  ${refuseBeyondLimit(`webhook_secrets s where s.organization_id = p_organization_id
    and s.webhook_id = p_webhook_id and (s.expires_at is null or s.expires_at > p_now)`)}
  ${requireSealedWith('p_sealed_with')}
  ${storeResponse}
  delete from webhook_secrets where organization_id = p_organization_id and webhook_id = p_webhook_id
    and expires_at <= p_now;
  update webhook_secrets set expires_at = p_expires_at
    where organization_id = p_organization_id and webhook_id = p_webhook_id and expires_at is null;
  ${addSecret}
  ${dateEndpoint}
  return 'done';
end;`,
)

/** Ends all earlier secrets at once. Returns whether the endpoint exists. */
export const dropPreviousFunction: SchemaFunction = schemaFunction(
  'drop_previous_secrets',
  {
    arguments: 'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz',
    returns: 'boolean',
  },
  `begin
  ${lockClock}
  ${redateEndpointWhere(`exists (select 1 from webhook_secrets s where s.organization_id = p_organization_id
        and s.webhook_id = p_webhook_id and s.expires_at > p_now)`)}
  delete from webhook_secrets where organization_id = p_organization_id and webhook_id = p_webhook_id
    and expires_at is not null;
  return ${endpointExists};
end;`,
)

/** Creates an event with one delivery attempt, also to a disabled endpoint: 'done', 'missing' or 'replayed'. */
export const pingFunction: SchemaFunction = schemaFunction(
  'ping_webhook',
  {
    arguments:
      'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_event_id uuid, p_delivery_id uuid, p_response jsonb',
    returns: 'text',
  },
  `begin
  ${lockClock}
  ${replayed}
  ${findEndpoint}
  if not found then
    return 'missing';
  end if;
  ${storeResponse}
  insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
    values (p_organization_id, p_event_id, 'ping', p_now, 'webhook', p_webhook_id, '{}');
  ${insertDeliveries({
    id: 'p_delivery_id',
    webhookId: 'p_webhook_id',
    event: 'e',
    attempts: '1',
    from: 'from events e where e.organization_id = p_organization_id and e.id = p_event_id',
  })}
  ${wakeQueue}
  return 'done';
end;`,
)

/** SQL: refuses to send a delivery again unless it has this status, and no other delivery of its event to the endpoint is pending. */
const refuseUnlessLast = (status: 'failed' | 'succeeded') => `perform 1 from deliveries d
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
      and d.id = p_delivery_id and d.log_day < 'infinity' and d.status = '${status}'
      and not exists (select 1 from deliveries o where o.organization_id = p_organization_id
        and o.webhook_id = p_webhook_id and o.event_id = d.event_id and o.log_day = 'infinity');
  if not found then
    return 'refused';
  end if;`

/** Restarts the schedule of a failed delivery, with its stored payload: 'done', 'refused' or 'replayed'. */
export const retryFunction: SchemaFunction = schemaFunction(
  'retry_delivery',
  {
    arguments:
      'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_delivery_id uuid, p_updated_at timestamptz, p_attempts int, p_response jsonb',
    returns: 'text',
  },
  `begin
  ${lockClock}
  ${replayed}
  ${refuseUnlessActive}
  ${refuseUnlessLast('failed')}
  ${storeResponse}
  update deliveries set ${restartSchedule},
      updated_at = p_updated_at
    where organization_id = p_organization_id and webhook_id = p_webhook_id and id = p_delivery_id
      and log_day < 'infinity' and status = 'failed';
  ${wakeQueue}
  return 'done';
end;`,
)

/** Creates a new delivery of a succeeded one's event, which reads its subject anew: 'done', 'refused' or 'replayed'. */
export const resendFunction: SchemaFunction = schemaFunction(
  'resend_delivery',
  {
    arguments:
      'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_delivery_id uuid, p_new_id uuid, p_attempts int, p_response jsonb',
    returns: 'text',
  },
  `begin
  ${lockClock}
  ${replayed}
  ${refuseUnlessActive}
  ${refuseUnlessLast('succeeded')}
  ${storeResponse}
  ${insertDeliveries({
    id: 'p_new_id',
    webhookId: 'p_webhook_id',
    event: 'e',
    attempts: 'p_attempts',
    from: `from (select d.event_id as id, d.event_type as type, d.event_created_at as created_at, d.subject_kind, d.subject_id
          from deliveries d where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
            and d.id = p_delivery_id and d.log_day < 'infinity') e`,
  })}
  ${wakeQueue}
  return 'done';
end;`,
)

export const webhookFunctions: readonly SchemaFunction[] = [
  createFunction,
  refreshFunction,
  updateFunction,
  deleteFunction,
  rotateFunction,
  dropPreviousFunction,
  pingFunction,
  retryFunction,
  resendFunction,
]
