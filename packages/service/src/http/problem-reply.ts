/** Problems on the wire (RFC 9457), also for requests that are not valid HTTP. */
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { errorCatalogue } from '../kernel/error-catalogue.ts'
import { type Problem, problem, problemBody } from '../kernel/errors.ts'

export function sendProblem(reply: FastifyReply, refusal: Problem): FastifyReply {
  const { status } = errorCatalogue[refusal.code]
  const { code, logged } = refusal
  if (logged !== undefined) {
    const { log, caller } = reply.request
    log.info({ organizationId: caller?.organizationId, code, ...logged }, 'a request was refused')
  }
  // A route that accepts other tokens sets it itself.
  if (status !== 401) reply.removeHeader('www-authenticate')
  else if (!reply.hasHeader('www-authenticate')) reply.header('www-authenticate', 'Bearer realm="deskwire"')
  // A limiter sets it itself.
  if (status === 503 || (status === 429 && !reply.hasHeader('retry-after'))) reply.header('retry-after', '1')
  return reply
    .code(status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(JSON.stringify(problemBody(refusal, reply.request.id)))
}

/** Of every response below /v1 (specification 1.2): shared caches do not store it, others revalidate it. */
export const privateHeaders = {
  'cache-control': 'private, no-cache',
  'x-content-type-options': 'nosniff',
} as const

/** Bytes of the request line and all headers together. */
export const headerLimit = 16 * 1024

/** The problem of a request that Node's parser could not read, by the code of its error. */
export function brokenRequest(code: string | undefined): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return problem(
        'headers_too_large',
        `The address and headers have more than ${headerLimit / 1024} KiB together. Send less in them: long values go into a body.`,
      )
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problem('request_timeout', 'The request did not arrive as a whole in time. Send it again.')
    default:
      return problem('malformed_request', 'This is not valid HTTP/1.1. The connection is closed.')
  }
}

/** The newest request of each connection that has no whole response yet. */
const newest = new WeakMap<Socket, { readonly request: IncomingMessage; readonly response: ServerResponse }>()

/** Call it before the server listens. Also passes on requests with another `Expect`, which the pipeline refuses. */
export function watchConnections(server: Server): void {
  const watch = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    newest.set(socket, { request, response })
    response.once('close', () => {
      if (newest.get(socket)?.response === response) newest.delete(socket)
    })
  }
  server.prependListener('request', watch)
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

/** A problem for bytes that are no request. A request that was complete before them keeps its response. */
export function answerBroken(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { request, response } = newest.get(socket) ?? {}
  if (response !== undefined && (request?.complete || response.headersSent)) {
    if (!response.headersSent) response.setHeader('connection', 'close')
    response.once('close', () => socket.destroySoon())
    return
  }
  const refusal = brokenRequest(error.code)
  const { status } = errorCatalogue[refusal.code]
  const id = randomUUID()
  const body = JSON.stringify(problemBody(refusal, id))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${id}`,
    // The address is unknown, so it may be one below /v1.
    ...Object.entries(privateHeaders).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
