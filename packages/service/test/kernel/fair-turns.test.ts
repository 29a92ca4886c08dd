/** Who goes next: bounded, work conserving, fair by time, and nobody starves. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FairTurns, type Sort, type Turn, type Waiting } from '../../src/kernel/fair-turns.ts'

const limits = { places: 10, longPlaces: 4, commonPlaces: 6 }

/** A clock by which nobody else has had a turn for long, whenever one asks. */
function everybodyAlone(): () => number {
  let now = 0
  return () => {
    now += 10_000
    return now
  }
}

/** Parties that always have something to do, each turn of theirs as long as `cost` says; run until somebody had `until`. */
function alwaysBusy(places: number, costs: Readonly<Record<string, number>>, until: number) {
  const turns = new FairTurns({ places, longPlaces: 1, commonPlaces: 1 }, everybodyAlone())
  const had = new Map(Object.keys(costs).map((name) => [name, 0]))
  const running: { readonly name: string; readonly turn: Turn; readonly ends: number }[] = []
  let now = 0
  let furthestApart = 0
  const start = (name: string, turn: Turn) =>
    running.push({ name, turn, ends: now + (costs[name] as number) })
  const ask = (name: string) => {
    const turn = turns.begin(name, 'short')
    if (turn !== null) start(name, turn)
    else turns.wait(name, 'short', (begun) => start(name, begun))
  }
  for (const name of had.keys()) for (let n = 0; n < 2 * places; n++) ask(name)
  while (Math.max(...had.values()) < until) {
    running.sort((a, b) => a.ends - b.ends)
    const { name, turn, ends } = running.shift() as (typeof running)[number]
    now = ends
    had.set(name, (had.get(name) ?? 0) + (costs[name] as number))
    turns.end(turn, costs[name] as number)
    ask(name)
    furthestApart = Math.max(furthestApart, Math.max(...had.values()) - Math.min(...had.values()))
  }
  return { had, furthestApart }
}

describe('fairness', () => {
  test('with one place, time that busy parties have had differs by one turn at most, however long theirs are', () => {
    const costs = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.integer({ min: 1, max: 50 }), {
      minKeys: 2,
    })
    fc.assert(
      fc.property(costs, (costs) => {
        const { furthestApart } = alwaysBusy(1, costs, 1_000)
        expect(furthestApart).toBeLessThanOrEqual(2 * Math.max(...Object.values(costs)))
      }),
    )
  })

  test('with ten, one with long turns and one with short ones get the same time, but for what is under way', () => {
    const { had } = alwaysBusy(10, { short: 1, long: 100 }, 20_000)
    expect(Math.abs((had.get('short') ?? 0) - (had.get('long') ?? 0))).toBeLessThanOrEqual(1_000)
  })
})

test('alone, a party gets two thirds; another finds a place at once, and what is for all goes first', () => {
  const turns = new FairTurns(limits, everybodyAlone())
  const taken = (name: string, sort: Sort = 'short') => {
    const begun: Turn[] = []
    for (let turn = turns.begin(name, sort); turn !== null; turn = turns.begin(name, sort)) begun.push(turn)
    return begun
  }
  const [first] = taken('a')
  expect(turns.underWay).toBe(7)
  expect(taken('b')).toHaveLength(2)
  const order: string[] = []
  turns.wait('c', 'short', () => order.push('c'))
  turns.wait('', 'common', () => order.push('common'))
  turns.end(first as Turn, 1)
  expect(order[0]).toBe('common')
})

test('long turns have places of their own number, and short ones go past one that waits', () => {
  const turns = new FairTurns(limits, everybodyAlone())
  const begun = ['a', 'a', 'a'].map((name) => turns.begin(name, 'long'))
  expect(begun.map((turn) => turn !== null)).toEqual([true, true, false])
  let waited = 0
  turns.wait('a', 'long', () => waited++)
  expect(turns.begin('a', 'short')).not.toBeNull()
  expect(turns.begin('b', 'long')).not.toBeNull()
  expect(waited).toBe(0)
  turns.end(begun[0] as Turn, 5)
  expect(waited).toBe(1)
})

