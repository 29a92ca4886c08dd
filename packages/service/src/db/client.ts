/**
 * A connection to PostgreSQL: the settings that it begins with, and whether a statement that failed on it can have
 * committed.
 */
import type { Socket } from 'node:net'
import { Client, type Connection, DatabaseError, type Pool, Query, type QueryConfig } from 'pg'

export type LocalSettings = Readonly<Record<string, string>>

/**
 * What the code relies on, whatever server, database and role default to: formats of values, reading what was committed
 * before each statement, no limits but those that it sets itself, and whole results. `doctor` compares. Names that a
 * server does not know are passed over.
 * `default_transaction_read_only` is not one of them: an operator or provider means it.
 */
export const reliedOn: LocalSettings = {
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  default_transaction_isolation: 'read committed',
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
  gin_fuzzy_search_limit: '0',
  exit_on_error: 'off',
}

/** Sets those of `$1`, a JSON object, that differ: for the session or, if `$2`, for the transaction. */
const setStatement = `select set_config(s.key, s.value, $2::text::boolean) from jsonb_each_text($1::jsonb) as s
  where current_setting(s.key, true) <> s.value`

/**
 * What a session lacks of that; `session_replication_role` too, which takes a superuser, and without which the database
 * skips its triggers.
 */
export async function differingSettings(
  pool: Pick<Pool, 'query'>,
): Promise<readonly { readonly name: string; readonly value: string; readonly needed: string }[]> {
  const { rows } = await pool.query<{ name: string; value: string; needed: string }>(
    `select s.key as name, current_setting(s.key, true) as value, s.value as needed from jsonb_each_text($1::jsonb) as s
       where current_setting(s.key, true) <> s.value`,
    [JSON.stringify({ ...reliedOn, session_replication_role: 'origin' })],
  )
  return rows
}

/** Of each connection. */
interface ConnectionState {
  /** To send with the next statement; none with a session, which keeps them. */
  readonly settings: () => LocalSettings
  readonly keepsSession: boolean
  /** Whether a transaction block is open. */
  readonly isInBlock: () => boolean
}

const states = new WeakMap<Connection, ConnectionState>()

/** Whether later statements can use what earlier ones prepared or set. */
export function keepsSession(connection: Connection): boolean {
  return states.get(connection)?.keepsSession !== false
}

/**
 * Sends settings for the next statement alone, within its message, which is one transaction: no round trip, and nothing
 * stays in the session, so this works through a pooler in transaction mode (decision 55). Returns whether there were
 * any.
 */
export function sendLocalSettings(connection: Connection, own: LocalSettings = {}): boolean {
  const settings = { ...states.get(connection)?.settings(), ...own }
  if (Object.keys(settings).length === 0) return false
  connection.parse({ name: '', text: setStatement, types: [] }, true)
  connection.bind({ statement: '', values: [JSON.stringify(settings), 'true'] }, true)
  connection.execute(null, true)
  return true
}

/**
 * Errors whose statement was never sent, and those whose statement cannot have committed although its connection is
 * lost.
 */
const effects = new WeakMap<Error, 'unsent' | 'uncommitted'>()

export function knownEffect(error: Error): 'unsent' | 'uncommitted' | undefined {
  return effects.get(error)
}

/**
 * Notes the error of a statement that is not complete. If the server reported it, nothing was committed: the server
 * commits only afterwards, and reports in this order, even if it ends the connection with the error. If the message
 * could not be written, its end never arrived; TLS also writes by itself.
 */
export function noteIncomplete(error: Error & { readonly syscall?: string }, connection: Connection): void {
  const isUnwritten = error.syscall === 'write' && !('encrypted' in connection.stream)
  if (error instanceof DatabaseError || isUnwritten) effects.set(error, 'uncommitted')
}

/** For the failure of a statement that only reads, before its request writes anything. */
export function onlyRead(error: Error): never {
  effects.set(error, 'uncommitted')
  throw error
}

/** Milliseconds after the statement timeout. */
const silenceAfterwards = 2_000

/** Sets the assumed statement timeout of this connection until it is released, in milliseconds; 0: none. */
export function allowStatements(client: object, milliseconds: number): void {
  const { stream } = (client as { readonly connection: { readonly stream: Socket } }).connection
  const allowed = milliseconds === 0 ? 0 : milliseconds + silenceAfterwards
  // Each byte restarts the timer.
  if (stream.timeout !== allowed) stream.setTimeout(allowed)
}

interface InsideOfQuery {
  name?: string | undefined
  readonly text: string
  requiresPreparation(): boolean
  submit(connection: Connection): Error | null
  prepare(connection: Connection): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: Connection): void
  handleError(error: Error, connection: Connection): void
}
const OpenQuery = Query as unknown as new (
  config: string | QueryConfig,
  values?: unknown,
) => Omit<Query, 'submit'> & InsideOfQuery

/** pg's query, with settings for it alone; `own` override those of the connection. */
export class QueryWithSettings extends OpenQuery {
  readonly #own: LocalSettings
  #state: ConnectionState | undefined
  #isSent = false
  #wasInBlock = false
  #settingsToCome = false
  #isComplete = false

