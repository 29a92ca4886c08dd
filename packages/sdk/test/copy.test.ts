import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Change, type Customer, checkpointOf, MemoryCopy } from '../src/index.ts'
import { customer, idOf, referenceCheckpoint, timeOf } from './rows.ts'

const removed = (n: number): Change<Customer> => ({
  type: 'removed',
  id: idOf(n),
  resource: 'customer',
  removedAt: timeOf(n),
})

/** Few ids, so that rows are replaced and removed often, and removals of what is not held occur. */
const changes = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.tuple(fc.nat(9), fc.nat(1_000)).map(([n, ms]) => upsert(n, ms)) },
    { weight: 1, arbitrary: fc.nat(9).map(removed) },
  ),
  { maxLength: 60 },
)

const upsert = (n: number, ms: number): Change<Customer> => ({ type: 'upsert', row: customer(n, ms) })

/** The copy as a plain map would hold it. */
const rowsAfter = (sequence: Change<Customer>[]): Map<string, Customer> => {
  const rows = new Map<string, Customer>()
  for (const change of sequence) {
    if (change.type === 'upsert') rows.set(change.row.id, change.row)
    else rows.delete(change.id)
  }
  return rows
}

test('after any sequence of changes the copy holds its rows and proves them', async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (sequence) => {
      const copy = new MemoryCopy<Customer>()
      for (const change of sequence) await copy.apply(change)
      const rows = rowsAfter(sequence)
      expect(copy.rows).toEqual(rows)
      expect(copy.checkpoint).toMatchObject(await checkpointOf(copy.rows.values()))
      expect(copy.checkpoint).toEqual(referenceCheckpoint([...rows.values()]))
    }),
  )
})

test('the same holds when nothing is awaited in between', async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (sequence) => {
      const copy = new MemoryCopy<Customer>()
      await Promise.all(sequence.map((change) => copy.apply(change)))
      expect(copy.rows).toEqual(rowsAfter(sequence))
      expect(copy.checkpoint).toEqual(referenceCheckpoint([...copy.rows.values()]))
    }),
  )
})

test('a page fed twice changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (sequence) => {
      const copy = new MemoryCopy<Customer>()
      for (const change of sequence) await copy.apply(change)
      const once = copy.checkpoint
      for (const change of sequence) await copy.apply(change)
      expect(copy.checkpoint).toEqual(once)
    }),
  )
})

test('verify answers whether the copy is exact, and both sides where it is not', async () => {
  const copy = new MemoryCopy<Customer>()
  for (const n of [1, 2, 3]) await copy.apply(upsert(n, n))
  const expected = referenceCheckpoint([customer(1), customer(2), customer(3)])
  expect(copy.verify(expected)).toEqual({ exact: true, held: expected })

  await copy.apply(upsert(2, 50))
  const held = referenceCheckpoint([customer(1), customer(2, 50), customer(3)])
  expect(copy.verify(expected)).toEqual({ exact: false, held, expected })
  expect(copy.verify({ ...held, count: 4 })).toMatchObject({ exact: false })
})

test('a copy with other contents in the same versions is not exact', async () => {
  const copy = new MemoryCopy<Customer>()
  await copy.apply({ type: 'upsert', row: { ...customer(1), name: 'Another' } })
  expect(copy.verify(referenceCheckpoint([customer(1)]))).toMatchObject({ exact: false })
})

test('the removal of something not held is a no-op', async () => {
  const copy = new MemoryCopy<Customer>()
  await copy.apply(removed(1))
  expect(copy.verify(referenceCheckpoint([]))).toMatchObject({ exact: true })
})
