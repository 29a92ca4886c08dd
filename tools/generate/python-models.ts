/** The types of the Python SDK: a TypedDict for each schema of `openapi.json`, and a union of its events. */

export type Json = Readonly<Record<string, unknown>>

/** What is read of the document. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  /** Resource and method of the clients: `tickets.list`. */
  readonly 'x-client'?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly required?: boolean
    readonly content: Readonly<Record<string, { readonly schema: Json }>>
  }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Json }>> }>
  >
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly description?: string
  readonly schema: Json
}

/** The first line of every file that is made here. */
export const banner = '"""Made by npm run generate from openapi.json."""'

/** Pages have classes of their own, which tell rows from removals. */
const written = /(?<!^Event)(Page|Pagination|Checkpoint|ExportEnd)$|^Problem$|Batch$/

export function pythonModels(
  document: ApiDocument,
  filters: ReadonlyMap<string, readonly Parameter[]>,
): string {
  const schemas = Object.entries(document.components.schemas).filter(([name]) => !written.test(name))
  const problem = (document.components.schemas.Problem?.properties ?? {}) as Record<string, Json>
  const kinds = Object.keys(document.paths)
    .filter((path) => /\w\/export$/.test(path))
    .map((path) => resultOf(document.paths[path.replace('/export', '/{id}')]?.get as Operation))
  return `${banner}

from __future__ import annotations

from typing import Any, Literal, TypedDict

from .stream import Checkpoint

ErrorCode = ${literal(problem.code?.examples as readonly string[])}
"""What errors are told apart by. Later versions may know more."""

${schemas.map(([name, schema]) => typedDict(name, schema)).join('\n')}
${[...filters].map(([name, parameters]) => typedDict(name, filterSchema(parameters))).join('\n')}
AnyRow = ${kinds.join(' | ')}
"""A row of any kind."""

${events(document)}`
}

/** The schema of a successful answer, as a type; `None` for one without a body. */
export function resultOf({ responses }: Operation): string {
  const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? []
  const schema = Object.values(answer?.content ?? {})[0]?.schema
  if (schema === undefined) return 'None'
  // A key that may not read the kind gets less; its owner knows.
  const [first] = (schema.anyOf ?? []) as Json[]
  return new Types('').of(first ?? schema)
}

/** The type of a value that is sent. */
export function typeOf(schema: Json): string {
  return new Types('').of(schema)
}

/** The name behind a reference. */
export function nameOf(reference: unknown): string {
  return String(reference).split('/').at(-1) ?? ''
}

function filterSchema(parameters: readonly Parameter[]): Json {
  const list = { type: 'array', items: { type: 'string' } }
  const properties = parameters.map(({ name, description, schema }) => [
    name,
    description?.includes('separated by commas')
      ? { anyOf: [schema, list], description }
      : { ...schema, description },
  ])
  return { description: 'Several filters must all hold.', properties: Object.fromEntries(properties) }
}

/** Fields that may be missing are in a class of their own: Python 3.10 has no NotRequired. */
function typedDict(name: string, schema: Json): string {
  const types = new Types(name)
  const properties = Object.entries(schema.properties as Record<string, Json>)
  // A word that Python reserves is no name of a field in a class.
  if (properties.some(([field]) => field === 'from')) {
    const members = properties.map(([field, one]) => `    "${field}": ${types.of(one, field)},\n`)
    return `${name} = TypedDict("${name}", {\n${members.join('')}})\n${docstring(String(schema.description))}\n\n`
  }
  const required = new Set((schema.required ?? []) as readonly string[])
  const fields = properties.map(([field, one]) => {
    const text = one.description === undefined ? '' : `    ${docstring(String(one.description))}\n`
    return { isRequired: required.has(field), text: `    ${field}: ${types.of(one, field)}\n${text}` }
  })
  const textOf = (isRequired: boolean) =>
    fields.flatMap((field) => (field.isRequired === isRequired ? [field.text] : [])).join('')
  const [must, may] = [textOf(true), textOf(false)]
  const about = schema.description === undefined ? '' : `    ${docstring(String(schema.description))}\n\n`
  const base = must === '' || may === '' ? 'TypedDict' : `_${name}Required`
  const first = base === 'TypedDict' ? '' : `class ${base}(TypedDict):\n${must}\n\n`
  const rest = may === '' ? `(TypedDict):\n${about}${must}` : `(${base}, total=False):\n${about}${may}`
  return `${types.nested.map((one) => `${one}\n`).join('')}${first}class ${name}${rest}\n`
}

