/**
 * The tables of a copy, made of what the service declares in its `openapi.json`: a table a kind, a column a field. A kind or a field that
 * a later release has is found there too.
 */
import { MirrorError } from './error.ts'
import type { Column, ColumnType, Table } from './store.ts'

/** A kind as the service has it. */
export interface Kind {
  /** `ticket`: what a row says of itself, and a checkpoint. */
  readonly name: string
  /** `tickets`: its part of the address, and its table's name. */
  readonly plural: string
  readonly comment: string
  readonly columns: readonly Column[]
}

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly const?: unknown
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
}

interface Document {
  readonly paths?: Readonly<Record<string, { readonly get?: Operation }>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

interface Operation {
  readonly responses?: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >
}

/** Columns that a table has beside those of the fields. */
const ownColumns = ['_body', 'removed_at']

/** The kinds of a service by their names. @throws MirrorError where the document is none of Deskwire. */
export function kindsOf(document: unknown): ReadonlyMap<string, Kind> {
  const { paths = {}, components } = (document ?? {}) as Document
  const kinds = new Map<string, Kind>()
  for (const [path, { get }] of Object.entries(paths)) {
    const [, address, plural] = /^(\/v\d+\/([^/]+))\/\{id\}$/.exec(path) ?? []
    // What has an export is a kind; endpoints and keys have none.
    if (plural === undefined || paths[`${address}/export`] === undefined) continue
    const { $ref = '' } = get?.responses?.['200']?.content?.['application/json']?.schema ?? {}
    const schema = components?.schemas?.[$ref.split('/').at(-1) ?? '']
    const name = schema?.properties?.object?.const
    if (schema === undefined || typeof name !== 'string') continue
    kinds.set(name, { name, plural, comment: schema.description ?? '', columns: columnsOf(schema) })
  }
  if (kinds.size === 0)
    throw new MirrorError('The openapi.json of the service declares no kinds. Check the base address.')
  return kinds
}

function columnsOf({ properties = {} }: Schema): Column[] {
  return Object.entries(properties)
    .filter(([field]) => field !== 'object')
    .sort(([a], [b]) => Number(b === 'id') - Number(a === 'id'))
    .map(([field, schema]) => ({
      field,
      name: columnName(field),
      type: typeOf(schema),
      comment: schema.description ?? '',
      refers: schema.format === 'uuid' && !['id', 'organizationId'].includes(field),
    }))
}

/** `customerId` → `customer_id`. */
function columnName(field: string): string {
  const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return ownColumns.includes(name) ? `${name}_` : name
}

function typeOf({ type = [], format }: Schema): ColumnType {
  const [one, ...others] = [type].flat().filter((name) => name !== 'null')
  if (others.length > 0) return 'json'
  switch (one) {
    case 'string':
      return format === 'uuid' ? 'uuid' : format === 'date-time' ? 'timestamp' : 'text'
    case 'integer':
    case 'number':
    case 'boolean':
      return one
    default:
      return 'json'
  }
}

/** The table of a kind; of one that is there, with its columns where they are and what it lacks behind them. */
export function tableOf(kind: Kind, name: string, marksRemovals: boolean, there?: Table): Table {
  const held = there?.columns ?? []
  const added = kind.columns.filter(({ field }) => !held.some((column) => column.field === field))
  return { name, comment: kind.comment, columns: [...held, ...added], marksRemovals }
}
