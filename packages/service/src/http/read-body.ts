/** Reads the body of a request into one buffer. */
import type { Readable } from 'node:stream'

/** Where a body is longer than it may be. */
export const bodyTooLarge = 'FST_ERR_CTP_BODY_TOO_LARGE'
/** Where a client has gone before all of its body came: nobody is there to be answered. */
export const bodyCut = 'BODY_CUT'

/** What is set aside first for a body that does not say how long it is. */
const firstPiece = 64 * 1024

/**
 * Calls back with the bytes, at most `limit`. Their place is made beforehand and once: from what the header says, or, where
 * a body that says nothing turns out to be no small one, for as much as it may have.
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
  let buffer = Buffer.allocUnsafeSlow(length ?? Math.min(limit, firstPiece))
  let received = 0
  const onData = (chunk: Buffer) => {
    if (received + chunk.length > (length ?? limit)) return end(tooLarge())
    if (received + chunk.length > buffer.length) {
      const whole = Buffer.allocUnsafeSlow(limit)
      buffer.copy(whole, 0, 0, received)
      buffer = whole
    }
    chunk.copy(buffer, received)
    received += chunk.length
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

function tooLarge(): Error {
  return Object.assign(new Error('the body is too large'), { code: bodyTooLarge })
}
