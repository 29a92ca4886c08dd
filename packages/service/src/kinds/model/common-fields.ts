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

type Value = string | number | boolean

/** Values of the client's own, at most `most`. A PATCH merges: a key sent replaces its value, null deletes the key. */
export function namedValues<V extends Value>(
  others: readonly z.ZodType[],
  { most, values }: { readonly most: number; readonly values: string },
  description = 'Named values of your own. A PATCH merges; null deletes a key.',
): Field<Readonly<Record<string, V>>> {
  const name = storableText(1, 40)
  const text = storableText(0, 500)
  const value = z.union([text, ...others, z.null()])
  // The record is only for the schema: it drops a key called "__proto__" and reports a long string as a wrong type.
  const { $schema: _, ...documented } = z.toJSONSchema(z.record(name, value))
  const schema = z
    .unknown()
    .check(({ value: attributes, issues }) => {
      if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes)) {
        issues.push({ code: 'invalid_type', expected: 'record', input: attributes })
        return
      }
      let left = most
      // First, so that a hundred thousand of them are not checked one by one.
      if (Object.values(attributes).some((one) => one !== null && --left < 0)) {
        issues.push({ code: 'too_big', origin: 'array', maximum: most, inclusive: true, input: attributes })
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
  return defineField<Readonly<Record<string, V>>>(
    schema,
    `an object of at most ${most} keys of 1 to 40 characters, each with ${values} (null deletes a key)`,
    'text',
    { description },
    {
      nullable: false,
      initial: {},
      acceptsWithin: `${values}, under a name of 1 to 40 characters (null deletes it)`,
      merge: mergeValues,
      shown: z.record(z.string(), z.union([text, ...others])),
    },
  )
}

const customAttributes = () =>
  namedValues<Value>([z.number(), z.boolean()], {
    most: 50,
    values: 'a string of at most 500 characters, a number or a boolean',
  })

function mergeValues<V extends Value>(
  current: Readonly<Record<string, V>>,
  patch: unknown,
): Readonly<Record<string, V>> {
  const merged = new Map(Object.entries(current))
  for (const [key, value] of Object.entries(patch as Record<string, V | null>)) {
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
