/** A key's record: what is stored, and what the API shows of it (specification 3.4). Never a token. */
import { formatTimestamp } from '../kernel/timestamps.ts'

export interface KeyRow {
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly expires_at: Date | null
  /** When a worker took note of the expiry; null while it has not. */
  readonly expiry_settled_at: Date | null
  /** The end of the newest token. */
  readonly last4: string
  readonly previous_token_expires_at: Date | null
  readonly last_used_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** The record as everybody sees it; `token` is in the answers of creation and rotation only. */
export function keyRecord(organizationId: string, row: KeyRow) {
  return {
    id: row.id,
    object: 'api_key' as const,
    organizationId,
    name: row.name,
    scopes: row.scopes,
    expiresAt: shown(row.expires_at),
    last4: row.last4,
    previousTokenExpiresAt: shown(row.previous_token_expires_at),
    lastUsedAt: shown(row.last_used_at),
    createdAt: formatTimestamp(row.created_at.getTime()),
    updatedAt: formatTimestamp(row.updated_at.getTime()),
  }
}

export type KeyRecord = ReturnType<typeof keyRecord>

function shown(at: Date | null): string | null {
  return at === null ? null : formatTimestamp(at.getTime())
}
