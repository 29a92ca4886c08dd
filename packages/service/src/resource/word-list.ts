import { z } from 'zod'
import { defineField, type Field } from './field.ts'
import { storableText } from './fields.ts'

/** Repeats included. */
export const mostWords = 100

/** One or more of a few words. A set: repeats are dropped, order is kept. It has to be given at creation. */
export function wordList(
  words: readonly string[],
  options: { readonly description: string },
): Field<readonly string[]> {
  const schema = z
    .array(z.enum(words as [string, ...string[]]))
    .min(1)
    .max(mostWords)
    .transform((given) => [...new Set(given)])
  return defineField<readonly string[]>(
    schema,
    `a list of 1 to ${mostWords} of ${words.join(', ')}`,
    'text',
    { ...options, required: true },
    { shown: z.array(storableText(1, 100)), acceptsEntry: `one of ${words.join(', ')}` },
  )
}
