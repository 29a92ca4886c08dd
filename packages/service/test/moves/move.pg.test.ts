/** An organization moves from one database to another: all of it, once, wherever its mover is killed, beside whoever works with it. */
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import pino from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../../../cli/test/run-here.ts'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { follow } from '../../../testbed/follower.ts'
import { makeWebhook } from '../../../testbed/hooks.ts'
import { httpReader } from '../../../testbed/http-follower.ts'
import { makeKey } from '../../../testbed/keys.ts'
import { waitingBackends } from '../../../testbed/locks.ts'
import { type Api, createApi, type TestService } from '../../../testbed/service.ts'
import { socketUrl, startDeskwire } from '../../../testbed/services.ts'
import { severalDatabases } from '../../../testbed/several-databases.ts'
import { rowsWith } from '../../../testbed/stored.ts'
import { recheckAfter } from '../../src/auth/authenticator.ts'
import { createDirectory } from '../../src/databases/directory.ts'
import { notServedCode } from '../../src/db/not-served.ts'
import { stopwatch, systemClock } from '../../src/kernel/timestamps.ts'
import { fenceLimits, finishMoves } from '../../src/moves/cutover.ts'
import {
  abortMove,
  type Databases,
  dropSource,
  type MoveOptions,
  moveOrganization,
} from '../../src/moves/move.ts'
import { movingTables } from '../../src/moves/tables.ts'
import { createOrganization } from '../../src/organization/create.ts'
import { deleteOrganization } from '../../src/organization/deletion.ts'
import { resumeOrganization, suspendOrganization } from '../../src/organization/suspension.ts'
import { type FullDesk, fullDesk } from '../backup/full-desk.fixture.ts'

let desk: FullDesk
let there: TestDatabase
beforeAll(async () => {
  desk = await fullDesk()
  there = await testDatabase()
})
afterAll(async () => {
  await there[Symbol.asyncDispose]()
  await desk[Symbol.asyncDispose]()
})

/** A fence that stands however busy the machine is. */
const fence = { within: 30_000, lastsFor: 60_000 }
const asFastAsCanBe: MoveOptions = { rowsAStep: 500, fence }

function databasesOf(one: Pool, two: Pool): Databases {
  return {
    pools: new Map([
      ['one', one],
      ['two', two],
    ]),
    directory: createDirectory(one, 'one'),
    clock: systemClock,
  }
}

/** All rows of the organization, by table, but for what a move changes of it. */
async function rowsOf(pool: Pool, organizationId: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const { name, columns } of await movingTables(pool)) {
    const told = columns.filter((column) => column !== 'moves')
    // Of what commits have counted the latest, which says all.
    const latest =
      name === 'commits'
        ? 'and t.stamp = (select max(c.stamp) from commits c where c.organization_id = t.organization_id and c.kind = t.kind)'
        : ''
    const { rows } = await pool.query<{ row: string }>(
      `select row(${told.join(', ')})::text as row from ${name} t where t.organization_id = $1 ${latest} order by 1`,
      [organizationId],
    )
    found[name] = rows.map(({ row }) => row)
  }
  return found
}

async function isServedBy(pool: Pool, organizationId: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'select 1 from organizations o where o.organization_id = $1 and o.away is null',
    [organizationId],
  )
  return rowCount === 1
}

