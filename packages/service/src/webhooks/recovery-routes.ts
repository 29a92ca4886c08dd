/** The routes of recoveries: bringing back what an endpoint has missed, and how far that is (specification 11.4). */
import type { FastifyInstance } from 'fastify'
import { callerOf, requireScope } from '../http/authenticate.ts'
import { parsePaging } from '../http/page.ts'
import { sendProblem } from '../http/problem-reply.ts'
import { answerOnce, searchParameters, sendJson, sendPage } from '../http/replies.ts'
import type { Clock } from '../kernel/clock.ts'
import { problem } from '../kernel/errors.ts'
import { newIdAt, parseId } from '../kernel/ids.ts'
import { type Endpoints, webhookDisabled } from './endpoints.ts'
import type { EventTypes } from './event-types.ts'
import { keptAnswer } from './kept-answer.ts'
import { parseWindow, type RecoveryStore } from './recovery.ts'
import { type WebhookAccess, type WithId, webhookOf, webhooksPath } from './routes.ts'
import type { SecretBox } from './secrets.ts'
import { type RecoveryRow, recoveryRecord } from './webhook.ts'

interface WithRecovery {
  Params: { id: string; recoveryId: string }
}

export function registerRecoveryRoutes(
  server: FastifyInstance,
  services: {
    readonly endpoints: Endpoints
    readonly recoveries: RecoveryStore
    readonly eventTypes: EventTypes
    readonly box: SecretBox
    readonly clock: Clock
    /** How long the log goes back, in milliseconds. */
    readonly retention: number
    readonly wake: () => void
  },
  { directory, idempotency }: WebhookAccess,
): void {
  const { endpoints, recoveries, eventTypes, box, clock, retention, wake } = services
  const one = `${webhooksPath}/:id`
  const reading = { onRequest: requireScope(directory, 'webhooks:read') }
  const writing = { onRequest: requireScope(directory, 'webhooks:write') }

  server.post<WithId>(`${one}/recover`, writing, (request, reply) =>
    answerOnce(request, reply, {
      store: idempotency,
      status: 202,
      send: sendJson,
      async run(record) {
        const { organizationId, scopes } = callerOf(request)
        const webhook = await webhookOf(endpoints, request)
        if ('code' in webhook) return sendProblem(reply, webhook)
        const unreadable = eventTypes.unreadable(scopes, webhook.events)
        if (unreadable !== null) return sendProblem(reply, unreadable)
        const now = clock.now()
        // Stamps may run ahead of the clock: all that has happened is to be in a window without an end.
        const latest = Math.max(now, await recoveries.latest(organizationId))
        const window = parseWindow(request.body, { now, latest, retention })
        if (!window.ok) return sendProblem(reply, window.error)
        // With a key the database is asked first: a twin may have begun this very recovery.
        if (record === null && webhook.status === 'disabled')
          return sendProblem(reply, webhookDisabled(webhook, 'recover'))
        const begun = newRecovery(webhook.id, window.value, now)
        const body = JSON.stringify(recoveryRecord(begun))
        const keep = keptAnswer(box, { organizationId, webhookId: webhook.id }, record, body)
        const came = await recoveries.begin(
          organizationId,
          { ...window.value, webhookId: webhook.id, id: begun.id },
          { now, keep },
        )
        if (came === 'replayed') return 'replayed'
        if (came === 'refused') {
          const meanwhile = await webhookOf(endpoints, request)
          return sendProblem(reply, 'code' in meanwhile ? meanwhile : webhookDisabled(meanwhile, 'recover'))
        }
        wake()
        return sendJson(reply.code(202), body)
      },
    }),
  )

  server.get<WithId>(`${one}/recoveries`, reading, async (request, reply) => {
    const webhook = await webhookOf(endpoints, request)
    if ('code' in webhook) return sendProblem(reply, webhook)
    const page = parsePaging(searchParameters(request))
    if (!page.ok) return sendProblem(reply, page.error)
    const { organizationId } = callerOf(request)
    const found = await recoveries.list(organizationId, webhook.id, page.value)
    return sendPage(reply, found, page.value, recoveryRecord)
  })

  server.get<WithRecovery>(`${one}/recoveries/:recoveryId`, reading, async (request, reply) => {
    const webhook = await webhookOf(endpoints, request)
    if ('code' in webhook) return sendProblem(reply, webhook)
    const id = parseId(request.params.recoveryId)
    const { organizationId } = callerOf(request)
    const row = id === null ? null : await recoveries.read(organizationId, webhook.id, id)
    const missing = `There is no recovery ${request.params.recoveryId} of this webhook; those that are done are kept as long as the log.`
    if (row === null) return sendProblem(reply, problem('not_found', missing))
    return sendJson(reply, JSON.stringify(recoveryRecord(row)))
  })
}

function newRecovery(
  webhookId: string,
  { since, until }: { readonly since: number; readonly until: number },
  now: number,
): RecoveryRow {
  return {
    id: newIdAt(now),
    webhook_id: webhookId,
    since: new Date(since),
    until: new Date(until),
    retried: 0,
    created: 0,
    created_at: new Date(now),
    finished_at: null,
  }
}
