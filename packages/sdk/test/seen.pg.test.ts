/** The table of the guide as a memory that several processes share, on a real PostgreSQL. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { testDatabase } from '../../testbed/database.ts'
import { once, type SeenEvents } from '../src/index.ts'

const guide = readFileSync(new URL('../../../docs/guides/receiving.md', import.meta.url), 'utf8')
const [, statement = ''] = /```sql\n(create table seen_events[\s\S]*?)```/.exec(guide) ?? []
const [, source = ''] = /```js\n(export class SeenInPostgres[\s\S]*?)```/.exec(guide) ?? []

test('it begins an event once, whoever asks at once, and again what was lost or has failed', async () => {
  await using database = await testDatabase({ template: null })
  await database.pool.query(statement)
  const { SeenInPostgres } = await import(`data:text/javascript,${encodeURIComponent(source)}`)
  const seen: SeenEvents = new SeenInPostgres(database.pool)
  const at = 1_769_851_800_000
  const all = await Promise.all(Array.from({ length: 8 }, () => seen.begin('a', at, at + 100)))
  expect(all.sort()).toEqual(['begun', ...Array(7).fill('under_way')])
  expect(await seen.begin('a', at + 100, at + 200)).toBe('begun')
  await seen.release('a')
  let calls = 0
  const work = async () => {
    if (calls++ === 0) throw new Error('not today')
  }
  await expect(once(seen, 'a', work)).rejects.toThrow('not today')
  expect([await once(seen, 'a', work), await once(seen, 'a', work), calls]).toEqual(['begun', 'done', 2])
})
