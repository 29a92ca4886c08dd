/** A sync over HTTP: its query, and its page, which waits for something to report if the client asks for that. */
import { notTimestamp, paging } from '../../http/list-parameters.ts'
import { listBody } from '../../http/replies.ts'
import { type WaitingCall, waitForPage, waitParameter } from '../../http/wait.ts'
import type { Feed, PageStart } from '../../journal/feed.ts'
import type { WaitingReaders } from '../../journal/waiting-readers.ts'
import { type Cursor, encodeCursor } from '../../kernel/cursor.ts'
import { type Problem, problem } from '../../kernel/errors.ts'
import { done, fail, type Outcome, ok, type Result, refused } from '../../kernel/outcome.ts'
import { parseTimestamp } from '../../kernel/timestamps.ts'
import type { QueryParameters } from '../../openapi/api-module.ts'

export type SyncQuery = {
  readonly mode: 'sync'
  readonly limit: number
  /** Seconds to wait while there is nothing to report. */
  readonly wait: number
} & ({ readonly updatedAfter: number } | { readonly cursor: Cursor })

export const syncParameters = {
  limit: paging.limit,
  updatedAfter: {
    description: 'Starts a sync from a watermark, exclusive.',
    schema: { type: 'string', format: 'date-time', examples: ['1970-01-01T00:00:00Z'] },
  },
  cursor: {
    description: 'The nextCursor of the previous page; continues a sync.',
    schema: { type: 'string' },
  },
  wait: waitParameter('In a sync'),
} as const satisfies QueryParameters
const names: readonly string[] = Object.keys(syncParameters)

export function isSync(query: URLSearchParams): boolean {
  return query.has('cursor') || query.has('updatedAfter')
}

/** `decode` reads a cursor of this stream, and returns null for any other text. */
export function parseSync(
  query: URLSearchParams,
  path: string,
  decode: (text: string) => Cursor | null,
): Result<SyncQuery, Problem> {
  // Generated clients send the default of a browse.
  const accepted = query.get('offset') === '0' ? [...names, 'offset'] : names
  const refused = [...query.keys()].filter((name) => !accepted.includes(name))
  if (refused.length > 0) {
    const detail = `A sync takes ${names.join(', ')} only; leave out ${refused.join(', ')}, or browse without a sync parameter.`
    return fail(problem('filter_not_allowed_in_sync', detail))
  }
  const limit = paging.limit.read(query.get('limit'), 'limit')
  if (!limit.ok) return limit
  const seconds = syncParameters.wait.read(query.get('wait'), 'wait')
  if (!seconds.ok) return seconds
  const common = { mode: 'sync', limit: limit.value, wait: seconds.value } as const
  const cursorText = query.get('cursor')
  if (cursorText !== null) {
    const cursor = decode(cursorText)
    if (cursor !== null) return ok({ ...common, cursor })
    const detail = `The cursor is not one of this list. Send the nextCursor of GET ${path} unchanged, with a key of the same organization.`
    return fail(problem('invalid_cursor', detail))
  }
  const text = query.get('updatedAfter') ?? ''
  const updatedAfter = parseTimestamp(text)
  if (updatedAfter === null) return notTimestamp('updatedAfter', text)
  return ok({ ...common, updatedAfter })
}

export interface SyncSource<C> {
  readonly feed: Feed<C>
  readonly kinds: ReadonlySet<string>
  readonly readers: WaitingReaders
}

/** The page that the query asks for; with `wait`, as soon as it has a row. */
export async function syncPage<C>(
  call: WaitingCall,
  { feed, kinds, readers }: SyncSource<C>,
  query: SyncQuery,
): Promise<Outcome<Buffer>> {
  const { organizationId, organizationCreatedAt } = call.caller
  const start: PageStart =
    'cursor' in query
      ? { from: 'cursor', cursor: query.cursor }
      : { from: 'watermark', updatedAfter: query.updatedAfter, organizationCreatedAt }
  const { limit, wait } = query
  type Read = Awaited<ReturnType<Feed<C>['page']>>
  const startAfter = (last: Read | null) => (last?.ok ? startAt(last.value.clock, start) : start)
  const waited =
    wait === 0
      ? ok(await feed.page(organizationId, start, limit, call.request.disconnected))
      : await waitForPage<Read>(call, readers, {
          wait,
          topics: kinds,
          keyAfter: (last) => JSON.stringify([startAfter(last), limit]),
          read: (last) => feed.page(organizationId, startAfter(last), limit),
          emptyAt: (page) => (page.ok && page.value.records === '' ? page.value.clock : null),
        })
  if (!waited.ok) return refused(waited.error)
  const result = waited.value
  if (!result.ok) return refused(restoredProblems[result.error])
  const { records, total, checkpoint, next } = result.value
  return done(
    listBody(records, {
      total,
      limit,
      offset: 0,
      hasMore: checkpoint === null,
      nextCursor: encodeCursor(next),
      ...(checkpoint === null ? {} : { checkpoint }),
    }),
  )
}

/** Sent again unchanged, a watermark in the future would skip what has come since. */
function startAt(clock: number, start: PageStart): PageStart {
  const isAhead = start.from === 'watermark' && start.updatedAfter > clock
  return isAhead ? { ...start, updatedAfter: clock } : start
}

const restoredProblems = {
  epoch_over: problem(
    'cursor_too_old',
    'The database was restored from a backup older than this cursor. Empty your copy and start again with updatedAfter=1970-01-01T00:00:00Z.',
  ),
  watermark_lost: problem(
    'cursor_too_old',
    'The database was restored from a backup older than this updatedAfter, and what your copy took in between is lost here. Empty your copy and start again with updatedAfter=1970-01-01T00:00:00Z.',
  ),
}
