/** The modes of a drain: where each may lead, and what decides. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type DrainSituation,
  drainModes,
  drainMoves,
  isIdle,
  moveTo,
  nextMode,
} from '../../src/delivery/queue/drain-modes.ts'
import { deliveryTuning } from '../../src/delivery/tuning.ts'

describe('the table of moves', () => {
  test.each(drainModes.flatMap((from) => drainModes.map((to) => [from, to] as const)))(
    'from %s to %s is made or refused as it says',
    (from, to) => {
      if (drainMoves[from].includes(to)) expect(moveTo(from, to)).toBe(to)
      else expect(() => moveTo(from, to)).toThrow(`a drain cannot move from ${from} to ${to}`)
    },
  )

  test('leads from the beginning to every mode, and from every mode to the end', () => {
    const reached = (from: (typeof drainModes)[number]) => {
      const seen = new Set([from])
      for (const mode of seen) for (const next of drainMoves[mode]) seen.add(next)
      return seen
    }
    expect(reached('claiming')).toEqual(new Set(drainModes))
    for (const mode of drainModes) expect(reached(mode)).toContain('ended')
    expect(drainMoves.ended).toEqual([])
  })

  test('lets a surprise end a drain wherever it stands', () => {
    for (const mode of drainModes)
      if (mode !== 'ended' && mode !== 'lost') expect(drainMoves[mode]).toContain('lost')
  })
})

/** Attempts are under way and nothing is to be done. */
const quiet: DrainSituation = {
  mode: 'sending',
  stops: false,
  isOverdue: false,
  hasBacklog: false,
  hasMore: false,
  mayClaim: true,
  mayStart: false,
  isPaced: false,
  waiting: 0,
  underWay: 4,
  results: 0,
  resultsAge: 0,
  quietTicks: 0,
  hasLooked: false,
  leaseIsShort: false,
  mayRest: false,
  hasRested: false,
}

describe('a drain that sends', () => {
  const mayStart = true
  const hasMore = true
  test.each<[string, Partial<DrainSituation>, ReturnType<typeof nextMode>]>([
    ['waits while nothing is to be done', {}, null],
    ['claims when more is due and there is room', { hasMore, mayStart }, 'claiming'],
    ['claims nothing that it has no room for', { hasMore }, null],
    ['claims nothing while something waits to be sent', { hasMore, mayStart, waiting: 1 }, null],
    ['but with a backlog it does', { hasMore, mayStart, waiting: 15, hasBacklog: true }, 'claiming'],
    ['until enough waits', { hasMore, mayStart, waiting: 16, hasBacklog: true }, null],
    ['claims nothing when it has had its share', { hasMore, mayStart, mayClaim: false }, null],
    ['claims nothing when the worker stops', { hasMore, mayStart, stops: true }, null],
    ['completes sixty-four results', { results: 64 }, 'completing'],
    ['completes them before it claims', { results: 64, hasMore, mayStart }, 'completing'],
    ['completes fewer when they have waited', { results: 1, resultsAge: 1_000 }, 'completing'],
    ['and not before', { results: 1, resultsAge: 999 }, null],
    ['completes them when nobody knows how long they have', { results: 1, resultsAge: -1 }, 'completing'],
    [
      'completes fewer when it has been idle for a while',
      { mayStart, quietTicks: 4, results: 1 },
      'completing',
    ],
    [
      'is not idle when more may be due',
      { mayStart, quietTicks: 4, results: 1, hasMore, mayClaim: false },
      null,
    ],
    ['completes to prolong its lease while attempts hang', { leaseIsShort: true }, 'completing'],
    ['rests when nothing is left and it may', { underWay: 0, mayStart, mayRest: true }, 'resting'],
    ['completes results before it rests', { underWay: 0, mayStart, mayRest: true, results: 3 }, 'completing'],
    ['rests', { mode: 'resting', underWay: 0, mayStart, mayRest: true }, null],
    [
      'and claims when more is due',
      { mode: 'resting', underWay: 0, mayStart, mayRest: true, hasMore },
      'claiming',
    ],
    [
      'or ends when others have its permit',
      { mode: 'resting', underWay: 0, mayRest: true, hasMore },
      'releasing',
    ],
    [
      'ends when it has rested',
      { mode: 'resting', underWay: 0, mayRest: true, hasRested: true },
      'releasing',
    ],
    ['ends its rest when the worker stops', { mode: 'resting', underWay: 0, stops: true }, 'releasing'],
    ['ends when nothing is left', { underWay: 0, mayStart }, 'releasing'],
    ['takes results with it', { underWay: 0, results: 3, resultsAge: 5_000, mayStart }, 'releasing'],
    ['ends when its time is over, whatever is under way', { isOverdue: true, results: 64 }, 'releasing'],
    ['claims more before it ends', { underWay: 0, hasMore, mayStart }, 'claiming'],
    [
      'ends with more due when others have waited',
      { underWay: 0, hasMore, mayStart, mayClaim: false },
      'releasing',
    ],
  ])('%s', (_what, facts, expected) => {
    expect(nextMode({ ...quiet, ...facts })).toBe(expected)
  })

  test('goes only where the table lets it, and never waits for nothing', () => {
    const situation = fc.record<DrainSituation>({
      mode: fc.constant('sending'),
      stops: fc.boolean(),
      isOverdue: fc.boolean(),
      hasBacklog: fc.boolean(),
      hasMore: fc.boolean(),
      mayClaim: fc.boolean(),
      mayStart: fc.boolean(),
      isPaced: fc.boolean(),
      waiting: fc.nat(70),
      underWay: fc.nat(16),
      results: fc.nat(70),
      resultsAge: fc.integer({ min: -2_000, max: 2_000 }),
      quietTicks: fc.nat(8),
      hasLooked: fc.boolean(),
      leaseIsShort: fc.boolean(),
      mayRest: fc.boolean(),
      hasRested: fc.boolean(),
    })
    fc.assert(
      fc.property(situation, (facts) => {
        const next = nextMode(facts)
        // A drain that rests has nothing.
        const nothing = { underWay: 0, waiting: 0, results: 0, isPaced: false }
        const resting = { ...facts, mode: 'resting' as const, ...nothing }
        const afterRest = nextMode(resting)
        if (afterRest === null) expect([resting.mayRest, resting.hasRested]).toEqual([true, false])
        else expect(drainMoves.resting).toContain(afterRest)
        if (next !== null) expect(drainMoves[facts.mode]).toContain(next)
        // What waits is begun, or left, before anybody asks.
        if (next === null) expect(facts.underWay + facts.waiting).toBeGreaterThan(0)
        if (facts.stops || facts.isOverdue) expect(next).not.toBe('claiming')
        if (next === 'claiming')
          expect([facts.hasMore, facts.mayClaim, facts.mayStart]).toEqual([true, true, true])
        if (isIdle(facts)) expect(facts.waiting).toBe(0)
      }),
    )
  })
})

test('what a worker runs with cannot be changed while it runs, in any part', () => {
  const parts = (value: object): object[] => [
    value,
    ...Object.values(value).flatMap((part) => (typeof part === 'object' ? parts(part) : [])),
  ]
  expect(parts(deliveryTuning).filter((part) => !Object.isFrozen(part))).toEqual([])
})
