/** docs/schema.sql shows the schema that a new database gets. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { renderSchema } from '../../../../tools/generate/schema.ts'
import { testDatabase } from '../../../testbed/database.ts'

test('docs/schema.sql is the schema as it is: else run npm run generate and commit what it writes', async () => {
  await using database = await testDatabase()
  const committed = readFileSync(new URL('../../../../docs/schema.sql', import.meta.url), 'utf8')
  expect(committed).toBe(await renderSchema(database.pool))
})

test('a table that nobody has described is refused', async () => {
  await using database = await testDatabase()
  await database.pool.query('create table mine (n int)')
  await expect(renderSchema(database.pool)).rejects.toThrow('nothing says what mine is')
})

test('its map names every table', async () => {
  await using database = await testDatabase()
  const page = await renderSchema(database.pool)
  const map = page.slice(0, page.indexOf('\n\n'))
  const tables = [...page.matchAll(/^create table (\w+) \($/gm)].map(([, name]) => name as string)
  expect(tables.length).toBeGreaterThan(30)
  expect(tables.filter((name) => !/_words$/.test(name) && !new RegExp(`\\b${name}\\b`).test(map))).toEqual([])
})
