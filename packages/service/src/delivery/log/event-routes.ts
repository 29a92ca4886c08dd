/**
 * `GET /v1/events`: events in the order of their commits, each with the envelope that a delivery would carry now, for
 * clients that poll and need no endpoint (specification 11.6).
 */
import type { Caller } from '../../auth/authenticator.ts'
import { grants } from '../../auth/scopes.ts'
import { OrganizationGone } from '../../db/call-function.ts'
import type { Database } from '../../db/fair-pool.ts'
import {
  answerPages,
  lastEventIdHeader,
  sessionParameter,
  streamedAnswer,
  streamParameters,
} from '../../http/event-stream.ts'
import { anId, invalid, paging, readQuery, time, word } from '../../http/list-parameters.ts'
import { type PageSource, waitParameter } from '../../http/wait.ts'
import { timestampText } from '../../journal/body.ts'
import type { StreamTable } from '../../journal/stream-table.ts'
import type { WaitingReaders } from '../../journal/waiting-readers.ts'
import { decodeCursor, encodeCursor, type Position } from '../../kernel/cursor.ts'
import { type Problem, problem, quoted } from '../../kernel/errors.ts'
import { firstIdAt, nilUuid, timeOfId } from '../../kernel/ids.ts'
import { fail, ok, type Result, refused } from '../../kernel/outcome.ts'
import type { Kind } from '../../kinds/model/kind.ts'
import { type ApiModule, exampleId, exampleTime, pageOf, ref, routesOf } from '../../openapi/api-module.ts'
import {
  count,
  field,
  time as instant,
  nullable,
  recordSchema,
  text,
  uuid,
  words,
} from '../../openapi/field-schemas.ts'
import { createEventTypes } from '../endpoint/event-types.ts'
import { endpointBody } from '../endpoints-table.ts'
import { envelope } from '../queue/attempt.ts'
import { currentBody } from '../queue/claim.ts'
import { originOf, readableOrigin } from '../queue/origin.ts'

interface EventServices {
  readonly database: Pick<Database, 'of'>
  readonly tables: readonly StreamTable[]
  readonly readers: WaitingReaders
}

/** Of cursors of this list. */
const eventsResource = 'events'

/** Events that one page looks through for the types that it is named for. */
const lookedThrough = 2_000

interface EventRow {
  readonly id: string
  readonly type: string
  readonly createdAt: string
  /** With the names of actors, which not every reader of the page may be shown. */
  readonly origin: string | null
  readonly data: string | null
}

/** Where a page starts. */
interface Place {
  readonly position: Position
  /** Of the cursor; null: there is none. */
  readonly epoch: number | null
}

interface Page {
  readonly epoch: number
  readonly events: readonly EventRow[]
  readonly position: Position
  readonly hasMore: boolean
  /** The organization's last stamp, in milliseconds. */
  readonly clock: number
  /** Whether an event after the position that it was read from has been dropped. */
  readonly isCut: boolean
}

