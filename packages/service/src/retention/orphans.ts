import type { Pool } from 'pg'
import { byOrganization, removeInSteps, step, stepByStep } from '../db/steps.ts'
import { notServedOrganizations } from '../journal/not-served.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'

export function removeOrphans(pool: Pool): Promise<void> {
  return byOrganization<{ organization_id: string; webhook_id: string }>(
    pool,
    (failed) =>
      `select r.organization_id, r.webhook_id from removed_webhooks r where r.organization_id <> all(${failed})`,
    [],
    async (organizationId, rows) => {
      for (const { webhook_id: webhookId } of rows) {
        await stepByStep(() => removeSome(pool, organizationId, webhookId))
        await stepByStep(() => removeStats(pool, organizationId, webhookId))
        await pool.query('delete from removed_webhooks where organization_id = $1 and webhook_id = $2', [
          organizationId,
          webhookId,
        ])
      }
    },
  )
}

export function removeRecoveries(pool: Pool, before: number): Promise<void> {
  return removeInSteps(
    pool,
    (failed) => `select r.organization_id, r.webhook_id, r.id from recoveries r
       where r.finished_at <= $1 and r.organization_id <> all(${failed}) and r.organization_id <> all(${notServedOrganizations})`,
    [formatTimestamp(before)],
    'delete from recoveries where organization_id = $1 and webhook_id = any($2) and id = any($3)',
  )
}

export function removeConsoleLinks(pool: Pool, before: number): Promise<void> {
  return removeInSteps(
    pool,
    (failed) => `select c.organization_id, c.id from console_links c
       where c.expires_at <= $1 and c.organization_id <> all(${failed}) and c.organization_id <> all(${notServedOrganizations})`,
    [formatTimestamp(before)],
    'delete from console_links where organization_id = $1 and id = any($2)',
  )
}

async function removeSome(pool: Pool, organizationId: string, webhookId: string): Promise<number> {
  const { rows } = await pool.query<{ ids: string[] | null }>(
    `select array_agg(s.id) as ids from (
       select d.id from deliveries d where d.organization_id = $1 and d.webhook_id = $2 limit ${step}) s`,
    [organizationId, webhookId],
  )
  const ids = rows[0]?.ids ?? []
  await pool.query('delete from attempts where organization_id = $1 and delivery_id = any($2)', [
    organizationId,
    ids,
  ])
  await pool.query('delete from deliveries where organization_id = $1 and webhook_id = $2 and id = any($3)', [
    organizationId,
    webhookId,
    ids,
  ])
  return ids.length
}

async function removeStats(pool: Pool, organizationId: string, webhookId: string): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from delivery_stats where organization_id = $1 and webhook_id = $2 and (minutes, at) in (
       select s.minutes, s.at from delivery_stats s where s.organization_id = $1 and s.webhook_id = $2 limit ${step})`,
    [organizationId, webhookId],
  )
  return rowCount ?? 0
}
