/**
 * What the journal needs to know of a kind: the shape of its table. It has no idea what a ticket is.
 *
 * Beside its own columns each stream table has organization_id, id, created_at, updated_at, removed_at, body and
 * body_version.
 */

interface StreamColumn {
  readonly name: string
  readonly type: string
}

export interface StreamReference {
  /** The field as clients name it; a JSON pointer into it where the reference stands deeper. */
  readonly field: string
  readonly column: StreamColumn
  /** The kind referred to. */
  readonly kind: string
  /**
   * What happens in the commit that removes the row referred to. `remove`: the rows go with it. `detach`: they
   * stay, refer to nothing, and move in the stream. `keep`: nothing.
   */
  readonly onRemove: 'remove' | 'detach' | 'keep'
  readonly condition?: { readonly column: string; readonly otherwise: string }
}

export interface StreamTable {
  readonly kind: string
  readonly name: string
  /** Of the representations that are written, from 1. Rows of earlier versions stay as they are until they are written again. */
  readonly version: number
  readonly columns: readonly StreamColumn[]
  /** Whether rows are found by words and tags, which stand in a table of their own: `<name>_words`. */
  readonly searchable: boolean
  readonly unique: readonly { readonly field: string; readonly column: StreamColumn }[]
  readonly references: readonly StreamReference[]
  /** A number per organization, given when the row is created. */
  readonly sequence: { readonly field: string; readonly column: string } | null
  /** Null: rows of this table are never removed. */
  readonly removedEvent: string | null
}

/** The kinds that a removal of this kind reaches: it removes or detaches objects of them, however many. */
export function dependentsOf(tables: readonly StreamTable[], removed: string): readonly string[] {
  const reached = tables.filter(({ references }) =>
    references.some(({ kind, onRemove }) => kind === removed && onRemove !== 'keep'),
  )
  return reached.map(({ kind }) => kind)
}
