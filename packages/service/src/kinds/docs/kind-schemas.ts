/** A kind's schemas: the object as it is read, and the bodies of creation and change. */
import { z } from 'zod'
import type { Field } from '../../kernel/fields/field.ts'
import { parseCreation } from '../../kernel/fields/validate.ts'
import { constant, exampleIdentity, exampleTime, type Json } from '../../openapi/api-module.ts'
import { creationBody, fieldSchema, patchBody } from '../../openapi/field-schemas.ts'
import type { Kind, State } from '../model/kind.ts'
import { carrierSentence, fieldCarriers } from './event-carriers.ts'

/** `customer_note` → `CustomerNote`. */
export function schemaName(kind: Kind): string {
  return kind.name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

export function kindSchemas(kind: Kind): Readonly<Record<string, Json>> {
  const name = schemaName(kind)
  const fields = Object.entries(kind.fields)
  const atCreation = fields.filter(([, field]) => field.access !== 'read')
  const later = fields.filter(([, field]) => field.access === 'write')
  const patch = Object.fromEntries(
    Object.entries(kind.example).filter(([field]) => kind.fields[field]?.access === 'write'),
  )
  const shown = kind.representationOrder.map((field) => {
    const { always, sometimes } = fieldCarriers(kind, field)
    const schema = fieldSchema(kind.fields[field] as Field, 'output')
    const eventSentence = carrierSentence(kind, field)
    return [
      field,
      {
        ...schema,
        description: `${schema.description} ${eventSentence}`,
        'x-events': [...always, ...sometimes],
      },
    ]
  })
  return {
    [name]: {
      type: 'object',
      description: kind.description,
      required: ['id', 'object', 'organizationId', 'createdAt', ...kind.representationOrder, 'updatedAt'],
      properties: {
        id: { ...uuid, description: 'Its id.' },
        object: { ...constant(kind.name), description: 'Its kind.' },
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
    [`${name}Create`]: creationBody(atCreation, kind.example, kind.demands),
    ...actionSchemas(kind),
    ...(kind.immutable ? {} : { [`${name}Patch`]: patchBody(later, patch, kind.demands) }),
  }
}

/** The body of an action: `…Summarize`. */
export function actionSchemaName(kind: Kind, action: string): string {
  return `${schemaName(kind)}${capitalized(camelCase(action))}`
}

function actionSchemas(kind: Kind): Readonly<Record<string, Json>> {
  const withBody = Object.entries(kind.actions).filter(([, { fields }]) => Object.keys(fields).length > 0)
  return Object.fromEntries(
    withBody.map(([action, { fields }]) => [
      actionSchemaName(kind, action),
      creationBody(Object.entries(fields), exampleInput(kind, action)),
    ]),
  )
}

/** `no-show` → `noShow`. */
export function camelCase(words: string): string {
  return words.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

export function capitalized(word: string): string {
  return `${word[0]?.toUpperCase()}${word.slice(1)}`
}

const uuid = { type: 'string', format: 'uuid' }
const timestamp = { type: 'string', format: 'date-time' }

/** The example as created, or an object in this state. */
export function exampleObject(kind: Kind, state: State = exampleState(kind)): Json {
  const own = kind.representationOrder.map((name) => [name, shownValue(kind, name, state)])
  return { ...exampleIdentity(kind.name), ...Object.fromEntries(own), updatedAt: exampleTime }
}

/** Fills in what the service sets when it commits. */
function shownValue(kind: Kind, name: string, state: State): unknown {
  const field = kind.fields[name] as Field
  if (field.sequence) return 1
  const isShown = field.shown?.safeParse(state[name]).success ?? true
  return !isShown && field.shown instanceof z.ZodEnum ? field.shown.options[0] : state[name]
}

/** Throws, with the reason, where the kind itself refuses its example. */
export function exampleState(kind: Kind): State {
  const draft = parseCreation(kind, kind.example)
  const created = draft.ok ? (kind.rules.create?.(draft.value, { now: exampleTime }) ?? draft) : draft
  if (created.ok) return created.value
  const { detail, errors = [] } = created.error
  const [first] = errors
  const why = first === undefined ? detail : `${first.pointer} ${first.detail}`
  throw new Error(`the example of ${kind.name} is refused: ${why}`)
}

/** The object after an event of this type. */
export function exampleSubject(kind: Kind, type: string): Json {
  return exampleObject(kind, { ...exampleState(kind), ...kind.documentedEvents.examples?.[type] })
}

/** A body with which the action does something. */
export function exampleInput(kind: Kind, action: string): State {
  return kind.actions[action]?.example ?? {}
}
