/** An organization moves from one database to another: all of it, once, wherever its mover is killed. */
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { createHomeDirectory } from '../../src/access/home-directory.ts'
import { type Databases, moveOrganization } from '../../src/moves/move.ts'
import { movingTables } from '../../src/moves/tables.ts'
import { fullDesk } from '../backup/full-desk.fixture.ts'
import { testDatabase } from '../harness/database.ts'

/** All rows of the organization, by table. */
async function rowsOf(pool: Pool, organizationId: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const { name, columns } of await movingTables(pool)) {
    const { rows } = await pool.query<{ row: string }>(
      `select row(${columns.join(', ')})::text as row from ${name} t where t.organization_id = $1 order by 1`,
      [organizationId],
    )
    found[name] = rows.map(({ row }) => row)
  }
  return found
}

test('a whole desk', { timeout: 120_000 }, async () => {
  await using desk = await fullDesk()
  await using there = await testDatabase()
  const { pool } = desk.service.database
  const [moved, stays] = desk.apis as [(typeof desk.apis)[0], (typeof desk.apis)[0]]
  const databases: Databases = {
    pools: new Map([
      ['one', pool],
      ['two', there.pool],
    ]),
    directory: createHomeDirectory(pool, 'one'),
    clock: desk.clock,
  }
  const before = await rowsOf(pool, moved.organizationId)
  const neighbour = await rowsOf(pool, stays.organizationId)
  expect(Object.entries(before).filter(([, rows]) => rows.length === 0).map(([name]) => name)).toEqual([])
  const told = await moveOrganization(databases, moved.organizationId, 'two', { rest: 0, rowsAStep: 100 })
  expect(told).toMatchObject({ outcome: 'moved', from: 'one', to: 'two' })
  const after = await rowsOf(there.pool, moved.organizationId)
  for (const [name, rows] of Object.entries(before))
    if (name !== 'organizations') expect([name, after[name]]).toEqual([name, rows])
  expect(await rowsOf(pool, stays.organizationId)).toEqual(neighbour)
})
