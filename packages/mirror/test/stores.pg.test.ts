/** What every store promises, of each. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../testbed/database.ts'
import { RowRefused, type StoredRow, type StoreReader, StoreUnavailable, type Table } from '../src/index.ts'
import { MemoryStore } from '../src/stores/memory.ts'
import { PostgresStore } from '../src/stores/postgres.ts'
import { SqliteStore } from '../src/stores/sqlite.ts'
import { type Place, places } from './stores.ts'

const column = (field: string, type: Table['columns'][number]['type'], refers = false) => ({
  field,
  name: field.replace('Id', '_id'),
  type,
  comment: `It's the ${field}`,
  refers,
})

const table = (name: string, marksRemovals: boolean): Table => ({
  name,
  comment: "Somebody's",
  columns: [
    column('id', 'uuid'),
    column('order', 'text'),
    column('count', 'integer'),
    column('share', 'number'),
    column('open', 'boolean'),
    column('at', 'timestamp'),
    column('more', 'json'),
    column('otherId', 'uuid', true),
    column('names', 'texts'),
  ],
  marksRemovals,
})

const idOf = (n: number) => `01980000-0000-7000-8000-${String(n).padStart(12, '0')}`
const at = '2026-01-31T09:30:00.100Z'

function row(n: number, order = `number ${n}`): StoredRow {
  const cells = [
    idOf(n),
    order,
    n,
    n / 3,
    n % 2 === 0,
    at,
    `{"n":${n},"a":["\\n"]}`,
    n === 3 ? null : idOf(n + 1),
    JSON.stringify(n === 3 ? [] : ['a, "b"', `${n}`, 'null', '']),
  ]
  return { id: idOf(n), cells, text: `{"id":"${idOf(n)}","n":"${order} \\t \\\\ é"}` }
}

const removal = (n: number) => ({ id: idOf(n), removedAt: at, removal: `mark ${n}` })

const all = { after: idOf(0), before: idOf(999_999) }

async function rowsOf(reader: StoreReader, of: Table, range = all): Promise<StoredRow[]> {
  const rows: StoredRow[] = []
  for await (const piece of reader.rows(of, range)) rows.push(...piece)
  return rows
}

const memory = async () => {
  const store = new MemoryStore()
  return { store: () => store, [Symbol.asyncDispose]: async () => {} }
}

/** Defaults of the database that no store may notice. */
const hostile = {
  datestyle: 'SQL, DMY',
  timezone: 'Asia/Kathmandu',
  extra_float_digits: '-15',
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  default_transaction_isolation: 'serializable',
  client_encoding: 'LATIN1',
}

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase({ template: null })
  for (const [name, value] of Object.entries(hostile))
    await database.pool.query(`alter database ${database.name} set ${name} = '${value}'`)
})
afterAll(() => database[Symbol.asyncDispose]())

const stores: Record<
  string,
  (connection: TestDatabase['connection']) => Promise<Pick<Place, 'store'> & Partial<Place> & AsyncDisposable>
> = {
  memory,
  ...places,
}

