/**
 * Where a copy differs from the service (specification 7.9): digests of ranges of ids are compared, and those ranges
 * that differ are divided again, until they have few enough rows to be read. Calls and bytes grow with the
 * differences, not with the rows. Nothing here knows what the copy is kept in, and nothing is written to it but by
 * its own `advance`.
 */
import { checkpointOf, contentDigestOf } from './checkpoint.ts'
import type { IdRange, RangeDigest, RangeDigests, Row } from './envelope.ts'
import type { CallOptions } from './options.ts'
import type { DigestParams } from './resource.ts'

/** Of the service what a comparison asks: `client.tickets`, for example. */
export interface ServedRows<T extends Row> {
  digests(params: DigestParams, options?: CallOptions): Promise<RangeDigests>
  getMany(ids: Iterable<string>, options?: CallOptions): Promise<T[]>
}

/**
 * A place in the stream: what has a later `updatedAt` or `removedAt` than `asOf` comes after `cursor`, and nothing
 * else does.
 */
export type Moment = Pick<RangeDigests, 'asOf' | 'cursor'>

/** Of a copy what a comparison asks. */
export interface ComparedCopy {
  /** The lowest and the highest id that it holds; null when it holds none. */
  span(): Promise<{ lowest: string; highest: string } | null>
  /**
   * Takes in what the stream has up to this moment, and nothing later: `changesUpTo`. No moment is before an earlier
   * one.
   */
  advance(to: Moment): Promise<void>
  /** What it holds in each of these ranges, which do not overlap, in their order; of a row, the text as it is held. */
  digests(ranges: readonly IdRange[]): Promise<readonly Held[]>
  /** The ids that it holds in this range. */
  ids(range: IdRange): Promise<readonly string[]>
  /** The `contentDigest` of each row in this range, by id. Without it, equal rows next to a difference are read too. */
  contentDigests?(range: IdRange): Promise<ReadonlyMap<string, string>>
  /** The texts of those of these rows that it holds, by id. */
  texts(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
}

type Held = Pick<RangeDigest, 'count' | 'digest' | 'contentDigest'>

/**
 * A row that differs. `missing`: the copy lacks it. `changed`: it holds another text. `extra`: the service has none.
 * What the stream is going to bring anyway, as it has changed since, is no difference.
 */
export type Difference<T extends Row> =
  | { type: 'missing' | 'changed'; id: string; row: T }
  | { type: 'extra'; id: string }

/** Rows that a range should have so that it is read and not divided: fewer make more ranges, more make more rows. */
const rowsOfRange = 3
/** Of ranges of more rows no ids are told. */
const idsUpTo = 32
const maxParts = 256
/**
 * Parts that a range is divided into where few of its neighbours differ, so that one difference is likely in it.
 * Those that are equal are paid for too: with 256 for each 100 of a million rows take 25 MB in 141 calls, and with
 * some 16 they take 2.5 MB in 234.
 */
const partsOfFew = 16
/**
 * Share of rows in parts that differ, from which many differences are likely in each: then bytes are spent to have
 * fewer calls.
 */
const mostOf = 0.75
const rowsOfCall = 100
/** Calls for digests that are under way together, as the service computes for each while the copy looks at others. */
const callsAtOnce = 4

const lowest = '00000000-0000-0000-0000-000000000000'
const highest = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * The rows of a copy that differ from the service's, each once. The copy is advanced along. Rows that change while
 * this runs make their ranges differ, and are told apart in the end: by their `updatedAt` they come later than the
 * copy is. Throws what the service's calls and the copy's throw.
 *
 * One difference among a hundred thousand rows takes five calls.
 */
export async function* findDifferences<T extends Row>(
  served: ServedRows<T>,
  copy: ComparedCopy,
  options?: CallOptions,
): AsyncGenerator<Difference<T>, void, undefined> {
  const left = firstRanges(await copy.span())
  /** Rows of ranges that differ, by id: whether the service had them. */
  let suspects = new Map<string, boolean>()
  let asOf = ''
  for (let asked = left.splice(0, callsAtOnce); asked.length > 0; asked = left.splice(0, callsAtOnce)) {
    const answers = await Promise.all(
      asked.map(({ range, parts }) => served.digests({ ...range, parts, idsUpTo }, options)),
    )
    // A copy only goes forwards; what is asked next is answered for a later moment.
    answers.sort((one, other) => Date.parse(one.asOf) - Date.parse(other.asOf))
    for (const answer of answers) {
      await copy.advance(answer)
      asOf = answer.asOf
      await compare(answer)
      if (suspects.size < rowsOfCall) continue
      yield* judge(suspects)
      suspects = new Map()
    }
  }
  yield* judge(suspects)

  async function compare(answer: RangeDigests): Promise<void> {
    const held = await copy.digests(answer.data)
    const compared = answer.data.map((part, n) => {
      const own = held[n] as Held
      return { part, rows: Math.max(part.count, own.count), differs: !isSame(part, own) }
    })
    const differing = compared.filter(({ differs }) => differs)
    const isMost = rowsOf(differing) > mostOf * rowsOf(compared)
    for (const { part, rows } of differing) {
      if (part.ids === undefined) {
        left.push(divided(part, rows, isMost ? maxParts : partsOfFew))
        continue
      }
      for (const id of await copy.ids(part)) suspects.set(id, false)
      const own = await copy.contentDigests?.(part)
      for (const [n, id] of part.ids.entries()) {
        const digest = part.contentDigests?.[n]
        if (digest !== undefined && digest === own?.get(id)) suspects.delete(id)
        else suspects.set(id, true)
      }
    }
  }

  async function* judge(rows: ReadonlyMap<string, boolean>): AsyncGenerator<Difference<T>, void, undefined> {
    if (rows.size === 0) return
    const ids = [...rows.keys()]
    const [current, texts] = await Promise.all([served.getMany(ids, options), copy.texts(ids)])
    const found = new Map(current.map((row) => [row.id, row]))
    for (const [id, wasServed] of rows) {
      const row = found.get(id)
      const text = texts.get(id)
      if (row === undefined) {
        // One that was there is gone since, and the stream says so.
        if (!wasServed && text !== undefined) yield { type: 'extra', id }
      } else if (row.updatedAt <= asOf && text !== JSON.stringify(row)) {
        yield { type: text === undefined ? 'missing' : 'changed', id, row }
      }
    }
  }
}

interface Asked {
  range: IdRange
  parts: number
}

/** What the copy holds, divided, and what is lower and higher than that, where only the service can have something. */
function firstRanges(span: { lowest: string; highest: string } | null): Asked[] {
  if (span === null) return [{ range: { after: lowest, before: highest }, parts: maxParts }]
  const bounds = [lowest, before(span.lowest), span.highest, highest]
  return [1, 0, 2].flatMap((n) => {
    const range = { after: bounds[n] as string, before: bounds[n + 1] as string }
    return range.after < range.before ? [{ range, parts: n === 1 ? maxParts : 1 }] : []
  })
}

/** The id right below. */
function before(id: string): string {
  const hex = (BigInt(`0x${id.replaceAll('-', '')}`) - 1n).toString(16).padStart(32, '0')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function divided({ after, before }: IdRange, rows: number, upTo: number): Asked {
  const parts = Math.min(upTo, Math.max(2, Math.ceil(rows / rowsOfRange)))
  return { range: { after, before }, parts }
}

const rowsOf = (parts: readonly { readonly rows: number }[]) => parts.reduce((sum, { rows }) => sum + rows, 0)

function isSame(one: Held, other: Held): boolean {
  return one.count === other.count && one.digest === other.digest && one.contentDigest === other.contentDigest
}

/** Rows in memory as a copy to be compared; `advance` is the caller's, who keeps them. */
export function comparedRows<T extends Row>(
  rows: ReadonlyMap<string, T>,
  advance: (to: Moment) => Promise<void>,
): ComparedCopy {
  const sorted = () => [...rows.keys()].sort()
  const within = (ids: readonly string[], { after, before }: IdRange) =>
    ids.slice(firstAfter(ids, after), firstAfter(ids, before))
  return {
    async span() {
      const ids = sorted()
      const [first, last] = [ids[0], ids.at(-1)]
      return first === undefined || last === undefined ? null : { lowest: first, highest: last }
    },
    advance,
    async digests(ranges) {
      const ids = sorted()
      const held: Held[] = []
      for (const range of ranges) {
        const own = within(ids, range).map((id) => rows.get(id) as T)
        held.push({ ...(await checkpointOf(own)), contentDigest: await contentDigestOf(own) })
      }
      return held
    },
    ids: async (range) => within(sorted(), range),
    async texts(ids) {
      const held = ids.flatMap((id) => rows.get(id) ?? [])
      return new Map(held.map((row) => [row.id, JSON.stringify(row)]))
    },
  }
}

/** The place of the first id that is higher. */
function firstAfter(ids: readonly string[], id: string): number {
  let [low, high] = [0, ids.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ids[middle] as string) <= id) low = middle + 1
    else high = middle
  }
  return low
}
