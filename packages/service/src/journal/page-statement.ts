/** The SQL of a page of the stream: one statement, of one table or of several in one order. */
import { crc32 } from 'node:zlib'
import { largeBeyond } from '../admission/large-work.ts'
import { milliseconds, type PreparedStatement, type TextRow } from '../db/text-query.ts'
import type { StreamTable } from './stream-table.ts'

/**
 * What a page is for. A list has commas between its records, and as many of them as were asked for. Lines are a piece of something
 * longer, which ends earlier where it would be large: an object can have a quarter of a mebibyte.
 */
export type PageForm = 'list' | 'lines'

/** The statements that read a page: of the whole stream, of a first sync, and from a watermark that a client kept. */
export interface PageStatements {
  readonly whole: PreparedStatement
  readonly first: PreparedStatement
  /** As `whole`, and whether the watermark is from a span that a restore has lost. */
  readonly kept: PreparedStatement
}

/** The one row of a page. Times are milliseconds since the Unix epoch. */
export interface PageRow {
  /** The organization's. */
  readonly epoch: number
  /** Its clock. */
  readonly lastStamp: number
  /** The bodies, with commas or line breaks between them; empty when there are none. */
  readonly records: string
  /** Where the last record stands; null when there are none. */
  readonly lastAt: number | null
  readonly lastId: string | null
  readonly total: number
  /**
   * When nothing follows the page: of one table the digest of its rows, of several, as JSON, count, digest and content
   * digest of each that has ever had a row. Null while more follows.
   */
  readonly checkpointData: string | null
  /** The content digest of one table, where `checkpointData` has its digest. */
  readonly content: string | null
  /** Whether a watermark is from a span that a restore has lost; false when that was not asked. */
  readonly lost: boolean
}

/** Reads the columns that `pageStatement` names, in their order. */
export function pageRowOf(columns: TextRow): PageRow {
  const [epoch, lastStamp, records, lastAt, lastId, total, checkpointData, content, lost] = columns
  return {
    epoch: Number(epoch),
    lastStamp: Number(lastStamp),
    records: records ?? '',
    lastAt: lastAt == null ? null : Number(lastAt),
    lastId: lastId ?? null,
    total: Number(total),
    checkpointData: checkpointData ?? null,
    content: content ?? null,
    lost: lost === 't',
  }
}

/** Whose stream: of one table, or of those of several that each call names. */
export type Source = StreamTable | readonly StreamTable[]

function isOne(source: Source): source is StreamTable {
  return 'kind' in source
}

/** What a page is asked for with, in the order of the statements' parameters. */
interface PageValues {
  readonly organizationId: string
  /** Behind this position, as text. */
  readonly after: readonly [at: string, id: string]
  /** Records that the page has at most; no more than the statements are made for. */
  readonly limit: number
  /** In a first sync, where its removals start. */
  readonly removalsAfter?: readonly [at: string, id: string]
  /** Of a stream of several tables, the kinds that are read. */
  readonly kinds?: readonly string[]
}

export function pageValues({ organizationId, after, limit, removalsAfter, kinds }: PageValues): string[] {
  return [
    organizationId,
    ...after,
    String(limit),
    ...(kinds === undefined ? [] : [`{${kinds.join(',')}}`]),
    ...(removalsAfter ?? []),
  ]
}

/**
 * How many records a page's statement reads at most, whatever smaller number it is asked for: so that a connection keeps a
 * few statements, and not one for every number that a client may name.
 */
const ceilings = [10, 20, 50, 100, 200, 500, 1_000] as const

/** The smallest number of records that statements are made for and that has so many. */
export function ceilingOf(limit: number): number {
  const ceiling = ceilings.find((most) => limit <= most)
  if (ceiling === undefined) throw new Error(`no page has ${limit} records`)
  return ceiling
}

/**
 * The statements that read a page of at most `ceiling` records. The ceiling is part of the text: a limit that is a
 * parameter is unknown to the planner, which then plans again for every page and takes as long for that as for the page
 * itself (measured: 0.6 ms a page, and 0.3 ms like this). Which tables are read is a parameter that is cast from text,
 * so that the planner makes nothing of its value: the plan is the same for every set of them, and those that are not
 * asked for are not entered. (Behind a subquery each, the page took a quarter longer.)
 */
