/** A real HTTP server on loopback that answers what a test scripted, in order, and keeps what it was asked. */
import type { IncomingHttpHeaders } from 'node:http'
import { onTestFinished } from 'vitest'
import { startHttpServer } from '../../testbed/loopback.ts'

interface Seen {
  method: string
  path: string
  query: Record<string, string>
  headers: IncomingHttpHeaders
  body: unknown
}

/** `drop` breaks the connection unanswered, `truncate` in the middle of a 200's body. */
export type Step =
  | 'drop'
  | 'truncate'
  | { status: number; body?: unknown; text?: string; headers?: Record<string, string> }

/** The answer for a request beyond the script's end; it is final, so that a test sees it at once. */
const ended: Step = { status: 418, text: 'the script has ended' }

export const scripted = async (...steps: Step[]): Promise<{ baseUrl: string; seen: Seen[] }> => {
  const seen: Seen[] = []
  const server = await startHttpServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const url = new URL(request.url ?? '/', 'http://loopback')
    const step = steps[seen.length] ?? ended
    seen.push({
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    })
    if (step === 'drop') return request.socket.destroy()
    if (step === 'truncate') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('{"id":', () => request.socket.destroy())
      return
    }
    const body = step.text ?? (step.body === undefined ? '' : JSON.stringify(step.body))
    response.writeHead(step.status, { connection: 'close', ...step.headers }).end(body)
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return { baseUrl: `${server.url}/v1`, seen }
}

/** A step that answers a problem as the service words it. */
export const problem = (
  status: number,
  code: string,
  headers: Record<string, string> = {},
  more: Record<string, unknown> = {},
): Step => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: {
    type: `/docs/errors/${code}`,
    title: code,
    status,
    code,
    detail: `What to do about ${code}.`,
    requestId: 'req-1',
    ...more,
  },
})
