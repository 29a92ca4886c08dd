/** What an endpoint's creation and change accept. */
import { choice, text } from '../resource/fields.ts'
import type { Shape } from '../resource/validate.ts'
import { wordList } from '../resource/word-list.ts'

/** The shapes of creation and of change; only a change takes `status`. */
export function webhookShapes(eventTypes: readonly string[]): {
  readonly creation: Shape
  readonly change: Shape
} {
  const fields = {
    url: text({
      required: true,
      min: 1,
      max: 2_048,
      description: 'Where deliveries go: https, a public address, no user info, no fragment.',
    }),
    description: text({ max: 255, description: 'What it is for.' }),
    events: wordList(eventTypes, { description: 'The event types it receives.' }),
  }
  const status = {
    ...choice(['active', 'disabled'], { initial: 'active', description: 'active resets the failure count.' }),
  }
  return {
    creation: { name: 'webhook', fields, fieldNames: Object.keys(fields) },
    change: {
      name: 'webhook',
      fields: { ...fields, status },
      fieldNames: [...Object.keys(fields), 'status'],
    },
  }
}
