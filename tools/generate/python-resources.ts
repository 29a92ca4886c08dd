/**
 * The calls of the Python SDK, made from the operations of `openapi.json`: a class for each part of the API, with a method for each of
 * its operations. They are written for `AsyncClient`; `blocking` makes the rest of the package out of that.
 */
import { kinds } from '../../packages/service/src/desk/index.ts'
import { takesUpserts } from '../../packages/service/src/kinds/http/batch-body.ts'
import {
  type ApiDocument,
  banner,
  docstring,
  nameOf,
  type Operation,
  type Parameter,
  resultOf,
  typeOf,
} from './python-models.ts'

interface Found {
  readonly verb: string
  readonly path: string
  readonly operation: Operation
}

/** The methods of what is no kind of the stream, by its name on the client. */
const others: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  webhooks: {
    list: 'listWebhooks',
    create: 'createWebhook',
    get: 'getWebhook',
    update: 'updateWebhook',
    delete: 'deleteWebhook',
    rotate_secret: 'rotateWebhookSecret',
    drop_previous_secret: 'deletePreviousWebhookSecret',
    ping: 'pingWebhook',
    deliveries: 'listDeliveries',
    all_deliveries: 'listAllDeliveries',
    delivery: 'getDelivery',
    attempts: 'listAttempts',
    payload: 'getDeliveryPayload',
    retry: 'retryDelivery',
    resend: 'resendDelivery',
    retry_now: 'hastenDeliveries',
    recover: 'recoverWebhook',
    recoveries: 'listRecoveries',
    recovery: 'getRecovery',
    events: 'listEvents',
    stats: 'getWebhookStats',
    all_stats: 'getStats',
  },
  api_keys: {
    list: 'listApiKeys',
    create: 'createApiKey',
    self: 'getOwnApiKey',
    get: 'getApiKey',
    update: 'updateApiKey',
    delete: 'deleteApiKey',
    rotate: 'rotateApiKey',
    drop_previous_token: 'deletePreviousApiKeyToken',
  },
  console_links: { create: 'createConsoleLink', delete: 'deleteConsoleLink' },
  organization: { get: 'getOrganization', update: 'updateOrganization' },
}

/** Operations without a method: of the stream, which is written by hand; of the console and its inbox; and those that are not of the API. */
const leftOut =
  /^(listChanges|exchangeConsoleLink|healthz|readyz|metrics|getOpenApi|getWebhookAddresses|getWebhookKeys|listInbox|countInbox|export\w+s)$/

/** Parameters of a list that are no filters. */
const ofPages = new Set(['limit', 'offset', 'after', 'updatedAfter', 'cursor', 'wait', 'ids'])

export function pythonResources(document: ApiDocument): string {
  const resources = resourcesOf(document)
  const attributes = resources.map(
    ({ name, className }) => `        self.${name} = Async${className}(transport)\n`,
  )
  return `${banner}

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from .. import models
from .rows import AsyncRows
from .stream import AsyncKind, AsyncStream
from .transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack


${resources.map(({ text }) => text).join('\n\n')}

class AsyncResources:
    """Everything that a client has."""

    def __init__(self, transport: AsyncTransport) -> None:
${attributes.join('')}        self.changes = AsyncStream[models.AnyRow](transport, "changes")
`
}

/** The filters of every list, by the name of their type. */
export function listFilters(document: ApiDocument): ReadonlyMap<string, readonly Parameter[]> {
  const lists = operationsOf(document).filter(({ operation }) => isList(operation))
  return new Map(
    lists
      .map(({ operation }) => [filterName(operation), filtersOf(operation)] as const)
      .filter(([, filters]) => filters.length > 0),
  )
}

/** The blocking counterpart of a file of `_async`. */
export function blocking(text: string): string {
  const words: readonly (readonly [RegExp, string])[] = [
    [/^import asyncio\n(?=[\s\S]*^import time\n)/m, ''],
    [/\basyncio\b/g, 'time'],
    [/\basync (?=def|for|with)/g, ''],
    [/\bawait /g, ''],
    [/\bAsync(?=[A-Z])/g, ''],
    [/\b__a(?=iter|enter|exit)/g, '__'],
    [/\baclose\b/g, 'close'],
    [/\baiter_/g, 'iter_'],
  ]
  const converted = words.reduce((made, [from, to]) => made.replace(from, to), text)
  return text.startsWith(banner) ? converted : `# Made by npm run generate from _async.\n${converted}`
}

