/** A database whose host vanishes without a word, as seen by pools and listeners. */
import { expect, test } from 'vitest'
import { testDatabase } from '../../testbed/database.ts'
import { eventually } from '../../testbed/eventually.ts'
import { type VanishingDatabase, vanishingDatabase } from '../../testbed/vanishing-database.ts'
import { listen } from '../src/db/listen.ts'
import { createPool, endPool, queryWithin, transaction } from '../src/db/pool.ts'
import { queryText } from '../src/db/text-query.ts'

/** Statements may take so long here, in milliseconds: the outage is found out as much later as with 30 s. */
const quick = { statement_timeout: '300' }

function quickPool(way: VanishingDatabase, max: number, onIdleError: (error: Error) => void = () => {}) {
  return createPool({ url: way.url(quick) }, { max, onIdleError })
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: Error & { code?: string; syscall?: string }) => `${error.code} ${error.syscall}`,
  )

test.concurrent('a statement of any sort ends, its connection with it, and the pool goes on when the host is back', async () => {
  await using database = await testDatabase({ template: null })
  await using way = await vanishingDatabase(database.connection)
  const broken: string[] = []
  const pool = quickPool(way, 4, (error) => broken.push(error.message))
  const pid = 'select pg_backend_pid() as pid'
  try {
    const clients = await Promise.all([1, 2, 3, 4].map(() => pool.connect()))
    for (const client of clients) client.release()
    expect([pool.totalCount, pool.idleCount]).toEqual([4, 4])
    const { rows: before } = await pool.query(pid)

    way.vanish()
    const ends = await Promise.all([
      failure(pool.query('select 1')),
      failure(queryText(pool, { name: 'one', text: 'select 1' }, [])),
      failure(transaction(pool, (tx) => tx.query('select 1'))),
    ])
    expect(ends).toEqual(Array(3).fill('ETIMEDOUT read'))
    // The fourth lay idle and leads nowhere either.
    await eventually('no connection is left', () => pool.totalCount === 0)
    expect(broken).toHaveLength(1)

    way.comeBack()
    const { rows: after } = await pool.query(pid)
    expect(after[0].pid).not.toBe(before[0].pid)
  } finally {
    await endPool(pool)
  }
})

test.concurrent('a statement that may take longer has its own limit, and the connection the usual one afterwards', async () => {
  await using database = await testDatabase({ template: null })
  await using way = await vanishingDatabase(database.connection)
  const pool = quickPool(way, 1)
  try {
    const slept = await queryWithin(pool, 10_000, {
      text: `select pg_sleep(3), current_setting('statement_timeout') as limit`,
    })
    expect(slept.rows[0]?.limit).toBe('10s')
    expect((await pool.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '300ms' }])
    way.vanish()
    expect(await failure(pool.query('select 1'))).toBe('ETIMEDOUT read')
  } finally {
    await endPool(pool)
  }
})

test.concurrent('a server that works on a statement for longer than it may ends it itself, and keeps the connection', async () => {
  await using database = await testDatabase({ template: null })
  await using way = await vanishingDatabase(database.connection)
  const pool = quickPool(way, 1)
  try {
    const client = await pool.connect()
    expect(await failure(client.query('select pg_sleep(20)'))).toBe('57014 undefined')
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    client.release()
  } finally {
    await endPool(pool)
  }
})

test.concurrent('a listener finds the silence out, and hears again when the host is back', async () => {
  await using database = await testDatabase({ template: null })
  await using way = await vanishingDatabase(database.connection)
  const heard: string[] = []
  const lost: string[] = []
  const listener = listen(
    way.connection,
    'things',
    (payload) => heard.push(payload),
    (error) => lost.push(error.message),
  )
  try {
    await eventually('it listens', () => heard.length === 1)
    way.vanish()
    await eventually('the silence is found out', () => lost.length > 0)
    way.comeBack()
    await eventually('it listens again', () => heard.length === 2)
    await database.pool.query(`notify things, 'news'`)
    await eventually('it hears', () => heard.length === 3)
    expect(heard).toEqual(['', '', 'news'])
  } finally {
    await listener.close()
  }
})
