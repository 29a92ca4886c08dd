/** The routes of a kind, all from its declaration: list and sync, create, read, change, actions, delete. */
import { recheckAfter } from '../../auth/authenticator.ts'
import { dryRunnable } from '../../http/list-parameters.ts'
import {
  checkIfMatch,
  entityTag,
  headersOnly,
  listBody,
  matchesIfNoneMatch,
  searchParameters,
  sent,
} from '../../http/replies.ts'
import { requestContextOf } from '../../http/route.ts'
import type { Checkpoint } from '../../journal/feed.ts'
import { type ErrorCode, type Problem, problem } from '../../kernel/errors.ts'
import type { Fields } from '../../kernel/fields/field.ts'
import { parseId } from '../../kernel/ids.ts'
import { done, type Outcome, refused } from '../../kernel/outcome.ts'
import type { Clock } from '../../kernel/timestamps.ts'
import {
  type Answer,
  type ApiModule,
  type Call,
  type Carriers,
  eitherOf,
  exampleId,
  exampleList,
  examplePagination,
  header,
  type Json,
  pageOf,
  type Route,
  ref,
  routesOf,
} from '../../openapi/api-module.ts'
import { requiredOf } from '../../openapi/field-schemas.ts'
import { exampleCheckpoint, exampleRemoval } from '../../openapi/shared-schemas.ts'
import { actionCarriers, creationCarriers, updateCarriers } from '../docs/event-carriers.ts'
import {
  actionSchemaName,
  camelCase,
  capitalized,
  exampleObject,
  exampleSubject,
  kindSchemas,
  schemaName,
} from '../docs/kind-schemas.ts'
import { noSuchObject, type Precondition } from '../model/changes.ts'
import type { Kind } from '../model/kind.ts'
import type { Browse } from './browse.ts'
import { type BulkServices, bulkRoutes, bulkSchemas } from './bulk-routes.ts'
import { type DigestServices, digestRoute } from './digest-routes.ts'
import { type ListQuery, listParameters, parseListQuery } from './list-query.ts'
import { type PersonServices, personRoutes, personSchemas } from './person-routes.ts'
import { redactWrites } from './redact-writes.ts'
import { answerSync, type SyncSource } from './sync.ts'

interface KindServices extends BulkServices, DigestServices, PersonServices {
  readonly stream: SyncSource<Checkpoint>
  readonly browse: Browse
  readonly clock: Clock
}

const route = routesOf<KindServices>()

/** `kinds` are all of the installation: removing an object can remove others. */
export function kindApi(kind: Kind, kinds: readonly Kind[]) {
  const routes: readonly Route<KindServices>[] = [
    list(kind),
    create(kind),
    read(kind),
    ...(kind.immutable ? [] : [update(kind)]),
    ...Object.keys(kind.actions).map((action) => act(kind, action)),
    ...(kind.removedEvent === null ? [] : [remove(kind, kind.removedEvent, kinds)]),
    ...bulkRoutes(kind, kinds),
    digestRoute(kind),
    ...personRoutes(kind, kinds),
  ]
  return {
    tags: [{ name: kind.plural, description: kind.description }],
    routes,
    schemas: () => ({
      ...kindSchemas(kind),
      ...pageSchema(kind),
      ...bulkSchemas(kind, kinds),
      ...personSchemas(kind, kinds),
    }),
    sent: () =>
      Object.entries(kind.events).map(([type, when]) => ({
        type,
        summary: `Sent when ${when}`,
        ...(type === kind.removedEvent
          ? { data: ref('Removed'), example: exampleRemoval(kind.name) }
          : { data: ref(schemaName(kind)), example: exampleSubject(kind, type) }),
      })),
  } satisfies ApiModule
}

const reading = (kind: Kind) => ({ tag: kind.plural, access: `${kind.plural}:read` }) as const
const writing = (kind: Kind) => ({ tag: kind.plural, access: `${kind.plural}:write` }) as const
const one = (kind: Kind) => `/v1/${kind.plural}/{id}` as const

