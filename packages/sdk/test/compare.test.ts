/** Finding differences: which are found, and what that costs in calls and bytes. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ComparedCopy,
  type Customer,
  comparedRows,
  type Difference,
  findDifferences,
  type IdRange,
  type Moment,
  type RangeDigests,
  type ServedRows,
} from '../src/index.ts'
import { customer, referenceCheckpoint, timeOf } from './rows.ts'

const numberOf = (id: string) => BigInt(`0x${id.replaceAll('-', '')}`)
const idOf = (number: bigint) =>
  number
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
const hex = (sum: bigint) => BigInt.asUintN(64, sum).toString(16).padStart(16, '0')
const term = (text: string) => createHash('sha256').update(text).digest().readBigUInt64BE()

/** Of each row but once, however many shelves it is on. */
const known = new WeakMap<Customer, { digest: bigint; content: bigint }>()

function termsOf(row: Customer) {
  const terms = known.get(row) ?? {
    digest: term(`${row.id}:${row.updatedAt}`),
    content: term(JSON.stringify(row)),
  }
  known.set(row, terms)
  return terms
}

/** Rows in order with sums up to each, so that a range costs two look-ups: a service, or a copy, of any size. */
class Shelf {
  readonly rows: Map<string, Customer>
  readonly #ids: string[]
  readonly #sums: [digest: bigint, content: bigint][] = [[0n, 0n]]

  constructor(rows: Iterable<Customer>) {
    this.rows = new Map([...rows].map((row) => [row.id, row]))
    this.#ids = [...this.rows.keys()].sort()
    let [digest, content] = [0n, 0n]
    for (const id of this.#ids) {
      const row = this.rows.get(id) as Customer
      const terms = termsOf(row)
      digest += terms.digest
      content += terms.content
      this.#sums.push([digest, content])
    }
  }

