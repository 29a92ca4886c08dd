/** Events that receivers get, by type (OpenAPI 3.1, `webhooks`; specification 5). */

import { constant, exampleId, exampleTime, header, type Json, ref, type SentEvent } from './api-module.ts'

export const sentTag = {
  name: 'events',
  description: 'The request to endpoints: a POST with a signed envelope. A receiver answers it with any 2xx.',
}

export function sentEventObject({ type, summary, data, example }: SentEvent): Json {
  return {
    post: {
      operationId: `on${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
      tags: [sentTag.name],
      summary,
      security: [],
      parameters: [
        {
          ...header('X-Service-Event-Id', 'The event, identical on every attempt: deduplicate by it.'),
          required: true,
          schema: { type: 'string', format: 'uuid' },
        },
        { ...header('X-Service-Event-Type', 'The type.'), required: true, schema: constant(type) },
        {
          ...header(
            'X-Service-Signature',
            't=<unix seconds>,v1=<hex>: HMAC-SHA256 over `<t>.<raw body>` under the secret, a v1 for each secret that signs.',
          ),
          required: true,
          schema: { type: 'string', pattern: '^t=[0-9]+(,v1=[0-9a-f]{64})+$' },
        },
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: envelope(type, data), example: { ...head(type), data: example } },
        },
      },
      responses: {
        '2XX': { description: 'Taken. Anything else, or nothing within ten seconds, is a failed attempt.' },
      },
    },
  }
}

function head(type: string) {
  return {
    id: exampleId(9),
    type,
    apiVersion: 'v1',
    createdAt: exampleTime,
    organizationId: exampleId(0),
  }
}

function envelope(type: string, data: Json): Json {
  return {
    type: 'object',
    required: ['id', 'type', 'apiVersion', 'createdAt', 'organizationId', 'data'],
    properties: {
      id: { type: 'string', format: 'uuid', description: 'Of the event, as in X-Service-Event-Id.' },
      type: constant(type),
      apiVersion: { type: 'string', examples: ['v1'] },
      createdAt: { type: 'string', format: 'date-time', description: 'When the change was made.' },
      organizationId: { type: 'string', format: 'uuid' },
      actor: {
        ...ref('Actor'),
        description: 'Who caused it, if the endpoint asks for it with `includeActor`.',
      },
      onBehalfOf: {
        ...ref('Actor'),
        description: 'Likewise: the teammate for whom the request says it was made; absent without one.',
      },
      requestId: {
        type: ['string', 'null'],
        description: 'Likewise: the X-Request-Id of the request; null for the service itself.',
      },
      data,
      changedFields: {
        type: 'array',
        items: { type: 'string' },
        description:
          'The fields that changed, if the endpoint asks for them; absent where nothing changed an existing object.',
      },
    },
  }
}
