/** The operator's API: organizations by HTTP, with the rules of the command line. */
import pino from 'pino'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import { blockWith, startSource } from '../../../testbed/document-programs.ts'
import { testService } from '../../../testbed/service.ts'
import { createServices, type ServiceProcess, socketUrl } from '../../../testbed/services.ts'
import { unauthenticatedLimit } from '../../src/admission/rate-limit.ts'
import { listEverywhere } from '../../src/moves/everywhere.ts'
import { adminOf } from '../../src/roles/admin.ts'

const adminKey = 'operator-of-this-installation-0123456789'
const encryptionKeys = { current: Buffer.alloc(32, 7), previous: null }
const settings = { DESKWIRE_ENCRYPTION_KEY: encryptionKeys.current.toString('base64') }

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever the answer has; a wrong guess fails them
type Called = readonly [status: number, body: any, headers: Headers]

/** Calls below the service's address with a key; the status and the body. */
function callerOf({ url }: Pick<ServiceProcess, 'url'>, key: string | null) {
  return async (method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<Called> => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return [answer.status, JSON.parse((await answer.text()) || 'null'), answer.headers]
  }
}

const organizations = '/admin/v1/organizations'

let database: TestDatabase
const started = createServices()
let service: ServiceProcess

beforeAll(async () => {
  database = await testDatabase()
  const flags = ['--role', 'api', '--database-url', socketUrl(database.connection)]
  service = await started.serve(flags, { ...settings, DESKWIRE_ADMIN_KEY: adminKey })
})

