/**
 * `packages/sdk/src/generated.ts`, from `openapi.json`: a type for each schema, and for each resource with the methods that the
 * classes in `resource.ts` do not have. By hand are transport, lists, syncs and what pages and problems are.
 */
import { answerOf, type ClientMethod, kebab, pascal, type Resource, resourcesOf } from './clients.ts'
import { type ApiDocument, type Json, nameOf, type Parameter } from './python-models.ts'

/** Types that are written by hand, or that no method names. */
const byHand =
  /^(Problem|FieldError|Removed|Written|Erasure|Actor|ItemProblem|ExportEnd|RangeDigests?|Pagination|ChangesPagination|Checkpoint|Batch\w+)$|(?<!Event|Inbox)Page$|(Batch|Import|Upsert)$/

const renamed: Readonly<Record<string, string>> = { Removed: 'RemovalRecord', FieldError: 'ProblemError' }

const ofEveryKind = ['list', 'create', 'get', 'update', 'delete', 'batch', 'export', 'digests']
const ofObjects = ['list', 'create', 'get', 'update', 'delete']

export function typeScriptClient(document: ApiDocument, version: string): string {
  const resources = resourcesOf(document).filter(({ name }) => name !== 'changes')
  const kinds = resources.flatMap(({ kind }) => (kind === null ? [] : [kind]))
  const { schemas } = document.components
  const inputs = new Set(resources.flatMap(({ methods }) => methods.map(({ body }) => body?.schema)))
  const types = Object.entries(schemas).filter(([name]) => !byHand.test(name))
  const filters = new Map(
    resources
      .flatMap(({ methods }) => methods.flatMap(({ filters }) => filters ?? []))
      .map((one) => [one.type, one.of] as const),
  )
  const codes = propertiesOf(schemas.Problem).code?.examples as string[]
  const events = Object.entries(document.webhooks).map(([type, { post }]) => {
    const { data } = propertiesOf(post.requestBody?.content['application/json']?.schema)
    return [type, data?.$ref === undefined ? null : typeName(nameOf(data.$ref))] as const
  })
  const sent = events.filter(([, data]) => data !== null)
  const scopes = ((propertiesOf(schemas.ApiKeyCreate).scopes?.items ?? {}) as Json).enum as string[]
  const text = `${types.map(([name, schema]) => interfaceOf(name, schema, !inputs.has(name))).join('\n')}
${[...filters].map(([name, of]) => filterInterface(name, of)).join('\n')}
${resources.map(interfaceOfResource).join('')}`
  // Lists of words that have a name of their own.
  const named = text
    .replaceAll(union(sent.map(([type]) => type)), 'keyof EventData')
    .replaceAll(union(scopes), 'Scope')
    .replaceAll(
      union(scopes.filter((one) => !['*', 'api_keys:manage'].includes(one))),
      "Exclude<Scope, '*' | 'api_keys:manage'>",
    )
  return `/** Made by npm run generate from openapi.json: types and methods of every resource. */
import type { CallPromise } from './call-promise.ts'
import type { Erasure, Open, Pagination, RemovalRecord } from './envelope.ts'
import type { Actor } from './event.ts'
import type { List, ListParams, PagedList } from './list.ts'
import { withMethods } from './methods.ts'
import type { ActionOptions, CallOptions, CreateOptions } from './options.ts'
import { ChangeableObjects, ChangeableResource, Resource } from './resource.ts'
import type { Send } from './transport.ts'

/** The release of the service that this was made with. */
export const version = '${version}'

/** The codes of the service's errors (docs/reference/errors.md). */
export type ErrorCode = ${union(codes)}

/** What a key may do. \`write\` does not imply \`read\`; \`*\` is everything. */
export type Scope = ${union(scopes)}

/** A row of any kind. */
export type AnyRow = ${kinds.join(' | ')}

/** What an event's \`data\` holds, by the event's type. */
export interface EventData {
${sent.map(([type, data]) => `  '${type}': ${data}\n`).join('')}}

${named}
${membersOfClient('Resources', resources, false)}
${membersOfClient('AdminResources', resources, true)}`
}

/** What a client consists of: its type, and the function that makes it. */
function membersOfClient(type: string, all: readonly Resource[], isAdmin: boolean): string {
  const resources = all.filter((one) => one.isAdmin === isAdmin)
  const types = resources.map((one) => `  readonly ${one.name}: ${typeOfResource(one)}\n`)
  return `/** Every resource of a client${isAdmin ? ' of the operator' : ''}, by its name. */
export interface ${type} {
${types.join('')}}

export const ${type[0]?.toLowerCase()}${type.slice(1)} = (send: Send): ${type} => ({
${resources.map(entryOf).join('')}})
`
}

function propertiesOf(schema: Json | undefined): Readonly<Record<string, Json>> {
  return (schema?.properties ?? {}) as Record<string, Json>
}

