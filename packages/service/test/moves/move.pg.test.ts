/** An organization moves from one database to another: all of it, once, wherever its mover is killed, beside whoever works with it. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHomeDirectory } from '../../src/access/home-directory.ts'
import { awayCode } from '../../src/journal/away.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { finishMoves } from '../../src/moves/finish.ts'
import { abortMove, type Databases, dropSource, type MoveOptions, moveOrganization } from '../../src/moves/move.ts'
import { movingTables } from '../../src/moves/tables.ts'
import { deleteOrganization } from '../../src/organization/deletion.ts'
import { resumeOrganization, suspendOrganization } from '../../src/organization/suspension.ts'
import { type FullDesk, fullDesk } from '../backup/full-desk.fixture.ts'
import { type TestDatabase, testDatabase } from '../harness/database.ts'
import { makeCustomer } from '../harness/desk.ts'
import { testEngine } from '../harness/engine.ts'
import { checkpointOf, follow } from '../harness/follower.ts'
import { makeWebhook } from '../harness/hooks.ts'
import { httpReader } from '../harness/http-follower.ts'
import { eventually } from '../harness/locks.ts'
import { type Answer, type Api, testService } from '../harness/service.ts'

let desk: FullDesk
let there: TestDatabase
beforeAll(async () => {
  desk = await fullDesk()
  there = await testDatabase()
}, 120_000)
afterAll(async () => {
  await there[Symbol.asyncDispose]()
  await desk[Symbol.asyncDispose]()
})

const asFastAsCanBe: MoveOptions = { rest: 0, rowsAStep: 200 }

function databasesOf(one: Pool, two: Pool): Databases {
  return {
    pools: new Map([
      ['one', one],
      ['two', two],
    ]),
    directory: createHomeDirectory(one, 'one'),
    clock: systemClock,
  }
}

/** All rows of the organization, by table, but for what a move changes of it. */
async function rowsOf(pool: Pool, organizationId: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const { name, columns } of await movingTables(pool)) {
    const told = columns.filter((column) => column !== 'moves')
    const { rows } = await pool.query<{ row: string }>(
      `select row(${told.join(', ')})::text as row from ${name} t where t.organization_id = $1 order by 1`,
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
  const dies = (call: readonly unknown[]) => {
    if (call[0] !== 'rollback' && left-- === 0) throw new Error('killed')
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
  timeout: 180_000,
}, async () => {
  const { pool } = desk.service.database
  const [moved, stays] = desk.apis.map((api) => api.organizationId) as [string, string]
  const before = await rowsOf(pool, moved)
  const neighbour = await rowsOf(pool, stays)
  expect(Object.values(before).filter((rows) => rows.length === 0)).toEqual([])
  let killed = 0
  for (let n = 3; ; n += 7) {
    const [one, two] = killedAt([pool, there.pool], n) as [Pool, Pool]
    const ended = await moveOrganization(databasesOf(one, two), moved, 'two', asFastAsCanBe).catch(
      (error: Error) => error.message,
    )
    const served = await Promise.all([pool, there.pool].map((each) => isServedBy(each, moved)))
    expect(served.filter(Boolean).length).toBeLessThan(2)
    if (ended === 'killed') {
      killed++
      continue
    }
    expect(ended).toMatchObject({ from: expect.any(String), to: 'two' })
    expect(served).toEqual([false, true])
    break
  }
  expect(killed).toBeGreaterThan(20)
  expect(await rowsOf(there.pool, moved)).toEqual(before)
  expect(await rowsOf(pool, stays)).toEqual(neighbour)

  // Nobody writes where it was, whatever the table; and nothing is left when it is dropped.
  for (const write of [
    'update customers set body = body where organization_id = $1',
    'update lanes set due_at = now() where organization_id = $1',
    `update organizations set name = 'x' where organization_id = $1`,
    'delete from api_keys where organization_id = $1',
  ])
    await expect(pool.query(write, [moved])).rejects.toMatchObject({ code: awayCode, detail: 'moved' })
  await desk.service.app.maintenance.run()
  await expect(moveOrganization(databasesOf(pool, there.pool), moved, 'one')).rejects.toThrow('org drop-source')
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
    'capturing',
    'cleared',
    'copying',
    'comparing',
    'drained',
    'fenced',
    'brought',
    'leaving',
    'left',
  ].toSpliced(0, 0, 'noted'))
  expect(await isServedBy(pool, moved)).toBe(false)
  expect(await finishMoves('two', databases)).toBe(1)
  expect(await finishMoves('two', databases)).toBe(0)
  expect(await databases.directory.homeOf(moved)).toEqual({ database: 'one', moves: 2 })
  expect(await rowsOf(pool, moved)).toEqual(before)
  expect(await moveOrganization(databases, moved, 'one')).toMatchObject({ outcome: 'unchanged' })
  await dropSource(databases, moved, 'two')
})