/** Events whose `data` has one type have one class, which is told by its `type`. */
function events({ webhooks }: ApiDocument): string {
  const byData = new Map<string, string[]>()
  for (const [type, { post }] of Object.entries(webhooks)) {
    const schema = post.requestBody?.content['application/json']?.schema.properties as Record<string, Json>
    const data = schema.data?.$ref === undefined ? 'Any' : nameOf(schema.data.$ref)
    byData.set(data, [...(byData.get(data) ?? []), type])
  }
  const named = [...byData].map(([data, types]) => ({
    name: data === 'Any' ? 'PingEvent' : data === 'Removed' ? 'RemovalEvent' : `${data}Event`,
    data: data === 'Any' ? 'dict[str, Any]' : data,
    types,
  }))
  const classes = named.map(
    ({ name, data, types }) => `class ${name}(_Envelope):
    type: ${literal(types)}
    data: ${data}
`,
  )
  return `class _Envelope(TypedDict):
    id: str
    """The same on every attempt: deduplicate by it."""
    apiVersion: str
    createdAt: str
    organizationId: str


${classes.join('\n\n')}

Event = ${named.map(({ name }) => name).join(' | ')}
"""What a receiver gets. Later versions may send more types: answer them 2xx."""

EventType = ${literal(Object.keys(webhooks))}
`
}

/** JSON Schemas of one class as types; objects within it become classes of their own. */
class Types {
  readonly nested: string[] = []
  readonly #owner: string

  constructor(owner: string) {
    this.#owner = owner
  }

  of(schema: Json, field = ''): string {
    if (schema.$ref !== undefined) return nameOf(schema.$ref)
    if (schema.const !== undefined) return literal([schema.const])
    // A query is text: what it means has its own type too.
    if (isSwitch(schema)) return `bool | ${literal(schema.enum as readonly unknown[])}`
    if (Array.isArray(schema.enum)) return literal(schema.enum)
    if (/\|null\)\$$/.test(String(schema.pattern))) return 'str | None'
    const either = schema.anyOf ?? schema.oneOf
    if (Array.isArray(either)) return either.map((one) => this.of(one, field)).join(' | ')
    if (Array.isArray(schema.type)) {
      return schema.type.map((type) => this.of({ ...schema, type }, field)).join(' | ')
    }
    switch (schema.type) {
      case 'null':
        return 'None'
      case 'boolean':
        return 'bool'
      case 'integer':
        return 'int'
      case 'number':
        return 'float'
      case 'string': {
        // A choice is open when it is read: its words are examples.
        const words = schema.format === undefined ? ((schema.examples ?? []) as readonly unknown[]) : []
        return words.length > 1 ? `${literal(words)} | str` : 'str'
      }
      case 'array':
        return `list[${this.of(schema.items as Json, field)}]`
      case 'object':
        if (schema.properties !== undefined) return this.#class(schema, field)
        return `dict[str, ${schema.additionalProperties instanceof Object ? this.of(schema.additionalProperties as Json, field) : 'Any'}]`
      default:
        if (schema.type === undefined) return 'Any'
        throw new Error(`no Python type for ${JSON.stringify(schema)}`)
    }
  }

  #class(schema: Json, field: string): string {
    const name = `${this.#owner}${field[0]?.toUpperCase()}${field.slice(1)}`
    this.nested.push(typedDict(name, { ...schema, description: undefined }))
    return name
  }
}

function isSwitch({ enum: words }: Json): boolean {
  return Array.isArray(words) && words.every((word) => word === 'true' || word === 'false')
}

function literal(words: readonly unknown[]): string {
  return `Literal[${words.map((word) => (word === null ? 'None' : JSON.stringify(word))).join(', ')}]`
}

/** A text as a docstring of one line, or of several: Python reads it back, without spaces around it. */
export function docstring(text: string): string {
  const escaped = text
    .trim()
    .replaceAll('\\', '\\\\')
    .replaceAll(/"(?=""|$)/g, '\\"')
  return `"""${escaped}"""`
}
