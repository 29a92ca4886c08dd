/**
 * Reads and changes of keys. `now`, in milliseconds, decides which replaced tokens still work. Each function that
 * changes one locks the organization's clock row first, as commits do. Then it checks the calling key again: one that
 * was revoked, has expired or lost a scope since authentication changes nothing.
 */
import type { Pool } from 'pg'
import { managingScope } from '../auth/scopes.ts'
import type { SchemaFunction } from '../db/migration.ts'
import { notServedOrganizations } from '../db/not-served.ts'
import type { Queryable } from '../db/pool.ts'
import { fillTemplate, readSql, schemaObject } from '../db/sql-file.ts'
import { removeInSteps } from '../db/steps.ts'
import { disableRegisteredFunction } from '../delivery/queue/registrants.ts'
import type { Page } from '../http/list-parameters.ts'
import { lockClockFunction, replayedFunction, storeResponseFunction } from '../journal/functions.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { KeyRow } from './api-key.ts'

export interface KeyFilter {
  readonly createdAfter: string | null
  readonly createdBefore: string | null
}

const selection = `select k.id, k.name, k.scopes, k.expires_at, k.expiry_settled_at, k.created_at, k.updated_at,
    u.last_used_at,
    (select t.last4 from api_key_tokens t where t.organization_id = $1 and t.api_key_id = k.id
      order by t.expires_at desc nulls first, t.created_at desc limit 1) as last4,
    (select max(t.expires_at) from api_key_tokens t where t.organization_id = $1 and t.api_key_id = k.id
      and t.expires_at > $2) as previous_token_expires_at
  from api_keys k
  left join api_key_uses u on u.organization_id = $1 and u.api_key_id = k.id
  where k.organization_id = $1`

/** Null: no such key. */
export async function findKey(
  db: Queryable,
  organizationId: string,
  id: string,
  now: number,
): Promise<KeyRow | null> {
  const values = [organizationId, formatTimestamp(now), id]
  const { rows } = await db.query<KeyRow>(`${selection} and k.id = $3`, values)
  return rows[0] ?? null
}

/** Newest first. */
export async function findKeys(
  db: Queryable,
  organizationId: string,
  { createdAfter, createdBefore }: KeyFilter,
  { limit, offset }: Page,
  now: number,
): Promise<readonly KeyRow[]> {
  const { rows } = await db.query<KeyRow>(
    `${selection} and ($3::timestamptz is null or k.created_at > $3)
       and ($4::timestamptz is null or k.created_at < $4)
     order by k.created_at desc, k.id desc limit $5 offset $6`,
    [organizationId, formatTimestamp(now), createdAfter, createdBefore, limit, offset],
  )
  return rows
}

export async function countKeys(
  db: Queryable,
  organizationId: string,
  { createdAfter, createdBefore }: KeyFilter = { createdAfter: null, createdBefore: null },
): Promise<number> {
  const { rows } = await db.query<{ keys: number }>(
    `select count(*)::int as keys from api_keys k where k.organization_id = $1
       and ($2::timestamptz is null or k.created_at > $2) and ($3::timestamptz is null or k.created_at < $3)`,
    [organizationId, createdAfter, createdBefore],
  )
  return rows[0]?.keys ?? 0
}

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

const sql = (file: string) => readSql(import.meta.url, file)

const keyIsUnchangedFunction = schemaObject(sql('./key-is-unchanged.sql'))
const isLastManagerFunction = schemaObject(
  fillTemplate(sql('./is-last-manager.sql'), { managing_scope: managingScope }),
)

const uses = [
  lockClockFunction,
  replayedFunction,
  storeResponseFunction,
  keyIsUnchangedFunction,
  isLastManagerFunction,
  disableRegisteredFunction,
]

export const createKeyFunction: SchemaFunction = schemaObject(sql('./create-api-key.sql'), uses)
export const updateFunction: SchemaFunction = schemaObject(sql('./update-api-key.sql'), uses)
export const rotateKeyFunction: SchemaFunction = schemaObject(sql('./rotate-api-key.sql'), uses)
export const dropPreviousFunction: SchemaFunction = schemaObject(sql('./drop-previous-tokens.sql'), uses)
export const revokeFunction: SchemaFunction = schemaObject(sql('./revoke-api-key.sql'), uses)

export const keyFunctions: readonly SchemaFunction[] = [
  keyIsUnchangedFunction,
  isLastManagerFunction,
  createKeyFunction,
  updateFunction,
  rotateKeyFunction,
  dropPreviousFunction,
  revokeFunction,
]
