/**
 * Which field each column of a CSV file means. A column is named like the field, `location.type` is a member of an
 * object, `customAttributes.NAME` a value of one's own. All of it follows from the kind's declaration.
 */
import { numberFault } from '@deskwire/sdk/json'
import { fieldSchema, importShape, type Kind, kinds, namedReferences, quoted } from '@deskwire/service/kinds'
import { UsageError } from '../usage-error.ts'
import type { FieldFault } from './fault.ts'

/** What a cell means; or what is wrong with it, where reading it would change its value. */
type Read = { readonly value: unknown } | { readonly fault: string }

interface Column {
  /** The field, and the member of it. */
  readonly path: readonly [field: string, member?: string]
  /** Reads a cell that is not empty. */
  read(cell: string): Read
}

/** A header that fits the kind. */
export interface Layout {
  readonly kind: Kind
  readonly header: readonly string[]
  /** What each column means; null for one that is left out. */
  readonly columns: readonly (Column | null)[]
  /**
   * The column of externalIds, which every row has to have; null for none, and for lines, each of which may have one.
   */
  readonly idColumn: number | null
  /** The columns of externalIds, of the row and of objects that it refers to. */
  readonly idColumns: readonly number[]
  /** Rows come with their past (`--history`). */
  readonly isHistory: boolean
  /** Of lines of JSON instead of columns. */
  readonly isLines: boolean
  /** Fields of lines to leave out. */
  readonly ignored: readonly string[]
}

/** Of a field that holds an externalId, as `customerExternalId` does. */
export function isIdName(name: string): boolean {
  return /^externalId$|ExternalId$/.test(name)
}

/**
 * Whether the service looks for an object with a row's externalId: not for one that never changes, unless rows have a
 * past.
 */
export function isLookedFor({ fields, immutable }: Kind, isHistory: boolean): boolean {
  return fields.externalId !== undefined && (isHistory || !immutable)
}

/** How lines of JSON are read. */
export function lineLayout(kind: Kind, ignored: readonly string[], isHistory: boolean): Layout {
  return { kind, header: [''], columns: [], idColumn: null, idColumns: [], isHistory, isLines: true, ignored }
}

/**
 * Written behind the columns of rejected lines, and left out where it is read: corrected lines are imported as they
 * are.
 */
export const errorColumn = 'error'

/** @throws UsageError that names every column which the kind does not have, and those that it has. */
export function readHeader(
  kind: Kind,
  cells: readonly string[],
  ignored: readonly string[],
  isHistory = false,
): Layout {
  const known = columnsOf(kind, isHistory)
  const header = cells.map((cell) => cell.trim())
  const leftOut = (name: string) => name === errorColumn || ignored.includes(name)
  const columns = header.map((name) => (leftOut(name) ? null : known.find(name)))
  const unknown = header.filter((name, n) => columns[n] === null && !leftOut(name))
  const typed = unknown.map(known.typeFault).find((fault) => fault !== null)
  if (typed) throw new UsageError(typed)
  if (unknown.length > 0) {
    const [first = ''] = unknown
    const hint =
      /[;\t|]/.test(first) && header.length === 1
        ? '; is the delimiter another one (--delimiter)?'
        : !isHistory && unknown.some((name) => columnsOf(kind, true).find(name) !== null)
          ? '; --history takes columns of the past'
          : ''
    const names = unknown.map((name) => JSON.stringify(name)).join(', ')
    throw new UsageError(
      `${kind.plural} have no column ${names}${hint}; accepted: ${known.accepted.join(', ')}; --ignore leaves columns out`,
    )
  }
  const paths = columns.map((column) => column?.path.join('.'))
  const twice = header.find((_, n) => paths[n] !== undefined && paths.indexOf(paths[n]) !== n)
  if (twice !== undefined)
    throw new UsageError(`the column ${twice} is there twice; --ignore leaves a column out`)
  const id = columns.findIndex((column) => column?.path[0] === 'externalId')
  const idColumn = id === -1 || !isLookedFor(kind, isHistory) ? null : id
  if (idColumn === null) requireColumns(kind, columns)
  const idColumns = [...columns.keys()].filter((n) => isIdName(columns[n]?.path[0] ?? ''))
  return { kind, header, columns, idColumn, idColumns, isHistory, isLines: false, ignored }
}

/** The column that gives a reference by its object's externalId. */
function namedBy(kind: Kind, field: string): string | undefined {
  return namedReferences(kind, kinds).find((reference) => reference.field === field)?.name
}

/** New rows need what the kind requires; rows that are there already can be changed in part. */
function requireColumns(kind: Kind, columns: readonly (Column | null)[]): void {
  const missing = Object.entries(kind.fields)
    .filter(([, field]) => field.access !== 'read' && field.initial === undefined)
    .map(([name]) => name)
    .filter((name) => !columns.some((column) => [name, namedBy(kind, name)].includes(column?.path[0])))
  if (missing.length > 0) throw new UsageError(`new ${kind.plural} need columns for: ${missing.join(', ')}`)
}

