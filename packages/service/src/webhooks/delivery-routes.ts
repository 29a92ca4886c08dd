/** The routes of deliveries: the log, its attempts, manual retry and ping (specification 11). */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { attemptsOf, type DeliverySchedule } from '../delivery/model.ts'
import { callerOf, requireScope } from '../http/authenticate.ts'
import { parseWord } from '../http/list-parameters.ts'
import { parsePaging } from '../http/page.ts'
import { sendProblem } from '../http/problem-reply.ts'
import { answerOnce, searchParameters, sendJson, sendList, sendPage } from '../http/replies.ts'
import type { Clock } from '../kernel/clock.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { newIdAt, parseId } from '../kernel/ids.ts'
import { type Endpoints, noSuchWebhook, webhookDisabled } from './endpoints.ts'
import type { EventTypes } from './event-types.ts'
import { keptAnswer } from './kept-answer.ts'
import type { DeliveryLog } from './log.ts'
import { type WebhookAccess, type WithId, webhookOf, webhooksPath } from './routes.ts'
import type { SecretBox } from './secrets.ts'
import type { WebhookStore } from './store.ts'
import { attemptRecord, type DeliveryRow, deliveryRecord, type WebhookRow } from './webhook.ts'

interface WithDelivery {
  Params: { id: string; deliveryId: string }
}

export function registerDeliveryRoutes(
  server: FastifyInstance,
  services: {
    readonly endpoints: Endpoints
    readonly store: WebhookStore
    readonly deliveries: DeliveryLog
    readonly eventTypes: EventTypes
    readonly box: SecretBox
    readonly clock: Clock
    readonly schedule: DeliverySchedule
    /** How long the log goes back, in milliseconds. */
    readonly retention: number
    readonly wake: () => void
  },
  { directory, idempotency }: WebhookAccess,
): void {
  const { endpoints, store, deliveries, eventTypes, box, clock, schedule, retention, wake } = services
  const all = `${webhooksPath}/:id/deliveries`
  const one = `${all}/:deliveryId`
  const reading = { onRequest: requireScope(directory, 'webhooks:read') }
  const writing = { onRequest: requireScope(directory, 'webhooks:write') }

  server.get<WithId>(all, reading, async (request, reply) => {
    const webhook = await webhookOf(endpoints, request)
    if ('code' in webhook) return sendProblem(reply, webhook)
    const query = searchParameters(request)
    const page = parsePaging(query, ['status', 'eventType'])
    if (!page.ok) return sendProblem(reply, page.error)
    const status = parseWord(query, 'status', ['pending', 'succeeded', 'failed'])
    if (!status.ok) return sendProblem(reply, status.error)
    const eventType = parseWord(query, 'eventType', [...eventTypes.names, 'ping'])
    if (!eventType.ok) return sendProblem(reply, eventType.error)
    const { organizationId } = callerOf(request)
    const found = await deliveries.page(
      { organizationId, webhookId: webhook.id },
      { status: status.value, eventType: eventType.value },
      page.value,
      since(),
    )
    const records = found.rows.map((row) => JSON.stringify(deliveryRecord(organizationId, row))).join(',')
    const { total, totalIsExact, hasMore } = found
    return sendList(reply, records, {
      total,
      ...page.value,
      hasMore,
      ...(totalIsExact ? {} : { totalIsExact }),
    })
  })

  server.get<WithDelivery>(one, reading, async (request, reply) => {
    const delivery = await readDelivery(request)
    if ('code' in delivery) return sendProblem(reply, delivery)
    return sendJson(reply, JSON.stringify(deliveryRecord(callerOf(request).organizationId, delivery)))
  })

  server.get<WithDelivery>(`${one}/attempts`, reading, async (request, reply) => {
    const delivery = await readDelivery(request)
    if ('code' in delivery) return sendProblem(reply, delivery)
    const page = parsePaging(searchParameters(request))
    if (!page.ok) return sendProblem(reply, page.error)
    const { organizationId } = callerOf(request)
    const { webhook_id: webhookId, id } = delivery
    const found = await deliveries.attempts({ organizationId, webhookId, id }, page.value)
    return sendPage(reply, found, page.value, attemptRecord)
  })

  server.post<WithDelivery>(`${one}/retry`, writing, (request, reply) =>
    answerOnce(request, reply, {
      store: idempotency,
      status: 202,
      send: sendJson,
      async run(record) {
        const { organizationId, scopes } = callerOf(request)
        const webhook = await webhookOf(endpoints, request)
        if ('code' in webhook) return sendProblem(reply, webhook)
        const refusal = eventTypes.unreadable(scopes, webhook.events)
        if (refusal !== null) return sendProblem(reply, refusal)
        const delivery = await readDelivery(request)
        if ('code' in delivery) return sendProblem(reply, delivery)
        // With a key the database is asked first: a twin may have begun, or ended, this very retry.
        const settled = record === null ? notRetryable(webhook, delivery) : null
        if (settled !== null) return sendProblem(reply, settled)
        const now = clock.now()
        const updatedAt = Math.max(now, delivery.updated_at.getTime() + 1)
        // A ping keeps to its one attempt.
        const attempts = delivery.event_type === 'ping' ? 1 : attemptsOf(schedule)
        const pending: DeliveryRow = {
          ...delivery,
          status: 'pending',
          max_attempts: delivery.attempt_count + attempts,
          next_attempt_at: new Date(now),
          updated_at: new Date(updatedAt),
        }
        const body = JSON.stringify(deliveryRecord(organizationId, pending))
        const keep = keptAnswer(box, { organizationId, webhookId: webhook.id }, record, body)
        const options = { now, updatedAt, attempts, keep }
        const retried = await store.retry(organizationId, webhook.id, delivery.id, options)
        if (retried === 'replayed') return 'replayed'
        if (retried === 'refused') return sendProblem(reply, await refusalNow(request))
        wake()
        return sendJson(reply.code(202), body)
      },
    }),
  )

  server.post<WithId>(`${webhooksPath}/:id/ping`, writing, (request, reply) =>
    answerOnce(request, reply, {
      store: idempotency,
      status: 202,
      send: sendJson,
      async run(record) {
        const { organizationId } = callerOf(request)
        const webhook = await webhookOf(endpoints, request)
        if ('code' in webhook) return sendProblem(reply, webhook)
        const now = clock.now()
        const ids = { eventId: newIdAt(now), deliveryId: newIdAt(now) }
        const body = JSON.stringify(deliveryRecord(organizationId, newPing(webhook.id, ids, now)))
        const keep = keptAnswer(box, { organizationId, webhookId: webhook.id }, record, body)
        const pinged = await store.ping(organizationId, webhook.id, ids, { now, keep })
        if (pinged === 'replayed') return 'replayed'
        if (pinged === 'missing') return sendProblem(reply, noSuchWebhook(webhook.id))
        wake()
        return sendJson(reply.code(202), body)
      },
    }),
  )

  function since(): number {
    return clock.now() - retention
  }

  /** Why the delivery cannot be retried now that the database said so. */
  async function refusalNow(request: FastifyRequest<WithDelivery>): Promise<Problem> {
    const webhook = await webhookOf(endpoints, request)
    if ('code' in webhook) return webhook
    const delivery = await readDelivery(request)
    if ('code' in delivery) return delivery
    return (
      notRetryable(webhook, delivery) ?? problem('unavailable', 'The delivery just changed. Send it again.')
    )
  }

  async function readDelivery(request: FastifyRequest<WithDelivery>): Promise<DeliveryRow | Problem> {
    const webhook = await webhookOf(endpoints, request)
    if ('code' in webhook) return webhook
    const id = parseId(request.params.deliveryId)
    const { organizationId } = callerOf(request)
    const delivery = id === null ? null : await deliveries.read(organizationId, webhook.id, id, since())
    const missing = `There is no delivery ${request.params.deliveryId} of this webhook; the log goes back only so far.`
    return delivery ?? problem('not_found', missing)
  }
}