function list(kind: Kind) {
  return route({
    ...reading(kind),
    method: 'get',
    path: `/v1/${kind.plural}`,
    id: `list${capitalized(kind.plural)}`,
    summary: `List or sync ${kind.plural}`,
    description: `Without a sync parameter: existing rows, newest first, by filter. With \`updatedAfter\` or \`cursor\`: created, changed and removed rows in the order of their \`updatedAt\`, each page going on from the one before. A sync takes no filters.`,
    query: listParameters(kind),
    answers: {
      200: {
        description: `A page of ${kind.plural}.`,
        schema: ref(`${schemaName(kind)}Page`),
        examples: () => ({
          browsing: exampleList(exampleObject(kind)),
          'last page of a sync': {
            data: [
              exampleObject(kind),
              ...(kind.removedEvent === null ? [] : [{ ...exampleRemoval(kind.name), id: exampleId(4) }]),
            ],
            pagination: { ...examplePagination, nextCursor: 'AZgAAAAA…', checkpoint: exampleCheckpoint },
          },
        }),
      },
    },
    errors: ['invalid_cursor', 'filter_not_allowed_in_sync', 'cursor_too_old'],
    async handle({ stream, browse, clock }, call) {
      const { organizationId } = call.caller
      const query = parseListQuery(kind, call.caller, searchParameters(call.request), clock)
      if (!query.ok) return refused(query.error)
      const head = headersOnly(call.request)
      if (head !== null) return head
      if (query.value.mode === 'sync') return answerSync(call, stream, query.value)
      return browsePage(browse, organizationId, query.value, call.request.disconnected)
    },
  })
}

function create(kind: Kind) {
  return route({
    ...writing(kind),
    method: 'post',
    path: `/v1/${kind.plural}`,
    id: `create${capitalized(kind.name)}`,
    summary: `Create a ${kind.name}`,
    query: dryRunnable,
    body: `${schemaName(kind)}Create`,
    once: true,
    answers: { 201: { ...written(kind), headers: ['ETag', 'Location'] } },
    errors: [...duplicates(kind), ...overlaps(kind), 'limit_reached'],
    events: () => withMoved(creationCarriers(kind), kind.effects?.events ?? []),
    redact: redactWrites(kind),
    async handle({ changes }, call) {
      const { caller, body, record } = call
      const asked = call.query()
      if (!asked.ok) return refused(asked.error)
      const waiting = { recheck: () => call.recheck(recheckAfter), ...requestContextOf(call) }
      return changes.create(caller.organizationId, body, record, waiting)
    },
  })
}

function read(kind: Kind) {
  return route({
    ...reading(kind),
    method: 'get',
    path: one(kind),
    id: `get${capitalized(kind.name)}`,
    summary: `Read a ${kind.name}`,
    headers: [header('If-None-Match', 'ETags. When one is the current version, the answer is 304.')],
    answers: {
      200: { description: `The ${kind.name}.`, schema: ref(schemaName(kind)), headers: ['ETag'] },
      304: { description: 'Not changed: you have the current version.', headers: ['ETag'] },
    },
    errors: ['not_found'],
    async handle({ rows }, { request, reply, caller, params }) {
      const id = parseId(params.id)
      const row = id === null ? null : await rows.read(caller.organizationId, id)
      if (row === null) return refused(noSuchObject(kind, params.id))
      if (matchesIfNoneMatch(request.headers['if-none-match'], row.updatedAt)) {
        reply.code(304).header('etag', entityTag(row.updatedAt)).send()
        return sent
      }
      return done(row.body)
    },
  })
}

function update(kind: Kind) {
  return route({
    ...writing(kind),
    method: 'patch',
    path: one(kind),
    id: `update${capitalized(kind.name)}`,
    summary: `Change a ${kind.name}`,
    description:
      'Fields that are sent replace their values. A change to the same values changes nothing and causes no event.',
    query: dryRunnable,
    headers: [ifMatch],
    body: `${schemaName(kind)}Patch`,
    answers: { 200: written(kind) },
    errors: [
      'not_found',
      ...duplicates(kind),
      ...overlaps(kind),
      ...(kind.refusals ?? []),
      'version_mismatch',
    ],
    events: () => updateCarriers(kind),
    redact: redactWrites(kind),
    async handle({ changes }, call) {
      const { caller, params, body } = call
      const asked = call.query()
      if (!asked.ok) return refused(asked.error)
      const id = parseId(params.id)
      if (id === null) return refused(noSuchObject(kind, params.id))
      return changes.update(caller.organizationId, id, body, precondition(call), requestContextOf(call))
    },
  })
}

