/**
 * A receiver in a process of its own: answers 200 over TLS, leaves paths that begin with /hang unanswered, counts, and
 * reports on request when each subject came, in milliseconds with fractions. It parses only a POST with its length, as
 * it shares the measured cores: `node:https` took twice the CPU time.
 */
import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { setPriorityOfAll } from './priority.ts'
import type { ReceiverOrder, ReceiverReport } from './receiver.ts'

let received = 0
let firstAt = 0
let lastAt = 0
let arrivals: [subject: string, at: number][] = []
let recording = false

const now = () => performance.timeOrigin + performance.now()
const report = (message: ReceiverReport) => process.send?.(message)

const headEnd = '\r\n\r\n'
const ok = `HTTP/1.1 200 OK\r\nkeep-alive: timeout=60\r\ncontent-length: 0${headEnd}`

function serve(socket: TLSSocket): void {
  let head = ''
  /** Remaining bytes of the body; null in the head. */
  let missing: number | null = null
  let hangs = false
  let body: Buffer[] = []

  /** Returns how many bytes of the chunk belonged to the head. */
  function readHead(chunk: Buffer, from: number): number {
    const before = head.length
    head += chunk.toString('latin1', from)
    const end = head.indexOf(headEnd)
    if (end === -1) return chunk.length - from
    const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head.slice(0, end)) ?? []
    if (length === undefined) throw new Error(`a request does not say how long it is: ${head.slice(0, end)}`)
    missing = Number(length)
    hangs = head.startsWith('POST /hang')
    head = ''
    if (!hangs) {
      lastAt = now()
      if (received++ === 0) firstAt = lastAt
    }
    return end + headEnd.length - before
  }

  function readBody(chunk: Buffer, from: number, wanted: number): number {
    const length = Math.min(wanted, chunk.length - from)
    if (recording && !hangs) body.push(chunk.subarray(from, from + length))
    missing = wanted - length
    return length
  }

  function answer(): void {
    missing = null
    if (hangs) return
    if (recording) arrivals.push([JSON.parse(Buffer.concat(body).toString()).data.id, lastAt])
    body = []
    socket.write(ok, 'latin1')
  }

  socket.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; ) {
      at += missing === null ? readHead(chunk, at) : readBody(chunk, at, missing)
      if (missing === 0) answer()
    }
  })
  socket.on('error', () => {})
}

process.on('message', (order: ReceiverOrder) => {
  switch (order.do) {
    case 'listen': {
      if (order.priority !== undefined) setPriorityOfAll(order.priority)
      const server = createServer({ key: order.key, cert: order.cert, noDelay: true }, serve)
      server.listen(0, '127.0.0.1', () => report({ port: (server.address() as AddressInfo).port }))
      return
    }
    case 'reset':
      received = 0
      arrivals = []
      recording = order.recording
      return report({ received, firstAt, lastAt, arrivals })
    case 'tell':
      return report({ received, firstAt, lastAt, arrivals })
  }
})

process.on('disconnect', () => process.exit(0))