/**
 * The row that a record's cells make, as the API takes it, and the cells that cannot be read, which are left out of
 * it. An empty cell says nothing: its field is left out.
 */
export function itemOf({ columns }: Layout, cells: readonly string[]) {
  const fields = new Map<string, unknown>()
  const members = new Map<string, [string, unknown][]>()
  const faults: FieldFault[] = []
  for (const [n, column] of columns.entries()) {
    const cell = cells[n] ?? ''
    if (column === null || cell === '') continue
    const [field, member] = column.path
    const read = column.read(cell)
    if ('fault' in read)
      faults.push({ path: column.path.filter((step) => step !== undefined), detail: read.fault })
    else if (member === undefined) fields.set(field, read.value)
    else members.set(field, [...(members.get(field) ?? []), [member, read.value]])
  }
  // fromEntries defines keys rather than assigning them: "__proto__" is a key like any other.
  for (const [field, entries] of members) fields.set(field, Object.fromEntries(entries))
  return { item: Object.fromEntries(fields) as Record<string, unknown>, faults }
}

interface Schema {
  readonly type?: unknown
  readonly format?: unknown
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: unknown
}

interface Columns {
  readonly accepted: readonly string[]
  /** Null: there is no such column. */
  find(name: string): Column | null
  /** What is wrong with a column of one's own values; null for any other. */
  typeFault(name: string): string | null
}

/**
 * `FIELD.NAME`, `FIELD.NAME:number` or `FIELD.NAME:boolean`; as in filters, a \ comes before each : and \ of the
 * name.
 */
const ownValue = /^([^.]+)\.((?:[^\\:]|\\[\\:])+?)(?::(number|boolean))?$/s

/** Every column that a kind can have. */
function columnsOf(kind: Kind, isHistory: boolean): Columns {
  const fixed = new Map<string, Column>()
  const open: string[] = []
  const accepted: string[] = []
  if (isHistory) {
    for (const { name } of namedReferences(kind, kinds)) {
      fixed.set(name, { path: [name], read: (value) => ({ value }) })
      accepted.push(name)
    }
  }
  for (const [name, field] of Object.entries((isHistory ? importShape(kind) : kind).fields)) {
    if (field.access === 'read') continue
    const schema = fieldSchema({ ...field, nullable: false }, 'input') as Schema
    if (schema.properties !== undefined) {
      for (const [member, its] of Object.entries(schema.properties)) {
        fixed.set(`${name}.${member}`, { path: [name, member], read: readerOf(its) })
        accepted.push(`${name}.${member}`)
      }
    } else if (schema.type === 'object') {
      open.push(name)
      accepted.push(`${name}.NAME (text), ${name}.NAME:number, ${name}.NAME:boolean`)
    } else if (schema.type !== 'array') {
      fixed.set(name, { path: [name], read: readerOf(schema) })
      accepted.push(name)
    } else if (schema.items?.type === 'string') {
      fixed.set(name, { path: [name], read: readList })
      accepted.push(`${name} (separated by ; or |)`)
    }
  }
  const find = (name: string): Column | null => {
    const [, field = '', member = '', type] = ownValue.exec(name) ?? []
    if (open.includes(field))
      return { path: [field, member.replaceAll(/\\(.)/g, '$1')], read: readerOf({ type }) }
    return fixed.get(name) ?? null
  }
  const typeFault = (name: string): string | null => {
    const [field = '', member = ''] = name.split(/\.(.+)/s)
    if (!open.includes(field) || !/[\\:]/.test(member)) return null
    return `the column ${quoted(name)} has no type that is known; accepted: ${field}.NAME (text), ${field}.NAME:number, ${field}.NAME:boolean, with \\ before each : and \\ of NAME`
  }
  return { accepted, find, typeFault }
}

function readerOf({ type, format }: Schema): Column['read'] {
  if (type === 'boolean') return readBoolean
  if (type === 'integer' || type === 'number') return readNumber
  return format === 'date-time' ? readTime : (value) => ({ value })
}

function readBoolean(cell: string): Read {
  if (/^(true|false)$/i.test(cell)) return { value: cell.toLowerCase() === 'true' }
  return { fault: `must be true or false; got ${quoted(cell)}` }
}

function readNumber(cell: string): Read {
  const fault = numberFault(cell)
  return fault === null ? { value: Number(cell) } : { fault }
}

/**
 * What is no time goes on as it is: the service says what it accepts. What is finer than a millisecond it would cut
 * off.
 */
function readTime(cell: string): Read {
  if (!/\.\d{3}\d*[1-9]/.test(cell)) return { value: cell }
  return { fault: `must have at most three decimals of a second; got ${quoted(cell)}` }
}

function readList(cell: string): Read {
  const words = cell.split(/[;|]/).map((word) => word.trim())
  return { value: words.filter((word) => word !== '') }
}
