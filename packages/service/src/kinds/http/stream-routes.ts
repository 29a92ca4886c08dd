/** `GET /v1/changes`: all kinds that a key may read as one stream, under one cursor. */
import type { Caller } from '../../auth/authenticator.ts'
import { grants } from '../../auth/scopes.ts'
import type { Database } from '../../db/fair-pool.ts'
import {
  lastEventIdHeader,
  sessionParameter,
  streamedAnswer,
  streamParameters,
} from '../../http/event-stream.ts'
import { unknownParameter } from '../../http/list-parameters.ts'
import { type Checkpoints, createJoinedFeeds, type Feed } from '../../journal/feed.ts'
import type { WaitingReaders } from '../../journal/waiting-readers.ts'
import { type Cursor, decodeCursorOf, resourceKey } from '../../kernel/cursor.ts'
import { type Problem, problem } from '../../kernel/errors.ts'
import { LruMap } from '../../kernel/lru-map.ts'
import { fail, ok, type Result, refused } from '../../kernel/outcome.ts'
import {
  type ApiModule,
  eitherOf,
  exampleId,
  examplePagination,
  pageOf,
  ref,
  routesOf,
} from '../../openapi/api-module.ts'
import { exampleCheckpoint, exampleRemoval, streamPosition } from '../../openapi/shared-schemas.ts'
import { exampleObject, schemaName } from '../docs/kind-schemas.ts'
import type { Kind } from '../model/kind.ts'
import { filterNames } from './list-query.ts'
import { answerSync, isSync, parseSync, type SyncQuery, syncParameters } from './sync.ts'

interface StreamServices {
  readonly feedOf: (kinds: readonly Kind[]) => Feed<Checkpoints>
  readonly readers: WaitingReaders
}

const path = '/v1/changes'
const query = { ...syncParameters, session: sessionParameter } as const

/** `kinds` are all of the installation. */
export function streamApi(kinds: readonly Kind[]) {
  const read = streamQueries(kinds)
  const listChanges = routesOf<StreamServices>()({
    method: 'get',
    path,
    id: 'listChanges',
    client: 'changes.sync',
    tag: 'changes',
    summary: 'Sync all kinds as one',
    description:
      'Created, changed and removed rows of every kind that the key may read, in one order under one cursor. Send updatedAfter or cursor; with `Accept: text/event-stream`, the pages come as server-sent events. A cursor keeps to the kinds that its sync began with: a scope gained later needs a new start, and without one of theirs the answer is 403. The checkpoint of the last page has a count and a digest for each kind.',
    access: 'any key',
    query,
    headers: [lastEventIdHeader],
    answers: {
      200: {
        description: 'A page of the stream.',
        schema: ref('ChangesPage'),
        also: streamedAnswer,
        examples: () => exampleOf(kinds),
      },
    },
    errors: ['invalid_cursor', 'filter_not_allowed_in_sync', 'insufficient_scope', 'cursor_too_old'],
    async handle({ feedOf, readers }, call) {
      const parsed = read(call.caller, streamParameters(call.request))
      if (!parsed.ok) return refused(parsed.error)
      const { of } = parsed.value
      const stream = { feed: feedOf(of), kinds: new Set(of.map(({ name }) => name)), readers }
      const { scopes } = call.caller
      return answerSync(call, stream, parsed.value.query, () => {
        if (call.caller.scopes === scopes) return null
        // While it waited, the key may have lost the scope of a kind.
        const missingKinds = of.filter((kind) => !mayRead(call.caller, kind))
        return missingKinds.length === 0 ? null : scopeLost(missingKinds)
      })
    },
  })
  return {
    tags: [{ name: 'changes', description: 'The stream of all kinds as one.' }],
    routes: [listChanges],
    schemas: () => ({
      ChangesPage: pageOf(
        eitherOf({
          Removed: 'removed',
          ...Object.fromEntries(kinds.map((kind) => [schemaName(kind), kind.name])),
        }),
        'ChangesPagination',
      ),
      ChangesPagination: {
        type: 'object',
        description: 'Where a page of the stream stands.',
        required: ['total', 'limit', 'offset', 'hasMore', 'nextCursor'],
        properties: {
          ...streamPosition,
          checkpoint: {
            type: 'object',
            description:
              'On the last page: what an exact copy of each kind has now, by the name of the kind.',
            additionalProperties: ref('Checkpoint'),
          },
        },
      },
    }),
  } satisfies ApiModule
}

function exampleOf(kinds: readonly Kind[]): Readonly<Record<string, unknown>> {
  const removable = kinds.find(({ removedEvent }) => removedEvent !== null)
  if (removable === undefined) return {}
  const checkpoint = Object.fromEntries(kinds.map(({ name }) => [name, exampleCheckpoint]))
  return {
    'last page': {
      data: [exampleObject(removable), { ...exampleRemoval(removable.name), id: exampleId(4) }],
      pagination: { ...examplePagination, nextCursor: 'AZgAAAAA…', checkpoint },
    },
  }
}

