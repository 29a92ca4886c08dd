/**
 * A server that vanishes says nothing any more, and the system notices only after a quarter of an hour. So a connection on
 * which no byte came for two seconds longer than its statement may take is ended: the statement rejects as with a
 * connection that broke, and may have been executed.
 */
import type { Socket } from 'node:net'
import type { PoolClient } from 'pg'

/** So much later than a statement's end a server that has not even said that it ended it is taken for gone, in milliseconds. */
const silenceAfterwards = 2_000

/** What pg's declarations leave out of a connected client. */
interface ConnectedClient {
  readonly connection: { readonly stream: Socket }
  /** No statement is under way. */
  readonly readyForQuery: boolean
  /** It says good-bye, and waits for the server to close. */
  readonly _ending: boolean
  /** What it was connected with, the URL's parameters included. */
  readonly connectionParameters: { readonly statement_timeout: string | number | false }
}

const inside = (client: object) => client as ConnectedClient

/** How long its statements may take unless somebody says otherwise, in milliseconds; the URL's parameter wins. */
export function statementTimeoutOf(client: object): number {
  return Number(inside(client).connectionParameters.statement_timeout)
}

/**
 * Says how long statements of this connection may take until it is released, in milliseconds, when its server was told
 * something else than the pool's; 0 is for ever.
 */
export function allowStatements(client: object, milliseconds: number): void {
  const { stream } = inside(client).connection
  const allowed = milliseconds === 0 ? 0 : milliseconds + silenceAfterwards
  // Each byte that comes or goes begins the time again by itself.
  if (stream.timeout !== allowed) stream.setTimeout(allowed)
}

/** Ends the connection when it has been silent for too long while something is awaited, and these with it: they lead to the same place. */
export function endWhenSilent(client: PoolClient, others: ReadonlySet<PoolClient>): void {
  allowStatements(client, statementTimeoutOf(client))
  const { stream } = inside(client).connection
  stream.on('timeout', () => {
    const { readyForQuery, _ending } = inside(client)
    if (readyForQuery && !_ending) return
    stream.destroy(silence())
    for (const other of others) inside(other).connection.stream.destroy(silence())
  })
}

/** As when the system gives a connection up while something is awaited. */
function silence(): Error {
  const message =
    'the database has said nothing for longer than a statement may take: the connection is given up'
  return Object.assign(new Error(message), { code: 'ETIMEDOUT', syscall: 'read' })
}
