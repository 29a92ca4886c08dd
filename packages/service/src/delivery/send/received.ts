/** What comes in over a connection, seen before undici sees it. */
import type { TLSSocket } from 'node:tls'
import { errors } from 'undici'

/**
 * Bytes that may come before the headers of the final answer are complete, interim answers included. The client bounds one set of
 * headers (16 KiB), but neither their number nor a status line.
 */
const longestBeginning = 64 * 1024

export interface Received {
  /** Bytes of the receiver's, to be set to 0 by whoever counts. */
  bytes: number
  /** Whether an interim answer may still come; to be set by whoever knows. */
  interim: boolean
}

/**
 * Counts the bytes read from the socket: those of TLS itself are not among them, as they are in its own count.
 *
 * It ends a connection over which too much comes before an answer. And it shows undici an interim 100 as a 102: undici closes the connection on a 100 that it did not ask for, whereas
 * a client must be able to skip it (RFC 9110, section 15.2).
 */
export function watchReceived(socket: TLSSocket): Received {
  const received: Received = { bytes: 0, interim: false }
  const read = socket.read
  socket.read = (size?: number): Buffer | null => {
    // What came before this has been understood by now, so it was no final answer.
    if (received.interim && received.bytes > longestBeginning) {
      socket.destroy(new errors.HeadersOverflowError('too much before an answer'))
      return null
    }
    const chunk: Buffer | null = read.call(socket, size)
    if (chunk !== null) {
      received.bytes += chunk.length
      if (received.interim) renumberContinue(chunk)
    }
    return chunk
  }
  return received
}

const continueLine = /^HTTP\/1\.[01] 100/
const interimLine = /^HTTP\/1\.[01] 1/

function renumberContinue(chunk: Buffer): void {
  let at = 0
  for (;;) {
    const line = chunk.toString('latin1', at, at + 12)
    if (!interimLine.test(line)) return
    if (continueLine.test(line)) chunk[at + 11] = 0x32
    const end = chunk.indexOf('\r\n\r\n', at)
    if (end === -1) return
    at = end + 4
  }
}
