/**
 * The feed: the only reader of the ordered stream. One statement reads a page, total, checkpoint, clock and epoch
 * from one snapshot; between two statements, concurrent commits would be lost (specification 7.3). Commits of an
 * organization are in the order of their stamps, so a snapshot that shows a stamp shows everything before it.
 */
import { readJson } from '@deskwire/sdk/json'
import type { Database } from '../db/fair-pool.ts'
import { queryText } from '../db/text-query.ts'
import { singleFlight } from '../kernel/coalesce.ts'
import { type Cursor, highestId, type Position } from '../kernel/cursor.ts'
import { fail, ok, type Result } from '../kernel/outcome.ts'
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

/** Where a page starts: at a watermark (`updatedAfter`, in milliseconds), or where an earlier page ended. */
export type PageStart =
  | { readonly from: 'watermark'; readonly updatedAfter: number; readonly organizationCreatedAt: number }
  | { readonly from: 'cursor'; readonly cursor: Cursor }

export interface Checkpoint {
  readonly count: number
  readonly digest: string
  readonly contentDigest: string
}

export interface Page<C = Checkpoint> {
  /** The records' bodies, separated by commas or line breaks. */
  readonly records: string
  readonly total: number
  /** Null while more follows the page. */
  readonly checkpoint: C | null
  /** The organization's last stamp at this page, in milliseconds. */
  readonly clock: number
  readonly next: Cursor
}

/** After a restore: the cursor's epoch has ended, or the watermark is in the span that was lost. */
type Lost = 'epoch_over' | 'watermark_lost'

export interface Feed<C = Checkpoint> {
  page(
    organizationId: string,
    start: PageStart,
    limit: number,
    signal?: AbortSignal,
  ): Promise<Result<Page<C>, Lost>>
}

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

export type Checkpoints = Readonly<Record<string, Checkpoint>>

/** Reads several tables, or some of them, as one stream. `resource` is written into its cursors. */
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

const noRows: Checkpoint = { count: 0, digest: '0', contentDigest: '0' }

interface FeedSource<C> {
  readonly resource: string
  readonly kinds?: readonly string[]
  readonly checkpoint: (row: PageRow) => C | null
}

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
      const { whole, first, fromWatermark } = pages(limit)
      const statement = removalsAfter !== null ? first : start.from === 'watermark' ? fromWatermark : whole
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
            removalsAfter: began === null || next.at > began ? null : began,
          },
        }
      }
    },
  }
}

/** A watermark before the organization's creation begins a first sync, which needs no removals until now. */
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

/** The position of the last record. An empty page stays where it started, but never later than the clock. */
function nextPosition(row: PageRow, from: Position, clock: number): Position {
  if (row.lastAt !== null && row.lastId !== null) return { at: row.lastAt, id: row.lastId }
  return from.at > clock ? { at: clock, id: highestId } : from
}

export interface Feeds<C> {
  readonly feed: Feed<C>
  /** For waiting readers, which one commit wakes together. For others, comparing requests costs more than it saves. */
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
