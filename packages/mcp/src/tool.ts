/** A tool as a value: what `tools/list` shows of it, and what it does with the API. */
import type { Api, Json } from './api.ts'

/** They have been checked against the tool's input schema. */
// biome-ignore lint/suspicious/noExplicitAny: each tool knows the types that its own schema declares
export type Arguments = Readonly<Record<string, any>>

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  /** The key must hold all of these, or with `anyScope` one. */
  readonly scopes: readonly string[]
  readonly anyScope?: boolean
  readonly effect: 'reads' | 'adds' | 'changes' | 'sends'
  readonly input: Json
  readonly output: Json
  /** Throws a DeskwireError for a refusal. */
  run(args: Arguments, api: Api): Promise<Json>
}

/** What events are about, and the scope that shows it. */
export interface EventSubject {
  readonly scope: string
  /** Of the API, by name. */
  readonly schema: string
  /** What each type reports: `a ticket is created`. */
  readonly events: Readonly<Record<string, string>>
}

/** A kind of the desk, as far as tools know it. */
export interface Kind {
  readonly name: string
  readonly plural: string
  readonly events: Readonly<Record<string, string>>
}

/** What tools are made from: the schemas of the API by name, and its kinds. */
export interface ToolParts {
  readonly schemas: Readonly<Record<string, Json>>
  readonly kinds: readonly Kind[]
  readonly now: () => number
}

/** Whether a key with these scopes may do what needs this one. */
export function holds(scopes: readonly string[], needed: string): boolean {
  return scopes.includes('*') || scopes.includes(needed)
}

export const id = (description: string): Json => ({ type: 'string', format: 'uuid', description })
export const words = (description: string, most = 255): Json => ({
  type: 'string',
  minLength: 1,
  maxLength: most,
  description,
})
export const instant = (description: string): Json => ({ type: 'string', format: 'date-time', description })
export const whole = (description: string, minimum: number, maximum: number, initial: number): Json => ({
  type: 'integer',
  minimum,
  maximum,
  default: initial,
  description,
})

/** The schema of arguments or of a result. */
export function objectOf(properties: Readonly<Record<string, Json>>, required: readonly string[] = []): Json {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** Properties of a schema of the API, without what a model does not need. */
export function propertiesOf(
  { schemas }: ToolParts,
  name: string,
  omitted: readonly string[] = [],
): Record<string, Json> {
  const { properties = {} } = (schemas[name] ?? missing(name)) as { properties?: Record<string, Json> }
  const kept = Object.entries(properties).filter(([property]) => !omitted.includes(property))
  return Object.fromEntries(kept.map(([property, schema]) => [property, slim(schema)]))
}

/** Required by a schema of the API, without those that the tool fills in. */
export function requiredBy({ schemas }: ToolParts, name: string, omitted: readonly string[] = []): string[] {
  const { required = [] } = (schemas[name] ?? missing(name)) as { required?: readonly string[] }
  return required.filter((property) => !omitted.includes(property))
}

/** The name of the schema of a kind's objects. */
export function schemaOf({ name }: Kind): string {
  return `${name[0]?.toUpperCase()}${name.slice(1)}`
}

/** An object that the API shows. It is open, as a key may be shown less of it, and releases add fields. */
export function shown({ schemas }: ToolParts, name: string, description: string): Json {
  const { properties = {} } = (schemas[name] ?? missing(name)) as { properties?: Record<string, Json> }
  const types = Object.entries(properties).map(([property, { type }]) => [
    property,
    type === undefined ? {} : { type },
  ])
  return { type: 'object', description, properties: Object.fromEntries(types) }
}

/** The API checks formats and patterns anyway, with better messages. */
const unneeded = new Set(['x-events', 'pattern', 'examples', 'propertyNames'])

function slim(schema: Json): Json {
  const kept = Object.entries(schema).filter(([name]) => !unneeded.has(name))
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      name === 'description' && typeof value === 'string' ? value.replaceAll(repeated, '') : value,
    ]),
  )
}

/** Its sentences on what the schema says already, and on events. */
const repeated =
  / (?:Must be .*?\.(?= Initially| Unique|$)|Reported by.*|Set at creation: reported by.*|No event: sync only\.)/g

function missing(name: string): never {
  throw new Error(`the API has no schema ${name}`)
}
