/** The pace that backlogs have beside others: who has one, how fast it is, and that it goes by what is measured. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BacklogPace } from '../../src/delivery/backlog-pace.ts'
import { deliveryTuning } from '../../src/delivery/tuning.ts'
import { nextRate } from '../../src/kernel/lateness.ts'

const tuning = deliveryTuning.backlogs
const { adjustEvery, lateFrom, othersFor, rateAtFirst, rateAtLeast, rateAtMost } = tuning

/** A pace by a time and a lateness that the test says. */
function paced(lateness: number | null = 0) {
  const told = { now: 0, lateness, reads: 0 }
  const measured = {
    read() {
      told.reads++
      return told.lateness
    },
    begin() {},
    end() {},
  }
  return { told, pace: new BacklogPace(tuning, () => told.now, measured) }
}

test('an organization makes room as long as something of the moment is delivered for another, and for a moment longer', () => {
  const { told, pace } = paced()
  expect(pace.isBeside('flooded')).toBe(false)
  pace.note('flooded')
  expect(pace.isBeside('flooded')).toBe(false)
  pace.note('other')
  expect(pace.isBeside('flooded')).toBe(true)
  // What it has delivered itself meanwhile hides no other.
  pace.note('flooded')
  told.now = othersFor
  expect(pace.isBeside('flooded')).toBe(true)
  told.now++
  expect(pace.isBeside('flooded')).toBe(false)
})

test('timers that come late slow backlogs down to what they have at least, and prompt ones let them go', () => {
  const { told, pace } = paced(lateFrom + 1)
  expect(pace.timeOf(rateAtFirst)).toBe(1_000)
  const rateAfter = (rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      told.now += adjustEvery
      pace.timeOf(1)
    }
    return 1_000 / pace.timeOf(1)
  }
  expect(rateAfter(1)).toBeLessThan(rateAtFirst)
  expect(rateAfter(100)).toBeCloseTo(rateAtLeast)
  told.lateness = 0
  expect(rateAfter(1)).toBeGreaterThan(rateAtLeast)
  expect(rateAfter(200)).toBeCloseTo(rateAtMost)
  // Asked more often it is measured no more often.
  const { reads } = told
  pace.timeOf(1)
  expect(told.reads).toBe(reads)
})

test('whatever is measured, the rate stays within its limits, and later timers never make it higher', () => {
  const lateness = fc.double({ min: -1, max: 1_000, noNaN: true })
  fc.assert(
    fc.property(
      fc.double({ min: rateAtLeast, max: rateAtMost, noNaN: true }),
      lateness,
      lateness,
      (rate, a, b) => {
        const [prompt, late] = [Math.min(a, b), Math.max(a, b)].map((each) => nextRate(rate, each, tuning))
        expect(late).toBeGreaterThanOrEqual(rateAtLeast)
        expect(prompt).toBeLessThanOrEqual(rateAtMost)
        expect(late).toBeLessThanOrEqual(prompt as number)
      },
    ),
  )
  expect(nextRate(rateAtFirst, null, tuning)).toBe(rateAtFirst)
})
