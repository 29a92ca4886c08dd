/** What a key's creation and change accept. */
import { text, timestamp } from '../resource/fields.ts'
import type { Shape } from '../resource/validate.ts'
import { wordList } from '../resource/word-list.ts'
import { keyFields } from './records.ts'

/** `scopes`: every scope there is. Creation and change take the same. */
export function keyShape(scopes: readonly string[]): Shape {
  const fields = {
    name: text({ required: true, min: 1, max: 255, description: 'What it is for.' }),
    scopes: wordList(scopes, { description: 'What it may do. A key can grant only what it holds itself.' }),
    expiresAt: timestamp({ description: 'When it ceases to work, a time to come; null for never.' }),
  }
  return { name: 'key', fields, fieldNames: Object.keys(fields), shown: Object.keys(keyFields(scopes)) }
}
