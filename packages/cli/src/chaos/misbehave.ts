/** How each answer of a schedule is given. */
import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer } from '../listen/receiver.ts'
import type { ScheduledAnswer } from './schedule.ts'

/** Where a redirect leads. Who comes there has followed it. */
export const followedPath = '/followed'

/** What came of an answer: `complete`, or the sender closed the connection before. */
export type Outcome = 'complete' | 'gave_up'

/**
 * The answer, and what comes of it. `ok` is the status of a good one; `slowMs` is how long a slow one takes.
 */
export function misbehave(
  answer: ScheduledAnswer,
  { ok, slowMs }: { readonly ok: number; readonly slowMs: number },
): { readonly give: Answer; readonly outcome: Promise<Outcome> } {
  const { promise: outcome, resolve: settle } = Promise.withResolvers<Outcome>()
  const give = (response: ServerResponse, reset: () => void) => {
    const { socket } = response
    // A sender that gives up closes the connection.
    response.once('close', () => settle(response.writableFinished ? 'complete' : 'gave_up'))
    if (typeof answer === 'object') return void response.writeHead(answer.status).end()
    switch (answer) {
      case 'ok':
        return void response.writeHead(ok).end()
      case 'redirect':
        return void response.writeHead(307, { location: followedPath }).end()
      case 'timeout':
        return
      case 'reset':
        settle('complete')
        return reset()
      case 'duplicate':
        // Below the response, as HTTP knows no second one.
        socket?.write(
          'HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n',
        )
        return settle('complete')
      case 'slow':
        return void drip(response, 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n', slowMs).then(
          settle,
        )
    }
  }
  return { give, outcome }
}

/** Writes the text byte by byte, evenly over so many milliseconds, and closes the connection. */
async function drip({ socket }: ServerResponse, text: string, overMs: number): Promise<Outcome> {
  const begun = performance.now()
  for (const [n, byte] of [...text].entries()) {
    await delay(Math.max(0, begun + (overMs * (n + 1)) / text.length - performance.now()))
    if (socket === null || socket.destroyed) return 'gave_up'
    socket.write(byte)
  }
  socket?.end()
  return 'complete'
}
