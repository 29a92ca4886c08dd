import { execFileSync } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Pool, PoolClient, QueryResult } from 'pg'
import { expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../testbed/database.ts'
import { eventually } from '../../testbed/eventually.ts'
import { vanishingDatabase } from '../../testbed/vanishing-database.ts'
import { effectOf } from '../src/db/failure.ts'
import { createPool, endPool, transaction } from '../src/db/pool.ts'
import { queryText } from '../src/db/text-query.ts'

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

const insert = 'insert into things select $1 from pg_sleep(30)'
const effect = (work: Promise<unknown>) => work.then(() => 'done', effectOf)

test.each<[string, string, (pool: Pool) => Promise<unknown>]>([
  ['with parameters', 'unavailable', (pool) => pool.query(insert, ['1'])],
  ['of text', 'unavailable', (pool) => queryText(pool, { name: 'insert', text: insert }, ['1'])],
  ['in a transaction', 'unavailable', (pool) => transaction(pool, (tx) => tx.query('select pg_sleep(30)'))],
  // It would commit before it says that it is complete.
  ['without parameters', 'unknown', (pool) => pool.query('insert into things select 1 from pg_sleep(30)')],
])('a statement %s, whose session the server ends: %s', async (_, expected, ask) => {
  await using database = await testDatabase({ template: null })
  await database.pool.query('create table things (id text)')
  const pool = createPool(database.connection, { max: 1, onIdleError: () => {} })
  try {
    const asked = effect(ask(pool))
    await eventually('it is ended', async () => {
      const ended = `select pg_terminate_backend(s.pid) from (${sessions} and a.query like '%pg_sleep(30)%' and a.state = 'active') s`
      return (await database.pool.query(ended)).rows.length === 1
    })
    expect(await asked).toBe(expected)
    expect((await database.pool.query('select count(*)::int as n from things')).rows).toEqual([{ n: 0 }])
  } finally {
    await endPool(pool)
  }
})

test.each([
  ['write', 'unavailable'],
  ['read', 'unknown'],
])('a statement whose connection breaks at a %s: %s', async (syscall, expected) => {
  await using database = await testDatabase({ template: null })
  for (const ask of [
    (client: PoolClient) => client.query('select pg_sleep(30)'),
    (client: PoolClient) => client.query('select $1::text from pg_sleep(30)', ['1']),
  ]) {
    const client = await database.pool.connect()
    const asked = effect(ask(client))
    const { connection } = client as unknown as { connection: { stream: Socket } }
    connection.stream.destroy(
      Object.assign(new Error(`${syscall} ECONNRESET`), { code: 'ECONNRESET', syscall }),
    )
    expect(await asked).toBe(expected)
    client.release()
  }
  await database.pool.query(`select pg_terminate_backend(s.pid) from (${sessions}) s`)
})

test('a connection that breaks while it begins, or inside a transaction: nothing was changed; at the commit, nobody knows', async () => {
  await using database = await testDatabase({ template: null })
  await using way = await vanishingDatabase(database.connection)
  const pool = createPool({ url: way.url() }, { max: 2, onIdleError: () => {} })
  const broken = (statement: string, before = '') =>
    transaction(pool, async (tx) => {
      if (before !== '') await tx.query(before)
      const asked = tx.query(statement)
      way.turnAway()
      await asked
    })
  try {
    expect(await effect(broken('select pg_sleep(5)'))).toBe('unavailable')
    expect(await effect(pool.query('select 1'))).toBe('unavailable')
    way.comeBack()
    expect(await effect(broken('commit', 'select 1'))).toBe('unknown')
  } finally {
    await endPool(pool)
  }
})

test('a process that stood still reads what the server said meanwhile, before it gives a connection up', async () => {
  await using database = await testDatabase({ template: null })
  const pool = createPool(database.connection, { max: 2, onIdleError: () => {} })
  const [client, other] = [await pool.connect(), await pool.connect()]
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const answered = `select 1 from pg_stat_activity a where a.pid = ${rows[0]?.pid} and a.state = 'idle' and a.query like '%one%'`
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    const asked = new Promise<QueryResult>((resolve) =>
      // Nothing of this process runs until the server has sent its response, and then its timers run first.
      setTimeout(() => {
        resolve(client.query('select 1 as one'))
        standStillUntil(database, answered)
        stream.emit('timeout')
      }),
    )
    expect((await asked).rows).toEqual([{ one: 1 }])
    expect((await client.query('select 2 as two')).rows).toEqual([{ two: 2 }])
  } finally {
    client.release()
    other.release()
    await endPool(pool)
  }
})

/** Blocks this process until the statement has a row. */
function standStillUntil({ connection }: TestDatabase, statement: string): void {
  const program = `
    const client = new (await import('pg')).default.Client(${JSON.stringify(connection)})
    await client.connect()
    while ((await client.query(${JSON.stringify(statement)})).rows.length === 0);
    await client.end()`
  execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: import.meta.dirname,
    timeout: 60_000,
  })
}

test('a pool that the server refuses further connections waits for those that it has', async () => {
  await using database = await testDatabase({ template: null })
  await using _limit = await limited(database, 2)
  const pool = createPool(database.connection, { max: 8, onIdleError: () => {} })
  try {
    const asked = Array.from({ length: 40 }, (_, n) => pool.query(`select ${n} as n, pg_sleep(0.01)`))
    expect((await Promise.all(asked)).map(({ rows }) => rows[0]?.n)).toEqual(asked.map((_, n) => n))
    expect(pool.totalCount).toBeLessThanOrEqual(2)
  } finally {
    await endPool(pool)
  }
})

/** At most so many connections to the database, until the end. The tests' role is no superuser, which has no limit. */
async function limited({ pool, name }: TestDatabase, most: number): Promise<AsyncDisposable> {
  await pool.query(`alter database ${name} connection limit ${most + 1}`)
  return {
    [Symbol.asyncDispose]: async () => void (await pool.query(`alter database ${name} connection limit -1`)),
  }
}
