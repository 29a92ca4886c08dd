/** Failures of a database that whoever runs the service can mend, in one line each. */
import { DatabaseError } from 'pg'
import { DatabasesError, databasesSetting } from './databases.ts'
import { PoolerError } from './pooler.ts'

/** What a statement or a connection fails with: of PostgreSQL, of the system, of pg, or of TLS. */
type Failure = Error & { readonly code?: string; readonly syscall?: string; readonly path?: string }

const url = 'DESKWIRE_DATABASE_URL'

/**
 * What is wrong and what to set, in one line; null for what nobody who runs the service can cause.
 * The line says nothing secret: a URL's password stands in no message of PostgreSQL or pg.
 */
export function explainDatabaseFailure(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  if (error instanceof PoolerError || error instanceof DatabasesError) return error.message
  const failure = error as Failure
  const advice = adviceOf(failure)
  // Of several addresses that were tried, each has a message of its own and all together have none.
  const what = (failure.message || failure.code || failure.name).split('\n', 1)[0]
  return advice === null ? null : `the database cannot be used: ${what}; ${advice}`
}

/** The same of a database that has a name: in the words of the setting that names it. */
export function explainFailureOf(database: string, error: unknown): string | null {
  const named = `the URL of ${database} in ${databasesSetting}`
  return (
    explainDatabaseFailure(error)
      ?.replaceAll(url, named)
      .replace(/^the database/, `the database ${database}`) ?? null
  )
}

function adviceOf({ code = '', syscall, message, path }: Failure): string | null {
  // A file's failure says which file.
  if (path !== undefined) return null
  if (syscall === 'connect' || syscall === 'getaddrinfo' || /^E[A-Z]+$/.test(code))
    return `see that its server runs and can be reached, and that ${url} names it`
  if (
    /^(timeout exceeded when trying to connect|timeout expired|Connection terminated|Client has encountered a connection error|Query read timeout)/.test(
      message,
    )
  )
    return `see that a PostgreSQL answers at the address in ${url}`
  if (message.startsWith('SASL:')) return `check the user and the password in ${url}`
  if (
    /SSL|certificate/i.test(message) ||
    /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_|SELF_SIGNED|UNABLE_TO)/.test(code)
  )
    return `check sslmode and sslrootcert in ${url}`
  for (const [pattern, advice] of states) if (pattern.test(code)) return advice
  return null
}

/** By SQLSTATE. */
const states: readonly (readonly [RegExp, string])[] = [
  [/^28/, `check the user and the password in ${url}, and what the server's pg_hba.conf allows`],
  [/^3D000$/, `make it (create database …), or name another in ${url}`],
  [
    /^(42501|3F000)$/,
    `the role in ${url} has to own the database, or be granted usage and create on its schema, and own what stands in it`,
  ],
  [
    /^25006$/,
    `it is a standby, or set to be read only: name the primary in ${url}, with a role that may write`,
  ],
  [
    /^08/,
    `see that ${url} names a PostgreSQL; where it is a pooler, set DESKWIRE_DATABASE_DIRECT_URL to the PostgreSQL behind it`,
  ],
  [/^53300$/, 'raise max_connections of the server, or run fewer processes'],
  [/^53[12]00$/, "make room on the server's disk, or give it more memory"],
  [/^57P0[123]$/, 'it is starting or stopping: start the service again when it is up'],
]

/** PostgreSQL's lock_not_available. The statement has done nothing. */
export function isHeldElsewhere(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code === '55P03'
}

/** Whether a statement or a lock took too long, or the server is short of something. */
export function ranOut({ code }: DatabaseError): boolean {
  return /^(57014|55P03|53)/.test(code ?? '')
}

/**
 * Whether the database said that the statement did not take effect. A lost connection says nothing: it may have
 * committed, and running it again could commit it twice.
 */
export function rolledBack(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && !/^(08|57P|58|XX)/.test(error.code ?? 'XX')
}
