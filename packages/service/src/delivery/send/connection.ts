/** One connection to one checked address, and one request at a time over it. */
import type { TLSSocket } from 'node:tls'
import { Client, type Dispatcher } from 'undici'
import type { Clock } from '../../kernel/clock.ts'
import { Content } from './content.ts'
import type { Deadline } from './deadlines.ts'
import { exchangeFailure, type Failure, failure, type Peer, peerName } from './failure.ts'
import { watchReceived } from './received.ts'

export interface Request {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | string
}

export interface Answer {
  readonly kind: 'answered'
  readonly status: number
  /** The first 1 KiB of the body, as text that a database can hold. */
  readonly responseBody: string
  /** When the headers were there, in milliseconds since the epoch. */
  readonly answeredAt: number
}

/** The kept connection was closed, and the receiver certainly has not processed the request: it may be sent again. */
export interface Stale {
  readonly kind: 'stale'
}

/** Bytes of an answer's headers, whatever this process allows its own callers. */
const headerLimit = 16 * 1024
/** Bytes of an answer's body that are read; a receiver that sends more loses the connection. */
const readLimit = 16 * 1024
/** Bytes of it that are kept. */
const keptLimit = 1024

/**
 * Milliseconds that a connection is kept without a request: less than common servers wait before they close it (5 s and
 * more), because a request that crosses with such a close is a failed attempt. A receiver's own hint (Keep-Alive) goes
 * before, up to the greatest.
 */
const idleMs = 4_000
const longestIdleMs = 30_000

export class Connection {
  /** The address it goes to. */
  readonly address: string
  readonly peer: Peer
  readonly #client: Client
  readonly #received: { bytes: number; interim: boolean }
  readonly #socket: TLSSocket
  #used = false

  /** `onClose` is called once, when no further request can go over it. */
  constructor(origin: string, socket: TLSSocket, onClose: (connection: Connection) => void) {
    this.address = socket.remoteAddress ?? ''
    this.peer = peerName(this.address, socket.remotePort ?? 0)
    this.#socket = socket
    this.#received = watchReceived(socket)
    let given = false
    this.#client = new Client(origin, {
      connect: (_options, callback) => {
        // Later, as the client expects of a connection that has to be made.
        process.nextTick(() => {
          if (given) return callback(gone(), null)
          given = true
          callback(null, socket)
        })
      },
      allowH2: false,
      // Deadlines are the sender's.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: headerLimit,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: longestIdleMs,
    })
    socket.once('close', () => {
      onClose(this)
      this.close()
    })
  }

  get usable(): boolean {
    return !this.#socket.destroyed
  }

  close(): void {
    if (!this.#client.destroyed) this.#client.destroy(gone(), () => {})
    this.#socket.destroy()
  }

  /**
   * Sends one request and says how it was answered. When it returns, the connection is either ready for the next
   * one or closed.
   *
   * `stale` is said only of a connection that had served before, and only when it is certain that the receiver has not
   * processed the request: the close was known here before the last byte of the request was handed to the operating
   * system, and nothing was answered. Until its last byte a body has no signature that could be verified. Once all of it was
   * handed over, nothing tells a receiver that closed an idle connection from one that died of this very request, so the
   * attempt has failed, and the schedule sends it again.
   *
   * Before a kept connection is written to, the event loop polls once more: a close that has reached this machine by
   * then is known.
   */
  async exchange(request: Request, deadline: Deadline, clock: Clock): Promise<Answer | Failure | Stale> {
    const reused = this.#used
    this.#used = true
    // The client lets a turn pass too, but from here that one may end without a poll; together they hold a whole one.
    if (reused) await nextTurn()
    this.#received.bytes = 0
    this.#received.interim = true
    return new Promise((resolve, reject) => {
      const content = new Content(request.body)
      const handler = new ExchangeHandler(this.#received, clock, (error) => {
        deadline.onPass = null
        if (handler.status !== 0 || error === null) return resolve(handler.answer())
        // Nothing went wrong on the way: what was to be sent is not a request.
        if (error.code === 'UND_ERR_INVALID_ARG') return reject(error)
        if (reused) return resolve(this.#lost(error, handler.begun, content.handedOver))
        resolve(exchangeFailure(error, this.peer))
      })
      deadline.onPass = () => {
        resolve(
          handler.status === 0 ? failure('timeout', `${this.peer} did not answer in time`) : handler.answer(),
        )
        this.close()
      }
      if (deadline.passed) return deadline.onPass()
      const headers = { ...request.headers, ...content.headers }
      this.#client.dispatch({ method: 'POST', path: request.path, headers, body: content.body }, handler)
    })
  }

  /** What it means that a kept connection ended without an answer. */
  #lost(error: NodeJS.ErrnoException, begun: boolean, handedOver: boolean): Failure | Stale {
    if (!begun) return { kind: 'stale' }
    if (!isLost(error) || this.#received.bytes > 0) return exchangeFailure(error, this.peer)
    if (!handedOver) return { kind: 'stale' }
    return failure('connection_failed', `${this.peer} closed a kept connection after the request, unanswered`)
  }
}

let turn: Promise<void> | null = null

/** As setImmediate, one for all who wait at the same time. */
function nextTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = null
      resolve()
    })
  })
  return turn
}

/** The connection closed before the request was written. */
function gone(): NodeJS.ErrnoException {
  return Object.assign(new Error('The connection is closed'), { code: 'EPIPE' })
}

function isLost(error: NodeJS.ErrnoException): boolean {
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(error.code ?? '')
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  status = 0
  /** Whether writing has begun. */
  begun = false
  #answeredAt = 0
  #read = 0
  #kept: Buffer[] = []
  readonly #received: { interim: boolean }
  readonly #clock: Clock
  readonly #end: (error: NodeJS.ErrnoException | null) => void

  constructor(
    received: { interim: boolean },
    clock: Clock,
    end: (error: NodeJS.ErrnoException | null) => void,
  ) {
    this.#received = received
    this.#clock = clock
    this.#end = end
  }

  answer(): Answer {
    return {
      kind: 'answered',
      status: this.status,
      responseBody: asText(this.#kept),
      answeredAt: this.#answeredAt,
    }
  }

  onRequestStart(): void {
    this.begun = true
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    // An interim answer decides nothing.
    if (status < 200) return
    this.#received.interim = false
    this.status = status
    this.#answeredAt = this.#clock.now()
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#read < keptLimit) this.#kept.push(chunk)
    this.#read += chunk.length
    if (this.#read > readLimit) controller.abort(new Error('The answer is longer than anybody reads'))
  }

  onResponseEnd(): void {
    // The client closes a connection that cannot be used again right after this, and that must be seen first.
    queueMicrotask(() => this.#end(null))
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error)
  }
}

function asText(chunks: readonly Buffer[]): string {
  if (chunks.length === 0) return ''
  const bytes = Buffer.concat(chunks).subarray(0, keptLimit)
  // As a stream: a character that the limit cuts in two is left out. PostgreSQL's text cannot hold U+0000.
  return new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\ufffd')
}
