/** Many objects at once: `POST /v1/{kind}/batch` in one transaction, `GET /v1/{kind}/export` as a stream. */
import { Readable } from 'node:stream'
import { grants, importingScope } from '../../auth/scopes.ts'
import { headersOnly } from '../../http/replies.ts'
import { requestContextOf } from '../../http/route.ts'
import type { Feed, Page, PageStart } from '../../journal/feed.ts'
import { encodeCursor } from '../../kernel/cursor.ts'
import { type Problem, problem } from '../../kernel/errors.ts'
import { isObject } from '../../kernel/fields/field.ts'
import { done, fail, ok, type Result, refused } from '../../kernel/outcome.ts'
import {
  type ApiModule,
  type Carriers,
  constant,
  eitherOf,
  exampleId,
  exampleTime,
  type Json,
  ref,
  routesOf,
} from '../../openapi/api-module.ts'
import { creationBody, inputs, requiredOf } from '../../openapi/field-schemas.ts'
import { exampleCheckpoint, problemFields, streamPosition } from '../../openapi/shared-schemas.ts'
import { creationCarriers, updateCarriers } from '../docs/event-carriers.ts'
import { camelCase, capitalized, exampleObject, schemaName } from '../docs/kind-schemas.ts'
import { importShape, type NamedReference, namedReferences } from '../model/imports.ts'
import type { Kind } from '../model/kind.ts'
import type { WriteBatch } from './batch.ts'
import {
  type BatchRequest,
  batchBodyLimit,
  batchLimit,
  isLightBatch,
  itemValues,
  operationsOf,
  parseBatchRequest,
  takesUpserts,
} from './batch-body.ts'
import { redactBatch } from './batch-item.ts'
import { redactWrites } from './redact-writes.ts'

export interface BulkServices {
  readonly batch: WriteBatch
  /** A feed whose pages are lines. */
  readonly lines: Feed
}

const route = routesOf<BulkServices>()

export function bulkRoutes(kind: Kind, kinds: readonly Kind[]) {
  return [writeMany(kind, kinds), exportAll(kind)]
}

function writeMany(kind: Kind, kinds: readonly Kind[]) {
  return route({
    method: 'post',
    path: `/v1/${kind.plural}/batch`,
    id: `batch${capitalized(camelCase(kind.plural))}`,
    tag: kind.plural,
    summary: takesUpserts(kind) ? `Create or upsert many ${kind.plural}` : `Create many ${kind.plural}`,
    description: `Up to ${batchLimit} items and 16 MiB in one transaction. A refused item is left out, with its reason; all others commit together. An item has at most 1 MiB and ${itemValues} values.`,
    access: `${kind.plural}:write`,
    body: `${schemaName(kind)}Batch`,
    reads: {
      bodyLimit: batchBodyLimit,
      isLight: isLightBatch,
      read: (bytes) => parseBatchRequest(kind, bytes),
    },
    once: true,
    answers: {
      200: { description: 'An outcome for each item, in their order.', schema: ref('BatchAnswer') },
    },
    events: () => batchCarriers(kind),
    redact: redactWrites(kind, (body) => redactBatch(kind, body)),
    async handle({ batch }, call) {
      const { caller, body: parsed, record } = call
      if (!parsed.ok) return refused(parsed.error)
      const refusal = refuseImport(namedReferences(kind, kinds), caller.scopes, parsed.value)
      if (refusal !== null) return refused(refusal)
      return batch(caller.organizationId, parsed.value, record, requestContextOf(call))
    },
  })
}

/**
 * An item that names an object by its externalId is answered by whether there is one, which only a key that reads it
 * may know.
 */
function refuseImport(
  references: readonly NamedReference[],
  scopes: readonly string[],
  { operation, items }: BatchRequest,
): Problem | null {
  const lacks = (scope: string) => !grants(scopes, scope)
  if (operation !== 'import') return null
  if (lacks(importingScope)) return needs('An import', importingScope)
  const unread = references.find(
    ({ name, kind }) =>
      lacks(`${kind.plural}:read`) &&
      items.some((item) => item.ok && isObject(item.value) && Object.hasOwn(item.value, name)),
  )
  return unread === undefined ? null : needs(`An import with ${unread.name}`, `${unread.kind.plural}:read`)
}

