/** Keys in the database: reads, and calls of the functions that change them. */

import type { Database } from '../../db/fair-pool.ts'
import type { Queryable } from '../../db/pool.ts'
import type { CallUnderClock } from '../../journal/journal.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'
import type { Caller } from '../authenticator.ts'
import type { KeyRow } from './api-key.ts'
import {
  createFunction,
  dropPreviousFunction,
  revokeFunction,
  rotateFunction,
  updateFunction,
} from './functions.ts'
import { findRevoked, revokedKept } from './revoked.ts'

interface KeyFilter {
  readonly createdAfter: string | null
  readonly createdBefore: string | null
}

interface StoredToken {
  readonly hash: Buffer
  readonly last4: string
}

/** `caller_changed`: the calling key was changed since the request was authenticated. */
type CallerChecked<A> = Promise<A | 'caller_changed'>

export interface KeyStore {
  read(organizationId: string, id: string, now: number): Promise<KeyRow | null>
  list(
    organizationId: string,
    filter: KeyFilter,
    page: { readonly limit: number; readonly offset: number },
    now: number,
  ): Promise<{ readonly rows: readonly KeyRow[]; readonly total: number }>
  /** Those revoked within `revokedKept`. */
  listRevoked: KeyStore['list']
  count(organizationId: string): Promise<number>
  /** `response`: what to store for an Idempotency-Key; null stores nothing. */
  create(
    caller: Caller,
    row: KeyRow,
    token: StoredToken,
    options: { now: number; limit: number; response: string | null },
  ): CallerChecked<'done' | 'limit_reached' | 'replayed'>
  change(
    caller: Caller,
    before: KeyRow,
    after: KeyRow,
    options: { now: number; manages: boolean },
  ): CallerChecked<'done' | 'conflict' | 'last_managing_key'>
  rotate(
    caller: Caller,
    before: KeyRow,
    token: StoredToken,
    options: { now: number; updatedAt: number; expiresAt: number; response: string | null },
  ): CallerChecked<'done' | 'conflict' | 'replayed'>
  dropPrevious(
    caller: Caller,
    before: KeyRow,
    options: { now: number; updatedAt: number },
  ): CallerChecked<'done' | 'conflict'>
  revoke(
    caller: Caller,
    before: KeyRow,
    now: number,
  ): CallerChecked<'done' | 'conflict' | 'last_managing_key'>
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

/** At `now`, in milliseconds; null: no such key. */
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

/** Newest first, at `now`, in milliseconds. */
export async function findKeys(
  db: Queryable,
  organizationId: string,
  { createdAfter, createdBefore }: KeyFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
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

export function createKeyStore(database: Pick<Database, 'of'>, callUnderClock: CallUnderClock): KeyStore {
  /** The arguments that identify the key and the version that was decided on. */
  const about = (
    caller: Caller,
    { id, updated_at }: KeyRow,
    now: number,
  ): [organizationId: string, ...others: unknown[]] => [
    caller.organizationId,
    id,
    formatTimestamp(now),
    formatTimestamp(updated_at.getTime()),
    caller.apiKeyId,
    caller.scopes,
  ]

  return {
    read: (organizationId, id, now) => findKey(database.of(organizationId), organizationId, id, now),

    async list(organizationId, filter, page, now) {
      const { createdAfter, createdBefore } = filter
      const read = findKeys(database.of(organizationId), organizationId, filter, page, now)
      const counted = database.of(organizationId).query<{ total: number }>(
        `select count(*)::int as total from api_keys k where k.organization_id = $1
           and ($2::timestamptz is null or k.created_at > $2) and ($3::timestamptz is null or k.created_at < $3)`,
        [organizationId, createdAfter, createdBefore],
      )
      const [rows, count] = await Promise.all([read, counted])
      return { rows, total: count.rows[0]?.total ?? 0 }
    },

    listRevoked: (organizationId, filter, page, now) =>
      findRevoked(database.of(organizationId), organizationId, filter, page, now - revokedKept),

    async count(organizationId) {
      const { rows } = await database
        .of(organizationId)
        .query<{ keys: number }>(
          'select count(*)::int as keys from api_keys k where k.organization_id = $1',
          [organizationId],
        )
      return rows[0]?.keys ?? 0
    },

    create(caller, row, token, { now, limit, response }) {
      const { name, scopes, expires_at } = row
      return callUnderClock(createFunction, [
        caller.organizationId,
        row.id,
        formatTimestamp(now),
        caller.apiKeyId,
        caller.scopes,
        JSON.stringify({ name, scopes, expires_at }),
        token.hash,
        token.last4,
        limit,
        response,
      ])
    },

    change(caller, before, { name, scopes, expires_at, updated_at }, { now, manages }) {
      const row = JSON.stringify({ name, scopes, expires_at, updated_at })
      return callUnderClock(updateFunction, [...about(caller, before, now), row, manages])
    },

    rotate(caller, before, token, { now, updatedAt, expiresAt, response }) {
      return callUnderClock(rotateFunction, [
        ...about(caller, before, now),
        formatTimestamp(updatedAt),
        token.hash,
        token.last4,
        formatTimestamp(expiresAt),
        response,
      ])
    },

    dropPrevious: (caller, before, { now, updatedAt }) =>
      callUnderClock(dropPreviousFunction, [...about(caller, before, now), formatTimestamp(updatedAt)]),

    revoke: (caller, before, now) => callUnderClock(revokeFunction, about(caller, before, now)),
  }
}
