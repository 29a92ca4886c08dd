/** A kind's schemas: the object as it is read, and the bodies of creation and change. */
import { z } from 'zod'
import type { Field } from '../resource/field.ts'
import type { Kind } from '../resource/kind.ts'

type Json = Record<string, unknown>

/** `customer` → `Customer`. */
export function schemaName(kind: Kind): string {
  return kind.name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

export function kindSchemas(kind: Kind): Json {
  const name = schemaName(kind)
  const fields = Object.entries(kind.fields)
  const writable = fields.filter(([, field]) => field.access !== 'read')
  return {
    [name]: {
      type: 'object',
      description: kind.description,
      required: ['id', 'object', 'organizationId', 'createdAt', ...kind.representationOrder, 'updatedAt'],
      properties: {
        id: uuid,
        object: { const: kind.name },
        organizationId: uuid,
        createdAt: timestamp,
        ...Object.fromEntries(
          kind.representationOrder.map((field) => [
            field,
            fieldSchema(kind.fields[field] as Field, 'output'),
          ]),
        ),
        updatedAt: timestamp,
      },
    },
    [`${name}Create`]: {
      type: 'object',
      additionalProperties: false,
      required: writable.filter(([, field]) => field.initial === undefined).map(([field]) => field),
      properties: Object.fromEntries(writable.map(([field, spec]) => [field, fieldSchema(spec, 'input')])),
      examples: [kind.example],
    },
    [`${name}Patch`]: {
      type: 'object',
      additionalProperties: false,
      description: 'Fields left out stay as they are.',
      properties: Object.fromEntries(
        writable
          .filter(([, field]) => field.access === 'write')
          .map(([field, spec]) => [field, fieldSchema(spec, 'input')]),
      ),
    },
  }
}

const uuid = { type: 'string', format: 'uuid' }
const timestamp = { type: 'string', format: 'date-time' }

/** A field's JSON Schema. Reading, a choice is open: later versions may know more words. */
export function fieldSchema(field: Field, direction: 'input' | 'output'): Json {
  const zod = direction === 'output' ? (field.shown ?? field.schema) : field.schema
  const { $schema: _, ...schema } = z.toJSONSchema(zod, {
    io: 'input',
    unrepresentable: 'any',
  }) as Json
  if (direction === 'output' && Array.isArray(schema.enum)) {
    schema.examples = schema.enum
    delete schema.enum
  }
  const described = { ...schema, description: field.description }
  // What is shown says by itself whether that may be null.
  if (!field.nullable || (direction === 'output' && field.shown !== undefined)) return described
  if (direction === 'input' && Array.isArray(schema.enum)) {
    return { ...described, type: ['string', 'null'], enum: [...schema.enum, null] }
  }
  return typeof schema.type === 'string' ? { ...described, type: [schema.type, 'null'] } : described
}
