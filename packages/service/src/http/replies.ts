/** Answers that the routes of all resources give. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { IdempotencyRecord } from '../journal/change.ts'
import { callerOf } from './authenticate.ts'
import { type IdempotencyStore, idempotencyOf } from './idempotency.ts'
import { sendProblem } from './problem-reply.ts'

/** JSON that is ready to be sent. */
export function sendJson(reply: FastifyReply, body: string): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(body)
}

/** Records, joined by commas, in the envelope of a list (specification, section 2.5). */
export function sendList(
  reply: FastifyReply,
  records: string,
  pagination: Record<string, unknown>,
): FastifyReply {
  return sendJson(reply, `{"data":[${records}],"pagination":${JSON.stringify(pagination)}}`)
}

/** The query as it was sent, repeats included. */
export function searchParameters(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(request.url.split('?').slice(1).join('?'))
}

/**
 * A POST under its Idempotency-Key, when it has one: the first committed answer is given again, also to a twin that
 * came at the same time. `run` makes the change, keeping its answer under the record in the same commit, and answers;
 * or says that the key had committed already.
 */
export async function answerOnce(
  request: FastifyRequest,
  reply: FastifyReply,
  options: {
    readonly store: IdempotencyStore
    /** The status of the answer that is kept. */
    readonly status: number
    readonly run: (record: IdempotencyRecord | null) => Promise<FastifyReply | 'replayed'>
    /** Sends a kept answer; the status is set. */
    readonly replay: (reply: FastifyReply, body: string) => FastifyReply
  },
): Promise<FastifyReply> {
  const { store, status, run, replay } = options
  const record = idempotencyOf(request, status)
  if (!record.ok) return sendProblem(reply, record.error)
  // Twice at most: the second look finds what a concurrent twin committed.
  for (let look = 0; look < 2; look++) {
    if (record.value !== null) {
      const kept = await store.find(callerOf(request).organizationId, record.value)
      if (!kept.ok) return sendProblem(reply, kept.error)
      if (kept.value !== null) {
        return replay(reply.code(kept.value.status).header('idempotent-replayed', 'true'), kept.value.body)
      }
    }
    const answered = await run(record.value)
    if (answered !== 'replayed') return answered
  }
  throw new Error('an idempotency key committed, but its record cannot be found')
}