interface Resource {
  readonly name: string
  readonly className: string
  readonly text: string
}

/** Throws where an operation has no place here. */
function resourcesOf(document: ApiDocument): readonly Resource[] {
  const all = operationsOf(document)
  const left = new Map(all.map((found) => [found.operation.operationId, found]))
  const take = (id: string): Found => {
    const found = left.get(id)
    if (found === undefined) throw new Error(`openapi.json has no operation ${id}`)
    left.delete(id)
    return found
  }
  const kinds = all.filter(({ path }) => /\w\/export$/.test(path)).map(({ path }) => path.split('/')[2] ?? '')
  const ofKinds = kinds.map((plural) => {
    const own = all.filter(
      ({ path, operation }) => path.split('/')[2] === plural && !leftOut.test(operation.operationId),
    )
    const kind = resultOf(
      own.find(({ verb, path }) => verb === 'get' && path.endsWith('{id}'))?.operation as Operation,
    )
    const base = `AsyncKind[models.${kind}]`
    const init = `    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport, "${plural}", "${kind.toLowerCase()}")
`
    const methods = own.flatMap((found) => methodsOfKind(take(found.operation.operationId)))
    return resource(plural, base, [init, ...methods])
  })
  const ofOthers = Object.entries(others).map(([name, methods]) => {
    const init = `    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
`
    return resource(name, '', [
      init,
      ...Object.entries(methods).map(([method, id]) => methodText(method, take(id))),
    ])
  })
  const missing = [...left.keys()].filter((id) => !leftOut.test(id))
  if (missing.length > 0) throw new Error(`no method of the Python SDK calls ${missing.join(', ')}`)
  return [...ofKinds, ...ofOthers]
}

function resource(name: string, base: string, methods: readonly string[]): Resource {
  const className = name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
  return {
    name,
    className,
    text: `class Async${className}${base === '' ? '' : `(${base})`}:\n${methods.join('\n')}`,
  }
}

function operationsOf({ paths }: ApiDocument): readonly Found[] {
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({ verb, path, operation })),
  )
}

function methodsOfKind(found: Found): readonly string[] {
  const { verb, path, operation } = found
  const last = path.split('/').at(-1) ?? ''
  if (path.endsWith('}/export')) return [methodText('export_one', found)]
  if (last === 'batch') return batchMethods(found)
  const ofRow: Readonly<Record<string, string>> = { get: 'get', patch: 'update', delete: 'delete' }
  if (last === '{id}') return [methodText(ofRow[verb] ?? '', found)]
  if (isList(operation)) return [methodText('list', found)]
  return [methodText(path.split('/').length === 3 ? 'create' : last.replace('-', '_'), found)]
}

/** A batch creates rows; where a kind has an id of its users, it upserts too. */
function batchMethods({ path, operation }: Found): readonly string[] {
  const plural = path.split('/')[2] ?? ''
  const name = nameOf(operation.requestBody?.content['application/json']?.schema.$ref)
  const kind = name.replace(/Batch$/, '')
  const method = (
    called: string,
    of: string,
    operationName: string,
    about: string,
  ) => `    async def ${called}(
        self,
        items: Sequence[models.${of}],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.BatchAnswer:
        """${about} Up to 1,000, in one transaction; an item that is refused is named and no failure."""
        answer: models.BatchAnswer = await self._transport.request(
            "POST",
            ["${plural}", "batch"],
            body={"operation": "${operationName}", "items": items},
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return answer
`
  const hasUpsert = kinds.some((kind) => kind.plural === plural && takesUpserts(kind))
  return [
    method('create_many', `${kind}Create`, 'create', 'Creates rows.'),
    method(
      'import_many',
      `${kind}Import`,
      'import',
      'Creates rows with their past, without events; rows that have these external ids stay as they are.',
    ),
    ...(hasUpsert
      ? [
          method(
            'upsert_many',
            `${kind}Upsert`,
            'upsert',
            'Changes the rows that have these external ids, and creates the others.',
          ),
        ]
      : []),
  ]
}

