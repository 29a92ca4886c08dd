/** Explains database failures that the operator can fix, in one line each. */
import { DatabaseError } from 'pg'
import { knownEffect } from './client.ts'
import { DatabasesError, databasesSetting } from './databases.ts'
import { PoolerError } from './pooler.ts'

type Failure = Error & { readonly code?: string; readonly syscall?: string; readonly path?: string }

const url = 'DESKWIRE_DATABASE_URL'

/**
 * What is wrong and which setting to change; null for failures that no setting causes. Contains no password, as the
 * messages do not.
 */
export function explainDatabaseFailure(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  if (error instanceof PoolerError || error instanceof DatabasesError) return error.message
  const failure = error as Failure
  const advice = adviceOf(failure)
  // When several addresses were tried, each has its own message and the error itself has none.
  const what = (failure.message || failure.code || failure.name).split('\n', 1)[0]
  return advice === null ? null : `the database cannot be used: ${what}; ${advice}`
}

/** The same for one of several databases. */
export function explainFailureOf(database: string, error: unknown): string | null {
  const named = `the URL of ${database} in ${databasesSetting}`
  return (
    explainDatabaseFailure(error)
      ?.replaceAll(url, named)
      .replace(/^the database/, `the database ${database}`) ?? null
  )
}

function adviceOf({ code = '', syscall, message, path }: Failure): string | null {
  // Errors about files name the file themselves.
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
  if (/no encryption|SSL off|(?:SSL|TLS) (?:connection )?(?:is )?required/i.test(message))
    return `the server wants TLS: add sslmode=require to ${url}, with sslrootcert=FILE for an authority of your own`
  if (message.startsWith('SASL:')) return `check the user and the password in ${url}`
  if (
    /SSL|certificate/i.test(message) ||
    /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_|SELF_SIGNED|UNABLE_TO)/.test(code)
  )
    return `check sslmode and sslrootcert in ${url}`
  for (const [pattern, advice] of states) if (pattern.test(code)) return advice
  return null
}

const states: readonly (readonly [RegExp, string])[] = [
  [
    /^28/,
    `check the user and the password in ${url}, and what the server's pg_hba.conf allows; if it wants TLS, add sslmode=require`,
  ],
  [/^3D000$/, `make it (create database …), or name another in ${url}`],
  [
    /^(42501|3F000)$/,
    `the role in ${url} has to own the database, or be granted usage and create on its schema, and own what is in it`,
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
  [/^53[12]00$/, "free space on the server's disk, or give it more memory"],
  [/^57P0[123]$/, 'it is starting or stopping: start the service again when it is up'],
]

/** Whether the error is PostgreSQL's lock_not_available. The statement had no effect. */
export function isHeldElsewhere(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code === '55P03'
}

/**
 * Whether a partition was attached while the statement waited to write to the default one, which its rows no longer
 * belong to. Nothing changed.
 */
export function isRowMisplaced(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code === '23514' && error.constraint === undefined
}

/** Whether a statement or lock took too long, or the server lacked a resource. */
export function ranOut({ code }: DatabaseError): boolean {
  return /^(57014|55P03|53)/.test(code ?? '')
}

/** Whether the statement failed without effect for a reason of its own, so that a smaller one may succeed. */
export function rolledBack(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && !/^(08|57P|58|XX)/.test(error.code ?? 'XX')
}

/**
 * The effect of a statement that failed while committing. `unavailable`: nothing changed, and a retry is safe; `none`:
 * nothing changed;
 * `unknown`: it may have committed. Null when the error is not a database failure.
 */
export function effectOf(error: unknown): 'unavailable' | 'none' | 'unknown' | null {
  if (!(error instanceof Error)) return null
  const known = knownEffect(error)
  if (known === 'unsent') return 'unavailable'
  const effect = effectByCode(error)
  return effect === 'unknown' && known === 'uncommitted' ? 'unavailable' : effect
}

function effectByCode(error: Failure & { readonly severity?: string }): ReturnType<typeof effectOf> {
  const { code = '', syscall, message, path, severity } = error
  if (path !== undefined) return null
  if (unavailableStates.test(code) || isRowMisplaced(error) || isPoolerWithoutServer({ code, message }))
    return 'unavailable'
  if (error instanceof DatabaseError) {
    if (lostStates.test(code)) return 'unknown'
    // A server that closes the connection says FATAL or PANIC, in the language of its messages.
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
 * Refused before the statement began, or ended by the server: connection or role (08001, 08004, 28, 3D000), standby
 * (25006), timeouts (25P03, 25P04, 57P05, 57014), conflicts (40001, 40P01, 55P03), a shortage (53), a starting server
 * (57P03).
 */
const unavailableStates =
  /^(08001|08004|28...|3D000|25006|25P03|25P04|40001|40P01|55P03|57014|57P03|57P05|53...)$/
/** Connections that ended, perhaps after the commit. */
const lostStates = /^(08...|57P..)$/

const unconnectedCodes =
  /^(ECONNREFUSED|ENOENT|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*|ERR_TLS_CERT_.*)$/
const unconnectedMessages = new Set([
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
])

/** Messages of pg when a connection ends during a statement. */
const lostMessages = new Set([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Query read timeout',
])

/** PgBouncer uses 08P01 for all its own errors; these mean that the client got no connection to a server. */
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
