/** What an endpoint's creation and change accept. */
import { choice, text, timestamp } from '../resource/fields.ts'
import type { Shape } from '../resource/validate.ts'
import { wordList } from '../resource/word-list.ts'
import { webhookFields } from './records.ts'

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
  const changed = { ...fields, status }
  const shown = Object.keys(webhookFields(eventTypes)).filter((name) => !Object.hasOwn(changed, name))
  return {
    creation: { name: 'new webhook', fields, fieldNames: Object.keys(fields), shown },
    change: { name: 'webhook', fields: changed, fieldNames: Object.keys(changed), shown },
  }
}

const recoveryFields = {
  since: timestamp({
    required: true,
    description: 'Events from here on, this moment included; no longer ago than the delivery log goes back.',
  }),
  until: timestamp({ description: 'Events up to here, this moment included; by default all until now.' }),
}

/** What a recovery is asked for with. */
export const recoveryShape: Shape = {
  name: 'recovery',
  fields: recoveryFields,
  fieldNames: Object.keys(recoveryFields),
}
