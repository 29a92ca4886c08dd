import { expect, test } from 'vitest'
import { testDatabase } from '../../../testbed/database.ts'
import { arrayParameter, queryText, queryTextsWhenSent } from '../../src/db/text-query.ts'

const numbers = {
  name: 'numbers',
  text: 'select n, n * 2, case when n > 2 then $2::text end from generate_series(1, $1::int) n',
}

test('columns come as the text that PostgreSQL writes, in their order, whatever their names', async () => {
  await using database = await testDatabase()
  const rows = await queryText(database.pool, numbers, ['3', 'žluť 😀'])
  expect(rows).toEqual([
    ['1', '2', null],
    ['2', '4', null],
    ['3', '6', 'žluť 😀'],
  ])
  expect(await queryText(database.pool, numbers, ['0', null])).toEqual([])
  const bytes = { name: 'bytes', text: "select encode($1::bytea, 'hex'), '', $2::text" }
  const values = [Buffer.from([0, 255, 10]), '']
  expect(await queryText(database.pool, bytes, values)).toEqual([['00ff0a', '', '']])
})

test('an array parameter arrives as it was, whatever its strings hold', async () => {
  await using database = await testDatabase()
  const array = {
    name: 'array',
    text: 'select to_json($1::text[]), to_json($2::float8[]), to_json($3::boolean[])',
  }
  const sent = async (...arrays: readonly (readonly (string | number | boolean | null)[])[]) => {
    const [row] = await queryText(database.pool, array, arrays.map(arrayParameter))
    return row?.map((json) => JSON.parse(json ?? ''))
  }
  const odd = ['', 'null', null, '"', '\\', '\\"', '{a,b}', ' a, b ', 'line\nbreak\ttab', 'žluť 😀', "it's"]
  expect(await sent(odd, [0, -1.5, null, 1e300], [true, null, false])).toEqual([
    odd,
    [0, -1.5, null, 1e300],
    [true, null, false],
  ])
  expect(await sent([], [], [])).toEqual([[], [], []])
})

test('a connection prepares a statement once', async () => {
  await using database = await testDatabase({ max: 1 })
  for (let n = 0; n < 5; n++) await queryText(database.pool, numbers, [String(n), null])
  const { rows } = await database.pool.query(
    "select count(*)::int as prepared, sum(s.generic_plans + s.custom_plans)::int as runs from pg_prepared_statements s where s.name = 'numbers'",
  )
  expect(rows).toEqual([{ prepared: 1, runs: 5 }])
})

test('statements of one message have rows of their own, are prepared once each, and see what the ones before wrote', async () => {
  await using database = await testDatabase({ max: 1 })
  const { pool } = database
  await pool.query('create table seats (n int)')
  const add = { name: 'add', text: 'insert into seats values ($1), ($1 + 1) returning n' }
  const none = { name: 'none', text: 'select n from seats where n < 0' }
  const all = { name: 'all', text: 'select n, $1::text from seats order by n' }
  const ask = (from: number) =>
    queryTextsWhenSent(pool, () => [
      [add, [String(from)]],
      [none, []],
      [all, ['seat']],
    ])
  expect(await ask(3)).toEqual([
    [['3'], ['4']],
    [],
    [
      ['3', 'seat'],
      ['4', 'seat'],
    ],
  ])
  // One is prepared already, and the others are not.
  await queryText(pool, { name: 'seen', text: 'select 1' }, [])
  const mixed = await queryTextsWhenSent(pool, () => [
    [none, []],
    [{ name: 'new', text: 'select 2' }, []],
    [{ name: 'seen', text: 'select 1' }, []],
  ])
  expect(mixed).toEqual([[], [['2']], [['1']]])
  expect((await ask(1))[2]).toHaveLength(4)
  const { rows } = await pool.query(
    'select s.name, (s.generic_plans + s.custom_plans)::int as runs from pg_prepared_statements s order by s.name',
  )
  expect(rows).toEqual([
    { name: 'add', runs: 2 },
    { name: 'all', runs: 2 },
    { name: 'new', runs: 1 },
    { name: 'none', runs: 3 },
    { name: 'seen', runs: 2 },
  ])
})

test('statements of one message are one transaction: when one is refused, nothing was written, and the next works', async () => {
  await using database = await testDatabase({ max: 1 })
  const { pool } = database
  await pool.query('create table seats (n int)')
  const add = { name: 'add', text: 'insert into seats values ($1)' }
  const divide = { name: 'divide', text: 'select 1 / $1::int' }
  const ask = (by: number) =>
    queryTextsWhenSent(pool, () => [
      [add, ['1']],
      [divide, [String(by)]],
    ])
  await expect(ask(0)).rejects.toMatchObject({ code: '22012' })
  expect(await ask(1)).toEqual([[], [['1']]])
  expect((await pool.query('select n from seats')).rows).toEqual([{ n: 1 }])
})

test('what the server refuses rejects with its code, before and after it was prepared, and harms nobody else', async () => {
  await using database = await testDatabase({ max: 1 })
  const one = { name: 'one', text: 'select 1 / $1::int' }
  const refused = [
    queryText(database.pool, { name: 'wrong', text: 'select nothing from nowhere' }, []),
    queryText(database.pool, one, ['0']),
    queryText(database.pool, one, ['many']),
  ]
  const others = [queryText(database.pool, one, ['1']), database.pool.query('select 2 as two')]
  const reasons = (await Promise.allSettled(refused)).map((result) =>
    result.status === 'rejected' ? result.reason.code : result,
  )
  expect(reasons).toEqual(['42P01', '22012', '22P02'])
  expect(await others[0]).toEqual([['1']])
  expect(await others[1]).toMatchObject({ rows: [{ two: 2 }] })
})

test('two statements under one name are refused: the second would get what the first asks for', async () => {
  await using database = await testDatabase({ max: 1 })
  await queryText(database.pool, { name: 'same', text: 'select 1' }, [])
  const other = queryText(database.pool, { name: 'same', text: 'select 2' }, [])
  await expect(other).rejects.toThrow('two statements are named same')
  expect(await queryText(database.pool, { name: 'other', text: 'select 2' }, [])).toEqual([['2']])
})

test('a connection that breaks in the middle of a statement rejects it, and the next has another', async () => {
  await using database = await testDatabase({ max: 1 })
  const suicide = { name: 'suicide', text: 'select pg_terminate_backend(pg_backend_pid())' }
  await expect(queryText(database.pool, suicide, [])).rejects.toMatchObject({ code: '57P01' })
  expect(await queryText(database.pool, numbers, ['1', null])).toEqual([['1', '2', null]])
})
