/** Statements that need no session, against PostgreSQL itself: `npm run check -- poolers` has a real pooler in between. */
import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { testDatabase } from '../../testbed/database.ts'
import { testService } from '../../testbed/service.ts'
import { socketUrl } from '../../testbed/services.ts'
import { createPool, endPool, queryWithin, transaction } from '../src/db/pool.ts'
import { judgeSessions, leadToSameDatabase, observeSessions, requireSessions } from '../src/db/pooler.ts'
import { queryText, queryTextWithin } from '../src/db/text-query.ts'

test('sessions are judged by the processes that statements run in', () => {
  const rounds = [{ other: 8, own: 7 }]
  expect(judgeSessions({ announced: 7, first: 7, rounds: [] })).toBe('direct')
  // Announced by something in between, which goes on giving the same process: a pooler in session mode.
  expect(judgeSessions({ announced: 99, first: 7, rounds })).toBe('kept')
  expect(judgeSessions({ announced: null, first: 7, rounds })).toBe('kept')
  // Another connection got the process of the first, or the first another process.
  expect(judgeSessions({ announced: 99, first: 7, rounds: [...rounds, { other: 7, own: 7 }] })).toBe('lost')
  expect(judgeSessions({ announced: 99, first: 7, rounds: [...rounds, { other: 8, own: 9 }] })).toBe('lost')
})

test('PostgreSQL itself is known as such, and whether two addresses lead to one database', async () => {
  await using one = await testDatabase({ template: null })
  await using two = await testDatabase({ template: null })
  const [url, otherUrl] = [socketUrl(one.connection), socketUrl(two.connection)]
  expect(judgeSessions(await observeSessions({ url }))).toBe('direct')
  expect(await leadToSameDatabase({ url }, one.connection)).toBe(true)
  await expect(requireSessions({ url, directUrl: otherUrl })).rejects.toThrow(/lead to two databases/)
  await requireSessions({ url, directUrl: url })
})

/** A pool that takes its server for one behind a pooler. */
function poolWithoutSessions(url: string, max = 1) {
  return createPool(
    { url, directUrl: url },
    { max, onIdleError: () => {}, settings: { synchronous_commit: 'off' } },
  )
}

const settings = `select current_setting('statement_timeout') as timeout, current_setting('synchronous_commit') as sync`
const told = { timeout: '30s', sync: 'off' }

test('each statement is told its settings, and leaves nothing behind in the session', async () => {
  await using database = await testDatabase({ template: null })
  const pool = poolWithoutSessions(socketUrl(database.connection))
  try {
    expect((await pool.query(settings)).rows).toEqual([told])
    expect(
      (await pool.query({ name: 'named', text: `${settings}, $1::int as n`, values: [3] })).rows,
    ).toEqual([{ ...told, n: 3 }])
    expect(await queryText(pool, { name: 'text', text: settings }, [])).toEqual([['30s', 'off']])
    expect(await queryTextWithin(pool, 5_000, settings, [])).toEqual([['5s', 'off']])
    expect(await queryTextWithin(pool, 50, 'select pg_sleep(20)', [])).toBe('too_long')
    expect((await queryWithin(pool, 60_000, { text: settings })).rows).toEqual([{ ...told, timeout: '1min' }])
    // A message without settings, as another client of the pooler would send it next on this connection.
    const client = await pool.connect()
    const { rows } = await new Promise<{ rows: unknown[] }>((resolve, reject) => {
      const plain = { text: `${settings}, (select count(*)::int from pg_prepared_statements) as prepared` }
      const connection = (client as unknown as { connection: { query(text: string): void } }).connection
      const query = {
        rows: [] as unknown[],
        submit: () => connection.query(plain.text),
        handleRowDescription() {},
        handleDataRow: ({ fields }: { fields: unknown[] }) => void query.rows.push(fields.map(String)),
        handleCommandComplete() {},
        handleReadyForQuery: () => resolve({ rows: query.rows }),
        handleError: reject,
      }
      client.query(query)
    })
    client.release()
    expect(rows).toEqual([['0', 'on', '0']])
  } finally {
    await endPool(pool)
  }
})

test('a transaction is told once; one that fails is rolled back, and its connection goes on', async () => {
  await using database = await testDatabase({ template: null })
  const pool = poolWithoutSessions(socketUrl(database.connection))
  try {
    await transaction(pool, async (tx) => {
      await tx.query(`set local statement_timeout = '7s'`)
      expect((await tx.query(settings)).rows).toEqual([{ ...told, timeout: '7s' }])
    })
    const failing = transaction(pool, (tx) => tx.query('select 1 / 0'))
    await expect(failing).rejects.toThrow(DatabaseError)
    expect((await pool.query(settings)).rows).toEqual([told])
    await expect(pool.query('select no_such_column')).rejects.toThrow(/no_such_column/)
    expect((await pool.query(settings)).rows).toEqual([told])
    expect(pool.totalCount).toBe(1)
  } finally {
    await endPool(pool)
  }
})

test('nothing of the parameters that only a session keeps is sent as a connection begins; those of the URL hold', async () => {
  await using database = await testDatabase({ template: null })
  const pool = poolWithoutSessions(
    `${socketUrl(database.connection)}&statement_timeout=1234&options=-c%20work_mem%3D5MB`,
  )
  try {
    const { rows } = await pool.query(`${settings}, current_setting('work_mem') as memory`)
    expect(rows).toEqual([{ ...told, timeout: '1234ms', memory: expect.not.stringContaining('5MB') }])
  } finally {
    await endPool(pool)
  }
})

test('the API needs no session: writes of many at once, a large batch, a copy that is proven, a search', async () => {
  await using plain = await testDatabase()
  const pool = poolWithoutSessions(socketUrl(plain.connection), 8)
  await using _pool = { [Symbol.asyncDispose]: () => endPool(pool) }
  await using service = await testService({
    database: { ...plain, pool, [Symbol.asyncDispose]: async () => {} },
  })
  const { api } = service
  const posts = Array.from({ length: 80 }, (_, n) => api.post('/v1/customers', { name: `Customer ${n}` }))
  expect((await Promise.all(posts)).map(({ status }) => status)).toEqual(posts.map(() => 201))
  const items = Array.from({ length: 300 }, (_, n) => ({ name: `Batch ${n}` }))
  expect((await api.post('/v1/customers/batch', { items })).status).toBe(200)
  const found = await api.get('/v1/customers?q=batch')
  expect(found.json.pagination.total).toBe(300)
  const synced = await api.get('/v1/customers?updatedAfter=1970-01-01T00:00:00.000Z&limit=100')
  expect(synced.json.pagination).toMatchObject({ total: 380, hasMore: true })
  const { rows } = await pool.query('select name from pg_prepared_statements')
  expect(rows).toEqual([])
})
