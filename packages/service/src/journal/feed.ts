/**
 * The feed: the only reader of the ordered stream. One statement reads a page, its totals, its checkpoint, the
 * organization's clock and epoch, all from one snapshot; read in two, rows and removals that
 * commit in between are lost (specification 7.3).
 *
 * Commits of an organization are in the order of their stamps, so a snapshot that shows a stamp shows everything
 * before it: a reader who has seen up to a position has seen all there will ever be up to it.
 */
import { readJson } from '@deskwire/sdk/json'
import type { Database } from '../db/fair-pool.ts'
import { queryText } from '../db/text-query.ts'
import { type Cursor, highestId, type Position } from '../kernel/cursor.ts'
import { fail, ok, type Result } from '../kernel/result.ts'
import { singleFlight } from '../kernel/single-flight.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { formatDigest } from './body.ts'
import {
  ceilingOf,
  type PageForm,
  type PageRow,
  type PageStatements,
  pageRowOf,
  pageStatements,
  pageValues,
  type Source,
} from './page-statement.ts'
import type { StreamTable } from './stream-table.ts'

/** Where a page starts: at a watermark that a client kept, or where an earlier page ended. */
export type PageStart =
  | { readonly from: 'watermark'; readonly updatedAfter: number; readonly organizationCreatedAt: number }
  | { readonly from: 'cursor'; readonly cursor: Cursor }

export interface Checkpoint {
  readonly count: number
  readonly digest: string
  readonly contentDigest: string
}

export interface Page<C = Checkpoint> {
  /** The records' bodies, with commas or line breaks between them. */
  readonly records: string
  readonly total: number
  /** The existing rows of the kind at this page, when nothing follows it; null while more does. */
  readonly checkpoint: C | null
  /** The organization's clock at this page: its last stamp, in milliseconds. */
  readonly clock: number
  readonly next: Cursor
}

/** Why there is no page after a restore: the cursor is of an epoch that ended, or the watermark of a span that was lost. */
type Lost = 'epoch_over' | 'watermark_lost'

export interface Feed<C = Checkpoint> {
  page(
    organizationId: string,
    start: PageStart,
    limit: number,
    signal?: AbortSignal,
  ): Promise<Result<Page<C>, Lost>>
}

/** Reads the stream of one table. */
export function createFeed(
  database: Pick<Database, 'of'>,
  table: StreamTable,
  form: PageForm = 'list',
): Feed<Checkpoint> {
  return feedOf(database, pagesOf(table, form), {
    resource: table.kind,
    checkpoint: ({ checkpointData, content, total }) =>
      checkpointData === null || content === null ? null : checkpointFrom(total, checkpointData, content),
  })
}

function checkpointFrom(count: number, digest: string, content: string): Checkpoint {
  return {
    count,
    digest: formatDigest(digest),
    contentDigest: formatDigest(content),
  }
}

/** Counts and digests of several kinds, by the kind's name. */
export type Checkpoints = Readonly<Record<string, Checkpoint>>

/**
 * Reads the streams of several tables as one, or of some of them: `resource` is what the cursors of those belong to. However
 * many sets are read, the statements are the same.
 */
export function createJoinedFeeds(
  database: Pick<Database, 'of'>,
  tables: readonly StreamTable[],
): (resource: string, kinds: readonly string[]) => Feed<Checkpoints> {
  const pages = pagesOf(tables)
  return (resource, kinds) =>
    feedOf(database, pages, {
      resource,
      kinds,
      checkpoint({ checkpointData }) {
        if (checkpointData === null) return null
        const digests = readJson(checkpointData) as Readonly<Record<string, Checkpoint>>
        const parts = kinds.map((kind): [string, Checkpoint] => {
          const { count, digest, contentDigest } = digests[kind] ?? noRows
          return [kind, checkpointFrom(count, digest, contentDigest)]
        })
        return Object.fromEntries(parts)
      },
    })
}

/** Of a kind that never had a row; the digests are sums, in decimal. */
const noRows: Checkpoint = { count: 0, digest: '0', contentDigest: '0' }

interface FeedSource<C> {
  readonly resource: string
  /** Those that are read of several. */
  readonly kinds?: readonly string[]
  /** Null while more follows the page. */
  readonly checkpoint: (row: PageRow) => C | null
}

