/** Many objects at once: `POST /v1/{kind}/batch` in one transaction, `GET /v1/{kind}/export` as a stream. */
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { TokenDirectory } from '../access/admission.ts'
import { callerOf, requireScope } from '../http/authenticate.ts'
import type { IdempotencyStore } from '../http/idempotency.ts'
import { unknownParameter } from '../http/list-parameters.ts'
import { sendProblem } from '../http/problem-reply.ts'
import { answerOnce, searchParameters } from '../http/replies.ts'
import type { Feed } from '../journal/feed.ts'
import type { Batch } from './batch.ts'
import { batchBodyLimit } from './batch-body.ts'
import { parseBatchRequest } from './batch-request.ts'
import { exportLines } from './export.ts'
import type { Kind } from './kind.ts'
import { createWriteReplies } from './write-replies.ts'

export interface BulkServices {
  readonly kind: Kind
  readonly batch: Batch
  /** A feed whose records are lines. */
  readonly lines: Feed
}

export function registerBulkRoutes(
  server: FastifyInstance,
  { kind, batch, lines }: BulkServices,
  access: { readonly directory: TokenDirectory; readonly idempotency: IdempotencyStore },
): void {
  const path = `/v1/${kind.plural}`
  const replies = createWriteReplies(kind)
  const writing = requireScope(access.directory, `${kind.plural}:write`)
  const options = { onRequest: writing, bodyLimit: batchBodyLimit, config: { readsBody: true } }
  server.post(`${path}/batch`, options, async (request, reply) => {
    const asked = await parseBatchRequest(kind, request.rawBody)
    // A body that is no JSON is nobody's: it is refused before its Idempotency-Key is looked at.
    if (!asked.ok && asked.error.code === 'malformed_json') return sendProblem(reply, asked.error)
    return answerOnce(request, reply, {
      store: access.idempotency,
      status: 200,
      send: replies.batch,
      async run(record) {
        // Its items are read, and the record has its hash.
        request.rawBody = null
        if (!asked.ok) return sendProblem(reply, asked.error)
        const result = await batch.run(callerOf(request).organizationId, asked.value, record)
        if (result.outcome === 'replayed') return 'replayed'
        if (result.outcome === 'refused') return { uncommitted: () => replies.refused(reply, result.problem) }
        if (result.outcome === 'unchanged') return { unchanged: result.answer, about: result.about }
        return replies.batch(reply, result.answer)
      },
    })
  })

  const reading = { onRequest: requireScope(access.directory, `${kind.plural}:read`) }
  server.get(`${path}/export`, reading, async (request, reply) => {
    const unknown = unknownParameter(searchParameters(request), [])
    if (unknown !== null) return sendProblem(reply, unknown)
    const { organizationId, organizationCreatedAt } = callerOf(request)
    // The first page before the status: what fails until then is told as any other error.
    const first = await exportLines(lines, { organizationId, organizationCreatedAt })
    return reply.header('content-type', 'application/x-ndjson; charset=utf-8').send(Readable.from(first))
  })
}
