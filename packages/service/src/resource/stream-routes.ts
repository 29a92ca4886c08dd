/** `GET /v1/changes`: the stream of all kinds that a key may read, as one, under one cursor. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { grants } from '../access/scopes.ts'
import { callerOf, requireKey } from '../http/authenticate.ts'
import { unknownParameter } from '../http/list-parameters.ts'
import { sendProblem } from '../http/problem-reply.ts'
import { searchParameters } from '../http/replies.ts'
import type { Checkpoints } from '../journal/feed.ts'
import type { Feeds } from '../journal/shared-feed.ts'
import type { WaitingReaders } from '../journal/waiting-readers.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/result.ts'
import type { Kind } from './kind.ts'
import { filterNames } from './list-query.ts'
import { createStreamCursors } from './stream-resource.ts'
import { isSync, parseSync, type SyncQuery, syncParameters } from './sync-query.ts'
import { sendSync } from './sync-reply.ts'

export interface StreamServices {
  readonly kinds: readonly Kind[]
  /** The stream of these kinds. */
  readonly feedsOf: (kinds: readonly Kind[]) => Feeds<Checkpoints>
  readonly readers: WaitingReaders
}

const path = '/v1/changes'

export function registerStreamRoutes(
  server: FastifyInstance,
  { kinds, feedsOf, readers }: StreamServices,
  { directory }: { readonly directory: Parameters<typeof requireKey>[0] },
): void {
  // What other lists take is known here, and refused as what it is.
  const known = [...new Set([...syncParameters, 'offset', ...kinds.flatMap(filterNames)])]
  const cursors = createStreamCursors(kinds.map(({ name }) => name))

  server.get(path, { onRequest: requireKey(directory) }, async (request, reply) => {
    const asked = parse(request)
    if (!asked.ok) return sendProblem(reply, asked.error)
    const { query, of } = asked.value
    const stream = { ...feedsOf(of), kinds: new Set(of.map(({ name }) => name)), readers }
    return sendSync(request, reply, stream, query)
  })

  /** What is asked for, of the kinds that the sync began with, or begins with now: all that the key may read. */
  function parse(
    request: FastifyRequest,
  ): Result<{ readonly query: SyncQuery; readonly of: readonly Kind[] }, Problem> {
    const { organizationId, scopes } = callerOf(request)
    const parameters = searchParameters(request)
    const unknown = unknownParameter(parameters, known)
    if (unknown !== null) return fail(unknown)
    if (!isSync(parameters)) return fail(nowhere)
    const readable = kinds.filter(({ plural }) => grants(scopes, `${plural}:read`))
    if (readable.length === 0) return fail(nothingToRead)
    let of = readable
    const query = parseSync(parameters, path, (text) => {
      const decoded = cursors.decode(text, organizationId)
      if (decoded !== null) of = kinds.filter(({ name }) => decoded.kinds.includes(name))
      return decoded?.cursor ?? null
    })
    if (!query.ok) return query
    const lost = of.filter((kind) => !readable.includes(kind))
    return lost.length === 0 ? ok({ query: query.value, of }) : fail(scopeLost(lost))
  }
}

const nowhere = problem(
  'invalid_parameter',
  'Send updatedAfter to start, for example updatedAfter=1970-01-01T00:00:00Z, or the cursor of an earlier page to go on.',
)

const nothingToRead = problem(
  'insufficient_scope',
  'This needs a key with the read scope of at least one kind, for example customers:read.',
)

function scopeLost(kinds: readonly Kind[]): Problem {
  const scopes = kinds.map(({ plural }) => `${plural}:read`).join(', ')
  const detail = `The cursor is of a sync that began with kinds this key may not read any more: it lacks ${scopes}. Use a key that holds them, or start again with updatedAfter for the kinds that this one may read.`
  return problem('insufficient_scope', detail)
}