/** Events of these kinds. */
export function eventApi(kinds: readonly Kind[]) {
  const types = createEventTypes(kinds)
  const query = {
    types: {
      description: `Of these types, separated by commas: of ${types.names.join(', ')}. Default: all that the key may read.`,
      schema: { type: 'string', examples: [types.names.slice(0, 2).join()] },
      read(text: string | null): Result<readonly string[] | null, Problem> {
        if (text === null) return ok(null)
        const named = [...new Set(text.split(','))]
        const unknown = named.find((type) => types.scopeOf(type) === undefined)
        if (unknown === undefined) return ok(named)
        return invalid(`types must be a list of ${types.names.join(', ')}; got ${quoted(unknown)}.`)
      },
    },
    subject: anId('About the object with this id.', null),
    createdAfter: time(
      'Where to start, exclusive; without a cursor only. Default: the oldest event that is kept.',
    ),
    cursor: {
      description: 'The nextCursor of the previous page; goes on from there.',
      schema: { type: 'string' },
      read: (text: string | null): Result<string | null, Problem> => ok(text),
    },
    include: word(['actor'], 'Also who caused each event, as `actor` and `requestId`.'),
    limit: paging.limit,
    wait: waitParameter(),
    session: sessionParameter,
  } as const

  const resource = { resource: eventsResource, removalsAfter: null }

  const listEvents = routesOf<EventServices>()({
    method: 'get',
    path: '/v1/events',
    id: 'listEvents',
    tag: 'webhooks',
    summary: 'Read events, oldest first',
    description:
      'Every event that the key may read, each as a delivery would carry it now; `data` is null where its object is gone. The cursor of the last page stays valid and goes on later, with `wait` as soon as something happens; with `Accept: text/event-stream`, the pages come as server-sent events. Events are kept as long as the delivery log.',
    access: 'any key',
    query,
    headers: [lastEventIdHeader],
    answers: {
      200: {
        description: 'A page of events.',
        schema: ref('EventPage'),
        also: streamedAnswer,
        examples: () => ({
          page: {
            data: [
              {
                id: exampleId(9),
                type: types.names[0],
                apiVersion: 'v1',
                createdAt: exampleTime,
                organizationId: exampleId(0),
                data: null,
              },
            ],
            pagination: { limit: 20, hasMore: false, nextCursor: 'AZgAAAAA…' },
          },
        }),
      },
    },
    errors: ['invalid_cursor', 'insufficient_scope', 'cursor_too_old'],
    async handle(services, call) {
      const parameters = readQuery(streamParameters(call.request), query)
      if (!parameters.ok) return refused(parameters.error)
      const { cursor, createdAfter, subject, include, limit, wait } = parameters.value
      const { organizationId } = call.caller
      const start = startOf(organizationId, cursor, createdAfter)
      if (!start.ok) return refused(start.error)
      const named = parameters.value.types
      const readable = readableOf(call.caller, named)
      if (!readable.ok) return refused(readable.error)
      const isFiltered = named !== null || readable.value.length < types.names.length
      const looked = isFiltered ? Math.max(limit, lookedThrough) : limit
      const source: PageSource<Place, Page> = {
        start: start.value,
        topics: new Set(readable.value),
        keyOf: ({ position }) => JSON.stringify([position, subject, include, limit]),
        read: ({ position }) =>
          readPage(services, organizationId, {
            position,
            types: readable.value,
            subject,
            withActor: include !== null,
            limit,
            looked,
          }),
        listed(page, { epoch: began }) {
          const { epoch, position, hasMore, clock } = page
          // While it waited, the key may have lost a scope.
          const still = readableOf(call.caller, named ?? readable.value)
          if (!still.ok) return still
          if (began !== null && began !== epoch) return fail(restored)
          if (began !== null && page.isCut) return fail(tooOld)
          const records = page.events.map((event) => {
            const origin = readableOrigin(services.tables, call.caller.scopes, event.origin)
            return envelope({ organizationId }, { ...event, origin }, event.data ?? 'null')
          })
          const nextCursor = encodeCursor({ ...resource, organizationId, epoch, position })
          return ok({
            records: records.join(),
            pagination: { limit, hasMore, nextCursor },
            isEmpty: records.length === 0 && !hasMore,
            clock,
            next: { position, epoch },
          })
        },
      }
      return answerPages(call, services.readers, source, wait)
    },
  })

  return {
    tags: [],
    routes: [listEvents],
    schemas: () => ({
      EventPage: pageOf(ref('ListedEvent'), 'EventPagination'),
      ListedEvent: {
        type: 'object',
        description: 'An event, as a delivery carries it.',
        required: ['id', 'type', 'apiVersion', 'createdAt', 'organizationId', 'data'],
        properties: {
          id: { ...uuid, description: 'The event, as receivers deduplicate it.' },
          type: { ...text, examples: types.names, description: 'The type of the event.' },
          apiVersion: { ...text, description: 'The version of the envelope.' },
          createdAt: { ...instant, description: 'When it happened.' },
          organizationId: { ...uuid, description: 'Whose it is.' },
          actor: ref('Actor'),
          onBehalfOf: {
            ...ref('Actor'),
            description: 'The teammate in X-Acting-Teammate, with `include=actor`; absent without one.',
          },
          requestId: {
            ...nullable(text),
            description:
              'The X-Request-Id of the request that caused it, with `include=actor`; null for the service itself.',
          },
          data: {
            type: ['object', 'null'],
            description: 'The object now, or its removal record; null when it is gone.',
            additionalProperties: true,
          },
        },
      },
      Actor: recordSchema('Who caused an event, for those that ask.', {
        type: field(
          words('api_key', 'session', 'teammate', 'system'),
          'The kind of actor; `system` is the service itself, as with pings; `teammate` in `onBehalfOf` only.',
        ),
        id: field(
          nullable(uuid),
          'The id of the key, of the console link of the session, or of the teammate.',
        ),
        name: field(
          nullable(text),
          'The name of the key or the teammate; null once it is gone, and without the scope `teammates:read`.',
        ),
      }),
      EventPagination: recordSchema('Where a page of events stands.', {
        limit: field(count, 'The page size applied.'),
        hasMore: field({ type: 'boolean' }, 'True while more events follow.'),
        nextCursor: field(text, 'Send it as cursor to go on; it stays valid.'),
      }),
    }),
  } satisfies ApiModule

  /** The types to look for: those named, all of which the key must be able to read; or all that it may. */
  function readableOf(
    { scopes }: Caller,
    named: readonly string[] | null,
  ): Result<readonly string[], Problem> {
    if (named !== null) {
      const refusal = types.unreadable(scopes, named)
      return refusal === null ? ok(named) : fail(refusal)
    }
    // A key that may read nothing reads no event, as it sees no change.
    return ok(types.names.filter((type) => grants(scopes, types.scopeOf(type) ?? '')))
  }
}

