/** What has come down the stream, as it is listed: the newest some thousands. */
import type { Change, Row } from '@deskwire/sdk'

export interface Entry {
  /** Its place in the stream since it was begun: 1 for the first. */
  readonly n: number
  readonly what: 'created' | 'changed' | 'removed'
  /** `ticket`. */
  readonly kind: string
  readonly id: string
  /** When it happened, as the service has it. */
  readonly at: string
  /** What people know it by. */
  readonly label: string
  /** The record as it came. */
  readonly record: unknown
}

export const kinds = ['customer', 'conversation', 'message', 'ticket', 'booking', 'teammate'] as const

/** Entries that are kept: those before them have gone by. */
const keptAtMost = 5000

export function entryOf(change: Change<Row>, n: number): Entry {
  if (change.type === 'removed') {
    const { id, resource, removedAt } = change
    const record = { object: 'removed', id, resource, removedAt }
    return { n, what: 'removed', kind: resource, id, at: removedAt, label: '', record }
  }
  const { row } = change
  return {
    n,
    what: row.createdAt === row.updatedAt ? 'created' : 'changed',
    kind: row.object,
    id: row.id,
    at: row.updatedAt,
    label: labelOf(row),
    record: row,
  }
}

/** A name, a subject, a title, some words, whichever it has. */
export function labelOf(row: Row): string {
  const fields = row as unknown as Record<string, unknown>
  for (const field of ['name', 'subject', 'title', 'body', 'email']) {
    const value = fields[field]
    if (typeof value === 'string' && value !== '') return value.slice(0, 120)
  }
  return ''
}

/** In the order of the stream; a new array, so that whoever holds the old one sees no change. */
export function withEntries(held: readonly Entry[], come: readonly Entry[]): readonly Entry[] {
  return [...held, ...come].slice(-keptAtMost)
}