const needs = (what: string, scope: string) =>
  problem('insufficient_scope', `${what} needs a key with the scope ${scope}.`)

function exportAll(kind: Kind) {
  return route({
    method: 'get',
    path: `/v1/${kind.plural}/export`,
    id: `export${capitalized(camelCase(kind.plural))}`,
    tag: kind.plural,
    summary: `All ${kind.plural} as lines`,
    description:
      'Each existing object as a line of JSON, in the order of the stream. The last line is an ExportEnd: the cursor to go on from, and the checkpoint of the lines before it. An export that ends without it is not whole.',
    access: `${kind.plural}:read`,
    answers: {
      200: {
        description: 'Lines of JSON.',
        mediaType: 'application/x-ndjson',
        schema: {
          type: 'string',
          contentMediaType: 'application/x-ndjson',
          contentSchema: {
            type: 'array',
            items: eitherOf({ [schemaName(kind)]: kind.name, ExportEnd: exampleEnd.object }),
          },
        },
        examples: () => ({ export: lines(exampleObject(kind), exampleEnd) }),
      },
    },
    async handle({ lines }, call) {
      const head = headersOnly(call.request)
      if (head !== null) return head
      const { organizationId, organizationCreatedAt } = call.caller
      // The first page is read before the status is sent, so that an error until then has its own status.
      const of = { organizationId, organizationCreatedAt }
      const pieces = await exportLines(lines, of, () => call.recheck())
      return pieces.ok ? done(Readable.from(pieces.value)) : refused(pieces.error)
    },
  })
}

/** Creations, and with upserts changes too: some of those may have no event. */
function batchCarriers(kind: Kind): Carriers {
  const created = creationCarriers(kind)
  const along = kind.effects?.events ?? []
  if (!takesUpserts(kind)) return { ...created, sometimes: [...created.sometimes, ...along] }
  const updated = updateCarriers(kind)
  const all = [created, updated].flatMap(({ always, sometimes }) => [...always, ...sometimes])
  return { always: [], sometimes: [...new Set([...all, ...along])], silent: updated.silent }
}

function importSchema(kind: Kind, kinds: readonly Kind[]): Json {
  const { fields } = importShape(kind)
  const given = Object.entries(fields).filter(([, field]) => field.access !== 'read')
  const named = namedReferences(kind, kinds)
  const externalIds = named.map((reference) => [
    reference.name,
    {
      type: 'string',
      description: `Instead of ${reference.field}: the externalId of the ${reference.kind.name}.`,
    },
  ])
  const isNamed = (name: string) => named.some(({ field }) => field === name)
  const description = `A ${kind.name} with its past. Times are not before its createdAt, nor in the future.`
  return {
    ...creationBody(given, { ...kind.example, createdAt: exampleTime }, description),
    required: requiredOf(given).filter((name) => !isNamed(name)),
    properties: { ...inputs(given), ...Object.fromEntries(externalIds) },
  }
}

export function bulkSchemas(kind: Kind, kinds: readonly Kind[]): Readonly<Record<string, Json>> {
  const name = schemaName(kind)
  const upserts = takesUpserts(kind)
  const atCreation = Object.entries(kind.fields).filter(([, field]) => field.access !== 'read')
  const bodies = ['Create', 'Import', ...(upserts ? ['Upsert'] : [])]
  const item = { anyOf: bodies.map((body) => ref(`${name}${body}`)) }
  return {
    [`${name}Batch`]: {
      type: 'object',
      additionalProperties: false,
      required: ['items'],
      properties: {
        operation: {
          type: 'string',
          enum: operationsOf(kind),
          description: `import takes objects with their past; it needs the scope \`import\`.${upserts ? " upsert changes the object that has an item's externalId, as PATCH does, and creates it where there is none." : ''} Initially \`"create"\`.`,
        },
        items: {
          type: 'array',
          minItems: 1,
          maxItems: batchLimit,
          items: item,
          description: 'Each is checked by itself. A call may name an object, or a unique value, once.',
        },
      },
      examples: [{ operation: 'create', items: [kind.example] }],
    },
    [`${name}Import`]: importSchema(kind, kinds),
    ...(upserts
      ? {
          [`${name}Upsert`]: {
            ...creationBody(
              atCreation,
              { ...kind.example, externalId: 'a-17' },
              'Whole, it creates an object where there is none. Fields that only creation can set may be repeated as they are.',
            ),
            required: ['externalId'],
          },
        }
      : {}),
  }
}

