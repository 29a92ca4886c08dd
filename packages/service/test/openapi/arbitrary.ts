/** Values for fuzzing from JSON Schemas of the document: mostly as they ask for, and sometimes anything at all. */
import fc from 'fast-check'
import { anyCharacter } from '../../../testbed/any-character.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of JSON; a wrong guess fails the test
type Json = any

/** What no schema asks for, or what sits at an edge of one. */
export const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    null,
    true,
    -1,
    0,
    1.5,
    1e308,
    '',
    ' ',
    '\0',
    '\ud800',
    '"',
    '0',
    [],
    {},
    [null],
    'x'.repeat(70_000),
  ),
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc.jsonValue({ maxDepth: 3 }),
)

/** Values of a schema whose references are into `document`; `known` are ids that exist. */
export function valuesOf(document: Json, known: readonly string[]) {
  const id = fc.oneof(fc.constantFrom(...known), fc.uuid())

  function mostly(schema: Json): fc.Arbitrary<unknown> {
    return fc.oneof({ weight: 12, arbitrary: conforming(schema) }, { weight: 1, arbitrary: junk })
  }

  function conforming(schema: Json): fc.Arbitrary<unknown> {
    if (schema === true || schema === undefined) return junk
    if (schema.$ref !== undefined) return conforming(resolved(document, schema))
    if (schema.const !== undefined) return fc.constant(schema.const)
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
    const choices = schema.anyOf ?? schema.oneOf
    if (choices !== undefined) return fc.oneof(...choices.map(conforming))
    const types: string[] = [schema.type].flat()
    return fc.oneof(...types.map((type) => ofType(schema, type)))
  }

  function ofType(schema: Json, type: string | undefined): fc.Arbitrary<unknown> {
    switch (type) {
      case 'null':
        return fc.constant(null)
      case 'boolean':
        return fc.boolean()
      case 'integer':
      case 'number':
        return fc.integer({ min: schema.minimum ?? -10, max: schema.maximum ?? 1_000 })
      case 'string':
        return stringOf(schema)
      case 'array':
        return fc.array(mostly(schema.items), { maxLength: 4 })
      default:
        return objectOf(schema)
    }
  }

  function stringOf({ format, minLength = 0, maxLength = 60, examples = [] }: Json): fc.Arbitrary<unknown> {
    const text = fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 60) })
    const shown = examples.length === 0 ? text : fc.constantFrom(...examples)
    if (format === 'uuid') return id
    if (format === 'email') return fc.emailAddress()
    if (format === 'uri') return fc.webUrl()
    if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
    return fc.oneof(text, shown)
  }

  function objectOf({ properties = {}, required = [], additionalProperties }: Json): fc.Arbitrary<unknown> {
    const fields = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, mostly(one)]))
    const own = fc.record(fields, { requiredKeys: fc.sample(fc.boolean(), 1)[0] ? required : [] } as never)
    if (typeof additionalProperties !== 'object') return own
    const more = fc.dictionary(fc.string({ maxLength: 45 }), mostly(additionalProperties), { maxKeys: 3 })
    return fc.tuple(own, more).map(([some, others]) => ({ ...(some as object), ...others }))
  }

  return { mostly, conforming }
}

/** What a reference refers to. */
export function resolved(document: Json, schema: Json): Json {
  if (schema?.$ref === undefined) return schema
  const path: string[] = schema.$ref.slice(2).split('/')
  return resolved(
    document,
    path.reduce((at, name) => at[name], document),
  )
}
