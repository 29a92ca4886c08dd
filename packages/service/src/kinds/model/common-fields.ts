/** The fields that customers, conversations, tickets and bookings have in common (specification 4.1). */
import { z } from 'zod'
import { listedErrors } from '../../kernel/errors.ts'
import { defineField, type Field } from '../../kernel/fields/field.ts'
import { storableText, text } from '../../kernel/fields/fields.ts'

export const tag = storableText(1, 50)

/** A set: repeats are dropped, order is preserved. */
function tags(): Field<readonly string[]> {
  const schema = z.array(tag).max(50)
  return defineField<readonly string[]>(
    schema.transform((words) => [...new Set(words)]),
    'a list of at most 50 strings of 1 to 50 characters',
    'text',
    { description: 'Labels. Repeats are dropped.' },
    { nullable: false, initial: [], acceptsWithin: 'a string of 1 to 50 characters' },
  )
}

type CustomAttributes = Readonly<Record<string, string | number | boolean>>

/** A PATCH merges: a key sent replaces its value, null deletes the key. */
function customAttributes(): Field<CustomAttributes> {
  const name = storableText(1, 40)
  const text = storableText(0, 500)
  const value = z.union([text, z.number(), z.boolean(), z.null()])
  // The record is only for the schema: it drops a key called "__proto__" and reports a long string as a wrong type.
  const { $schema: _, ...documented } = z.toJSONSchema(z.record(name, value))
  const schema = z
    .unknown()
    .check(({ value: attributes, issues }) => {
      if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes)) {
        issues.push({ code: 'invalid_type', expected: 'record', input: attributes })
        return
      }
      let left = 50
      // First, so that a hundred thousand of them are not checked one by one.
      if (Object.values(attributes).some((one) => one !== null && --left < 0)) {
        issues.push({ code: 'too_big', origin: 'array', maximum: 50, inclusive: true, input: attributes })
        return
      }
      for (const [key, one] of Object.entries(attributes)) {
        if (issues.length >= listedErrors) return
        const wrong = [name.safeParse(key), (typeof one === 'string' ? text : value).safeParse(one)]
        for (const { error } of wrong)
          for (const issue of error?.issues ?? []) issues.push({ ...issue, path: [key], input: one })
      }
    })
    .meta(documented)
  const accepts =
    'an object of at most 50 keys of 1 to 40 characters, each with a string of at most 500 characters, a number or a boolean (null deletes a key)'
  return defineField<CustomAttributes>(
    schema,
    accepts,
    'text',
    { description: 'Named values of your own. A PATCH merges; null deletes a key.' },
    {
      nullable: false,
      initial: {},
      acceptsWithin:
        'a string of at most 500 characters, a number or a boolean, under a name of 1 to 40 characters (null deletes it)',
      merge: mergeAttributes,
      shown: z.record(z.string(), z.union([text, z.number(), z.boolean()])),
    },
  )
}

function mergeAttributes(current: CustomAttributes, patch: unknown): CustomAttributes {
  const merged = new Map<string, string | number | boolean>(Object.entries(current))
  for (const [key, value] of Object.entries(patch as Record<string, string | number | boolean | null>)) {
    if (value === null) merged.delete(key)
    else merged.set(key, value)
  }
  // fromEntries defines keys rather than assigning them: "__proto__" is a key like any other.
  return Object.fromEntries(merged)
}

export function commonFields() {
  return {
    externalId: text({
      max: 255,
      min: 1,
      column: 'external_id',
      unique: true,
      filter: true,
      search: true,
      description: 'Your own id of it.',
    }),
    tags: tags(),
    customAttributes: customAttributes(),
  }
}
