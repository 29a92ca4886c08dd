/** A function of the database that a version of the code calls, under a name that only this text has. */
export interface SchemaFunction {
  readonly name: string
  /** `create or replace function …`, one statement. */
  readonly definition: string
}

/** One step of the schema, applied once and never edited after a release. */
export interface Migration {
  /** Sorts by time of writing: `20261120-01-customers`. */
  readonly id: string
  /** One statement each: servers that shard take one DDL statement a query. */
  readonly statements: readonly string[]
}
