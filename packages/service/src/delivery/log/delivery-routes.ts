/** The routes of deliveries: the log, its attempts, manual retry and ping (specification 11.1). */
import { grants } from '../../auth/scopes.ts'
import { anId, createdBetween, type Page, paging, word } from '../../http/list-parameters.ts'
import { listBody, pageBody } from '../../http/replies.ts'
import type { StreamTable } from '../../journal/stream-table.ts'
import { noSuch, type Problem, problem } from '../../kernel/errors.ts'
import { newIdAt, parseId } from '../../kernel/ids.ts'
import { done, fail, type Outcome, ok, outcomeOf, type Result, refused } from '../../kernel/outcome.ts'
import type { Clock } from '../../kernel/timestamps.ts'
import type { Kind } from '../../kinds/model/kind.ts'
import {
  type ApiModule,
  type Call,
  exampleId,
  exampleIdentity,
  exampleList,
  exampleTime,
  pageOf,
  ref,
  routesOf,
} from '../../openapi/api-module.ts'
import { recordSchema } from '../../openapi/field-schemas.ts'
import { type Endpoints, noSuchWebhook, webhookDisabled } from '../endpoint/endpoints.ts'
import { createEventTypes, type EventTypes } from '../endpoint/event-types.ts'
import { attemptFields, deliveryFields, retriedNowFields } from '../endpoint/records.ts'
import { reading, webhookOf, writing } from '../endpoint/routes.ts'
import type { WebhookStore } from '../endpoint/store.ts'
import { sealResponse, type Vault } from '../endpoint/vault.ts'
import { attemptRecord, type DeliveryRow, deliveryRecord, type WebhookRow } from '../endpoint/webhook.ts'
import { attemptsOf, type DeliverySchedule } from '../model.ts'
import type { EndpointQueues } from '../queue/endpoint-queues.ts'
import { showsNames } from '../queue/origin.ts'
import { type DeliveryLog, type LogFilter, logStatuses } from './log.ts'
import type { ReadPayload } from './preview-payload.ts'

interface DeliveryServices {
  readonly endpoints: Endpoints
  readonly store: WebhookStore
  readonly deliveries: DeliveryLog
  readonly payloadOf: ReadPayload
  readonly eventTypes: EventTypes
  readonly tables: readonly StreamTable[]
  readonly vault: Vault
  readonly clock: Clock
  readonly schedule: DeliverySchedule
  readonly retryNow: EndpointQueues['retryNow']
  readonly retention: number
  readonly wake: () => void
}

const route = routesOf<DeliveryServices>()

