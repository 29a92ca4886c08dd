/** One connection to one checked address, and one request at a time over it. */
import type { TLSSocket } from 'node:tls'
import { Client, type Dispatcher } from 'undici'
import type { Clock } from '../../kernel/clock.ts'
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

/** The request was not answered, and the receiver is not to blame: it had closed the idle connection. */
export interface Stale {
  readonly kind: 'stale'
}

/** Bytes of an answer's body that are read; a receiver that sends more loses the connection. */
const readLimit = 16 * 1024
/** Bytes of it that are kept. */
const keptLimit = 1024

/** Milliseconds that a connection stays open without a request; a receiver's own hint (Keep-Alive) goes before. */
const idleMs = 30_000

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
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
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
   * `stale` is said only of a connection that had served before, and only when nothing at all came back. That the
   * receiver did not process the request is certain when the close was seen before the request was written. When
   * the two crossed on the way, it is only likely: a receiver that died of this very request looks the same. It may
   * then get the request twice, which at least once allows (specification, section 6.3).
   */
  exchange(request: Request, deadline: Deadline, clock: Clock): Promise<Answer | Failure | Stale> {
    const reused = this.#used
    this.#used = true
    this.#received.bytes = 0
    this.#received.interim = true
    return new Promise((resolve, reject) => {
      const handler = new ExchangeHandler(this.#received, clock, (error) => {
        deadline.onPass = null
        if (handler.status !== 0 || error === null) return resolve(handler.answer())
        // Nothing went wrong on the way: what was to be sent is not a request.
        if (error.code === 'UND_ERR_INVALID_ARG') return reject(error)
        if (reused && this.#received.bytes === 0 && isLost(error)) return resolve({ kind: 'stale' })
        resolve(exchangeFailure(error, this.peer))
      })
      deadline.onPass = () => {
        resolve(
          handler.status === 0 ? failure('timeout', `${this.peer} did not answer in time`) : handler.answer(),
        )
        this.close()
      }
      if (deadline.passed) return deadline.onPass()
      const { path, headers, body } = request
      this.#client.dispatch(
        { method: 'POST', path, headers: headers as Record<string, string>, body },
        handler,
      )
    })
  }
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

  onRequestStart(): void {}

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
