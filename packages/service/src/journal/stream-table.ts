/**
 * What the journal knows of a kind: the shape of its table. In addition to its own columns each stream table has
 * organization_id, id, created_at, updated_at, removed_at, body and body_version.
 */

interface StreamColumn {
  readonly name: string
  readonly type: string
}

export interface StreamReference {
  /** The field, or a JSON pointer into it where the reference is nested. */
  readonly field: string
  readonly column: StreamColumn
  /** The kind referred to. */
  readonly kind: string
  /**
   * What the commit that removes the row referred to does. `remove`: it removes these rows too. `detach`: it removes the
   * reference, and the rows move in the stream. `keep`: nothing.
   */
  readonly onRemove: 'remove' | 'detach' | 'keep'
  readonly condition?: { readonly column: string; readonly otherwise: string }
}

export interface StreamTable {
  readonly kind: string
  readonly name: string
  /**
   * The version of the representations that are written, from 1. Rows of earlier versions stay until they are written
   * again.
   */
  readonly version: number
  readonly columns: readonly StreamColumn[]
  /** Whether rows have search documents, in the table `<name>_words`. */
  readonly searchable: boolean
  readonly unique: readonly { readonly field: string; readonly column: StreamColumn }[]
  readonly references: readonly StreamReference[]
  /** A number per organization, assigned when the row is created. */
  readonly sequence: { readonly field: string; readonly column: string } | null
  /** Null: rows of this table are never removed. */
  readonly removedEvent: string | null
}

/** The kinds whose objects a removal of this kind removes or detaches, however many. */
export function dependentsOf(tables: readonly StreamTable[], removed: string): readonly string[] {
  const reached = tables.filter(({ references }) =>
    references.some(({ kind, onRemove }) => kind === removed && onRemove !== 'keep'),
  )
  return reached.map(({ kind }) => kind)
}
