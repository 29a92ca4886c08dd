/** Refusals as the wire has them: `application/problem+json` (RFC 9457; decisions, section 8). */
import type { FastifyReply } from 'fastify'
import { errorCatalogue, type Problem } from '../kernel/errors.ts'

/** The body of a problem answer. */
export function problemBody(refusal: Problem, requestId: string): Record<string, unknown> {
  const { code, detail, errors, existingId } = refusal
  const { status, title } = errorCatalogue[code]
  return {
    type: `/docs/errors/${code}`,
    title,
    status,
    code,
    detail,
    requestId,
    ...(errors === undefined ? {} : { errors }),
    ...(existingId === undefined ? {} : { existingId }),
  }
}

/** Answers with the problem. */
export function sendProblem(reply: FastifyReply, refusal: Problem): FastifyReply {
  const { status } = errorCatalogue[refusal.code]
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="deskwire"')
  if (status === 503) reply.header('retry-after', '1')
  return reply
    .code(status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(JSON.stringify(problemBody(refusal, reply.request.id)))
}
