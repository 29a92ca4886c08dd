/** A mirror and the place of its copy: what is in the way for a while is waited out, and what no mirror made is taken over only by order. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { createClient } from '@deskwire/sdk'
import { Client, type ClientConfig } from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { testDatabase } from '../../testbed/database.ts'
import { eventually } from '../../testbed/eventually.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import {
  Mirror,
  MirrorError,
  type MirrorOptions,
  NameTaken,
  type Store,
  statusOf,
  WriteRefused,
} from '../src/index.ts'
import { type DuckDb, duckDb, duckDbSettings } from './duckdb.ts'
import { type Place, places } from './stores.ts'

const shared = sharedService()

async function desk() {
  const { token } = await shared().newOrganization()
  const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: token })
  const { id } = await client.customers.create({ name: 'Ada' })
  return { client, id }
}

type Desk = Awaited<ReturnType<typeof desk>>

/** Follows until `clear` has been called at the first trouble and the copy has caught up; returns the troubles. */
async function waitedOut(options: MirrorOptions, clear: () => Promise<unknown>): Promise<string[]> {
  const stop = new AbortController()
  const troubles: string[] = []
  const mirror = new Mirror({
    ...options,
    onTrouble: (trouble) => troubles.push('error' in trouble ? trouble.error.message : trouble.type),
    onCaughtUp: () => troubles.length > 0 && stop.abort(new Error('seen enough')),
    sleep: async () => {
      if (troubles.length === 1) await clear()
      else await setTimeout(1)
    },
  })
  const following = mirror.follow({ signal: stop.signal })
  await expect(following).rejects.toThrow('seen enough')
  expect((await mirror.verify()).exact).toBe(true)
  await mirror.close()
  return troubles
}

async function copied({ client }: Desk, store: Store): Promise<void> {
  const mirror = new Mirror({ client, store })
  await mirror.catchUp()
  await mirror.close()
}

describe.each(Object.entries(places))('in %s', (name, placeOf) => {
  const place = (): Promise<Place> => placeOf(shared().database.connection)

  test("a foreign key of the user's is waited out", async () => {
    await using at = await place()
    const own = await desk()
    await copied(own, at.store())
    const type = name === 'SQLite' ? 'text' : 'uuid'
    await at.sql(`create table mine (customer ${type} references customers (id))`)
    await at.sql('insert into mine select id from customers')
    await own.client.customers.delete(own.id)
    const options = { client: own.client, store: at.store() }
    const troubles = await waitedOut(options, () => at.sql('drop table mine'))
    expect(troubles[0]).toMatch(/foreign key.*Look for foreign keys, views, triggers/i)
    expect(await at.sql('select id from customers')).toEqual([])
  })

  test.runIf(name !== 'DuckDB')("a trigger of the user's is waited out", async () => {
    await using at = await place()
    const own = await desk()
    await copied(own, at.store())
    if (name === 'PostgreSQL') {
      await at.sql(`create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'not today'; end $$`)
      await at.sql('create trigger refuse before delete on customers for each row execute function refuse()')
    } else
      await at.sql(
        `create trigger refuse before delete on customers begin select raise(abort, 'not today'); end`,
      )
    await own.client.customers.delete(own.id)
    const options = { client: own.client, store: at.store() }
    const drop = `drop trigger refuse${name === 'PostgreSQL' ? ' on customers' : ''}`
    const troubles = await waitedOut(options, () => at.sql(drop))
    expect(troubles[0]).toContain('not today')
  })

  test('nothing is adopted that is not asked for, or that does not fit', async () => {
    await using at = await place()
    const own = await desk()
    if (name === 'PostgreSQL') await at.occupy()
    await at.sql('create table customers (mine integer)')
    await at.sql('insert into customers values (1)')
    const begin = (adopts: boolean) => new Mirror({ client: own.client, store: at.store(), adopts })
    for (const [adopts, error] of [
      [false, NameTaken],
      [true, MirrorError],
    ] as const) {
      const mirror = begin(adopts)
      await expect(mirror.catchUp()).rejects.toThrow(error)
      await mirror.close()
    }
    expect(await at.sql('select mine from customers')).toEqual([{ mine: 1 }])
    const store = at.store()
    expect(await statusOf(store)).toBeUndefined()
    await store.close()
  })

  test('a view is called a view, and nothing is left of a copy that could not adopt it', async () => {
    await using at = await place()
    const own = await desk()
    if (name === 'PostgreSQL') await at.occupy()
    await at.sql('create view _deskwire_status as select 1 as one')
    const begin = (adopts: boolean) => new Mirror({ client: own.client, store: at.store(), adopts })
    for (const [adopts, message] of [
      [false, /^There is a table or view _deskwire_status that no mirror made/],
      [true, /^_deskwire_status cannot be adopted, and no table was changed: it is a view and not a table\./],
    ] as const) {
      const mirror = begin(adopts)
      await expect(mirror.catchUp()).rejects.toThrow(message)
      await mirror.close()
    }
    await expect(at.sql('select * from customers')).rejects.toThrow(/customers/)
    await expect(at.sql('select * from _deskwire_schema')).rejects.toThrow(/_deskwire_schema/)
    await at.sql('drop view _deskwire_status')
    await copied(own, at.store())
  })

  test('tables without notes are adopted by order, with views on them', async () => {
    await using at = await place()
    const own = await desk()
    await copied(own, at.store())
    await at.sql('create view names as select name from customers')
    // As after a restore of the tables alone.
    await at.sql('delete from deskwire_mirror')
    await own.client.customers.update(own.id, { name: 'Grace' })
    const refused = new Mirror({ client: own.client, store: at.store() })
    await expect(refused.catchUp()).rejects.toThrow(/--adopt/)
    await refused.close()
    const mirror = new Mirror({ client: own.client, store: at.store(), adopts: true })
    await mirror.catchUp()
    expect(await mirror.verify()).toMatchObject({ exact: true, rows: { customer: 1 } })
    expect(await at.sql('select name from names')).toEqual([{ name: 'Grace' }])
    await mirror.close()
  })
})