/** The statements for pages of so many records: seven sets of them at most. */
function pagesOf(source: Source, form: PageForm = 'list'): (limit: number) => PageStatements {
  const known = new Map<number, PageStatements>()
  return (limit) => {
    const ceiling = ceilingOf(limit)
    const statements = known.get(ceiling) ?? pageStatements(source, ceiling, form)
    known.set(ceiling, statements)
    return statements
  }
}

function feedOf<C>(
  database: Pick<Database, 'of'>,
  pages: (limit: number) => PageStatements,
  { resource, kinds, checkpoint }: FeedSource<C>,
): Feed<C> {
  return {
    async page(organizationId, start, limit, signal) {
      const { position, removalsAfter } = starting(start)
      const { whole, first, kept } = pages(limit)
      const statement = removalsAfter !== null ? first : start.from === 'watermark' ? kept : whole
      const values = pageValues({
        organizationId,
        after: [formatTimestamp(position.at), position.id],
        limit,
        ...(kinds && { kinds }),
        ...(removalsAfter !== null && { removalsAfter: removalsFrom(position, removalsAfter) }),
      })
      const [columns] = await queryText(database.of(organizationId, signal), statement, values)
      if (columns === undefined) throw new Error(`organization ${organizationId} has no clock`)
      const row = pageRowOf(columns)
      if (start.from === 'cursor' && start.cursor.epoch !== row.epoch) return fail('epoch_over')
      if (row.lost) return fail('watermark_lost')
      return ok(pageOf(row))

      function pageOf(row: PageRow): Page<C> {
        const { records, total, lastStamp: clock } = row
        const next = nextPosition(row, position, clock)
        const began = removalsAfter === 'now' ? clock : removalsAfter
        return {
          records,
          total,
          checkpoint: checkpoint(row),
          clock,
          next: {
            resource,
            organizationId,
            epoch: row.epoch,
            position: next,
            // Past the clock at which a first sync began, removals are ordinary records of the stream.
            removalsAfter: began === null || next.at > began ? null : began,
          },
        }
      }
    },
  }
}

/**
 * A watermark is exclusive. Earlier than the organization itself it marks a client's first sync, which holds
 * nothing yet, so that removals until now are not replayed to it.
 */
function starting(start: PageStart): { position: Position; removalsAfter: number | 'now' | null } {
  if (start.from === 'cursor') {
    return { position: start.cursor.position, removalsAfter: start.cursor.removalsAfter }
  }
  const position = { at: start.updatedAfter, id: highestId }
  return { position, removalsAfter: start.updatedAfter < start.organizationCreatedAt ? 'now' : null }
}

/** Where the removals of a first sync's page start, as two values of its statement. */
function removalsFrom({ at, id }: Position, removalsAfter: number | 'now'): [at: string, id: string] {
  if (removalsAfter === 'now') return ['infinity', highestId]
  return removalsAfter < at ? [formatTimestamp(at), id] : [formatTimestamp(removalsAfter), highestId]
}

/** The last record delivered; on an empty page where it started, though never later than the clock. */
function nextPosition(row: PageRow, from: Position, clock: number): Position {
  if (row.lastAt !== null && row.lastId !== null) return { at: row.lastAt, id: row.lastId }
  return from.at > clock ? { at: clock, id: highestId } : from
}

/** A feed, and the same for those who wait for notifications of it. */
export interface Feeds<C> {
  readonly feed: Feed<C>
  /**
   * One statement for all who ask for the same page at the same time: a thousand waiting readers whom one commit wakes
   * are at the same place of the same stream. Telling who asks for the same costs more than it saves those who do not wait.
   */
  readonly waitingFeed: Feed<C>
}

export function shareWaiting<C>(feed: Feed<C>): Feeds<C> {
  const look = singleFlight<Result<Page<C>, Lost>>()
  const waitingFeed: Feed<C> = {
    page(organizationId, start, limit) {
      const key = JSON.stringify([organizationId, start, limit])
      return look(key, () => feed.page(organizationId, start, limit))
    },
  }
  return { feed, waitingFeed }
}
