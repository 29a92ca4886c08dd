/**
 * From a presented token to who is calling. Asked again for every request, so that a revocation counts at once, in
 * every process.
 */
import type { Pool } from 'pg'
import { arrayParameter, hiddenArray, milliseconds, queryText, type TextRow } from '../db/text-query.ts'
import { coalesce } from '../kernel/coalesce.ts'
import type { Clock } from '../kernel/timestamps.ts'
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
  | { readonly outcome: 'authenticated'; readonly caller: Caller }
  /** Never made here, revoked, or mistyped. */
  | { readonly outcome: 'unknown' }
  /** The key has expired. */
  | { readonly outcome: 'expired' }
  /** The key lives, but this token of it was replaced, and its time is over. */
  | { readonly outcome: 'replaced' }
  /** The key lives, but its organization is suspended. */
  | { readonly outcome: 'suspended'; readonly caller: Caller }

/** Finds keys by their tokens, and nothing else. */
export type LookUp = (token: string) => Promise<Lookup>

interface Found {
  readonly caller: Caller
  readonly tokenExpiresAt: number | null
  readonly keyExpiresAt: number | null
  readonly suspended: boolean
}

/** Looks tokens up in the database; those that are asked for at the same time, together. */
export function createLookUp(pool: Pool, clock: Clock): LookUp {
  const statement = {
    name: 'recognize_tokens',
    text: `select encode(d.token_hash, 'hex') as token_hash, d.organization_id, ${milliseconds('o.created_at')} as organization_created_at,
             d.api_key_id, array_to_json(k.scopes) as scopes, ${milliseconds('d.expires_at')} as token_expires_at,
             ${milliseconds('k.expires_at')} as key_expires_at,
             case when o.suspended_at is not null then true end as suspended
           from api_key_tokens d
           join api_keys k on k.organization_id = d.organization_id and k.id = d.api_key_id
           join organizations o on o.organization_id = d.organization_id
           where d.token_hash = any(${hiddenArray('$1', 'bytea')})`,
  }

  const find = coalesce(async (hashes: readonly string[]): Promise<(Found | null)[]> => {
    const bytes = [...new Set(hashes)].map((hash) => `\\x${hash}`)
    const rows = await queryText(pool, statement, [arrayParameter(bytes)])
    const found = new Map(rows.map((row) => [row[0], foundIn(row)]))
    return hashes.map((hash) => found.get(hash) ?? null)
  })

  return async (token) => {
    if (!isToken(token)) return { outcome: 'unknown' }
    const found = await find(hashToken(token))
    if (found === null) return { outcome: 'unknown' }
    const isOver = (at: number | null) => at !== null && at <= clock.now()
    if (isOver(found.keyExpiresAt)) return { outcome: 'expired' }
    if (isOver(found.tokenExpiresAt)) return { outcome: 'replaced' }
    return { outcome: found.suspended ? 'suspended' : 'authenticated', caller: found.caller }
  }
}

function foundIn(columns: TextRow): Found {
  const [, organizationId, createdAt, apiKeyId, scopes, tokenExpiresAt, keyExpiresAt, suspended] = columns
  const time = (text: string | null | undefined) => (text == null ? null : Number(text))
  return {
    caller: {
      organizationId: String(organizationId),
      organizationCreatedAt: Number(createdAt),
      apiKeyId: String(apiKeyId),
      scopes: JSON.parse(String(scopes)),
    },
    tokenExpiresAt: time(tokenExpiresAt),
    keyExpiresAt: time(keyExpiresAt),
    suspended: suspended != null,
  }
}