test('an SQLite file that another process has locked is waited out', async () => {
  await using at = await places.SQLite()
  const own = await desk()
  const { file } = at.address as { file: string }
  await copied(own, at.store())
  const other = new DatabaseSync(file)
  other.exec('pragma journal_mode = delete; begin exclusive')
  await own.client.customers.update(own.id, { name: 'Grace' })
  const { SqliteStore } = await import('../src/stores/sqlite.ts')
  const store = new SqliteStore({ file, busyMs: 1 })
  const troubles = await waitedOut({ client: own.client, store }, async () => other.close())
  expect(troubles[0]).toMatch(/^SQLite: database is locked\. Another program writes to the file.*\.$/)
})

test('a file of SQLite is one that anybody can read once it is closed, and is not changed by a look', async () => {
  await using at = await places.SQLite()
  const own = await desk()
  const { file } = at.address as { file: string }
  const names = () => readdirSync(dirname(file))
  // What a reader needs besides the file, which it could not make in a place that is read-only.
  const isInWalMode = () => readFileSync(file)[18] === 2
  const store = at.store()
  const mirror = new Mirror({ client: own.client, store })
  await mirror.catchUp()
  expect([isInWalMode(), names()]).toEqual([true, ['copy.db', 'copy.db-shm', 'copy.db-wal']])
  const reader = new DatabaseSync(file, { readOnly: true })
  reader.exec('begin; select * from customers')
  await mirror.close()
  // Others are not waited for.
  expect(isInWalMode()).toBe(true)
  reader.close()
  await copied(own, at.store())
  expect([isInWalMode(), names()]).toEqual([false, ['copy.db']])
  const before = await at.look()
  const looking = at.store()
  expect(await statusOf(looking)).toMatchObject({ lagSeconds: expect.any(Number) })
  await looking.close()
  expect(await at.look()).toEqual(before)
})

test('a file of SQLite that is damaged is reported with what to do', async () => {
  await using at = await places.SQLite()
  const own = await desk()
  const { file } = at.address as { file: string }
  await copied(own, at.store())
  const bytes = readFileSync(file)
  // All pages but the first, which has the names of the tables.
  writeFileSync(file, bytes.fill(0xff, bytes.readUInt16BE(16)))
  const mirror = new Mirror({ client: own.client, store: at.store() })
  const refused = mirror.catchUp()
  await expect(refused).rejects.toThrow(MirrorError)
  await expect(refused).rejects.toThrow(/^SQLite: .*malformed\. Move the file away, .*\.$/)
  await mirror.close()
})

test('a PostgreSQL that refuses writes until it is promoted is waited out', async () => {
  await using at = await places.PostgreSQL(shared().database.connection)
  const own = await desk()
  await copied(own, at.store())
  await own.client.customers.update(own.id, { name: 'Grace' })
  const { schema } = at.address as { schema: string }
  const { PostgresStore } = await import('../src/stores/postgres.ts')
  const connection = { ...shared().database.connection, options: `-c default_transaction_read_only=on` }
  const target = { ...connection }
  // A standby refuses writes until it is promoted.
  const troubles = await waitedOut(
    { client: own.client, store: new PostgresStore({ connection: target, schema }) },
    async () => {
      target.options = ''
    },
  )
  expect(troubles[0]).toMatch(
    /^PostgreSQL: cannot execute .* in a read-only transaction\. The server is a standby, or default_transaction_read_only is on .*\.$/,
  )
})

