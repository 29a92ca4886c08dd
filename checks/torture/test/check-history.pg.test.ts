/** The checker finds nothing in histories of the real service, and every planted fault. */
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkHistory } from '../history/check.ts'
import type { Line } from '../history/format.ts'
import { faultSorts } from '../history/verdict.ts'
import { plants } from './plant.ts'
import { lostPlants } from './plant-lost.ts'
import { toldPlants } from './plant-told.ts'
import { historyOf, recordHistory } from './recorded.ts'

const every = { ...plants, ...lostPlants, ...toldPlants }
let recorded: Line[]

/** Again where a history has no place for one of the faults, as a follower that resumes from a watermark. */
beforeAll(async () => {
  for (let tries = 0; tries < 5; tries++) {
    recorded = await recordHistory({ changes: 300, seed: (Date.now() + tries) % 100_000 })
    if (Object.values(every).every(({ plant }) => hasPlace(plant))) return
  }
})

function hasPlace(plant: (typeof every)[keyof typeof every]['plant']): boolean {
  return Array.from({ length: 20 }).some(
    () => plant(recorded, (of) => of[Math.floor(Math.random() * of.length)]) !== null,
  )
}

test('finds nothing in what has happened, though answers were lost', async () => {
  const { faults, seen } = await checkHistory(historyOf(recorded))
  expect(faults).toEqual([])
  expect(seen.acknowledged).toBeGreaterThanOrEqual(300)
  expect(seen.unanswered).toBeGreaterThan(0)
  expect(seen.again).toBeGreaterThan(0)
  expect(seen.followers).toBe(10)
  expect(seen.checkpoints).toBeGreaterThan(8)
})

test('a fault of every sort is planted', () => {
  const planted = new Set(Object.values(every).flatMap(({ sorts }) => sorts))
  expect([...planted].toSorted()).toEqual(faultSorts.toSorted())
})

describe('finds', () => {
  test.each(Object.entries(every))('%s', async (_, { sorts, plant }) => {
    let planted = 0
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (gen) => {
        const lines = plant(recorded, (of) =>
          of.length === 0 ? undefined : of[gen(fc.nat, { max: of.length - 1 })],
        )
        fc.pre(lines !== null)
        planted++
        const { counts } = await checkHistory(historyOf(lines as Line[]))
        expect(
          sorts.map((sort) => counts[sort]).some((count) => count > 0),
          JSON.stringify(counts),
        ).toBe(true)
      }),
      { numRuns: 2 },
    )
    expect(planted).toBe(2)
  })
})
