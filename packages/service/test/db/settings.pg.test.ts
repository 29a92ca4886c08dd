/** A database whose defaults of role and database are hostile: each connection sets what the code relies on. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN_ROLE } from '../../../embedded-postgres/src/settings.ts'
import { systemClock } from '../../../service/src/kernel/timestamps.ts'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { deliveriesOf, makeWebhook } from '../../../testbed/hooks.ts'
import { testService } from '../../../testbed/service.ts'
import { socketUrl } from '../../../testbed/services.ts'
import { reliedOn } from '../../src/db/client.ts'
import { createPool, endPool, transaction } from '../../src/db/pool.ts'
import { requireSessions } from '../../src/db/pooler.ts'
import { queryText } from '../../src/db/text-query.ts'
import { checkServer } from '../../src/doctor/database.ts'

/** Of each setting, a default that breaks something. `transaction_timeout` needs PostgreSQL 17. */
const hostile: Readonly<Record<string, string>> = {
  datestyle: 'SQL, DMY',
  intervalstyle: 'iso_8601',
  timezone: 'Asia/Kathmandu',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  default_transaction_isolation: 'serializable',
  lock_timeout: '10ms',
  transaction_timeout: '2s',
  idle_session_timeout: '2s',
  gin_fuzzy_search_limit: '1',
  exit_on_error: 'on',
  client_encoding: 'LATIN1',
}

let database: TestDatabase

beforeAll(async () => {
  database = await testDatabase()
  const settings = Object.entries(hostile)
  for (const [name, value] of settings)
    await database.pool.query(`alter database ${database.name} set ${name} = '${value}'`)
})
afterAll(() => database[Symbol.asyncDispose]())

const sorts = {
  session: () => ({ url: socketUrl(database.connection) }),
  'no session': () => ({ url: socketUrl(database.connection), directUrl: socketUrl(database.connection) }),
}
const read = `select jsonb_object_agg(s.name, current_setting(s.name))::text as all from unnest($1::text[]) as s(name)`
const names = Object.keys(reliedOn)

test('there is a hostile value of each', () => {
  expect(Object.keys(hostile)).toEqual(expect.arrayContaining(names))
})

test.each(Object.entries(sorts))(
  'a connection with %s has them all, in each sort of statement',
  async (sort, to) => {
    // The isolation of a message that begins its own transaction cannot be set: the start refuses such a database.
    const { default_transaction_isolation: isolation, ...settable } = reliedOn
    const pool = createPool(to(), { max: 1, onIdleError: () => {}, settings: { synchronous_commit: 'off' } })
    const all = async (ask: Promise<readonly unknown[]>) => {
      const [row] = (await ask) as readonly { readonly all: string }[]
      expect(JSON.parse(row?.all ?? '')).toMatchObject({ ...settable, synchronous_commit: 'off' })
    }
    const asked = [...names, 'synchronous_commit']
    try {
      await all(pool.query(read, [asked]).then(({ rows }) => rows))
      const rows = await queryText(pool, { name: 'read', text: read }, [`{${asked.join()}}`])
      await all(Promise.resolve([{ all: rows[0]?.[0] }]))
      await transaction(pool, (tx) => all(tx.query(read, [asked]).then(({ rows }) => rows)))
      const { rows: now } = await pool.query(`show transaction_isolation`)
      expect(now).toEqual([{ transaction_isolation: sort === 'session' ? isolation : 'serializable' }])
    } finally {
      await endPool(pool)
    }
  },
)

test('a desk works: written, found, listed, delivered, with a new key and its events; the doctor finds nothing', async () => {
  const pool = createPool(database.connection, { max: 8, onIdleError: () => {} })
  await using _ended = { [Symbol.asyncDispose]: () => endPool(pool) }
  await using service = await testService({
    database: { ...database, pool, [Symbol.asyncDispose]: async () => {} },
  })
  const { api } = service
  const webhook = await makeWebhook(api, { events: ['customer.created', 'customer.updated'] })
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      api.post('/v1/customers', { name: `Ada\\ ${n}`, tags: ['null', 'a b'] }),
    ),
  )
  expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
  const patched = await Promise.all(
    made.map(({ json: { id } }, n) => api.patch(`/v1/customers/${id}`, { company: `Company ${n}` })),
  )
  expect(patched.map(({ status }) => status)).toEqual(made.map(() => 200))
  expect((await api.get('/v1/customers?q=ada&limit=5')).json.pagination.total).toBe(20)
  expect((await api.get('/v1/customers?tag=null')).json.pagination.total).toBe(20)
  const { sent, engine } = testEngine(service, systemClock)
  await engine.runDue()
  expect(new Set(sent.map(({ headers }) => headers['x-service-event-id'])).size).toBe(40)
  const log = await deliveriesOf(api, webhook.id)
  expect(log).toHaveLength(40)
  for (const { status, createdAt } of log) {
    expect(status).toBe('succeeded')
    expect(new Date(createdAt).toISOString()).toBe(createdAt)
  }
  expect((await api.get('/v1/events?limit=100')).json.data.length).toBeGreaterThanOrEqual(40)
  const key = await api.post('/v1/api-keys', { name: 'Another', scopes: ['customers:read'] })
  expect(key.status).toBe(201)
  expect((await service.withToken(key.json.token).get('/v1/customers')).status).toBe(200)
  const findings = await checkServer(pool)
  expect(findings.filter(({ verdict }) => verdict === 'failed')).toEqual([])
})

test('the doctor names what no connection can set, and the start what a pooler cannot', async () => {
  const admin = createPool({ ...database.connection, user: ADMIN_ROLE }, { max: 1, onIdleError: () => {} })
  await using _ended = { [Symbol.asyncDispose]: () => endPool(admin) }
  const set = `alter database ${database.name}`
  await admin.query(`${set} set session_replication_role = 'replica'`)
  const pool = createPool(database.connection, { max: 1, onIdleError: () => {} })
  try {
    const failed = (await checkServer(pool)).filter(({ verdict }) => verdict === 'failed')
    expect(failed.map(({ found }) => found)).toEqual([
      'session_replication_role is replica in its sessions, and Deskwire needs origin',
    ])
  } finally {
    await endPool(pool)
    await admin.query(`${set} reset session_replication_role`)
  }
  await expect(requireSessions(sorts['no session']())).rejects.toThrow(
    /are serializable, which cannot be changed past a pooler .* set default_transaction_isolation = 'read committed'/,
  )
})
