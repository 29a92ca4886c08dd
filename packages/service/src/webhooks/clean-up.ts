/** Deliveries that nobody is shown any more: of endpoints that were deleted, and older than the log goes back. */
import type { Pool } from 'pg'
import { formatTimestamp } from '../kernel/timestamps.ts'

/** Deliveries removed in one statement. */
const step = 1_000

/** Removes the deliveries of deleted endpoints. Safe to repeat, and to stop half-way. */
export async function removeOrphans(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ organization_id: string; webhook_id: string }>(
    'select r.organization_id, r.webhook_id from removed_webhooks r limit 100',
  )
  for (const { organization_id: organizationId, webhook_id: webhookId } of rows) {
    while ((await removeSome(pool, organizationId, webhookId, null)) === step);
    await pool.query('delete from removed_webhooks where organization_id = $1 and webhook_id = $2', [
      organizationId,
      webhookId,
    ])
  }
}

/** Removes settled deliveries made before a time, in milliseconds. Pending ones are never removed. */
export async function removeOld(pool: Pool, before: number): Promise<void> {
  const { rows } = await pool.query<{ organization_id: string; id: string }>(
    'select w.organization_id, w.id from webhooks w',
  )
  for (const { organization_id: organizationId, id } of rows) {
    while ((await removeSome(pool, organizationId, id, formatTimestamp(before))) === step);
  }
}

/** Deliveries and their attempts, the oldest first; all of the endpoint's when `before` is null. */
async function removeSome(
  pool: Pool,
  organizationId: string,
  webhookId: string,
  before: string | null,
): Promise<number> {
  const { rows } = await pool.query<{ ids: string[] | null }>(
    `select array_agg(s.id) as ids from (
       select d.id from deliveries d where d.organization_id = $1 and d.webhook_id = $2
         and ($3::timestamptz is null or (d.created_at <= $3 and d.status <> 'pending'))
         order by d.created_at, d.id limit ${step}) s`,
    [organizationId, webhookId, before],
  )
  const ids = rows[0]?.ids ?? []
  await pool.query('delete from attempts where organization_id = $1 and delivery_id = any($2)', [
    organizationId,
    ids,
  ])
  await pool.query('delete from deliveries where organization_id = $1 and id = any($2)', [
    organizationId,
    ids,
  ])
  return ids.length
}
