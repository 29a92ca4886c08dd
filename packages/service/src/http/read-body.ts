/**
 * Reads the body of a request into one buffer, and bodies no faster than others can be served meanwhile: of a socket that is full the
 * system hands over 2 MiB before it looks at the next one, and of a dozen such it takes longer to go round once than a small
 * request may take in all (measured: 15 to 20 ms a round, of which each request needs several).
 */
import type { Readable } from 'node:stream'

/** Where a body is longer than it may be. */
export const bodyTooLarge = 'FST_ERR_CTP_BODY_TOO_LARGE'
/** Where a client has gone before all of its body came: nobody is there to be answered. */
export const bodyCut = 'BODY_CUT'

/** How much of a body that is too long is read all the same, and forgotten, before its connection is closed. */
const discardedUpTo = 64 * 2 ** 20

/** What is set aside first for a body that does not say how long it is. */
const firstPiece = 64 * 1024

/** A turn, in milliseconds. */
const turn = 4
/**
 * Bytes of bodies that are read in a turn: 64 MB a second or little more, which are a quarter of a core (measured: 4 ms for 1 MiB, most of it the
 * system's), and no more than a millisecond in one piece.
 */
const bytesInTurn = 256 * 1024
/** Bodies that go on in one turn, of those that had to wait: each has a piece of 64 KiB or two by then. */
const bodiesInTurn = 2

/** Of the bodies that are read by one event loop. */
export class ReadingPace {
  #left = bytesInTurn
  #isUnderWay = false
  readonly #paused: Readable[] = []

  /** So many bytes were read of a body of which more is to come: it may have to wait for a later turn. */
  read(payload: Readable, bytes: number): void {
    this.#left -= bytes
    if (this.#left <= 0) {
      payload.pause()
      this.#paused.push(payload)
    }
    if (!this.#isUnderWay) this.#begin()
  }

  #begin(): void {
    this.#isUnderWay = true
    setTimeout(() => {
      this.#isUnderWay = false
      this.#left = bytesInTurn
      for (const payload of this.#paused.splice(0, bodiesInTurn)) payload.resume()
      if (this.#paused.length > 0) this.#begin()
    }, turn)
  }
}

/**
 * Calls back with the bytes, at most `limit`. Their place is made beforehand and once: from what the header says, or, where
 * a body that says nothing turns out to be no small one, for as much as it may have.
 */
export function readBody(
  payload: Readable,
  {
    length,
    limit,
    pace,
  }: { readonly length: number | null; readonly limit: number; readonly pace: ReadingPace },
  done: (error: Error | null, bytes: Buffer) => void,
): void {
  if (length !== null && length > limit) {
    discard(payload, pace)
    done(tooLarge(), Buffer.alloc(0))
    return
  }
  let buffer = Buffer.allocUnsafeSlow(length ?? Math.min(limit, firstPiece))
  let received = 0
  const onData = (chunk: Buffer) => {
    if (received + chunk.length > (length ?? limit)) {
      end(tooLarge())
      discard(payload, pace)
      return
    }
    if (received + chunk.length > buffer.length) {
      const whole = Buffer.allocUnsafeSlow(limit)
      buffer.copy(whole, 0, 0, received)
      buffer = whole
    }
    chunk.copy(buffer, received)
    received += chunk.length
    if (received < (length ?? limit)) pace.read(payload, chunk.length)
  }
  const onEnd = () => end(null)
  payload.on('data', onData)
  payload.on('end', onEnd)
  const onError = (error: Error) => end(Object.assign(error, { code: bodyCut }))
  payload.on('error', onError)

  function end(error: Error | null): void {
    payload.off('data', onData)
    payload.off('end', onEnd)
    payload.off('error', onError)
    done(error, buffer.subarray(0, received))
  }
}

/**
 * Reads what is left, at the pace of all bodies. A connection that is closed while bytes come is reset, and whoever sends them need
 * not see the answer: a proxy makes a 502 of it.
 */
function discard(payload: Readable, pace: ReadingPace): void {
  let left = discardedUpTo
  payload.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) payload.destroy()
    else pace.read(payload, chunk.length)
  })
  payload.on('error', () => {}) // it has gone
}

function tooLarge(): Error {
  return Object.assign(new Error('the body is too large'), { code: bodyTooLarge })
}
