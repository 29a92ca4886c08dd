/**
 * The tables of a copy, from the service's `openapi.json`, so that kinds and fields of later releases are found too.
 */
import { clipped } from '@deskwire/sdk/clipped'
import { MirrorError } from './error.ts'
import type { Column, ColumnType, Table } from './store.ts'

export interface Kind {
  /** `ticket`: as in rows and checkpoints. */
  readonly name: string
  /** `tickets`: as in addresses and table names. */
  readonly plural: string
  readonly comment: string
  readonly columns: readonly Column[]
}

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
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

/** The columns of a table that a field's name could collide with. */
const ownColumns = ['removed_at', 'row_id', 'valid_from', 'valid_to']

/**
 * Names go into statements and file names: no others are accepted. The longest plus `_next` fits PostgreSQL's 63
 * bytes.
 */
const names = {
  kind: /^[a-z][a-z0-9_]{0,39}$/,
  field: /^[a-z][A-Za-z0-9]{0,39}$/,
} as const
const longestColumn = 60
/** Reserved table names: the mirror's own, those of a copy that is being built, and those of databases. */
const reserved = /^(?:deskwire_|sqlite_|pg_|duckdb_)|_(?:next|history)$/

function accepted(what: keyof typeof names, name: string): string {
  const isLong = what === 'field' && columnName(name).length > longestColumn
  if (names[what].test(name) && !isLong && !(what === 'kind' && reserved.test(name))) return name
  const rule =
    what === 'kind'
      ? 'a lower-case letter and up to 39 more, digits or _'
      : 'a lower-case letter and up to 39 more letters or digits'
  throw new MirrorError(
    `The openapi.json of the service names a ${what} ${shown(name)}, which is no name that a mirror accepts: ${rule}. Nothing was changed. Is this the service that it should be?`,
  )
}

const shown = (text: string) => JSON.stringify(clipped(text, 80))

/** The comment of a table or column: one line of plain text. */
const commentOf = (text: unknown) =>
  typeof text === 'string' ? clipped(text.replace(/[\p{Cc}\p{Surrogate}]+/gu, ' '), 2_000) : ''

/** The kinds of a service by their names. @throws MirrorError when the document is not Deskwire's. */
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
    for (const given of [name, plural]) accepted('kind', given)
    if (kinds.has(name) || [...kinds.values()].some((kind) => kind.plural === plural))
      throw new MirrorError(`The openapi.json of the service declares ${name} (${plural}) twice.`)
    kinds.set(name, {
      name,
      plural,
      comment: commentOf(schema.description),
      columns: columnsOf(name, schema),
    })
  }
  if (kinds.size === 0)
    throw new MirrorError('The openapi.json of the service declares no kinds. Check the base address.')
  return kinds
}

function columnsOf(kind: string, { properties = {}, required = [] }: Schema): Column[] {
  const columns = Object.entries(properties)
    .filter(([field]) => field !== 'object')
    .sort(([a], [b]) => Number(b === 'id') - Number(a === 'id'))
    .map(([field, schema]) => {
      const value = withoutNull(schema)
      return {
        field: accepted('field', field),
        name: columnName(field),
        type: typeOf(value),
        comment: commentOf(schema.description),
        refers: value.format === 'uuid' && !['id', 'organizationId'].includes(field),
        ...(required.includes(field) && !takesNull(schema) && { required: true }),
      }
    })
  if (columns[0]?.field !== 'id' || columns[0].type !== 'uuid')
    throw new MirrorError(`The openapi.json of the service declares no id of kind ${kind} that is a UUID.`)
  const twice = columns.find(({ name }, n) => columns.findIndex((column) => column.name === name) !== n)
  if (twice !== undefined)
    throw new MirrorError(
      `The openapi.json of the service has two fields of kind ${kind} for the column ${twice.name}.`,
    )
  return columns
}

/** `customerId` → `customer_id`. */
function columnName(field: string): string {
  const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return ownColumns.includes(name) ? `${name}_` : name
}

function withoutNull(schema: Schema): Schema {
  const [one, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null')
  return one !== undefined && others.length === 0 ? one : schema
}

const takesNull = ({ type = [], anyOf = [] }: Schema) =>
  [type].flat().includes('null') || anyOf.some((one) => one.type === 'null')

function typeOf({ type = [], format, items }: Schema): ColumnType {
  const [one, ...others] = [type].flat().filter((name) => name !== 'null')
  if (others.length > 0) return 'json'
  switch (one) {
    case 'string':
      return format === 'uuid' ? 'uuid' : format === 'date-time' ? 'timestamp' : 'text'
    case 'integer':
    case 'number':
    case 'boolean':
      return one
    case 'array':
      return items?.type === 'string' && items.format === undefined ? 'texts' : 'json'
    default:
      return 'json'
  }
}

/**
 * The table of a kind. Of an existing one, columns stay in their order, one of another type in its place, and missing
 * ones come last. Rows of an earlier release lack the fields of a later one, so that only a new table requires
 * values.
 */
export function tableOf(kind: Kind, name: string, marksRemovals: boolean, there?: Table): Table {
  const held = (there?.columns ?? []).map((column): Column => {
    const declared = kind.columns.find(({ field }) => field === column.field)
    // New rows have no value of it.
    if (declared === undefined) return { ...column, required: false, dropped: true }
    const { dropped: _, ...same } = column
    return declared.type === column.type ? same : { ...declared, required: false }
  })
  const added = kind.columns.filter(({ field }) => !held.some((column) => column.field === field))
  const more = there ? added.map((column) => ({ ...column, required: false })) : added
  return { name, comment: kind.comment, columns: [...held, ...more], marksRemovals }
}
