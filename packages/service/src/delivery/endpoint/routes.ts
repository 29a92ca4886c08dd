import type { Caller } from '../../auth/authenticator.ts'
import { createdBetween, paging, word } from '../../http/list-parameters.ts'
import { pageBody } from '../../http/replies.ts'
import type { ErrorCode, Problem } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import { done, fail, ok, type Result, refused } from '../../kernel/outcome.ts'
import type { Clock } from '../../kernel/timestamps.ts'
import type { Kind } from '../../kinds/model/kind.ts'
import {
  type ApiModule,
  exampleId,
  exampleIdentity,
  exampleList,
  exampleTime,
  pageOf,
  ref,
  routesOf,
} from '../../openapi/api-module.ts'
import { creationBody, inputs, patchBody, recordSchema } from '../../openapi/field-schemas.ts'
import { type Endpoints, noSuchWebhook, rotationShape, webhookShapes } from './endpoints.ts'
import { createEventTypes, endpointEvents } from './event-types.ts'
import { secretField, webhookFields } from './records.ts'
import type { WebhookStore } from './store.ts'
import { type WebhookRow, webhookRecord } from './webhook.ts'

interface EndpointServices {
  readonly endpoints: Endpoints
  readonly store: Pick<WebhookStore, 'list'>
  readonly clock: Clock
  readonly disableAfter: number
}

const route = routesOf<EndpointServices>()
export const reading = { tag: 'webhooks', access: 'webhooks:read' } as const
export const writing = { tag: 'webhooks', access: 'webhooks:write' } as const
const urlErrors: readonly ErrorCode[] = ['url_not_https', 'url_not_public', 'url_not_resolvable']

export function endpointApi(kinds: readonly Kind[]) {
  const types = createEventTypes(kinds).subscribable
  const example = exampleWebhook(types.slice(0, 2))

  const listWebhooks = route({
    ...reading,
    method: 'get',
    path: '/v1/webhooks',
    id: 'listWebhooks',
    summary: 'List endpoints',
    query: {
      ...paging,
      status: word(['active', 'paused', 'disabled'], 'Has this status.'),
      ...createdBetween,
    },
    answers: {
      200: {
        description: 'A page of endpoints, newest first.',
        schema: ref('WebhookPage'),
        examples: () => ({ page: exampleList(example) }),
      },
    },
    async handle({ store, clock, disableAfter }, call) {
      const query = call.query()
      if (!query.ok) return refused(query.error)
      const { organizationId } = call.caller
      const found = await store.list(organizationId, query.value, query.value, clock.now())
      return done(pageBody(found, query.value, (row) => webhookRecord(organizationId, row, disableAfter)))
    },
  })

  return {
    sent: () =>
      Object.entries(endpointEvents).map(([type, when]) => ({
        type,
        summary: `Sent when ${when}`,
        data: ref('Webhook'),
        example,
      })),
    tags: [{ name: 'webhooks', description: 'Endpoints that events are delivered to, and the log.' }],
    routes: [
      listWebhooks,
      createWebhook,
      readWebhook,
      changeWebhook,
      removeWebhook,
      rotateSecret,
      dropPreviousSecret,
    ],
    schemas() {
      const { creation, change } = webhookShapes(types)
      const fields = webhookFields(types)
      return {
        Webhook: recordSchema('An endpoint that events are delivered to.', fields, example),
        WebhookPage: pageOf(ref('Webhook')),
        WebhookWithSecret: recordSchema(
          'An endpoint as creation and rotation answer it.',
          { ...fields, secret: secretField },
          { ...example, secret: `whsec_${'0123456789ABCDEFGHIJ'.repeat(2)}abc=` },
        ),
        WebhookCreate: creationBody(Object.entries(creation.fields), {
          url: example.url,
          events: example.events,
        }),
        WebhookPatch: patchBody(Object.entries(change.fields), { status: 'active' }),
        WebhookRotation: {
          type: 'object',
          additionalProperties: false,
          properties: inputs(Object.entries(rotationShape.fields)),
          examples: [{ overlap: 3_600 }],
        },
      }
    },
  } satisfies ApiModule
}

const createWebhook = route({
  ...writing,
  method: 'post',
  path: '/v1/webhooks',
  id: 'createWebhook',
  summary: 'Register an endpoint',
  description:
    'The key needs the read scope of every subscribed type as well. The secret is in this answer and nowhere else.',
  body: 'WebhookCreate',
  once: true,
  answers: {
    201: {
      description: 'The endpoint with its secret.',
      schema: ref('WebhookWithSecret'),
      headers: ['Location'],
      shownOnce: true,
    },
  },
  errors: [...urlErrors, 'receiver_not_verified', 'limit_reached'],
  withhold: ({ endpoints }, caller, stored) => endpoints.withhold(caller, 'create', stored),
  handle: ({ endpoints }, { caller, body, record, request }) =>
    endpoints.create(caller, body, record, request.disconnected),
})

