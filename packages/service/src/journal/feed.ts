/**
 * The feed: the only reader of the ordered stream. One statement reads a page, its totals, its checkpoint, the
 * organization's clock and the database's epoch, all from one snapshot; read in two, rows and removals that
 * commit in between are lost (specification 7.3).
 *
 * Commits of an organization are in the order of their stamps, so a snapshot that shows a stamp shows everything
 * before it: a reader who has seen up to a position has seen all there will ever be up to it.
 */
import type { Database } from '../db/fair-pool.ts'
import { queryText } from '../db/text-query.ts'
import { type Cursor, highestId, type Position } from '../kernel/cursor.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { formatDigest } from './digest.ts'
import {
  type PageRow,
  type PageStatements,
  pageRowOf,
  pageStatements,
  type Separator,
} from './page-statement.ts'
import type { StreamTable } from './stream-table.ts'

/** Where a page starts: at a watermark that a client kept, or where an earlier page ended. */
export type PageStart =
  | { readonly from: 'watermark'; readonly updatedAfter: number; readonly organizationCreatedAt: number }
  | { readonly from: 'cursor'; readonly cursor: Cursor }

export interface Checkpoint {
  readonly count: number
  readonly digest: string
}

export interface Page<C = Checkpoint> {
  /** The records' bodies, with the feed's separator between them. */
  readonly records: string
  readonly total: number
  /** The existing rows of the kind at this page, when nothing follows it; null while more does. */
  readonly checkpoint: C | null
  /** The organization's clock at this page: its last stamp, in milliseconds. */
  readonly clock: number
  readonly next: Cursor
}

/**
 * A page, or the news that the database was restored from an older backup: the cursor's epoch is over, or the
 * watermark is from the span of time that was lost.
 */
export type PageOutcome<C = Checkpoint> =
  | { readonly outcome: 'page'; readonly page: Page<C> }
  | { readonly outcome: 'epoch_over' }
  | { readonly outcome: 'watermark_lost' }

export interface Feed<C = Checkpoint> {
  page(organizationId: string, start: PageStart, limit: number): Promise<PageOutcome<C>>
}

/** Reads the stream of one table. */
export function createFeed(
  database: Pick<Database, 'of'>,
  table: StreamTable,
  separator: Separator = ',',
): Feed<Checkpoint> {
  return feedOf(database, {
    resource: table.kind,
    tables: [table],
    separator,
    checkpoint: ({ standing, total }) =>
      standing === null ? null : { count: total, digest: formatDigest(standing) },
  })
}

/** Counts and digests of several kinds, by the kind's name. */
export type Checkpoints = Readonly<Record<string, Checkpoint>>

/** Reads the streams of several tables as one; `resource` is what its cursors belong to. */
export function createJoinedFeed(
  database: Pick<Database, 'of'>,
  resource: string,
  tables: readonly StreamTable[],
): Feed<Checkpoints> {
  return feedOf(database, {
    resource,
    tables,
    separator: ',',
    checkpoint({ standing }) {
      if (standing === null) return null
      const digests = JSON.parse(standing) as Readonly<Record<string, Checkpoint>>
      const parts = tables.map(({ kind }): [string, Checkpoint] => {
        const { count, digest } = digests[kind] ?? { count: 0, digest: '0' }
        return [kind, { count, digest: formatDigest(digest) }]
      })
      return Object.fromEntries(parts)
    },
  })
}

interface Source<C> {
  readonly resource: string
  readonly tables: readonly StreamTable[]
  readonly separator: Separator
  /** Null while more follows the page. */
  readonly checkpoint: (row: PageRow) => C | null
}

function feedOf<C>(
  database: Pick<Database, 'of'>,
  { resource, tables, separator, checkpoint }: Source<C>,
): Feed<C> {
  // As many as there are limits: a hundred.
  const statements = new Map<number, PageStatements>()
  const statementsFor = (limit: number) => {
    const known = statements.get(limit) ?? pageStatements(tables, limit, separator)
    statements.set(limit, known)
    return known
  }

  return {
    async page(organizationId, start, limit) {
      const { position, removalsAfter } = starting(start)
      const { whole, first, kept } = statementsFor(limit)
      const values = [organizationId, formatTimestamp(position.at), position.id]
      const connection = database.of(organizationId)
      const [columns] = await (removalsAfter === null
        ? queryText(connection, start.from === 'watermark' ? kept : whole, values)
        : queryText(connection, first, [...values, ...removalsFrom(position, removalsAfter)]))
      if (columns === undefined) throw new Error(`organization ${organizationId} has no clock`)
      const row = pageRowOf(columns)
      if (start.from === 'cursor' && start.cursor.epoch !== row.epoch) return { outcome: 'epoch_over' }
      if (row.lost) return { outcome: 'watermark_lost' }
      return { outcome: 'page', page: pageOf(row) }

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
