/** A key's record: what the database stores and what the API shows (specification 3.4). Never a token. */
import { formatTimestamp } from '../kernel/timestamps.ts'
import { constant } from '../openapi/api-module.ts'
import { field, nullable, optional, type Shown, text, time, uuid, words } from '../openapi/field-schemas.ts'

export interface KeyRow {
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly expires_at: Date | null
  /** When a worker processed the expiry. */
  readonly expiry_settled_at: Date | null
  readonly last4: string
  readonly previous_token_expires_at: Date | null
  readonly last_used_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
  /** Of keys that were revoked. */
  readonly revoked_at?: Date
  readonly revoked_by?: string | null
  readonly revoked_by_name?: string | null
}

interface Revocation {
  readonly revokedAt?: string
  readonly revokedBy?: { readonly id: string; readonly name: string | null } | null
}

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
    ...revocation(row),
  }
}

function revocation({ revoked_at, revoked_by = null, revoked_by_name = null }: KeyRow): Revocation {
  if (revoked_at === undefined) return {}
  const by = revoked_by === null ? null : { id: revoked_by, name: revoked_by_name }
  return { revokedAt: formatTimestamp(revoked_at.getTime()), revokedBy: by }
}

export type KeyRecord = ReturnType<typeof keyRecord>

function shown(at: Date | null): string | null {
  return at === null ? null : formatTimestamp(at.getTime())
}

/** For `openapi.json` and the SDK. `scopes`: all scopes. */
export function keyFields(scopes: readonly string[]): Shown<KeyRecord> {
  return {
    id: field(uuid, 'Its id. It stays when its tokens change.'),
    object: field(constant('api_key'), 'Its kind.'),
    organizationId: field(uuid, 'Whose it is.'),
    name: field(text, 'Its purpose, for people.'),
    scopes: field({ type: 'array', items: words(...scopes) }, 'The calls that it may make.'),
    expiresAt: field(nullable(time), 'When it ceases to work; null when it does not expire.'),
    last4: field(text, 'The last four characters of its newest token.'),
    previousTokenExpiresAt: field(
      nullable(time),
      'Until when a replaced token works as well; null when none does.',
    ),
    lastUsedAt: field(
      nullable(time),
      'When a call was last made with it, exact to a minute; null when none was. It does not move updatedAt.',
    ),
    createdAt: field(time, 'When it was made.'),
    updatedAt: field(time, 'When it was last changed or rotated.'),
    revokedAt: optional(time, 'When it was revoked; only where revoked keys are listed.'),
    revokedBy: optional(
      {
        type: ['object', 'null'],
        required: ['id', 'name'],
        properties: {
          id: { ...uuid, description: 'Its id.' },
          name: { ...nullable(text), description: 'Its name when it did.' },
        },
      },
      'The key that revoked it; null: the operator.',
    ),
  }
}

export const tokenField = field(
  { type: 'string', pattern: '^dwk_[0-9A-Za-z]{36}$' },
  'The token that calls carry as Authorization: Bearer. Shown only now: keep it.',
)
