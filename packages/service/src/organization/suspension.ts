/**
 * Suspending an organization, and resuming it. Nothing of it is changed or lost: its keys are refused with 403, and its
 * deliveries wait. Every process sees it with the next request and with the next claim. The summarizer and maintenance go on.
 * Why it is so: decision 43.
 */
import type { Pool } from 'pg'
import { transaction } from '../db/transaction.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'

/** `unchanged`: it was so already. `deleting`: its deletion has begun, and it can only be finished. */
export type SuspensionOutcome = 'done' | 'unchanged' | 'unknown' | 'deleting'

/** Suspends it: from the next request on its keys are refused, and no attempt begins but those that are claimed. */
export async function suspendOrganization(
  pool: Pool,
  clock: Clock,
  organizationId: string,
): Promise<SuspensionOutcome> {
  return transaction(pool, async (tx) => {
    const standing = await lockStanding(tx, organizationId)
    if (standing !== 'active') return standing === 'suspended' ? 'unchanged' : standing
    await tx.query('update organizations set suspended_at = $2 where organization_id = $1', [
      organizationId,
      formatTimestamp(clock.now()),
    ])
    return 'done'
  })
}

/**
 * Resumes it: its keys work with the next request, and what is pending goes out when it is due, most of it now. The time
 * of the suspension counts for no endpoint as time in which it failed.
 */
export async function resumeOrganization(
  pool: Pool,
  clock: Clock,
  organizationId: string,
): Promise<SuspensionOutcome> {
  return transaction(pool, async (tx) => {
    const standing = await lockStanding(tx, organizationId)
    if (standing !== 'suspended') return standing === 'active' ? 'unchanged' : standing
    const values = [organizationId, formatTimestamp(clock.now())]
    // Queues before the health of their endpoints, each in the order in which others take them.
    await tx.query('select 1 from lanes l where l.organization_id = $1 order by l.webhook_id for update', [
      organizationId,
    ])
    await tx.query('update lanes set due_at = least(due_at, $2) where organization_id = $1', values)
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

/** Where it stands, held until the transaction ends: whoever parks a queue of it (`EndpointQueues.holdSuspended`) waits for that. */
async function lockStanding(
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

/**
 * Has a copy that nobody serves say what its organization's home says; answers whether there is one. `as`: what lets its transaction write
 * what a move has left behind.
 */
export function markCopy(
  pool: Pool,
  organizationId: string,
  suspendedAt: number | null,
  as: string,
): Promise<boolean> {
  return transaction(pool, async (tx) => {
    await tx.query(as, [organizationId])
    const { rowCount } = await tx.query(
      `update organizations set suspended_at = $2
         where organization_id = $1 and away is not null and deletion_began_at is null`,
      [organizationId, suspendedAt === null ? null : formatTimestamp(suspendedAt)],
    )
    return rowCount === 1
  })
}
