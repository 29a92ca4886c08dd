/** The routes of API keys (specification 3.4). All of them need `api_keys:manage`. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { TokenDirectory } from '../access/admission.ts'
import { managingScope } from '../access/scopes.ts'
import { callerOf, requireScope } from '../http/authenticate.ts'
import type { IdempotencyStore } from '../http/idempotency.ts'
import { answer, expectAnswer, sendNothing } from '../http/outcome.ts'
import { parsePage } from '../http/page.ts'
import { sendProblem } from '../http/problem-reply.ts'
import { answerOnce, searchParameters, sendJson, sendPage, sendShownOnce } from '../http/replies.ts'
import type { Clock } from '../kernel/clock.ts'
import { parseId } from '../kernel/ids.ts'
import { keyRecord } from './api-key.ts'
import { type Keys, noSuchKey } from './keys.ts'
import type { KeyStore } from './store.ts'

interface WithId {
  Params: { id: string }
}

export const keysPath = '/v1/api-keys'

export function registerKeyRoutes(
  server: FastifyInstance,
  services: { readonly keys: Keys; readonly store: Pick<KeyStore, 'list'>; readonly clock: Clock },
  access: { readonly directory: TokenDirectory; readonly idempotency: IdempotencyStore },
): void {
  const { keys, store, clock } = services
  const one = `${keysPath}/:id`
  const managing = { onRequest: requireScope(access.directory, managingScope) }

  server.post(keysPath, managing, (request, reply) =>
    answerOnce(request, reply, {
      store: access.idempotency,
      status: 201,
      send: sendCreated,
      withhold: (kept) => keys.withhold(callerOf(request), 'create', kept),
      run: async (record) =>
        answer(reply, await keys.create(callerOf(request), request.body, record), sendCreated),
    }),
  )

  server.get(keysPath, managing, async (request, reply) => {
    const query = parsePage(searchParameters(request))
    if (!query.ok) return sendProblem(reply, query.error)
    const { organizationId } = callerOf(request)
    const { page, filter } = query.value
    const found = await store.list(organizationId, filter, page, clock.now())
    return sendPage(reply, found, page, (row) => keyRecord(organizationId, row))
  })

  server.get<WithId>(one, managing, async (request, reply) => {
    const { organizationId } = callerOf(request)
    const id = parseId(request.params.id)
    const row = id === null ? null : await keys.read(organizationId, id)
    if (row === null) return sendProblem(reply, noSuchKey(request.params.id))
    return sendJson(reply, JSON.stringify(keyRecord(organizationId, row)))
  })

  server.patch<WithId>(one, managing, async (request, reply) => {
    const id = parseId(request.params.id)
    if (id === null) return sendProblem(reply, noSuchKey(request.params.id))
    return expectAnswer(answer(reply, await keys.change(callerOf(request), id, request.body), sendJson))
  })

  server.delete<WithId>(one, managing, async (request, reply) => {
    const id = parseId(request.params.id)
    if (id === null) return sendProblem(reply, noSuchKey(request.params.id))
    return expectAnswer(answer(reply, await keys.remove(callerOf(request), id), sendNothing))
  })

  server.post<WithId>(`${one}/rotate`, managing, (request, reply) =>
    answerOnce(request, reply, {
      store: access.idempotency,
      status: 200,
      send: sendShownOnce,
      withhold: (kept) => keys.withhold(callerOf(request), 'rotate', kept),
      async run(record) {
        const id = parseId(request.params.id)
        if (id === null) return sendProblem(reply, noSuchKey(request.params.id))
        return answer(reply, await keys.rotate(callerOf(request), id, record), sendShownOnce)
      },
    }),
  )

  server.delete<WithId>(`${one}/previous-token`, managing, async (request, reply) => {
    const id = parseId(request.params.id)
    if (id === null) return sendProblem(reply, noSuchKey(request.params.id))
    return expectAnswer(answer(reply, await keys.dropPrevious(callerOf(request), id), sendNothing))
  })
}

function sendCreated(reply: FastifyReply, body: string): FastifyReply {
  const { id } = JSON.parse(body) as { id: string }
  return sendShownOnce(reply.code(201).header('location', `${keysPath}/${id}`), body)
}
