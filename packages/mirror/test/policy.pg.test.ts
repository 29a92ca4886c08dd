/** Fields that releases add, rename, drop and give another type, and copies that an earlier release of the mirror has made. */
import { createClient } from '@deskwire/sdk'
import { expect, test } from 'vitest'
import { parcelRenamed, parcelRetyped, parcelWithUrgency } from '../../service/test/upgrade/parcel.fixture.ts'
import { makeParcels, startRelease } from '../../service/test/upgrade/releases.fixture.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import { Mirror, type MirrorOptions } from '../src/index.ts'
import { differencesByHand } from './by-hand.ts'
import { type Place, places } from './stores.ts'

const shared = sharedService()

const schemaOf = async (at: Place, table: string) => {
  const rows = await at.sql(`select * from _deskwire_schema where table_name = '${table}'`)
  return Object.fromEntries(
    rows.map(({ column_name, type, required, dropped, version }) => [
      column_name,
      { type, required: Boolean(required), dropped: Boolean(dropped), version: Number(version) },
    ]),
  )
}

test('fields are added, renamed, dropped and retyped while mirrors run, with and without `_body`', async () => {
  await using releases = await startRelease()
  await using stack = new AsyncDisposableStack()
  let { url } = releases.older
  let now = Date.now()
  const client = createClient({
    baseUrl: 'http://desk.invalid/v1',
    apiKey: releases.api.token,
    fetch: (asked, init) => fetch(asked.replace('http://desk.invalid', url), init),
  })
  const [first = '', second = ''] = await makeParcels(releases.api, 3)
  const copies: { at: Place; body: boolean; begin: () => Mirror; running: Mirror; troubles: string[] }[] = []
  const kinds = Object.values(places).flatMap((place) => [true, false].map((body) => ({ place, body })))
  for (const { place, body } of kinds) {
    const at = stack.use(await place(shared().database.connection))
    const troubles: string[] = []
    const options: Partial<MirrorOptions> = {
      select: body ? undefined : { body },
      now: () => now,
      onTrouble: ({ type }) => troubles.push(type),
    }
    const begin = () => {
      const mirror = new Mirror({ client, store: at.store(), ...options })
      stack.defer(() => mirror.close())
      return mirror
    }
    const running = begin()
    await running.catchUp()
    const { title, colour } = await schemaOf(at, 'parcels')
    expect([title, colour]).toEqual([
      { type: 'text', required: true, dropped: false, version: 1 },
      { type: 'text', required: false, dropped: false, version: 1 },
    ])
    copies.push({ at, body, begin, running, troubles })
  }

  /** The releases come, with a change; then the backfill; and each time the copies are exact, after another start as well. */
  const upgraded = async (
    release: typeof parcelRenamed,
    changed: object,
    seen: (at: Place) => Promise<void> = async () => {},
  ) => {
    const { service, api, backfill } = await releases.upgradeTo(release)
    url = service.url
    now += 120_000
    expect((await api.patch(`/v1/parcels/${first}`, changed)).status).toBe(200)
    for (const { running } of copies) await running.catchUp()
    for (const { at } of copies) await seen(at)
    await backfill.run()
    for (const { at, body, running, begin, troubles } of copies) {
      await running.catchUp()
      expect(await running.verify()).toMatchObject({ exact: true, rows: { parcel: 3 } })
      const again = begin()
      expect(await again.verify()).toMatchObject({ exact: true, rows: { parcel: 3 } })
      await again.close()
      if (body) expect(await differencesByHand(client, at.sql, ['parcels'])).toEqual([])
      // Without a text, values of what is there are only to be had from the service.
      expect(new Set(troubles)).toEqual(new Set(body ? [] : ['rebuilt']))
    }
  }

  const urgentOne = async (at: Place) =>
    expect(await at.sql('select id from parcels where urgent = true')).toEqual([{ id: first }])
  await upgraded(parcelWithUrgency, { urgent: true }, urgentOne)
  for (const { at } of copies) {
    await urgentOne(at)
    const { title, urgent } = await schemaOf(at, 'parcels')
    expect(urgent).toMatchObject({ type: 'boolean', required: false })
    expect(urgent?.version).toBeGreaterThan(title?.version ?? 0)
  }

  await upgraded(parcelRenamed, { name: 'Renamed' })
  for (const { at } of copies) {
    expect(await at.sql(`select name, title, colour from parcels where id = '${first}'`)).toEqual([
      { name: 'Renamed', title: null, colour: null },
    ])
    expect(await at.sql('select 1 from parcels where title is not null')).toEqual([])
    expect(await schemaOf(at, 'parcels')).toMatchObject({
      title: { required: false, dropped: true },
      colour: { dropped: true },
      name: { dropped: false },
    })
  }

  // A view of the user's stays where it is not in the way.
  for (const { at } of copies) await at.sql('create view names as select id, name from parcels')
  await upgraded(parcelRetyped, { urgent: 7 })
  for (const { at } of copies) {
    const rows = await at.sql(
      `select id, urgent from parcels where id in ('${first}', '${second}') order by urgent`,
    )
    expect(rows.map(({ id, urgent }) => [id, Number(urgent)])).toEqual([
      [second, 0],
      [first, 7],
    ])
    expect((await schemaOf(at, 'parcels')).urgent).toMatchObject({ type: 'integer' })
    expect(await at.sql('select * from names')).toHaveLength(3)
  }
})

const columnsOf = {
  PostgreSQL: `select column_name as name, udt_name as type, is_nullable = 'NO' as demanding
    from information_schema.columns where table_schema = current_schema() and table_name = `,
  SQLite: 'select name, type, "notnull" as demanding from pragma_table_info(',
  DuckDB:
    'select column_name as name, data_type as type, not is_nullable as demanding from duckdb_columns() where table_name = ',
}

