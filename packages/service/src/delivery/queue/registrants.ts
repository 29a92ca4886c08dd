/**
 * Disables endpoints whose registrant key has expired (specification 9.4): no call marks an expiry, so workers look for
 * expired keys.
 */
import type { Pool } from 'pg'
import { callFunction, unlessBusy } from '../../db/call-function.ts'
import type { SchemaFunction } from '../../db/migration.ts'
import { readSql, schemaObject } from '../../db/sql-file.ts'
import { lockClockFunction } from '../../journal/functions.ts'
import { type JobLoop, jobLoop } from '../../kernel/job-loop.ts'
import { loggable } from '../../kernel/log.ts'
import { createKeyedQueue } from '../../kernel/shared-work.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'
import type { DeliveryObserver, JobServices } from '../model.ts'
import { deliveryTuning } from '../tuning.ts'
import { wakeQueuesFunction } from './functions.ts'

const sql = (file: string) => readSql(import.meta.url, file)

export const disableRegisteredFunction: SchemaFunction = schemaObject(sql('./disable-registered.sql'), [
  wakeQueuesFunction,
])

export const expireFunction: SchemaFunction = schemaObject(sql('./expire-api-key.sql'), [
  lockClockFunction,
  disableRegisteredFunction,
])

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
