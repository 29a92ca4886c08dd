/** What the pool adds to fair turns: that searches are large work, of which an organization has one at a time and rests after it. */
import { expect, test } from 'vitest'
import { FairPool } from '../../src/db/fair-pool.ts'
import { LargeWork } from '../../src/kernel/large-work.ts'
import { testDatabase } from '../harness/database.ts'

test('after a search an organization rests as long as it is told; its other statements and others’ searches do not', async () => {
  await using database = await testDatabase()
  const told: (string | null)[] = []
  const rest = 150
  const largeWork = new LargeWork({
    leavesRoom: () => true,
    restAfter(organization, took) {
      told.push(organization)
      expect(took).toBeGreaterThan(0)
      return organization === 'a' ? rest : 0
    },
  })
  const pool = new FairPool(database.pool, { waited: () => {} }, { longPlaces: 1 }, largeWork)
  const answered: [name: string, at: number][] = []
  const ask = async (name: string, organization: string, isLong: boolean) => {
    const way = isLong ? pool.ofLong(organization) : pool.of(organization)
    await way.query({ text: 'select 1' })
    answered.push([name, performance.now()])
  }
  await Promise.all([
    ask('search of a', 'a', true),
    ask('next search of a', 'a', true).then(() => ask('last search of a', 'a', true)),
    ask('search of b', 'b', true)
      .then(() => ask('search of b', 'b', true))
      .then(() => ask('statement of a', 'a', false)),
  ])
  expect(answered.map(([name]) => name)).toEqual([
    'search of a',
    'search of b',
    'search of b',
    'statement of a',
    'next search of a',
    'last search of a',
  ])
  const searches = answered.filter(([name]) => name.endsWith('of a') && !name.startsWith('statement'))
  for (const [n, [, at]] of searches.slice(1).entries()) {
    expect(at - (searches[n]?.[1] as number)).toBeGreaterThanOrEqual(rest - 5)
  }
  expect(told).toEqual(['a', 'b', 'b', 'a', 'a'])
})
