/** The key of a database: the first one, and no other. */
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { testDatabase } from '../../../testbed/database.ts'
import { makeWebhook } from '../../../testbed/hooks.ts'
import { testService } from '../../../testbed/service.ts'
import { claimKey, replaceKey } from '../../src/delivery/endpoint/vault.ts'

const keyOf = (byte: number) => Buffer.alloc(32, byte)
const keysOf = (current: number, previous: number | null = null) => ({
  current: keyOf(current),
  previous: previous === null ? null : keyOf(previous),
})
/** Whether the database takes a process that holds this key. */
const claims = async (pool: Pool, byte: number) => (await claimKey(pool, keysOf(byte))) === 'held'

test('a new database takes the first key that comes, and from then on no other', async () => {
  await using database = await testDatabase()
  const { pool } = database
  expect(await claims(pool, 1)).toBe(true)
  expect(await claims(pool, 2)).toBe(false)
  expect(await claims(pool, 1)).toBe(true)
  const { rows } = await pool.query(`select i.key_check from installation i`)
  expect(rows[0].key_check).toHaveLength(32)
  expect(rows[0].key_check.equals(keyOf(1))).toBe(false)
})

test('of processes that start at once with different keys, one is first', async () => {
  await using database = await testDatabase()
  const claimed = await Promise.all([1, 2, 3, 4, 5].map((byte) => claims(database.pool, byte)))
  expect(claimed.filter((held) => held)).toHaveLength(1)
})

test('a key that is lost is replaced by a given one, or by the next that comes', async () => {
  await using service = await testService()
  const { pool } = service.database
  await makeWebhook(service.api)
  expect(await claims(pool, 7)).toBe(true)
  await replaceKey(pool, keysOf(8))
  expect([await claims(pool, 7), await claims(pool, 8)]).toEqual([false, true])
  await replaceKey(pool, null)
  expect([await claims(pool, 9), await claims(pool, 8)]).toEqual([true, false])
})
