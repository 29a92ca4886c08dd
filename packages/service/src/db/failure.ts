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
  if (syscall === 'connect' || syscall === 'getaddrinfo' || /^E(CONN|HOST|NET|PIPE|TIMEDOUT|ADDR)/.test(code))
    return `see that its server runs and can be reached, and that ${url} names it`
  if (
    /^(timeout exceeded when trying to connect|timeout expired|Connection terminated|Client has encountered a connection error|Query read timeout)/.test(
      message,
    )
  )
    return `see that a PostgreSQL answers at the address in ${url}`
  if (isPoolerWithoutServer({ code, message }))
    return 'the pooler answers and has no connection to its PostgreSQL: see that this runs, that the pooler can reach it, and what the log of the pooler says'
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

/** Whether the statement did not take effect for a reason of its own, so that a smaller one may. */
export function rolledBack(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && !/^(08|57P|58|XX)/.test(error.code ?? 'XX')
}

/**
 * What a failure says of a statement that was to commit. `unavailable`: nothing was changed, and it can be sent again; `none`: nothing
 * was changed; `unknown`: the connection was lost, so it may have committed, and running it again could commit it twice. Null of what
 * is no failure of a database.
 */
export function effectOf(error: unknown): 'unavailable' | 'none' | 'unknown' | null {
  if (!(error instanceof Error)) return null
  const { code = '', syscall, message, path, severity } = error as Failure & { readonly severity?: string }
  if (path !== undefined) return null
  if (unavailableStates.test(code) || isPoolerWithoutServer({ code, message })) return 'unavailable'
  if (error instanceof DatabaseError) {
    if (lostStates.test(code)) return 'unknown'
    // A server that ends the connection says FATAL or PANIC, in the language of its messages.
    if (!/^(58|XX)/.test(code)) return 'none'
    if (severity !== 'ERROR') return 'unknown'
    return code.startsWith('58') ? 'unavailable' : 'none'
  }
  if (lostStates.test(code) || syscall === 'read' || syscall === 'write' || lostMessages.has(message))
    return 'unknown'
  if (syscall === 'connect' || syscall === 'getaddrinfo' || unconnectedCodes.test(code)) return 'unavailable'
  return unconnectedMessages.has(message) ? 'unavailable' : null
}

/**
 * SQLSTATEs of what was refused before it began, or ended by the server: a refused connection or role (08001, 08004, 28, 3D000), a
 * standby (25006), a transaction or session that lasted too long (25P03, 25P04, 57P05), a conflict, a timeout, a shortage (53), a start (57P03).
 */
const unavailableStates =
  /^(08001|08004|28...|3D000|25006|25P03|25P04|40001|40P01|55P03|57014|57P03|57P05|53...)$/
/** Those of connections that end, perhaps after the commit. */
const lostStates = /^(08...|57P..)$/

/** The codes of connections that were never made, also where several addresses were tried. */
const unconnectedCodes =
  /^(ECONNREFUSED|ENOENT|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*|ERR_TLS_CERT_.*)$/
const unconnectedMessages = new Set([
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
])

/** What pg says of a statement whose connection ends without a word, and of the next one on it. */
const lostMessages = new Set([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
  'Query read timeout',
])

/** PgBouncer gives 08P01 for all that it says itself. These it says of clients that it has given no connection to a server. */
function isPoolerWithoutServer({
  code,
  message,
}: {
  readonly code?: string
  readonly message: string
}): boolean {
  return (
    code === '08P01' &&
    /server_login_retry|server login failed|cannot connect to server|query_wait_timeout|client_login_timeout|no more connections allowed/.test(
      message,
    )
  )
}
