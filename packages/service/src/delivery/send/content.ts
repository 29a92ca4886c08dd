/** The body of one request, and whether it may have been handed to the operating system whole. */
import { Readable } from 'node:stream'

/** Larger bodies go in pieces of this size, each when the socket has room for it. */
const pieceLength = 64 * 1024

export class Content {
  /** As the client takes it. */
  readonly body: Buffer | Readable
  /** Headers that the client does not write by itself. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * False as long as it is certain that the last byte was not handed over. A small body goes at once, so there it is true
   * from the beginning.
   */
  handedOver = true

  constructor(body: Buffer | string) {
    const length = Buffer.byteLength(body)
    if (length <= pieceLength) {
      this.body = typeof body === 'string' ? ownBytes(body, length) : body
      this.headers = {}
      return
    }
    this.handedOver = false
    // With the least read ahead: a piece is made when the one before has been taken.
    this.body = Readable.from(this.#pieces(Buffer.from(body)), { objectMode: false, highWaterMark: 1 })
    this.headers = { 'content-length': String(length) }
  }

  *#pieces(bytes: Buffer): Iterable<Buffer> {
    for (let at = 0; at < bytes.length; at += pieceLength) {
      this.handedOver = at + pieceLength >= bytes.length
      yield bytes.subarray(at, at + pieceLength)
    }
  }
}

/**
 * Bytes that share no memory with others: a small Buffer is a slice of a large one, all of which a request that hangs would keep
 * alive with its own.
 */
function ownBytes(text: string, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length)
  bytes.write(text)
  return bytes
}
