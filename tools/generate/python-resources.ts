/**
 * The calls of the Python SDK: a class for each resource of `openapi.json`, with a method for each of its operations. They are written for
 * `AsyncClient`; `blocking` makes the rest of the package out of that.
 */
import { kinds } from '../../packages/service/src/desk/index.ts'
import { takesUpserts } from '../../packages/service/src/kinds/http/batch-body.ts'
import { answerOf, type ClientMethod, pascal, type Resource, resourcesOf, snake } from './clients.ts'
import { type ApiDocument, banner, docstring, type Parameter, typeOf } from './python-models.ts'

/** Methods of kinds that are written by hand, in `stream.py`. */
const byHand = new Set(['export'])

export function pythonResources(document: ApiDocument): string {
  const resources = resourcesOf(document).filter(({ name }) => name !== 'changes')
  const attributes = (isAdmin: boolean) =>
    resources
      .filter((one) => one.isAdmin === isAdmin)
      .map(({ name }) => `        self.${snake(name)} = Async${pascal(name)}(transport)\n`)
      .join('')
  return `${banner}

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from .. import models
from .rows import AsyncPages, AsyncRows, by_cursor, by_wait
from .stream import AsyncKind, AsyncStream
from .transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack


${resources.map(classOf).join('\n\n')}

class AsyncResources:
    """Everything that a client has."""

    def __init__(self, transport: AsyncTransport) -> None:
${attributes(false)}        self.changes = AsyncStream[models.AnyRow](transport, "changes")


class AsyncAdminResources:
    """Everything that a client of the operator has."""

    def __init__(self, transport: AsyncTransport) -> None:
${attributes(true)}`
}

/** The filters of every list, by the name of their type. */
export function listFilters(document: ApiDocument): ReadonlyMap<string, readonly Parameter[]> {
  const methods = resourcesOf(document).flatMap(({ methods }) => methods)
  return new Map(
    methods.flatMap(({ filters }) => (filters === null ? [] : [[filters.type, filters.of] as const])),
  )
}

/** The blocking counterpart of a file of `_async`. */
export function blocking(text: string): string {
  const converted = withoutAsync(text)
  return text.startsWith(banner) ? converted : `# Made by npm run generate from _async.\n${converted}`
}

function withoutAsync(text: string): string {
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
  return words.reduce((made, [from, to]) => made.replace(from, to), text)
}

function classOf({ name, kind, methods }: Resource): string {
  const base = kind === null ? '' : `(AsyncKind[models.${kind}])`
  const init = `    def __init__(self, transport: AsyncTransport) -> None:
        ${kind === null ? 'self._transport = transport' : `super().__init__(transport, "${name}", "${kind.toLowerCase()}")`}
`
  const texts = methods
    .filter((one) => kind === null || !byHand.has(one.name))
    .flatMap((one) => (one.name === 'batch' ? batchMethods(one) : [methodText(one)]))
  return `class Async${pascal(name)}${base}:
${docstringOf(`The calls of ${snake(name)}.`, '    ')}
${[init, ...texts].join('\n')}`
}

function docstringOf(text: string, indent: string): string {
  return `${indent}${docstring(text)}\n`
}

/** A batch creates rows; where a kind has an id of its users, it upserts too. */
function batchMethods({ resource: plural, body }: ClientMethod): readonly string[] {
  const kind = body?.schema.replace(/Batch$/, '') ?? ''
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
    method('batch', `${kind}Create`, 'create', 'Creates rows.'),
    method(
      'import_',
      `${kind}Import`,
      'import',
      'Creates rows with their past, without events; rows that have these external ids stay as they are.',
    ),
    ...(hasUpsert
      ? [
          method(
            'upsert',
            `${kind}Upsert`,
            'upsert',
            'Changes the rows that have these external ids, and creates the others.',
          ),
        ]
      : []),
  ]
}

/** A list gives rows, and goes on by itself. */
function listText(method: ClientMethod, place: string, about: string): string {
  const { filters, list } = method
  const { all, result } = signatureOf(method)
  const given = filters === null ? '{}' : 'filters'
  const isPaged = list === 'cursor' || list === 'wait'
  const how = isPaged ? `, by_${list}` : list === 'time' ? ', by_moment=True' : ''
  return `    def ${snake(method.name)}(${['self', ...all].join(', ')}) -> ${result}:
${about}        return ${isPaged ? 'AsyncPages' : 'AsyncRows'}(self._transport, ${place}, ${given}${how})
`
}

