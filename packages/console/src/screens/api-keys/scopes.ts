/** What keys may do, in the order in which people look for it. */
import type { components } from '../../api/client.ts'

export type Scope = components['schemas']['ApiKeyCreate']['scopes'][number]

interface ScopeRow {
  /** What it is about. */
  readonly of: string
  /** Each way, with the word for it. */
  readonly ways: readonly (readonly [scope: Scope, word: string])[]
}

const kinds = [
  'teammates',
  'customers',
  'conversations',
  'messages',
  'tickets',
  'bookings',
  'webhooks',
] as const

export const scopeRows: readonly ScopeRow[] = [
  ...kinds.map(
    (of): ScopeRow => ({
      of,
      ways: [
        [`${of}:read`, 'Read'],
        [`${of}:write`, 'Write'],
      ],
    }),
  ),
  { of: 'API keys', ways: [['api_keys:manage', 'Manage']] },
]

/** As short as can be said: `everything`, `reads tickets`, `6 scopes`. */
export function sayScopes(scopes: readonly string[]): string {
  if (scopes.includes('*')) return 'everything'
  return scopes.length <= 2 ? scopes.join(', ') : `${scopes.length} scopes`
}
