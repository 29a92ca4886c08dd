/** Endpoints, deliveries and what is sent to a receiver, as OpenAPI: paths, schemas, and the section `webhooks`. */
import type { ErrorCode } from '../kernel/errors.ts'
import type { Fields } from '../resource/field.ts'
import type { Kind } from '../resource/kind.ts'
import { createEventTypes } from '../webhooks/event-types.ts'
import { webhookShapes } from '../webhooks/fields.ts'
import {
  attemptFields,
  deliveryFields,
  type ShownField,
  secretField,
  webhookFields,
} from '../webhooks/records.ts'
import {
  errors,
  header,
  id,
  idempotencyKey,
  json,
  pageParameters,
  query,
  requestBody,
  withAlways,
  withBody,
} from './parts.ts'
import { fieldSchema, schemaName } from './schemas.ts'

type Json = Record<string, unknown>

const path = '/v1/webhooks'
const one = `${path}/{id}`
const log = `${one}/deliveries`
const delivery = `${log}/{deliveryId}`

const urlErrors: ErrorCode[] = ['url_not_https', 'url_not_public', 'url_not_resolvable']
const postErrors: ErrorCode[] = ['invalid_parameter', 'idempotency_key_reused', 'not_found']

export const webhookTag = {
  name: 'webhooks',
  description: 'Endpoints that events are delivered to, and the log.',
}

export function webhookPaths(kinds: readonly Kind[]): Json {
  const types = createEventTypes(kinds).names
  return {
    [path]: {
      get: operation('listWebhooks', 'List endpoints', 'read', {
        parameters: [
          ...pageParameters,
          query('status', { type: 'string', enum: ['active', 'disabled'] }, 'Has this value.'),
          query('createdAfter', time, 'Created later than this, exclusive.'),
          query('createdBefore', time, 'Created earlier than this, exclusive.'),
        ],
        responses: {
          '200': json('A page of endpoints', listOf('Webhook')),
          ...errors(['invalid_parameter']),
        },
      }),
      post: operation('createWebhook', 'Register an endpoint', 'write', {
        description:
          'The key needs the read scope of every subscribed type as well. The secret is in this answer and nowhere else.',
        parameters: [idempotencyKey],
        requestBody: requestBody('WebhookCreate'),
        responses: {
          '201': json('The endpoint with its secret', ref('WebhookWithSecret'), {
            Location: { schema: { type: 'string' } },
          }),
          ...errors([...withBody, ...urlErrors, ...postErrors, 'limit_reached']),
        },
      }),
    },
    [one]: {
      get: operation('getWebhook', 'Read an endpoint', 'read', {
        parameters: [id],
        responses: { '200': json('The endpoint', ref('Webhook')), ...errors(['not_found']) },
      }),
      patch: operation('updateWebhook', 'Change an endpoint, disable it or make it active again', 'write', {
        parameters: [id],
        requestBody: requestBody('WebhookPatch'),
        responses: {
          '200': json('The endpoint', ref('Webhook')),
          ...errors([...withBody, ...urlErrors, 'not_found']),
        },
      }),
      delete: operation('deleteWebhook', 'Delete an endpoint with its log', 'write', {
        parameters: [id],
        responses: { '204': { description: 'Deleted.' }, ...errors(['not_found']) },
      }),
    },
    [`${one}/rotate-secret`]: {
      post: operation(
        'rotateWebhookSecret',
        'Replace the secret; the old one signs as well for a while',
        'write',
        {
          parameters: [id, idempotencyKey],
          responses: {
            '200': json('The endpoint with its new secret', ref('WebhookWithSecret')),
            ...errors(postErrors),
          },
        },
      ),
    },
    [`${one}/previous-secret`]: {
      delete: operation(
        'deletePreviousWebhookSecret',
        'End the overlap: only the newest secret signs',
        'write',
        {
          parameters: [id],
          responses: { '204': { description: 'Replaced secrets sign no more.' }, ...errors(['not_found']) },
        },
      ),
    },
    [`${one}/ping`]: {
      post: operation('pingWebhook', 'Send a ping: one attempt, also while disabled', 'write', {
        parameters: [id, idempotencyKey],
        responses: {
          '202': json('The delivery, pending', ref('Delivery')),
          ...errors(postErrors),
        },
      }),
    },
    [log]: {
      get: operation('listDeliveries', 'The delivery log, newest first', 'read', {
        parameters: [
          id,
          ...pageParameters,
          query('status', { type: 'string', enum: ['pending', 'succeeded', 'failed'] }, 'Has this value.'),
          query('eventType', { type: 'string', enum: [...types, 'ping'] }, 'Tells of this.'),
        ],
        responses: {
          '200': json('A page of deliveries', listOf('Delivery')),
          ...errors(['invalid_parameter', 'not_found']),
        },
      }),
    },
    [delivery]: {
      get: operation('getDelivery', 'Read a delivery', 'read', {
        parameters: [id, deliveryId],
        responses: { '200': json('The delivery', ref('Delivery')), ...errors(['not_found']) },
      }),
    },
    [`${delivery}/attempts`]: {
      get: operation('listAttempts', "A delivery's attempts, newest first", 'read', {
        parameters: [id, deliveryId, ...pageParameters],
        responses: {
          '200': json('A page of attempts', listOf('Attempt')),
          ...errors(['invalid_parameter', 'not_found']),
        },
      }),
    },
    [`${delivery}/retry`]: {
      post: operation('retryDelivery', 'Send a failed delivery again', 'write', {
        description:
          'It goes out with the payload that was stored with its event, and the whole schedule begins anew.',
        parameters: [id, deliveryId, idempotencyKey],
        responses: {
          '202': json('The delivery, pending', ref('Delivery')),
          ...errors([...postErrors, 'delivery_succeeded', 'delivery_pending', 'webhook_disabled']),
        },
      }),
    },
  }
}