const readWebhook = route({
  ...reading,
  method: 'get',
  path: '/v1/webhooks/{id}',
  id: 'getWebhook',
  summary: 'Read an endpoint',
  answers: { 200: { description: 'The endpoint.', schema: ref('Webhook') } },
  errors: ['not_found'],
  async handle({ endpoints, disableAfter }, { caller, params }) {
    const webhook = await webhookOf(endpoints, caller, params)
    return webhook.ok
      ? done(webhookRecord(caller.organizationId, webhook.value, disableAfter))
      : refused(webhook.error)
  },
})

const changeWebhook = route({
  ...writing,
  method: 'patch',
  path: '/v1/webhooks/{id}',
  id: 'updateWebhook',
  summary: 'Change an endpoint, pause or disable it, or make it active again',
  description:
    'A change of url, events, signatures, status or conditions, and any of an endpoint of another key, needs the read scope of every subscribed type as well. A change of url or events, or to active, makes the caller the registrant; status active resets the failure count. standard is added to signatures only when every secret that signs is in standard base64, as new ones are.',
  body: 'WebhookPatch',
  answers: { 200: { description: 'The endpoint.', schema: ref('Webhook') } },
  errors: [...urlErrors, 'not_found'],
  async handle({ endpoints }, { caller, params, body }) {
    const id = parseId(params.id)
    return id === null ? refused(noSuchWebhook(params.id)) : endpoints.change(caller, id, body)
  },
})

const removeWebhook = route({
  ...writing,
  method: 'delete',
  path: '/v1/webhooks/{id}',
  id: 'deleteWebhook',
  summary: 'Delete an endpoint with its log',
  description: 'Of another key: needs the read scope of every subscribed type as well.',
  answers: { 204: { description: 'Deleted.' } },
  errors: ['not_found'],
  async handle({ endpoints }, { caller, params }) {
    const id = parseId(params.id)
    return id === null ? refused(noSuchWebhook(params.id)) : endpoints.remove(caller, id)
  },
})

const rotateSecret = route({
  ...writing,
  method: 'post',
  path: '/v1/webhooks/{id}/rotate-secret',
  id: 'rotateWebhookSecret',
  summary: 'Replace the secret; the old one signs as well for a while',
  description:
    'At most 20 secrets sign, the new one among them. Sending the newest one again changes nothing. Needs the read scope of every subscribed type as well.',
  body: 'WebhookRotation',
  bodyOptional: true,
  once: true,
  answers: {
    200: {
      description: 'The endpoint with its new secret.',
      schema: ref('WebhookWithSecret'),
      shownOnce: true,
    },
  },
  errors: ['not_found', 'limit_reached'],
  withhold: ({ endpoints }, caller, stored) => endpoints.withhold(caller, 'rotate', stored),
  async handle({ endpoints }, { caller, params, body, record }) {
    const id = parseId(params.id)
    return id === null ? refused(noSuchWebhook(params.id)) : endpoints.rotate(caller, id, body, record)
  },
})

const dropPreviousSecret = route({
  ...writing,
  method: 'delete',
  path: '/v1/webhooks/{id}/previous-secret',
  id: 'deletePreviousWebhookSecret',
  summary: 'End the overlap: only the newest secret signs',
  answers: { 204: { description: 'Replaced secrets sign no more.' } },
  errors: ['not_found'],
  async handle({ endpoints }, { caller, params }) {
    const id = parseId(params.id)
    return id === null ? refused(noSuchWebhook(params.id)) : endpoints.dropPrevious(caller, id)
  },
})

/** The endpoint in a path, or 404. */
export async function webhookOf(
  endpoints: Endpoints,
  { organizationId }: Caller,
  { id: text }: { readonly id: string },
): Promise<Result<WebhookRow, Problem>> {
  const id = parseId(text)
  const webhook = id === null ? null : await endpoints.read(organizationId, id)
  return webhook === null ? fail(noSuchWebhook(text)) : ok(webhook)
}

function exampleWebhook(events: readonly string[]) {
  return {
    ...exampleIdentity('webhook'),
    url: 'https://example.com/hooks',
    description: null,
    events,
    signatures: ['service'],
    status: 'active',
    disabledReason: null,
    disabledAt: null,
    failingSince: null,
    disablesAt: null,
    failureCount: 0,
    lastSuccessAt: null,
    missedSince: null,
    previousSecretExpiresAt: null,
    apiKeyId: exampleId(1),
    consoleLinkId: null,
    updatedAt: exampleTime,
  }
}
