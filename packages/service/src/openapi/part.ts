/**
 * What a module says of itself for `openapi.json`: its operations, the schemas they speak of, and what it sends to
 * receivers. Each module declares its part beside its routes; the document is put together from the parts
 * (`document.ts`), and a test holds it against the routes that the server has.
 */
import type { ErrorCode } from '../kernel/errors.ts'

export type Json = Readonly<Record<string, unknown>>

export interface ApiPart {
  readonly tags: readonly Tag[]
  readonly operations: readonly Operation[]
  readonly schemas: Readonly<Record<string, Json>>
  readonly sent?: readonly SentEvent[]
}

export interface Tag {
  readonly name: string
  readonly description: string
}

/** Who may call: anyone, any key, or a key that holds this scope. */
export type Access = 'public' | 'any key' | `${string}:${string}`

export interface Operation {
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  /** With its parameters in braces: `/v1/tickets/{id}`. Those are ids, unless `parameters` says otherwise. */
  readonly path: string
  /** Unique in the document, and what a generated client may call it. */
  readonly id: string
  readonly tag: string
  readonly summary: string
  /** Beyond what the rest of the declaration says by itself. */
  readonly description?: string
  readonly access: Access
  /** Beside those of the path, the request id, and the key of a POST that is made once. */
  readonly parameters?: readonly Parameter[]
  /** The schema of its JSON body, and whether it can do without. */
  readonly body?: string
  readonly bodyOptional?: boolean
  /** Answers that are no refusals, by status. */
  readonly answers: Readonly<Record<string, Answer>>
  /** Refusals of its own; those that follow from access, path, body and repetition are added. */
  readonly errors?: readonly ErrorCode[]
  /** Takes an Idempotency-Key (specification 13.1). */
  readonly once?: boolean
  /** Events that it causes; none means sync only. Left out where nothing of the stream changes. */
  readonly events?: Carriers
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

export type AnswerHeader = 'ETag' | 'Location' | 'Cache-Control'

export interface Answer {
  readonly description: string
  /** Left out for an answer without a body. */
  readonly schema?: Json
  /** JSON unless told. */
  readonly mediaType?: string
  /** By name, beyond those in the schema itself. */
  readonly examples?: Readonly<Record<string, unknown>>
  /** Beside X-Request-Id, which every answer has. */
  readonly headers?: readonly AnswerHeader[]
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
  return { $ref: `#/components/schemas/${schema}` }
}

export function query(name: string, schema: Json, description: string): Parameter {
  return { name, in: 'query', description, schema }
}

export function header(name: string, description: string): Parameter {
  return { name, in: 'header', description, schema: { type: 'string' } }
}

/** A page of a list, with records of these schemas. */
export function pageOf(...schemas: readonly string[]): Json {
  const [only, ...others] = schemas.map(ref)
  return {
    type: 'object',
    required: ['data', 'pagination'],
    properties: {
      data: { type: 'array', items: others.length === 0 ? only : { anyOf: [only, ...others] } },
      pagination: ref('Pagination'),
    },
  }
}
