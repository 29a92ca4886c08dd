/** What routes and modules declare. Values for `openapi.json` alone are functions, called when it is served. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../auth/authenticator.ts'
import type { ResponseToStore } from '../journal/change.ts'
import type { ErrorCode, Problem } from '../kernel/errors.ts'
import type { Outcome, Result } from '../kernel/outcome.ts'

export type Json = Readonly<Record<string, unknown>>

/** A module of the API: its routes, the events it sends, and its schemas by name. */
export interface ApiModule {
  readonly tags: readonly Tag[]
  readonly routes: readonly Route[]
  readonly schemas?: () => Readonly<Record<string, Json>>
  readonly sent?: () => readonly SentEvent[]
}

interface Tag {
  readonly name: string
  readonly description: string
}

/** Anyone, any key, or a key that holds this scope. */
export type Access = 'public' | 'any key' | `${string}:${string}`

/** A route as one value: what `openapi.json` shows of it, and what the server does. So they cannot differ. */
export interface Route<Services = never> {
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  /** With parameters in braces: `/v1/tickets/{id}`. They are ids unless `params` says otherwise. */
  readonly path: string
  /** Unique in the document; generated clients use it as name. */
  readonly id: string
  readonly tag: string
  /** The method of the clients, `customers.exportOne`, where the address does not say it (`client-names.ts`). */
  readonly client?: string
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
  /** Accepts an Idempotency-Key: a repeated request gets the stored response. */
  readonly once?: boolean
  /** Events that it causes; absent when the stream does not change. */
  readonly events?: () => Carriers
  readonly handle: (services: Services, call: Call) => Handled
  /** The route reads the body instead of the server, up to so many bytes: `call.body` is the result. */
  readonly reads?: BodyReader<Result<unknown, Problem>>
  /** Of a public route with a key of its own: refuses a request without it, before its body is read. */
  readonly admits?: (services: Services, request: FastifyRequest) => Problem | null
  /** The token in the body by which a route without a key finds its organization. */
  readonly ownedBy?: (body: unknown) => string | null
  /** Removes what the caller may not read from responses and refusals. */
  readonly redact?: {
    readonly body: (caller: Caller, body: string) => string
    readonly problem: (caller: Caller, refusal: Problem) => Problem
  }
  /** Refuses to send a stored response with a token or secret to this caller; null: it may have it. */
  readonly withhold?: (services: Services, caller: Caller, stored: string) => Promise<Problem | null>
  /**
   * What follows the commit, also when the request is repeated: returns the response to send. It has committed, so this
   * never fails.
   */
  readonly finish?: (services: Services, call: Call, response: string) => Promise<string>
}

interface BodyReader<Body> {
  readonly bodyLimit: number
  /** Whether these bytes ask for no more work than one object may. Others are offloaded. */
  readonly isLight: (bytes: Buffer) => boolean
  readonly read: (bytes: Buffer | null) => Promise<Body>
}

export interface Call<Name extends string = string, Query = unknown, Body = unknown> {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The owner of its key. Throws where the route needs no key. */
  readonly caller: Caller
  /** The parameters of the path, as they were sent. */
  readonly params: Readonly<Record<Name, string>>
  /** The query, read as the route declares it, or the first error in it. */
  query(): Result<Query, Problem>
  readonly body: Body
  /** What the commit stores the response under; null without an Idempotency-Key. */
  readonly record: ResponseToStore | null
  /**
   * Refuses a caller whose key has been revoked or narrowed; null: it may go on, and `caller` is current. A check less
   * than `goodFor` milliseconds ago is not repeated.
   * @throws OrganizationNotServed when the organization has moved to another database.
   */
  recheck(goodFor?: number): Promise<Problem | null>
}

/** The value of an outcome is sent as the first of the route's answers. */
type Handled = Outcome<unknown> | Sent | Promise<Outcome<unknown> | Sent>

/** The route sends its response itself. (It cannot return the reply, which is a promise of its end.) */
export interface Sent {
  readonly outcome: 'sent'
}

/** The names between braces of a path: `/v1/webhooks/{id}` has `id`. */
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never

type Declared<Services, Path extends string, Query extends Route['query'], Body> = Omit<
  Route<Services>,
  'path' | 'query' | 'handle' | 'reads'
> & {
  readonly path: Path
  readonly query?: Query
  readonly reads?: BodyReader<Body>
  readonly handle: (services: Services, call: Call<NamesIn<Path>, Values<Query>, Body>) => Handled
}

/** Declares the routes of a module: `const route = routesOf<Services>()`. */
export function routesOf<Services>() {
  return <const Path extends string, const Query extends Route['query'] = undefined, Body = unknown>(
    declared: Declared<Services, Path, Query, Body>,
  ): Route<Services> => declared as unknown as Route<Services>
}

/** The values of a query that has been read as its route declares it. */
export type Values<Query> = {
  readonly [Name in keyof Query]: Query[Name] extends ReadParameter<infer T> ? T : never
}

/**
 * Whether undeclared parameters are refused: all over the API. Browsers and monitors add their own to other addresses.
 */
export function refusesParameters({ path, query }: Pick<Route, 'path' | 'query'>): boolean {
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

/** Values for examples: constant, and in the form of real responses. */

/** The id (UUIDv7) of the example object with this number. */
export function exampleId(number: number): string {
  return `01980000-0000-7000-8000-${String(number).padStart(12, '0')}`
}

export const exampleTime = '2026-01-31T09:30:00.000Z'

/** The fields that every object begins with. */
export function exampleIdentity(object: string) {
  return { id: exampleId(3), object, organizationId: exampleId(0), createdAt: exampleTime }
}

export const examplePagination = { total: 1, limit: 20, offset: 0, hasMore: false }

export function exampleList(record: unknown) {
  return { data: [record], pagination: examplePagination }
}
