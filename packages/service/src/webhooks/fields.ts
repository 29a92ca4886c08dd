/** What an endpoint's creation and change accept. */
import { z } from 'zod'
import type { Field } from '../resource/field.ts'
import { choice, storableText, text } from '../resource/fields.ts'
import type { Shape } from '../resource/validate.ts'

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
    events: eventList(eventTypes),
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

/** One or more event types. A set: repeats are dropped. */
function eventList(types: readonly string[]): Field<readonly string[]> {
  const schema = z
    .array(z.enum(types as [string, ...string[]]))
    .min(1)
    .max(100)
    .transform((names) => [...new Set(names)])
  return {
    ...text({ required: true, max: 1, description: 'The event types it receives.' }),
    schema,
    shown: z.array(storableText(1, 100)),
    accepts: `a list of one or more of ${types.join(', ')}`,
    initial: undefined,
  } as unknown as Field<readonly string[]>
}