function startOf(
  organizationId: string,
  cursor: string | null,
  createdAfter: string | null,
): Result<Place, Problem> {
  if (cursor === null) {
    if (createdAfter === null) return ok({ position: { at: 0, id: nilUuid }, epoch: null })
    const at = Date.parse(createdAfter)
    return ok({ position: { at, id: firstIdAt(at + 1) }, epoch: null })
  }
  if (createdAfter !== null)
    return fail(problem('invalid_parameter', 'A cursor goes on from where it is: leave out createdAfter.'))
  const found = decodeCursor(cursor, eventsResource, organizationId)
  return found === null ? fail(notACursor) : ok(found)
}

interface Asked {
  readonly position: Position
  readonly types: readonly string[]
  readonly subject: string | null
  readonly withActor: boolean
  readonly limit: number
  /** Events that are looked through at most. */
  readonly looked: number
}

/**
 * One statement, so that the clock that it brings is of the same moment: no event up to it is added later. A whole page
 * ends at the clock, and not at its last event, so that nothing that the client has seen counts as dropped. Messages to
 * one endpoint, such as pings, are no events of the list, and their ids may be ahead of the clock.
 */
async function readPage(
  { database, tables }: EventServices,
  organizationId: string,
  { position, types, subject, withActor, limit, looked }: Asked,
): Promise<Page> {
  const { rows } = await database.of(organizationId).query<{
    epoch: number
    clock: Date
    cut: boolean | null
    seen: number
    last: string | null
    id: string | null
    type: string
    createdAt: string
    origin: string | null
    data: string | null
  }>(
    `with seen as materialized (
       select e.id, e.type, e.created_at, e.subject_kind, e.subject_id, ${endpointBody} as own_body from events e
         where e.organization_id = $1 and e.id > $2 and e.subject_kind <> 'webhook' ${subject === null ? '' : 'and e.subject_id = $6'}
         order by e.id limit $5)
     select c.epoch, c.last_stamp as clock, c.events_dropped_to > $2 as cut, (select count(*)::int from seen) as seen,
         (select s.id from seen s order by s.id desc limit 1) as last,
         d.id, d.event_type as type, ${timestampText('d.created_at')} as "createdAt", coalesce(d.own_body, ${currentBody(tables)}) as data,
         ${withActor ? `(select ${originOf(tables)} from events e where e.organization_id = $1 and e.id = d.id)` : 'null'} as origin
       from clocks c
       left join lateral (select s.id, s.type as event_type, s.created_at, s.subject_kind, s.subject_id, s.own_body from seen s
         where s.type = any($3) order by s.id limit $4) d on true
       where c.organization_id = $1 order by d.id`,
    [organizationId, position.id, types, limit, looked, ...(subject === null ? [] : [subject])],
  )
  const [first] = rows
  if (first === undefined) throw new OrganizationGone(organizationId)
  const found = rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ id, ...row }]))
  const last = found.length === limit ? found.at(-1)?.id : first.last
  const isWhole = first.seen < looked && (found.length < limit || last === first.last)
  const clock = first.clock.getTime()
  const afterClock = firstIdAt(clock + 1)
  const reached = last ?? position.id
  return {
    epoch: first.epoch,
    events: found,
    position: isWhole
      ? { at: clock, id: afterClock > position.id ? afterClock : position.id }
      : { at: timeOfId(reached), id: reached },
    hasMore: !isWhole,
    clock,
    isCut: first.cut === true,
  }
}

const notACursor = problem(
  'invalid_cursor',
  'The cursor is not one of this list. Send the nextCursor of GET /v1/events unchanged, with a key of the same organization.',
)

const tooOld = problem(
  'cursor_too_old',
  'Events after this cursor have been dropped. Bring your copy up to date with a sync, and start again without a cursor.',
)

const restored = problem(
  'cursor_too_old',
  'The database was restored from a backup older than this cursor, and events that you have read may be undone. Bring your copy up to date with a sync, and start again without a cursor.',
)
