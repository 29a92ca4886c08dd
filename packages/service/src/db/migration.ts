import { createHash } from 'node:crypto'
import type { Client } from 'pg'

/**
 * A function of the database that a version of the code calls. Its name carries a hash of its text, so processes of
 * two releases can share a database during a rollout.
 */
export interface SchemaFunction {
  readonly name: string
  /** `create or replace function …`, one statement. */
  readonly definition: string
}

/** What a database must hold for a version of the code to run on it. */
export interface Schema {
  readonly migrations: readonly Migration[]
  readonly functions: readonly SchemaFunction[]
}

/** Migrations that a database or a backup has had, and that this version does not know. */
interface UnknownMigrations {
  readonly ids: readonly string[]
  /** One of them is from before the baseline, which is the first migration since the first release. */
  readonly areUnreleased: boolean
}

/** Those of the applied migrations that the schema does not know; null when it knows all. */
export function unknownMigrations(
  { migrations }: { readonly migrations: readonly { readonly id: string }[] },
  applied: Iterable<string>,
): UnknownMigrations | null {
  const known = migrations.map(({ id }) => id).sort()
  const ids = [...applied].filter((id) => !known.includes(id))
  const [baseline = ''] = known
  return ids.length === 0 ? null : { ids, areUnreleased: ids.some((id) => id < baseline) }
}

/** What to do with a database that was made before the first release. */
export const unreleasedAdvice =
  'export what it holds with the version that made it (deskwire export), or start with an empty database'

/** A plpgsql function with these arguments, named after its purpose and its text. `settings` hold while it runs. */
export function schemaFunction(
  purpose: string,
  signature: {
    readonly arguments: string
    readonly returns: string
    readonly settings?: Readonly<Record<string, string>>
  },
  body: string,
): SchemaFunction {
  const settings = Object.entries(signature.settings ?? {}).map(([name, value]) => ` set ${name} = ${value}`)
  const hash = createHash('sha256').update(signature.arguments).update(signature.returns).update(body)
  const name = `${purpose}_${hash.update(settings.join('')).digest('hex').slice(0, 12)}`
  const definition = `create or replace function ${name}(${signature.arguments}) returns ${signature.returns}
language plpgsql volatile${settings.join('')} as $function$
${body}
$function$`
  return { name, definition }
}

/**
 * One step of the schema, applied once and never edited after a release. Processes of the release before write meanwhile, and
 * none of them may be held up for more than a second, however many rows there are (decision 58). So a step that locks a table, or
 * writes rows that they write too, reads few; what has to read many does it in pieces.
 */
export interface Migration {
  /** Sorts by time of writing: `20261120-01-customers`. */
  readonly id: string
  /** One statement each, all in one transaction: servers that shard take one DDL statement a query. */
  readonly statements: readonly string[]
  /** What goes before, for what takes long. */
  readonly gradually?: Gradually
}

/** From the `next` of the piece before to its own. */
export type PieceOfWork = (client: Pick<Client, 'query'>, next: string | null) => Promise<string | null>

/** Work in many transactions before a migration's own. Broken off anywhere it begins anew, so all of it can be repeated. */
export interface Gradually {
  /** What the pieces need, in a transaction of its own. */
  readonly prepare?: readonly string[]
  /**
   * Does a piece, in a transaction of its own: `$1` is the text `next` that the piece before answered, null for the first. It answers
   * one row, whose `next` is null when there is no more to do. What SQL cannot do is a function, whose every statement is a transaction.
   */
  readonly piece?: string | PieceOfWork
  /** Outside of any transaction, each `concurrently`: what was broken off left something invalid, which goes first. */
  readonly indexes?: readonly string[]
}