export function deliveryApi(kinds: readonly Kind[]) {
  const types = createEventTypes(kinds).names
  const pending = exampleDelivery(types[0] ?? 'ping')
  const succeeded = {
    ...pending,
    status: 'succeeded',
    attemptCount: 1,
    responseStatus: 204,
    durationMs: 38,
    lastAttemptAt: exampleTime,
    nextAttemptAt: null,
    deliveredAt: exampleTime,
  }

  const filters = {
    ...paging,
    status: word(logStatuses, 'Has this status; `undelivered`: is pending or failed.'),
    eventType: word([...types, 'ping'], 'Reports this.'),
    eventId: anId('Reports the event with this id, which receivers get as `id` and `webhook-id`.', null),
    ...createdBetween,
  }
  const aPage = {
    description: 'A page of deliveries.',
    schema: ref('DeliveryPage'),
    examples: () => ({ page: exampleList(pending) }),
  }

  const listDeliveries = route({
    ...reading,
    method: 'get',
    path: '/v1/webhooks/{id}/deliveries',
    id: 'listDeliveries',
    summary: 'The delivery log, newest first',
    query: filters,
    answers: { 200: aPage },
    errors: ['not_found'],
    async handle(services, call) {
      const query = call.query()
      if (!query.ok) return refused(query.error)
      const { organizationId } = call.caller
      const webhook = await webhookOf(services.endpoints, call.caller, call.params)
      if (!webhook.ok) return refused(webhook.error)
      return done(await pageOfLog(services, { organizationId, webhookId: webhook.value.id }, query.value))
    },
  })

  const listAllDeliveries = route({
    ...reading,
    method: 'get',
    path: '/v1/deliveries',
    id: 'listAllDeliveries',
    summary: 'The delivery log of all endpoints, newest first',
    query: {
      ...filters,
      webhookId: anId('Goes to this endpoint; to one that does not exist, nothing does.', null),
    },
    answers: { 200: aPage },
    async handle(services, call) {
      const query = call.query()
      if (!query.ok) return refused(query.error)
      const { webhookId, ...filter } = query.value
      return done(
        await pageOfLog(services, { organizationId: call.caller.organizationId, webhookId }, filter),
      )
    },
  })

  const readDelivery = route({
    ...reading,
    method: 'get',
    path: '/v1/webhooks/{id}/deliveries/{deliveryId}',
    id: 'getDelivery',
    summary: 'Read a delivery',
    answers: {
      200: { description: 'The delivery.', schema: ref('Delivery'), examples: () => ({ succeeded }) },
    },
    errors: ['not_found'],
    async handle(services, call) {
      const found = await deliveryOf(services, call)
      if (!found.ok) return refused(found.error)
      return done(deliveryRecord(call.caller.organizationId, found.value.delivery))
    },
  })

  return {
    tags: [],
    routes: [
      pingWebhook,
      listAllDeliveries,
      listDeliveries,
      readDelivery,
      listAttempts,
      readPayload,
      retryDelivery,
      resendDelivery,
      retryDeliveriesNow,
    ],
    schemas: () => ({
      Delivery: recordSchema(
        'One event on its way to one endpoint. It never holds the payload.',
        deliveryFields,
        pending,
      ),
      DeliveryPage: pageOf(ref('Delivery')),
      Attempt: recordSchema('One try of a delivery.', attemptFields, exampleAttempt),
      AttemptPage: pageOf(ref('Attempt')),
      RetriedNow: recordSchema('The deliveries that are attempted now.', retriedNowFields, exampleRetriedNow),
    }),
    sent: () => [
      {
        type: 'ping',
        summary: 'Sent on request, to try an endpoint',
        data: { type: 'object', additionalProperties: false },
        example: {},
      },
    ],
  } satisfies ApiModule
}

const pingWebhook = route({
  ...writing,
  method: 'post',
  path: '/v1/webhooks/{id}/ping',
  id: 'pingWebhook',
  summary: 'Send a ping: one attempt, also while disabled',
  once: true,
  answers: { 202: { description: 'The delivery, pending.', schema: ref('Delivery') } },
  errors: ['not_found'],
  async handle({ endpoints, store, vault, clock, wake }, { caller, params, record }) {
    const { organizationId } = caller
    const webhook = await webhookOf(endpoints, caller, params)
    if (!webhook.ok) return refused(webhook.error)
    const webhookId = webhook.value.id
    const now = clock.now()
    const ids = { eventId: newIdAt(now), deliveryId: newIdAt(now) }
    const answer = JSON.stringify(deliveryRecord(organizationId, newDelivery(webhookId, 'ping', ids, now)))
    const response = await sealResponse(vault, { organizationId, webhookId }, record, answer)
    const pinged = await store.ping(organizationId, webhookId, ids, { now, response })
    if (pinged === 'done') wake()
    return outcomeOf(pinged, answer, { missing: noSuchWebhook(webhookId) })
  },
})

const listAttempts = route({
  ...reading,
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries/{deliveryId}/attempts',
  id: 'listAttempts',
  summary: "A delivery's attempts, newest first",
  description: '`responseBody` is null for a key without the read scope of the event.',
  query: paging,
  answers: {
    200: {
      description: 'A page of attempts.',
      schema: ref('AttemptPage'),
      examples: () => ({ page: exampleList(exampleAttempt) }),
    },
  },
  errors: ['not_found'],
  async handle(services, call) {
    const page = call.query()
    if (!page.ok) return refused(page.error)
    const of = await deliveryOf(services, call)
    if (!of.ok) return refused(of.error)
    const { organizationId, scopes } = call.caller
    const { webhook, delivery } = of.value
    const found = await services.deliveries.attempts(organizationId, webhook.id, delivery.id, page.value)
    // Receivers repeat in their responses what they were sent.
    const isHidden =
      payloadScope(services, call, delivery) !== null ||
      (webhook.options?.includeActor === true && !showsNames(services.tables, scopes))
    return done(
      pageBody(found, page.value, (row) => attemptRecord(isHidden ? { ...row, response_body: null } : row)),
    )
  },
})

