/** What `routes.ts` serves of endpoints, for the document. */
import { createdParameters, pageParameters } from '../http/list-openapi.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import { exampleId, exampleIdentity, exampleList, exampleTime } from '../openapi/examples.ts'
import { type ApiPart, type Operation, pageOf, query, ref } from '../openapi/part.ts'
import type { Kind } from '../resource/kind.ts'
import { inputs } from '../resource/kind-schemas.ts'
import { recordSchema } from '../resource/shown-field.ts'
import { createEventTypes } from './event-types.ts'
import { webhookShapes } from './fields.ts'
import { secretField, webhookFields } from './records.ts'

const path = '/v1/webhooks'
const urlErrors: readonly ErrorCode[] = ['url_not_https', 'url_not_public', 'url_not_resolvable']

/** Endpoints: registration, changes, secrets. */
export function endpointPart(kinds: readonly Kind[]): ApiPart {
  const types = createEventTypes(kinds).names
  const { creation, change } = webhookShapes(types)
  const fields = webhookFields(types)
  const example = exampleWebhook(types.slice(0, 2))
  return {
    tags: [{ name: 'webhooks', description: 'Endpoints that events are delivered to, and the log.' }],
    operations: [...collection(example), ...one(), ...secrets()],
    schemas: {
      Webhook: recordSchema('An endpoint that events are delivered to.', fields, example),
      WebhookWithSecret: recordSchema(
        'An endpoint as creation and rotation answer it.',
        { ...fields, secret: secretField },
        { ...example, secret: `whsec_${'0123456789ABCDEFGHIJ'.repeat(2)}abc` },
      ),
      WebhookCreate: {
        type: 'object',
        additionalProperties: false,
        required: ['url', 'events'],
        properties: inputs(Object.entries(creation.fields)),
        examples: [{ url: example.url, events: example.events }],
      },
      WebhookPatch: {
        type: 'object',
        additionalProperties: false,
        description: 'Fields left out stay as they are.',
        properties: inputs(Object.entries(change.fields)),
        examples: [{ status: 'active' }],
      },
    },
  }
}

function collection(example: object): readonly Operation[] {
  return [
    {
      ...operation('get', 'listWebhooks', 'List endpoints'),
      parameters: [
        ...pageParameters,
        query('status', { type: 'string', enum: ['active', 'disabled'] }, 'Has this status.'),
        ...createdParameters,
      ],
      answers: {
        200: {
          description: 'A page of endpoints, newest first.',
          schema: pageOf('Webhook'),
          examples: { page: exampleList(example) },
        },
      },
    },
    {
      ...operation('post', 'createWebhook', 'Register an endpoint'),
      description:
        'The key needs the read scope of every subscribed type as well. The secret is in this answer and nowhere else.',
      body: 'WebhookCreate',
      answers: {
        201: {
          description: 'The endpoint with its secret.',
          schema: ref('WebhookWithSecret'),
          headers: ['Location'],
        },
      },
      errors: [...urlErrors, 'limit_reached'],
      once: true,
    },
  ]
}

function one(): readonly Operation[] {
  return [
    {
      ...operation('get', 'getWebhook', 'Read an endpoint', '/{id}'),
      answers: { 200: { description: 'The endpoint.', schema: ref('Webhook') } },
      errors: ['not_found'],
    },
    {
      ...operation(
        'patch',
        'updateWebhook',
        'Change an endpoint, disable it or make it active again',
        '/{id}',
      ),
      description:
        'Needs the read scope of every subscribed type as well. A change of url or events, or to active, makes the caller the registrant; status active resets the failure count.',
      body: 'WebhookPatch',
      answers: { 200: { description: 'The endpoint.', schema: ref('Webhook') } },
      errors: [...urlErrors, 'not_found'],
    },
    {
      ...operation('delete', 'deleteWebhook', 'Delete an endpoint with its log', '/{id}'),
      answers: { 204: { description: 'Deleted.' } },
      errors: ['not_found'],
    },
  ]
}

function secrets(): readonly Operation[] {
  return [
    {
      ...operation(
        'post',
        'rotateWebhookSecret',
        'Replace the secret; the old one signs as well for a while',
        '/{id}/rotate-secret',
      ),
      description:
        'At most 20 secrets sign, the new one among them. Needs the read scope of every subscribed type as well.',
      answers: {
        200: { description: 'The endpoint with its new secret.', schema: ref('WebhookWithSecret') },
      },
      errors: ['not_found', 'limit_reached'],
      once: true,
    },
    {
      ...operation(
        'delete',
        'deletePreviousWebhookSecret',
        'End the overlap: only the newest secret signs',
        '/{id}/previous-secret',
      ),
      answers: { 204: { description: 'Replaced secrets sign no more.' } },
      errors: ['not_found'],
    },
  ]
}

/** What an operation on endpoints or on what is theirs has in any case. */
export function operation(method: Operation['method'], id: string, summary: string, below = '') {
  const access = method === 'get' ? 'webhooks:read' : 'webhooks:write'
  return { method, path: `${path}${below}`, id, tag: 'webhooks', summary, access } as const
}

function exampleWebhook(events: readonly string[]) {
  return {
    ...exampleIdentity('webhook'),
    url: 'https://example.com/hooks',
    description: null,
    events,
    status: 'active',
    disabledReason: null,
    disabledAt: null,
    failingSince: null,
    failureCount: 0,
    lastSuccessAt: null,
    previousSecretExpiresAt: null,
    apiKeyId: exampleId(1),
    updatedAt: exampleTime,
  }
}
