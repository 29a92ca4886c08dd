/**
 * The words that a route and its module are described in. What only documents need, and what takes long to make, is a
 * function: `openapi.json` is put together from these parts (`document.ts`), and a server that nobody asks for it makes none
 * of that.
 */
import type { ErrorCode, Problem } from '../kernel/errors.ts'
import type { Result } from '../kernel/result.ts'

export type Json = Readonly<Record<string, unknown>>

/** What a module serves and sends, and the schemas that it speaks of by name. */
export interface ApiModule {
  readonly tags: readonly Tag[]
  readonly routes: readonly Operation[]
  readonly schemas?: () => Readonly<Record<string, Json>>
  readonly sent?: () => readonly SentEvent[]
}

interface Tag {
  readonly name: string
  readonly description: string
}

/** Who may call: anyone, any key, or a key that holds this scope. */
export type Access = 'public' | 'any key' | `${string}:${string}`

export interface Operation {
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  /** With its parameters in braces: `/v1/tickets/{id}`. Those are ids, unless `params` says otherwise. */
  readonly path: string
  /** Unique in the document, and what a generated client may call it. */
  readonly id: string
  readonly tag: string
  readonly summary: string
  /** Beyond what the rest of the declaration says by itself. */
  readonly description?: string
  readonly access: Access
  /** What stands in the path and is no id. */
  readonly params?: readonly Parameter[]
  /** What its query takes, by name: nothing else is accepted. Left out where nobody looks at the query. */
  readonly query?: QueryParameters
  /** Beside the request id, and the key of a POST that is made once. */
  readonly headers?: readonly Parameter[]
  /** The schema of its JSON body, and whether it can do without. */
  readonly body?: string
  readonly bodyOptional?: boolean
  /** Answers that are no refusals, by status: the first is what it answers with unless it says otherwise. */
  readonly answers: Readonly<Record<string, Answer>>
  /** Refusals of its own; those that follow from access, path, body and repetition are added. */
  readonly errors?: readonly ErrorCode[]
  /** Takes an Idempotency-Key (specification 13.1). */
  readonly once?: boolean
  /** Events that it causes; none means sync only. Left out where nothing of the stream changes. */
  readonly events?: () => Carriers
}

/** Event types that tell of a change. */
export interface Carriers {
  /** Sent with every one. */
  readonly always: readonly string[]
  /** Sent with some: to some values, or in some states. */
  readonly sometimes: readonly string[]
  /** Whether there are changes that no event tells of. */
  readonly silent: boolean
}

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'header' | 'path'
  readonly description: string
  readonly schema: Json
}

/** What a query takes under a name. */
export interface QueryParameter {
  readonly description: string
  readonly schema: Json
}

export type QueryParameters = Readonly<Record<string, QueryParameter>>

/** One that says by itself what it is read as; `text` is null where it is not given. */
export interface ReadParameter<T> extends QueryParameter {
  readonly read: (text: string | null, name: string) => Result<T, Problem>
}

type AnswerHeader = 'ETag' | 'Location' | 'Cache-Control'

export interface Answer {
  readonly description: string
  /** Left out for an answer without a body. */
  readonly schema?: Json
  /** JSON unless told. */
  readonly mediaType?: string
  /** Other media types that it can be asked for in, with their schemas. */
  readonly also?: Readonly<Record<string, Json>>
  /** By name, beyond those in the schema itself. */
  readonly examples?: () => Readonly<Record<string, unknown>>
  /** Beside X-Request-Id, which every answer has. */
  readonly headers?: readonly AnswerHeader[]
  /** It holds a token or a secret: nothing on its way may keep it. */
  readonly shownOnce?: boolean
}

/** A type of event, as a receiver gets it. */
export interface SentEvent {
  readonly type: string
  readonly summary: string
  /** The schema of `data`, and an example of it. */
  readonly data: Json
  readonly example: unknown
}

export function ref(schema: string): Json {
  return { $ref: addressOf(schema) }
}

const namedSchemas = '#/components/schemas/'

function addressOf(schema: string): string {
  return namedSchemas + schema
}

/** The name of the schema that this refers to; null where it is one by itself. */
export function schemaName({ $ref }: Json): string | null {
  return typeof $ref === 'string' ? $ref.slice(namedSchemas.length) : null
}

export function header(name: string, description: string): Parameter {
  return { name, in: 'header', description, schema: { type: 'string' } }
}

/** A word that is always the same. With its type, as generators look at that before anything else. */
export function constant(word: string): Json {
  return { type: 'string', const: word }
}

/** Records of several schemas, told apart by their `object`: its value for each schema, by the schema's name. */
export function eitherOf(objects: Readonly<Record<string, string>>): Json {
  const schemas = Object.entries(objects).map(([schema, object]) => [object, addressOf(schema)] as const)
  return {
    oneOf: schemas.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: 'object', mapping: Object.fromEntries(schemas) },
  }
}

/** A page of a list with such records. */
export function pageOf(items: Json, pagination = 'Pagination'): Json {
  return {
    type: 'object',
    description: 'A page of a list.',
    required: ['data', 'pagination'],
    properties: {
      data: { type: 'array', items, description: 'The records of the page, in its order.' },
      pagination: ref(pagination),
    },
  }
}
