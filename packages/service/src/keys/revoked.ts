/** Keys that were revoked: what they were, when, and by whom, for 30 days. */
import type { Pool } from 'pg'
import type { Queryable } from '../db/pool.ts'
import { removeInSteps } from '../db/steps.ts'
import type { Page } from '../http/list-parameters.ts'
import { notServedOrganizations } from '../journal/not-served.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { KeyRow } from './api-key.ts'
import type { KeyFilter } from './store.ts'

/** Milliseconds. */
export const revokedKept = 30 * 24 * 60 * 60 * 1_000

const found = `from revoked_api_keys r where r.organization_id = $1 and r.revoked_at > $2
    and ($3::timestamptz is null or r.created_at > $3) and ($4::timestamptz is null or r.created_at < $4)`

/** A page of those revoked after `since`, in milliseconds, the latest first. */
export async function findRevoked(
  db: Queryable,
  organizationId: string,
  { createdAfter, createdBefore }: KeyFilter,
  { limit, offset }: Page,
  since: number,
): Promise<{ readonly rows: readonly KeyRow[]; readonly total: number }> {
  const values = [organizationId, formatTimestamp(since), createdAfter, createdBefore]
  const [page, counted] = await Promise.all([
    db.query<KeyRow>(
      `select r.id, r.name, r.scopes, r.expires_at, null as expiry_settled_at, r.created_at, r.updated_at, r.last_used_at,
          r.last4, null as previous_token_expires_at, r.revoked_at, r.revoked_by, r.revoked_by_name
        ${found} order by r.revoked_at desc, r.id desc limit $5 offset $6`,
      [...values, limit, offset],
    ),
    db.query<{ total: number }>(`select count(*)::int as total ${found}`, values),
  ])
  return { rows: page.rows, total: counted.rows[0]?.total ?? 0 }
}

/** Removes those revoked up to `before`, in milliseconds. */
export function forgetRevoked(pool: Pool, before: number): Promise<void> {
  return removeInSteps(
    pool,
    (failed) => `select r.organization_id, r.id from revoked_api_keys r
       where r.revoked_at <= $1 and r.organization_id <> all(${failed}) and r.organization_id <> all(${notServedOrganizations})`,
    [formatTimestamp(before)],
    'delete from revoked_api_keys where organization_id = $1 and id = any($2)',
  )
}