/** The pools of a process that is killed at its n-th statement. */
function killedAt(pools: readonly Pool[], n: number): readonly Pool[] {
  let left = n
  // What is dead goes on with nothing; the database rolls its transaction back.
  const dies = (call: readonly unknown[]) => {
    if (call[0] !== 'rollback' && left-- <= 0) throw new Error('killed')
  }
  return pools.map((pool) => {
    const query = async (...call: unknown[]) => {
      dies(call)
      return Reflect.apply(pool.query, pool, call)
    }
    const connect = async () => {
      const client = await pool.connect()
      return new Proxy(client, {
        get(target, name) {
          if (name === 'query')
            return (...call: unknown[]) => {
              // A COPY is no promise that could be rejected.
              if (typeof call[0] === 'string') dies(call)
              return Reflect.apply(target.query, target, call)
            }
          const value: unknown = Reflect.get(target, name, target)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
    }
    return { query, connect } as unknown as Pool
  })
}

test('a whole desk, its mover killed at one statement after another, is there with every row, and one database serves it', {
  timeout: 600_000,
}, async () => {
  const { pool } = desk.service.database
  const [moved, stays] = desk.apis.map((api) => api.organizationId) as [string, string]
  const before = await rowsOf(pool, moved)
  const neighbour = await rowsOf(pool, stays)
  expect(Object.values(before).filter((rows) => rows.length === 0)).toEqual([])
  let killed = 0
  // Each run begins at another statement.
  for (let n = Date.now() % 37; ; n += 37) {
    const [one, two] = killedAt([pool, there.pool], n) as [Pool, Pool]
    const ended = await moveOrganization(databasesOf(one, two), moved, 'two', asFastAsCanBe).catch(
      (error: Error) => error.message,
    )
    const served = await Promise.all([pool, there.pool].map((each) => isServedBy(each, moved)))
    expect(served.filter(Boolean).length, `killed at ${n}`).toBeLessThan(2)
    if (ended === 'killed') {
      killed++
      continue
    }
    expect(ended).toMatchObject({ from: expect.any(String), to: 'two' })
    expect(served).toEqual([false, true])
    break
  }
  expect(killed).toBeGreaterThan(7)
  expect(await rowsOf(there.pool, moved)).toEqual(before)
  expect(await rowsOf(pool, stays)).toEqual(neighbour)

  // Nobody writes where it was, whatever the table; and nothing is left when it is dropped.
  for (const write of [
    'update customers set body = body where organization_id = $1',
    'update endpoint_queues set due_at = now() where organization_id = $1',
    `update organizations set name = 'x' where organization_id = $1`,
    'delete from api_keys where organization_id = $1',
  ])
    await expect(pool.query(write, [moved])).rejects.toMatchObject({ code: notServedCode, detail: 'moved' })
  await desk.service.app.maintenance.run()
  await expect(moveOrganization(databasesOf(pool, there.pool), moved, 'one')).rejects.toThrow(
    'organizations drop-source',
  )
  expect(await dropSource(databasesOf(pool, there.pool), moved, 'one')).toBeGreaterThan(1_000)
  expect(Object.values(await rowsOf(pool, moved)).flat()).toEqual([])
  await expect(dropSource(databasesOf(pool, there.pool), moved, 'one')).rejects.toThrow('holds nothing')
  await expect(dropSource(databasesOf(pool, there.pool), moved, 'two')).rejects.toThrow('lives in two')

  // And back again, broken off between any two steps; then somebody else finishes.
  const broken = new Set<string>()
  const breaking: MoveOptions = {
    ...asFastAsCanBe,
    between(step) {
      if (broken.has(step)) return
      broken.add(step)
      throw new Error(`broken off: ${step}`)
    },
  }
  const databases = databasesOf(pool, there.pool)
  while (!broken.has('left')) {
    await expect(moveOrganization(databases, moved, 'one', breaking)).rejects.toThrow('broken off')
    expect(await isServedBy(there.pool, moved)).toBe(!broken.has('left'))
  }
  expect([...broken]).toEqual([
    'noted',
    'capturing',
    'cleared',
    'copying',
    'comparing',
    'drained',
    'fenced',
    'brought',
    'leaving',
    'left',
  ])
  expect(await isServedBy(pool, moved)).toBe(false)
  expect(await finishMoves('two', databases)).toBe(1)
  expect(await finishMoves('two', databases)).toBe(0)
  expect(await databases.directory.databaseOf(moved)).toEqual({ database: 'one', moves: 2 })
  expect(await rowsOf(pool, moved)).toEqual(before)
  expect(await moveOrganization(databases, moved, 'one')).toMatchObject({ outcome: 'unchanged' })
  await dropSource(databases, moved, 'two')
})

test('what cannot be moved is refused, and nothing of it changes; what was begun can be taken back', {
  timeout: 300_000,
}, async () => {
  const { pool } = desk.service.database
  const { organizationId } = desk.apis[1] as Api
  const databases = databasesOf(pool, there.pool)
  const refused = (to = 'two') => expect(moveOrganization(databases, organizationId, to)).rejects
  await refused('three').toThrow('there is no database three: DESKWIRE_DATABASES names one, two')
  await expect(moveOrganization(databases, randomUUID(), 'two')).rejects.toThrow('there is no organization')
  await suspendOrganization(pool, systemClock, organizationId)
  await refused().toThrow('is suspended')
  await resumeOrganization(pool, systemClock, organizationId)
  const before = await rowsOf(pool, organizationId)
  const named = (pool: Pool, key: string) =>
    pool.query('update installation set key_check = $1, previous_key_check = $2', [Buffer.from(key), null])
  const { rows } = await pool.query<{ key_check: Buffer | null }>('select i.key_check from installation i')
  await named(there.pool, 'another')
  await refused().toThrow('do not name the same encryption key')
  await there.pool.query('update installation set key_check = $1', [rows[0]?.key_check])
  await there.pool.query(`delete from schema_migrations where id = '20261128-03-baseline'`)
  await refused().toThrow(
    'two has an older schema, without the migration 20261128-03-baseline: run deskwire migrate',
  )
  await there.pool.query(`insert into schema_migrations (id) values ('20261128-03-baseline')`)

  await expect(
    moveOrganization(databases, organizationId, 'two', {
      ...asFastAsCanBe,
      between(step) {
        if (step === 'comparing') throw new Error('broken off')
      },
    }),
  ).rejects.toThrow('broken off')
  await refused('three').toThrow('no database three')
  await expect(deleteOrganization(pool, systemClock, organizationId)).rejects.toThrow('is being moved')
  expect((await rowsOf(there.pool, organizationId)).customers).toEqual(before.customers)
  expect(await abortMove(databases, organizationId)).toBe('aborted')
  expect(await abortMove(databases, organizationId)).toBe('none')
  expect(Object.values(await rowsOf(there.pool, organizationId)).flat()).toEqual([])
  expect(await rowsOf(pool, organizationId)).toEqual(before)
  const { rows: left } = await pool.query(`select t.tgname from pg_trigger t where t.tgname like 'moving%'`)
  expect(left).toEqual([])

  // What a copy has that its source has not is found before the turn.
  await expect(
    moveOrganization(databases, organizationId, 'two', {
      ...asFastAsCanBe,
      async between(step) {
        if (step !== 'capturing') return
        await there.pool.query('select 1')
        await pool.query('alter table customers disable trigger user')
        await pool.query(
          `update customers set body = body || ' ' where organization_id = $1 and removed_at is null`,
          [organizationId],
        )
        await pool.query('alter table customers enable trigger user')
      },
    }),
  ).rejects.toThrow(/the copy is not what the source is \(customer: /)
  await abortMove(databases, organizationId)
  await expect(
    moveOrganization(databases, organizationId, 'two', {
      ...asFastAsCanBe,
      async between(step) {
        if (step === 'comparing')
          await there.pool.query(
            `update customers_words set terms = terms || ' x' where organization_id = $1`,
            [organizationId],
          )
      },
    }),
  ).rejects.toThrow(/the copy is not what the source is \(/)
  await abortMove(databases, organizationId)
  await deleteOrganization(pool, systemClock, organizationId)
  await refused().toThrow('there is no organization')
})

/** Runs `deskwire organizations` on the databases with these names and addresses. */
function orgCommands(databases: Readonly<Record<string, TestDatabase['connection']>>) {
  return async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await runHere(['organizations', ...args, '--json'], {
      settings: settingsOf(databases),
    })
    return { code, said: stdout + stderr }
  }
}

function settingsOf(databases: Readonly<Record<string, TestDatabase['connection']>>) {
  const lines = Object.entries(databases).map(([name, connection]) => `${name} ${socketUrl(connection)}`)
  return { DESKWIRE_DATABASES: lines.join(';') }
}

test('the command, killed while it copies, goes on when it is run again; its traces are removed by another', {
  timeout: 300_000,
}, async () => {
  const { pool, connection } = desk.service.database
  const { organizationId } = await desk.service.newOrganization('Commanded')
  const places = { one: connection, two: there.connection }
  const command = orgCommands(places)
  await using killed = startDeskwire(['organizations', 'move', organizationId, '--to', 'two'], {
    settings: settingsOf(places),
  })
  await eventually('it has begun', async () => {
    const { rowCount } = await pool.query('select 1 from organization_moves m where m.organization_id = $1', [
      organizationId,
    ])
    return rowCount === 1
  })
  expect(await killed.end('SIGKILL')).toEqual({ code: null, stdout: '', stderr: '' })
  expect(await isServedBy(pool, organizationId)).toBe(true)
  const { code, said } = await command('move', organizationId, '--to', 'two')
  expect([code, said]).toEqual([0, expect.stringContaining('"outcome":"moved","from":"one","to":"two"')])
  const dropped = await command('drop-source', organizationId, '--from', 'two')
  expect(dropped).toEqual({
    code: 1,
    said: `deskwire: organization ${organizationId} lives in two\n`,
  })
  // No request that was let in before the move reads without looking again.
  const elapsed = stopwatch()
  const dropping = dropSource(databasesOf(pool, there.pool), organizationId, 'one')
  await eventually('the first rows are gone', async () => {
    const { rowCount } = await pool.query('select 1 from api_keys k where k.organization_id = $1', [
      organizationId,
    ])
    return rowCount === 0
  })
  expect(elapsed()).toBeGreaterThan(recheckAfter)
  await dropping
})

test('a fence whose mover does nothing more falls by itself: writes that waited go on at the source, and another mover brings them along', async () => {
  const { database } = desk.service
  const { pool } = database
  const api = await desk.service.newOrganization('Held')
  const { organizationId } = api
  const databases = databasesOf(pool, there.pool)
  await makeCustomer(api, { name: 'before' })
  const writes: ReturnType<Api['post']>[] = []
  let answered = 0
  let held = 0
  const gone = moveOrganization(databases, organizationId, 'two', {
    ...asFastAsCanBe,
    fence: { within: 30_000, lastsFor: fenceLimits.lastsFor },
    async between(step) {
      if (step !== 'fenced') return
      for (let n = 0; n < 5; n++) {
        const writing = api.post('/v1/customers', { name: `held ${n}` })
        writes.push(writing)
        void writing.then(() => answered++)
      }
      await waitingBackends(database, 1)
      expect(answered).toBe(0)
      // The server ends it, while the mover does nothing.
      const elapsed = stopwatch()
      await Promise.all(writes)
      held = elapsed()
      // It would find its connection gone, and go on.
      throw new Error('this mover is gone too')
    },
  })
  await expect(gone).rejects.toThrow('this mover is gone too')
  // A statement, and a transaction of any other, would have had thirty seconds.
  expect(held).toBeLessThan(20_000)
  expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(writes.map(() => 201))
  expect(await isServedBy(pool, organizationId)).toBe(true)
  expect(await isServedBy(there.pool, organizationId)).toBe(false)
  const { rows } = await pool.query('select 1 from customers c where c.organization_id = $1', [
    organizationId,
  ])
  expect(rows).toHaveLength(6)
  expect((await moveOrganization(databases, organizationId, 'two', asFastAsCanBe)).outcome).toBe('moved')
  const { rows: moved } = await there.pool.query<{ body: string }>(
    'select c.body from customers c where c.organization_id = $1',
    [organizationId],
  )
  const named = moved.map(({ body }) => (JSON.parse(body) as { name: string }).name)
  expect(named.sort()).toEqual(['before', ...writes.map((_, n) => `held ${n}`)])
  await dropSource(databases, organizationId, 'one')
})

test('writers, a follower, a waiting reader and a receiver do not notice a move', {
  timeout: 300_000,
}, async () => {
  await using several = await severalDatabases()
  const [one, two] = several.databases as [TestDatabase, TestDatabase]
  const databases = databasesOf(one.pool, two.pool)
  const api = await several.startApi()
  const desk = await several.newOrganization(0, api.address)
  const { organizationId, token } = desk
  const app = { server: { log: pino({ level: 'silent' }) } }
  const engines = [one, two].map((database) =>
    testEngine({ database, app } as unknown as TestService, systemClock),
  )
  for (const { engine } of engines) engine.start()
  await makeWebhook(desk, { events: ['customer.created', 'customer.updated'] })

  const written = new Map<string, string>()
  const refused: string[] = []
  let writing = true
  const write = async (writer: number, n: number) => {
    const key = { 'idempotency-key': `${writer}-${n}` }
    const made = await desk.post('/v1/customers', { name: `${writer} ${n}` }, key)
    // The same again is the same answer, wherever it is asked.
    const again = await desk.post('/v1/customers', { name: `${writer} ${n}` }, key)
    const changed = await desk.patch(
      `/v1/customers/${made.json.id}`,
      { name: `${writer} ${n} changed` },
      { 'if-match': made.headers.get('etag') ?? '' },
    )
    if (made.status !== 201 || again.text !== made.text || changed.status !== 200)
      refused.push(`${made.text} ${again.text} ${changed.text}`)
    written.set(made.json.id, changed.text)
  }
  const writers = Promise.all(
    Array.from({ length: 4 }, async (_, writer) => {
      for (let n = 0; writing; n++) await write(writer, n)
    }),
  )
  const follower = follow(httpReader({ url: () => api.address, token, kind: 'customers', limit: 50 }))
  const following = (async () => {
    while (writing) await follower.poll()
  })()
  // Of a kind of which nothing happens until the organization has moved.
  const { json: first } = await desk.get('/v1/teammates?updatedAfter=2000-01-01T00:00:00Z')
  const waited = desk.get(`/v1/teammates?cursor=${first.pagination.nextCursor}&wait=50`)

  await eventually('something was written', () => written.size > 10)
  const told = await moveOrganization(databases, organizationId, 'two', { rowsAStep: 300, fence })
  const before = written.size
  await eventually('as much was written there', () => written.size > before + 10)
  writing = false
  await Promise.all([writers, following])
  await follower.drain()
  const { json: mate } = await desk.post('/v1/teammates', { name: 'Ada', email: 'ada@example.com' })
  const { status, json: news } = await waited
  expect([status, news.data.map(({ id }: { id: string }) => id)]).toEqual([200, [mate.id]])
  expect(refused).toEqual([])
  expect(told).toMatchObject({ outcome: 'moved', from: 'one', to: 'two' })
  expect(follower.faults).toEqual([])
  expect([...written].filter(([id, body]) => follower.copy.get(id) !== body)).toEqual([])
  expect(follower.copy.size).toBe(written.size)

  // Each event is told of, and what was sent where it was is not sent again where it is.
  const sent = () => engines.flatMap(({ sent }) => sent.map(({ headers }) => headers['x-service-event-id']))
  await eventually('everything is delivered', () => new Set(sent()).size === 2 * written.size)
  expect(sent().length).toBe(new Set(sent()).size)
  expect(engines.map(({ sent }) => sent.length > 10)).toEqual([true, true])
  for (const { engine } of engines) await engine.stop()
})

test('deletes and suspends an organization in every database that holds a copy of it', {
  timeout: 300_000,
}, async () => {
  await using third = await testDatabase()
  const { pool, connection } = desk.service.database
  const pools = [pool, there.pool, third.pool]
  const places = { one: connection, two: there.connection, three: third.connection }
  const run = orgCommands(places)
  const api = await desk.service.newOrganization('Much moved')
  const { organizationId } = api
  await makeCustomer(api)
  await makeWebhook(api)
  for (const to of ['two', 'three'])
    expect(await run('move', organizationId, '--to', to)).toMatchObject({ code: 0 })
  const traces = async () =>
    Promise.all(pools.map(async (one) => Object.keys(await rowsWith(one, organizationId))))
  expect((await traces()).map((tables) => tables.includes('api_key_tokens'))).toEqual([true, true, true])

  const listed = async () =>
    (JSON.parse((await run('list')).said) as { organizations: { organizationId: string }[] }).organizations
      .filter((one) => one.organizationId === organizationId)
      .map(({ organizationId: _, ...shown }) => shown)
  expect(await listed()).toMatchObject([{ database: 'three', status: 'active' }])
  expect(await run('suspend', organizationId)).toMatchObject({ code: 0 })
  expect(await listed()).toMatchObject([{ database: 'three', status: 'suspended' }])
  for (const one of pools) {
    const { rows } = await one.query<{ suspended: boolean }>(
      'select o.suspended_at is not null as suspended from organizations o where o.organization_id = $1',
      [organizationId],
    )
    expect(rows).toEqual([{ suspended: true }])
  }
  expect(await run('resume', organizationId)).toMatchObject({ code: 0 })

  // A database that cannot be reached: it is closed, and what is left goes when it is there again.
  const away = { ...connection, host: `${connection.host}-away` }
  const without = orgCommands({ ...places, two: { ...there.connection, host: away.host } })
  const unfinished = await without('delete', organizationId, '--yes', organizationId)
  expect(unfinished).toEqual({
    code: 1,
    said: expect.stringMatching(/^deskwire: the database two cannot be used: [^\n]*run it again[^\n]*\n$/),
  })
  expect((await traces()).map((tables) => tables.includes('api_keys'))).toEqual([false, true, false])
  expect(await listed()).toMatchObject([{ database: 'two', status: 'deleting' }])
  expect(await run('delete', organizationId, '--yes', organizationId)).toMatchObject({ code: 0 })
  expect(await traces()).toEqual([[], [], []])
  expect(await run('delete', organizationId, '--yes', organizationId)).toEqual({
    code: 2,
    said: `deskwire: there is no organization ${organizationId}\n`,
  })
})

test('removes copies that the directory no longer knows of, and lets nobody in with their tokens', {
  timeout: 300_000,
}, async () => {
  await using several = await severalDatabases()
  const [one, two] = several.databases as [TestDatabase, TestDatabase]
  const { address } = await several.startApi()
  const api = await several.newOrganization(0, address)
  const { organizationId } = api
  const run = orgCommands({ one: one.connection, two: two.connection })
  await moveOrganization(databasesOf(one.pool, two.pool), organizationId, 'two', asFastAsCanBe)
  await deleteOrganization(two.pool, systemClock, organizationId)
  await several.directory.forget(organizationId)
  expect((await api.get('/v1/customers')).status).toBe(401)
  expect(JSON.parse((await run('list')).said)).toMatchObject({
    organizations: [{ organizationId, status: 'deleting', database: 'one' }],
  })
  expect(await run('delete', organizationId, '--yes', organizationId)).toMatchObject({ code: 0 })
  expect(await rowsWith(one.pool, organizationId)).toEqual({})
  expect(await run('list')).toEqual({ code: 0, said: '{"organizations":[]}\n' })
})

test('moves to a database whose log began its week without a partition', async () => {
  await using target = await testDatabase()
  const { pool, connection } = desk.service.database
  const api = await desk.service.newOrganization('To a late log')
  await makeCustomer(api)
  await desk.service.app.maintenance.run()
  // Rows of that week are there already, of an organization that lives there.
  const other = await createOrganization(target.pool, desk.clock, 'Resident')
  const { rows } = await pool.query<{ id: string }>(
    'select e.id from events e where e.organization_id = $1 limit 1',
    [api.organizationId],
  )
  await target.pool.query(
    `insert into events (organization_id, id, type, created_at, subject_kind, subject_id)
       values ($1, $2, 'customer.created', now(), 'customer', $2)`,
    [other.organizationId, rows[0]?.id],
  )
  const command = orgCommands({ one: connection, two: target.connection })
  const { code, said } = await command('move', api.organizationId, '--to', 'two')
  expect([code, said]).toEqual([0, expect.stringContaining('"outcome":"moved"')])
  expect(await isServedBy(target.pool, api.organizationId)).toBe(true)
})

test('ends a wait that a move took along when the key is revoked where the organization is now', async () => {
  await using several = await severalDatabases()
  const [one, two] = several.databases as [TestDatabase, TestDatabase]
  const { address } = await several.startApi()
  const api = await several.newOrganization(0, address)
  const { id, token } = await makeKey(api)
  const reader = createApi(address, api.organizationId, token)
  const { json } = await reader.get('/v1/customers?updatedAfter=1970-01-01T00:00:00Z')
  const waiting = reader.get(`/v1/customers?cursor=${json.pagination.nextCursor}&wait=50`)
  await eventually('it has been let in', async () => {
    const { rowCount } = await one.pool.query('select 1 from api_key_uses u where u.api_key_id = $1', [id])
    return rowCount === 1
  })
  await moveOrganization(databasesOf(one.pool, two.pool), api.organizationId, 'two', asFastAsCanBe)
  expect((await api.delete(`/v1/api-keys/${id}`)).status).toBe(204)
  await makeCustomer(api)
  const { status, json: told } = await waiting
  expect([status, told.code]).toEqual([401, 'unauthorized'])
})
