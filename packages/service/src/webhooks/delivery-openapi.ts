/** What `delivery-routes.ts` serves, for the document: pings, the log, its attempts, manual retries. */
import { pageParameters } from '../http/list-openapi.ts'
import { exampleId, exampleIdentity, exampleList, exampleTime } from '../openapi/examples.ts'
import { type ApiPart, type Operation, pageOf, query, ref } from '../openapi/part.ts'
import type { Kind } from '../resource/kind.ts'
import { recordSchema } from '../resource/shown-field.ts'
import { operation } from './endpoint-openapi.ts'
import { createEventTypes } from './event-types.ts'
import { attemptFields, deliveryFields } from './records.ts'

const log = '/{id}/deliveries'
const one = `${log}/{deliveryId}`

/** Deliveries. The ping stands here too: it is an event of no kind. */
export function deliveryPart(kinds: readonly Kind[]): ApiPart {
  const types = createEventTypes(kinds).names
  const pending = exampleDelivery(types[0] ?? 'ping')
  return {
    tags: [],
    operations: [ping(), listDeliveries(types, pending), ...delivery(pending)],
    schemas: {
      Delivery: recordSchema(
        'One event on its way to one endpoint. It never holds the payload.',
        deliveryFields,
        pending,
      ),
      Attempt: recordSchema('One try of a delivery.', attemptFields, exampleAttempt),
    },
    sent: [
      {
        type: 'ping',
        summary: 'Sent on request, to try an endpoint',
        data: { type: 'object', additionalProperties: false },
        example: {},
      },
    ],
  }
}

function ping(): Operation {
  return {
    ...operation('post', 'pingWebhook', 'Send a ping: one attempt, also while disabled', '/{id}/ping'),
    answers: { 202: { description: 'The delivery, pending.', schema: ref('Delivery') } },
    errors: ['not_found'],
    once: true,
  }
}

function listDeliveries(types: readonly string[], example: object): Operation {
  return {
    ...operation('get', 'listDeliveries', 'The delivery log, newest first', log),
    parameters: [
      ...pageParameters,
      query('status', { type: 'string', enum: ['pending', 'succeeded', 'failed'] }, 'Has this status.'),
      query('eventType', { type: 'string', enum: [...types, 'ping'] }, 'Tells of this.'),
    ],
    answers: {
      200: {
        description: 'A page of deliveries.',
        schema: pageOf('Delivery'),
        examples: { page: exampleList(example) },
      },
    },
    errors: ['not_found'],
  }
}

function delivery(pending: object): readonly Operation[] {
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
  return [
    {
      ...operation('get', 'getDelivery', 'Read a delivery', one),
      answers: {
        200: { description: 'The delivery.', schema: ref('Delivery'), examples: { succeeded } },
      },
      errors: ['not_found'],
    },
    {
      ...operation('get', 'listAttempts', "A delivery's attempts, newest first", `${one}/attempts`),
      parameters: pageParameters,
      answers: {
        200: {
          description: 'A page of attempts.',
          schema: pageOf('Attempt'),
          examples: { page: exampleList(exampleAttempt) },
        },
      },
      errors: ['not_found'],
    },
    {
      ...operation('post', 'retryDelivery', 'Send a failed delivery again', `${one}/retry`),
      description:
        'It goes out with the payload that was stored with its event, and the whole schedule begins anew. Needs the read scope of every subscribed type as well.',
      answers: { 202: { description: 'The delivery, pending.', schema: ref('Delivery') } },
      errors: ['not_found', 'delivery_succeeded', 'delivery_pending', 'webhook_disabled'],
      once: true,
    },
  ]
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
