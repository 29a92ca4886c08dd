/**
 * Detects poolers between the service and PostgreSQL. In transaction mode one accepts connections and then loses
 * session state: named statements, locks, notifications, settings. So this runs before anything else.
 */
import { Client } from 'pg'
import type { DatabaseAddress } from './pool.ts'

/** A pooler where PostgreSQL is required, or two different databases; the message says what to set. */
export class PoolerError extends Error {}

/** Observations of one connection, and of a second one to the same address. */
interface SeenOfSessions {
  /** The backend process that the connection reported at startup; null when it reported none. */
  readonly announced: number | null
  readonly first: number
  /** The backend of the other connection's transaction, and that of the first connection's next statement meanwhile. */
  readonly rounds: readonly { readonly other: number; readonly own: number }[]
}

/** `direct`: no pooler to be seen; `kept`: a pooler that preserves sessions; `lost`: one that does not. */
type Sessions = 'direct' | 'kept' | 'lost'

/** PostgreSQL reports the process that runs the statements; a pooler cannot. */
export function judgeSessions({ announced, first, rounds }: SeenOfSessions): Sessions {
  if (announced === first) return 'direct'
  return rounds.some(({ other, own }) => other === first || own !== first) ? 'lost' : 'kept'
}

/** Milliseconds to connect and for a trivial statement: a pooler may have to wait for a connection. */
const responseMilliseconds = 10_000
/** Enough for a busy pooler that rotates its connections. */
const roundsAtMost = 5

/**
 * Opens two connections for a moment; one to PostgreSQL itself. @throws as pg does when the database is unavailable.
 */
export async function observeSessions(address: DatabaseAddress): Promise<SeenOfSessions> {
  const own = probe(address)
  const other = probe(address)
  try {
    await own.connect()
    const { processID } = own as unknown as { readonly processID: number | null }
    const first = await processOf(own)
    const rounds: { other: number; own: number }[] = []
    const seen = { announced: processID, first, rounds }
    if (judgeSessions(seen) === 'direct') return seen
    await other.connect()
    while (rounds.length < roundsAtMost && judgeSessions(seen) === 'kept') {
      await other.query('begin')
      const held = await processOf(other)
      // A pooler with a single server connection would wait forever.
      rounds.push({ other: held, own: held === first ? held : await processOf(own) })
      await other.query('rollback')
    }
    return seen
  } finally {
    await Promise.all([own, other].map((client) => client.end().catch(() => {})))
  }
}

const sameDatabaseLock = 673_720_113

/**
 * Whether two addresses lead to one database: a lock at one must be visible at the other. @throws PoolerError without
 * transactions.
 */
export async function leadToSameDatabase(direct: DatabaseAddress, pooled: DatabaseAddress): Promise<boolean> {
  const [holder, asker] = [probe(direct), probe(pooled)]
  try {
    await Promise.all([holder.connect(), asker.connect()])
    const number = Math.floor(Math.random() * 2 ** 31)
    await holder.query(`select pg_advisory_lock(${sameDatabaseLock}, ${number})`)
    await asker.query('begin').catch(refuseWithoutTransactions)
    const { rows } = await asker.query<{ taken: boolean }>(
      `select pg_try_advisory_xact_lock(${sameDatabaseLock}, ${number}) as taken`,
    )
    return rows[0]?.taken === false
  } finally {
    await Promise.all([holder, asker].map((client) => client.end().catch(() => {})))
  }
}

function refuseWithoutTransactions(error: Error & { readonly code?: string }): never {
  if (error.code !== protocolViolation || !/transaction blocks? not allowed/i.test(error.message)) throw error
  throw new PoolerError(
    `DESKWIRE_DATABASE_URL leads to a pooler that allows no transactions (${error.message}): set its pool mode to transaction, or to session`,
  )
}

const protocolViolation = '08P01'

/** @throws PoolerError when session state would be lost, or be in another database. */
export async function requireSessions(address: {
  readonly url: string
  readonly directUrl?: string | undefined
}): Promise<void> {
  const direct = { url: address.directUrl ?? address.url }
  const sessions = judgeSessions(await observeSessions(direct))
  if (address.directUrl === undefined) {
    if (sessions !== 'lost') return
    throw new PoolerError(
      'DESKWIRE_DATABASE_URL leads to a pooler that keeps no sessions, as PgBouncer in transaction mode: set DESKWIRE_DATABASE_DIRECT_URL to the URL of the PostgreSQL behind it, for what needs one, and the pooler serves the rest',
    )
  }
  if (sessions === 'lost') {
    throw new PoolerError(
      'DESKWIRE_DATABASE_DIRECT_URL leads to a pooler that keeps no sessions: set it to the URL of the PostgreSQL behind the pooler',
    )
  }
  const isolation = await isolationOf({ url: address.url })
  if (isolation !== 'read committed') {
    throw new PoolerError(
      `the transactions of DESKWIRE_DATABASE_URL are ${isolation}, which cannot be changed past a pooler that keeps no sessions: alter role … set default_transaction_isolation = 'read committed', or the database`,
    )
  }
  if (!(await leadToSameDatabase(direct, { url: address.url }))) {
    throw new PoolerError(
      'DESKWIRE_DATABASE_URL and DESKWIRE_DATABASE_DIRECT_URL lead to two databases: set both to the same, one through the pooler and one without it',
    )
  }
}

/** The default of role and database. A message to a pooler begins its transaction with it. */
async function isolationOf(address: DatabaseAddress): Promise<string | undefined> {
  const client = probe(address)
  try {
    await client.connect()
    const { rows } = await client.query<{ value: string }>(
      `select current_setting('default_transaction_isolation') as value`,
    )
    return rows[0]?.value
  } finally {
    await client.end().catch(() => {})
  }
}

function probe(address: DatabaseAddress): Client {
  const client = new Client({
    ...('url' in address ? { connectionString: address.url } : address),
    application_name: 'deskwire',
    connectionTimeoutMillis: responseMilliseconds,
    query_timeout: responseMilliseconds,
  })
  client.on('error', () => {})
  return client
}

async function processOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid ?? 0
}