const readPayload = route({
  ...reading,
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries/{deliveryId}/payload',
  id: 'getDeliveryPayload',
  summary: 'Read the body that the delivery would have now',
  description:
    'Byte for byte what the next attempt sends as its body; of one that is not pending, what a retry would. Needs the read scope of its event as well.',
  answers: {
    200: {
      description: 'The envelope of the event.',
      schema: { type: 'object', description: 'As in the schemas of events.', additionalProperties: true },
      examples: () => ({
        ping: {
          id: exampleId(9),
          type: 'ping',
          apiVersion: 'v1',
          createdAt: exampleTime,
          organizationId: exampleId(0),
          data: {},
        },
      }),
    },
  },
  errors: ['not_found'],
  async handle(services, call) {
    const found = await deliveryOf(services, call)
    if (!found.ok) return refused(found.error)
    const { delivery } = found.value
    const { id, webhook_id: webhookId, event_type: eventType } = delivery
    const { organizationId, scopes } = call.caller
    const scope = payloadScope(services, call, delivery)
    if (scope !== null) {
      const detail = `This shows the object of ${eventType}: it needs a key with the scope ${scope} as well.`
      return refused(problem('insufficient_scope', detail))
    }
    const payload = await services.payloadOf({ organizationId, webhookId }, id, scopes)
    if (payload === null) {
      return refused(
        problem('not_found', 'The object of this delivery was removed: nothing of it would be sent.'),
      )
    }
    return done(payload)
  },
})

const retryDelivery = route({
  ...writing,
  method: 'post',
  path: '/v1/webhooks/{id}/deliveries/{deliveryId}/retry',
  id: 'retryDelivery',
  summary: 'Send a failed delivery again',
  description:
    'It goes out with the payload that was stored with its event, and the whole schedule begins anew. Needs the read scope of every subscribed type as well.',
  once: true,
  answers: { 202: { description: 'The delivery, pending.', schema: ref('Delivery') } },
  errors: ['not_found', 'delivery_succeeded', 'delivery_skipped', 'delivery_pending', 'webhook_disabled'],
  handle: (services, call) =>
    sendAgain(services, call, notRetryable, (delivery, attempts, now) => ({
      ...delivery,
      status: 'pending',
      max_attempts: delivery.attempt_count + attempts,
      next_attempt_at: new Date(now),
      updated_at: new Date(Math.max(now, delivery.updated_at.getTime() + 1)),
    })),
})

const resendDelivery = route({
  ...writing,
  method: 'post',
  path: '/v1/webhooks/{id}/deliveries/{deliveryId}/resend',
  id: 'resendDelivery',
  summary: 'Send an event that has arrived once more',
  description:
    'Makes a new delivery of the same event, with the same event id; `data` is read anew. The delivery that has succeeded stays in the log as it is. Needs the read scope of every subscribed type as well.',
  once: true,
  answers: { 202: { description: 'The new delivery, pending.', schema: ref('Delivery') } },
  errors: ['not_found', 'delivery_failed', 'delivery_skipped', 'delivery_pending', 'webhook_disabled'],
  handle: (services, call) =>
    sendAgain(services, call, notResendable, (delivery, attempts, now) => {
      const ids = { eventId: delivery.event_id, deliveryId: newIdAt(now) }
      return { ...newDelivery(delivery.webhook_id, delivery.event_type, ids, now), max_attempts: attempts }
    }),
})

