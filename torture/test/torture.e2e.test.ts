/** The torture, small: nothing is lost. And without the lock on the clock, it is found out. */
import { expect, test } from 'vitest'
import { runTorture, type TortureOptions } from '../run-torture.ts'

const small: TortureOptions = {
  changes: 900,
  writers: 24,
  limits: [1, 2, 5, 20, 50, 100],
  stallOneIn: 40,
  stallFor: 700,
  serviceKills: 3,
  databaseKills: 1,
  seed: Date.now() % 100_000,
  unlocked: false,
  keep: null,
  say: () => {},
}

test('stalled commits, kills and stepping clocks lose, reorder, repeat and invent nothing', async () => {
  const report = await runTorture(small)
  expect(report.verdict.faults, JSON.stringify(report)).toEqual([])
  expect(report).toMatchObject({ serviceKills: 3, databaseKills: 1 })
  expect(report.stalls).toBeGreaterThan(0)
  expect(report.verdict.seen.acknowledged).toBeGreaterThanOrEqual(small.changes)
})

test('without the lock on the clock the same finds faults within seconds', async () => {
  const report = await runTorture({
    ...small,
    changes: 300,
    serviceKills: 0,
    databaseKills: 0,
    stallOneIn: 5,
    unlocked: true,
  })
  expect(
    report.verdict.counts.lost + report.verdict.counts.reordered,
    JSON.stringify(report),
  ).toBeGreaterThan(0)
  // Three seconds on two cores, with 300 changes.
  expect(report.seconds).toBeLessThan(30)
})
