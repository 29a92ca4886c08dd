/**
 * Refusals as the wire has them: `application/problem+json` (RFC 9457; specification 12.1). What cannot be read as HTTP never
 * reaches a route; it is answered with a problem all the same, and the end.
 */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { errorCatalogue } from '../kernel/error-catalogue.ts'
import { type Problem, problem, problemBody } from '../kernel/errors.ts'

/** Answers with the problem. */
export function sendProblem(reply: FastifyReply, refusal: Problem): FastifyReply {
  const { status } = errorCatalogue[refusal.code]
  const { code, logged } = refusal
  if (logged !== undefined) {
    const { log, caller } = reply.request
    log.info({ organizationId: caller?.organizationId, code, ...logged }, 'a request was refused')
  }
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="deskwire"')
  // A limit that knows better has said so.
  if (status === 503 || (status === 429 && !reply.hasHeader('retry-after'))) reply.header('retry-after', '1')
  return reply
    .code(status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(JSON.stringify(problemBody(refusal, reply.request.id)))
}

/**
 * What every answer below /v1 says to whatever stands between it and its caller (specification 1.2): no shared cache keeps
 * it, others ask again before they use it, and nobody takes it for another type than it says.
 */
export const privateHeaders = {
  'cache-control': 'private, no-cache',
  'x-content-type-options': 'nosniff',
} as const

/** Of the request line and all headers, in bytes. */
export const headerLimit = 16 * 1024

/** The refusal of what Node's parser could not read, by its code. */
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

/** Answers on a connection whose request broke, and ends it. */
export function answerBroken(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
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
    // What it was for is not known.
    ...Object.entries(privateHeaders).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
