/** The torture, small: without the lock on the clock it finds faults. With it, `npm run check -- torture` finds none. */
import { expect, test } from 'vitest'
import { runTorture, type TortureOptions } from '../run-torture.ts'

const small: Omit<TortureOptions, 'seed'> = {
  changes: 300,
  writers: 24,
  limits: [1, 2, 5, 20, 50, 100],
  stallOneIn: 5,
  stallFor: 700,
  serviceKills: 0,
  databaseKills: 0,
  unlocked: true,
  keep: null,
  say: () => {},
}

test('without the lock on the clock it finds faults', async () => {
  const reports: object[] = []
  let faults = 0
  // By chance every commit of a run may end in the order of its stamp.
  for (let run = 0; run < 5 && faults === 0; run++) {
    const report = await runTorture({ ...small, seed: (Date.now() % 100_000) + run })
    reports.push(report)
    faults = report.verdict.counts.lost + report.verdict.counts.reordered
  }
  expect(faults, JSON.stringify(reports)).toBeGreaterThan(0)
})