interface StreamQuery {
  readonly query: SyncQuery
  /** The kinds that the sync began with; at its beginning, all that the key may read. */
  readonly of: readonly Kind[]
}

function streamQueries(kinds: readonly Kind[]) {
  // Parameters of other lists are known here, for a better error.
  const known = [...new Set([...Object.keys(query), 'offset', ...kinds.flatMap(filterNames)])]
  const cursors = createStreamCursors(kinds.map(({ name }) => name))

  return ({ organizationId, scopes }: Caller, parameters: URLSearchParams): Result<StreamQuery, Problem> => {
    const unknown = unknownParameter(parameters, known)
    if (unknown !== null) return fail(unknown)
    if (!isSync(parameters)) return fail(positionMissing)
    const readable = kinds.filter((kind) => mayRead({ scopes }, kind))
    if (readable.length === 0) return fail(noReadableKind)
    let of = readable
    const query = parseSync(parameters, path, (text) => {
      const names = readable.map(({ name }) => name)
      const decoded = cursors.decode(text, organizationId, names)
      if (decoded !== null) of = kinds.filter(({ name }) => decoded.kinds.includes(name))
      return decoded?.cursor ?? null
    })
    if (!query.ok) return query
    const missingKinds = of.filter((kind) => !readable.includes(kind))
    return missingKinds.length === 0 ? ok({ query: query.value, of }) : fail(scopeLost(missingKinds))
  }
}

function mayRead({ scopes }: Pick<Caller, 'scopes'>, { plural }: Kind): boolean {
  return grants(scopes, `${plural}:read`)
}

const positionMissing = problem(
  'invalid_parameter',
  'Send updatedAfter to start, for example updatedAfter=1970-01-01T00:00:00Z, or the cursor of an earlier page to go on.',
)

const noReadableKind = problem(
  'insufficient_scope',
  'This needs a key with the read scope of at least one kind, for example customers:read.',
)

function scopeLost(kinds: readonly Kind[]): Problem {
  const scopes = kinds.map(({ plural }) => `${plural}:read`).join(', ')
  const detail = `The cursor is of a sync that began with kinds this key may not read any more: it lacks ${scopes}. Use a key that holds them, or start again with updatedAfter for the kinds that this one may read.`
  return problem('insufficient_scope', detail)
}

/** The keys of an installation rarely use more sets of kinds, and another costs little. */
const cachedFeeds = 64

/** Feeds of several kinds, made when they are first used. */
export function joinedFeeds(database: Database, kinds: readonly Kind[]) {
  const feedOf = createJoinedFeeds(
    database,
    kinds.map(({ table }) => table),
  )
  const known = new LruMap<string, Feed<Checkpoints>>(cachedFeeds)
  return (read: readonly Kind[]) => {
    const names = read.map(({ name }) => name)
    const resource = streamResource(names)
    return known.getOrMake(resource, () => feedOf(resource, names))
  }
}

/** 16 kinds have 65,535 sets, whose hashes take 4 MB and, once, 0.1 s. A cursor of more would have to name them. */
const maxKinds = 16

/** The resource of a cursor, which holds its hash (`resourceKey`): the kinds that its sync began with. */
export function streamResource(kinds: Iterable<string>): string {
  return `changes ${[...kinds].sort().join(' ')}`
}

/** Reads cursors of streams of any of these kinds, trying `readable` first; null for any other text. */
export function createStreamCursors(kinds: readonly string[]) {
  if (kinds.length > maxKinds)
    throw new Error(`a stream joins ${maxKinds} kinds at most, not ${kinds.length}`)
  /** The kinds of each set, a bit each, by its hash. */
  let sets: ReadonlyMap<string, number> | null = null
  const setOf = (bits: number) => kinds.filter((_, place) => (bits & (1 << place)) !== 0)

  function allSets(): ReadonlyMap<string, number> {
    const all = new Map<string, number>()
    for (let bits = 1; bits < 2 ** kinds.length; bits++)
      all.set(resourceKey(streamResource(setOf(bits))), bits)
    return all
  }

  /** The kinds were nearly always all that the key may read; otherwise they are looked up among all sets. */
  function otherSet(key: string): readonly string[] | null {
    sets ??= allSets()
    const bits = sets.get(key)
    return bits === undefined ? null : setOf(bits)
  }

  return {
    decode(
      text: string,
      organizationId: string,
      readable: readonly string[] = kinds,
    ): { cursor: Cursor; kinds: readonly string[] } | null {
      let found: readonly string[] | null = null
      const own = streamResource(readable)
      const resourceOf = (key: string) => {
        found = key === resourceKey(own) ? readable : otherSet(key)
        return found === null ? null : streamResource(found)
      }
      const cursor = decodeCursorOf(text, resourceOf, organizationId)
      return cursor === null || found === null ? null : { cursor, kinds: found }
    },
  }
}
