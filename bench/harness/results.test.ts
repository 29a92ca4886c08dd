/** Which results remain after a run, and what the page shows of them. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { Result } from './report.ts'
import { type GroupRun, isCommitted, type Measured, mergeRun, type Results, readResults } from './results.ts'
import { resultsPage } from './results-page.ts'

const here = ['processor: here']
const order = ['write', 'sync']
const result = (name: string, value = 1): Result => ({
  case: name,
  conditions: { rows: 10 },
  value,
  unit: 's',
  runs: [value],
})
const entry = (group: string, name: string, more: Partial<Measured> = {}): Measured => ({
  group,
  measured: '2026-01-01',
  ...result(name),
  ...more,
})
const held: Results = {
  machine: here,
  cases: [entry('write', 'write: one'), entry('write', 'write: two'), entry('sync', 'sync: one')],
}
const run = (more: Partial<GroupRun>): GroupRun => ({
  group: 'write',
  measured: '2026-02-02',
  full: false,
  machine: here,
  results: [],
  ...more,
})
const told = ({ cases }: Results) => cases.map((one) => `${one.case} = ${one.value}, ${one.measured}`)

test('a run of one group replaces its cases and leaves those of other groups', () => {
  const results = [result('write: one', 5), result('write: two', 6)]
  expect(told(mergeRun(held, run({ results }), order))).toEqual([
    'write: one = 5, 2026-02-02',
    'write: two = 6, 2026-02-02',
    'sync: one = 1, 2026-01-01',
  ])
})

test('a case that its group does not have any more goes, and a new one comes', () => {
  const results = [result('write: two', 6), result('write: three', 7)]
  expect(told(mergeRun(held, run({ results }), order))).toEqual([
    'write: two = 6, 2026-02-02',
    'write: three = 7, 2026-02-02',
    'sync: one = 1, 2026-01-01',
  ])
})

test('a run of some cases of a group leaves the others where they are', () => {
  const results = [result('write: three', 7), result('write: two', 6)]
  expect(told(mergeRun(held, run({ results, partial: true }), order))).toEqual([
    'write: one = 1, 2026-01-01',
    'write: two = 6, 2026-02-02',
    'write: three = 7, 2026-02-02',
    'sync: one = 1, 2026-01-01',
  ])
})

test('the cases of a group that does not exist any more go', () => {
  expect(told(mergeRun(held, run({ results: [result('write: one', 5)] }), ['write']))).toEqual([
    'write: one = 5, 2026-02-02',
  ])
})

test('a case that could not be measured here keeps its figures', () => {
  const results = [result('write: one', 5), { case: 'write: two', skipped: 'no database' }]
  expect(told(mergeRun(held, run({ results }), order))).toContain('write: two = 1, 2026-01-01')
})

test('a large size stays after a run without the large sizes, and goes after a run with them', () => {
  const large = { ...held, cases: [...held.cases, entry('write', 'write: large', { full: true })] }
  const results = [result('write: one', 5)]
  expect(told(mergeRun(large, run({ results }), order))).toContain('write: large = 1, 2026-01-01')
  const after = mergeRun(large, run({ results, full: true }), order)
  expect(told(after)).toEqual(['write: one = 5, 2026-02-02', 'sync: one = 1, 2026-01-01'])
  expect(after.cases[0]?.full).toBe(true)
})

test('figures of another machine say where they were taken, until they are taken on the latest', () => {
  const there = ['processor: there']
  const moved = mergeRun(held, run({ machine: there, results: [result('write: one', 5)] }), order)
  expect(moved.machine).toEqual(there)
  expect(moved.cases.map(({ machine }) => machine)).toEqual([undefined, here])
  const page = resultsPage(moved)
  expect(page).toContain('- processor: there')
  expect(page).toContain('2026-01-01 \\*')
  expect(page).toContain('\\* On another machine: processor: here.')
  const back = mergeRun(moved, run({ results: [result('write: one', 6)] }), order)
  expect(back.cases.map(({ machine }) => machine)).toEqual([undefined, undefined])
})

test('only committed cases are held', async () => {
  const { cases } = await readResults()
  expect(cases.filter((one) => !isCommitted(one))).toEqual([])
  expect(isCommitted(result('stall: a batch of 16 MiB of {}'))).toBe(false)
})

test('the page is what its data say', async () => {
  const page = await readFile(new URL('../RESULTS.md', import.meta.url), 'utf8')
  expect(resultsPage(await readResults())).toBe(page)
})