test('what cannot be moved is refused, and nothing of it changes; what was begun can be taken back', {
  timeout: 60_000,
}, async () => {
  const { pool } = desk.service.database
  const { organizationId } = desk.apis[1] as Api
  const databases = databasesOf(pool, there.pool)
  const before = await rowsOf(pool, organizationId)
  const refused = (to = 'two') => expect(moveOrganization(databases, organizationId, to)).rejects
  await refused('three').toThrow('there is no database three: DESKWIRE_DATABASES names one, two')
  await expect(moveOrganization(databases, randomUUID(), 'two')).rejects.toThrow('there is no organization')
  await suspendOrganization(pool, systemClock, organizationId)
  await refused().toThrow('is suspended')
  await resumeOrganization(pool, systemClock, organizationId)
  const named = (pool: Pool, key: string) =>
    pool.query('update installation set key_check = $1, previous_key_check = $2', [Buffer.from(key), null])
  const { rows } = await pool.query<{ key_check: Buffer | null }>('select i.key_check from installation i')
  await named(there.pool, 'another')
  await refused().toThrow('do not name the same encryption key')
  await there.pool.query('update installation set key_check = $1', [rows[0]?.key_check])
  await there.pool.query(`delete from schema_migrations where id = '20261123-66-moves'`)
  await refused().toThrow('two has an older schema, without the migration 20261123-66-moves: run deskwire migrate')
  await there.pool.query(`insert into schema_migrations (id) values ('20261123-66-moves')`)

  await expect(
    moveOrganization(databases, organizationId, 'two', {
      ...asFastAsCanBe,
      between(step) {
        if (step === 'comparing') throw new Error('broken off')
      },
    }),
  ).rejects.toThrow('broken off')
  await refused('three').toThrow('no database three')
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
  await deleteOrganization(pool, systemClock, organizationId)
  await refused().toThrow('there is no organization')
})

test('writers, a follower, a waiting reader and a receiver do not notice a move', { timeout: 120_000 }, async () => {
  await using one = await testService()
  await using two = await testService()
  const { pool } = one.database
  const databases = databasesOf(pool, two.database.pool)
  const { organizationId, token } = one.api
  const engines = [one, two].map((service) => testEngine(service, systemClock))
  for (const { engine } of engines) engine.start()
  await makeWebhook(one.api, { events: ['customer.created', 'customer.updated'] })
  await makeCustomer(one.api)

  // Whoever is told that it is elsewhere asks there, as the API does that has both.
  const apis = [one.api, two.withToken(token)] as const
  let at = 0
  const answered = async (ask: (api: Api) => Promise<Answer>): Promise<Answer> => {
    for (let tries = 0; tries < 400; tries++) {
      const answer = await ask(apis[at] as Api)
      if (answer.status < 500 && answer.status !== 401) return answer
      at = 1 - at
      await delay(5)
    }
    throw new Error('nobody serves the organization')
  }
  const written = new Map<string, string>()
  let longest = 0
  let writing = true
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let n = 0; writing; n++) {
      const began = performance.now()
      const key = { 'idempotency-key': `${writer}-${n}` }
      const made = await answered((api) => api.post('/v1/customers', { name: `${writer} ${n}` }, key))
      expect(made.status).toBe(201)
      // The same again is the same answer, wherever it is asked.
      const again = await answered((api) => api.post('/v1/customers', { name: `${writer} ${n}` }, key))
      expect(again.text).toBe(made.text)
      const changed = await answered((api) =>
        api.patch(`/v1/customers/${made.json.id}`, { name: `${writer} ${n} changed` }, {
          'if-match': made.headers.get('etag') ?? '',
        }),
      )
      expect(changed.status).toBe(200)
      written.set(made.json.id, changed.text)
      longest = Math.max(longest, performance.now() - began)
    }
  })
  const url = () => [one, two][at]?.url ?? ''
  const read = httpReader({ url, token, kind: 'customers', limit: 50 })
  const follower = follow<string>(async (cursor) => {
    for (let tries = 0; ; tries++) {
      try {
        return await read(cursor)
      } catch (error) {
        if (tries === 400) throw error
        await delay(5)
      }
    }
  })
  const following = (async () => {
    while (writing) await follower.poll()
  })()

  await eventually('something was written', () => written.size > 20)
  const told = await moveOrganization(databases, organizationId, 'two', { rest: 0, rowsAStep: 50 })
  const before = written.size
  await eventually('as much was written there', () => written.size > before + 20)
  writing = false
  await Promise.all([...writers, following])
  await follower.drain()

  expect(told.outcome).toBe('moved')
  expect(follower.faults).toEqual([])
  for (const [id, body] of written) expect(follower.copy.get(id)).toBe(body)
  expect(follower.copy.size).toBe(written.size + 1)
  expect(checkpointOf(follower.copy.values()).count).toBe(written.size + 1)
  // Each event is told of, and what was sent where it was is not sent again where it is.
  const sent = () => engines.flatMap(({ sent }) => sent.map(({ headers }) => headers['x-service-event-id']))
  await eventually('everything is delivered', () => new Set(sent()).size === 2 * written.size + 1)
  expect(sent().length).toBe(new Set(sent()).size)
  expect(engines.every(({ sent }) => sent.length > 20)).toBe(true)
  for (const { engine } of engines) await engine.stop()
  expect(told.paused).toBeGreaterThan(0)
})
