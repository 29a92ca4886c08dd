/**
 * Reads the body of a request into one buffer, and bodies no faster than others can be served meanwhile: of a socket that is full the
 * system hands over 2 MiB before it looks at the next one, and of a dozen such it takes longer to go round once than a small
 * request may take in all (measured: 15 to 20 ms a round, of which each request needs several).
 */
import type { Readable } from 'node:stream'
import { freeBytes } from '../kernel/free-bytes.ts'
import { stopwatch } from '../kernel/timestamps.ts'

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
 * Bytes of bodies that are read in a turn at most: 64 MB a second or little more, which are a quarter of a core (measured: 4 ms for 1 MiB,
 * most of it the system's), and no more than a millisecond in one piece.
 */
const bytesInTurnAtMost = 256 * 1024
/** Of bodies that nobody wants, 16 MB a second: they are read for the sake of their connections. */
export const discardedInTurn = 64 * 1024
/** And at least, however busy the machine is: 8 MB a second. */
const bytesInTurnAtLeast = 32 * 1024
/** Bodies that go on in one turn, of those that had to wait: each has a piece of 64 KiB or two by then. */
const bodiesInTurn = 2
/**
 * A turn that ends so many milliseconds late says that this thread does not get the processor when it asks for it, or is kept from its timers
 * by other work: requests of others wait as long. Timers have whole milliseconds, so that up to one means nothing.
 */
const lateFrom = 2
/** From the least back to the most within a hundred turns, or half a second, of which none ends late. */
const slower = 0.7
const faster = 1.02
/**
 * After so many milliseconds without a turn the pace says nothing of now, and begins with the least again. Many bodies that come at once
 * would be read at full speed before the first turn has ended late (decision 74).
 */
const forgottenAfter = 10_000

/** Of bodies that are read by one event loop: as much in a turn as leaves the loop prompt. */
export class ReadingPace {
  readonly #atMost: number
  readonly #elapsed: () => number
  #inTurn = 0
  /** Below zero where more came than the turn had: a later one has it less. */
  #left = 0
  #isUnderWay = false
  #lastEndedAt = Number.NEGATIVE_INFINITY
  readonly #paused: Readable[] = []

  /** `elapsed`: milliseconds that only grow. */
  constructor(atMost = bytesInTurnAtMost, elapsed: () => number = stopwatch()) {
    this.#atMost = atMost
    this.#elapsed = elapsed
  }

  /** So many bytes were read of a body of which more is to come: it may have to wait for a later turn. */
  read(payload: Readable, bytes: number): void {
    if (!this.#isUnderWay) this.#begin()
    this.#left -= bytes
    if (this.#left > 0) return
    payload.pause()
    this.#paused.push(payload)
  }

  #begin(): void {
    this.#isUnderWay = true
    const began = this.#elapsed()
    if (began - this.#lastEndedAt >= forgottenAfter) {
      this.#inTurn = Math.min(this.#atMost, bytesInTurnAtLeast)
      this.#left = this.#inTurn
    }
    setTimeout(() => {
      this.#isUnderWay = false
      this.#lastEndedAt = this.#elapsed()
      const late = this.#lastEndedAt - began - turn
      this.#inTurn = Math.min(this.#atMost, nextBytesInTurn(this.#inTurn, late))
      this.#left = Math.min(this.#inTurn, this.#left + this.#inTurn)
      if (this.#left > 0) for (const payload of this.#paused.splice(0, bodiesInTurn)) payload.resume()
      if (this.#paused.length > 0) this.#begin()
    }, turn)
  }
}

/** The bytes of the turn after one of so many that ended so many milliseconds late. */
export function nextBytesInTurn(bytes: number, late: number): number {
  const next = bytes * (late >= lateFrom ? slower : faster)
  return Math.min(bytesInTurnAtMost, Math.max(bytesInTurnAtLeast, next))
}

/**
 * Calls back with the bytes, at most `limit`; what is left of more than that is for `discardBody`. A body that comes in one piece is that
 * piece. For others a place is made, once: from what the header says, or, where a body that says nothing turns out to be no small one, for as
 * much as it may have. Pieces are freed as they are read, and so is what was read of a body that fails.
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
    done(tooLarge(), Buffer.alloc(0))
    return
  }
  let buffer: Buffer | null = null
  let received = 0
  const onData = (chunk: Buffer) => {
    if (received + chunk.length > (length ?? limit)) {
      payload.pause()
      return end(tooLarge())
    }
    if (chunk.length === length) {
      buffer = chunk
      received = length
      return
    }
    buffer ??= Buffer.allocUnsafeSlow(length ?? Math.min(limit, firstPiece))
    if (received + chunk.length > buffer.length) {
      const whole = Buffer.allocUnsafeSlow(limit)
      buffer.copy(whole, 0, 0, received)
      buffer = whole
    }
    const copied = chunk.copy(buffer, received)
    received += copied
    freeBytes(chunk)
    if (received < (length ?? limit)) pace.read(payload, copied)
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
    if (error !== null && buffer !== null) freeBytes(buffer)
    done(error, error !== null || buffer === null ? Buffer.alloc(0) : cutTo(received, buffer))
  }
}

/** Its first bytes, and the memory of no more than those. */
function cutTo(length: number, buffer: Buffer): Buffer {
  return buffer.length === length ? buffer : Buffer.from((buffer.buffer as ArrayBuffer).transfer(length))
}

/**
 * Reads and forgets what is left of a body that is answered before all of it came. A connection that is closed while bytes come is reset, and
 * whoever sends them need not see the answer: a proxy makes a 502 of it. Left to itself, Node reads it as fast as it comes (measured: six
 * connections with a wrong key and bodies of 4 MB took 630 MB a second, and requests of others 136 ms instead of 10).
 */
export function discardBody(payload: Readable, pace: ReadingPace): void {
  let left = discardedUpTo
  payload.on('data', (chunk: Buffer) => {
    const { length } = chunk
    freeBytes(chunk)
    left -= length
    if (left < 0) payload.destroy()
    else pace.read(payload, length)
  })
  payload.on('error', () => {}) // it has gone
  payload.resume()
}

function tooLarge(): Error {
  return Object.assign(new Error('the body is too large'), { code: bodyTooLarge })
}
