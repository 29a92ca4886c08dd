/** The routes of a kind, all from its declaration: create, list and sync, read, change, actions, delete. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TokenDirectory } from '../access/admission.ts'
import { callerOf, requireScope } from '../http/authenticate.ts'
import { entityTag, holdsVersion, unmetPrecondition } from '../http/entity-tag.ts'
import type { IdempotencyStore } from '../http/idempotency.ts'
import { sendProblem } from '../http/problem-reply.ts'
import { answerOnce, searchParameters, sendJson, sendList } from '../http/replies.ts'
import type { Checkpoint } from '../journal/feed.ts'
import type { RowReader } from '../journal/rows.ts'
import { problem } from '../kernel/errors.ts'
import { parseId } from '../kernel/ids.ts'
import type { Browse } from './browse.ts'
import type { Changes, Precondition } from './changes.ts'
import type { Kind } from './kind.ts'
import { type ListQuery, parseListQuery } from './list-query.ts'
import { noSuch } from './outcomes.ts'
import { type Stream, sendSync } from './sync-reply.ts'
import { createWriteReplies } from './write-replies.ts'

/** What the routes of one kind need. */
export interface KindServices {
  readonly kind: Kind
  readonly changes: Changes
  readonly rows: RowReader
  readonly stream: Stream<Checkpoint>
  readonly browse: Browse
}

interface WithId {
  Params: { id: string }
}

export function registerKindRoutes(
  server: FastifyInstance,
  services: KindServices,
  access: { readonly directory: TokenDirectory; readonly idempotency: IdempotencyStore },
): void {
  const { kind, changes, rows, stream, browse } = services
  const { directory, idempotency } = access
  const path = `/v1/${kind.plural}`
  const replies = createWriteReplies(kind)
  const reading = { onRequest: requireScope(directory, `${kind.plural}:read`) }
  const writing = { onRequest: requireScope(directory, `${kind.plural}:write`) }

  server.post(path, writing, (request, reply) =>
    answerOnce(request, reply, {
      store: idempotency,
      status: 201,
      send: replies.created,
      async run(record) {
        const result = await changes.create(callerOf(request).organizationId, request.body, record)
        if (result.outcome === 'replayed') return 'replayed'
        if (result.outcome === 'refused') return { uncommitted: () => replies.refused(reply, result.problem) }
        return replies.created(reply, result.body)
      },
    }),
  )

  server.get(path, reading, async (request, reply) => {
    const { organizationId } = callerOf(request)
    const query = parseListQuery(kind, organizationId, searchParameters(request))
    if (!query.ok) return sendProblem(reply, query.error)
    return query.value.mode === 'sync'
      ? sendSync(request, reply, stream, query.value)
      : list(request, reply, query.value)
  })

  server.get<WithId>(`${path}/:id`, reading, async (request, reply) => {
    const id = parseId(request.params.id)
    const row = id === null ? null : await rows.read(callerOf(request).organizationId, id)
    if (row === null) return sendProblem(reply, noSuch(kind, request.params.id))
    if (holdsVersion(request.headers['if-none-match'], row.updatedAt)) {
      return reply.code(304).header('etag', entityTag(row.updatedAt)).send()
    }
    return sendJson(reply.header('etag', entityTag(row.updatedAt)), row.body)
  })

  if (!kind.immutable) {
    server.patch<WithId>(`${path}/:id`, writing, async (request, reply) => {
      const id = parseId(request.params.id)
      if (id === null) return sendProblem(reply, noSuch(kind, request.params.id))
      const result = await changes.update(
        callerOf(request).organizationId,
        id,
        request.body,
        ifMatch(request),
      )
      if (result.outcome === 'refused') return replies.refused(reply, result.problem)
      if (result.outcome === 'replayed') throw new Error('a PATCH carries no idempotency key')
      return replies.object(reply, result.body)
    })
  }

  for (const action of Object.keys(kind.actions)) {
    server.post<WithId>(`${path}/:id/${action}`, writing, (request, reply) =>
      answerOnce(request, reply, {
        store: idempotency,
        status: 200,
        send: replies.object,
        async run(record) {
          const id = parseId(request.params.id)
          if (id === null) return sendProblem(reply, noSuch(kind, request.params.id))
          const { organizationId } = callerOf(request)
          const asked = { action, body: request.body }
          const result = await changes.act(organizationId, id, asked, ifMatch(request), record)
          if (result.outcome === 'replayed') return 'replayed'
          if (result.outcome === 'refused')
            return { uncommitted: () => replies.refused(reply, result.problem) }
          if (result.outcome === 'unchanged') return { unchanged: result.body, about: id }
          return replies.object(reply, result.body)
        },
      }),
    )
  }

  if (kind.removedEvent !== null) {
    server.delete<WithId>(`${path}/:id`, writing, async (request, reply) => {
      const id = parseId(request.params.id)
      if (id === null) return sendProblem(reply, noSuch(kind, request.params.id))
      const result = await changes.remove(callerOf(request).organizationId, id, ifMatch(request))
      if (result.outcome === 'refused') return replies.refused(reply, result.problem)
      return reply.code(204).send()
    })
  }

  async function list(
    request: FastifyRequest,
    reply: FastifyReply,
    query: Extract<ListQuery, { mode: 'browse' }>,
  ): Promise<FastifyReply> {
    const { limit, offset } = query
    const page = await browse.page(callerOf(request).organizationId, query)
    if (page === 'too_long') return sendProblem(reply, searchTooLong)
    const { records, found, total } = page
    return sendList(reply, records, { total, limit, offset, hasMore: offset + found < total })
  }
}

const searchTooLong = problem(
  'unavailable',
  'The search took too long and was ended: too much matches, or the database is busy. Narrow it, with longer words in q or more of them, or send it again later.',
)

function ifMatch(request: FastifyRequest): Precondition {
  return (row) => unmetPrecondition(request.headers['if-match'], row.updatedAt)
}