export function pageStatements(source: Source, ceiling: number, form: PageForm = 'list'): PageStatements {
  const of = isOne(source) ? source.name : 'changes'
  const statement = (name: string, arms: readonly string[], lost = ''): PreparedStatement => ({
    name: statementName(`${name}_${ceiling}${form === 'list' ? '' : '_lines'}_${of}`),
    text: pageStatement(source, arms, { ceiling, form, lost }),
  })
  const whole = wholeStream(source, ceiling)
  return {
    whole: statement('page', whole),
    first: statement('first_page', firstSync(source, ceiling)),
    kept: statement('kept_page', whole, lostSpan),
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
function wholeStream(source: Source, ceiling: number): readonly string[] {
  if (isOne(source)) return [arm(source, '', '($2, $3)', ceiling)]
  return source.map((table) => arm(table, ifAsked(table), '($2, $3)', ceiling))
}

/**
 * Existing rows, and removals since the first sync began, from the later of that and the position: each arm by an index of
 * its own, entered where its page starts.
 */
function firstSync(source: Source, ceiling: number): readonly string[] {
  const ofTable = (table: StreamTable, condition: string, removals: string) => [
    arm(table, ` and t.removed_at is null${condition}`, '($2, $3)', ceiling),
    arm(table, ` and t.removed_at is not null${condition}`, removals, ceiling),
  ]
  if (isOne(source)) return ofTable(source, '', '($5, $6)')
  return source.flatMap((table) => ofTable(table, ifAsked(table), '($6, $7)'))
}

function ifAsked({ kind }: StreamTable): string {
  return ` and '${kind}' = any($5::text::text[])`
}

function arm({ name }: StreamTable, condition: string, after: string, ceiling: number): string {
  return `select t.updated_at, t.id, t.body from ${name} t
            where t.organization_id = $1${condition} and (t.updated_at, t.id) > ${after}
            order by t.updated_at, t.id limit ${ceiling + 1}`
}

/** The arms in one order. */
function merged(arms: readonly string[], ceiling: number): string {
  const [only] = arms
  if (arms.length === 1 && only !== undefined) return only
  return `select s.updated_at, s.id, s.body from (${arms.map((one) => `(${one})`).join(' union all ')}) s
            order by s.updated_at, s.id limit ${ceiling + 1}`
}

/**
 * Joins the page's bodies in the database: one string is a tenth of the cost of an array of them. One pass over
 * rows that the index brings in order: read twice, sorted again, the page costs half as much again.
 */
function pageStatement(
  source: Source,
  arms: readonly string[],
  { ceiling, form, lost }: { readonly ceiling: number; readonly form: PageForm; readonly lost: string },
): string {
  const order = 'order by s.updated_at, s.id'
  const { between, columns, fits, taken } = forms(order)[form]
  const { columns: counted, join } = counters(source, 'not p.more')
  return `select o.epoch, ${milliseconds('o.last_stamp')} as last_stamp, p.records, ${milliseconds('p.last_at')} as last_at,
    p.last_id, ${counted}${lost}
  from organization_clocks o
  ${join}
  cross join (
    select count(*) > ${taken} as more,
      string_agg(s.body, ${between} ${order}) filter (where ${fits}) as records,
      max(s.updated_at) filter (where ${fits}) as last_at,
      (array_agg(s.id ${order}))[least(count(*), ${taken})] as last_id
    from (select s.updated_at, s.id, s.body, ${columns} from (${merged(arms, ceiling)}) s) s) p
  where o.organization_id = $1`
}

/** Of each form, what is known of a record by those before it, by which it is in the page or not, and how many are. */
function forms(order: string) {
  const list = { between: `','`, columns: `row_number() over (${order}) as n`, fits: 's.n <= $4::int' }
  const before = `over (${order} rows unbounded preceding)`
  // Of a body that is stored elsewhere the length is known without reading it.
  const columns = `row_number() ${before} as n, sum(octet_length(s.body)) ${before} - octet_length(s.body) as bytes_before`
  const fits = `${list.fits} and s.bytes_before < ${largeBeyond.responseBytes}`
  return {
    list: { ...list, taken: '$4::int' },
    lines: { between: `E'\\n'`, columns, fits, taken: `count(*) filter (where ${fits})` },
  }
}

/** How many rows of what is read exist, and, when nothing follows the page, their digests: of one, or of each kind. */
function counters(source: Source, isLast: string): { columns: string; join: string } {
  if (isOne(source)) {
    return {
      columns: `coalesce(k.live_count, 0) as total, case when ${isLast} then coalesce(k.digest, 0) end as checkpoint,
    case when ${isLast} then coalesce(k.content_digest, 0) end as content`,
      join: `left join kind_counters k on k.organization_id = $1 and k.kind = '${source.kind}'`,
    }
  }
  return {
    columns: `coalesce(k.total, 0) as total, case when ${isLast} then coalesce(k.digests, '{}') end as checkpoint, null as content`,
    join: `cross join (
    select sum(c.live_count) as total,
      jsonb_object_agg(c.kind, jsonb_build_object('count', c.live_count, 'digest', c.digest::text,
        'contentDigest', c.content_digest::text)) as digests
    from kind_counters c where c.organization_id = $1 and c.kind = any($5::text::text[])) k`,
  }
}
