/**
 * Settings for a single statement, sent with it in one message, which is one transaction: no round trip, and nothing stays in the session.
 * So they work through a pooler in transaction mode. Clients of such a pool send all settings this way, and use unnamed statements
 * (decision 55).
 */
import { Client, type Connection, Query, type QueryConfig } from 'pg'
import { allowStatements } from './silence.ts'

export type LocalSettings = Readonly<Record<string, string>>

/** For each connection without a session: the settings to send with its next statement. */
const withoutSession = new WeakMap<Connection, () => LocalSettings>()

/** Whether later statements can use what earlier ones prepared or set. */
export function keepsSession(connection: Connection): boolean {
  return !withoutSession.has(connection)
}

/** Sends settings for the next statement, within its message. Returns whether there were any. */
export function sendLocalSettings(connection: Connection, own: LocalSettings = {}): boolean {
  const settings = Object.entries({ ...withoutSession.get(connection)?.(), ...own })
  if (settings.length === 0) return false
  const calls = settings.map((_, n) => `set_config($${2 * n + 1}, $${2 * n + 2}, true)`)
  connection.parse({ name: '', text: `select ${calls.join(', ')}`, types: [] }, true)
  connection.bind({ statement: '', values: settings.flat() }, true)
  connection.execute(null, true)
  return true
}

interface InsideOfQuery {
  name?: string | undefined
  prepare(connection: Connection): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: Connection): void
}
const OpenQuery = Query as unknown as new (
  config: string | QueryConfig,
  values?: unknown,
) => Query & InsideOfQuery

/** pg's query, with settings for it alone; `own` override those of the connection. */
export class QueryWithSettings extends OpenQuery {
  readonly #own: LocalSettings
  #settingsToCome = false

  constructor(config: string | QueryConfig, values?: unknown, own: LocalSettings = {}) {
    super(config, values)
    this.#own = own
  }

  requiresPreparation(): boolean {
    return true
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
    else super.handleCommandComplete(message, connection)
  }
}

/** Members that pg's types leave out of a client. */
interface InsideOfClient {
  readonly connection: Connection
  getStartupConf(): Readonly<Record<string, string>>
}
const OpenClient = Client as unknown as new (
  ...config: never[]
) => Omit<Client, 'query'> & InsideOfClient & { query(...asked: unknown[]): unknown }

/** Startup parameters that poolers accept; they refuse all others. */
const acceptedByPoolers = ['user', 'database', 'application_name', 'client_encoding', 'replication']

/** A client for connections without a session; `settingsOf` returns the settings of each transaction. */
export function clientWithoutSession(settingsOf: (client: object) => LocalSettings): typeof Client {
  class ClientWithoutSession extends OpenClient {
    constructor(...config: never[]) {
      super(...config)
      // Inside a transaction the settings are already sent; after a failed one nothing can be sent.
      withoutSession.set(this.connection, () => (this.getTransactionStatus() === 'I' ? settingsOf(this) : {}))
    }

    override getStartupConf(): Readonly<Record<string, string>> {
      const all = Object.entries(super.getStartupConf())
      return Object.fromEntries(all.filter(([name]) => acceptedByPoolers.includes(name)))
    }

    override query(config: unknown, ...rest: unknown[]): unknown {
      if (typeof (config as { submit?: unknown }).submit === 'function') return super.query(config, ...rest)
      const callback = rest.find((one) => typeof one === 'function') as
        | ((...a: unknown[]) => void)
        | undefined
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
  return ClientWithoutSession as unknown as typeof Client
}
