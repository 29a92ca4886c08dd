/** What the journal knows of a kind's table, in addition to the columns of each stream table. */

interface StreamColumn {
  readonly name: string
  readonly type: string
}

export interface StreamReference {
  readonly field: string
  readonly column: StreamColumn
  /** The kind referred to. */
  readonly kind: string
  /** What the removal of the row referred to does (`kernel/fields/field.ts`). */
  readonly onRemove: 'remove' | 'detach' | 'clear'
  readonly condition?: { readonly column: string; readonly otherwise: string }
  /** A JSON pointer into the field's value, where the reference is nested. */
  readonly within?: string
  readonly inPlace?: boolean
  readonly changeable?: { readonly column: string; readonly values: readonly string[] }
}

export interface StreamTable {
  readonly kind: string
  readonly name: string
  /** The version of the representations that are written, from 1. Earlier rows stay until they are rewritten. */
  readonly version: number
  readonly columns: readonly StreamColumn[]
  /** With search documents, in the table `<name>_words`. */
  readonly searchable: boolean
  readonly unique: readonly { readonly field: string; readonly column: StreamColumn }[]
  readonly references: readonly StreamReference[]
  /** A number per organization, assigned when the row is created. */
  readonly sequence: { readonly field: string; readonly column: string } | null
  /** Rows that take a time of an owner, while `state` is one of `taking`. The end is a field of the body. */
  readonly periods: {
    readonly owner: string
    readonly starts: string
    readonly ends: string
    readonly state: string
    readonly taking: readonly string[]
  } | null
  /** Null: rows of this table are never removed. */
  readonly removedEvent: string | null
  /** A row can be removed with every row that refers to it. */
  readonly isErasable: boolean
  /** Its rows can be actors of changes. */
  readonly canAct: boolean
}

/** The kinds whose objects a removal of this kind removes or detaches, however many. */
export function dependentsOf(tables: readonly StreamTable[], removed: string): readonly StreamTable[] {
  return tables.filter(({ references }) => references.some(({ kind }) => kind === removed))
}