/** Why a delivery cannot be retried as it stands; null when it can. */
function notRetryable(webhook: WebhookRow, delivery: DeliveryRow): Problem | null {
  if (delivery.status === 'succeeded') {
    return problem('delivery_succeeded', 'This delivery has succeeded: the receiver has it.')
  }
  if (delivery.status === 'pending') return pendingAlready(delivery)
  return webhook.status === 'disabled' ? webhookDisabled(webhook, 'retry') : null
}

function pendingAlready(delivery: DeliveryRow): Problem {
  const next = delivery.next_attempt_at?.toISOString()
  return problem(
    'delivery_pending',
    `This delivery is pending${next ? `: its next attempt is due at ${next}` : ''}. Wait for it.`,
  )
}

function newPing(webhookId: string, ids: { eventId: string; deliveryId: string }, now: number): DeliveryRow {
  const at = new Date(now)
  return {
    id: ids.deliveryId,
    webhook_id: webhookId,
    event_id: ids.eventId,
    event_type: 'ping',
    status: 'pending',
    attempt_count: 0,
    max_attempts: 1,
    response_status: null,
    last_error_code: null,
    last_error_message: null,
    duration_ms: null,
    last_attempt_at: null,
    next_attempt_at: at,
    delivered_at: null,
    created_at: at,
    updated_at: at,
  }
}