/** `whyNot`: why its state does not allow it. `pendingOf`: the delivery that is then pending. */
async function sendAgain(
  services: DeliveryServices,
  call: OfDelivery & Pick<Call, 'record'>,
  whyNot: typeof notRetryable,
  pendingOf: (delivery: DeliveryRow, attempts: number, now: number) => DeliveryRow,
): Promise<Outcome<string>> {
  const { deliveries, vault, clock, schedule, wake } = services
  const { caller, record } = call
  const { organizationId } = caller
  const found = await ownDelivery(services, call)
  if (!found.ok) return refused(found.error)
  const { webhook, delivery } = found.value
  const webhookId = webhook.id
  // With an Idempotency-Key the database decides: an identical request may have sent it again already.
  const fault = record === null ? whyNot(webhook, delivery) : null
  if (fault !== null) return refused(fault)
  const now = clock.now()
  // A ping has only one attempt.
  const attempts = delivery.event_type === 'ping' ? 1 : attemptsOf(schedule)
  const pending = pendingOf(delivery, attempts, now)
  const answer = JSON.stringify(deliveryRecord(organizationId, pending))
  const response = await sealResponse(vault, { organizationId, webhookId }, record, answer)
  const options = { now, attempts, response }
  const sent = await deliveries.sendAgain(organizationId, webhookId, delivery.id, pending, options)
  if (sent === 'refused') return refused(await whyNotNow(services, call, whyNot))
  if (sent === 'done') wake()
  return outcomeOf(sent, answer, {})
}

/** Per call, as completions of the endpoint wait meanwhile (decision 31). */
const retriedAtOnce = 5_000

const exampleRetriedNow = { object: 'retried_now', webhookId: exampleId(5), retried: 110, hasMore: false }

const retryDeliveriesNow = route({
  ...writing,
  method: 'post',
  path: '/v1/webhooks/{id}/retry-now',
  id: 'retryDeliveriesNow',
  client: 'webhooks.retryNow',
  summary: 'Attempt now what waits for a later attempt',
  description:
    'For an endpoint that is healthy again: deliveries that are pending are attempted at once instead of at the end of their delay; their schedules go on from there. Up to 5,000 a call, those that are due soonest first: while `hasMore` is true, ask again. Needs the read scope of every subscribed type as well.',
  once: true,
  answers: {
    200: {
      description: 'How many were made due.',
      schema: ref('RetriedNow'),
      examples: () => ({ retried: exampleRetriedNow }),
    },
  },
  errors: ['not_found', 'webhook_disabled'],
  async handle({ endpoints, eventTypes, retryNow, clock, wake }, { caller, params }) {
    const webhook = await webhookOf(endpoints, caller, params)
    if (!webhook.ok) return refused(webhook.error)
    const { id: webhookId, events } = webhook.value
    const refusal = eventTypes.unreadable(caller.scopes, events)
    if (refusal !== null) return refused(refusal)
    const { organizationId } = caller
    const retried = await retryNow({ organizationId, webhookId }, clock.now(), retriedAtOnce)
    if (retried === null) return refused(webhookDisabled(webhook.value, 'retry now'))
    wake()
    const answer = { object: 'retried_now', webhookId, retried, hasMore: retried === retriedAtOnce }
    // Stored after the commit: if it is lost, the deliveries stay due, and repeating the call changes nothing.
    return { outcome: 'unchanged', value: JSON.stringify(answer), about: webhookId }
  },
})

async function pageOfLog(
  services: DeliveryServices,
  of: Parameters<DeliveryLog['page']>[0],
  { limit, offset, ...filter }: LogFilter & Page,
): Promise<Buffer> {
  const found = await services.deliveries.page(of, filter, { limit, offset }, since(services))
  const { rows, total, totalIsExact, hasMore } = found
  const records = rows.map((row) => JSON.stringify(deliveryRecord(of.organizationId, row))).join(',')
  const exactness = totalIsExact ? {} : { totalIsExact }
  return listBody(records, { total, limit, offset, hasMore, ...exactness })
}

type OfDelivery = Pick<Call<'id' | 'deliveryId'>, 'caller' | 'params'>

interface FoundDelivery {
  readonly webhook: WebhookRow
  readonly delivery: DeliveryRow
}

/** The delivery in a path with its endpoint, or a refusal for the missing part. */
async function deliveryOf(
  services: DeliveryServices,
  { caller, params }: OfDelivery,
): Promise<Result<FoundDelivery, Problem>> {
  const { organizationId } = caller
  const webhook = await webhookOf(services.endpoints, caller, params)
  if (!webhook.ok) return webhook
  const id = parseId(params.deliveryId)
  const delivery =
    id === null ? null : await services.deliveries.read(organizationId, webhook.value.id, id, since(services))
  if (delivery !== null) return ok({ webhook: webhook.value, delivery })
  return fail(
    noSuch('delivery', params.deliveryId, 'It is of another webhook, or older than the log goes back.'),
  )
}

