/**
 * From a presented token to who is calling. Asked anew for every request, so that a revocation counts at once, in every
 * process.
 */
import type { Pool } from 'pg'
import type { Clock } from '../kernel/clock.ts'
import { coalesce } from '../kernel/coalesce.ts'
import { hashToken, isToken } from './token.ts'

/** Who a request comes from. */
export interface Caller {
  readonly organizationId: string
  /** Milliseconds since the Unix epoch: a watermark earlier than this marks a first sync. */
  readonly organizationCreatedAt: number
  readonly apiKeyId: string
  readonly scopes: readonly string[]
}

/** Whom a token belongs to. */
export type Lookup =
  | { readonly outcome: 'recognized'; readonly caller: Caller }
  /** Never made here, revoked, or mistyped. */
  | { readonly outcome: 'unknown' }
  /** The key has expired. */
  | { readonly outcome: 'expired' }
  /** The key lives, but this token of it was replaced, and its time is over. */
  | { readonly outcome: 'replaced' }

/** Finds keys by their tokens, and nothing else. */
export type LookUp = (token: string) => Promise<Lookup>

interface TokenRow {
  readonly token_hash: Buffer
  readonly organization_id: string
  readonly organization_created_at: Date
  readonly api_key_id: string
  readonly scopes: string[]
  readonly token_expires_at: Date | null
  readonly key_expires_at: Date | null
}

/**
 * Looks tokens up in the database; those that are asked for at the same time, together. The array comes by a subquery,
 * so that the planner never sees how long it is: where it does, it plans anew for every request (measured: 0.22 ms of
 * the database's time a look-up, and 0.03 ms like this).
 */
export function createLookUp(pool: Pool, clock: Clock): LookUp {
  const statement = {
    name: 'recognize_tokens',
    text: `select d.token_hash, d.organization_id, o.created_at as organization_created_at, d.api_key_id, k.scopes,
             d.expires_at as token_expires_at, k.expires_at as key_expires_at
           from api_key_tokens d
           join api_keys k on k.organization_id = d.organization_id and k.id = d.api_key_id
           join organizations o on o.organization_id = d.organization_id
           where d.token_hash = any((select $1::bytea[])::bytea[])`,
  }

  const find = coalesce(async (hashes: readonly string[]): Promise<(TokenRow | null)[]> => {
    const distinct = [...new Set(hashes)].map((hash) => Buffer.from(hash, 'hex'))
    const { rows } = await pool.query<TokenRow>({ ...statement, values: [distinct] })
    const found = new Map(rows.map((row) => [row.token_hash.toString('hex'), row]))
    return hashes.map((hash) => found.get(hash) ?? null)
  })

  return async (token) => {
    if (!isToken(token)) return { outcome: 'unknown' }
    const row = await find(hashToken(token).toString('hex'))
    if (row === null) return { outcome: 'unknown' }
    const isOver = (at: Date | null) => at !== null && at.getTime() <= clock.now()
    if (isOver(row.key_expires_at)) return { outcome: 'expired' }
    if (isOver(row.token_expires_at)) return { outcome: 'replaced' }
    const caller = {
      organizationId: row.organization_id,
      organizationCreatedAt: row.organization_created_at.getTime(),
      apiKeyId: row.api_key_id,
      scopes: row.scopes,
    }
    return { outcome: 'recognized', caller }
  }
}
