/**
 * What the search looks in: operations, objects and fields, events, errors, and sections of documents. One small file,
 * which a browser loads with the first search.
 */
import { errorCatalogue } from '../../service/src/kernel/error-catalogue.ts'
import { errorPath } from '../../service/src/kernel/errors.ts'
import type { Documents, ServedDocument } from './documents.ts'
import { nameOf, operationAddress } from './navigation.ts'
import { eventAddress } from './prose.ts'
import type { Reference } from './reference.ts'
import { type Field, fieldsOf, objectAddress } from './schema-fields.ts'

/** Kept small: type, title, address, subtitle, words of the text, and synonyms. */
export type SearchEntry = readonly [
  sort: Sort,
  title: string,
  address: string,
  about: string,
  words: string,
  also?: string,
]

export type Sort = 'operation' | 'field' | 'object' | 'event' | 'error' | 'guide'

/** Within a type, in the order of the pages. */
export function searchIndex(reference: Reference, documents: Documents): readonly SearchEntry[] {
  return [
    ...operationEntries(reference),
    ...parameterEntries(reference),
    ...[...reference.objects].flatMap(([name, schema]): SearchEntry[] => [
      ['object', name, objectAddress(name), plain(String(schema.description ?? '')), ''],
      ...fieldsOf(schema).map((field) => fieldEntry(name, field)),
    ]),
    ...[...reference.events.values()].map(
      ({ type, summary }): SearchEntry => ['event', type, eventAddress(type), summary, 'webhook'],
    ),
    ...Object.entries(errorCatalogue).map(
      ([code, { status, title, means, help }]): SearchEntry => [
        'error',
        code,
        errorPath(code),
        `${status} ${title}`,
        wordsOf(`${means} ${help}`),
        ...alsoOf(alsoCalled[code]),
      ],
    ),
    ...[...documents.values()].flatMap(sectionEntries),
  ]
}

function operationEntries({ operations }: Reference): SearchEntry[] {
  return [...operations.values()].flatMap((operation) => {
    const { id, method, path, summary, description } = operation
    const call = `${method.toUpperCase()} ${path}`
    const words = wordsOf(`${id} ${summary} ${description}`)
    return [
      ['operation', plain(nameOf(operation)), operationAddress(id), call, words, ...alsoOf(alsoCalled[id])],
    ]
  })
}

/** Synonyms, by the id of an operation or the code of an error. */
const alsoCalled: Readonly<Record<string, string>> = {
  version_mismatch: 'lost update conflict precondition optimistic locking concurrency stale etag',
  listChanges: 'changes changed since cursor delta incremental feed',
  recoverWebhook: 'resend replay redeliver retry all missed failed',
  retryDelivery: 'resend replay redeliver',
  resendDelivery: 'redeliver again succeeded',
  retryDeliveriesNow: 'resend retry all pending waiting',
}

/** A query parameter with one meaning everywhere has one entry. */
function parameterEntries({ operations }: Reference): SearchEntry[] {
  const taken = [...operations.values()].flatMap((operation) =>
    operation.parameters.filter((one) => one.in === 'query').map((parameter) => ({ operation, parameter })),
  )
  const same = Map.groupBy(taken, ({ parameter: { name, description } }) => `${name} ${description}`)
  return [...same.values()].flatMap((these) => {
    const [first] = these
    if (first === undefined) return []
    const { operation, parameter } = first
    const { name, description } = parameter
    const whose = `${operation.method.toUpperCase()} ${operation.path}`
    const others = these.length === 1 ? '' : ` and ${these.length - 1} more`
    const about = `Query of ${whose}${others}: ${plain(description)}`
    return [['field', name, `${operationAddress(operation.id)}#query-${name}`, about, '']]
  })
}

function fieldEntry(name: string, { name: field, description }: Field): SearchEntry {
  return ['field', field, `${objectAddress(name)}#field-${field}`, `${name}: ${plain(description)}`, name]
}

function alsoOf(words: string | undefined): [] | [also: string] {
  return words === undefined ? [] : [words]
}

function sectionEntries({ path, title, about, also, page }: ServedDocument): SearchEntry[] {
  if (page === null) return []
  const { sections } = page
  const listed = isListed(path) ? sections : sections.slice(0, 1)
  return listed.map(({ id, text, level, words }) => [
    'guide',
    text,
    level === 1 ? `/docs/${path}` : `/docs/${path}#${id}`,
    level === 1 ? (about ?? '') : title,
    wordsOf(words),
    ...alsoOf(level === 1 ? also : undefined),
  ])
}

/** Whether its sections have words that no other entry has. */
function isListed(path: string): boolean {
  return !['fields', 'webhooks', 'keys', 'events', 'errors'].includes(
    /^reference\/(\w+)\.md$/.exec(path)?.[1] ?? '',
  )
}

/** Each word once, without common ones. */
function wordsOf(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_][\p{L}\p{N}_.-]*[\p{L}\p{N}_]/gu) ?? []
  return [...new Set(words)]
    .filter((word) => word.length > 2 && word.length < 40 && !common.has(word))
    .join(' ')
}

const common = new Set(
  'and are but can for from has have its not one than that the them then there these they this what when where which who with was were will your you all any each into only other out same too two over more how does may must'.split(
    ' ',
  ),
)

function plain(text: string): string {
  return text.replaceAll('`', '').replace(/\s+/g, ' ').trim()
}
