/** One request over a connection, and its response: how far each is, and what the end of the connection means. */
import type { Writable } from 'node:stream'
import type { Clock } from '../../kernel/timestamps.ts'
import { deliveryTuning } from '../tuning.ts'
import { exchangeFailure, type Failure, failure, type Peer } from './failure.ts'
import { ResponseReader } from './response-reader.ts'

export interface ReceivedResponse {
  readonly kind: 'answered'
  readonly status: number
  readonly responseBody: string
  readonly retryAfter: string | null
  /** When the headers were complete, in milliseconds since the Unix epoch. */
  readonly answeredAt: number
}

/** The receiver certainly has not processed the request, so it may be sent again over another connection. */
export interface Stale {
  readonly kind: 'stale'
}

export interface ExchangeEnd {
  readonly outcome: ReceivedResponse | Failure | Stale
  readonly reusable: boolean
  /** Milliseconds for which the receiver says it keeps the connection; null when it does not say. */
  readonly keepAliveMs: number | null
}

interface UsedConnection {
  readonly socket: Writable
  readonly peer: Peer
  readonly reused: boolean
}

export class Exchange {
  readonly #pieces: RequestPieces
  readonly #connection: UsedConnection
  readonly #clock: Clock
  readonly #onEnd: (end: ExchangeEnd) => void
  readonly #reader = new ResponseReader()
  #written = 0
  #answeredAt = 0
  /** The response is complete; whether the request was sent before it is not known yet. */
  #isComplete = false
  #isOver = false

  /** `onEnd` is called once; call nothing after it. */
  constructor(
    pieces: RequestPieces,
    connection: UsedConnection,
    clock: Clock,
    onEnd: (end: ExchangeEnd) => void,
  ) {
    this.#pieces = pieces
    this.#connection = connection
    this.#clock = clock
    this.#onEnd = onEnd
  }

  /** Writes as much as the socket accepts: at the beginning, and whenever it has drained. */
  write(): void {
    for (let accepts = true; accepts && !this.#isWritten; ) {
      accepts = this.#connection.socket.write(this.#pieces[this.#written++])
    }
  }

  read(chunk: Buffer): void {
    // A response to a request that is not complete belongs to an earlier one: the receiver has not processed this one.
    if (this.#connection.reused && !this.#isWritten) {
      this.#endUnanswered({ kind: 'stale' })
      return
    }
    if (this.#isComplete) {
      this.#endAnswered(false)
      return
    }
    const progress = this.#reader.read(chunk)
    if (progress === 'malformed') {
      this.#fail('connection_failed', this.#reader.fault)
      return
    }
    if (this.#answeredAt === 0 && this.#reader.status !== 0) this.#answeredAt = this.#clock.now()
    if (progress === 'complete') this.#complete()
  }

  lose(error: NodeJS.ErrnoException | null): void {
    if (this.#reader.status !== 0) this.#endAnswered(false)
    else this.#endUnanswered(this.#lost(error))
  }

  /** The time is up: what has arrived of the body by now is enough. */
  expire(): void {
    if (this.#reader.status !== 0) this.#endAnswered(false)
    else this.#fail('timeout', 'did not answer in time')
  }

  /** From then on the receiver may have processed the request. */
  get #isWritten(): boolean {
    return this.#written === this.#pieces.length
  }

  get #isSent(): boolean {
    return this.#isWritten && this.#connection.socket.writableLength === 0
  }

  /**
   * A receiver that responds early may be anywhere in the rest of the request, so the connection is not reused. A TLS
   * socket reports what the system took only at the end of the event loop's turn, and a quick response can come before
   * that.
   */
  #complete(): void {
    if (this.#isSent || !this.#isWritten) {
      this.#endAnswered(this.#reader.persistent && this.#isSent)
      return
    }
    this.#isComplete = true
    setImmediate(() => this.#endAnswered(this.#reader.persistent && this.#isSent))
  }

  #endAnswered(reusable: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    const { status, text: responseBody, keepAliveMs, retryAfter } = this.#reader
    const answeredAt = this.#answeredAt
    const outcome: ReceivedResponse = { kind: 'answered', status, responseBody, retryAfter, answeredAt }
    this.#onEnd({ outcome, reusable, keepAliveMs })
  }

  #fail(code: 'timeout' | 'connection_failed', what: string): void {
    this.#endUnanswered(failure(code, `${this.#connection.peer} ${what}`))
  }

  #endUnanswered(outcome: Failure | Stale): void {
    this.#onEnd({ outcome, reusable: false, keepAliveMs: null })
  }

  #lost(error: NodeJS.ErrnoException | null): Failure | Stale {
    const { reused, peer } = this.#connection
    if (reused && this.#written === 0) return { kind: 'stale' }
    const closed = error === null || error.code === 'ECONNRESET' || error.code === 'EPIPE'
    if (reused && closed && this.#reader.bytes === 0) {
      if (!this.#isWritten) return { kind: 'stale' }
      return failure('connection_failed', `${peer} closed a kept connection after the request, unanswered`)
    }
    if (error === null)
      return failure('connection_failed', `${peer} closed the connection before it answered`)
    return exchangeFailure(error, peer)
  }
}

export interface Request {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | string
}

/** Written in this order. Until the last piece, no receiver can have the whole request. */
export type RequestPieces = readonly (Buffer | string)[]

const { pieceOfBody } = deliveryTuning.sender

const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const fieldValue = /^[\t\x20-\x7e]*$/

/** A POST. Throws when a header cannot be sent. */
export function requestPieces(host: string, { path, headers, body }: Request): RequestPieces {
  const length = Buffer.byteLength(body)
  let head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\ncontent-length: ${length}\r\n`
  for (const name in headers) {
    const value = headers[name] as string
    if (!fieldName.test(name) || !fieldValue.test(value))
      throw new TypeError(`The header ${JSON.stringify(name)} is invalid`)
    head += `${name}: ${value}\r\n`
  }
  head += '\r\n'
  if (length <= pieceOfBody)
    return [typeof body === 'string' ? head + body : Buffer.concat([Buffer.from(head), body])]
  const bytes = Buffer.from(body)
  const pieces: (Buffer | string)[] = [head]
  for (let at = 0; at < length; at += pieceOfBody) pieces.push(bytes.subarray(at, at + pieceOfBody))
  return pieces
}
