/**
 * What makes a row of one organization the same as a row of another: everything but ids, and the time of its version.
 */
import { hash } from 'node:crypto'
import { importShape, type Kind } from '@deskwire/service/kinds'

/** The new id of an object; undefined where it is not there. */
export type NewIdOf = (kind: string, id: string) => string | undefined

/** An object as the service shows it. */
export type ExportedRow = Readonly<Record<string, unknown>> & {
  readonly id: string
  readonly organizationId: string
  readonly updatedAt: string
}

/** A row that had none gets one, by which a repetition finds it. */
export function externalIdOf({ id, externalId }: ExportedRow): string {
  return typeof externalId === 'string' ? externalId : `deskwire-${id}`
}

/** An object that a row refers to. */
export interface Referred {
  readonly field: string
  /** Within the field's value. */
  readonly member: string | null
  readonly kind: string
  readonly id: string
  /** Whether only an active one can be referred to. */
  readonly needsActive: boolean
}

/** The objects that a row refers to. */
export function referredBy({ table }: Kind, row: Readonly<Record<string, unknown>>): readonly Referred[] {
  return table.references.flatMap(({ field, kind, within, condition }): Referred[] => {
    const member = within?.slice(1) ?? null
    const value = row[field]
    const id = member === null ? value : ((value ?? {}) as Record<string, unknown>)[member]
    return typeof id === 'string' ? [{ field, member, kind, id, needsActive: condition !== undefined }] : []
  })
}

/** The row with new ids of the objects that it refers to. */
export function withNewIds(kind: Kind, row: ExportedRow, newIdOf: NewIdOf): Record<string, unknown> {
  const result: Record<string, unknown> = { ...row }
  for (const { field, member, kind: to, id } of referredBy(kind, row)) {
    const newId = newIdOf(to, id) ?? id
    result[field] = member === null ? newId : { ...(row[field] as object), [member]: newId }
  }
  return result
}

/** The row as an import takes it. */
export function itemOf(kind: Kind, row: ExportedRow, newIdOf: NewIdOf): Record<string, unknown> {
  const { fields } = importShape(kind)
  const item = Object.fromEntries(
    Object.entries(withNewIds(kind, row, newIdOf)).filter(
      ([name]) => Object.hasOwn(fields, name) && fields[name]?.access !== 'read',
    ),
  )
  if (hasExternalId(kind)) item.externalId = externalIdOf(row)
  // Messages may have been sent before their conversation was made, or be sent later. They move it themselves.
  const { lastMessageAt, createdAt } = item
  const now = new Date().toISOString()
  if (typeof lastMessageAt === 'string' && (lastMessageAt < String(createdAt) || lastMessageAt > now))
    delete item.lastMessageAt
  return item
}

export function hasExternalId({ fields }: Kind): boolean {
  return fields.externalId !== undefined
}

/** Its texts are equal exactly if the rows are, but for ids and versions. References have ids of one organization. */
export function contentOf(row: Readonly<Record<string, unknown>>): string {
  // Of a conversation without a summary, an import says that none is written.
  const dropped = row.summary === null ? [...ofRow, 'summarizedAt'] : ofRow
  const entries = Object.entries(row).filter(([name]) => !dropped.includes(name))
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

const ofRow = ['id', 'object', 'organizationId', 'externalId', 'updatedAt']

/** By which a row without an externalId is found that was changed since: what never changes of it. */
export function originOf({ fields }: Kind, row: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(fields).filter((name) => fields[name]?.access === 'create')
  return JSON.stringify([row.createdAt, ...names.map((name) => row[name])])
}

/** Count and digest of texts, as a checkpoint has them (specification 7.8). */
export class Sum {
  #count = 0
  #sum = 0n

  take(text: string, times: 1 | -1 = 1): void {
    this.takeTerm(termOf(text), times)
  }

  takeTerm(term: string, times: 1 | -1 = 1): void {
    this.#count += times
    this.#sum = BigInt.asUintN(64, this.#sum + BigInt(times) * BigInt(`0x${term}`))
  }

  get count(): number {
    return this.#count
  }

  get digest(): string {
    return this.#sum.toString(16).padStart(16, '0')
  }
}

/** The first eight bytes of SHA-256, in hexadecimal digits. */
export function termOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16)
}
