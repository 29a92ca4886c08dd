/** From a presented token to who is calling. Asked anew for every request, so that a revocation counts at once. */
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

export type Recognition =
  | { readonly outcome: 'recognized'; readonly caller: Caller }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'expired' }

export interface TokenDirectory {
  recognize(token: string): Promise<Recognition>
}

interface TokenRow {
  readonly token_hash: Buffer
  readonly organization_id: string
  readonly organization_created_at: Date
  readonly api_key_id: string
  readonly scopes: string[]
  readonly token_expires_at: Date | null
  readonly key_expires_at: Date | null
}

export function createTokenDirectory(pool: Pool, clock: Clock): TokenDirectory {
  const statement = {
    name: 'recognize_tokens',
    text: `select d.token_hash, d.organization_id, o.created_at as organization_created_at, d.api_key_id, k.scopes,
             d.expires_at as token_expires_at, k.expires_at as key_expires_at
           from api_key_tokens d
           join api_keys k on k.organization_id = d.organization_id and k.id = d.api_key_id
           join organizations o on o.organization_id = d.organization_id
           where d.token_hash = any($1)`,
  }

  const find = coalesce(async (hashes: readonly string[]): Promise<(TokenRow | null)[]> => {
    const distinct = [...new Set(hashes)].map((hash) => Buffer.from(hash, 'hex'))
    const { rows } = await pool.query<TokenRow>({ ...statement, values: [distinct] })
    const found = new Map(rows.map((row) => [row.token_hash.toString('hex'), row]))
    return hashes.map((hash) => found.get(hash) ?? null)
  })

  return {
    async recognize(token) {
      if (!isToken(token)) return { outcome: 'unknown' }
      const row = await find(hashToken(token).toString('hex'))
      if (row === null) return { outcome: 'unknown' }
      const now = clock.now()
      const expiries = [row.token_expires_at, row.key_expires_at]
      if (expiries.some((at) => at !== null && at.getTime() <= now)) return { outcome: 'expired' }
      const caller = {
        organizationId: row.organization_id,
        organizationCreatedAt: row.organization_created_at.getTime(),
        apiKeyId: row.api_key_id,
        scopes: row.scopes,
      }
      return { outcome: 'recognized', caller }
    },
  }
}
