/** What routes and modules declare for `openapi.json`. Values for it alone are functions, called when it is served. */
import type { ErrorCode, Problem } from '../kernel/errors.ts'
import type { Result } from '../kernel/outcome.ts'

export type Json = Readonly<Record<string, unknown>>

/** A module of the API: its routes, the events it sends, and its schemas by name. */
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

/** Anyone, any key, or a key that holds this scope. */
export type Access = 'public' | 'any key' | `${string}:${string}`

export interface Operation {
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  /** With parameters in braces: `/v1/tickets/{id}`. They are ids unless `params` says otherwise. */
  readonly path: string
  /** Unique in the document; generated clients use it as name. */
  readonly id: string
  readonly tag: string
  readonly summary: string
  /** In addition to the generated description. */
  readonly description?: string
  readonly access: Access
  /** Path parameters that are not ids. */
  readonly params?: readonly Parameter[]
  /** By name; others are refused. Absent: none (see `refusesParameters`). */
  readonly query?: QueryParameters
  /** In addition to X-Request-Id and Idempotency-Key. */
  readonly headers?: readonly Parameter[]
  /** The schema of its JSON body. */
  readonly body?: string
  readonly bodyOptional?: boolean
  /** Successful responses by status; the first is the default. */
  readonly answers: Readonly<Record<string, Answer>>
  /** Its own error codes, without those that follow from access, path, body and idempotency. */
  readonly errors?: readonly ErrorCode[]
  /** Accepts an Idempotency-Key (specification 13.1). */
  readonly once?: boolean
  /** Events that it causes; absent when the stream does not change. */
  readonly events?: () => Carriers
}

/** Whether undeclared parameters are refused: all over the API. Browsers and monitors add their own to other addresses. */
export function refusesParameters({ path, query }: Pick<Operation, 'path' | 'query'>): boolean {
  return query !== undefined || /^\/(admin\/)?v1\//.test(path)
}

/** The event types that report a change. */
export interface Carriers {
  /** Sent with every change. */
  readonly always: readonly string[]
  /** Sent with changes to certain values, or in certain states. */
  readonly sometimes: readonly string[]
  /** Some changes have no event. */
  readonly silent: boolean
}

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'header' | 'path'
  readonly description: string
  readonly schema: Json
}

export interface QueryParameter {
  readonly description: string
  readonly schema: Json
}

export type QueryParameters = Readonly<Record<string, QueryParameter>>

/** `text` is null when the parameter is absent. */
export interface ReadParameter<T> extends QueryParameter {
  readonly read: (text: string | null, name: string) => Result<T, Problem>
}

type AnswerHeader = 'ETag' | 'Location' | 'Cache-Control'

export interface Answer {
  readonly description: string
  /** Absent for a response without a body. */
  readonly schema?: Json
  /** Default: JSON. */
  readonly mediaType?: string
  /** Other media types by content negotiation, with their schemas. */
  readonly also?: Readonly<Record<string, Json>>
  /** By name, in addition to those in the schema. */
  readonly examples?: () => Readonly<Record<string, unknown>>
  /** In addition to X-Request-Id. */
  readonly headers?: readonly AnswerHeader[]
  /** It contains a token or a secret, so it must not be cached. */
  readonly shownOnce?: boolean
}

export interface SentEvent {
  readonly type: string
  readonly summary: string
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

export function schemaName({ $ref }: Json): string | null {
  return typeof $ref === 'string' ? $ref.slice(namedSchemas.length) : null
}

export function header(name: string, description: string): Parameter {
  return { name, in: 'header', description, schema: { type: 'string' } }
}

/** With its type, because generators need it. */
export function constant(word: string): Json {
  return { type: 'string', const: word }
}

/** One of several records with different `object` values: the value for each schema, by name. */
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