describe.each(Object.entries(stores))('%s', (_, placeOf) => {
  const place = () => placeOf(database.connection)

  test('keeps rows and notes', async () => {
    await using held = await place()
    const store = held.store()
    await store.open()
    const things = table('things', false)
    /** The row as it is read back. */
    const shown = ({ id, text, cells }: StoredRow) => {
      const read = things.columns.map((of, n) => {
        const cell = cells[n] ?? null
        return cell === null ? null : (store.shown?.(of, cell) ?? cell)
      })
      return { id, text, cells: read }
    }
    const read = (range?: typeof all) => store.read((reader) => rowsOf(reader, things, range))

    await store.write(async (tx) => {
      await tx.define(things)
      await tx.append(things, [row(2), row(1), row(5)])
      await tx.index(things)
      await tx.index(things)
      await tx.setNote('place', 'one')
      // A transaction sees what it has written.
      expect(await rowsOf(tx, things)).toHaveLength(3)
      expect(await tx.note('place')).toBe('one')
    })
    expect(await read()).toEqual([1, 2, 5].map((n) => shown(row(n))))
    expect(await read({ after: idOf(1), before: idOf(2) })).toEqual([shown(row(2))])
    expect(await read({ after: idOf(2), before: idOf(4) })).toEqual([])

    await store.write(async (tx) => {
      await tx.put(things, [row(1, 'changed'), row(3)])
      await tx.put(things, [])
      await tx.remove(things, [removal(2), removal(77)])
      await tx.remove(things, [])
      await tx.setNote('place', null)
    })
    expect(await read()).toEqual([row(1, 'changed'), row(3), row(5)].map(shown))
    await store.read(async (reader) => {
      expect(await reader.note('place')).toBeUndefined()
      expect(await reader.span(things)).toEqual({ lowest: idOf(1), highest: idOf(5) })
      expect(await reader.get(things, [idOf(5), idOf(2)])).toEqual([shown(row(5))])
      expect(await reader.get(things, [])).toEqual([])
    })

    // A column of a later release is empty in the rows that are there, and needs no other definition.
    const wider = { ...things, columns: [...things.columns, column('added', 'text', true)] }
    await store.write(async (tx) => {
      await tx.define(wider)
      await tx.define(wider)
      await tx.index(wider)
    })
    const [first] = await store.read((reader) => rowsOf(reader, wider))
    expect(first?.cells).toHaveLength(10)
    expect(first?.cells.at(-1)).toBeNull()
    await store.write((tx) => tx.drop(wider))
    await store.write((tx) => tx.drop(wider))
    await store.write((tx) => tx.define(things))
    expect(await read()).toEqual([])
    expect(await store.read((reader) => reader.span(things))).toBeNull()
    await store.close()
  })

  test('writes whole or not at all, and shows a reader one moment', async () => {
    await using held = await place()
    const store = held.store()
    await store.open()
    const things = table('things', false)
    await store.write(async (tx) => {
      await tx.define(things)
      await tx.append(things, [row(1)])
      await tx.setNote('place', 'one')
    })
    const broken = store.write(async (tx) => {
      await tx.put(things, [row(1, 'changed'), row(2)])
      await tx.remove(things, [removal(1)])
      await tx.setNote('place', 'two')
      throw new Error('in the middle')
    })
    await expect(broken).rejects.toThrow('in the middle')
    await store.read(async (reader) => {
      expect(await reader.note('place')).toBe('one')
      await store.write(async (tx) => {
        await tx.put(things, [row(2)])
        await tx.setNote('place', 'two')
      })
      expect(await reader.note('place')).toBe('one')
      expect((await rowsOf(reader, things)).map(({ id }) => id)).toEqual([idOf(1)])
    })
    // Writers go one after the other, each on what the one before has left.
    const add = () => store.write(async (tx) => tx.setNote('place', `${await tx.note('place')}+`))
    await Promise.all([add(), add(), add()])
    expect(await store.read((reader) => reader.note('place'))).toBe('two+++')
    await store.close()
  })

  test.each([{ marks: false }, { marks: true }])(
    'one table takes the rows of another (marked: $marks)',
    async ({ marks }) => {
      await using held = await place()
      const store = held.store()
      await store.open()
      const [things, next] = [table('things', marks), table('things_next', marks)]
      await store.write(async (tx) => {
        await tx.define(things)
        await tx.define(next)
        await tx.append(things, [row(1), row(2), row(3)])
        await tx.append(next, [row(2), row(3, 'changed'), row(4), row(5)])
        await tx.remove(next, [removal(5)])
        expect([...(await tx.idsBeyond(things, next))]).toEqual([idOf(1)])
        if (marks) await tx.remove(things, [removal(1)])
        await tx.replace(things, next)
      })
      const texts = async () => (await store.read((reader) => rowsOf(reader, things))).map(({ text }) => text)
      expect(await texts()).toEqual([row(2).text, row(3, 'changed').text, row(4).text])
      // What is marked comes back by being written.
      await store.write((tx) => tx.put(things, [row(1)]))
      await store.write((tx) => tx.remove(things, [removal(2)]))
      expect(await texts()).toEqual([row(1).text, row(3, 'changed').text, row(4).text])
      if (held.sql !== undefined) {
        const marked = marks ? 'count(removed_at)' : '0'
        const [there] = await held.sql(`select count(*) as n, ${marked} as marked from things`)
        expect([Number(there?.n), Number(there?.marked)]).toEqual(marks ? [5, 2] : [3, 0])
      }
      await store.close()
    },
  )

  test('many rows go in and out in pieces', async () => {
    await using held = await place()
    const store = held.store()
    await store.open()
    const things = table('things', false)
    const rows = Array.from({ length: 3_000 }, (_, n) => row(n + 1, 'x'.repeat(n % 400)))
    await store.write(async (tx) => {
      await tx.define(things)
      await tx.append(things, rows)
    })
    await store.read(async (reader) => {
      expect((await rowsOf(reader, things)).map(({ text }) => text)).toEqual(rows.map(({ text }) => text))
      // Whoever has seen enough leaves, and the next look works.
      for await (const piece of reader.rows(things, all)) {
        expect(piece.length).toBeGreaterThan(0)
        break
      }
      expect(await reader.get(things, [idOf(7)])).toHaveLength(1)
    })
    await store.close()
  })
})

