/**
 * Prepared statements that return PostgreSQL's text, without the row description that both sides would process. For
 * every request.
 */
import type { Connection, Submittable } from 'pg'
import { keepsSession, type LocalSettings, noteIncomplete, sendLocalSettings } from './client.ts'
import type { Queryable } from './pool.ts'

export interface PreparedStatement {
  /** Connections cache the prepared statement by name, so each name must have one text. */
  readonly name: string
  readonly text: string
}

/** PostgreSQL parses a string as the parameter's type, and uses bytes as they are. */
export type Parameter = string | Buffer | null

/** An array parameter. Unless the connection uses generic plans, the statement must use it as a `hiddenArray`. */
export function arrayParameter(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map((value) => (typeof value === 'string' ? quoted(value) : String(value))).join()}}`
}

/** Few strings need escaping, and testing is faster than replacing nothing. */
function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
}

/**
 * An array parameter whose length the planner cannot see; otherwise it finds custom plans cheaper and plans every call.
 */
export function hiddenArray(parameter: string, type: string): string {
  return `(select ${parameter}::${type}[])::${type}[]`
}

/** A time column as whole milliseconds since the Unix epoch. */
export function milliseconds(time: string): string {
  return `floor(extract(epoch from ${time}) * 1000)::bigint`
}

/** The columns of a row, in the statement's order. */
export type TextRow = readonly (string | null)[]

type TextAsk = readonly [statement: PreparedStatement, values: readonly Parameter[]]

/** The statement's rows, from any connection of the pool. Rejects as `pool.query` does. */
export async function queryText(
  pool: Queryable,
  statement: PreparedStatement,
  values: readonly Parameter[],
): Promise<readonly TextRow[]> {
  const [rows = []] = await sent(pool, new TextQuery(() => [[statement, values]], statement))
  return rows
}

/**
 * The rows of each of these statements, which are built when a connection is available. They are sent in one message,
 * which is one transaction, and run in their order, each with a snapshot of its own.
 */
export function queryTextsWhenSent(
  pool: Queryable,
  ask: () => readonly TextAsk[],
): Promise<readonly (readonly TextRow[])[]> {
  return sent(pool, new TextQuery(ask))
}

/** With a time limit in milliseconds for this statement only; `too_long` when the limit ended it. */
export async function queryTextWithin(
  pool: Queryable,
  timeout: number,
  text: string,
  values: readonly Parameter[],
): Promise<readonly TextRow[] | 'too_long'> {
  const limit = { statement_timeout: String(timeout) }
  try {
    const query = new TextQuery(() => [[{ name: '', text }, values]], { name: '', text }, limit)
    const [rows = []] = await sent(pool, query)
    return rows
  } catch (error) {
    if ((error as { code?: string }).code === queryCanceled) return 'too_long'
    throw error
  }
}

const queryCanceled = '57014'

async function sent(pool: Queryable, query: Submittable): Promise<readonly (readonly TextRow[])[]> {
  // Typed to return its argument, as a client does; a pool returns a promise of the callback's value.
  return pool.query(query) as unknown as Promise<readonly (readonly TextRow[])[]>
}

/** Members that pg's types leave out: the statements prepared on this connection, by name. */
interface PreparingConnection extends Connection {
  readonly parsedStatements: Readonly<Record<string, string>>
}

/** Implements the interface between pg's clients and queries. */
class TextQuery implements Submittable {
  /** Of the statement whose responses come: the client caches prepared statements by these properties. */
  name: string
  text: string
  /** Set by the client. */
  callback: ((error: Error | null, rows?: readonly (readonly TextRow[])[]) => void) | undefined
  readonly #ask: () => readonly TextAsk[]
  readonly #settings: LocalSettings
  /** Responses to the settings are skipped. */
  #settingsToCome = false
  #statements: readonly PreparedStatement[] = []
  #rows: TextRow[] = []
  #isComplete = false
  /** The rows of each statement, up to the one whose responses come. */
  readonly #results: TextRow[][] = [this.#rows]

  constructor(
    ask: () => readonly TextAsk[],
    { name, text }: PreparedStatement = { name: '', text: '' },
    settings: LocalSettings = {},
  ) {
    this.#ask = ask
    this.#settings = settings
    this.name = name
    this.text = text
  }

  /** Returns an error instead of throwing it: the client passes it to `handleError`. */
  submit(connection: Connection): Error | null {
    const isKept = keepsSession(connection)
    const asks = this.#ask()
    this.#statements = asks.map(([{ name, text }]) => ({ name: isKept ? name : '', text }))
    this.#begin(0)
    const { parsedStatements } = connection as PreparingConnection
    const other = this.#statements.find(({ name, text }) => (parsedStatements[name] ?? text) !== text)
    if (other !== undefined) return new Error(`two statements are named ${other.name}`)
    connection.stream.cork()
    this.#settingsToCome = sendLocalSettings(connection, this.#settings)
    for (const [n, { name, text }] of this.#statements.entries()) {
      if (parsedStatements[name] === undefined) connection.parse({ name, text, types: [] }, true)
      connection.bind({ statement: name, values: [...(asks[n] as TextAsk)[1]] }, true)
      connection.execute(null, true)
    }
    connection.sync()
    connection.stream.uncork()
    return null
  }

  #begin(n: number): void {
    const { name, text } = this.#statements[n] as PreparedStatement
    this.name = name
    this.text = text
  }

  handleDataRow({ fields }: { readonly fields: TextRow }): void {
    if (!this.#settingsToCome) this.#rows.push(fields)
  }

  handleReadyForQuery(): void {
    this.callback?.(null, this.#results)
  }

  handleError(error: Error, connection: Connection): void {
    if (!this.#isComplete) noteIncomplete(error, connection)
    this.callback?.(error)
  }

  handleCommandComplete(): void {
    const ended = this.#results.length
    if (this.#settingsToCome) this.#settingsToCome = false
    else if (ended < this.#statements.length) {
      this.#begin(ended)
      this.#rows = []
      this.#results.push(this.#rows)
    } else this.#isComplete = true
  }

  // Ignores descriptions: the statement did not request one.
  handleRowDescription(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}
