import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkpointOf, Digest } from '../src/index.ts'
import { customer, referenceDigest } from './rows.ts'

interface Vector {
  name: string
  rows: { id: string; updatedAt: string }[]
  count: number
  digest: string
}

const vectors: Vector[] = JSON.parse(
  readFileSync(new URL('../vectors/checkpoint.json', import.meta.url), 'utf8'),
)

describe.each(vectors)('published vector: $name', ({ rows, count, digest }) => {
  test('the SDK computes it', async () => {
    expect(await checkpointOf(rows)).toEqual({ count, digest })
  })

  test('so does node:crypto', () => {
    expect(referenceDigest(rows)).toEqual({ count, digest })
  })
})

const ids = fc.uniqueArray(fc.nat(5_000), { maxLength: 30 })

test('the order of the rows does not matter', async () => {
  await fc.assert(
    fc.asyncProperty(ids, fc.infiniteStream(fc.nat()), async (numbers, keys) => {
      const rows = numbers.map((n) => customer(n))
      const shuffled = rows
        .map((row) => ({ row, key: keys.next().value }))
        .sort((a, b) => a.key - b.key)
        .map(({ row }) => row)
      expect(await checkpointOf(shuffled)).toEqual(await checkpointOf(rows))
    }),
  )
})

test('more rows than are hashed at once', async () => {
  const rows = Array.from({ length: 1_000 }, (_, n) => customer(n))
  expect(await checkpointOf(rows)).toEqual(referenceDigest(rows))
})

test('rows taken out leave the digest of the rest, also when nothing is awaited in between', async () => {
  await fc.assert(
    fc.asyncProperty(ids, ids, async (kept, passing) => {
      const digest = new Digest()
      const gone = passing.map((n) => customer(n, n + 1))
      const stay = kept.map((n) => customer(n))
      await Promise.all([...gone, ...stay].map((row) => digest.add(row)))
      await Promise.all(gone.map((row) => digest.remove(row)))
      expect(digest.checkpoint).toEqual(referenceDigest(stay))
    }),
  )
})

test('one millisecond or one row more is another digest', async () => {
  const { digest } = await checkpointOf([customer(1), customer(2)])
  expect((await checkpointOf([customer(1), customer(2, 3)])).digest).not.toBe(digest)
  expect((await checkpointOf([customer(1), customer(2), customer(3)])).digest).not.toBe(digest)
})
