/**
 * The feed: the only reader of the ordered stream. One statement reads a page, its totals, its checkpoint, the
 * organization's clock and the database's epoch, all from one snapshot; read in two, rows and removals that
 * commit in between are lost.
 *
 * Commits of an organization are in the order of their stamps, so a snapshot that shows a stamp shows everything
 * before it: a reader who has seen up to a position has seen all there will ever be up to it.
 */
import type { Pool } from 'pg'
import { type Cursor, highestId, type Position } from '../kernel/cursor.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { formatDigest } from './digest.ts'
import type { StreamTable } from './stream-table.ts'

/** Where a page starts: at a watermark that a client kept, or where an earlier page ended. */
export type PageStart =
  | { readonly from: 'watermark'; readonly updatedAfter: number; readonly organizationCreatedAt: number }
  | { readonly from: 'cursor'; readonly cursor: Cursor }

export interface Checkpoint {
  readonly count: number
  readonly digest: string
}

export interface Page {
  /** The records' bodies, with the feed's separator between them. */
  readonly records: string
  readonly total: number
  /** The existing rows of the kind at this page, when nothing follows it; null while more does. */
  readonly checkpoint: Checkpoint | null
  readonly next: Cursor
}

/** A page, or the news that the cursor's epoch is over (the database was restored from an older backup). */
export type PageOutcome =
  | { readonly outcome: 'page'; readonly page: Page }
  | { readonly outcome: 'epoch_over' }

export interface Feed {
  page(organizationId: string, start: PageStart, limit: number): Promise<PageOutcome>
}

interface PageRow {
  readonly epoch: number
  readonly last_stamp: Date
  readonly records: string | null
  readonly last_at: Date | null
  readonly last_id: string | null
  readonly total: string
  readonly digest: string | null
}

/**
 * The two statements that read a page of `limit` records: of the whole stream, and of a first sync. The limit is
 * part of the text: as a parameter it is unknown to the planner, which then plans anew for every page and takes as
 * long for that as for the page itself (measured: 0.6 ms a page, and 0.3 ms like this).
 */
export function pageStatements(table: StreamTable, limit: number, separator: Separator = ',') {
  const statement = (name: string, source: string) => ({
    name: `${name}_${table.name}_${limit}${separator === ',' ? '' : '_lines'}`,
    text: pageStatement(table, source, { limit, separator }),
  })
  return {
    whole: statement('page', wholeStream(table, limit)),
    first: statement('first_page', firstSync(table, limit)),
  }
}

/** What stands between the records of a page: a comma for a list of JSON, a line break for lines of it. */
export type Separator = ',' | '\n'

/** Reads the stream of one table. */
export function createFeed(pool: Pool, table: StreamTable, separator: Separator = ','): Feed {
  // As many as there are limits: a hundred.
  const statements = new Map<number, ReturnType<typeof pageStatements>>()
  const statementsFor = (limit: number) => {
    const known = statements.get(limit) ?? pageStatements(table, limit, separator)
    statements.set(limit, known)
    return known
  }

  return {
    async page(organizationId, start, limit) {
      const { position, removalsAfter } = starting(start)
      const { whole, first } = statementsFor(limit)
      const values = [organizationId, formatTimestamp(position.at), position.id]
      const { rows } = await pool.query<PageRow>(
        removalsAfter === null
          ? { ...whole, values }
          : {
              ...first,
              values: [...values, ...removalsFrom(position, removalsAfter)],
            },
      )
      const [row] = rows
      if (row === undefined) throw new Error(`organization ${organizationId} has no clock`)
      if (start.from === 'cursor' && start.cursor.epoch !== row.epoch) return { outcome: 'epoch_over' }
      return { outcome: 'page', page: pageOf(row) }

      function pageOf(row: PageRow): Page {
        const clock = row.last_stamp.getTime()
        const next = nextPosition(row, position, clock)
        const began = removalsAfter === 'now' ? clock : removalsAfter
        return {
          records: row.records ?? '',
          total: Number(row.total),
          checkpoint:
            row.digest === null ? null : { count: Number(row.total), digest: formatDigest(row.digest) },
          next: {
            resource: table.kind,
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
  if (row.last_at !== null && row.last_id !== null) return { at: row.last_at.getTime(), id: row.last_id }
  return from.at > clock ? { at: clock, id: highestId } : from
}

/** Rows and removals alike, in the one order. */
function wholeStream(table: StreamTable, limit: number): string {
  return `select t.updated_at, t.id, t.body from ${table.name} t
            where t.organization_id = $1 and (t.updated_at, t.id) > ($2, $3)
            order by t.updated_at, t.id limit ${limit + 1}`
}

/**
 * Existing rows, and removals since the first sync began, from the later ($4, $5) of that and the position: each
 * arm by an index of its own, entered where its page starts.
 */
function firstSync(table: StreamTable, limit: number): string {
  return `select s.updated_at, s.id, s.body from (
            (select t.updated_at, t.id, t.body from ${table.name} t
              where t.organization_id = $1 and t.removed_at is null and (t.updated_at, t.id) > ($2, $3)
              order by t.updated_at, t.id limit ${limit + 1})
            union all
            (select t.updated_at, t.id, t.body from ${table.name} t
              where t.organization_id = $1 and t.removed_at is not null and (t.updated_at, t.id) > ($4, $5)
              order by t.updated_at, t.id limit ${limit + 1})) s
            order by s.updated_at, s.id limit ${limit + 1}`
}

/**
 * Joins the page's bodies in the database: one string is a tenth of the cost of an array of them. One pass over
 * rows that the index brings in order: read twice, sorted again, the page costs half as much again.
 */
function pageStatement(
  table: StreamTable,
  source: string,
  { limit, separator }: { readonly limit: number; readonly separator: Separator },
): string {
  const between = separator === ',' ? `','` : `E'\\n'`
  const order = 'order by s.updated_at, s.id'
  return `select i.epoch, o.last_stamp, p.records, p.last_at, p.last_id,
    coalesce(k.live_count, 0) as total,
    case when p.found <= ${limit} then coalesce(k.digest, 0) end as digest
  from organization_clocks o
  join installation i on i.singleton
  left join kind_counters k on k.organization_id = $1 and k.kind = '${table.kind}'
  cross join (
    select count(*) as found,
      string_agg(s.body, ${between} ${order}) filter (where s.n <= ${limit}) as records,
      max(s.updated_at) filter (where s.n <= ${limit}) as last_at,
      (array_agg(s.id ${order}))[least(count(*), ${limit})] as last_id
    from (select s.updated_at, s.id, s.body, row_number() over (${order}) as n from (${source}) s) s) p
  where o.organization_id = $1`
}