test('a table of PostgreSQL that another session has locked is waited out', async () => {
  await using at = await places.PostgreSQL(shared().database.connection)
  const own = await desk()
  await copied(own, at.store())
  await own.client.customers.update(own.id, { name: 'Grace' })
  await at.sql('begin; lock table customers')
  const { PostgresStore } = await import('../src/stores/postgres.ts')
  const store = new PostgresStore({
    ...(at.address as { connection: ClientConfig; schema: string }),
    busyMs: 20,
  })
  const troubles = await waitedOut({ client: own.client, store }, () => at.sql('commit'))
  expect(troubles[0]).toMatch(/^PostgreSQL: .* lock timeout\. Another session has locked tables .*\.$/)
})

test('a role of PostgreSQL that may not create is told what to grant', async () => {
  const own = await desk()
  await using database = await testDatabase({ template: null })
  await database.pool.query(`revoke create on database ${database.name} from current_user`)
  const { PostgresStore } = await import('../src/stores/postgres.ts')
  const store = new PostgresStore({ connection: database.connection })
  const mirror = new Mirror({ client: own.client, store })
  const refused = mirror.catchUp()
  await expect(refused).rejects.toThrow(WriteRefused)
  await expect(refused).rejects.toThrow(/^PostgreSQL: permission denied .*\. Grant the role create .*\.$/)
  await mirror.close()
})

test('a table of PostgreSQL that was adopted without a primary key is named as the cause', async () => {
  await using at = await places.PostgreSQL(shared().database.connection)
  const own = await desk()
  await copied(own, at.store())
  await at.sql('alter table customers drop constraint customers_pkey')
  await own.client.customers.update(own.id, { name: 'Grace' })
  const mirror = new Mirror({ client: own.client, store: at.store() })
  await expect(mirror.catchUp()).rejects.toThrow(
    /^PostgreSQL: .* A table that was adopted has no primary key/,
  )
  await at.sql('alter table customers add primary key (id)')
  await mirror.catchUp()
  await mirror.close()
})

test('a database of PostgreSQL that cannot hold every text is refused at the start', async () => {
  const { pool, connection } = shared().database
  const database = `latin_${randomUUID().replaceAll('-', '')}`
  await pool.query(
    `create database ${database} template template0 encoding 'LATIN1' locale_provider libc locale 'C'`,
  )
  try {
    const own = await desk()
    const { PostgresStore } = await import('../src/stores/postgres.ts')
    const store = new PostgresStore({ connection: { ...connection, database } })
    const mirror = new Mirror({ client: own.client, store })
    const refused = mirror.catchUp()
    await expect(refused).rejects.toThrow(MirrorError)
    await expect(refused).rejects.toThrow(/encoded in LATIN1, which cannot hold every text.*encoding 'UTF8'/)
    await mirror.close()
  } finally {
    await pool.query(`drop database ${database}`)
  }
})

test('sessions of PostgreSQL, which a pooler gives to other programs, are left as they were', async () => {
  const connected = vi.spyOn(Client.prototype, 'connect')
  onTestFinished(() => connected.mockRestore())
  const own = await desk()
  await using at = await places.PostgreSQL(shared().database.connection)
  const mirror = new Mirror({ client: own.client, store: at.store(), removals: 'mark', history: true })
  await mirror.catchUp()
  await own.client.customers.delete(own.id)
  expect((await mirror.verify()).exact).toBe(true)
  // Those of the service, and that of the place, have a name or a search path.
  interface Session extends Client {
    readonly connectionParameters: Partial<Record<'application_name' | 'options', string>>
  }
  const sessions = (connected.mock.contexts as Session[]).filter(
    ({ connectionParameters: { application_name, options } }) => !application_name && !options,
  )
  // The first has looked whether there is a copy, and is closed; the others write and read.
  expect(sessions).toHaveLength(3)
  const left = `select name from pg_settings where source = 'session' union all select name from pg_prepared_statements
    union all select 'a lock' from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`
  for (const session of sessions.slice(1)) expect((await session.query(left)).rows).toEqual([])
  await mirror.close()
})

const duckDbIn = async (directory: string, name: string) => {
  const { DuckDbStore } = await import('../src/stores/duckdb.ts')
  return new DuckDbStore({ file: join(directory, name), settings: duckDbSettings, rewrites: true })
}