  get span() {
    const [lowest, highest] = [this.#ids[0], this.#ids.at(-1)]
    return lowest === undefined || highest === undefined ? null : { lowest, highest }
  }

  ids({ after, before }: IdRange) {
    return this.#ids.slice(this.#upTo(after), this.#upTo(before))
  }

  digest({ after, before }: IdRange) {
    const [from, to] = [this.#upTo(after), this.#upTo(before)]
    const [first, last] = [this.#sums[from], this.#sums[to]] as [[bigint, bigint], [bigint, bigint]]
    return { count: to - from, digest: hex(last[0] - first[0]), contentDigest: hex(last[1] - first[1]) }
  }

  #upTo(id: string): number {
    let [low, high] = [0, this.#ids.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#ids[middle] as string) <= id) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** What the service answers by its specification, and what that came to. */
function serviceOf(shelf: Shelf) {
  const spent = { calls: 0, bytes: 0 }
  const answered = <T>(answer: T): T => {
    spent.calls++
    spent.bytes += JSON.stringify(answer).length
    return answer
  }
  const served: ServedRows<Customer> = {
    async digests({ after = idOf(0n), before = idOf(2n ** 128n - 1n), parts = 16, idsUpTo = 0 }) {
      const [first, width] = [numberOf(after), numberOf(before) - numberOf(after)]
      const bounds = Array.from({ length: parts + 1 }, (_, n) =>
        idOf(first + (width * BigInt(n)) / BigInt(parts)),
      )
      const data = bounds.slice(1).map((bound, n) => {
        const range = { after: bounds[n] as string, before: bound }
        const ids = shelf.ids(range)
        return { ...range, ...shelf.digest(range), ...(idsUpTo > 0 && ids.length <= idsUpTo ? { ids } : {}) }
      })
      return answered<RangeDigests>({ asOf: timeOf(1e9), cursor: 'c', data })
    },
    async getMany(ids) {
      const asked = [...ids]
      const rows = asked.flatMap((id) => shelf.rows.get(id) ?? [])
      spent.calls += Math.ceil(asked.length / 100) - 1
      return answered(rows)
    },
  }
  return { served, spent }
}

function copyOf(shelf: Shelf): ComparedCopy {
  return {
    span: async () => shelf.span,
    advance: async () => {},
    digests: async (ranges) => ranges.map((range) => shelf.digest(range)),
    ids: async (range) => shelf.ids(range),
    async texts(ids) {
      const held = ids.flatMap((id) => shelf.rows.get(id) ?? [])
      return new Map(held.map((row) => [row.id, JSON.stringify(row)]))
    },
  }
}

async function all(differences: AsyncIterable<Difference<Customer>>) {
  const found: string[] = []
  for await (const { type, id } of differences) found.push(`${type} ${id}`)
  return found.sort()
}

/** Ids as the service makes them: so many milliseconds after each other, and random below. */
const idAt = (ms: number, n: number) => {
  const random = createHash('sha256').update(`${n}`).digest('hex')
  const time = (Date.UTC(2026, 0, 31) + ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(6, 18)}`
}

describe('of a hundred thousand rows', () => {
  const rows = Array.from({ length: 100_000 }, (_, n) => ({ ...customer(n), id: idAt(n * 3, n) }))
  const shelf = new Shelf(rows)
  const whole = rows.reduce((sum, row) => sum + JSON.stringify(row).length, 0)

  test.each([
    { count: 0, calls: 3, share: 0.002 },
    { count: 1, calls: 6, share: 0.004 },
    { count: 10, calls: 30, share: 0.011 },
    { count: 100, calls: 150, share: 0.08 },
    { count: 10_000, calls: 1_000, share: 0.8 },
  ])('$count that differ are found in $calls calls at most', async ({ count, calls, share }) => {
    const step = rows.length / Math.max(1, count)
    const expected: string[] = []
    const held = rows.flatMap((row, n) => {
      if (count === 0 || n % step !== Math.floor(step / 2)) return [row]
      const sort = ((n / step) % 4) | 0
      if (sort === 0) {
        expected.push(`missing ${row.id}`)
        return []
      }
      if (sort === 1) {
        const extra = { ...row, id: idAt(n * 3 + 1, -n) }
        expected.push(`extra ${extra.id}`)
        return [row, extra]
      }
      expected.push(`changed ${row.id}`)
      return [sort === 2 ? { ...row, name: 'Mangled' } : { ...row, updatedAt: timeOf(1) }]
    })
    const { served, spent } = serviceOf(shelf)
    expect(await all(findDifferences(served, copyOf(new Shelf(held))))).toEqual(expected.sort())
    expect(expected).toHaveLength(count)
    expect(spent.calls).toBeLessThanOrEqual(calls)
    expect(spent.bytes / whole).toBeLessThan(share)
  })

  test('calls overlap, and the copy goes only forwards however they are answered', async () => {
    const held = rows.filter((_, n) => n % 500 !== 0)
    const { served } = serviceOf(shelf)
    let round = 0
    let underWay = 0
    let mostUnderWay = 0
    const overlapping: typeof served = {
      ...served,
      async digests(params) {
        if (underWay === 0) round += 10
        // Of calls that are under way together, the first is answered of the latest moment.
        const asOf = timeOf(1e9 + round - underWay)
        mostUnderWay = Math.max(mostUnderWay, ++underWay)
        const answer = await served.digests(params)
        underWay--
        return { ...answer, asOf }
      },
    }
    const moments: string[] = []
    const advance = async ({ asOf }: Moment) => void moments.push(asOf)
    const copy = { ...copyOf(new Shelf(held)), advance }
    expect(await all(findDifferences(overlapping, copy))).toHaveLength(200)
    expect(mostUnderWay).toBe(4)
    expect(moments).toEqual(moments.toSorted())
  })

  test('an empty copy lacks them all, and a copy of nothing is all extra', async () => {
    const some = new Shelf(rows.slice(0, 3_000))
    const empty = new Shelf([])
    const one = await all(findDifferences(serviceOf(some).served, copyOf(empty)))
    expect(one).toEqual([...some.rows.keys()].map((id) => `missing ${id}`).sort())
    const other = await all(findDifferences(serviceOf(empty).served, copyOf(some)))
    expect(other).toEqual([...some.rows.keys()].map((id) => `extra ${id}`).sort())
    expect(await all(findDifferences(serviceOf(empty).served, copyOf(empty)))).toEqual([])
  })
})

test('exactly what differs is found, wherever the ids are', async () => {
  const ids = fc.oneof(
    fc.uuid(),
    fc.nat(300).map((n) => customer(n).id),
  )
  const rows = fc.uniqueArray(ids, { maxLength: 60 })
  const sorts = fc.infiniteStream(fc.constantFrom('same', 'same', 'missing', 'changed', 'extra'))
  await fc.assert(
    fc.asyncProperty(rows, sorts, async (all_, sort) => {
      const served: Customer[] = []
      const held = new Map<string, Customer>()
      const expected: string[] = []
      for (const [n, id] of all_.entries()) {
        const row = { ...customer(n), id }
        const of = sort.next().value as string
        if (of !== 'same') expected.push(`${of} ${id}`)
        if (of !== 'extra') served.push(row)
        if (of !== 'missing') held.set(id, of === 'changed' ? { ...row, company: 'Other' } : row)
      }
      const service = serviceOf(new Shelf(served))
      const copy = comparedRows(held, async () => {})
      expect(await all(findDifferences(service.served, copy))).toEqual(expected.sort())
    }),
  )
})

test('rows in memory have the digests of a checkpoint in each range', async () => {
  const rows = [5, 1, 3].map((n) => customer(n))
  const moments: Moment[] = []
  const copy = comparedRows(new Map(rows.map((row) => [row.id, row])), async (to) => void moments.push(to))
  const [low, high] = [customer(0).id, customer(4).id]
  const ranges = [
    { after: low, before: customer(3).id },
    { after: customer(3).id, before: high },
    { after: high, before: customer(5).id },
  ]
  expect(await copy.digests(ranges)).toEqual([
    referenceCheckpoint([customer(1), customer(3)]),
    referenceCheckpoint([]),
    referenceCheckpoint([customer(5)]),
  ])
  expect(await copy.span()).toEqual({ lowest: customer(1).id, highest: customer(5).id })
  await copy.advance({ asOf: 'a', cursor: 'c' })
  expect(moments).toEqual([{ asOf: 'a', cursor: 'c' }])
})

test('what has changed since the moment that was compared is no difference: the stream brings it', async () => {
  const later = { ...customer(1), updatedAt: timeOf(2e9) }
  const service = serviceOf(new Shelf([later, customer(2)]))
  // The digests are of a moment before both, at which the copy lacked one and held another as it was.
  const digests = serviceOf(new Shelf([customer(1), customer(2), customer(3)])).served
  const served = { ...service.served, digests: (options: object) => digests.digests(options) }
  const copy = copyOf(new Shelf([{ ...customer(1), name: 'Mangled' }, customer(2)]))
  // Row 3 was removed since, row 1 was changed.
  expect(await all(findDifferences(served, copy))).toEqual([])
})