function entryOf(resource: Resource): string {
  const { name } = resource
  const { type } = baseOf(resource)
  const base = type === '' ? '' : `new ${type.replace(/<.*/, '')}(send, '${kebab(name)}')`
  const lines = ownMethods(resource).map((one) => `${one.name}: '${lineOf(one)}',\n`)
  if (lines.length === 0) return `  ${name}: ${base},\n`
  return `  ${name}: withMethods(send, {\n${lines.join('')}}${base === '' ? '' : `, ${base}`}),\n`
}

/** How `withMethods` makes it: `POST /webhooks/{}/recover body`. */
function lineOf({ verb, path, query, body, list, operation }: ClientMethod): string {
  if (query.length > 0 && body !== null) throw new Error(`${path} has a query and a body`)
  const isDocument = /Export$/.test(answerOf(operation))
  const sorts = [
    list === 'time' || list === 'offset' ? 'list' : list,
    body && 'body',
    query.length > 0 && 'query',
    isDocument && 'document',
  ]
  const [sort] = sorts.filter((one) => typeof one === 'string')
  return `${verb.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}${sort === undefined ? '' : ` ${sort}`}`
}

function typeName(schema: string): string {
  return renamed[schema] ?? schema
}

function union(words: readonly unknown[]): string {
  return words.map((word) => (typeof word === 'string' ? `'${word}'` : String(word))).join(' | ')
}

function comment(text: string, indent = ''): string {
  return `${indent}/** ${text
    .replaceAll('*/', '*\\/')
    .replace(/\s*\n\s*/g, ' ')
    .trim()} */\n`
}

function interfaceOf(name: string, schema: Json, isRead: boolean): string {
  const about = schema.description ?? 'What a request says.'
  return `${comment(String(about))}export interface ${name} {\n${membersOf(schema, isRead).join('')}}\n`
}

function membersOf(schema: Json, isRead: boolean): readonly string[] {
  const required = (schema.required ?? []) as readonly string[]
  return Object.entries(propertiesOf(schema)).map(([name, one]) => {
    const about = one.description === undefined ? '' : comment(String(one.description), '  ')
    return `${about}  ${name}${required.includes(name) ? '' : '?'}: ${typeText(one, isRead)}\n`
  })
}

function filterInterface(name: string, filters: readonly Parameter[]): string {
  const members = filters.map(
    (one) =>
      `${comment(one.description ?? one.name, '  ')}  ${one.name}?: ${parameterType(one)} | undefined\n`,
  )
  return `${comment('Several filters must all hold.')}export interface ${name} {\n${members.join('')}}\n`
}

/** A query is text: what it means has its own type too. */
function parameterType({ schema, description = '' }: Parameter): string {
  const words = (schema.enum ?? []) as readonly unknown[]
  if (words.length > 0 && words.every((word) => word === 'true' || word === 'false'))
    return `${words.length === 1 ? words[0] : 'boolean'} | ${union(words)}`
  if (/\|null\)\$$/.test(String(schema.pattern))) return 'string | null'
  const text = typeText(schema, false)
  return description.includes('separated by commas') ? `${text} | readonly string[]` : text
}

/** `isWithin`: of a member of an object that is within another. */
function typeText(schema: Json, isRead: boolean, isWithin = false): string {
  const of = (one: Json) => typeText(one, isRead, isWithin)
  const isWord = schema.type === 'string' && schema.format === undefined
  const known = (schema.enum ?? (isRead && isWord ? schema.examples : undefined)) as unknown[] | undefined
  if (schema.$ref !== undefined) return typeName(nameOf(schema.$ref))
  if (schema.const !== undefined) return union([schema.const])
  if (Array.isArray(schema.type) && schema.enum === undefined) {
    return [...new Set(schema.type.map((type) => of({ ...schema, type })))].join(' | ')
  }
  // A choice is open when it is read; its words are then examples, but for those within an object.
  const isOpen = isRead && (schema.enum === undefined || isWithin)
  if (known !== undefined && (schema.enum !== undefined || known.length > 1)) {
    const words = union(known.filter((one) => one !== null))
    return `${isOpen ? `Open<${words}>` : words}${known.includes(null) ? ' | null' : ''}`
  }
  const either = (schema.anyOf ?? schema.oneOf) as Json[] | undefined
  if (either !== undefined) return either.map(of).join(' | ')
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `(${of(schema.items as Json)})[]`
    case 'object':
      if (schema.properties !== undefined) return inlineType(schema, isRead)
      return `Record<string, ${schema.additionalProperties instanceof Object ? of(schema.additionalProperties as Json) : 'unknown'}>`
    default:
      if (schema.type === undefined) return 'unknown'
      throw new Error(`no TypeScript type for ${JSON.stringify(schema)}`)
  }
}

function inlineType(schema: Json, isRead: boolean): string {
  const required = (schema.required ?? []) as readonly string[]
  const members = Object.entries(propertiesOf(schema)).map(
    ([name, one]) => `${name}${required.includes(name) ? '' : '?'}: ${typeText(one, isRead, true)}`,
  )
  return `{ ${members.join('; ')} }`
}