export function webhookSchemas(kinds: readonly Kind[]): Json {
  const types = createEventTypes(kinds).names
  const { creation, change } = webhookShapes(types)
  const fields = webhookFields(types)
  return {
    Webhook: record('An endpoint that events are delivered to.', fields),
    WebhookWithSecret: record('An endpoint as creation and rotation answer it.', {
      ...fields,
      secret: secretField,
    }),
    WebhookCreate: {
      type: 'object',
      additionalProperties: false,
      required: ['url', 'events'],
      properties: inputs(creation.fields),
      examples: [{ url: 'https://example.com/hooks', events: types.slice(0, 2) }],
    },
    WebhookPatch: {
      type: 'object',
      additionalProperties: false,
      description: 'Fields left out stay as they are.',
      properties: inputs(change.fields),
    },
    Delivery: record('One event on its way to one endpoint. It never holds the payload.', deliveryFields),
    Attempt: record('One try of a delivery.', attemptFields),
  }
}

/** What a receiver is sent, by type (OpenAPI 3.1, `webhooks`). */
export function sentWebhooks(kinds: readonly Kind[]): Json {
  const events = kinds.flatMap((kind) =>
    Object.entries(kind.events).map(([type, when]) => {
      const data = ref(type === kind.removedEvent ? 'Removed' : schemaName(kind))
      return [type, sent(type, `Sent when ${when}`, data)] as const
    }),
  )
  const nothing = { type: 'object', additionalProperties: false }
  return Object.fromEntries([
    ...events,
    ['ping', sent('ping', 'Sent on request, to try an endpoint', nothing)],
  ])
}

function sent(type: string, summary: string, data: Json): Json {
  return {
    post: {
      operationId: `on${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
      tags: ['webhooks'],
      summary,
      security: [],
      parameters: [
        {
          ...header('X-Service-Event-Id', 'The event, identical on every attempt: deduplicate by it.'),
          ...always,
        },
        { ...header('X-Service-Event-Type', 'The type.'), required: true, schema: { const: type } },
        {
          ...header(
            'X-Service-Signature',
            't=<unix seconds>,v1=<hex>: HMAC-SHA256 over `<t>.<raw body>` under the secret, a v1 for each that signs.',
          ),
          required: true,
        },
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: envelope(type, data) } },
      },
      responses: {
        '2XX': { description: 'Taken. Anything else, or nothing within ten seconds, is a failed attempt.' },
      },
    },
  }
}

const always = { required: true, schema: { type: 'string', format: 'uuid' } }

function envelope(type: string, data: Json): Json {
  return {
    type: 'object',
    required: ['id', 'type', 'apiVersion', 'createdAt', 'organizationId', 'data'],
    properties: {
      id: { type: 'string', format: 'uuid' },
      type: { const: type },
      apiVersion: { type: 'string', examples: ['v1'] },
      createdAt: time,
      organizationId: { type: 'string', format: 'uuid' },
      data,
    },
  }
}

const time = { type: 'string', format: 'date-time' }
const deliveryId = { ...id, name: 'deliveryId' }

function operation(
  operationId: string,
  summary: string,
  access: 'read' | 'write',
  more: Json & { responses: Json },
): Json {
  return {
    operationId,
    tags: ['webhooks'],
    summary,
    'x-scope': `webhooks:${access}`,
    ...more,
    responses: withAlways(more.responses),
  }
}

function record(description: string, fields: Readonly<Record<string, ShownField>>): Json {
  return {
    type: 'object',
    description,
    required: Object.keys(fields),
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [
        name,
        { ...field.schema, description: field.description },
      ]),
    ),
  }
}

function inputs(fields: Fields): Json {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, fieldSchema(field, 'input')]),
  )
}

function ref(schema: string): Json {
  return { $ref: `#/components/schemas/${schema}` }
}

function listOf(schema: string): Json {
  return {
    type: 'object',
    required: ['data', 'pagination'],
    properties: {
      data: { type: 'array', items: ref(schema) },
      pagination: ref('Pagination'),
    },
  }
}
