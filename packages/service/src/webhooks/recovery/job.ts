/**
 * Recoveries make missed deliveries pending again, in pieces, each for a limited time, so that a long one does not
 * block others.
 */
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { fromOrganization, unlessBusy } from '../../db/call-function.ts'
import type { SchemaFunction } from '../../db/migration.ts'
import { readSql, schemaObject } from '../../db/sql-file.ts'
import {
  insertDeliveriesFunction,
  newDeliveryType,
  skipReasonFunction,
  wakeQueuesFunction,
} from '../../delivery/functions.ts'
import type { EndpointKey, JobServices } from '../../delivery/model.ts'
import { suspendedOrganizations } from '../../delivery/sweep.ts'
import { deliveryTuning } from '../../delivery/tuning.ts'
import { lockClockFunction } from '../../journal/functions.ts'
import type { StreamTable } from '../../journal/stream-table.ts'
import { type JobLoop, type JobOutcome, jobLoop } from '../../kernel/job-loop.ts'
import { loggable } from '../../kernel/log.ts'
import { createKeyedQueue } from '../../kernel/shared-work.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'

const { leaseFor, piecesInARow, eventsAPiece, backlogAtMost, ...limits } = deliveryTuning.recoveries

export function createRecoverer(services: JobServices & { readonly recoveries: Recoveries }): JobLoop {
  const { recoveries, clock, log, onDeliveries, exclusiveTasks = createKeyedQueue() } = services
  return jobLoop<RecoveryKey>({
    ...limits,
    findDue: (limit, except) => recoveries.findDue(clock.now(), limit, except),
    run,
    onFailure(error, recovery) {
      const err = loggable(error)
      if (recovery === null) log.warn({ err }, 'could not look for recoveries; trying again')
      // The lease expires, and the recovery is found again.
      else log.warn({ ...recovery, err }, 'a recovery was interrupted; it will go on')
    },
  })

  /** Runs its pieces until it is done or waits, or this worker stops. */
  async function run(recovery: RecoveryKey, stopping: AbortSignal): Promise<JobOutcome> {
    const leaseId = randomUUID()
    if (!(await recoveries.claim(recovery, leaseId, clock.now(), clock.now() + leaseFor))) return 'done'
    let outcome: Piece = 'more'
    for (let pieces = 0; outcome === 'more' && pieces < piecesInARow && !stopping.aborted; pieces++) {
      const now = clock.now()
      outcome = await exclusiveTasks.run(recovery.organizationId, () =>
        recoveries.piece(recovery, leaseId, now, now + leaseFor),
      )
      if (outcome === 'more' || outcome === 'done') onDeliveries()
    }
    if (outcome === 'more' || outcome === 'busy') await recoveries.release(recovery, leaseId)
    return outcome === 'busy' ? outcome : 'done'
  }
}

interface RecoveryKey extends EndpointKey {
  readonly recoveryId: string
}

/**
 * The result of a piece; see `recover-piece.sql`. 'busy': the organization's clock row was locked, and nothing was
 * done.
 */
type Piece = 'more' | 'done' | 'waiting' | 'disabled' | 'lost' | 'busy'

type Recoveries = ReturnType<typeof createRecoveries>

/** `attempts`: maximum attempts of a delivery. */
export function createRecoveries(pool: Pool, attempts: number, tables: readonly StreamTable[]) {
  const recoverPiece = recoverPieceFunction(tables).name
  return {
    /** Unclaimed recoveries with a piece due, longest due first, except those of the organizations `except`. */
    async findDue(
      now: number,
      limit: number,
      except: readonly string[] = [],
    ): Promise<readonly RecoveryKey[]> {
      const { rows } = await pool.query<{ organization_id: string; webhook_id: string; id: string }>({
        name: 'find_due_recoveries',
        text: `select r.organization_id, r.webhook_id, r.id from recoveries r
               where r.due_at <= $1 and (r.lease_until is null or r.lease_until <= $1)
                 and r.organization_id <> all(${suspendedOrganizations})
                 and r.organization_id <> all($2) order by r.due_at limit $3`,
        values: [formatTimestamp(now), except, limit],
      })
      return rows.map((row) => ({
        organizationId: row.organization_id,
        webhookId: row.webhook_id,
        recoveryId: row.id,
      }))
    },

    async claim(
      { organizationId, webhookId, recoveryId }: RecoveryKey,
      leaseId: string,
      now: number,
      leaseUntil: number,
    ): Promise<boolean> {
      const { rowCount } = await pool.query(
        `update recoveries set lease_id = $4, lease_until = $6
           where organization_id = $1 and webhook_id = $2 and id = $3 and due_at <= $5
             and (lease_until is null or lease_until <= $5)`,
        [organizationId, webhookId, recoveryId, leaseId, formatTimestamp(now), formatTimestamp(leaseUntil)],
      )
      return rowCount === 1
    },

    async piece(
      { organizationId, webhookId, recoveryId }: RecoveryKey,
      leaseId: string,
      now: number,
      leaseUntil: number,
    ): Promise<Piece> {
      const called = pool.query<{ outcome: Piece }>({
        name: recoverPiece,
        text: `select ${recoverPiece}($1, $2, $3, $4, $5, $6, ${eventsAPiece}, ${backlogAtMost}, $7) as outcome
                 ${fromOrganization}`,
        values: [
          organizationId,
          webhookId,
          recoveryId,
          leaseId,
          formatTimestamp(now),
          formatTimestamp(leaseUntil),
          attempts,
        ],
      })
      const answer = await unlessBusy(called)
      return answer === 'busy' ? answer : (answer.rows[0]?.outcome ?? 'lost')
    },

    async release({ organizationId, webhookId, recoveryId }: RecoveryKey, leaseId: string): Promise<void> {
      await pool.query(
        `update recoveries set lease_id = null, lease_until = null
           where organization_id = $1 and webhook_id = $2 and id = $3 and lease_id = $4`,
        [organizationId, webhookId, recoveryId, leaseId],
      )
    },
  }
}

export const recoverPieceFunction = (tables: readonly StreamTable[]): SchemaFunction =>
  schemaObject(readSql(import.meta.url, './recover-piece.sql'), [
    lockClockFunction,
    newDeliveryType,
    insertDeliveriesFunction,
    skipReasonFunction(tables),
    wakeQueuesFunction,
  ])
