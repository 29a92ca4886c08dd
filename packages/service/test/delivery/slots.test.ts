/** Who gets a slot, and how fast a lane goes: what keeps a healthy endpoint from waiting for the others. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { attemptsAtOnce, Pace, tickEvery } from '../../src/delivery/pace.ts'
import { Slots } from '../../src/delivery/slots.ts'
import { tiers } from '../../src/delivery/tiers.ts'

const limits = { total: 20, heavy: 5, slow: 8, fresh: 2 }

describe('slots', () => {
  test('of the heavy, the slow and the fresh are limited, and leave the rest to the light', () => {
    const slots = new Slots(limits)
    for (const [tier, most] of [
      ['heavy', 5],
      ['slow', 8],
      ['fresh', 2],
      ['light', 5],
    ] as const) {
      for (let n = 0; n < most; n++) expect(slots.enter(tier)).not.toBeNull()
      expect(slots.enter(tier)).toBeNull()
    }
    expect(slots.inUse).toBe(20)
  })

  test('that turn out slow are charged to the slow, who get none until they are below their limit', () => {
    const slots = new Slots(limits)
    const held = Array.from({ length: 12 }, () => slots.enter('light')!)
    for (const slot of held) slots.move(slot, 'slow')
    expect(slots.enter('slow')).toBeNull()
    expect(slots.hasRoom('light')).toBe(true)
    for (const slot of held.splice(0, 4)) slots.leave(slot)
    expect(slots.enter('slow')).toBeNull()
    slots.leave(held.pop()!)
    expect(slots.enter('slow')).not.toBeNull()
  })

  test('are refused to the fresh as long as those that turned out slow are too many', () => {
    const slots = new Slots(limits)
    for (let n = 0; n < 5; n++) {
      for (let slot = slots.enter('fresh'); slot !== null; slot = slots.enter('fresh'))
        slots.move(slot, 'slow')
    }
    expect(slots.inUse).toBe(limits.slow + limits.fresh)
    expect([slots.hasRoom('fresh'), slots.hasRoom('slow'), slots.hasRoom('light')]).toEqual([
      false,
      false,
      true,
    ])
  })

  test('are never more than there are, and none is lost', () => {
    const step = fc.record({
      act: fc.constantFrom('enter', 'leave', 'move'),
      tier: fc.constantFrom(...tiers),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const slots = new Slots(limits)
        const held = []
        for (const { act, tier } of steps) {
          if (act === 'enter') {
            const slot = slots.enter(tier)
            if (slot !== null) held.push(slot)
          } else if (act === 'leave' && held.length > 0) slots.leave(held.shift()!)
          else if (held.length > 0) slots.move(held[0]!, tier)
          expect(slots.inUse).toBe(held.length)
          expect(slots.inUse).toBeLessThanOrEqual(limits.total)
        }
      }),
    )
  })
})

test('there is plenty while half of a tier is free; of the slow, while seven eighths are', () => {
  const slots = new Slots({ total: 100, heavy: 16, slow: 32, fresh: 16 })
  const enter = (tier: 'heavy' | 'slow', count: number) => {
    for (let n = 0; n < count; n++) slots.enter(tier)
  }
  enter('heavy', 7)
  enter('slow', 3)
  expect([slots.hasPlenty('heavy'), slots.hasPlenty('slow')]).toEqual([true, true])
  enter('heavy', 1)
  enter('slow', 1)
  expect([slots.hasPlenty('heavy'), slots.hasPlenty('slow')]).toEqual([false, false])
  expect([slots.hasRoom('heavy'), slots.hasRoom('slow')]).toEqual([true, true])
})

describe('the pace of a lane', () => {
  const quick = { ticks: 1, answered: true }
  const ticksUntilSlow = 1_000 / tickEvery + 1
  const room = (pace: Pace) => {
    let underWay = 0
    while (pace.hasRoom(underWay)) underWay++
    return underWay
  }

  test('begins with a few attempts, and one more for each that is answered, up to sixteen', () => {
    const pace = new Pace('light')
    expect(room(pace)).toBe(4)
    for (let n = 0; n < 30; n++) pace.ended(quick)
    expect(room(pace)).toBe(attemptsAtOnce)
  })

  test('of a slow one is a single attempt, until it is quick again', () => {
    const pace = new Pace('slow')
    expect(room(pace)).toBe(1)
    pace.ended({ ticks: 2, answered: true })
    expect(pace.tier).toBe('light')
    expect(room(pace)).toBe(2)
  })

  test('is proven by an answer; one that cannot be reached is as good as slow', () => {
    const pace = new Pace('fresh')
    pace.ended({ ticks: 0, answered: false })
    expect([pace.isProven, pace.tier]).toEqual([false, 'slow'])
    const other = new Pace('fresh')
    other.ended(quick)
    expect([other.isProven, other.tier]).toEqual([true, 'light'])
  })

  test('ends when a handshake was made in vain, whatever else would have room', () => {
    const pace = new Pace('light')
    for (let n = 0; n < 30; n++) pace.ended(quick)
    pace.ended({ ticks: 1, answered: false, lostHandshake: true })
    pace.ended(quick)
    expect([pace.isSpent, room(pace)]).toEqual([true, 0])
  })

  test('goes on when what was lost had taken its time: a hang holds up nothing else of its endpoint', () => {
    const pace = new Pace('light')
    for (const _ of [1, 2]) pace.becameOverdue()
    pace.ended({ ticks: 400, answered: false, lostHandshake: true })
    expect([pace.isSpent, pace.hasRoom(1)]).toEqual([false, true])
  })

  test('falls when an attempt times out; while it is overdue it holds up no other', () => {
    const pace = new Pace('light')
    expect([pace.isOverdue(ticksUntilSlow - 1), pace.isOverdue(ticksUntilSlow)]).toEqual([false, true])
    pace.becameOverdue()
    expect(pace.tier).toBe('slow')
    expect(pace.hasRoom(4)).toBe(true)
    expect(pace.hasRoom(5)).toBe(false)
    pace.ended({ ticks: 400, answered: false })
    expect(pace.tier).toBe('slow')
    expect(room(pace)).toBe(1)
  })

  test('of one that answers late grows too, but it has to prove itself anew', () => {
    const pace = new Pace('slow')
    for (let n = 0; n < 5; n++) {
      pace.becameOverdue()
      pace.ended({ ticks: 120, answered: true })
    }
    expect([pace.tier, pace.isProven]).toEqual(['fresh', false])
    expect(room(pace)).toBe(6)
  })

  test('with a backlog it waits among the heavy, but a slow one among the slow', () => {
    for (const [tier, then] of [
      ['light', 'heavy'],
      ['slow', 'slow'],
    ] as const) {
      const pace = new Pace(tier)
      pace.hasBacklog()
      expect(pace.tier).toBe(then)
    }
  })
})
