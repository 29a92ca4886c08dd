/** Values that a field accepts, found from its declaration: what its rules are tried with, and examples made of. */
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { exampleId, exampleTime } from '../openapi/examples.ts'
import type { Field } from './fields.ts'
import type { Kind, State } from './kind.ts'
import { parseCreation } from './validate.ts'

/** Two of each sort of value; a field takes those that it accepts. */
const values: readonly unknown[] = [
  exampleId(1),
  exampleId(2),
  exampleTime,
  '2026-02-01T10:00:00.000Z',
  'ada@example.com',
  'grace@example.com',
  '+4930123456',
  '+4930123457',
  'Europe/Berlin',
  'Europe/Paris',
  'en-GB',
  'de-DE',
  'https://example.com/a',
  'https://example.com/b',
  1,
  2,
  true,
  false,
  ['a'],
  ['b'],
  { a: 'b' },
  { a: 'c' },
]

/** Every word of a choice; of other fields at least two values, null among them where it is one. */
export function sampleValues(kind: Kind, name: string): readonly unknown[] {
  const field = kind.fields[name] as Field
  const accepted = [kind.example[name], ...(wordsOf(field) ?? values)].flatMap((value) => {
    const parsed = field.schema.safeParse(value)
    return parsed.success ? [parsed.data] : []
  })
  const distinct = accepted.filter(
    (value, n) => !accepted.slice(0, n).some((one) => isDeepStrictEqual(one, value)),
  )
  const samples = field.nullable ? [null, ...distinct] : distinct
  if (samples.length < 2) throw new Error(`${kind.name}.${name}: no two values known that it accepts`)
  return wordsOf(field) === null ? samples.slice(0, 3) : samples
}

/** The words of a choice; null for any other field. */
export function wordsOf(field: Field): readonly string[] | null {
  return field.schema instanceof z.ZodEnum ? (field.schema.options as string[]) : null
}

/** The fields of the kind's example, once created. */
export function exampleState(kind: Kind): State {
  const draft = parseCreation(kind, kind.example)
  if (!draft.ok) throw new Error(`the example of ${kind.name} is refused: ${draft.error.detail}`)
  const created = kind.rules.create?.(draft.value, { now: exampleTime }) ?? draft
  if (!created.ok) throw new Error(`the example of ${kind.name} is refused: ${created.error.detail}`)
  return created.value
}
