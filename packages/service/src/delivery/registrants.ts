/** Disables endpoints whose registrant key has expired (specification 9.4): no call marks an expiry, so workers look for expired keys. */
import type { Pool } from 'pg'
import { callFunction, unlessBusy } from '../db/call-function.ts'
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import { lockClock } from '../journal/sql-fragments.ts'
import { type JobLoop, jobLoop } from '../kernel/job-loop.ts'
import { createKeyedQueue } from '../kernel/keyed-queue.ts'
import { loggable } from '../kernel/loggable.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { disableEndpointsOfKey } from '../webhooks/table/endpoints.ts'
import { wakeQueues } from './endpoint-queues.ts'
import type { DeliveryObserver, JobServices } from './model.ts'
import { insertControl } from './new-deliveries.ts'
import { deliveryTuning } from './tuning.ts'

/**
 * Disables the endpoints of a key under the clock row, makes their queues due, and returns their ids. Subscriptions are
 * notified that they have ended.
 */
export const disableRegisteredFunction: SchemaFunction = schemaFunction(
  'disable_registered',
  {
    arguments: 'p_organization_id uuid, p_api_key_id uuid, p_now timestamptz',
    returns: 'uuid[]',
  },
  `declare
  v_webhook_ids uuid[];
  v_ends_at timestamptz;
begin
  ${disableEndpointsOfKey}
  ${insertControl('terminated', { among: 'w.id = any(v_webhook_ids)', attempts: '3' })}
  ${wakeQueues('v_webhook_ids')}
  return v_webhook_ids;
end;`,
)

export const expireFunction: SchemaFunction = schemaFunction(
  'expire_api_key',
  {
    arguments: 'p_organization_id uuid, p_api_key_id uuid, p_now timestamptz',
    returns: 'uuid[]',
  },
  `begin
  ${lockClock}
  update api_keys set expiry_settled_at = p_now
    where organization_id = p_organization_id and id = p_api_key_id and expires_at <= p_now
      and expiry_settled_at is null;
  if not found then
    return null;
  end if;
  return ${disableRegisteredFunction.name}(p_organization_id, p_api_key_id, p_now);
end;`,
)

interface RegistrantServices extends JobServices {
  readonly pool: Pool
  readonly observer: DeliveryObserver
}

export function createRegistrants(services: RegistrantServices): JobLoop {
  const { pool, clock, log, observer, onDeliveries, exclusiveTasks = createKeyedQueue() } = services
  return jobLoop({
    ...deliveryTuning.registrants,
    async findDue(limit, except) {
      const { rows } = await pool.query<{ organization_id: string; id: string }>({
        name: 'find_expired_keys',
        text: `select k.organization_id, k.id from api_keys k
                 where k.expires_at <= $1 and k.expiry_settled_at is null and k.organization_id <> all($2)
                 order by k.expires_at limit $3`,
        values: [formatTimestamp(clock.now()), except, limit],
      })
      return rows.map((row) => ({ organizationId: row.organization_id, apiKeyId: row.id }))
    },
    async run({ organizationId, apiKeyId }) {
      const values = [organizationId, apiKeyId, formatTimestamp(clock.now())] as const
      const disabled = await exclusiveTasks.run(organizationId, () =>
        unlessBusy(callFunction<string[] | null>(pool, expireFunction, values)),
      )
      if (disabled === 'busy') return disabled
      for (const webhookId of disabled ?? []) {
        observer.disabled('registrant_revoked')
        log.warn({ organizationId, webhookId, reason: 'registrant_revoked' }, 'an endpoint was disabled')
        onDeliveries()
      }
      return 'done'
    },
    onFailure(error, key) {
      log.warn({ ...key, err: loggable(error) }, 'could not carry out the expiry of a key; trying again')
    },
  })
}
