/** One connection to one checked address, and one request at a time over it. */
import type { TLSSocket } from 'node:tls'
import type { Clock } from '../../kernel/timestamps.ts'
import { deliveryTuning } from '../tuning.ts'
import type { Deadline } from './deadlines.ts'
import { type Answer, Exchange, type ExchangeEnd, type RequestPieces, type Stale } from './exchange.ts'
import { type Failure, type Peer, peerName } from './failure.ts'

const { idleFor, clearOfClose, idleForAtMost } = deliveryTuning.sender

export class Connection {
  /** The address it goes to. */
  readonly address: string
  readonly peer: Peer
  readonly #socket: TLSSocket
  #exchange: Exchange | null = null
  #used = false
  #ended = false
  #error: NodeJS.ErrnoException | null = null
  #idleMs = 0

  /** `onClose` is called once, when no further request can go over it. */
  constructor(socket: TLSSocket, onClose: (connection: Connection) => void) {
    this.address = socket.remoteAddress ?? ''
    this.peer = peerName(this.address, socket.remotePort ?? 0)
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

  /** Milliseconds for which it may wait for its next request. */
  get idleMs(): number {
    return this.#idleMs
  }

  close(): void {
    this.#socket.destroy()
  }

  /** To be called with what comes over the socket; it is read when this returns. */
  read(bytes: Buffer): void {
    // What answers nothing would be taken for the answer to what is asked next.
    if (this.#exchange === null) this.close()
    else this.#exchange.read(bytes)
  }

  /**
   * Sends one request and says how it was answered. When it returns, the connection is either ready for the next
   * one or closed.
   *
   * `stale` is said only of a connection that had served before, and only when it is certain that the receiver has not
   * processed the request: the close, or bytes that answer nothing, were known here before the last byte of the request was
   * handed to the operating system. Until its last byte a body has no signature that could be verified. Once all of it was
   * handed over, nothing tells a receiver that closed an idle connection from one that died of this very request, so the
   * attempt has failed, and the schedule sends it again.
   *
   * Before a kept connection is written to, the event loop polls once more: a close that has reached this machine by
   * then is known, and so is a second answer to the request before. One that arrives later is taken for the answer to this
   * request: HTTP/1.1 has nothing that tells them apart, which is why a connection serves one organization (decision 23).
   */
  async exchange(pieces: RequestPieces, deadline: Deadline, clock: Clock): Promise<Answer | Failure | Stale> {
    const kept = this.#used
    this.#used = true
    if (kept) await nextPoll()
    const { promise, resolve } = Promise.withResolvers<Answer | Failure | Stale>()
    const line = { socket: this.#socket, peer: this.peer, kept }
    const exchange = new Exchange(pieces, line, clock, (end) => {
      deadline.onPass = null
      this.#exchange = null
      this.#rest(end)
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

  #rest({ reusable, keptMs }: ExchangeEnd): void {
    this.#idleMs = keptMs === null ? idleFor : Math.min(keptMs - clearOfClose, idleForAtMost)
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
 * Until the event loop has polled, one promise for all who wait at the same time. The next turn may come without a poll
 * before it; the one after that does not.
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
