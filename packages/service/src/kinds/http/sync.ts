/** A sync over HTTP: its query, and its page, which waits for something to report if the client asks for that. */
import { invalid, notTimestamp, paging } from '../../http/list-parameters.ts'
import { listBody } from '../../http/replies.ts'
import type { Call } from '../../http/route.ts'
import type { Feeds, Page, PageStart } from '../../journal/feed.ts'
import type { WaitingReaders } from '../../journal/waiting-readers.ts'
import { type Cursor, encodeCursor } from '../../kernel/cursor.ts'
import { type Problem, problem, quoted } from '../../kernel/errors.ts'
import { done, fail, type Outcome, ok, type Result, refused } from '../../kernel/outcome.ts'
import { parseTimestamp } from '../../kernel/timestamps.ts'
import type { QueryParameters, ReadParameter } from '../../openapi/api-module.ts'

export type SyncQuery = {
  readonly mode: 'sync'
  readonly limit: number
  /** Seconds to wait while there is nothing to report. */
  readonly wait: number
} & ({ readonly updatedAfter: number } | { readonly cursor: Cursor })

/** A delayed response has to end before proxies close the connection, most of them at 60 s. */
const longestWait = 50

const wait: ReadParameter<number> = {
  description: `In a sync: with nothing to report, the answer waits this many seconds for something. Above ${longestWait} is served as ${longestWait}.`,
  // No default: a form that fills it in would wait without need.
  schema: { type: 'integer', minimum: 0 },
  read(text) {
    if (text === null) return ok(0)
    if (/^\d{1,15}$/.test(text)) return ok(Math.min(Number(text), longestWait))
    return invalid(`wait must be a whole number of seconds from 0 to ${longestWait}; got ${quoted(text)}.`)
  },
}

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
  wait,
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
  const seconds = wait.read(query.get('wait'), 'wait')
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

export interface SyncSource<C> extends Feeds<C> {
  readonly kinds: ReadonlySet<string>
  readonly readers: WaitingReaders
}

type Waiting = Pick<Call, 'request' | 'reply' | 'caller' | 'recheck'>

/** The page that the query asks for (specification 7). */
export async function syncPage<C>(
  call: Waiting,
  stream: SyncSource<C>,
  query: SyncQuery,
): Promise<Outcome<Buffer>> {
  const { organizationId, organizationCreatedAt } = call.caller
  const start: PageStart =
    'cursor' in query
      ? { from: 'cursor', cursor: query.cursor }
      : { from: 'watermark', updatedAfter: query.updatedAfter, organizationCreatedAt }
  const result = await (query.wait === 0
    ? stream.feed.page(organizationId, start, query.limit, call.request.disconnected)
    : waitForPage(call, stream, { start, ...query }))
  if (!result.ok)
    return refused(typeof result.error === 'string' ? restoredProblems[result.error] : result.error)
  const { records, total, checkpoint, next } = result.value
  return done(
    listBody(records, {
      total,
      limit: query.limit,
      offset: 0,
      hasMore: checkpoint === null,
      nextCursor: encodeCursor(next),
      ...(checkpoint === null ? {} : { checkpoint }),
    }),
  )
}

async function waitForPage<C>(
  call: Waiting,
  { waitingFeed: feed, kinds, readers }: SyncSource<C>,
  { start, limit, wait }: { readonly start: PageStart; readonly limit: number; readonly wait: number },
): Promise<Result<Page<C>, keyof typeof restoredProblems | Problem>> {
  const { request, reply, caller } = call
  const { organizationId } = caller
  // Time counts from the request's arrival: after a move of the organization, another database handles it again.
  const left = Math.max(0, wait * 1_000 - reply.elapsedTime)
  using watch = readers.watch({ organizationId, kinds }, left, request.disconnected)
  request.admitted?.releaseWhileWaiting()
  try {
    let from = start
    let result = await feed.page(organizationId, from, limit)
    let hasWaited = false
    while (result.ok && isEmpty(result.value)) {
      const { clock } = result.value
      watch.seen(clock)
      hasWaited = true
      if (!(await watch.next())) break
      from = readAt(clock, from)
      result = await feed.page(organizationId, from, limit)
    }
    // After the page was read: what it shows was committed before this check.
    const refusal = hasWaited ? await call.recheck() : null
    return refusal === null ? result : fail(refusal)
  } catch (error) {
    const refusal = await call.recheck()
    if (refusal !== null) return fail(refusal)
    throw error
  }
}

/** Sent again unchanged, a watermark in the future would skip what has come since. */
function readAt(clock: number, start: PageStart): PageStart {
  const isAhead = start.from === 'watermark' && start.updatedAfter > clock
  return isAhead ? { ...start, updatedAfter: clock } : start
}

function isEmpty(page: Page<unknown>): boolean {
  return page.records === ''
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
