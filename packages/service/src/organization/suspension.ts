/** While an organization is suspended, keys get 403 and deliveries wait; nothing is changed or lost (decision 43). */
import type { Pool } from 'pg'
import { isServedElsewhere } from '../db/not-served.ts'
import { transaction } from '../db/pool.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'

/** `unchanged`: it already had that status. `deleting`: its deletion has begun, and can only be finished. */
export type SuspensionOutcome = 'done' | 'unchanged' | 'unknown' | 'deleting'

/** Keys are refused from the next request, and only claimed attempts are still sent. */
export async function suspendOrganization(
  pool: Pool,
  clock: Clock,
  organizationId: string,
): Promise<SuspensionOutcome> {
  return transaction(pool, async (tx) => {
    const status = await lockStatus(tx, organizationId)
    if (status !== 'active') return status === 'suspended' ? 'unchanged' : status
    await tx.query('update organizations set suspended_at = $2 where organization_id = $1', [
      organizationId,
      formatTimestamp(clock.now()),
    ])
    return 'done'
  })
}

/** Pending deliveries are sent when due. The suspended time does not count as failing. */
export async function resumeOrganization(
  pool: Pool,
  clock: Clock,
  organizationId: string,
): Promise<SuspensionOutcome> {
  return transaction(pool, async (tx) => {
    const status = await lockStatus(tx, organizationId)
    if (status !== 'suspended') return status === 'active' ? 'unchanged' : status
    const values = [organizationId, formatTimestamp(clock.now())]
    // Queues before endpoint health, each in the lock order of other transactions.
    await tx.query(
      'select 1 from endpoint_queues l where l.organization_id = $1 order by l.webhook_id for update',
      [organizationId],
    )
    await tx.query('update endpoint_queues set due_at = least(due_at, $2) where organization_id = $1', values)
    await tx.query(
      `update webhook_health h
         set failing_since = h.failing_since + greatest($2::timestamptz - greatest(o.suspended_at, h.failing_since), '0')
         from organizations o
         where o.organization_id = $1 and h.organization_id = $1 and h.failing_since is not null`,
      values,
    )
    await tx.query('update organizations set suspended_at = null where organization_id = $1', [
      organizationId,
    ])
    return 'done'
  })
}

/** Locks its status until the transaction ends; `EndpointQueues.hold` waits for that. */
async function lockStatus(
  tx: Pick<Pool, 'query'>,
  organizationId: string,
): Promise<'active' | 'suspended' | 'deleting' | 'unknown'> {
  const { rows } = await tx.query<{ suspended: boolean; deleting: boolean }>(
    `select o.suspended_at is not null as suspended, o.deletion_began_at is not null as deleting
       from organizations o where o.organization_id = $1 for no key update`,
    [organizationId],
  )
  const [row] = rows
  if (row === undefined) return 'unknown'
  if (row.deleting) return 'deleting'
  return row.suspended ? 'suspended' : 'active'
}

/** Copies the status to a copy that is not served; returns whether there is one. `as`: the permission to write it. */
export function markCopy(
  pool: Pool,
  organizationId: string,
  suspendedAt: number | null,
  as: string,
): Promise<boolean> {
  return transaction(pool, async (tx) => {
    await tx.query(as, [organizationId])
    const { rowCount } = await tx.query(
      `update organizations o set suspended_at = $2
         where o.organization_id = $1 and ${isServedElsewhere('o')} and o.deletion_began_at is null`,
      [organizationId, suspendedAt === null ? null : formatTimestamp(suspendedAt)],
    )
    return rowCount === 1
  })
}