/** What a method takes, and what it returns. */
function signatureOf({ ids, query, headers, body, operation, list, filters }: ClientMethod) {
  const positional = [
    ...ids.map((id) => `${snake(id)}: str`),
    ...(body === null ? [] : [`body: models.${body.schema}${body.isOptional ? ' | None = None' : ''}`]),
  ]
  if (list !== null) {
    const row = answerOf(operation)
      .replace(/Page$/, '')
      .replace('Event', 'ListedEvent')
      .replace('Inbox', 'InboxEntry')
    const rows = list === 'cursor' || list === 'wait' ? 'AsyncPages' : 'AsyncRows'
    const given = filters === null ? [] : [`**filters: Unpack[models.${filters.type}]`]
    return { positional, options: [], all: [...positional, ...given], result: `${rows}[models.${row}]` }
  }
  const options = [
    ...query.map((one) => `${snake(one.name)}: ${typeOf(one.schema)} | None = None`),
    ...(headers.has('dryRun') ? ['dry_run: bool = False'] : []),
    ...(headers.has('Idempotency-Key') ? ['idempotency_key: str | None = None'] : []),
    ...(headers.has('If-Match') ? ['if_match: str | None = None'] : []),
    'timeout: float | None = None',
  ]
  const hasContent = Object.entries(operation.responses).some(
    ([status, { content }]) => status.startsWith('2') && content !== undefined,
  )
  const answer = answerOf(operation)
  const result = answer !== '' ? `models.${answer}` : hasContent ? 'dict[str, Any]' : 'None'
  return { positional, options, all: [...positional, '*', ...options], result }
}

/** `ping(id: str, *, timeout: float | None = None) -> Delivery`, as `Client` has it. */
export function pythonSignature(method: ClientMethod, kind: string | null): string {
  const { name, headers, body } = method
  if (name === 'export') return `export() -> Export[${kind}]`
  const { all, result } = signatureOf(method)
  const ofBatch = [
    `items: Sequence[${body?.schema.replace(/Batch$/, 'Create')}]`,
    '*',
    'idempotency_key: str | None = None',
    'timeout: float | None = None',
  ]
  const conditional = all.toSpliced(all.indexOf('*') + 1, 0, 'if_none_match: str | None = None')
  const [given, returned] =
    name === 'batch'
      ? [ofBatch, 'BatchAnswer']
      : headers.has('If-None-Match')
        ? [conditional, `${result} | None`]
        : [all, result]
  return withoutAsync(`${snake(name)}(${given.join(', ')}) -> ${returned}`.replaceAll('models.', ''))
}

function methodText(method: ClientMethod): string {
  const { name, verb, path, ids, query, headers, body, operation, list } = method
  let n = 0
  const parts = path
    .slice(1)
    .split('/')
    .map((part) => (part.startsWith('{') ? snake(ids[n++] ?? '') : `"${part}"`))
  const place = `[${parts.join(', ')}]`
  const about = docstringOf(
    `${method.summary}.\n\n        ${method.description.replace(/\n+/g, '\n        ')}\n        `,
    '        ',
  )
  if (list !== null) return listText(method, place, about)
  const { positional, options, result: type } = signatureOf(method)
  const queries = [
    ...query.map((one) => `"${one.name}": ${snake(one.name)}`),
    ...(headers.has('dryRun') ? ['"dryRun": dry_run or None'] : []),
  ]
  const sent = [
    `"${verb.toUpperCase()}"`,
    place,
    ...(queries.length === 0 ? [] : [`query={${queries.join(', ')}}`]),
    ...(body === null ? [] : ['body=body']),
    ...(/Export$/.test(answerOf(operation)) ? ['is_document=True'] : []),
    ...options
      .map((option) => option.split(':')[0] ?? '')
      .filter((option) => /^(idempotency_key|if_match|timeout)$/.test(option))
      .map((option) => `${option}=${option}`),
  ]
  const lines = (all: readonly string[], indent: string) => all.map((one) => `${indent}${one},\n`).join('')
  const call = `await self._transport.request(\n${lines(sent, '            ')}        )\n`
  if (!headers.has('If-None-Match')) {
    return `    async def ${snake(name)}(
${lines(['self', ...positional, '*', ...options], '        ')}    ) -> ${type}:
${about}        ${type === 'None' ? call : `answer: ${type} = ${call}        return answer\n`}`
  }
  // A row that has not changed is None, and only where that was asked for.
  const head = (more: string, result: string) => `    async def ${snake(name)}(
${lines(['self', ...positional, '*', ...(more === '' ? [] : [more]), ...options], '        ')}    ) -> ${result}:`
  const asked = call.replace('timeout=timeout', 'if_none_match=if_none_match,\n            timeout=timeout')
  return `    @overload
${head('', type)} ...

    @overload
${head('if_none_match: str', `${type} | None`)} ...

${head('if_none_match: str | None = None', `${type} | None`)}
${about}        answer: ${type} | None = ${asked}        return answer
`
}