  constructor(config: string | QueryConfig, values?: unknown, own: LocalSettings = {}) {
    super(config, values)
    this.#own = own
  }

  override submit(connection: Connection): Error | null {
    this.#state = states.get(connection)
    this.#isSent = true
    this.#wasInBlock = this.#state?.isInBlock() === true
    return super.submit(connection)
  }

  override requiresPreparation(): boolean {
    const sends = this.#state?.keepsSession === false || Object.keys(this.#own).length > 0
    return sends || super.requiresPreparation()
  }

  override prepare(connection: Connection): void {
    if (!keepsSession(connection)) this.name = undefined
    const { statement_timeout: timeout } = this.#own
    if (timeout !== undefined) allowStatements({ connection }, Number(timeout))
    this.#settingsToCome = sendLocalSettings(connection, this.#own)
    super.prepare(connection)
  }

  override handleDataRow(message: unknown): void {
    if (!this.#settingsToCome) super.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.#settingsToCome) this.#settingsToCome = false
    else {
      this.#isComplete = true
      super.handleCommandComplete(message, connection)
    }
  }

  override handleError(error: Error, connection: Connection): void {
    const isBlocks = this.#wasInBlock && !/^\s*(commit|end)\b/i.test(this.text)
    if (this.#isSent && (isBlocks || /^\s*begin\b/i.test(this.text))) effects.set(error, 'uncommitted')
    // A statement without parameters goes by the simple protocol, which commits before it says that the statement is
    // complete.
    else if (!this.#isComplete && (this.requiresPreparation() || !(error instanceof DatabaseError)))
      noteIncomplete(error, connection)
    super.handleError(error, connection)
  }
}

type Callback = (error: Error | null, result?: unknown) => void

/** Members that pg's types leave out of a client. */
interface InsideOfClient {
  readonly connection: Connection
  getStartupConf(): Readonly<Record<string, string>>
  connect(callback: (error: Error | null) => void): void
}
const OpenClient = Client as unknown as new (
  ...config: never[]
) => Omit<Client, 'query' | 'connect'> & InsideOfClient & { query(...args: unknown[]): unknown }

/** Startup parameters that poolers accept; they refuse all others. */
const acceptedByPoolers = ['user', 'database', 'application_name', 'client_encoding', 'replication']
/** pg would send them as startup parameters, which a pooler in session mode refuses. */
const limits = ['statement_timeout', 'idle_in_transaction_session_timeout']

/**
 * A client that sets what the code relies on, the time limits of its configuration and `settings` as it connects or,
 * without a session, with each transaction.
 */
export function clientWith(settings: LocalSettings = {}, hasSession = true): typeof Client {
  class DatabaseClient extends OpenClient {
    constructor(...config: never[]) {
      super(...config)
      // Without a listener, the error of a connection that breaks between statements would end the process.
      this.on('error', () => {})
      states.set(this.connection, {
        keepsSession: hasSession,
        // Inside a transaction the settings are already sent; after a failed one nothing can be sent.
        settings: () => (hasSession || this.getTransactionStatus() !== 'I' ? {} : this.#settings),
        isInBlock: () => /[TE]/.test(this.getTransactionStatus() ?? ''),
      })
    }

    get #settings(): LocalSettings {
      const own = Object.entries(super.getStartupConf()).filter(([name]) => limits.includes(name))
      return { ...Object.fromEntries(own), ...reliedOn, ...settings }
    }

    override getStartupConf(): Readonly<Record<string, string>> {
      const isSent = (name: string) =>
        hasSession ? !limits.includes(name) : acceptedByPoolers.includes(name)
      return Object.fromEntries(Object.entries(super.getStartupConf()).filter(([name]) => isSent(name)))
    }

    override connect(callback?: (error: Error | null) => void): Promise<void> {
      const connected = this.#connect().catch((error: Error) => {
        effects.set(error, 'unsent')
        throw error
      })
      if (callback === undefined) return connected
      return connected.then(() => callback(null), callback)
    }

    async #connect(): Promise<void> {
      await new Promise<void>((resolve, reject) =>
        super.connect((error) => (error ? reject(error) : resolve())),
      )
      if (!hasSession) return
      try {
        await this.query(setStatement, [JSON.stringify(this.#settings), 'false'])
      } catch (error) {
        this.end().catch(() => {})
        throw error
      }
    }

    override query(config: unknown, ...rest: unknown[]): unknown {
      if (typeof (config as { submit?: unknown }).submit === 'function') return super.query(config, ...rest)
      const callback = rest.find((one) => typeof one === 'function') as Callback | undefined
      const values = Array.isArray(rest[0]) ? rest[0] : undefined
      const query = new QueryWithSettings(config as string | QueryConfig, values)
      if (callback !== undefined) return super.query(query, callback)
      return new Promise((resolve, reject) =>
        super.query(query, (error: Error | null, result: unknown) =>
          error ? reject(error) : resolve(result),
        ),
      )
    }
  }
  return DatabaseClient as unknown as typeof Client
}
