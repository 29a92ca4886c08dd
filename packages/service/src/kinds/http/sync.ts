/** A sync over HTTP: its query, and its pages. */

import { answerPages } from '../../http/event-stream.ts'
import { notTimestamp, paging } from '../../http/list-parameters.ts'
import { type ListedPage, type PageSource, type WaitingCall, waitParameter } from '../../http/wait.ts'
import type { Feed, Lost, Page, PageStart } from '../../journal/feed.ts'
import type { WaitingReaders } from '../../journal/waiting-readers.ts'
import { type Cursor, encodeCursor } from '../../kernel/cursor.ts'
import { type Problem, problem } from '../../kernel/errors.ts'
import { fail, type Outcome, ok, type Result } from '../../kernel/outcome.ts'
import { parseTimestamp } from '../../kernel/timestamps.ts'
import type { QueryParameters, Sent } from '../../openapi/api-module.ts'

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

/**
 * The page that the query asks for, or all from there on (`answerPages`). `refusal`: why the caller may not read it any
 * more.
 */
export function answerSync<C extends object>(
  call: WaitingCall,
  { feed, kinds: topics, readers }: SyncSource<C>,
  query: SyncQuery,
  refusal: () => Problem | null = () => null,
): Promise<Outcome<unknown> | Sent> {
  const { organizationId, organizationCreatedAt } = call.caller
  const { limit, wait } = query
  type Read = Result<ListedPage<PageStart>, Lost>
  const source: PageSource<PageStart, Read> = {
    start:
      'cursor' in query
        ? { from: 'cursor', cursor: query.cursor }
        : { from: 'watermark', updatedAfter: query.updatedAfter, organizationCreatedAt },
    topics,
    keyOf: (start) => JSON.stringify([start, limit]),
    async read(start, signal) {
      const page = await feed.page(organizationId, start, limit, signal)
      return page.ok ? ok(listedPage(page.value, start, limit)) : page
    },
    listed(page) {
      const refused = page.ok ? refusal() : restoredProblems[page.error]
      return page.ok && refused === null ? page : fail(refused as Problem)
    },
  }
  return answerPages(call, readers, source, wait)
}

function listedPage<C extends object>(page: Page<C>, start: PageStart, limit: number): ListedPage<PageStart> {
  const { records, total, checkpoint, clock, next } = page
  const hasMore = checkpoint === null
  const isEmpty = records === ''
  return {
    records,
    pagination: { total, limit, offset: 0, hasMore, nextCursor: encodeCursor(next) },
    checkpoint,
    isEmpty,
    clock,
    next: isEmpty && start.from === 'watermark' ? startAt(clock, start) : { from: 'cursor', cursor: next },
  }
}

/**
 * Keeps the watermark while nothing was found, as a cursor would end at a restore; at most at the clock, as one that is
 * ahead of it would skip what comes.
 */
function startAt(clock: number, start: Extract<PageStart, { from: 'watermark' }>): PageStart {
  return start.updatedAfter > clock ? { ...start, updatedAfter: clock } : start
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
