/** Refusals as the wire has them: `application/problem+json` (RFC 9457; specification 12.1). */
import type { FastifyReply } from 'fastify'
import { errorCatalogue } from '../kernel/error-catalogue.ts'
import { type Problem, problemBody } from '../kernel/errors.ts'

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
