/**
 * Creates the deliveries of large commits after the commit, and those that an endpoint missed, in pieces under the
 * clock row, one organization after another.
 */
import { fromOrganization, unlessBusy } from '../../db/call-function.ts'
import type { Database } from '../../db/fair-pool.ts'
import type { SchemaFunction } from '../../db/migration.ts'
import { fillTemplate, readSql, schemaObject } from '../../db/sql-file.ts'
import { lockClockFunction } from '../../journal/functions.ts'
import type { StreamTable } from '../../journal/stream-table.ts'
import { type JobLoop, jobLoop } from '../../kernel/job-loop.ts'
import { loggable } from '../../kernel/log.ts'
import { createKeyedQueue } from '../../kernel/shared-work.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'
import type { JobServices } from '../model.ts'
import { deliveryTuning } from '../tuning.ts'
import {
  eventPatternsFunction,
  insertDeliveriesFunction,
  newDeliveryType,
  skipReasonFunction,
  wakeQueuesFunction,
} from './functions.ts'
import { suspendedOrganizations } from './sweep.ts'

const { backlogAtMost, eventsAPiece, eventsOfOne, recoveryWeight, ...limits } = deliveryTuning.deliveryJobs

/** `maxAttempts`: of a delivery. */
export function createDeliveryJobs(
  services: JobServices & {
    readonly database: Database
    readonly tables: readonly StreamTable[]
    readonly maxAttempts: number
  },
): JobLoop {
  const { database, clock, log, maxAttempts, onDeliveries, exclusiveTasks = createKeyedQueue() } = services
  const piece = deliveryJobPieceFunction(services.tables).name
  return jobLoop({
    ...limits,
    async findDue(limit, except) {
      // The organization that had a piece last comes last. A suspended one creates no deliveries.
      const { rows } = await database.forSeveral.query<{ organization_id: string }>({
        name: 'find_due_delivery_jobs',
        text: `select j.organization_id from delivery_jobs j
                 where j.due_at <= $1 and j.organization_id <> all(${suspendedOrganizations})
                   and j.organization_id <> all($2)
                 group by j.organization_id order by max(j.due_at) limit $3`,
        values: [formatTimestamp(clock.now()), except, limit],
      })
      return rows.map((row) => ({ organizationId: row.organization_id }))
    },
    async run({ organizationId }) {
      const outcome = await exclusiveTasks.run(organizationId, () =>
        unlessBusy(
          database.ofLong(organizationId).query<{ outcome: 'more' | 'done' | 'busy' }>({
            name: piece,
            text: `select ${piece}($1, $2, ${eventsAPiece}, ${eventsOfOne}, ${backlogAtMost}, $3) as outcome
                     ${fromOrganization}`,
            values: [organizationId, formatTimestamp(clock.now()), maxAttempts],
          }),
        ),
      )
      if (outcome === 'busy' || (outcome.rows[0]?.outcome ?? 'busy') === 'busy') return 'busy'
      onDeliveries()
      return 'done'
    },
    onFailure(error, job) {
      const err = loggable(error)
      if (job === null) log.warn({ err }, 'could not look for deliveries to be created; trying again')
      else log.warn({ ...job, err }, 'deliveries could not be created; trying again')
    },
  })
}

/** Names the advisory lock of an organization's pieces: any constant that nothing else on the server uses. */
const lockNumber = 673_720_110

export const deliveryJobPieceFunction = (tables: readonly StreamTable[]): SchemaFunction =>
  schemaObject(
    fillTemplate(readSql(import.meta.url, './delivery-job-piece.sql'), {
      lock_number: String(lockNumber),
      recovery_weight: String(recoveryWeight),
    }),
    [
      lockClockFunction,
      newDeliveryType,
      insertDeliveriesFunction,
      skipReasonFunction(tables),
      wakeQueuesFunction,
      eventPatternsFunction,
    ],
  )
