/** The entries of the list of changes. */

import type { Change, Row } from '@deskwire/sdk'
import { clipped } from '@deskwire/sdk/clipped'

export interface Entry {
  /** 1 for the first change since the start. */
  readonly n: number
  readonly what: 'created' | 'changed' | 'removed'
  readonly kind: string
  readonly id: string
  /** Its `updatedAt` or `removedAt`. */
  readonly at: string
  /** The name that people know it by. */
  readonly label: string
  readonly record: unknown
}

/** Older entries are dropped. */
const maxEntries = 5000

/** `isNew`: no change before it brought the row. Its times do not tell: an import keeps the time of creation. */
export function entryOf(change: Change<Row>, n: number, isNew: boolean): Entry {
  if (change.type === 'removed') {
    const { id, resource, removedAt } = change
    const record = { object: 'removed', id, resource, removedAt }
    return { n, what: 'removed', kind: resource, id, at: removedAt, label: '', record }
  }
  const { row } = change
  return {
    n,
    what: isNew ? 'created' : 'changed',
    kind: row.object,
    id: row.id,
    at: row.updatedAt,
    label: labelOf(row),
    record: row,
  }
}

/** A name, a subject, a title or some words. */
export function labelOf(row: Row): string {
  const fields = row as unknown as Record<string, unknown>
  for (const field of ['name', 'subject', 'title', 'body', 'email']) {
    const value = fields[field]
    if (typeof value === 'string' && value !== '') return clipped(value, 120)
  }
  return ''
}

/** In the order of the stream; a new array, as React compares arrays by identity. */
export function withEntries(known: readonly Entry[], added: readonly Entry[]): readonly Entry[] {
  return [...known, ...added].slice(-maxEntries)
}
