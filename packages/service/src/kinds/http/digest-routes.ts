/** `GET /v1/{kind}/digests`: digests of ranges of ids, by which a copy finds where it differs (specification 7.9). */
import { anId, invalid } from '../../http/list-parameters.ts'
import { headersOnly } from '../../http/replies.ts'
import type { RangeDigestReader } from '../../journal/range-digests.ts'
import { allIds, partsOf } from '../../journal/range-digests.ts'
import { encodeCursor } from '../../kernel/cursor.ts'
import { problem, quoted } from '../../kernel/errors.ts'
import { done, ok, refused } from '../../kernel/outcome.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'
import {
  type ApiModule,
  exampleId,
  exampleTime,
  type Json,
  type ReadParameter,
  ref,
  routesOf,
} from '../../openapi/api-module.ts'
import { digestFields, exampleCheckpoint } from '../../openapi/shared-schemas.ts'
import { camelCase, capitalized } from '../docs/kind-schemas.ts'
import type { Kind } from '../model/kind.ts'

export interface DigestServices {
  readonly digests: RangeDigestReader
}

const route = routesOf<DigestServices>()

const maxParts = 256
const maxIds = 100

/** A whole number within bounds; `initial` when absent. */
function integer(description: string, initial: number, from: number, to: number): ReadParameter<number> {
  return {
    description,
    schema: { type: 'integer', minimum: from, maximum: to, default: initial },
    read(text, name) {
      if (text === null) return ok(initial)
      const number = /^\d{1,4}$/.test(text) ? Number(text) : -1
      if (number >= from && number <= to) return ok(number)
      return invalid(`${name} must be an integer from ${from} to ${to}; got ${quoted(text)}.`)
    },
  }
}

const parameters = {
  after: anId<string>('Where the ids begin, exclusive. It need not be the id of anything.', allIds.after),
  before: anId<string>('Where they end, inclusive. It need not be the id of anything.', allIds.before),
  parts: integer(`Into how many equal ranges they are divided, at most ${maxParts}.`, 16, 1, maxParts),
  idsUpTo: integer(
    `A range of no more than so many objects also has their \`ids\` and \`contentDigests\`, at most ${maxIds}.`,
    0,
    0,
    maxIds,
  ),
} as const

export function digestRoute(kind: Kind) {
  return route({
    method: 'get',
    path: `/v1/${kind.plural}/digests`,
    id: `digest${capitalized(camelCase(kind.plural))}`,
    tag: kind.plural,
    summary: `Counts and digests of ranges of ${kind.plural}`,
    description:
      'Where a copy differs: read the stream up to exactly the cursor that comes with the answer, compare each range with the same range of the copy, and ask again within those that differ. A call that takes longer than 20 seconds ends with 503: ask for a smaller range.',
    access: `${kind.plural}:read`,
    query: parameters,
    answers: {
      200: {
        description: 'A digest for each range, lowest ids first.',
        schema: ref('RangeDigests'),
        examples: () => ({ 'two ranges': exampleDigests }),
      },
    },
    async handle({ digests }, call) {
      const query = call.query()
      if (!query.ok) return refused(query.error)
      const { after, before, parts, idsUpTo } = query.value
      if (after >= before) return refused(noRange)
      const head = headersOnly(call.request)
      if (head !== null) return head
      const ranges = partsOf({ after, before }, parts)
      const found = await digests.read(call.caller.organizationId, ranges, idsUpTo, call.request.disconnected)
      if (found === 'too_long') return refused(tooLong)
      const { asOf, cursor, ranges: data } = found
      return done({ asOf: formatTimestamp(asOf), cursor: encodeCursor(cursor), data })
    },
  })
}

const noRange = problem('invalid_parameter', 'before must be a higher id than after.')

const tooLong = problem(
  'unavailable',
  'The digests took too long and were ended: the range has too many objects, or the database is busy. Ask for a part of it, with after and before, or send it again later.',
)

const { count, digest, contentDigest } = exampleCheckpoint
const none = '0000000000000000'
const middle = '01980000-0000-7000-8000-000000000080'

const exampleDigests = {
  asOf: exampleTime,
  cursor: 'AZgAAAAA…',
  data: [
    {
      after: exampleId(0),
      before: middle,
      count,
      digest,
      contentDigest,
      ids: [exampleId(3)],
      contentDigests: [contentDigest],
    },
    {
      after: middle,
      before: exampleId(100),
      count: 0,
      digest: none,
      contentDigest: none,
      ids: [],
      contentDigests: [],
    },
  ],
}

const id = (description: string): Json => ({ type: 'string', format: 'uuid', description })

/** Shared by all kinds. */
export const digestApi = {
  tags: [],
  routes: [],
  schemas: () => ({
    RangeDigests: {
      type: 'object',
      description: 'Counts and digests of ranges of ids, all at one moment.',
      required: ['asOf', 'cursor', 'data'],
      properties: {
        asOf: {
          type: 'string',
          format: 'date-time',
          description: 'The moment: every updatedAt and removedAt up to it is counted in, and no later one.',
        },
        cursor: {
          type: 'string',
          description: 'The same moment in the sync of the kind: the next page from it has what came later.',
        },
        data: { type: 'array', items: ref('RangeDigest'), description: 'The ranges, lowest first.' },
      },
      examples: [exampleDigests],
    },
    RangeDigest: {
      type: 'object',
      description: 'Count and digests of a range of ids.',
      required: ['after', 'before', 'count', 'digest', 'contentDigest'],
      properties: {
        after: id('Its ids are higher than this.'),
        before: id('They are this at most.'),
        ...digestFields,
        ids: {
          type: 'array',
          items: { type: 'string', format: 'uuid' },
          maxItems: maxIds,
          description: 'Its ids, lowest first, where they are no more than idsUpTo.',
        },
        contentDigests: {
          type: 'array',
          items: digestFields.contentDigest,
          maxItems: maxIds,
          description: 'The contentDigest of each of ids alone, in their order.',
        },
      },
    },
  }),
} satisfies ApiModule
