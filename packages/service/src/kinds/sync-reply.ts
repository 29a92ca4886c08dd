/** The answer of a sync: a page of the stream, held back while there is nothing to report and the client will wait. */
import { done, listBody, type Outcome, refused } from '../http/replies.ts'
import type { Call } from '../http/route.ts'
import type { Feeds, Page, PageOutcome, PageStart } from '../journal/feed.ts'
import type { WaitingReaders } from '../journal/waiting-readers.ts'
import { encodeCursor } from '../kernel/cursor.ts'
import { problem } from '../kernel/errors.ts'
import type { SyncQuery } from './sync-query.ts'

/** One stream to sync from. */
export interface SyncSource<C> extends Feeds<C> {
  readonly kinds: ReadonlySet<string>
  readonly readers: WaitingReaders
}

/** The page that the query asks for (specification 7). */
export async function syncPage<C>(
  call: Pick<Call, 'request' | 'reply' | 'caller'>,
  stream: SyncSource<C>,
  query: SyncQuery,
): Promise<Outcome<Buffer>> {
  const { organizationId, organizationCreatedAt } = call.caller
  const start: PageStart =
    'cursor' in query
      ? { from: 'cursor', cursor: query.cursor }
      : { from: 'watermark', updatedAfter: query.updatedAfter, organizationCreatedAt }
  const result = await (query.wait === 0
    ? stream.feed.page(organizationId, start, query.limit)
    : waitForPage(call, stream, { start, ...query }))
  if (result.outcome === 'epoch_over') return refused(cursorTooOld)
  if (result.outcome === 'watermark_lost') return refused(watermarkLost)
  const { records, total, checkpoint, next } = result.page
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
  { request, reply, caller: { organizationId } }: Pick<Call, 'request' | 'reply' | 'caller'>,
  { waitingFeed: feed, kinds, readers }: SyncSource<C>,
  { start, limit, wait }: { readonly start: PageStart; readonly limit: number; readonly wait: number },
): Promise<PageOutcome<C>> {
  using watch = readers.watch({ organizationId, kinds }, wait * 1_000)
  request.leaveUnderWay()
  const leave = () => watch[Symbol.dispose]()
  reply.raw.once('close', leave)
  try {
    let from = start
    let result = await feed.page(organizationId, from, limit)
    while (result.outcome === 'page' && isEmpty(result.page)) {
      const { clock } = result.page
      watch.seen(clock)
      if (!(await watch.next())) break
      from = readAt(clock, from)
      result = await feed.page(organizationId, from, limit)
    }
    return result
  } finally {
    reply.raw.off('close', leave)
  }
}

/** Asked for again as it was sent, a watermark that is ahead would leave out what has come since. */
function readAt(clock: number, start: PageStart): PageStart {
  const isAhead = start.from === 'watermark' && start.updatedAfter > clock
  return isAhead ? { ...start, updatedAfter: clock } : start
}

function isEmpty(page: Page<unknown>): boolean {
  return page.records === ''
}

const cursorTooOld = problem(
  'cursor_too_old',
  'The database was restored from a backup older than this cursor. Empty your copy and start again with updatedAfter=1970-01-01T00:00:00Z.',
)

const watermarkLost = problem(
  'cursor_too_old',
  'The database was restored from a backup older than this updatedAfter, and what your copy took in between is lost here. Empty your copy and start again with updatedAfter=1970-01-01T00:00:00Z.',
)
