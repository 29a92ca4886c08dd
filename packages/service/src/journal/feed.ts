/**
 * The feed: the only reader of the ordered stream. One statement reads a page, total, checkpoint, clock and epoch
 * from one snapshot; between two statements, concurrent commits would be lost (specification 7.3). Commits of an
 * organization are in the order of their stamps, so a snapshot that shows a stamp shows everything before it.
 */
import { crc32 } from 'node:zlib'
import { readJson } from '@deskwire/sdk/json'
import { OrganizationGone } from '../db/call-function.ts'
import type { Database } from '../db/fair-pool.ts'
import { milliseconds, type PreparedStatement, queryText, type TextRow } from '../db/text-query.ts'
import { type Cursor, highestId, type Position } from '../kernel/cursor.ts'
import { fail, ok, type Result } from '../kernel/outcome.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { formatDigest } from './body.ts'
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
export type Lost = 'epoch_over' | 'watermark_lost'

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
  return feedOf(database, statementsOf(table, form), {
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
  const pages = statementsOf(tables)
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

/** Bytes of a response, or of a piece of a longer one, that are read and sent at once: more would block others. */
export const pieceBytes = 1024 * 1024

const noRows: Checkpoint = { count: 0, digest: '0', contentDigest: '0' }

interface FeedSource<C> {
  readonly resource: string
  readonly kinds?: readonly string[]
  readonly checkpoint: (row: PageRow) => C | null
}

function statementsOf(source: Source, form: PageForm = 'list'): (limit: number) => PageStatements {
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
  statements: (limit: number) => PageStatements,
  { resource, kinds, checkpoint }: FeedSource<C>,
): Feed<C> {
  return {
    async page(organizationId, start, limit, signal) {
      const { position, removalsAfter } = starting(start)
      const { whole, firstSync, fromWatermark } = statements(limit)
      const statement =
        removalsAfter !== null ? firstSync : start.from === 'watermark' ? fromWatermark : whole
      const values = pageValues({
        organizationId,
        after: [formatTimestamp(position.at), position.id],
        limit,
        ...(kinds && { kinds }),
        ...(removalsAfter !== null && { removalsAfter: removalsFrom(position, removalsAfter) }),
      })
      const [columns] = await queryText(database.of(organizationId, signal), statement, values)
      if (columns === undefined) throw new OrganizationGone(organizationId)
      const row = pageRowOf(columns)
      if (start.from === 'cursor' && start.cursor.epoch !== row.epoch) return fail('epoch_over')
      if (row.isWatermarkLost) return fail('watermark_lost')
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

/** `lines` is a piece of a longer response and ends early where it would be large, as an object can have 256 KiB. */
type PageForm = 'list' | 'lines'

/** The statements of a page: of the whole stream, of a first sync, and from the client's watermark. */
interface PageStatements {
  readonly whole: PreparedStatement
  readonly firstSync: PreparedStatement
  /** As `whole`, and reports whether the watermark is in a span that a restore has lost. */
  readonly fromWatermark: PreparedStatement
}

/** The one row of a page. Times are milliseconds since the Unix epoch. */
interface PageRow {
  readonly epoch: number
  /** The organization's clock. */
  readonly lastStamp: number
  /** The bodies, separated by commas or line breaks. */
  readonly records: string
  /** The position of the last record; null when there are none. */
  readonly lastAt: number | null
  readonly lastId: string | null
  readonly total: number
  /** On the last page one table's digest, or JSON with count and digests of each kind that has had a row; else null. */
  readonly checkpointData: string | null
  /** The content digest of one table. */
  readonly content: string | null
  /** False where it was not asked. */
  readonly isWatermarkLost: boolean
}

/** The columns of `pageStatement`, in their order. */
function pageRowOf(columns: TextRow): PageRow {
  const [epoch, lastStamp, records, lastAt, lastId, total, checkpointData, content, isWatermarkLost] = columns
  return {
    epoch: Number(epoch),
    lastStamp: Number(lastStamp),
    records: records ?? '',
    lastAt: lastAt == null ? null : Number(lastAt),
    lastId: lastId ?? null,
    total: Number(total),
    checkpointData: checkpointData ?? null,
    content: content ?? null,
    isWatermarkLost: isWatermarkLost === 't',
  }
}

/** One table, or several of which each call names some. */
type Source = StreamTable | readonly StreamTable[]

function isOne(source: Source): source is StreamTable {
  return 'kind' in source
}

interface PageValues {
  readonly organizationId: string
  /** Exclusive. */
  readonly after: readonly [at: string, id: string]
  readonly limit: number
  /** Where the removals of a first sync start. */
  readonly removalsAfter?: readonly [at: string, id: string]
  /** The kinds to read, where the source has several tables. */
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

/** Few limits, so that a connection prepares few statements, whatever limits clients send. */
const ceilings = [10, 20, 50, 100, 200, 500, 1_000] as const

function ceilingOf(limit: number): number {
  const ceiling = ceilings.find((most) => limit <= most)
  if (ceiling === undefined) throw new Error(`no page has ${limit} records`)
  return ceiling
}

/**
 * The limit is part of the text: with a parameter, the planner plans again for every page, which takes as long as the
 * page. The kinds are a parameter cast from text, which hides the value from the planner: one plan serves every set
 * of kinds, and tables of other kinds are not read.
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
    firstSync: statement('first_page', firstSync(source, ceiling)),
    fromWatermark: statement('watermark_page', whole, lostSpan),
  }
}

/** A page by cursor needs no such check, as the cursor has an epoch. */
const lostSpan = `,
    exists (select 1 from restores r where r.organization_id = $1 and $2 > r.restored_to and $2 <= r.restored_at) as lost`

/** PostgreSQL cuts names at 63 bytes, which could make two names one. */
function statementName(name: string): string {
  return name.length <= 63 ? name : `${name.slice(0, 54)}_${crc32(name).toString(16)}`
}

function wholeStream(source: Source, ceiling: number): readonly string[] {
  if (isOne(source)) return [arm(source, '', '($2, $3)', ceiling)]
  return source.map((table) => arm(table, ifRequested(table), '($2, $3)', ceiling))
}

/** Existing rows after the position; removals after the later of it and the sync's start. Each has its own index. */
function firstSync(source: Source, ceiling: number): readonly string[] {
  const ofTable = (table: StreamTable, condition: string, removals: string) => [
    arm(table, ` and t.removed_at is null${condition}`, '($2, $3)', ceiling),
    arm(table, ` and t.removed_at is not null${condition}`, removals, ceiling),
  ]
  if (isOne(source)) return ofTable(source, '', '($5, $6)')
  return source.flatMap((table) => ofTable(table, ifRequested(table), '($6, $7)'))
}

function ifRequested({ kind }: StreamTable): string {
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

/** Joins bodies in the database: a string costs a tenth of an array. A second pass or a sort adds half of the cost. */
function pageStatement(
  source: Source,
  arms: readonly string[],
  { ceiling, form, lost }: { readonly ceiling: number; readonly form: PageForm; readonly lost: string },
): string {
  const order = 'order by s.updated_at, s.id'
  const { separator, columns, fits, count } = forms(order)[form]
  const { columns: counted, join } = counters(source, 'not p.more')
  return `select o.epoch, ${milliseconds('o.last_stamp')} as last_stamp, p.records, ${milliseconds('p.last_at')} as last_at,
    p.last_id, ${counted}${lost}
  from clocks o
  ${join}
  cross join (
    select count(*) > ${count} as more,
      string_agg(s.body, ${separator} ${order}) filter (where ${fits}) as records,
      max(s.updated_at) filter (where ${fits}) as last_at,
      (array_agg(s.id ${order}))[least(count(*), ${count})] as last_id
    from (select s.updated_at, s.id, s.body, ${columns} from (${merged(arms, ceiling)}) s) s) p
  where o.organization_id = $1`
}

/** For each form: what is computed over the records before one, and whether the record is still in the page. */
function forms(order: string) {
  const list = { separator: `','`, columns: `row_number() over (${order}) as n`, fits: 's.n <= $4::int' }
  const before = `over (${order} rows unbounded preceding)`
  // PostgreSQL knows the length of a toasted body without reading it.
  const columns = `row_number() ${before} as n, sum(octet_length(s.body)) ${before} - octet_length(s.body) as bytes_before`
  const fits = `${list.fits} and s.bytes_before < ${pieceBytes}`
  return {
    list: { ...list, count: '$4::int' },
    lines: { separator: `E'\\n'`, columns, fits, count: `count(*) filter (where ${fits})` },
  }
}

/** The number of existing rows and, on the last page, their digests. */
function counters(source: Source, isLast: string): { columns: string; join: string } {
  if (isOne(source)) {
    return {
      columns: `coalesce(k.live_count, 0) as total, case when ${isLast} then coalesce(k.digest, 0) end as checkpoint,
    case when ${isLast} then coalesce(k.content_digest, 0) end as content`,
      join: `left join lateral (${latestCounters(`'${source.kind}'`)}) k on true`,
    }
  }
  return {
    columns: `coalesce(k.total, 0) as total, case when ${isLast} then coalesce(k.digests, '{}') end as checkpoint, null as content`,
    join: `cross join (
    select sum(c.live_count) as total,
      jsonb_object_agg(c.kind, jsonb_build_object('count', c.live_count, 'digest', c.digest::text,
        'contentDigest', c.content_digest::text)) as digests
    from unnest($5::text::text[]) as s(kind) cross join lateral (${latestCounters('s.kind')}) c) k`,
  }
}

/** By the key, the one index with this order: another has all commits of the organization by their stamps. */
function latestCounters(kind: string): string {
  return `select c.kind, c.live_count, c.digest, c.content_digest from commits c
    where c.organization_id = $1 and c.kind between ${kind} and ${kind} order by c.kind desc, c.stamp desc limit 1`
}
