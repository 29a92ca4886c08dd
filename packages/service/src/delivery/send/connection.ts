/** Connections to checked addresses: one request at a time on each, and those that are idle. */
import type { TLSSocket } from 'node:tls'
import { periodic } from '../../kernel/periodic.ts'
import { type Clock, stopwatch } from '../../kernel/timestamps.ts'
import { deliveryTuning } from '../tuning.ts'
import type { Deadline } from './deadlines.ts'
import type { Dialled } from './dial.ts'
import {
  Exchange,
  type ExchangeEnd,
  type ReceivedResponse,
  type RequestPieces,
  type Stale,
} from './exchange.ts'
import { type Failure, type Peer, peerName } from './failure.ts'

const { idleFor, clearOfClose, idleForAtMost, idleSweepEvery } = deliveryTuning.sender

/** One connection to one address. */
export class Connection {
  readonly address: string
  readonly peer: Peer
  readonly #socket: TLSSocket
  #exchange: Exchange | null = null
  #used = false
  #ended = false
  #error: NodeJS.ErrnoException | null = null
  #idleMs = 0

  /** `onClose` is called once, when it can carry no further request. */
  constructor({ socket, address, port }: Dialled, onClose: (connection: Connection) => void) {
    this.address = address
    this.peer = peerName(address, port)
    this.#socket = socket
    socket.on('drain', () => this.#exchange?.write())
    socket.once('end', () => this.#lose(null))
    socket.once('error', (error) => this.#lose(error))
    socket.once('close', () => {
      this.#lose(null)
      this.close()
      onClose(this)
    })
  }

  get usable(): boolean {
    return !this.#ended && !this.#socket.destroyed
  }

  get idleMs(): number {
    return this.#idleMs
  }

  close(): void {
    this.#socket.destroy()
  }

  /** To be called with received bytes, which are read before it returns. */
  read(bytes: Buffer): void {
    // Bytes between requests would be read as the response to the next one.
    if (this.#exchange === null) this.close()
    else this.#exchange.read(bytes)
  }

  /**
   * Sends one request and returns its response. Afterwards the connection is ready for the next request or closed.
   *
   * `stale`: the connection had served before, and its close or unexpected bytes were known before the last byte of
   * the request was written. The receiver then certainly has not processed the request, as nobody can verify an
   * incomplete body. A connection that closes later may have died of this request, so the attempt has failed.
   *
   * Before a used connection is written to, the event loop polls once more, so that a close or a second response that
   * has arrived is seen. One that arrives later is taken for the response to this request: HTTP/1.1 cannot tell, which
   * is why a connection serves one organization (decision 23).
   */
  async exchange(
    pieces: RequestPieces,
    deadline: Deadline,
    clock: Clock,
  ): Promise<ReceivedResponse | Failure | Stale> {
    const reused = this.#used
    this.#used = true
    if (reused) await nextPoll()
    const { promise, resolve } = Promise.withResolvers<ReceivedResponse | Failure | Stale>()
    const connection = { socket: this.#socket, peer: this.peer, reused }
    const exchange = new Exchange(pieces, connection, clock, (end) => {
      deadline.onPass = null
      this.#exchange = null
      this.#becomeIdle(end)
      resolve(end.outcome)
    })
    this.#exchange = exchange
    const onPass = () => exchange.expire()
    deadline.onPass = onPass
    if (deadline.passed) exchange.expire()
    else if (this.usable) exchange.write()
    else this.#lose(this.#error)
    return promise
  }

  #becomeIdle({ reusable, keepAliveMs }: ExchangeEnd): void {
    this.#idleMs = keepAliveMs === null ? idleFor : Math.min(keepAliveMs - clearOfClose, idleForAtMost)
    if (!reusable || this.#idleMs <= 0) this.close()
  }

  #lose(error: NodeJS.ErrnoException | null): void {
    this.#ended = true
    this.#error ??= error
    this.#exchange?.lose(error)
  }
}

let poll: Promise<void> | null = null

/**
 * Resolves after the event loop has polled for I/O; one promise for all who wait. The first immediate may run before a
 * poll.
 */
function nextPoll(): Promise<void> {
  poll ??= new Promise((resolve) => {
    setImmediate(() => {
      poll = null
      setImmediate(resolve)
    })
  })
  return poll
}

interface Waiting {
  readonly pool: string
  /** By a stopwatch, so that setting the clock ends nothing early. */
  readonly until: number
}

/** Idle connections, in pools with a limit each. The most recently used goes first, so that the others expire. */
export class IdleConnections {
  readonly #perPool: number
  readonly #byPool = new Map<string, Connection[]>()
  /** In the order in which they were put in. */
  readonly #waiting = new Map<Connection, Waiting>()
  readonly #elapsed = stopwatch()
  readonly #sweeping = periodic({
    every: idleSweepEvery,
    stopWithin: 0,
    run: () => this.#sweep(),
    onFailure(error) {
      throw error
    },
  })

  constructor(perPool: number) {
    this.#perPool = perPool
  }

  /** The one that has waited longest, of any pool. */
  get oldest(): Connection | undefined {
    return this.#waiting.keys().next().value
  }

  /** Takes a connection to one of these addresses; those checked for earlier requests may no longer be right. */
  take(pool: string, addresses: readonly string[]): Connection | undefined {
    const connections = this.#byPool.get(pool) ?? []
    const connection = connections.findLast(({ usable, address }) => usable && addresses.includes(address))
    if (connection !== undefined) this.remove(connection)
    return connection
  }

  /** Puts a connection in, or closes it when the pool is full. */
  put(pool: string, connection: Connection): void {
    const connections = this.#byPool.get(pool) ?? []
    if (connections.length >= this.#perPool) {
      connection.close()
      return
    }
    connections.push(connection)
    this.#byPool.set(pool, connections)
    this.#waiting.set(connection, { pool, until: this.#elapsed() + connection.idleMs })
    if (this.#sweeping.status === 'idle') this.#sweeping.start()
  }

  remove(connection: Connection): void {
    const waiting = this.#waiting.get(connection)
    if (waiting === undefined) return
    this.#waiting.delete(connection)
    const connections = this.#byPool.get(waiting.pool) ?? []
    const index = connections.lastIndexOf(connection)
    if (index >= 0) connections.splice(index, 1)
    if (connections.length === 0) this.#byPool.delete(waiting.pool)
  }

  #sweep(): void {
    const now = this.#elapsed()
    for (const [connection, { until }] of this.#waiting) {
      if (until > now) continue
      this.remove(connection)
      connection.close()
    }
    if (this.#waiting.size === 0) this.#sweeping.pause()
  }
}