/** Collects garbage, and lets the event loop finalize objects of native clients, such as DuckDB's appenders. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  for (let n = 0; n < 3; n++) {
    collect()
    await new Promise(setImmediate)
  }
}

test.each(Object.entries(places))(
  'rows that %s refused come back in no later transaction',
  async (_, placeOf) => {
    await using held = await placeOf(database.connection)
    const store = held.store()
    await store.open()
    const { columns, ...like } = table('things', false)
    const demanding = { ...like, columns: columns.map((one) => ({ ...one, required: one.field !== 'id' })) }
    const { cells, ...without } = row(1)
    const lacking = { ...without, cells: cells.map((cell, n) => (n === 1 ? null : cell)) }
    // SQLite requires nothing before 3.53: there, the second row breaks the primary key.
    const rows = [lacking, lacking]
    await store.write((tx) => tx.define(demanding))
    // Without the error, as its stack keeps what has thrown it.
    const refused = store.write((tx) => tx.append(demanding, rows)).catch(({ name }) => name)
    expect(await refused).toBe(RowRefused.name)
    await store.write(async (tx) => {
      await collectGarbage()
      await tx.append(demanding, [row(1), row(2)])
    })
    const there = await store.read((reader) => rowsOf(reader, demanding))
    expect(there.map(({ text }) => text)).toEqual([row(1).text, row(2).text])
    await store.close()
  },
)

test('a store that cannot be reached, or is written to by another for too long, may be tried again', async () => {
  const nobody = new PostgresStore({ connection: { host: '127.0.0.1', port: 1 } })
  await expect(nobody.open()).rejects.toThrow(StoreUnavailable)
  await using held = await places.SQLite()
  const store = held.store()
  await store.open()
  const file = (await held.sql('select file from pragma_database_list'))[0]?.file as string
  const other = new SqliteStore({ file, busyMs: 1 })
  await other.open()
  await store.write(async () => {
    await expect(other.write(async () => {})).rejects.toThrow(StoreUnavailable)
  })
  await other.write(async () => {})
  await Promise.all([store.close(), other.close()])
})

test('tables of PostgreSQL have comments and indexes, and no foreign keys', async () => {
  await using held = await places.PostgreSQL(database.connection)
  const store = held.store()
  await store.open()
  const things = table('things', true)
  await store.write(async (tx) => {
    await tx.define(things)
    await tx.index(things)
  })
  const comments = await held.sql(
    `select a.attname as name, col_description(a.attrelid, a.attnum) as comment from pg_attribute a
       where a.attrelid = 'things'::regclass and a.attnum > 0 order by a.attnum`,
  )
  expect(comments.slice(0, 2)).toEqual([
    { name: 'id', comment: "It's the id" },
    { name: 'order', comment: "It's the order" },
  ])
  expect(comments.every(({ comment }) => comment !== null)).toBe(true)
  const indexes = await held.sql(
    "select indexname as name from pg_indexes where tablename = 'things' order by 1",
  )
  expect(indexes).toEqual([{ name: 'things_other_id' }, { name: 'things_pkey' }])
  expect(
    await held.sql("select 1 from pg_constraint where conrelid = 'things'::regclass and contype = 'f'"),
  ).toEqual([])
  await store.close()
})
