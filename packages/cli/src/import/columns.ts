/**
 * Which field each column of a CSV file means. A column is named like the field, `location.type` is a member of an object,
 * `customAttributes.NAME` a value of one's own. All of it follows from the kind's declaration.
 */
import { fieldSchema, type Kind } from '@deskwire/service/administration'
import { UsageError } from '../usage-error.ts'

interface Column {
  /** The field, and the member of it. */
  readonly path: readonly [field: string, member?: string]
  /** The value of a cell that is not empty. What it cannot read it leaves to the service to refuse. */
  read(cell: string): unknown
}

/** A header that fits the kind. */
export interface Layout {
  readonly header: readonly string[]
  /** What each column means; null for one that is left out. */
  readonly columns: readonly (Column | null)[]
  readonly hasExternalId: boolean
}

/** Written behind the columns of rejected lines, and left out where it is read: what was mended is imported as it is. */
export const errorColumn = 'error'

/** @throws UsageError that names every column which the kind does not have, and those that it has. */
export function readHeader(kind: Kind, cells: readonly string[], ignored: readonly string[]): Layout {
  const known = columnsOf(kind)
  const header = cells.map((cell) => cell.trim())
  const leftOut = (name: string) => name === errorColumn || ignored.includes(name)
  const columns = header.map((name) => (leftOut(name) ? null : known.find(name)))
  const unknown = header.filter((name, n) => columns[n] === null && !leftOut(name))
  if (unknown.length > 0) {
    const [first = ''] = unknown
    const hint =
      /[;\t|]/.test(first) && header.length === 1 ? '; is the delimiter another one (--delimiter)?' : ''
    const names = unknown.map((name) => JSON.stringify(name)).join(', ')
    throw new UsageError(
      `${kind.plural} have no column ${names}${hint}; accepted: ${known.accepted.join(', ')}; --ignore leaves columns out`,
    )
  }
  const paths = columns.map((column) => column?.path.join('.'))
  const twice = header.find((_, n) => paths[n] !== undefined && paths.indexOf(paths[n]) !== n)
  if (twice !== undefined)
    throw new UsageError(`the column ${twice} is there twice; --ignore leaves a column out`)
  const hasExternalId = columns.some((column) => column?.path[0] === 'externalId')
  if (!hasExternalId) requireColumns(kind, columns)
  return { header, columns, hasExternalId }
}

/** New rows need what the kind requires; rows that are there already can be changed in part. */
function requireColumns(kind: Kind, columns: readonly (Column | null)[]): void {
  const missing = Object.entries(kind.fields)
    .filter(([, field]) => field.access !== 'read' && field.initial === undefined)
    .map(([name]) => name)
    .filter((name) => !columns.some((column) => column?.path[0] === name))
  if (missing.length > 0) throw new UsageError(`new ${kind.plural} need columns for: ${missing.join(', ')}`)
}

/** The row that a record's cells make, as the API takes it. An empty cell says nothing: its field is left out. */
export function itemOf({ columns }: Layout, cells: readonly string[]): Record<string, unknown> {
  const fields = new Map<string, unknown>()
  const members = new Map<string, [string, unknown][]>()
  for (const [n, column] of columns.entries()) {
    const cell = cells[n] ?? ''
    if (column === null || cell === '') continue
    const [field, member] = column.path
    if (member === undefined) fields.set(field, column.read(cell))
    else members.set(field, [...(members.get(field) ?? []), [member, column.read(cell)]])
  }
  // fromEntries defines keys rather than assigning them: "__proto__" is a key like any other.
  for (const [field, entries] of members) fields.set(field, Object.fromEntries(entries))
  return Object.fromEntries(fields)
}

interface Schema {
  readonly type?: unknown
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: unknown
}

/** Every column that a kind can have. */
function columnsOf(kind: Kind): { accepted: string[]; find(name: string): Column | null } {
  const fixed = new Map<string, Column>()
  const open: string[] = []
  const accepted: string[] = []
  for (const [name, field] of Object.entries(kind.fields)) {
    if (field.access === 'read') continue
    const schema = fieldSchema({ ...field, nullable: false }, 'input') as Schema
    if (schema.properties !== undefined) {
      for (const [member, { type }] of Object.entries(schema.properties)) {
        fixed.set(`${name}.${member}`, { path: [name, member], read: readerOf(type) })
        accepted.push(`${name}.${member}`)
      }
    } else if (schema.type === 'object') {
      open.push(name)
      accepted.push(`${name}.NAME (text), ${name}.NAME:number, ${name}.NAME:boolean`)
    } else if (schema.type !== 'array') {
      fixed.set(name, { path: [name], read: readerOf(schema.type) })
      accepted.push(name)
    } else if (schema.items?.type === 'string') {
      fixed.set(name, { path: [name], read: readList })
      accepted.push(`${name} (separated by ; or |)`)
    }
  }
  const find = (name: string): Column | null => {
    const [, field = '', member = '', type] = /^([^.]+)\.(.+?)(?::(number|boolean))?$/s.exec(name) ?? []
    if (open.includes(field)) return { path: [field, member], read: readerOf(type) }
    return fixed.get(name) ?? null
  }
  return { accepted, find }
}

function readerOf(type: unknown): Column['read'] {
  switch (type) {
    case 'boolean':
      return (cell) => (/^(true|false)$/i.test(cell) ? cell.toLowerCase() === 'true' : cell)
    case 'integer':
    case 'number':
      return (cell) => (/^-?\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell)
    default:
      return (cell) => cell
  }
}

function readList(cell: string): string[] {
  return cell
    .split(/[;|]/)
    .map((word) => word.trim())
    .filter((word) => word !== '')
}
