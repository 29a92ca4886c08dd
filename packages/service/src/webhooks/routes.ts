/** The routes of endpoints (specification 9.1). */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TokenDirectory } from '../access/admission.ts'
import { callerOf, requireScope } from '../http/authenticate.ts'
import type { IdempotencyStore } from '../http/idempotency.ts'
import { parseWord } from '../http/list-parameters.ts'
import { answer, expectAnswer, sendNothing } from '../http/outcome.ts'
import { parsePage } from '../http/page.ts'
import { sendProblem } from '../http/problem-reply.ts'
import { answerOnce, searchParameters, sendJson, sendPage, sendShownOnce } from '../http/replies.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Problem } from '../kernel/errors.ts'
import { parseId } from '../kernel/ids.ts'
import { type Endpoints, noSuchWebhook } from './endpoints.ts'
import type { WebhookStore } from './store.ts'
import { type WebhookRow, webhookRecord } from './webhook.ts'

export interface WithId {
  Params: { id: string }
}

export const webhooksPath = '/v1/webhooks'

export interface WebhookAccess {
  readonly directory: TokenDirectory
  readonly idempotency: IdempotencyStore
}

export function registerWebhookRoutes(
  server: FastifyInstance,
  services: { readonly endpoints: Endpoints; readonly store: WebhookStore; readonly clock: Clock },
  { directory, idempotency }: WebhookAccess,
): void {
  const { endpoints, store, clock } = services
  const one = `${webhooksPath}/:id`
  const reading = { onRequest: requireScope(directory, 'webhooks:read') }
  const writing = { onRequest: requireScope(directory, 'webhooks:write') }

  server.post(webhooksPath, writing, (request, reply) =>
    answerOnce(request, reply, {
      store: idempotency,
      status: 201,
      send: sendCreated,
      withhold: (kept) => endpoints.withhold(callerOf(request), 'create', kept),
      run: async (record) =>
        answer(reply, await endpoints.create(callerOf(request), request.body, record), sendCreated),
    }),
  )

  server.get(webhooksPath, reading, async (request, reply) => {
    const query = searchParameters(request)
    const parsed = parsePage(query, ['status'])
    if (!parsed.ok) return sendProblem(reply, parsed.error)
    const status = parseWord(query, 'status', ['active', 'disabled'])
    if (!status.ok) return sendProblem(reply, status.error)
    const { organizationId } = callerOf(request)
    const { page } = parsed.value
    const filter = { ...parsed.value.filter, status: status.value }
    const found = await store.list(organizationId, filter, page, clock.now())
    return sendPage(reply, found, page, (row) => webhookRecord(organizationId, row))
  })

  server.get<WithId>(one, reading, async (request, reply) => {
    const webhook = await webhookOf(endpoints, request)
    if ('code' in webhook) return sendProblem(reply, webhook)
    return sendJson(reply, JSON.stringify(webhookRecord(callerOf(request).organizationId, webhook)))
  })

  server.patch<WithId>(one, writing, async (request, reply) => {
    const id = parseId(request.params.id)
    if (id === null) return sendProblem(reply, noSuchWebhook(request.params.id))
    const changed = await endpoints.change(callerOf(request), id, request.body)
    return expectAnswer(answer(reply, changed, sendJson))
  })

  server.delete<WithId>(one, writing, async (request, reply) => {
    const id = parseId(request.params.id)
    if (id === null) return sendProblem(reply, noSuchWebhook(request.params.id))
    return expectAnswer(
      answer(reply, await endpoints.remove(callerOf(request).organizationId, id), sendNothing),
    )
  })

  server.post<WithId>(`${one}/rotate-secret`, writing, (request, reply) =>
    answerOnce(request, reply, {
      store: idempotency,
      status: 200,
      send: sendShownOnce,
      withhold: (kept) => endpoints.withhold(callerOf(request), 'rotate', kept),
      async run(record) {
        const id = parseId(request.params.id)
        if (id === null) return sendProblem(reply, noSuchWebhook(request.params.id))
        return answer(reply, await endpoints.rotate(callerOf(request), id, record), sendShownOnce)
      },
    }),
  )

  server.delete<WithId>(`${one}/previous-secret`, writing, async (request, reply) => {
    const id = parseId(request.params.id)
    if (id === null) return sendProblem(reply, noSuchWebhook(request.params.id))
    const dropped = await endpoints.dropPrevious(callerOf(request).organizationId, id)
    return expectAnswer(answer(reply, dropped, sendNothing))
  })
}

/** The endpoint that a request's path names, or that there is none. */
export async function webhookOf(
  endpoints: Endpoints,
  request: FastifyRequest<WithId>,
): Promise<WebhookRow | Problem> {
  const id = parseId(request.params.id)
  const webhook = id === null ? null : await endpoints.read(callerOf(request).organizationId, id)
  return webhook ?? noSuchWebhook(request.params.id)
}

function sendCreated(reply: FastifyReply, body: string): FastifyReply {
  const { id } = JSON.parse(body) as { id: string }
  return sendShownOnce(reply.code(201).header('location', `${webhooksPath}/${id}`), body)
}