function act(kind: Kind, action: string) {
  const { description, fields } = kind.actions[action] as Kind['actions'][string]
  const names = Object.entries(fields)
  return route({
    ...writing(kind),
    method: 'post',
    path: `/v1/${kind.plural}/{id}/${action}` as `/${string}/{id}/`,
    id: `${camelCase(action)}${capitalized(kind.name)}`,
    summary: description,
    query: dryRunnable,
    headers: [ifMatch],
    ...(names.length === 0
      ? {}
      : { body: actionSchemaName(kind, action), bodyOptional: requiredOf(names).length === 0 }),
    once: true,
    answers: { 200: written(kind) },
    // An action without fields refuses a body that has some.
    errors: [
      'not_found',
      'validation_failed',
      'invalid_transition',
      ...overlaps(kind, fields),
      'version_mismatch',
    ],
    events: () => actionCarriers(kind, action),
    redact: redactWrites(kind),
    async handle({ changes }, call) {
      const { caller, params, body, record } = call
      const asked = call.query()
      if (!asked.ok) return refused(asked.error)
      const id = parseId(params.id)
      if (id === null) return refused(noSuchObject(kind, params.id))
      const actionRequest = { action, body }
      return changes.act(
        caller.organizationId,
        id,
        actionRequest,
        precondition(call),
        record,
        requestContextOf(call),
      )
    },
  })
}

function remove(kind: Kind, event: string, kinds: readonly Kind[]) {
  const along = kinds.filter(({ table }) =>
    table.references.some((reference) => reference.kind === kind.name && reference.onRemove === 'remove'),
  )
  return route({
    ...writing(kind),
    method: 'delete',
    path: one(kind),
    id: `delete${capitalized(kind.name)}`,
    summary: `Delete a ${kind.name}`,
    query: dryRunnable,
    headers: [ifMatch],
    answers: { 204: { description: 'Deleted.' } },
    errors: ['not_found', 'version_mismatch'],
    events: () =>
      withMoved(
        { always: [event], sometimes: [], silent: false },
        along.flatMap(({ removedEvent }) => removedEvent ?? []),
      ),
    redact: redactWrites(kind),
    async handle({ changes }, call) {
      const { caller, params } = call
      const asked = call.query()
      if (!asked.ok) return refused(asked.error)
      const id = parseId(params.id)
      if (id === null) return refused(noSuchObject(kind, params.id))
      return changes.remove(caller.organizationId, id, precondition(call), requestContextOf(call))
    },
  })
}

function pageSchema(kind: Kind): Readonly<Record<string, Json>> {
  const name = schemaName(kind)
  return { [`${name}Page`]: pageOf(eitherOf({ Removed: 'removed', [name]: kind.name })) }
}

async function browsePage(
  browse: Browse,
  organizationId: string,
  query: Extract<ListQuery, { mode: 'browse' }>,
  signal: AbortSignal,
): Promise<Outcome<Buffer>> {
  const { limit, offset } = query
  const page = await browse(organizationId, query, signal)
  if (page === 'too_long') return refused(searchTooLong)
  if (page === 'unknown') return refused(noSuchPlace(query.after))
  const { records, total, hasMore } = page
  return done(listBody(records, { total, limit, offset, hasMore }))
}

export const searchTooLong = problem(
  'unavailable',
  'The search took too long and was ended: too much matches, or the database is busy. Narrow it, with longer words in q or more of them, or send it again later.',
)

export function noSuchPlace(after: string | null): Problem {
  const detail = `after must be the id of a row that this list has or had; there is none with ${after}.`
  return problem('invalid_parameter', detail)
}

/** Only unique values can be duplicates. */
function duplicates({ table }: Kind): readonly ErrorCode[] {
  return table.unique.length === 0 ? [] : ['duplicate']
}

/** Of a write with fields by which an object may take another time. */
function overlaps({ periods }: Kind, fields?: Fields): readonly ErrorCode[] {
  if (periods === undefined) return []
  return fields === undefined || periods.starts in fields ? ['booking_conflict'] : []
}

/** The events of the object, and of others that may change with it. */
function withMoved(carriers: Carriers, moved: readonly string[]): Carriers {
  return { ...carriers, sometimes: [...carriers.sometimes, ...moved] }
}

/** The response to a write, as `redactWrites` leaves it. */
function written(kind: Kind): Answer {
  return {
    description: `The ${kind.name}; for a key without \`${kind.plural}:read\`, which one it is and in which version.`,
    schema: { anyOf: [ref(schemaName(kind)), ref('Written')] },
    examples() {
      const whole = exampleObject(kind)
      const { id, object, updatedAt } = whole
      return { 'with the read scope': whole, 'without it': { id, object, updatedAt } }
    },
    headers: ['ETag'],
  }
}

const ifMatch = header(
  'If-Match',
  'ETags. Change only when one of them is the current version; otherwise 412.',
)

function precondition(call: Pick<Call, 'request' | 'recheck'>): Precondition {
  return async (row) =>
    (await call.recheck(recheckAfter)) ?? checkIfMatch(call.request.headers['if-match'], row.updatedAt)
}
