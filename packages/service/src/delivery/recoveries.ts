/** Recoveries in the database, as a worker finds, takes and does them. */
import type { Pool } from 'pg'
import { untilFree } from '../db/errors.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { LaneKey } from './lanes.ts'
import { recoverFunction } from './recovery-function.ts'

export interface RecoveryKey extends LaneKey {
  readonly recoveryId: string
}

/** What a piece came to; see the function. */
export type Piece = 'more' | 'done' | 'waiting' | 'disabled' | 'lost'

export interface Recoveries {
  /** Recoveries with a piece due that nobody does, the longest due first. */
  findDue(now: number, limit: number): Promise<readonly RecoveryKey[]>
  /** Whether it is this worker's now, until then. */
  take(recovery: RecoveryKey, leaseId: string, now: number, leaseUntil: number): Promise<boolean>
  piece(recovery: RecoveryKey, leaseId: string, now: number, leaseUntil: number): Promise<Piece>
  /** Gives it back: to be gone on with by whoever comes first. */
  release(recovery: RecoveryKey, leaseId: string): Promise<void>
}

/** Events looked at in one piece, for which the organization's writers wait. Measured: 200 take 4 to 10 ms. */
const eventsAtOnce = 200
/** Deliveries due at an endpoint beyond which nothing more is brought back just then. */
const backlogAtMost = 1_000

/** `attempts`: how many a delivery has. */
export function createRecoveries(pool: Pool, attempts: number): Recoveries {
  return {
    async findDue(now, limit) {
      const { rows } = await pool.query<{ organization_id: string; webhook_id: string; id: string }>({
        name: `find_due_recoveries_${limit}`,
        text: `select r.organization_id, r.webhook_id, r.id from recoveries r
               where r.due_at <= $1 and (r.lease_until is null or r.lease_until <= $1) order by r.due_at limit ${limit}`,
        values: [formatTimestamp(now)],
      })
      return rows.map((row) => ({
        organizationId: row.organization_id,
        webhookId: row.webhook_id,
        recoveryId: row.id,
      }))
    },

    async take({ organizationId, webhookId, recoveryId }, leaseId, now, leaseUntil) {
      const { rowCount } = await pool.query(
        `update recoveries set lease_id = $4, lease_until = $6
           where organization_id = $1 and webhook_id = $2 and id = $3 and due_at <= $5
             and (lease_until is null or lease_until <= $5)`,
        [organizationId, webhookId, recoveryId, leaseId, formatTimestamp(now), formatTimestamp(leaseUntil)],
      )
      return rowCount === 1
    },

    async piece({ organizationId, webhookId, recoveryId }, leaseId, now, leaseUntil) {
      const statement = {
        name: recoverFunction.name,
        text: `select ${recoverFunction.name}($1, $2, $3, $4, $5, $6, ${eventsAtOnce}, ${backlogAtMost}, $7) as came`,
        values: [
          organizationId,
          webhookId,
          recoveryId,
          leaseId,
          formatTimestamp(now),
          formatTimestamp(leaseUntil),
          attempts,
        ],
      }
      const { rows } = await untilFree(() => pool.query<{ came: Piece }>(statement))
      return rows[0]?.came ?? 'lost'
    },

    async release({ organizationId, webhookId, recoveryId }, leaseId) {
      await pool.query(
        `update recoveries set lease_id = null, lease_until = null
           where organization_id = $1 and webhook_id = $2 and id = $3 and lease_id = $4`,
        [organizationId, webhookId, recoveryId, leaseId],
      )
    },
  }
}
