/** Values that a field accepts, found from its declaration: what rules are tried with, and examples made of. */
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Problem } from '../kernel/errors.ts'
import type { Result } from '../kernel/result.ts'
import { exampleId, exampleTime } from '../openapi/examples.ts'
import type { Field, Fields } from './field.ts'
import type { Kind, State } from './kind.ts'
import { parseCreation } from './validate.ts'

/** Two of each sort of value; a field takes those that it accepts. */
const values: readonly unknown[] = [
  'The parcel was found.',
  'The parcel is late.',
  exampleId(1),
  exampleId(2),
  '2026-02-03T14:00:00.000Z',
  '2026-02-03T14:30:00.000Z',
  'ada@example.com',
  'grace@example.com',
  '+4930123456',
  '+4930123457',
  'Europe/Berlin',
  'Europe/Paris',
  'en-GB',
  'de-DE',
  1,
  2,
  true,
  false,
  ['a'],
  ['b'],
  { a: 'b' },
  { a: 'c' },
]

/** Every word of a choice; of another field some values, null among them where it is one. */
export function sampleValues(field: Field, example?: unknown): readonly unknown[] {
  const words = wordsOf(field)
  const accepted = [example, ...(field.examples ?? words ?? values)].flatMap((value) => {
    const parsed = field.schema.safeParse(value)
    return parsed.success ? [parsed.data] : []
  })
  const distinct = accepted.filter(
    (value, n) => accepted.findIndex((one) => isDeepStrictEqual(one, value)) === n,
  )
  const samples = field.nullable ? [null, ...distinct] : distinct
  return words === null ? samples.slice(0, 3) : samples
}

/** The words of a choice that can be sent; null for any other field. */
export function wordsOf(field: Field): readonly string[] | null {
  return field.schema instanceof z.ZodEnum ? (field.schema.options as string[]) : null
}

/** Bodies for these fields, with every sample of each in some of them. */
export function sampleInputs(fields: Fields): readonly State[] {
  return Object.entries(fields).reduce<readonly State[]>(
    (inputs, [name, field]) =>
      inputs.flatMap((input) => sampleValues(field).map((value) => ({ ...input, [name]: value }))),
    [{}],
  )
}

/** The fields of the kind's example once created. Throws, with the reason, where the kind itself refuses it. */
export function exampleState(kind: Kind): State {
  const created = createdState(kind, {})
  if (created.ok) return created.value
  const { detail, errors = [] } = created.error
  const [first] = errors
  const why = first === undefined ? detail : `${first.pointer} ${first.detail}`
  throw new Error(`the example of ${kind.name} is refused: ${why}`)
}

/** The example once created, and with each word of each choice that can be sent, if need be with another value beside. */
export function createdStates(kind: Kind): readonly State[] {
  const sent = Object.entries(kind.fields).filter(([, { access }]) => access !== 'read')
  const varied = sent.flatMap(([name, field]) =>
    (wordsOf(field) ?? []).map((word): State => ({ [name]: word })),
  )
  const beside = sent.flatMap(([name, field]) =>
    sampleValues(field, kind.example[name]).map((value) => ({ [name]: value })),
  )
  return [exampleState(kind), ...varied.flatMap((values) => firstCreated(kind, values, beside))]
}

function firstCreated(kind: Kind, values: State, beside: readonly State[]): readonly State[] {
  for (const other of [{}, ...beside]) {
    const created = createdState(kind, { ...other, ...values })
    if (created.ok) return [created.value]
  }
  return []
}

/** The kind's example with these values, or why the kind refuses that. */
function createdState(kind: Kind, values: State): Result<State, Problem> {
  const draft = parseCreation(kind, { ...kind.example, ...values })
  return draft.ok ? (kind.rules.create?.(draft.value, { now: exampleTime }) ?? draft) : draft
}
