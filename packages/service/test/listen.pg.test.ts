/** LISTEN: hints come again after a connection is lost, and closing waits for no server that does not answer. */
import { createServer } from 'node:net'
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { testDatabase } from '../../testbed/database.ts'
import { eventually } from '../../testbed/eventually.ts'
import { listening } from '../../testbed/loopback.ts'
import { listen } from '../src/db/listen.ts'

async function endListeners(pool: Pool): Promise<number> {
  const { rows } = await pool.query(
    `select pg_terminate_backend(a.pid) from pg_stat_activity a
       where a.datname = current_database() and a.application_name = 'deskwire listener'`,
  )
  return rows.length
}

test('what was lost with a connection is made good by the next one', async () => {
  await using database = await testDatabase({ template: null })
  const { pool } = database
  let heard = 0
  const lost: string[] = []
  const notify = () => {
    heard++
  }
  const listener = listen(database.connection, 'things', notify, (error) => lost.push(error.message))
  try {
    await eventually('it listens', () => heard === 1)
    await pool.query(`notify things`)
    await eventually('it hears', () => heard === 2)
    for (let n = 1; n <= 2; n++) {
      const before = heard
      expect(await endListeners(pool)).toBe(1)
      await eventually('the connection is lost', () => lost.length === n)
      await eventually('it listens again, and says so once', () => heard > before)
      expect(heard).toBe(before + 1)
      await pool.query(`notify things`)
      await eventually('it hears again', () => heard === before + 2)
    }
  } finally {
    await listener.close()
  }
  expect(await endListeners(pool)).toBe(0)
  expect(lost).toHaveLength(2)
})

test('a server that accepts and says nothing does not hold up the closing', async () => {
  let accepted = 0
  await using server = await listening(
    createServer((socket) => {
      accepted++
      socket.on('error', () => {}).resume()
    }),
  )
  const lost: Error[] = []
  const listener = listen(
    { host: '127.0.0.1', port: server.port, user: 'nobody', database: 'nothing' },
    'things',
    () => expect.unreachable(),
    (error) => lost.push(error),
  )
  await eventually('it connects', () => accepted === 1)
  const since = performance.now()
  await listener.close()
  expect(performance.now() - since).toBeLessThan(4_000)
  expect(lost).toEqual([])
})

test('closed while it waits for the next connection, it makes none', async () => {
  let lost = 0
  const address = { host: '127.0.0.1', port: 1, user: 'nobody', database: 'nothing' }
  const listener = listen(
    address,
    'things',
    () => {},
    () => {
      lost++
    },
  )
  await eventually('no connection can be made', () => lost === 1)
  await listener.close()
  expect(lost).toBe(1)
})
