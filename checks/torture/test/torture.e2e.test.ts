/** A small torture: nothing is lost; and without the lock on the clock, losses are found. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import type { Fault } from '../history/verdict.ts'
import { runTorture, type TortureOptions } from '../run-torture.ts'

const small: TortureOptions = {
  changes: 150,
  writers: 24,
  limits: [1, 2, 5, 20, 50, 100],
  stallOneIn: 25,
  stallFor: 700,
  serviceKills: 1,
  databaseKills: 1,
  seed: Date.now() % 100_000,
  unlocked: false,
  keep: null,
  installed: inject('installed'),
  say: () => {},
}

test('stalled commits, kills and stepping clocks lose, reorder, repeat and invent nothing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'deskwire-faults-'))
  const keep = join(directory, 'history.ndjson')
  const report = await runTorture({ ...small, keep })
  const { faults } = report.verdict
  // Another run would not reproduce the fault.
  expect(faults, faults.length > 0 ? await told(keep, faults, report) : '').toEqual([])
  await rm(directory, { recursive: true })
  expect(report).toMatchObject({ serviceKills: 1, databaseKills: 1 })
  expect(report.stalls).toBeGreaterThan(0)
  expect(report.verdict.seen.acknowledged).toBeGreaterThanOrEqual(small.changes)
})

test('without the lock on the clock the same finds faults', async () => {
  const reports: object[] = []
  let faults = 0
  // By chance every commit of a run may end in the order of its stamp.
  for (let run = 0; run < 5 && faults === 0; run++) {
    const report = await runTorture({
      ...small,
      changes: 120,
      serviceKills: 0,
      databaseKills: 0,
      stallOneIn: 5,
      seed: small.seed + run,
      unlocked: true,
    })
    reports.push(report)
    faults = report.verdict.counts.lost + report.verdict.counts.reordered
  }
  expect(faults, JSON.stringify(reports)).toBeGreaterThan(0)
})

/** The report, and the recorded lines of the first faults' rows; the whole history stays at `keep`. */
async function told(keep: string, faults: readonly Fault[], report: object): Promise<string> {
  const ids = faults.slice(0, 3).flatMap(({ detail }) => detail.match(/[0-9a-f-]{36}/g) ?? [])
  const lines = (await readFile(keep, 'utf8')).split('\n').map((line, n) => `${n + 1} ${line}`)
  const about = lines.filter((line) => ids.some((id) => line.includes(id)))
  return [JSON.stringify(report), `recorded in ${keep}:`, ...about].join('\n')
}
