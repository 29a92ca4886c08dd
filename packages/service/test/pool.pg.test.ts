import { expect, test } from 'vitest'
import { testDatabase } from '../../testbed/database.ts'
import { eventually } from '../../testbed/eventually.ts'
import { createPool, endPool } from '../src/db/pool.ts'

const sessions = `select a.pid from pg_stat_activity a where a.datname = current_database() and a.pid <> pg_backend_pid()`

test('a pool ends although a statement is stuck, and that statement fails', async () => {
  await using database = await testDatabase({ max: 1 })
  const pool = createPool(database.connection, { max: 2, onIdleError: () => {} })
  const stuck = pool.query('select pg_sleep(30)').then(
    () => 'done',
    () => 'failed',
  )
  await eventually('the statement runs', async () => (await database.pool.query(sessions)).rows.length === 1)
  await endPool(pool, 10)
  expect(await stuck).toBe('failed')
  // The server notices that its client is gone; the test does not wait as long as that takes.
  await database.pool.query(`select pg_terminate_backend(s.pid) from (${sessions}) s`)
})

test('a pool waits for a statement that is about to finish', async () => {
  await using database = await testDatabase({ max: 1 })
  const pool = createPool(database.connection, { max: 2, onIdleError: () => {} })
  const finishing = pool.query<{ done: number }>('select 1 as done from pg_sleep(0.05)')
  await endPool(pool)
  expect((await finishing).rows).toEqual([{ done: 1 }])
})

test('a connection that breaks while it is held, between two statements, fails the next one and not the process', async () => {
  await using database = await testDatabase()
  const client = await database.pool.connect()
  try {
    const { rows } = await client.query('select pg_backend_pid() as pid')
    // Not by a listener to errors, which is what it is to do without.
    const ended = new Promise<void>((resolve) => client.on('end', resolve))
    await database.pool.query('select pg_terminate_backend($1)', [rows[0].pid])
    await ended
    await expect(client.query('select 1')).rejects.toThrow()
  } finally {
    client.release()
  }
  // It is not given out again.
  expect((await database.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})
