import type { Client } from 'pg'

/**
 * A function or type of this version. Its name has a hash of its text, so processes of two releases can share a
 * database.
 */
export interface SchemaFunction {
  readonly name: string
  /** `create or replace function …` or `create type …`, one statement. */
  readonly definition: string
}

export interface Schema {
  readonly migrations: readonly Migration[]
  readonly functions: readonly SchemaFunction[]
}

interface UnknownMigrations {
  readonly ids: readonly string[]
  /** Whether one of them is older than the baseline, the first released migration. */
  readonly areUnreleased: boolean
}

/** The applied migrations that the schema does not know; null when it knows all. */
export function unknownMigrations(
  { migrations }: { readonly migrations: readonly { readonly id: string }[] },
  applied: Iterable<string>,
): UnknownMigrations | null {
  const known = migrations.map(({ id }) => id).sort()
  const ids = [...applied].filter((id) => !known.includes(id))
  const [baseline = ''] = known
  return ids.length === 0 ? null : { ids, areUnreleased: ids.some((id) => id < baseline) }
}

export const unreleasedAdvice =
  'export what it holds with the version that made it (deskwire export), or start with an empty database'

/**
 * One step of the schema: applied once, never edited after a release. Processes of the previous release keep writing
 * meanwhile and must not wait for more than a second (decision 58), so a step that locks a table or rows must touch few
 * rows; a step that reads many works in pieces.
 */
export interface Migration {
  /** Sorts by time of writing: `20261120-01-customers`. */
  readonly id: string
  /** One statement each, all in one transaction: servers that shard take one DDL statement a query. */
  readonly statements: readonly string[]
  /** Work before the statements that takes long. */
  readonly gradually?: Gradually
}

/** Takes the previous piece's `next` and returns its own. */
export type PieceOfWork = (client: Pick<Client, 'query'>, next: string | null) => Promise<string | null>

/**
 * Work in many transactions before the migration itself. It starts again after an interruption, so it must be
 * repeatable.
 */
export interface Gradually {
  /** Statements that the pieces need, in one transaction. */
  readonly prepare?: readonly string[]
  /**
   * One transaction: `$1` is the previous piece's `next`, null at first; returns one row, whose `next` is null at the
   * end. A function is for work that SQL cannot do; each of its statements is a transaction.
   */
  readonly piece?: string | PieceOfWork
  /** Outside transactions (`buildIndex`). */
  readonly indexes?: readonly string[]
}

/**
 * Builds an index without holding writers up, after dropping what an interruption has left of it. `on`: the table, its
 * columns in brackets, and a condition if there is one.
 */
export function buildIndex(name: string, on: string, unique = false): readonly string[] {
  return [
    `drop index concurrently if exists ${name}`,
    `create ${unique ? 'unique ' : ''}index concurrently ${name} on ${on}`,
  ]
}