const shapeOf = async (at: Place, name: keyof typeof columnsOf) => {
  const rows = await at.sql(`${columnsOf[name]}'customers'${name === 'SQLite' ? ')' : ''}`)
  return Object.fromEntries(rows.map((row) => [row.name, `${row.type}${row.demanding ? ' not null' : ''}`]))
}

const indexesOf = {
  PostgreSQL: "select indexname as name from pg_indexes where indexname = 'customers_updated_at'",
  SQLite: "select name from sqlite_schema where name = 'customers_updated_at'",
}

test.each(Object.entries(places))('columns of %s are what the service declares', async (store, placeOf) => {
  const name = store as keyof typeof columnsOf
  await using at = await placeOf(shared().database.connection)
  const { token } = await shared().newOrganization()
  const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: token })
  const tags = ['a, b', '{x}', 'null', '"']
  await client.customers.create({ name: 'Ada', tags })
  await client.customers.create({ name: 'Grace' })
  const mirror = new Mirror({ client, store: at.store() })
  await mirror.catchUp()
  const shape = await shapeOf(at, name)
  const [list, time] = {
    PostgreSQL: ['_text', 'timestamptz'],
    SQLite: ['TEXT', 'TEXT'],
    DuckDB: ['JSON', 'TIMESTAMP WITH TIME ZONE'],
  }[name]
  expect(shape).toMatchObject({
    tags: expect.stringMatching(new RegExp(`^${list} not null$`, 'i')),
    updated_at: expect.stringMatching(new RegExp(`^${time} not null$`, 'i')),
    email: expect.not.stringContaining('not null'),
  })
  if (name !== 'DuckDB') expect(await at.sql(indexesOf[name])).toHaveLength(1)
  if (name === 'PostgreSQL')
    expect(await at.sql(`select name from customers where 'a, b' = any(tags)`)).toEqual([{ name: 'Ada' }])
  expect((await mirror.verify()).exact).toBe(true)
  await mirror.close()
})

test.each(Object.entries(places))(
  'a copy in %s by the release before is taken over',
  async (store, placeOf) => {
    const name = store as keyof typeof columnsOf
    await using at = await placeOf(shared().database.connection)
    const { token } = await shared().newOrganization()
    const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: token })
    const ada = await client.customers.create({ name: 'Ada', tags: ['vip', 'a "b"'] })
    const gone = await client.customers.create({ name: 'Gone', tags: ['old'] })
    const begin = (options: Partial<MirrorOptions> = {}) =>
      new Mirror({ client, store: at.store(), ...options })
    const first = begin({ removals: 'mark' })
    await first.catchUp()
    await client.customers.delete(gone.id)
    await first.catchUp()
    await first.close()

    // Its tags were JSON, and it required nothing, had no index on `updated_at`, and no table of columns.
    const noted = async (note: string) =>
      JSON.parse(
        (await at.sql(`select value from deskwire_mirror where name = '${note}'`))[0]?.value as string,
      )
    const tables: [string, { name: string; columns: { name: string; type: string }[] }][] =
      await noted('live tables')
    for (const [, { name: table, columns }] of tables) {
      const loosened = columns
        .slice(1)
        .map(({ name: column }) => `alter table ${table} alter column "${column}" drop not null`)
      if (name !== 'SQLite') await at.sql(loosened.join('; '))
      if (name !== 'DuckDB') await at.sql(`drop index ${table}_updated_at`)
      for (const { name: column, type } of columns)
        if (type === 'texts' && name === 'PostgreSQL')
          await at.sql(`alter table ${table} alter column ${column} type jsonb using to_jsonb(${column})`)
    }
    await at.sql('drop table _deskwire_schema')
    await at.sql("delete from deskwire_mirror where name = 'schema'")
    const before = tables.map(([kind, table]) => [
      kind,
      {
        ...table,
        columns: table.columns.map((one) => ({
          ...one,
          type: one.type === 'texts' ? 'json' : one.type,
          required: undefined,
        })),
      },
    ])
    const note = (key: string, value: unknown) =>
      at.sql(
        `update deskwire_mirror set value = '${JSON.stringify(value).replaceAll("'", "''")}' where name = '${key}'`,
      )
    await note('live tables', before)
    await note('live', { ...(await noted('live')), form: 2 })
    if (name === 'PostgreSQL')
      await at.sql('create view vips as select id from customers where tags @> \'"vip"\'')

    const mirror = begin()
    if (name === 'PostgreSQL') {
      // What is in the way is named, and nothing is changed.
      await expect(mirror.catchUp()).rejects.toThrow(/view .*vips depends on column tags of table/)
      expect((await shapeOf(at, name)).tags).toBe('jsonb')
      await at.sql('drop view vips')
    }
    await client.customers.update(ada.id, { name: 'Augusta' })
    expect(await mirror.verify()).toMatchObject({ exact: true, rows: { customer: 1 } })
    expect(await differencesByHand(client, at.sql, ['customers'])).toEqual([])
    if (name === 'PostgreSQL') {
      expect((await shapeOf(at, name)).tags).toBe('_text')
      expect(await at.sql('select tags from customers order by name')).toEqual([
        { tags: ['vip', 'a "b"'] },
        { tags: ['old'] },
      ])
    }
    if (name !== 'DuckDB') expect(await at.sql(indexesOf[name])).toHaveLength(1)
    expect((await schemaOf(at, 'customers')).tags).toMatchObject({ type: 'texts' })
    await mirror.close()
  },
)