test.runIf(duckDb)('DuckDB names the database of a file, and names of its own are refused', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-mirror-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const own = await desk()
  for (const name of ['MAIN.duckdb', 'Temp.duckdb', 'System.x.duckdb']) {
    const mirror = new Mirror({ client: own.client, store: await duckDbIn(directory, name) })
    await expect(mirror.catchUp()).rejects.toThrow(
      /^DuckDB names a database after its file, and reserves main, system, temp\. Give .*\.$/,
    )
    await mirror.close()
  }
  expect(readdirSync(directory)).toEqual([])
  for (const [name, database] of [
    ['main.duckdb', 'main_db'],
    ['.a.b.duckdb', 'a'],
    ['customers.duckdb', 'customers'],
  ] as const) {
    const store = await duckDbIn(directory, name)
    const mirror = new Mirror({ client: own.client, store })
    await mirror.catchUp()
    expect([store.databaseName, (await mirror.verify()).exact]).toEqual([database, true])
    await mirror.close()
  }
})

test.runIf(duckDb)('files of DuckDB hold nothing of an erased person once they are closed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-mirror-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'copy.duckdb')
  const [scratch, out] = [join(directory, 'scratch'), join(directory, 'out')]
  const { exportParquet } = await import('../src/parquet.ts')
  const own = await desk()
  await own.client.customers.update(own.id, { name: 'Zarathustra' })
  await own.client.customers.create({ name: 'Grace' })
  const bytes = () =>
    [directory, scratch].flatMap((at) =>
      readdirSync(at, { withFileTypes: true }).map((one) =>
        one.isFile() ? readFileSync(join(at, one.name), 'latin1') : '',
      ),
    )
  const copy = async () => {
    const store = await duckDbIn(directory, 'copy.duckdb')
    const mirror = new Mirror({ client: own.client, store, history: true })
    await mirror.catchUp()
    await exportParquet({ client: own.client, directory: out, scratch })
    return mirror
  }
  await (await copy()).close()
  chmodSync(file, 0o640)
  const { DuckDBInstance } = duckDb as DuckDb
  const add = await DuckDBInstance.fromCache(file)
  const adding = await add.connect()
  await adding.run(
    'create view names as select name from customers; create view first as select min(name) from names',
  )
  adding.closeSync()
  add.closeSync()
  const holding = bytes().filter((text) => text.includes('Zarathustra'))
  expect(holding).toHaveLength(2)
  await own.client.customers.erase(own.id)
  // While another connection of this process is open, nothing is replaced.
  const open = await DuckDBInstance.fromCache(file, duckDbSettings)
  const opened = await open.connect()
  await (await copy()).close()
  opened.closeSync()
  open.closeSync()
  expect(bytes().filter((text) => text.includes('Zarathustra'))).toHaveLength(1)
  const real = join(directory, 'real')
  renameSync(file, real)
  symlinkSync(real, file)
  await (await copy()).close()
  expect(bytes().filter((text) => text.includes('Zarathustra'))).toEqual([])
  expect(readdirSync(directory).sort()).toEqual(['copy.duckdb', 'out', 'real', 'scratch'])
  expect([lstatSync(file).isSymbolicLink(), statSync(file).mode & 0o777]).toEqual([true, 0o640])
  const again = await copy()
  expect((await again.verify()).exact).toBe(true)
  await again.close()
  const looking = await DuckDBInstance.fromCache(file, duckDbSettings)
  const at = await looking.connect()
  const read = async (sql: string) => (await at.runAndReadAll(sql)).getRowsJson()
  expect(await read('select * from first')).toEqual([['Grace']])
  expect(
    await read("select comment is not null from duckdb_tables() where table_name = 'customers'"),
  ).toEqual([[true]])
  at.closeSync()
  looking.closeSync()
})

test.runIf(duckDb)('a DuckDB file that another process has open is waited out', async () => {
  const at = await places.DuckDB?.()
  if (at === undefined) return
  await using _ = at
  const own = await desk()
  const { file } = at.address as { file: string }
  await copied(own, at.store())
  const program = `import('@duckdb/node-api').then(async ({ DuckDBInstance }) => {
    globalThis.held = await DuckDBInstance.create(${JSON.stringify(file)})
    console.log('open')
    setInterval(() => {}, 1000)
  })`
  const other = spawn(process.execPath, ['-e', program], { cwd: import.meta.dirname })
  let said = ''
  other.stdout.on('data', (text) => {
    said += text
  })
  const ended = new Promise((resolve) => other.once('exit', resolve))
  try {
    await eventually('it is open', () => said.includes('open'))
    await own.client.customers.update(own.id, { name: 'Grace' })
    const troubles = await waitedOut({ client: own.client, store: at.store() }, async () => {
      other.kill('SIGKILL')
      await ended
    })
    expect(troubles[0]).toContain('is open in another process')
  } finally {
    other.kill('SIGKILL')
  }
})
