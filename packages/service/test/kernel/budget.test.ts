/** Who may hold how much of one thing: at most as much as is still free. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Budget } from '../../src/kernel/budget.ts'

const steps = fc.array(
  fc.record({
    who: fc.constantFrom('a', 'b', 'c', 'd'),
    amount: fc.integer({ min: 1, max: 40 }),
    gives: fc.boolean(),
  }),
  { maxLength: 200 },
)

test('nobody ever takes more than is free then, and what is held adds up', () => {
  fc.assert(
    fc.property(steps, (steps) => {
      const budget = new Budget(100)
      const held = new Map<string, number[]>()
      const sum = () => [...held.values()].flat().reduce((all, one) => all + one, 0)
      for (const { who, amount, gives } of steps) {
        const own = held.get(who) ?? []
        held.set(who, own)
        if (gives) {
          const given = own.pop()
          if (given !== undefined) budget.give(who, given)
        } else {
          const wouldHold = budget.heldBy(who) + amount
          const fits = wouldHold <= 100 - budget.taken - amount
          const taken = budget.take(who, amount)
          expect(taken === 'taken').toBe(fits)
          if (fits) own.push(amount)
          // Who holds nothing is over nothing.
          else if (own.length === 0) expect(taken).toBe('all_taken')
        }
        expect(budget.taken).toBe(sum())
      }
    }),
  )
})

test('one alone gets half, and there is a half of the rest for the next', () => {
  const budget = new Budget(96)
  const most = (who: string) => {
    let count = 0
    while (budget.take(who, 1) === 'taken') count++
    return count
  }
  expect(['a', 'b', 'c'].map(most)).toEqual([48, 24, 12])
  expect(budget.take('a', 1)).toBe('own_share')
})

test('what was not taken is not given back', () => {
  const budget = new Budget(10)
  budget.take('a', 2)
  expect(() => budget.give('a', 3)).toThrow('more was given back')
})
