/**
 * A server that disappears sends nothing more, and the system notices only after a quarter of an hour. So a connection is closed when no
 * byte arrived for two seconds longer than its statement may take: the statement rejects, and may have been executed.
 */
import type { Socket } from 'node:net'
import type { PoolClient } from 'pg'

/** Milliseconds after the statement timeout. */
const silenceAfterwards = 2_000

/** Members that pg's types leave out of a connected client. */
interface ConnectedClient {
  readonly connection: { readonly stream: Socket }
  /** No statement is running. */
  readonly readyForQuery: boolean
  /** The client said goodbye and waits for the server to close. */
  readonly _ending: boolean
  readonly connectionParameters: { readonly statement_timeout: string | number | false }
}

const inside = (client: object) => client as ConnectedClient

/** The statement timeout of a client, in milliseconds; the URL's parameter wins. */
export function statementTimeoutOf(client: object): number {
  return Number(inside(client).connectionParameters.statement_timeout)
}

/** Sets the assumed statement timeout of this connection until it is released, in milliseconds; 0: none. */
export function allowStatements(client: object, milliseconds: number): void {
  const { stream } = inside(client).connection
  const allowed = milliseconds === 0 ? 0 : milliseconds + silenceAfterwards
  // Each byte restarts the timer.
  if (stream.timeout !== allowed) stream.setTimeout(allowed)
}

/** Closes the connection when it is silent for too long during a statement, and `others` with it, as they lead to the same server. */
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

/** The error of a connection that the system gave up. */
function silence(): Error {
  const message =
    'the database has said nothing for longer than a statement may take: the connection is given up'
  return Object.assign(new Error(message), { code: 'ETIMEDOUT', syscall: 'read' })
}
