/**
 * The API as its pages show it: operations, objects and events, from the same declarations as the server and
 * `openapi.json`.
 */

import type { ErrorCode } from '../../service/src/kernel/errors.ts'
import {
  type ApiModule,
  type Carriers,
  type Json,
  type Route,
  ref,
  schemaName,
} from '../../service/src/openapi/api-module.ts'
import { openApiDocument } from '../../service/src/openapi/document.ts'
import { refusalsOf } from '../../service/src/openapi/refusals.ts'

export interface ShownOperation {
  readonly id: string
  readonly method: Route['method']
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly access: Route['access']
  /** The method of the clients, `tickets.list`; null: they have none. */
  readonly client: string | null
  readonly once: boolean
  readonly parameters: readonly ShownParameter[]
  readonly body: { readonly schema: string; readonly required: boolean } | null
  /** Successful responses, in the order of their declaration. */
  readonly answers: readonly ShownAnswer[]
  readonly errors: readonly ErrorCode[]
  /** Null where the stream does not change. */
  readonly events: Carriers | null
}

interface ShownParameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description: string
  readonly schema: Json
}

export interface ShownAnswer {
  readonly status: string
  readonly description: string
  readonly headers: readonly string[]
  /** By media type; empty for a response without a body. */
  readonly content: readonly { readonly mediaType: string; readonly schema: Json }[]
  /** By name; those of the schema where the response has none. */
  readonly examples: readonly (readonly [name: string, value: unknown])[]
}

export interface ShownEvent {
  readonly type: string
  readonly summary: string
  readonly data: Json
  readonly example: unknown
}

type Schemas = Readonly<Record<string, Json>>

export interface Reference {
  /** `openapi.json`. */
  readonly document: Json
  readonly operations: ReadonlyMap<string, ShownOperation>
  /** Named schemas of responses, without pages of lists. */
  readonly objects: ReadonlyMap<string, Json>
  readonly schemas: Schemas
  readonly events: ReadonlyMap<string, ShownEvent>
  readonly tags: ReadonlyMap<string, string>
}

/** Rejects where the document cannot be made. */
export async function readReference(parts: readonly ApiModule[]): Promise<Reference> {
  const document = await openApiDocument(parts)
  const { schemas, parameters } = document.components as Readonly<Record<'schemas' | 'parameters', Schemas>>
  const paths = document.paths as Readonly<Record<string, Readonly<Record<string, Written>>>>
  const shown = (route: Route): ShownOperation => {
    const { id, method, path, tag, summary, description = '', access, once = false, body } = route
    const written = paths[path]?.[method] as Written
    return {
      id,
      method,
      path,
      tag,
      summary: summary.replace(/\.$/, ''),
      description,
      access,
      client: written['x-client'] ?? null,
      once,
      parameters: written.parameters.map((one) => parameterOf(one, parameters)),
      body: body === undefined ? null : { schema: body, required: route.bodyOptional !== true },
      answers: Object.keys(route.answers).map((status) =>
        answerOf(status, written.responses[status] as WrittenAnswer, schemas),
      ),
      errors: refusalsOf(route),
      events: route.events?.() ?? null,
    }
  }
  const operations = parts.flatMap(({ routes }) => routes).map(shown)
  const webhooks = document.webhooks as Readonly<Record<string, { readonly post: Written }>>
  const events = Object.entries(webhooks).map(([type, { post }]) => eventOf(type, post))
  const answered = namesWithin(schemas, [operations.map(({ answers }) => answers), events, ref('Problem')])
  return {
    document,
    operations: new Map(operations.map((operation) => [operation.id, operation])),
    objects: new Map(
      Object.entries(schemas).filter(([name, schema]) => answered.has(name) && !isListPage(schema)),
    ),
    schemas,
    events: new Map(events.map((event) => [event.type, event])),
    tags: new Map(parts.flatMap(({ tags }) => tags).map(({ name, description }) => [name, description])),
  }
}

/** An entry of the document, as far as it is read here. */
interface Written {
  readonly summary: string
  readonly 'x-client'?: string
  readonly parameters: readonly Json[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, WrittenAnswer>>
}

interface WrittenAnswer {
  readonly description: string
  readonly headers?: Json
  readonly content?: Content
}

type Content = Readonly<
  Record<
    string,
    {
      readonly schema: Json
      readonly example?: unknown
      readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
    }
  >
>

function parameterOf(written: Json, shared: Schemas): ShownParameter {
  const { $ref } = written
  const own = typeof $ref === 'string' ? (shared[$ref.split('/').at(-1) as string] as Json) : written
  const { name, in: where, description, required = false, schema } = own
  return { name, in: where, description, required, schema } as ShownParameter
}

function answerOf(status: string, answer: WrittenAnswer, schemas: Schemas): ShownAnswer {
  const content = Object.entries(answer.content ?? {})
  const named = content.flatMap(([, { examples = {} }]) =>
    Object.entries(examples).map(([name, { value }]) => [name, value] as const),
  )
  const ofSchemas = content.flatMap(([, { schema }]) => {
    const [example] = exampleOf(schema, schemas)
    return example === undefined ? [] : [['', example] as const]
  })
  return {
    status,
    description: answer.description,
    headers: Object.keys(answer.headers ?? {}),
    content: content.map(([mediaType, { schema }]) => ({ mediaType, schema })),
    examples: named.length > 0 ? named : ofSchemas.slice(0, 1),
  }
}

function eventOf(type: string, { summary, requestBody }: Written): ShownEvent {
  const { schema, example } = (requestBody as { content: Content }).content[
    'application/json'
  ] as Content[string]
  const { data } = schema.properties as Readonly<Record<string, Json>>
  return { type, summary, data: data as Json, example }
}

/** The examples of a schema, or of the one that it refers to. */
export function exampleOf(schema: Json, schemas: Schemas): readonly unknown[] {
  const name = schemaName(schema)
  if (name !== null) return exampleOf(schemas[name] ?? {}, schemas)
  return Array.isArray(schema.examples) ? schema.examples : []
}

/** The names of schemas that these values refer to. */
function namesWithin(schemas: Schemas, values: unknown): ReadonlySet<string> {
  const names = new Set<string>()
  const visit = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    const name = schemaName(value as Json)
    if (name === null) for (const inner of Object.values(value)) visit(inner)
    else if (!names.has(name)) {
      names.add(name)
      visit(schemas[name])
    }
  }
  visit(values)
  return names
}

function isListPage({ properties = {} }: Json): boolean {
  return 'data' in (properties as object) && 'pagination' in (properties as object)
}
