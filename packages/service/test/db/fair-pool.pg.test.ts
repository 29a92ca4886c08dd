/** What the pool adds to fair turns: that searches are large work, of which an organization has one at a time and rests after it. */
import { expect, test } from 'vitest'
import { FairPool } from '../../src/db/fair-pool.ts'
import { ShareExceeded } from '../../src/kernel/budget.ts'
import { LargeWork } from '../../src/kernel/large-work.ts'
import { testDatabase } from '../harness/database.ts'

test('after a search an organization rests as long as it is told; its other statements and others’ searches do not', async () => {
  await using database = await testDatabase()
  const told: (string | null)[] = []
  const rest = 150
  const largeWork = new LargeWork({
    leavesRoom: () => true,
    restAfterLarge(organization, took) {
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

test('a statement that has waited for too long is refused for its organization’s share, or as nothing is left for anybody', async () => {
  await using database = await testDatabase()
  const limits = { places: 2, longPlaces: 1, waitAtMost: 100 }
  const pool = new FairPool(database.pool, { waited: () => {} }, limits)
  const holder = await database.pool.connect()
  try {
    await holder.query('select pg_advisory_lock(1)')
    const hold = (organization: string, isLong = false) =>
      (isLong ? pool.ofLong(organization) : pool.of(organization)).query({
        text: 'select pg_advisory_xact_lock(1)',
      })
    const held = [hold('a', true)]
    await expect(pool.ofLong('a').query('select 1')).rejects.toEqual(
      new ShareExceeded('own_share', 'database_time'),
    )
    // Others' searches are in the way, and nothing of its own.
    await expect(pool.ofLong('b').query('select 1')).rejects.toEqual(
      new ShareExceeded('all_taken', 'database_time'),
    )
    held.push(hold('b'))
    await expect(pool.of('c').query('select 1')).rejects.toEqual(
      new ShareExceeded('all_taken', 'database_time'),
    )
    await holder.query('select pg_advisory_unlock(1)')
    await Promise.all(held)
    await pool.of('c').query('select 1')
  } finally {
    holder.release()
  }
})
