/** Moves are proposed that even databases out, and no others. */
import { expect, test } from 'vitest'
import { type DatabaseLoad, proposeMoves } from '../../src/moves/balance.ts'

function databaseOf(
  name: string,
  organizations: Readonly<Record<string, readonly [number, number]>>,
): DatabaseLoad {
  return {
    name,
    organizations: Object.entries(organizations).map(([organizationId, [bytes, changes]]) => ({
      organizationId,
      name: organizationId,
      bytes,
      changes,
    })),
  }
}

const told = (databases: readonly DatabaseLoad[], most?: number) =>
  proposeMoves(databases, most).map(({ organizationId, from, to }) => `${organizationId}: ${from} to ${to}`)

test('the fullest database gives to the emptiest what brings both nearest to each other', () => {
  const full = databaseOf('full', { a: [50, 10], b: [30, 10], c: [15, 10], d: [5, 10] })
  expect(told([full, databaseOf('empty', {})])).toEqual(['a: full to empty', 'd: full to empty'])
  expect(told([full, databaseOf('one', {}), databaseOf('two', {})])).toEqual([
    'a: full to two',
    'b: full to one',
  ])
  expect(told([full, databaseOf('one', {}), databaseOf('two', {})], 1)).toEqual(['a: full to two'])
})

test('what is written to counts as much as what is stored', () => {
  const busy = databaseOf('busy', { small: [1, 900], large: [499, 0] })
  const idle = databaseOf('idle', { stored: [500, 100] })
  expect(told([busy, idle])).toEqual([])
  const both = databaseOf('both', { first: [10, 500], second: [10, 500] })
  expect(told([both, databaseOf('idle', { stored: [20, 0] })])).toEqual(['first: both to idle'])
})

test('nothing is moved where that evens nothing out', () => {
  expect(told([databaseOf('one', { whale: [1_000, 1_000] }), databaseOf('two', {})])).toEqual([])
  expect(told([databaseOf('one', { a: [10, 10] }), databaseOf('two', { b: [10, 10] })])).toEqual([])
  expect(told([databaseOf('one', {}), databaseOf('two', {})])).toEqual([])
  expect(told([databaseOf('one', { a: [10, 10] })])).toEqual([])
})
