import { expect, test } from 'vitest'
import { OrderedSums, Sums } from '../src/sums.ts'

const idOf = (n: number) => `01980000-0000-7000-8000-${(2 * n).toString(16).padStart(12, '0')}`
const time = '2026-01-31T09:30:00.000Z'

test('ordered sums know every range of ids', () => {
  const ordered = new OrderedSums()
  const numbers = Array.from({ length: 5_000 }, (_, n) => n)
  for (const n of numbers) ordered.add(idOf(n), time, `text ${n}`)
  expect([
    ordered.upTo('00000000-0000-0000-0000-000000000000'),
    ordered.upTo(idOf(7)),
    ordered.upTo(idOf(7.5)),
  ]).toEqual([0, 8, 8])
  expect([ordered.idAt(-1), ordered.idAt(4_999)]).toEqual(['', idOf(4_999)])
  const upToBefore = (n: number) => (n === 0 ? 0 : ordered.upTo(idOf(n - 0.5)))
  for (const [from, to] of [
    [0, 5_000],
    [1_023, 1_025],
    [2_047, 4_097],
    [7, 7],
  ] as const) {
    const sums = new Sums()
    for (const n of numbers.slice(from, to)) sums.count(idOf(n), time, `text ${n}`)
    expect(ordered.between(upToBefore(from), upToBefore(to)).text).toEqual(sums.text)
  }
})
