/** What the API shows of keys, declared for the documents and the types of the SDK. */
import { field, nullable, type Shown, text, time, uuid, words } from '../resource/shown-field.ts'
import type { KeyRecord } from './api-key.ts'

/** `scopes`: every scope there is. */
export function keyFields(scopes: readonly string[]): Shown<KeyRecord> {
  return {
    id: field(uuid, 'Its id. It stays when its tokens change.'),
    object: field({ const: 'api_key' }, 'Its kind.'),
    organizationId: field(uuid, 'Whose it is.'),
    name: field(text, 'What it is for.'),
    scopes: field({ type: 'array', items: words(...scopes) }, 'What it may do.'),
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
  }
}

/** Shown by creation and rotation, and never again. */
export const tokenField = field(
  { type: 'string', pattern: '^dwk_[0-9A-Za-z]{36}$' },
  'What calls carry as Authorization: Bearer. Shown this once: keep it.',
)
