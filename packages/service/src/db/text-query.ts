/**
 * Prepared statements whose columns come as the text that PostgreSQL writes: without names, types and the description
 * of them that both sides would make and read for every result. For what runs with every request (a tenth of the
 * service's processor time for a page of the stream, by its profile).
 */
import type { Connection, Submittable } from 'pg'
import { keepsSession, type LocalSettings, sendLocalSettings } from './local-settings.ts'
import type { Queryable } from './pool.ts'

export interface PreparedStatement {
  /** Connections remember by it what they have prepared: one name, one text. */
  readonly name: string
  readonly text: string
}

/** PostgreSQL reads a string as the text of the parameter's type, and bytes as they are. */
export type Parameter = string | Buffer | null

/** An array of such values. Unless the connection plans generically, it is to stand in the statement as a `hiddenArray`. */
export function arrayParameter(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map((value) => (typeof value === 'string' ? quoted(value) : String(value))).join()}}`
}

/** Hardly any has something to escape, and to replace nothing takes longer than to look. */
function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
}

/**
 * An array parameter whose length the planner does not see. Where it does, it takes each array to be cheaper than one
 * of any length, and plans the statement again for every call (measured for the look-up of a key: 0.22 ms of the
 * database's time, and 0.03 ms like this).
 */
export function hiddenArray(parameter: string, type: string): string {
  return `(select ${parameter}::${type}[])::${type}[]`
}

/** A time as a column of such a statement: milliseconds since the Unix epoch, without what is left of one. */
export function milliseconds(time: string): string {
  return `floor(extract(epoch from ${time}) * 1000)::bigint`
}

/** The columns of a row, in the statement's order. */
export type TextRow = readonly (string | null)[]

/** A statement and the values of its parameters. */
type TextAsk = readonly [statement: PreparedStatement, values: readonly Parameter[]]

/** The statement's rows, from any connection of the pool. Rejects as `pool.query` does. */
export function queryText(
  pool: Queryable,
  statement: PreparedStatement,
  values: readonly Parameter[],
): Promise<readonly TextRow[]> {
  return sent(pool, new TextQuery(() => [statement, values], statement))
}

/** The same for what is to be decided once there is a connection: whoever waits for one does so before. */
export function queryTextWhenSent(pool: Queryable, ask: () => TextAsk): Promise<readonly TextRow[]> {
  return sent(pool, new TextQuery(ask))
}

/**
 * The rows of a statement that may take so many milliseconds and no longer: `too_long` when it was ended because of them.
 * The limit holds for this statement alone (`local-settings.ts`). The server counts the time from where it is set.
 */
export async function queryTextWithin(
  pool: Queryable,
  timeout: number,
  text: string,
  values: readonly Parameter[],
): Promise<readonly TextRow[] | 'too_long'> {
  const limit = { statement_timeout: String(timeout) }
  try {
    return await sent(pool, new TextQuery(() => [{ name: '', text }, values], { name: '', text }, limit))
  } catch (error) {
    if ((error as { code?: string }).code === queryCanceled) return 'too_long'
    throw error
  }
}

const queryCanceled = '57014'

async function sent(pool: Queryable, query: Submittable): Promise<readonly TextRow[]> {
  // Declared to return what it is given, as a client does: a pool returns a promise of what that calls back with.
  return pool.query(query) as unknown as Promise<readonly TextRow[]>
}

/** What pg's declarations leave out: the texts that the server has prepared for this connection, by name. */
interface PreparingConnection extends Connection {
  readonly parsedStatements: Readonly<Record<string, string>>
}

/** Speaks to a connection and hears from its client as pg's own queries and cursors do. */
class TextQuery implements Submittable {
  name: string
  text: string
  /** Set by the client. */
  callback: ((error: Error | null, rows?: readonly TextRow[]) => void) | undefined
  readonly #ask: () => TextAsk
  /** Settings for it alone, beside those of the connection. */
  readonly #settings: LocalSettings
  /** What they answer is passed over. */
  #settingsToCome = false
  #rows: TextRow[] = []

  constructor(
    ask: () => TextAsk,
    { name, text }: PreparedStatement = { name: '', text: '' },
    settings: LocalSettings = {},
  ) {
    this.#ask = ask
    this.#settings = settings
    this.name = name
    this.text = text
  }

  /** Returns what is wrong instead of throwing it: the client hands it to `handleError`. */
  submit(connection: Connection): Error | null {
    const [{ name: known, text }, values] = this.#ask()
    const name = keepsSession(connection) ? known : ''
    // The client remembers by them what it has prepared.
    this.name = name
    this.text = text
    const { parsedStatements } = connection as PreparingConnection
    const prepared = parsedStatements[name]
    if (prepared !== undefined && prepared !== text) return new Error(`two statements are named ${name}`)
    connection.stream.cork()
    this.#settingsToCome = sendLocalSettings(connection, this.#settings)
    if (prepared === undefined) connection.parse({ name, text, types: [] }, true)
    connection.bind({ statement: name, values: [...values] }, true)
    connection.execute(null, true)
    connection.sync()
    connection.stream.uncork()
    return null
  }

  handleDataRow({ fields }: { readonly fields: TextRow }): void {
    if (!this.#settingsToCome) this.#rows.push(fields)
  }

  handleReadyForQuery(): void {
    this.callback?.(null, this.#rows)
  }

  handleError(error: Error): void {
    this.callback?.(error)
  }

  handleCommandComplete(): void {
    this.#settingsToCome = false
  }

  // Nothing to do for what a statement that was not described, and is read to its end, may still be told.
  handleRowDescription(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}