function isList({ parameters = [] }: Operation): boolean {
  return parameters.some(({ name }) => name === 'offset')
}

function filtersOf({ parameters = [] }: Operation): readonly Parameter[] {
  return parameters.filter((one) => one.in === 'query' && !ofPages.has(one.name))
}

/** `listTickets` → `TicketFilters`. */
function filterName({ operationId }: Operation): string {
  return `${operationId.replace(/^list/, '').replace(/ies$/, 'y').replace(/s$/, '')}Filters`
}

function methodText(name: string, found: Found): string {
  const { verb, path, operation } = found
  const parameters = operation.parameters ?? []
  const ids = parameters.filter((one) => one.in === 'path').map((one) => snake(one.name))
  const parts = path
    .split('/')
    .slice(2)
    .map((part) => (part.startsWith('{') ? snake(part.slice(1, -1)) : `"${part}"`))
  const place = `[${parts.join(', ')}]`
  const about = `        ${docstring(`${operation.summary.replace(/\.$/, '').replace(/^List or sync/, 'List')}.`)}\n`
  if (isList(operation)) {
    const row = `models.${resultOf(operation).replace(/Page$/, '')}`
    const filters = filtersOf(operation)
    const all = ['self', ...ids.map((id) => `${id}: str`)]
    if (filters.length > 0) all.push(`**filters: Unpack[models.${filterName(operation)}]`)
    return `    def ${name}(${all.join(', ')}) -> AsyncRows[${row}]:
${about}        return AsyncRows(self._transport, ${place}, ${filters.length > 0 ? 'filters' : '{}'})
`
  }
  const queries = parameters.filter((one) => one.in === 'query')
  const headers = new Set(parameters.filter((one) => one.in === 'header').map((one) => one.name))
  const body = bodyOf(operation)
  const options = [
    ...queries.map((one) => `${argument(one.name)}: ${typeOf(one.schema)} | None = None`),
    ...(headers.has('Idempotency-Key') ? ['idempotency_key: str | None = None'] : []),
    ...(headers.has('If-Match') ? ['if_match: str | None = None'] : []),
    'timeout: float | None = None',
  ]
  const positional = [
    'self',
    ...ids.map((id) => `${id}: str`),
    ...(body === null ? [] : [`body: models.${body.name}${body.isOptional ? ' | None = None' : ''}`]),
  ]
  const sent = [
    `"${verb.toUpperCase()}"`,
    place,
    ...(queries.length === 0
      ? []
      : [`query={${queries.map((one) => `"${one.name}": ${argument(one.name)}`).join(', ')}}`]),
    ...(body === null ? [] : ['body=body']),
    ...(name === 'export_one' ? ['is_document=True'] : []),
    ...options
      .slice(queries.length)
      .map((option) => option.split(':')[0])
      .map((option) => `${option}=${option}`),
  ]
  const answer = resultOf(operation)
  const type =
    /^(None|Any|dict)/.test(answer) || answer.includes('|')
      ? answer.replace(/^.*\|.*$/, 'models.Event')
      : `models.${answer}`
  const lines = (all: readonly string[], indent: string) => all.map((one) => `${indent}${one},\n`).join('')
  const call = `await self._transport.request(\n${lines(sent, '            ')}        )\n`
  return `    async def ${name}(
${lines([...positional, '*', ...options], '        ')}    ) -> ${type}:
${about}        ${type === 'None' ? call : `answer: ${type} = ${call}        return answer\n`}`
}

/** The type of what is sent. */
function bodyOf({ requestBody }: Operation): { readonly name: string; readonly isOptional: boolean } | null {
  const schema = requestBody?.content['application/json']?.schema
  if (schema === undefined) return null
  return { name: nameOf(schema.$ref), isOptional: requestBody?.required !== true }
}

/** `from` is a word of Python. */
function argument(name: string): string {
  return name === 'from' ? 'start' : name === 'to' ? 'end' : snake(name)
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
