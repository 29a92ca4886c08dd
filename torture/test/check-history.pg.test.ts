import { expect, test } from 'vitest'
import { checkHistory } from '../history/check.ts'
import { describeVerdict } from '../history/report.ts'
import { historyOf, recordHistory } from './recorded.ts'

test('a clean one', async () => {
  const lines = await recordHistory({ changes: 1500, seed: Date.now() % 1000 })
  const verdict = await checkHistory(historyOf(lines))
  console.log(describeVerdict(verdict))
  expect(verdict.faults).toEqual([])
})
