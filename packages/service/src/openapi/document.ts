/** `openapi.json` (OpenAPI 3.1), made from the declarations alone: the same kinds give the same document. */
import { errorCatalogue, fieldErrorCodes } from '../kernel/errors.ts'
import { version } from '../kernel/version.ts'
import type { Kind } from '../resource/kind.ts'
import { kindPaths } from './paths.ts'
import { kindSchemas } from './schemas.ts'
import { sentWebhooks, webhookPaths, webhookSchemas, webhookTag } from './webhooks.ts'

type Json = Record<string, unknown>

/** The document for these kinds. */
export function openApiDocument(kinds: readonly Kind[]): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Deskwire',
      version,
      description:
        'A desk service whose outside copies never drift: one ordered stream of created, changed and removed rows, with a cursor that never expires and a proof at its end.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8080', description: 'A local installation' }],
    security: [{ apiKey: [] }],
    tags: [...kinds.map(({ plural, description }) => ({ name: plural, description })), webhookTag],
    paths: { ...Object.assign({}, ...kinds.map(kindPaths)), ...webhookPaths(kinds), ...operationalPaths },
    webhooks: sentWebhooks(kinds),
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: dwk_ and 36 characters.' },
      },
      headers: {
        'X-Request-Id': { description: 'Echoed, or made.', schema: { type: 'string' } },
        ETag: { description: 'The version: the `updatedAt` in quotes.', schema: { type: 'string' } },
      },
      responses: problemResponses(),
      schemas: {
        ...sharedSchemas,
        ...Object.assign({}, ...kinds.map(kindSchemas)),
        ...webhookSchemas(kinds),
      },
    },
  }
}

const operationalPaths: Json = Object.fromEntries(
  [
    ['/healthz', 'The process answers', 'ok'],
    ['/readyz', 'The process and its database answer', 'ready'],
  ].map(([path, summary, status]) => [
    path,
    {
      get: {
        operationId: path?.slice(1),
        summary,
        security: [],
        responses: {
          '200': {
            description: summary,
            content: {
              'application/json': {
                schema: { type: 'object', required: ['status'], properties: { status: { const: status } } },
              },
            },
          },
          ...(path === '/readyz' ? { '503': { $ref: '#/components/responses/unavailable' } } : {}),
        },
      },
    },
  ]),
)

function problemResponses(): Json {
  return Object.fromEntries(
    Object.entries(errorCatalogue).map(([code, { title, help }]) => [
      code,
      {
        description: `${title}. ${help}`,
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  )
}

const timestamp = { type: 'string', format: 'date-time', examples: ['2026-01-31T09:30:00.000Z'] }

const sharedSchemas: Json = {
  Problem: {
    type: 'object',
    description: 'What went wrong and what to do next (RFC 9457).',
    required: ['type', 'title', 'status', 'code', 'detail', 'requestId'],
    properties: {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer' },
      code: { type: 'string', examples: Object.keys(errorCatalogue) },
      detail: { type: 'string' },
      requestId: { type: 'string' },
      existingId: {
        type: 'string',
        format: 'uuid',
        description: 'For duplicate: the object that has the value.',
      },
      errors: {
        type: 'array',
        items: {
          type: 'object',
          required: ['pointer', 'code', 'detail'],
          properties: {
            pointer: { type: 'string', description: 'JSON pointer into the body.' },
            code: { type: 'string', examples: [...fieldErrorCodes] },
            detail: { type: 'string' },
          },
        },
      },
    },
  },
  Removed: {
    type: 'object',
    description:
      'Stands in a sync in place of a row that was removed. Check `object` before any other field.',
    required: ['object', 'id', 'resource', 'removedAt'],
    properties: {
      object: { const: 'removed' },
      id: { type: 'string', format: 'uuid' },
      resource: { type: 'string' },
      removedAt: timestamp,
    },
  },
  Pagination: {
    type: 'object',
    required: ['total', 'limit', 'offset', 'hasMore'],
    properties: {
      total: { type: 'integer', minimum: 0 },
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      offset: { type: 'integer', minimum: 0 },
      hasMore: { type: 'boolean' },
      totalIsExact: {
        const: false,
        description: 'Where a total is not counted to its end: there are at least this many.',
      },
      nextCursor: { type: 'string', description: 'In a sync: send it as `cursor`. It never expires.' },
      checkpoint: {
        type: 'object',
        description: 'On the last page of a sync: what an exact copy has now.',
        required: ['count', 'digest'],
        properties: {
          count: { type: 'integer', minimum: 0 },
          digest: { type: 'string', pattern: '^[0-9a-f]{16}$' },
        },
      },
    },
  },
}