describe('beside others', () => {
  test('a party whose turns are long on average has one at a time, one with short turns as many as before', () => {
    let now = 0
    const turns = new FairTurns(limits, () => now)
    // While somebody waits, everybody is remembered.
    turns.begin('other', 'long')
    turns.wait('other', 'long', () => {})
    const take = (name: string, took: number) => turns.end(turns.begin(name, 'short') as Turn, took)
    const held = (name: string) => {
      const begun: Turn[] = []
      for (let turn = turns.begin(name, 'short'); turn !== null; turn = turns.begin(name, 'short'))
        begun.push(turn)
      return begun
    }
    take('quick', 2)
    take('slow', 80)
    expect(held('quick').length).toBeGreaterThan(2)
    const [one, ...more] = held('slow')
    expect([one === undefined, more.length]).toEqual([false, 0])
    // Nobody else has begun anything for a while.
    now += 5_000
    expect(held('slow').length).toBeGreaterThan(0)
  })

  test('a party that nothing is known of yet has one at first', () => {
    const turns = new FairTurns(limits, () => 0)
    turns.begin('other', 'short')
    expect(turns.begin('new', 'short')).not.toBeNull()
    expect(turns.begin('new', 'short')).toBeNull()
  })

  test('turns known to be long go one at a time, and keep no short one of the same party waiting', () => {
    let now = 0
    const turns = new FairTurns(limits, () => now)
    turns.begin('other', 'short')
    expect(turns.begin('searching', 'long')).not.toBeNull()
    expect(turns.begin('searching', 'long')).toBeNull()
    expect(turns.begin('searching', 'short')).not.toBeNull()
    now += 5_000
    expect(turns.begin('searching', 'long')).not.toBeNull()
  })
})

test('time in which a party asked for nothing is not owed to it', () => {
  const turns = new FairTurns({ places: 1, longPlaces: 1, commonPlaces: 1 })
  const order: string[] = []
  let turn = turns.begin('a', 'short') as Turn
  const next = (name: string) =>
    turns.wait(name, 'short', (begun) => {
      order.push(name)
      turn = begun
    })
  for (let n = 0; n < 4; n++) next('a')
  turns.end(turn, 1_000)
  // It comes late, and does not go before the other until it has had a thousand too.
  for (let n = 0; n < 4; n++) next('b')
  for (let n = 0; n < 7; n++) turns.end(turn, 10)
  expect(order.slice(0, 3)).toContain('a')
  expect(order.slice(0, 4)).toContain('b')
  expect(order).toHaveLength(8)
})

const acts = fc.array(
  fc.record({
    act: fc.constantFrom('ask', 'ask', 'ask', 'end', 'end', 'leave'),
    who: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    sort: fc.constantFrom<Sort>('short', 'short', 'long', 'common'),
    which: fc.nat(),
    took: fc.integer({ min: 0, max: 100 }),
  }),
  { maxLength: 300 },
)

test('whatever happens: limits hold, no place is idle that somebody could have, and everybody goes in the end', () => {
  fc.assert(
    fc.property(acts, fc.boolean(), (acts, alone) => {
      const turns = new FairTurns(limits, alone ? everybodyAlone() : () => 0)
      const running: { turn: Turn; who: string }[] = []
      let waiting: { readonly entry: Waiting; readonly who: string }[] = []
      const begin = (who: string, turn: Turn) => void running.push({ turn, who })
      const holds = (who: string) =>
        running.filter((one) => one.who === who && one.turn.sort !== 'common').length
      const check = () => {
        expect(turns.underWay).toBe(running.length)
        expect(turns.waiting).toBe(waiting.length)
        expect(running.length).toBeLessThanOrEqual(limits.places)
        expect(running.filter(({ turn }) => turn.sort === 'long').length).toBeLessThanOrEqual(
          limits.longPlaces,
        )
        expect(running.filter(({ turn }) => turn.sort === 'common').length).toBeLessThanOrEqual(
          limits.commonPlaces,
        )
        const free = limits.places - running.length
        for (const { who, entry } of waiting) {
          if (entry.sort === 'short') expect(holds(who)).toBeGreaterThanOrEqual(alone ? 2 * free : 1)
        }
      }
      const endOne = (which: number, took: number) => {
        const [ended] = running.splice(which % running.length, 1)
        turns.end((ended as (typeof running)[number]).turn, took)
      }
      for (const { act, who, sort, which, took } of acts) {
        if (act === 'ask') {
          const turn = turns.begin(who, sort)
          if (turn !== null) begin(who, turn)
          else {
            const entry: Waiting = turns.wait(who, sort, (begun) => {
              waiting = waiting.filter((one) => one.entry !== entry)
              begin(who, begun)
            })
            waiting.push({ entry, who })
          }
        } else if (act === 'end' && running.length > 0) endOne(which, took)
        else if (act === 'leave' && waiting.length > 0) {
          const [left] = waiting.splice(which % waiting.length, 1)
          turns.leave((left as (typeof waiting)[number]).entry)
        }
        check()
      }
      while (running.length > 0) endOne(0, 1)
      expect([turns.waiting, turns.underWay, waiting.length]).toEqual([0, 0, 0])
    }),
  )
})
