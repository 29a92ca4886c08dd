/**
 * What the clients call, read from `openapi.json` once for all of them: each operation with `x-client`, by resource. The TypeScript SDK
 * (`typescript.ts`), the Python SDK (`python-resources.ts`), the commands (`operations.ts`) and the page of methods are made from it.
 */
import { type ApiDocument, nameOf, type Operation, type Parameter } from './python-models.ts'

export interface ClientMethod {
  /** `webhooks` and `rotateSecret`. */
  readonly resource: string
  readonly name: string
  readonly operation: Operation
  readonly verb: 'get' | 'post' | 'patch' | 'delete'
  /** Below `/v1`, as in the document. Others, below the root, begin with `/..`. */
  readonly path: string
  /** What the path has to be told: `id`, or `webhookId` and `deliveryId`. */
  readonly ids: readonly string[]
  /** Parameters of the query, without `dryRun`, which is an option of the call. */
  readonly query: readonly Parameter[]
  readonly headers: ReadonlySet<string>
  readonly body: { readonly schema: string; readonly isOptional: boolean } | null
  /** How a list goes on. `time`: before the last row's `createdAt`; `offset`; `wait`: after the last row of an inbox; `cursor`. Null: no list. */
  readonly list: 'time' | 'offset' | 'wait' | 'cursor' | null
  /** The type of a list's filters; null without filters. */
  readonly filters: { readonly type: string; readonly of: readonly Parameter[] } | null
  readonly summary: string
  readonly description: string
}

export interface Resource {
  readonly name: string
  /** Of the operator's API, which has a key and clients of its own. */
  readonly isAdmin: boolean
  /** The schema of its rows where it is a kind of the stream; null for another resource. */
  readonly kind: string | null
  readonly methods: readonly ClientMethod[]
}

/** Parameters that say which page, or begin another sort of call, and are no filters. */
const ofPages = new Set(['limit', 'offset', 'after', 'afterSince', 'updatedAfter', 'cursor', 'wait', 'ids'])

/** Parameters of the call itself: an option of clients, and what they send as a header. */
const ofCalls = new Set(['dryRun', 'session'])

/** Every resource, in the order of the document. */
export function resourcesOf(document: ApiDocument): readonly Resource[] {
  const methods = Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).flatMap(([verb, operation]) => methodOf(document, path, verb, operation)),
  )
  return [...Map.groupBy(methods, ({ resource }) => resource)].map(([name, methods]) => ({
    name,
    isAdmin: methods.every(({ path }) => path.startsWith('/../admin/')),
    kind: methods.some((one) => one.name === 'digests') ? rowOf(methods) : null,
    methods,
  }))
}

function methodOf(
  { components }: ApiDocument,
  path: string,
  verb: string,
  operation: Operation,
): readonly ClientMethod[] {
  const client = operation['x-client']
  if (client === undefined) return []
  const [resource = '', name = ''] = client.split('.')
  const parameters = operation.parameters ?? []
  const inPath = parameters.filter((one) => one.in === 'path').map((one) => one.name)
  // The first of two ids is that of the resource around it.
  const outer = path.split('/')[2]?.replace(/s$/, '')
  const all = parameters.filter((one) => one.in === 'query' && !ofCalls.has(one.name))
  const list = listOf(path, all)
  const filters = list === null ? [] : all.filter((one) => !ofPages.has(one.name))
  const body = nameOf(operation.requestBody?.content['application/json']?.schema.$ref)
  return [
    {
      resource,
      name,
      operation,
      verb: verb as ClientMethod['verb'],
      path: path.startsWith('/v1/') ? path.slice(3) : `/..${path}`,
      ids: inPath.map((id, n) => (n === 0 && inPath.length > 1 ? `${outer}Id` : id)),
      query: all,
      headers: new Set([
        ...parameters.filter((one) => one.in === 'header').map((one) => one.name),
        ...parameters.filter((one) => one.name === 'dryRun').map((one) => one.name),
      ]),
      // A body that the document does not describe is ignored.
      body:
        components.schemas[body] === undefined
          ? null
          : { schema: body, isOptional: operation.requestBody?.required !== true },
      list,
      filters: filters.length === 0 ? null : { type: filterType(operation), of: filters },
      summary: operation.summary.replace(/\.$/, '').replace(/^List or sync/, 'List'),
      description: operation.description,
    },
  ]
}

function listOf(path: string, query: readonly Parameter[]): ClientMethod['list'] {
  const has = (name: string) => query.some((one) => one.name === name)
  if (has('afterSince')) return 'wait'
  if (has('offset')) return has('createdBefore') && !path.endsWith('/deliveries') ? 'time' : 'offset'
  return has('cursor') && !has('updatedAfter') ? 'cursor' : null
}

/** `listTickets` → `TicketFilters`. */
function filterType({ operationId }: Operation): string {
  return `${operationId.replace(/^list/, '').replace(/ies$/, 'y').replace(/s$/, '')}Filters`
}

/** What the rows of a resource are, by what `get` answers. */
function rowOf(methods: readonly ClientMethod[]): string {
  return answerOf(methods.find(({ name }) => name === 'get')?.operation as Operation)
}

/** The schema of a successful answer by its name; empty for one without, or with another content. */
export function answerOf({ responses }: Operation): string {
  const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? []
  const schema = answer?.content?.['application/json']?.schema
  // A key that may not read the kind gets `Written` instead; its owner knows.
  const [first] = (schema?.anyOf ?? []) as Readonly<Record<string, unknown>>[]
  const reference = (first ?? schema)?.$ref
  return reference === undefined ? '' : nameOf(reference)
}

/** `rotateSecret` → `rotate_secret`; a word that Python reserves ends in `_`. */
export function snake(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return ['from', 'import'].includes(words) ? `${words}_` : words
}

/** `rotateSecret` → `rotate-secret`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `apiKeys` → `ApiKeys`. */
export function pascal(name: string): string {
  return `${name[0]?.toUpperCase()}${name.slice(1)}`
}
