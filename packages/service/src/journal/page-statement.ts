/** The SQL of a page of the stream: one statement, of one table or of several in one order. */
import { crc32 } from 'node:zlib'
import { milliseconds, type PreparedStatement, type TextRow } from '../db/text-query.ts'
import type { StreamTable } from './stream-table.ts'

/** What stands between the records of a page: a comma for a list of JSON, a line break for lines of it. */
export type Separator = ',' | '\n'

/** The statements that read a page: of the whole stream, of a first sync, and from a watermark that a client kept. */
export interface PageStatements {
  readonly whole: PreparedStatement
  readonly first: PreparedStatement
  /** As `whole`, and whether the watermark is from a span that a restore has lost. */
  readonly kept: PreparedStatement
}

/** The one row of a page. Times are milliseconds since the Unix epoch. */
export interface PageRow {
  readonly epoch: number
  /** The organization's clock. */
  readonly lastStamp: number
  /** The bodies, with the separator between them; empty when there are none. */
  readonly records: string
  /** Where the last record stands; null when there are none. */
  readonly lastAt: number | null
  readonly lastId: string | null
  readonly total: number
  /**
   * When nothing follows the page: of one table the digest of its rows, of several, as JSON, count and digest of each
   * that has ever had a row. Null while more follows.
   */
  readonly standing: string | null
  /** Whether a watermark is from a span that a restore has lost; false when that was not asked. */
  readonly lost: boolean
}

/** Reads the columns that `pageStatement` names, in their order. */
export function pageRowOf(columns: TextRow): PageRow {
  const [epoch, lastStamp, records, lastAt, lastId, total, standing, lost] = columns
  return {
    epoch: Number(epoch),
    lastStamp: Number(lastStamp),
    records: records ?? '',
    lastAt: lastAt == null ? null : Number(lastAt),
    lastId: lastId ?? null,
    total: Number(total),
    standing: standing ?? null,
    lost: lost === 't',
  }
}

/**
 * The statements that read a page of `limit` records. The limit is part of the text: as a parameter it is
 * unknown to the planner, which then plans anew for every page and takes as long for that as for the page itself
 * (measured: 0.6 ms a page, and 0.3 ms like this).
 */
export function pageStatements(
  tables: readonly StreamTable[],
  limit: number,
  separator: Separator = ',',
): PageStatements {
  const of = tables.map(({ name }) => name).join('_')
  const statement = (name: string, source: string, lost = ''): PreparedStatement => ({
    name: statementName(`${name}_${limit}${separator === ',' ? '' : '_lines'}_${of}`),
    text: pageStatement(tables, source, { limit, separator, lost }),
  })
  return {
    whole: statement('page', wholeStream(tables, limit)),
    first: statement('first_page', firstSync(tables, limit)),
    kept: statement('kept_page', wholeStream(tables, limit), lostSpan),
  }
}

/** A page by cursor pays nothing for this: its epoch says the same. A restore leaves one row an organization. */
const lostSpan = `,
    exists (select 1 from restores r where r.organization_id = $1 and $2 > r.restored_to and $2 <= r.restored_at) as lost`

/** PostgreSQL cuts names off at 63 bytes; two that begin alike would be one. */
function statementName(name: string): string {
  return name.length <= 63 ? name : `${name.slice(0, 54)}_${crc32(name).toString(16)}`
}

/** Rows and removals alike, in the one order. */
function wholeStream(tables: readonly StreamTable[], limit: number): string {
  return merged(
    tables.map(({ name }) => arm(name, '', '($2, $3)', limit)),
    limit,
  )
}

/**
 * Existing rows, and removals since the first sync began, from the later ($4, $5) of that and the position: each
 * arm by an index of its own, entered where its page starts.
 */
function firstSync(tables: readonly StreamTable[], limit: number): string {
  return merged(
    tables.flatMap(({ name }) => [
      arm(name, ' and t.removed_at is null', '($2, $3)', limit),
      arm(name, ' and t.removed_at is not null', '($4, $5)', limit),
    ]),
    limit,
  )
}

function arm(table: string, condition: string, after: string, limit: number): string {
  return `select t.updated_at, t.id, t.body from ${table} t
            where t.organization_id = $1${condition} and (t.updated_at, t.id) > ${after}
            order by t.updated_at, t.id limit ${limit + 1}`
}

/** The arms in one order. */
function merged(arms: readonly string[], limit: number): string {
  const [only] = arms
  if (arms.length === 1 && only !== undefined) return only
  return `select s.updated_at, s.id, s.body from (${arms.map((one) => `(${one})`).join(' union all ')}) s
            order by s.updated_at, s.id limit ${limit + 1}`
}

/**
 * Joins the page's bodies in the database: one string is a tenth of the cost of an array of them. One pass over
 * rows that the index brings in order: read twice, sorted again, the page costs half as much again.
 */
function pageStatement(
  tables: readonly StreamTable[],
  source: string,
  {
    limit,
    separator,
    lost,
  }: { readonly limit: number; readonly separator: Separator; readonly lost: string },
): string {
  const between = separator === ',' ? `','` : `E'\\n'`
  const order = 'order by s.updated_at, s.id'
  const { columns, join } = counters(tables, `p.found <= ${limit}`)
  return `select i.epoch, ${milliseconds('o.last_stamp')} as last_stamp, p.records, ${milliseconds('p.last_at')} as last_at,
    p.last_id, ${columns}${lost}
  from organization_clocks o
  join installation i on i.singleton
  ${join}
  cross join (
    select count(*) as found,
      string_agg(s.body, ${between} ${order}) filter (where s.n <= ${limit}) as records,
      max(s.updated_at) filter (where s.n <= ${limit}) as last_at,
      (array_agg(s.id ${order}))[least(count(*), ${limit})] as last_id
    from (select s.updated_at, s.id, s.body, row_number() over (${order}) as n from (${source}) s) s) p
  where o.organization_id = $1`
}

/** How many rows exist, and, when nothing follows the page, their digest: one, or one a kind. */
function counters(tables: readonly StreamTable[], isLast: string): { columns: string; join: string } {
  const [only] = tables
  if (tables.length === 1 && only !== undefined) {
    return {
      columns: `coalesce(k.live_count, 0) as total, case when ${isLast} then coalesce(k.digest, 0) end as standing`,
      join: `left join kind_counters k on k.organization_id = $1 and k.kind = '${only.kind}'`,
    }
  }
  const kinds = tables.map(({ kind }) => `'${kind}'`).join(', ')
  return {
    columns: `coalesce(k.total, 0) as total, case when ${isLast} then coalesce(k.digests, '{}') end as standing`,
    join: `cross join (
    select sum(c.live_count) as total,
      jsonb_object_agg(c.kind, jsonb_build_object('count', c.live_count, 'digest', c.digest::text)) as digests
    from kind_counters c where c.organization_id = $1 and c.kind in (${kinds})) k`,
  }
}
