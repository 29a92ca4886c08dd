/** Reads the body of a request into one buffer. */
import type { Readable } from 'node:stream'
import { freeBytes } from '../kernel/free-bytes.ts'

/** Error codes: the body is too long; the client disconnected before all of it came. */
export const bodyTooLarge = 'FST_ERR_CTP_BODY_TOO_LARGE'
export const bodyCut = 'BODY_CUT'

/** So many bytes of a body that is too long are read and dropped before its connection is closed. */
const discardedUpTo = 64 * 2 ** 20

/** The first buffer for a body without a length. */
const firstPiece = 64 * 1024

/**
 * Calls back with the bytes, at most `limit`; `discardBody` drops the rest. Several pieces are copied into one buffer:
 * of the length in the header, or else of `limit` once they exceed `firstPiece`. Pieces are freed as they are read, and
 * so is the buffer of a body that fails.
 */
export function readBody(
  payload: Readable,
  { length, limit }: { readonly length: number | null; readonly limit: number },
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
    received += chunk.copy(buffer, received)
    freeBytes(chunk)
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

/** Its first bytes, without the memory of the rest. */
function cutTo(length: number, buffer: Buffer): Buffer {
  return buffer.length === length ? buffer : Buffer.from((buffer.buffer as ArrayBuffer).transfer(length))
}

/** Reads and drops the rest of a body after its response: closing the connection could lose the response. */
export function discardBody(payload: Readable): void {
  let left = discardedUpTo
  payload.on('data', (chunk: Buffer) => {
    left -= chunk.length
    freeBytes(chunk)
    if (left < 0) payload.destroy()
  })
  payload.on('error', () => {}) // the client has gone
  payload.resume()
}

function tooLarge(): Error {
  return Object.assign(new Error('the body is too large'), { code: bodyTooLarge })
}