const exampleEnd = { object: 'export_end', nextCursor: 'AZgAAAAA…', checkpoint: exampleCheckpoint }

function lines(...records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('')
}

const count = (description: string): Json => ({ type: 'integer', minimum: 0, description })

/** Shared by all kinds. */
export const bulkApi = {
  tags: [],
  routes: [],
  schemas: () => ({
    BatchAnswer: {
      type: 'object',
      description: 'The outcome of each item, and how many have each outcome.',
      required: ['data', 'created', 'updated', 'unchanged', 'refused'],
      properties: {
        data: { type: 'array', items: ref('BatchItem'), description: 'One for each item, in their order.' },
        created: count('Items that made an object.'),
        updated: count('Items that changed one.'),
        unchanged: count('Items that repeated what is there.'),
        refused: count('Items that were left out.'),
      },
      examples: [
        {
          data: [{ index: 0, outcome: 'created', status: 201, id: exampleId(3) }],
          created: 1,
          updated: 0,
          unchanged: 0,
          refused: 0,
        },
      ],
    },
    BatchItem: {
      type: 'object',
      description: 'The outcome of an item: an id, or a problem.',
      required: ['index', 'outcome', 'status'],
      properties: {
        index: count('Its place among the items, from 0.'),
        outcome: {
          type: 'string',
          examples: ['created', 'updated', 'unchanged', 'refused'],
          description: 'The outcome.',
        },
        status: { type: 'integer', description: 'The status that it would have had alone.' },
        id: { type: 'string', format: 'uuid', description: 'The object, unless refused.' },
        problem: ref('ItemProblem'),
      },
    },
    ItemProblem: {
      type: 'object',
      description:
        'Why an item was refused: a Problem without what the answer as a whole says. To a key that may not read the kind it reports nothing about the state of an object.',
      required: ['code', 'title', 'detail'],
      properties: problemFields,
    },
    ExportEnd: {
      type: 'object',
      description: 'The last line of an export.',
      required: ['object', 'nextCursor', 'checkpoint'],
      properties: {
        object: constant(exampleEnd.object),
        nextCursor: streamPosition.nextCursor,
        checkpoint: ref('Checkpoint'),
      },
      examples: [exampleEnd],
    },
  }),
} satisfies ApiModule

/** Fewer when they are large (`PageForm`). */
const pageRecords = 1_000

/**
 * The text in pieces, the first already read. The last line has the cursor to go on from and the checkpoint of the rows
 * before it. `recheck` refuses a caller that may no longer read: by the result after the first page, by throwing later.
 * Throws when the database fails.
 */
export async function exportLines(
  feed: Feed,
  of: { readonly organizationId: string; readonly organizationCreatedAt: number },
  recheck: () => Promise<Problem | null> = async () => null,
): Promise<Result<AsyncIterable<string>, Problem>> {
  const { organizationId, organizationCreatedAt } = of
  const first = await read({ from: 'watermark', updatedAfter: 0, organizationCreatedAt })
  const refusal = await recheck()
  return refusal === null ? ok(pieces(first)) : fail(refusal)

  async function* pieces(start: Page): AsyncIterable<string> {
    let page = start
    while (page.checkpoint === null) {
      yield `${page.records}\n`
      page = await read({ from: 'cursor', cursor: page.next })
      const refusal = await recheck()
      if (refusal !== null) throw new Error(`an export was ended: ${refusal.detail}`)
    }
    const end = { object: 'export_end', nextCursor: encodeCursor(page.next), checkpoint: page.checkpoint }
    yield `${page.records === '' ? '' : `${page.records}\n`}${JSON.stringify(end)}\n`
  }

  async function read(start: PageStart): Promise<Page> {
    const result = await feed.page(organizationId, start, pageRecords)
    if (!result.ok) throw new Error('the database was restored during an export')
    return result.value
  }
}
