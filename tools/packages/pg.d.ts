/**
 * What published declarations say of pg, which has none of its own: whoever compiles a program with them needs nothing else
 * installed. The pools and errors of pg, as DefinitelyTyped describes them, are of these types.
 */

export interface QueryConfig {
  readonly text: string
  readonly values?: readonly unknown[]
  readonly name?: string
}

// biome-ignore lint/suspicious/noExplicitAny: what a column holds is known to whoever wrote the statement
export type QueryResultRow = Record<string, any>

// biome-ignore lint/suspicious/noExplicitAny: as above
export interface QueryResult<R = any> {
  readonly rows: R[]
  readonly rowCount: number | null
}

/** What a client writes to and reads from: its own affair. */
export type Connection = object

/** A statement under way. */
export declare class Query {
  readonly text: string
}

export declare class Client {
  query(statement: string | QueryConfig, values?: unknown[]): Promise<QueryResult>
}

export interface PoolClient extends Client {
  /** Gives the connection back, or ends it. */
  release(destroy?: Error | boolean): void
}

/** Connections to one database: what `openDatabaseBeside` opens, or `new Pool` of pg. */
export interface Pool extends Client {
  connect(): Promise<PoolClient>
  end(): Promise<void>
}

export interface DatabaseError extends Error {
  /** PostgreSQL's code of five characters. */
  readonly code?: string | undefined
}