/** The same, for a caller that may read all that the endpoint is sent. */
async function ownDelivery(
  services: DeliveryServices,
  call: OfDelivery,
): Promise<Result<FoundDelivery, Problem>> {
  const webhook = await webhookOf(services.endpoints, call.caller, call.params)
  if (!webhook.ok) return webhook
  const refusal = services.eventTypes.unreadable(call.caller.scopes, webhook.value.events)
  return refusal === null ? deliveryOf(services, call) : fail(refusal)
}

/** The scope that the caller lacks to see what the delivery carries; null: none. */
function payloadScope(
  { eventTypes }: DeliveryServices,
  { caller }: Pick<Call, 'caller'>,
  { event_type: eventType }: DeliveryRow,
): string | null {
  const scope = eventTypes.scopeOf(eventType)
  return scope === undefined || grants(caller.scopes, scope) ? null : scope
}

function since({ clock, retention }: DeliveryServices): number {
  return clock.now() - retention
}

/** Why the database refused to send the delivery again. */
async function whyNotNow(
  services: DeliveryServices,
  call: OfDelivery,
  whyNot: typeof notRetryable,
): Promise<Problem> {
  const found = await deliveryOf(services, call)
  if (!found.ok) return found.error
  const { webhook, delivery } = found.value
  const why = whyNot(webhook, delivery)
  if (why !== null) return why
  const { organizationId } = call.caller
  if (await services.deliveries.isPending(organizationId, webhook.id, delivery.event_id))
    return problem('delivery_pending', 'Its event is on its way already, as another delivery. Wait for that.')
  return problem('unavailable', 'The delivery just changed. Send it again.')
}

/** Why the delivery cannot be retried in its current state; null when it can. */
function notRetryable(webhook: WebhookRow, delivery: DeliveryRow): Problem | null {
  if (delivery.status === 'succeeded') {
    return problem('delivery_succeeded', 'This delivery has succeeded: the receiver has it.')
  }
  if (delivery.status === 'pending') return pendingAlready(delivery)
  if (delivery.status === 'skipped') return skipped
  return webhook.status === 'disabled' ? webhookDisabled(webhook, 'retry') : null
}

/** Why the event of the delivery cannot be sent as a new one; null when it can. */
function notResendable(webhook: WebhookRow, delivery: DeliveryRow): Problem | null {
  if (delivery.status === 'pending') return pendingAlready(delivery)
  if (delivery.status === 'failed')
    return problem('delivery_failed', 'This delivery has failed: retry it instead, with POST …/retry.')
  if (delivery.status === 'skipped') return skipped
  return webhook.status === 'disabled' ? webhookDisabled(webhook, 'resend') : null
}

const skipped = problem(
  'delivery_skipped',
  "The endpoint's conditions, skipOwn or coalesce left this event out: lastError says which. Change that, then recover.",
)

function pendingAlready(delivery: DeliveryRow): Problem {
  const next = delivery.next_attempt_at?.toISOString()
  return problem(
    'delivery_pending',
    `This delivery is pending${next ? `: its next attempt is due at ${next}` : ''}. Wait for it.`,
  )
}

/** As the database creates it, with one attempt. */
function newDelivery(
  webhookId: string,
  eventType: string,
  ids: { eventId: string; deliveryId: string },
  now: number,
): DeliveryRow {
  const at = new Date(now)
  return {
    id: ids.deliveryId,
    webhook_id: webhookId,
    event_id: ids.eventId,
    event_type: eventType,
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

function exampleDelivery(eventType: string) {
  return {
    ...exampleIdentity('delivery'),
    webhookId: exampleId(5),
    eventId: exampleId(9),
    eventType,
    status: 'pending',
    attemptCount: 0,
    maxAttempts: 6,
    responseStatus: null,
    lastError: null,
    durationMs: null,
    lastAttemptAt: null,
    nextAttemptAt: exampleTime,
    deliveredAt: null,
    updatedAt: exampleTime,
  }
}

const exampleAttempt = {
  number: 1,
  at: exampleTime,
  responseStatus: 500,
  error: { code: 'non_2xx', message: 'The receiver answered 500.' },
  durationMs: 212,
  responseBody: 'Internal Server Error',
}
