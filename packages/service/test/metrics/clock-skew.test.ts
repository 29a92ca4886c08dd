/** What is remembered of leads, and when somebody is warned. Time is moved by hand. */
import { expect, test } from 'vitest'
import { ClockSkewWatch, warnFrom } from '../../src/metrics/requests.ts'

function watching() {
  let time = 0
  const warnings: number[] = []
  const watch = new ClockSkewWatch(
    () => time,
    (clockSkew) => warnings.push(clockSkew),
  )
  return { watch, warnings, pass: (seconds: number) => (time += seconds * 1_000) }
}

test('the largest lead is remembered for a minute at least and for two at most', () => {
  const { watch, pass } = watching()
  expect(watch.clockSkew).toBe(0)
  watch.see(300)
  watch.see(100)
  expect(watch.clockSkew).toBe(300)
  pass(59)
  watch.see(200)
  expect(watch.clockSkew).toBe(300)
  pass(60)
  expect(watch.clockSkew).toBe(300)
  pass(61)
  expect(watch.clockSkew).toBe(0)
})

test('a stream that is not ahead leads by nothing, and what was not asked for is no lead', () => {
  const { watch, warnings } = watching()
  watch.see(-5_000)
  watch.see(null)
  expect(watch.clockSkew).toBe(0)
  expect(warnings).toEqual([])
})

test('warns of what is worth it, once a minute', () => {
  const { watch, warnings, pass } = watching()
  watch.see(warnFrom)
  expect(warnings).toEqual([])
  watch.see(warnFrom + 1)
  watch.see(warnFrom + 2)
  expect(warnings).toEqual([warnFrom + 1])
  pass(59)
  watch.see(warnFrom + 3)
  expect(warnings).toHaveLength(1)
  pass(2)
  watch.see(warnFrom + 4)
  expect(warnings).toEqual([warnFrom + 1, warnFrom + 4])
})
