/**
 * Creates the deliveries of large commits after the commit, in pieces under the clock row, one organization after
 * another.
 */
import { fromOrganization, unlessBusy } from '../db/call-function.ts'
import type { Database } from '../db/fair-pool.ts'
import type { SchemaFunction } from '../db/migration.ts'
import { fillTemplate, readSql, schemaObject } from '../db/sql-file.ts'
import { lockClockFunction } from '../journal/functions.ts'
import type { StreamTable } from '../journal/stream-table.ts'
import { type JobLoop, jobLoop } from '../kernel/job-loop.ts'
import { loggable } from '../kernel/log.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import {
  insertDeliveriesFunction,
  newDeliveryType,
  skipReasonFunction,
  wakeQueuesFunction,
} from './functions.ts'
import type { JobServices } from './model.ts'
import { suspendedOrganizations } from './sweep.ts'
import { deliveryTuning } from './tuning.ts'

const { backlogAtMost, eventsAPiece, eventsOfOne, ...limits } = deliveryTuning.fanOuts

export function createFanOuts(
  services: JobServices & { readonly database: Database; readonly tables: readonly StreamTable[] },
): JobLoop {
  const { database, clock, log, onDeliveries } = services
  const piece = fanOutFunction(services.tables).name
  return jobLoop({
    ...limits,
    async findDue(limit, except) {
      // The organization that had a piece last comes last. A suspended one creates no deliveries.
      const { rows } = await database.forSeveral.query<{ organization_id: string }>({
        name: 'find_due_fan_outs',
        text: `select f.organization_id from fan_outs f
                 where f.due_at <= $1 and f.organization_id <> all(${suspendedOrganizations}) and f.organization_id <> all($2)
                 group by f.organization_id order by max(f.due_at) limit $3`,
        values: [formatTimestamp(clock.now()), except, limit],
      })
      return rows.map((row) => ({ organizationId: row.organization_id }))
    },
    async run({ organizationId }) {
      const called = database.ofLong(organizationId).query<{ outcome: 'more' | 'done' | 'busy' }>({
        name: piece,
        text: `select ${piece}($1, $2, ${eventsAPiece}, ${eventsOfOne}, ${backlogAtMost}) as outcome
                 ${fromOrganization}`,
        values: [organizationId, formatTimestamp(clock.now())],
      })
      const answer = await unlessBusy(called)
      if (answer === 'busy' || (answer.rows[0]?.outcome ?? 'busy') === 'busy') return 'busy'
      onDeliveries()
      return 'done'
    },
    onFailure(error, job) {
      const err = loggable(error)
      if (job === null) log.warn({ err }, 'could not look for large commits; trying again')
      else log.warn({ ...job, err }, 'some deliveries of a large commit could not be made; trying again')
    },
  })
}

/** Names the advisory lock of an organization's pieces: any constant that nothing else on the server uses. */
const lockNumber = 673_720_110

export const fanOutFunction = (tables: readonly StreamTable[]): SchemaFunction =>
  schemaObject(
    fillTemplate(readSql(import.meta.url, './fan-out-piece.sql'), { lock_number: String(lockNumber) }),
    [
      lockClockFunction,
      newDeliveryType,
      insertDeliveriesFunction,
      skipReasonFunction(tables),
      wakeQueuesFunction,
    ],
  )