afterAll(async () => {
  await started[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
})

test('an operator creates, lists, suspends, resumes and deletes organizations, and makes their keys', async () => {
  const admin = callerOf(service, adminKey)

  const [created, made, headers] = await admin('POST', organizations, { name: 'Analytical Engines' })
  expect([created, headers.get('cache-control')]).toEqual([201, 'no-store'])
  const { organizationId } = made
  const path = `${organizations}/${organizationId}`
  const tenant = callerOf(service, made.token)
  expect((await tenant('POST', '/v1/customers', { name: 'Ada' }))[0]).toBe(201)
  const [, own] = await admin('GET', path)
  expect(own).toMatchObject({
    organizationId,
    name: 'Analytical Engines',
    status: 'active',
    keys: 1,
    rows: 1,
  })
  const [, all] = await admin('GET', organizations)
  expect(all.data.map(({ name }: { name: string }) => name)).toContain('Analytical Engines')

  const key = { name: 'reporting', scopes: ['customers:read'] }
  const [keyMade, { token }] = await admin('POST', `${path}/keys`, key)
  expect(keyMade).toBe(201)
  expect((await callerOf(service, token)('GET', '/v1/customers'))[1].data).toHaveLength(1)
  const [wrong, { errors }] = await admin('POST', `${path}/keys`, { name: '', scopes: ['x'] })
  expect([wrong, errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
    422,
    ['/name', '/scopes/0'],
  ])

  expect((await admin('POST', `${path}/suspend`))[1]).toMatchObject({ organizationId, status: 'suspended' })
  expect((await tenant('GET', '/v1/customers'))[0]).toBe(403)
  expect((await admin('POST', `${path}/resume`))[1]).toMatchObject({ organizationId, status: 'active' })
  expect((await tenant('GET', '/v1/customers'))[0]).toBe(200)
  expect((await admin('POST', `${path}/move`, { to: 'two' }))[1].code).toBe('invalid_transition')

  const [deleted, { rows }] = await admin('DELETE', path)
  expect([deleted, rows > 0]).toEqual([200, true])
  expect((await tenant('GET', '/v1/customers'))[0]).toBe(401)
  for (const [method, of] of [
    ['GET', path],
    ['DELETE', path],
    ['POST', `${path}/suspend`],
    ['GET', `${organizations}/x`],
  ] as const)
    expect([method, of, (await admin(method, of))[1].code]).toEqual([method, of, 'not_found'])
  expect((await admin('POST', `${path}/keys`, key))[0]).toBe(404)
})

test('a repeated POST changes nothing, gets the first response in every process, and has one body', async () => {
  const config = { databaseUrl: socketUrl(database.connection), databaseDirectUrl: null, databases: null }
  const log = pino({ level: 'silent' })
  await using other = await testService({
    database,
    admin: adminOf({ ...config, dataDir: '', adminKey }, encryptionKeys, log),
  })
  const processes = [callerOf(service, adminKey), callerOf(other, adminKey)] as const
  const [admin] = processes
  const named = async (name: string) =>
    (await admin('GET', organizations))[1].data.filter((one: { name: string }) => one.name === name).length
  /** Repeats at once in both processes, and once more; returns the one response. */
  const repeated = async (path: string, body: unknown, key: string) => {
    const answers = await Promise.all(
      [...processes, ...processes].map((call) => call('POST', path, body, key)),
    )
    answers.push(await processes[1]('POST', path, body, key))
    const [status, first] = answers[0]!
    const replays = answers.filter(([, , headers]) => headers.get('idempotent-replayed') === 'true')
    expect(answers.map(([status, body]) => [status, body])).toEqual(answers.map(() => [status, first]))
    const codes = [
      admin('POST', path, { ...(body as object), name: 'Other' }, key),
      admin('POST', path, body, '\u00e9'),
    ]
    expect((await Promise.all(codes)).map(([status, { code }]) => [status, code])).toEqual([
      [422, 'idempotency_key_reused'],
      [400, 'invalid_parameter'],
    ])
    return { status, first, replays: replays.length }
  }

  const created = await repeated(organizations, { name: 'Once' }, 'tenant 1')
  expect([created.status, created.replays, await named('Once')]).toEqual([201, 4, 1])
  const { organizationId } = created.first
  const tenant = callerOf(service, created.first.token)
  expect((await tenant('GET', '/v1/customers'))[0]).toBe(200)
  const path = `${organizations}/${organizationId}`
  const key = await repeated(`${path}/keys`, { name: 'reporting', scopes: ['api_keys:manage'] }, 'k')
  const keys = await tenant('GET', '/v1/api-keys')
  expect([key.status, key.replays, keys[1].data.length]).toEqual([201, 4, 2])

  const suspended = await repeated(`${path}/suspend`, {}, 's')
  expect([suspended.status, suspended.first.status]).toEqual([200, 'suspended'])
  await admin('POST', `${path}/resume`)
  expect((await admin('POST', `${path}/suspend`, {}, 's'))[1]).toEqual(suspended.first)
  expect((await admin('GET', path))[1].status).toBe('active')
  // A response that is a secret is stored as nothing else can read it, and goes with what it gives access to.
  const { rows } = await database.pool.query('select k.body, k.sealed from idempotency_keys k')
  expect(JSON.stringify(rows)).not.toContain('dwk_')
  expect((await tenant('DELETE', `/v1/api-keys/${key.first.apiKeyId}`))[0]).toBe(204)
  expect(
    (await admin('POST', `${path}/keys`, { name: 'reporting', scopes: ['api_keys:manage'] }, 'k'))[0],
  ).toBe(404)
  expect((await admin('DELETE', path))[0]).toBe(200)
  expect((await admin('POST', organizations, { name: 'Once' }, 'tenant 1'))[1].code).toBe('not_found')
  expect(await named('Once')).toBe(0)
  await database.pool.query("update idempotency_keys set created_at = created_at - interval '24 hours'")
  const again = await repeated(organizations, { name: 'Once' }, 'tenant 1')
  expect([again.first.organizationId === organizationId, await named('Once')]).toEqual([false, 1])
})

test('the guide on tenants creates an organization so', async () => {
  const source = blockWith('docs/guides/tenants.md', 'ts', 'createAdminClient')
  const environment = { DESKWIRE_URL: `${service.url}/v1`, DESKWIRE_ADMIN_KEY: adminKey }
  const { code, stdout } = await startSource(source, environment, 'module-typescript').ended
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^[0-9a-f-]{36} dwk_\n$/)])
})

test('it is off without its setting, and takes no other key', async () => {
  await using off = await testService()
  expect((await callerOf(off, adminKey)('GET', organizations))[0]).toBe(404)
  const { token } = (await callerOf(service, adminKey)('POST', organizations, { name: 'One' }))[1]
  for (const key of [null, token, `${adminKey}x`, adminKey.slice(1)]) {
    for (const [method, path] of [
      ['GET', organizations],
      ['POST', organizations],
      ['DELETE', `${organizations}/x`],
    ] as const) {
      const [status, { code }] = await callerOf(service, key)(method, path)
      expect([status, code]).toEqual([401, 'unauthorized'])
    }
  }
  expect((await callerOf(service, adminKey)('GET', '/v1/customers'))[0]).toBe(401)
})

