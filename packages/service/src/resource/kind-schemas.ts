/** A kind's schemas: the object as it is read, and the bodies of creation and change. */
import { z } from 'zod'
import { exampleIdentity, exampleTime } from '../openapi/examples.ts'
import type { Json } from '../openapi/part.ts'
import { carrierSentence, eventCarriers } from './event-carriers.ts'
import type { Field } from './fields.ts'
import type { Kind } from './kind.ts'
import { exampleState } from './samples.ts'

/** `customer_note` → `CustomerNote`. */
export function schemaName(kind: Kind): string {
  return kind.name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** The object, `…Create` and `…Patch`. */
export function kindSchemas(kind: Kind): Readonly<Record<string, Json>> {
  const name = schemaName(kind)
  const fields = Object.entries(kind.fields)
  const atCreation = fields.filter(([, field]) => field.access !== 'read')
  const later = fields.filter(([, field]) => field.access === 'write')
  const carriers = eventCarriers(kind)
  const shown = kind.representationOrder.map((field) => {
    const { always = [], sometimes = [] } = carriers[field] ?? {}
    const schema = fieldSchema(kind.fields[field] as Field, 'output')
    const told = carrierSentence(kind, field, { always, sometimes })
    return [
      field,
      { ...schema, description: `${schema.description} ${told}`, 'x-events': [...always, ...sometimes] },
    ]
  })
  return {
    [name]: {
      type: 'object',
      description: kind.description,
      required: ['id', 'object', 'organizationId', 'createdAt', ...kind.representationOrder, 'updatedAt'],
      properties: {
        id: { ...uuid, description: 'Its id.' },
        object: { const: kind.name, description: 'Its kind.' },
        organizationId: { ...uuid, description: 'Whose it is.' },
        createdAt: { ...timestamp, description: 'When it was made.' },
        ...Object.fromEntries(shown),
        updatedAt: {
          ...timestamp,
          description: 'Its version, and its place in the stream: later than every change committed before.',
        },
      },
      examples: [exampleObject(kind)],
    },
    [`${name}Create`]: {
      type: 'object',
      additionalProperties: false,
      ...(kind.demands === undefined ? {} : { description: kind.demands }),
      required: atCreation.filter(([, field]) => field.initial === undefined).map(([field]) => field),
      properties: inputs(atCreation),
      examples: [kind.example],
    },
    ...(later.length === 0
      ? {}
      : {
          [`${name}Patch`]: {
            type: 'object',
            additionalProperties: false,
            description: `Fields left out stay as they are.${kind.demands === undefined ? '' : ` ${kind.demands}`}`,
            properties: inputs(later),
            examples: [
              Object.fromEntries(
                Object.entries(kind.example).filter(([field]) => kind.fields[field]?.access === 'write'),
              ),
            ],
          },
        }),
  }
}

/** The kind's example as it is read once it was created. */
export function exampleObject(kind: Kind): Json {
  const state = exampleState(kind)
  const own = kind.representationOrder.map((field) => [
    field,
    kind.fields[field]?.sequence ? 1 : state[field],
  ])
  return { ...exampleIdentity(kind.name), ...Object.fromEntries(own), updatedAt: exampleTime }
}

/** What bodies accept: each field with its rule in words. */
export function inputs(fields: readonly (readonly [string, Field])[]): Json {
  return Object.fromEntries(
    fields.map(([name, field]) => {
      const schema = fieldSchema(field, 'input')
      return [name, { ...schema, description: `${schema.description} ${rulesOf(field)}` }]
    }),
  )
}

function rulesOf({ accepts, nullable, initial, unique }: Field): string {
  const sentences = [
    `Must be ${accepts}${nullable && !accepts.endsWith('null') ? ', or null' : ''}.`,
    unique ? 'Unique in the organization.' : '',
    initial === undefined || initial === null ? '' : `Initially \`${JSON.stringify(initial)}\`.`,
  ]
  return sentences.filter((sentence) => sentence !== '').join(' ')
}

const uuid = { type: 'string', format: 'uuid' }
const timestamp = { type: 'string', format: 'date-time' }

/** A field's JSON Schema. Reading, a choice is open: later versions may know more words. */
export function fieldSchema(field: Field, direction: 'input' | 'output'): Record<string, unknown> {
  const zod = direction === 'output' ? (field.shown ?? field.schema) : field.schema
  const { $schema: _, ...schema } = z.toJSONSchema(zod, {
    io: 'input',
    unrepresentable: 'any',
  }) as Record<string, unknown>
  if (direction === 'output' && Array.isArray(schema.enum)) {
    schema.examples = schema.enum
    delete schema.enum
  }
  const described = { ...schema, description: field.description }
  if (!field.nullable) return described
  if (direction === 'input' && Array.isArray(schema.enum)) {
    return { ...described, type: ['string', 'null'], enum: [...schema.enum, null] }
  }
  return typeof schema.type === 'string' ? { ...described, type: [schema.type, 'null'] } : described
}
