/** Schemas that belong to no kind: problems, removal records, pagination. */
import { errorCatalogue } from '../kernel/error-catalogue.ts'
import { errorPath, exampleProblem, fieldErrorCodes } from '../kernel/errors.ts'
import { constant, exampleId, examplePagination, exampleTime, type Json, ref } from './api-module.ts'

const digest = { type: 'string', pattern: '^[0-9a-f]{16}$' }
const uuid = { type: 'string', format: 'uuid' }

/** As in a sync and in a `*.deleted` event. */
export function exampleRemoval(resource: string) {
  return { object: 'removed', id: exampleId(3), resource, removedAt: exampleTime }
}

export const exampleCheckpoint = {
  count: 1,
  digest: '5c1d0b7c4f9e2a36',
  contentDigest: 'a90b3f1c77d24e58',
}

/** The fields of a problem that describe the error; the others describe the response. */
export const problemFields = {
  code: {
    type: 'string',
    description: 'What to decide by. Later versions may know more.',
    examples: Object.keys(errorCatalogue),
  },
  title: { type: 'string', description: 'The same for every problem with this code.' },
  detail: {
    type: 'string',
    description: 'The fault of this request, and what is accepted or to do next.',
  },
  errors: {
    type: 'array',
    description: 'For validation_failed: every place of the body that is wrong, a hundred at most.',
    items: ref('FieldError'),
  },
  existingId: {
    ...uuid,
    description: 'For duplicate: the object that has the value; for booking_conflict: the other booking.',
  },
  reason: {
    type: 'string',
    description: 'For receiver_not_verified: in a word, why not.',
    examples: ['challenge_failed', 'http_4xx', 'http_5xx', 'timeout', 'tls_error', 'connection_refused'],
  },
}

/** For comparing rows with a copy. */
export const digestFields = {
  count: { type: 'integer', minimum: 0, description: 'Rows that exist.' },
  digest: {
    ...digest,
    description: 'The sum over them, modulo 2^64, of the first eight bytes of SHA-256(`<id>:<updatedAt>`).',
  },
  contentDigest: {
    ...digest,
    description: 'The same sum of SHA-256 of the bytes of each, as they are served.',
  },
}

/** The position of a page in a stream. */
export const streamPosition = {
  total: { type: 'integer', minimum: 0, description: 'Rows that match; in a sync, all that exist.' },
  limit: { type: 'integer', minimum: 1, maximum: 100, description: 'Rows a page, as applied.' },
  offset: { type: 'integer', minimum: 0, description: 'Rows passed over, as applied; 0 in a sync.' },
  hasMore: { type: 'boolean', description: 'Whether more rows follow.' },
  nextCursor: { type: 'string', description: 'In a sync: send it as `cursor`. It never expires.' },
}

export const sharedSchemas: Readonly<Record<string, Json>> = {
  Problem: {
    type: 'object',
    description: 'The problem, and what to do next (RFC 9457). Decide by `code`, show `detail`.',
    required: ['type', 'title', 'status', 'code', 'detail', 'requestId'],
    properties: {
      type: {
        type: 'string',
        format: 'uri-reference',
        description: 'The page that explains the code, relative to the service.',
        examples: [errorPath('not_found')],
      },
      status: { type: 'integer', description: 'The status of the answer.' },
      requestId: { type: 'string', description: 'As in the header X-Request-Id.' },
      ...problemFields,
    },
    examples: [exampleProblem('validation_failed')],
  },
  FieldError: {
    type: 'object',
    description: 'A place of a body that is wrong.',
    required: ['pointer', 'code', 'detail'],
    properties: {
      pointer: { type: 'string', description: 'JSON pointer into the body.' },
      code: { type: 'string', examples: [...fieldErrorCodes], description: 'The fault.' },
      detail: { type: 'string', description: 'The values that are accepted.' },
    },
  },
  Removed: {
    type: 'object',
    description: 'A removed row in a sync. Check `object` before any other field.',
    required: ['object', 'id', 'resource', 'removedAt'],
    properties: {
      object: { ...constant('removed'), description: 'Distinguishes it from a row.' },
      id: { ...uuid, description: 'Of the removed row.' },
      resource: { type: 'string', description: 'The kind of the removed row.' },
      removedAt: {
        type: 'string',
        format: 'date-time',
        description: 'Its place in the stream, the same in the *.deleted event.',
      },
    },
  },
  Written: {
    type: 'object',
    description:
      'The response about an object to a key that may write its kind and not read it: no values of the object.',
    additionalProperties: false,
    required: ['id', 'object', 'updatedAt'],
    properties: {
      id: { ...uuid, description: 'Its id.' },
      object: { type: 'string', description: 'Its kind.' },
      updatedAt: { type: 'string', format: 'date-time', description: 'Its version.' },
    },
  },
  Pagination: {
    type: 'object',
    description: 'Where a page of a list stands.',
    required: ['total', 'limit', 'offset', 'hasMore'],
    properties: {
      ...streamPosition,
      totalIsExact: {
        type: 'boolean',
        description:
          'There, and false, where a total is not counted to its end: there are at least this many.',
      },
      checkpoint: ref('Checkpoint'),
    },
    examples: [examplePagination, { ...examplePagination, nextCursor: 'AQ…', checkpoint: exampleCheckpoint }],
  },
  Checkpoint: {
    type: 'object',
    description: 'On the last page of a sync: what an exact copy has now.',
    required: ['count', 'digest', 'contentDigest'],
    properties: digestFields,
    examples: [exampleCheckpoint],
  },
}