test('a request without a key has a small body, the operator has none read without theirs, and guesses lock nobody out', async () => {
  const open = () => Promise.reject(new Error('no database is needed'))
  const offload = () => Promise.reject(new Error('nothing is offloaded without a caller'))
  const admin = { key: adminKey, encryptionKeys, open, close: async () => {} }
  await using own = await testService({ admin, offload, clock: testClock() })
  const post = async (url: string, key: string | null, payload: string) => {
    const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) }
    const answer = await own.app.server.inject({ method: 'POST', url, headers, payload })
    return `${answer.statusCode} ${answer.json().code}`
  }
  const long = JSON.stringify({ name: 'x'.repeat(40_000) })
  expect(await post(organizations, null, long)).toBe('401 unauthorized')
  expect(await post(organizations, `${adminKey}x`, '{')).toBe('401 unauthorized')
  expect(await post(organizations, adminKey, long)).toBe('413 body_too_large')
  expect(await post('/v1/console-links/exchange', null, long)).toBe('413 body_too_large')
  const guesses = Array.from({ length: unauthenticatedLimit.burst }, (_, n) =>
    post(organizations, `guess${n}`, '{}'),
  )
  expect(await Promise.all(guesses)).toContain('429 rate_limited')
  expect(await post(organizations, adminKey, '{')).toBe('400 malformed_json')
})

test('its databases are opened and migrated once, and one organization is one look-up until the client has gone', async () => {
  const config = { databaseUrl: socketUrl(database.connection), databaseDirectUrl: null, databases: null }
  const admin = adminOf({ ...config, dataDir: '', adminKey }, encryptionKeys, pino({ level: 'silent' }))!
  const installation = await admin.open()
  expect(await admin.open()).toBe(installation)
  const [{ pool }] = installation.databases
  for (let n = 0; n < 3; n++)
    await callerOf(service, adminKey)('POST', organizations, { name: `Tenant ${n}` })
  const query = vi.spyOn(pool, 'query')
  const all = await listEverywhere(installation.everywhere)
  const { organizationId } = all[1]!
  query.mockClear()
  expect(await listEverywhere(installation.everywhere, { organizationId })).toEqual([all[1]])
  expect(query.mock.calls).toEqual([[expect.stringContaining('o.organization_id = $1'), [organizationId]]])
  const signal = AbortSignal.abort()
  await expect(listEverywhere(installation.everywhere, { signal })).rejects.toThrow('aborted')
  await admin.close()
})

test('with several databases it makes organizations in either, and moves them', async () => {
  await using one = await testDatabase()
  await using two = await testDatabase()
  await using services = createServices()
  const named = `one ${socketUrl(one.connection)};two ${socketUrl(two.connection)}`
  const both = await services.serve(['--role', 'api'], {
    ...settings,
    DESKWIRE_ADMIN_KEY: adminKey,
    DESKWIRE_DATABASES: named,
  })
  const admin = callerOf(both, adminKey)
  // It dies where the directory has the organization, and its database does not.
  await two.pool.query(
    `create function die() returns trigger language plpgsql as 'begin raise exception ''died''; end'`,
  )
  await two.pool.query('create trigger die before insert on organizations execute function die()')
  const mover = ['POST', organizations, { name: 'Mover', database: 'two' }, 'mover'] as const
  expect((await admin(...mover))[0]).toBe(500)
  await two.pool.query('drop function die cascade')
  const [[, first], [, { organizationId, token }]] = await Promise.all([admin(...mover), admin(...mover)])
  expect(first.organizationId).toBe(organizationId)
  const tenant = callerOf(both, token)
  const [, { id }] = await tenant('POST', '/v1/customers', { name: 'Ada' })
  const path = `${organizations}/${organizationId}`
  expect((await admin('GET', path))[1].database).toBe('two')
  const [refused, problem] = await admin('POST', `${path}/move`, { to: 'three' })
  expect([refused, problem.errors[0].detail]).toEqual([422, expect.stringContaining('it has one, two')])
  const [moved, outcome] = await admin('POST', `${path}/move`, { to: 'one' }, 'move')
  expect([moved, outcome]).toEqual([
    200,
    expect.objectContaining({ outcome: 'moved', from: 'two', to: 'one' }),
  ])
  expect((await admin('POST', `${path}/move`, { to: 'one' }))[1].outcome).toBe('unchanged')
  expect((await admin('POST', `${path}/move`, { to: 'one' }, 'move'))[1]).toEqual(outcome)
  expect((await admin(...mover))[1]).toEqual(first)
  expect((await admin('GET', organizations))[1].data).toHaveLength(2)
  expect((await admin('GET', path))[1].database).toBe('one')
  expect((await tenant('GET', `/v1/customers/${id}`))[1].name).toBe('Ada')
})
