/** The SQL of a page of the stream: one statement, of one table or of several in one order. */
import { crc32 } from 'node:zlib'
import { largeBeyond } from '../admission/large-work.ts'
import { milliseconds, type PreparedStatement, type TextRow } from '../db/text-query.ts'
import type { StreamTable } from './stream-table.ts'

/**
 * The form of a page. A list has commas between its records. Lines are a piece of a longer response, which ends earlier
 * where it would be large: an object can have a quarter of a mebibyte.
 */
export type PageForm = 'list' | 'lines'

/** The statements that read a page: of the whole stream, of a first sync, and from a watermark of the client. */
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
  /** The position of the last record; null when there are none. */
  readonly lastAt: number | null
  readonly lastId: string | null
  readonly total: number
  /**
   * When the page is the last: the digest of the rows of one table; of several, as JSON, count, digest and content digest
   * of each that ever had a row. Null while more follows.
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

/** The tables of a stream: one, or several, of which each call names some. */
export type Source = StreamTable | readonly StreamTable[]

function isOne(source: Source): source is StreamTable {
  return 'kind' in source
}

/** The values of a page's statement, in the order of its parameters. */
interface PageValues {
  readonly organizationId: string
  /** After this position, as text. */
  readonly after: readonly [at: string, id: string]
  /** Records of the page at most; no more than the ceiling of the statement. */
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

/** Ceilings of the statements, whatever smaller limit a client sends, so that a connection prepares few statements. */
const ceilings = [10, 20, 50, 100, 200, 500, 1_000] as const

/** The smallest ceiling for a limit. */
export function ceilingOf(limit: number): number {
  const ceiling = ceilings.find((most) => limit <= most)
  if (ceiling === undefined) throw new Error(`no page has ${limit} records`)
  return ceiling
}

/**
 * The statements that read a page of at most `ceiling` records. The ceiling is part of the text: with a limit as a
 * parameter the planner plans again for every page, which takes as long as the page (0.6 ms instead of 0.3 ms). The kinds
 * to read are a parameter that is cast from text, so that the plan does not depend on its value: it is the same for every
 * set of kinds, and tables of other kinds are not read. (With a subquery for each table, the page took a quarter longer.)
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

/** A page by cursor needs no such check, as the cursor has an epoch. A restore leaves one row an organization. */
const lostSpan = `,
    exists (select 1 from restores r where r.organization_id = $1 and $2 > r.restored_to and $2 <= r.restored_at) as lost`

/** PostgreSQL cuts names at 63 bytes, so that two could become one. */
function statementName(name: string): string {
  return name.length <= 63 ? name : `${name.slice(0, 54)}_${crc32(name).toString(16)}`
}

/** Rows and removals in one order. */
function wholeStream(source: Source, ceiling: number): readonly string[] {
  if (isOne(source)) return [arm(source, '', '($2, $3)', ceiling)]
  return source.map((table) => arm(table, ifAsked(table), '($2, $3)', ceiling))
}

/**
 * Existing rows, and removals since the first sync began, from the later of that and the position: each from an index of
 * its own, from where the page starts.
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

function merged(arms: readonly string[], ceiling: number): string {
  const [only] = arms
  if (arms.length === 1 && only !== undefined) return only
  return `select s.updated_at, s.id, s.body from (${arms.map((one) => `(${one})`).join(' union all ')}) s
            order by s.updated_at, s.id limit ${ceiling + 1}`
}

/**
 * Joins the bodies of the page in the database: one string is a tenth of the cost of an array of them. It is one pass over
 * rows in the order of the index; read twice or sorted, the page costs half as much again.
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

/** For each form: what is computed from the records before one, and whether it is still in the page. */
function forms(order: string) {
  const list = { between: `','`, columns: `row_number() over (${order}) as n`, fits: 's.n <= $4::int' }
  const before = `over (${order} rows unbounded preceding)`
  // PostgreSQL knows the length of a toasted body without reading it.
  const columns = `row_number() ${before} as n, sum(octet_length(s.body)) ${before} - octet_length(s.body) as bytes_before`
  const fits = `${list.fits} and s.bytes_before < ${largeBeyond.responseBytes}`
  return {
    list: { ...list, taken: '$4::int' },
    lines: { between: `E'\\n'`, columns, fits, taken: `count(*) filter (where ${fits})` },
  }
}

/** The number of existing rows and, on the last page, their digests: of one kind, or of each. */
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
