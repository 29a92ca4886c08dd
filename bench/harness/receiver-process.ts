/**
 * A receiver in a process of its own: answers 200 over TLS to everything but what begins with /hang, which it leaves
 * unanswered; counts, and on demand tells when each subject came. Times are milliseconds of the wall with the clock's full resolution, as both processes read them.
 */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { ReceiverOrder, ReceiverReport } from './receiver.ts'

let received = 0
let firstAt = 0
let lastAt = 0
let arrivals: [subject: string, at: number][] = []
let recording = false

const now = () => performance.timeOrigin + performance.now()
const report = (message: ReceiverReport) => process.send?.(message)

process.on('message', (order: ReceiverOrder) => {
  switch (order.do) {
    case 'listen': {
      const server = createServer(
        { key: order.key, cert: order.cert, keepAlive: true },
        (request, response) => {
          if (request.url?.startsWith('/hang')) {
            request.resume()
            return
          }
          lastAt = now()
          if (received++ === 0) firstAt = lastAt
          if (!recording) request.resume()
          else {
            const chunks: Buffer[] = []
            const at = lastAt
            request.on('data', (chunk: Buffer) => chunks.push(chunk))
            request.on('end', () => arrivals.push([JSON.parse(Buffer.concat(chunks).toString()).data.id, at]))
          }
          response.end()
        },
      )
      server.keepAliveTimeout = 60_000
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
