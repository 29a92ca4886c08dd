/** The parameters of a sync, and what `stream-routes.ts` serves, for the document. */
import { pageParameters } from '../http/list-openapi.ts'
import { exampleId, examplePagination } from '../openapi/examples.ts'
import { type ApiPart, type Parameter, query, ref } from '../openapi/part.ts'
import { exampleCheckpoint, exampleRemoval } from '../openapi/shared-schemas.ts'
import type { Kind } from './kind.ts'
import { exampleObject } from './kind-examples.ts'
import { schemaName } from './kind-schemas.ts'
import { longestWait } from './sync-query.ts'

/** What a sync takes beside `limit`. */
export const syncParameterDocs: readonly Parameter[] = [
  query(
    'updatedAfter',
    { type: 'string', format: 'date-time', examples: ['1970-01-01T00:00:00Z'] },
    'Starts a sync from a watermark, exclusive.',
  ),
  query('cursor', { type: 'string' }, 'The nextCursor of the previous page; continues a sync.'),
  query(
    'wait',
    // No default: a form that fills it in would ask for a wait where there is none.
    { type: 'integer', minimum: 0 },
    `In a sync: with nothing to report, the answer waits this many seconds for something. Above ${longestWait} is served as ${longestWait}.`,
  ),
]

/** `kinds` are all of the installation. */
export function streamPart(kinds: readonly Kind[]): ApiPart {
  const removable = kinds.find(({ removedEvent }) => removedEvent !== null)
  const limit = pageParameters.filter(({ name }) => name === 'limit')
  const checkpoint = Object.fromEntries(kinds.map(({ name }) => [name, exampleCheckpoint]))
  return {
    tags: [{ name: 'changes', description: 'The stream of all kinds as one.' }],
    operations: [
      {
        method: 'get',
        path: '/v1/changes',
        id: 'listChanges',
        tag: 'changes',
        summary: 'Sync all kinds as one',
        description:
          'Created, changed and removed rows of every kind that the key may read, in one order under one cursor. Send updatedAfter or cursor. A cursor keeps to the kinds that its sync began with: a scope gained later needs a new start, and without one of theirs the answer is 403. The checkpoint of the last page has a count and a digest for each kind.',
        access: 'any key',
        parameters: [...limit, ...syncParameterDocs],
        answers: {
          200: {
            description: 'A page of the stream.',
            schema: {
              type: 'object',
              required: ['data', 'pagination'],
              properties: {
                data: {
                  type: 'array',
                  items: { anyOf: [ref('Removed'), ...kinds.map((kind) => ref(schemaName(kind)))] },
                },
                pagination: ref('ChangesPagination'),
              },
            },
            examples:
              removable === undefined
                ? {}
                : {
                    'last page': {
                      data: [
                        exampleObject(removable),
                        { ...exampleRemoval(removable.name), id: exampleId(4) },
                      ],
                      pagination: { ...examplePagination, nextCursor: 'AZgAAAAA…', checkpoint },
                    },
                  },
          },
        },
        errors: [
          'invalid_parameter',
          'invalid_cursor',
          'filter_not_allowed_in_sync',
          'insufficient_scope',
          'cursor_too_old',
        ],
      },
    ],
    schemas: {
      ChangesPagination: {
        type: 'object',
        description: 'Where a page of the stream stands.',
        required: ['total', 'limit', 'offset', 'hasMore', 'nextCursor'],
        properties: {
          ...Object.fromEntries(
            ['total', 'limit', 'offset', 'hasMore', 'nextCursor'].map((name) => [
              name,
              { $ref: `#/components/schemas/Pagination/properties/${name}` },
            ]),
          ),
          checkpoint: {
            type: 'object',
            description:
              'On the last page: what an exact copy of each kind has now, by the name of the kind.',
            additionalProperties: { $ref: '#/components/schemas/Pagination/properties/checkpoint' },
          },
        },
      },
    },
  }
}
