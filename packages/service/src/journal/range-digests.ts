/**
 * Counts and digests of the existing rows in ranges of ids, and the stream position at which they hold, from one
 * snapshot (specification 7.9). They are computed from the rows, as stored hashes would cost every change, and few
 * clients read them.
 */
import { OrganizationGone } from '../db/call-function.ts'
import type { Database } from '../db/fair-pool.ts'
import { arrayParameter, milliseconds, queryTextWithin } from '../db/text-query.ts'
import { type Cursor, highestId } from '../kernel/cursor.ts'
import { nilUuid } from '../kernel/ids.ts'
import { formatDigest, sumOfManyTerms, versionBytes } from './body.ts'
import type { StreamTable } from './stream-table.ts'

interface RangeDigest extends IdRange {
  readonly count: number
  readonly digest: string
  readonly contentDigest: string
  /** In order, and the content digest of each; absent where they were not requested or are too many. */
  readonly ids?: readonly string[]
  readonly contentDigests?: readonly string[]
}

interface RangeDigests {
  /** The organization's clock, in milliseconds. The digests cover every change up to it. */
  readonly asOf: number
  /** The position at `asOf`. */
  readonly cursor: Cursor
  readonly ranges: readonly RangeDigest[]
}

export interface RangeDigestReader {
  /** Includes the ids of ranges with at most `idsUpTo` rows. `too_long`: the statement was cancelled. */
  read(
    organizationId: string,
    ranges: readonly IdRange[],
    idsUpTo: number,
    signal?: AbortSignal,
  ): Promise<RangeDigests | 'too_long'>
}

/** In milliseconds. */
const longestAnswer = 20_000

export function createRangeDigestReader(
  database: Pick<Database, 'ofLong'>,
  table: StreamTable,
  longest = longestAnswer,
): RangeDigestReader {
  const text = rangeDigestsStatement(table)
  return {
    async read(organizationId, ranges, idsUpTo, signal) {
      const rows = await queryTextWithin(database.ofLong(organizationId, signal), longest, text, [
        organizationId,
        arrayParameter(ranges.map(({ after }) => after)),
        arrayParameter(ranges.map(({ before }) => before)),
        String(idsUpTo),
      ])
      if (rows === 'too_long') return rows
      const [first] = rows
      if (first === undefined) throw new OrganizationGone(organizationId)
      const [epoch, lastStamp] = first.map(Number) as [number, number]
      return {
        asOf: lastStamp,
        cursor: {
          resource: table.kind,
          organizationId,
          epoch,
          position: { at: lastStamp, id: highestId },
          removalsAfter: null,
        },
        ranges: rows.map(([, , after, before, count, digest, content, ids, contents]) => ({
          after: String(after),
          before: String(before),
          count: Number(count),
          digest: formatDigest(String(digest)),
          contentDigest: formatDigest(String(content)),
          ...(ids == null ? {} : { ids: listed(ids), contentDigests: listed(String(contents)) }),
        })),
      }
    },
  }
}

const listed = (texts: string) => (texts === '' ? [] : texts.split(','))

/**
 * A row a range, in their order. Parameters: organization, starts and ends of ranges, and up to how many ids to
 * return. `offset 0` keeps the planner from merging the subqueries, which would compute each hash eight times.
 */
export function rangeDigestsStatement({ name }: StreamTable): string {
  const inRange = `t.organization_id = $1 and t.removed_at is null and t.id > r.after and t.id <= r.before`
  return `select o.epoch, ${milliseconds('o.last_stamp')} as last_stamp, r.after, r.before, d.count,
    coalesce(d.digest, 0) as digest, coalesce(d.content, 0) as content,
    case when d.count <= $4::int and $4::int > 0 then coalesce(l.ids, '') end as ids, coalesce(l.contents, '') as contents
  from clocks o
  cross join unnest($2::uuid[], $3::uuid[]) with ordinality as r(after, before, position)
  cross join lateral (
    select count(*) as count, ${sumOfManyTerms('h.version')} as digest, ${sumOfManyTerms('h.content')} as content
      from (select sha256(b.bytes) as content, sha256(${versionBytes('b.bytes')}) as version
        from (select convert_to(t.body, 'UTF8') as bytes from ${name} t where ${inRange} offset 0) b offset 0) h) d
  cross join lateral (
    select string_agg(t.id::text, ',' order by t.id) as ids,
        string_agg(encode(substr(sha256(convert_to(t.body, 'UTF8')), 1, 8), 'hex'), ',' order by t.id) as contents
      from ${name} t where ${inRange} and d.count <= $4::int) l
  where o.organization_id = $1
  order by r.position`
}

/** The ids after `after`, up to and including `before`. */
export interface IdRange {
  readonly after: string
  readonly before: string
}

/** No object has the lowest id. */
export const allIds: IdRange = { after: nilUuid, before: highestId }

/** Equal parts, ascending, with bounds rounded down; some may be empty. `before` must not be lower than `after`. */
export function partsOf({ after, before }: IdRange, parts: number): readonly IdRange[] {
  const first = numberOf(after)
  const width = numberOf(before) - first
  const bounds = Array.from({ length: parts + 1 }, (_, n) =>
    idOf(first + (width * BigInt(n)) / BigInt(parts)),
  )
  return bounds.slice(1).map((bound, n) => ({ after: bounds[n] as string, before: bound }))
}

function numberOf(id: string): bigint {
  return BigInt(`0x${id.replaceAll('-', '')}`)
}

function idOf(number: bigint): string {
  const hex = number.toString(16).padStart(32, '0')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