function typeOfResource(resource: Resource): string {
  return ownMethods(resource).length === 0 ? baseOf(resource).type : className(resource)
}

/** `Organization` is the type of what it reads. */
function className({ name, methods }: Resource): string {
  const isTaken = methods.some(({ operation }) => answerOf(operation) === pascal(name))
  return `${pascal(name)}${isTaken ? 'Calls' : ''}`
}

/** The class by hand that it extends, empty for none, and what that has. */
function baseOf({ kind, methods }: Resource): { readonly type: string; readonly has: readonly string[] } {
  const of = (name: string) => methods.find((one) => one.name === name)
  const [get, create, update, list] = ['get', 'create', 'update', 'list'].map(of)
  const filters = list?.filters?.type
  if (kind !== null) {
    const types = [kind, create?.body?.schema, update?.body?.schema, filters].filter(
      (one) => one !== undefined,
    )
    return { type: `${update ? 'ChangeableResource' : 'Resource'}<${types.join(', ')}>`, has: ofEveryKind }
  }
  if (list === undefined || get === undefined || create === undefined || update === undefined)
    return { type: '', has: [] }
  const types = [get, create, update].map((one) => one.body?.schema ?? answerOf(one.operation))
  const created = answerOf(create.operation)
  return { type: `ChangeableObjects<${[...types, filters, created].join(', ')}>`, has: ofObjects }
}

function ownMethods(resource: Resource): readonly ClientMethod[] {
  const { has } = baseOf(resource)
  return resource.methods.filter(({ name }) => !has.includes(name))
}

function interfaceOfResource(resource: Resource): string {
  const own = ownMethods(resource)
  if (own.length === 0) return ''
  const { type, has } = baseOf(resource)
  const inherited = resource.methods.filter(({ name }) => resource.kind === null && has.includes(name))
  const about = inherited.map((one) => ` * - \`${one.name}\`: ${sentences(one)}\n`).join('')
  const first = `The calls of ${kebab(resource.name)}${resource.kind === null ? '' : ': those of every kind, and its own'}.`
  return `${about === '' ? comment(first) : `/**\n * ${first}\n${about} */\n`}export interface ${className(resource)}${type === '' ? '' : ` extends ${type}`} {
${own.map(methodOf).join('\n')}}

`
}

function sentences({ summary, description }: ClientMethod): string {
  return `${summary}. ${description}`.replaceAll('*/', '*\\/').replace(/\s*\n\s*/g, ' ')
}

function methodOf(method: ClientMethod): string {
  return `${comment(sentences(method), '  ')}  ${signatureOf(method)}\n`
}

/** `ping(id: string, options?: CreateOptions): CallPromise<Delivery>`, of methods by hand too. */
export function signatureOf(method: ClientMethod, kind: string | null = null): string {
  const { name, ids, query, body, list, operation } = method
  const given = ids.map((id) => `${id}: string`)
  const text = (args: readonly string[], result: string) =>
    `${name}(${[...given, ...args].join(', ')}): ${result}`
  const result = resultType(method)
  const options = `options?: ${optionsType(method)}`
  if (list !== null) {
    const isPaged = list === 'cursor' || list === 'wait'
    const row = answerOf(operation).replace(/Page$/, '')
    const [item, page] = list === 'cursor' ? ['ListedEvent', 'EventPage'] : ['InboxEntry', 'InboxPage']
    const filters = isPaged
      ? `${queryType(query.filter((one) => one.name !== 'limit'))} & { limit?: number | undefined }`
      : `ListParams<${method.filters?.type ?? 'object'}>`
    return text([`params?: ${filters}`, options], isPaged ? `PagedList<${item}, ${page}>` : `List<${row}>`)
  }
  if (name === 'batch') {
    const items = `items: readonly ${body?.schema.replace(/Batch$/, 'Create')}[]`
    return text([items, options], 'CallPromise<BatchAnswer>')
  }
  if (name === 'export') return text([options], `ExportStream<${kind}>`)
  return text(
    [
      ...(query.length === 0 ? [] : [`params?: ${queryType(query)}`]),
      ...(body === null ? [] : [`input${body.isOptional ? '?' : ''}: ${body.schema}`]),
      options,
    ],
    `CallPromise<${result}>`,
  )
}

function queryType(query: readonly Parameter[]): string {
  return `{ ${query.map((one) => `${one.name}?: ${parameterType(one)} | undefined`).join('; ')} }`
}

function optionsType({ headers }: ClientMethod): string {
  if (headers.has('Idempotency-Key')) return headers.has('If-Match') ? 'ActionOptions' : 'CreateOptions'
  if (headers.has('If-None-Match')) return 'GetOptions'
  return headers.has('If-Match') ? 'ChangeOptions' : 'CallOptions'
}

function resultType({ operation }: ClientMethod): string {
  const name = answerOf(operation)
  if (name !== '') return typeName(name)
  const [, answer] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? []
  const schema = answer?.content?.['application/json']?.schema
  return schema === undefined ? 'void' : typeText(schema, true)
}
