/** An API over three databases: every kind of call is answered by the database that has the organization. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { makeWebhook } from '../../../testbed/hooks.ts'
import { lockRow } from '../../../testbed/locks.ts'
import { startIssuer } from '../../../testbed/oauth-issuer.ts'
import { type Api, createApi } from '../../../testbed/service.ts'
import { names, type SeveralDatabases, severalDatabases } from '../../../testbed/several-databases.ts'
import { hashToken } from '../../src/auth/token.ts'
import { markRestored } from '../../src/backup/restore.ts'
import { createDirectorySweep, type Settled, settleDirectory } from '../../src/databases/settle.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { linkLimit } from '../../src/keys/console-links.ts'
import { keyLimit } from '../../src/keys/keys.ts'
import { catalogue, type Figure } from '../../src/metrics/catalogue.ts'

let several: SeveralDatabases
/** Two APIs: what one is told, the other knows. */
let addresses: readonly [string, string]
let apis: readonly Api[]

beforeAll(async () => {
  several = await severalDatabases()
  const started = await Promise.all([several.startApi(), several.startApi()])
  addresses = started.map(({ address }) => address) as [string, string]
  apis = await Promise.all(names.map((_, place) => several.newOrganization(place, addresses[0])))
})

afterAll(() => several[Symbol.asyncDispose]())

const elsewhere = ({ organizationId, token }: Api) => createApi(addresses[1], organizationId, token)

/** Rows of the table that each database has of the organization. */
async function rowsOf(table: string, { organizationId }: Api): Promise<readonly number[]> {
  const counted = await Promise.all(
    several.databases.map(({ pool }) =>
      pool.query<{ n: number }>(`select count(*)::int as n from ${table} t where t.organization_id = $1`, [
        organizationId,
      ]),
    ),
  )
  return counted.map(({ rows }) => rows[0]?.n ?? 0)
}

const poolOf = (place: number) => several.databases[place]!.pool

/** The rows of an organization as they are, in another database beside its own. */
async function copyRows({ organizationId }: Api, from: number, to: number): Promise<void> {
  for (const table of [
    'organizations',
    'organization_clocks',
    'api_keys',
    'api_key_tokens',
    'customers',
    'commits',
  ]) {
    const { rows } = await poolOf(from).query(
      `select to_jsonb(t) as row from ${table} t where t.organization_id = $1`,
      [organizationId],
    )
    for (const { row } of rows)
      await poolOf(to).query(`insert into ${table} select * from jsonb_populate_record(null::${table}, $1)`, [
        row,
      ])
  }
}

const at = (place: number, count = 1) => names.map((_, n) => (n === place ? count : 0))

describe.each(names)('an organization in %s', (name) => {
  const place = names.indexOf(name)
  const own = () => apis[place] as Api

  test('has everything that it makes in its database, and in no other', async () => {
    const api = own()
    const customer = await makeCustomer(api, { name: 'Ada' })
    await makeTicket(api, { customerId: customer.id })
    await makeWebhook(api)
    for (const table of ['customers', 'tickets', 'webhooks'])
      expect(await rowsOf(table, api)).toEqual(at(place))
    expect((await elsewhere(api).get(`/v1/customers/${customer.id}`)).json.name).toBe('Ada')
    expect((await api.get('/v1/customers')).json.pagination.total).toBe(1)
    const page = await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00Z')
    expect(page.json.pagination.checkpoint.customer.count).toBe(1)
    const patched = await api.patch(`/v1/customers/${customer.id}`, { name: 'Ada L.' })
    expect(patched.json.name).toBe('Ada L.')
    expect((await api.get('/v1/organization')).json.name).toBe(`of ${name}`)
  })

  test('repeats a POST once, and takes a body that goes to the thread', async () => {
    const api = own()
    const headers = { 'idempotency-key': 'once' }
    const first = await api.post('/v1/customers', { name: 'Once' }, headers)
    const again = await elsewhere(api).post('/v1/customers', { name: 'Once' }, headers)
    expect(again.json).toEqual(first.json)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const items = Array.from({ length: 600 }, (_, n) => ({ name: `${n} ${'x'.repeat(60)}` }))
    const batch = await api.post('/v1/customers/batch', { items })
    expect(batch.status).toBe(200)
    expect(await rowsOf('customers', api)).toEqual(at(place, 602))
  })

  test('a token that is made, rotated or revoked is known as that at once, everywhere', async () => {
    const api = own()
    const made = await api.post('/v1/api-keys', { name: 'Second', scopes: ['customers:read'] })
    const key = createApi(addresses[1], api.organizationId, made.json.token)
    expect((await key.get('/v1/customers')).status).toBe(200)
    const rotated = await elsewhere(api).post(`/v1/api-keys/${made.json.id}/rotate`, undefined)
    const newer = createApi(addresses[0], api.organizationId, rotated.json.token)
    expect((await newer.get('/v1/customers')).status).toBe(200)
    expect((await api.delete(`/v1/api-keys/${made.json.id}/previous-token`)).status).toBe(204)
    expect((await key.get('/v1/customers')).status).toBe(401)
    expect((await newer.get('/v1/customers')).status).toBe(200)
    expect((await api.delete(`/v1/api-keys/${made.json.id}`)).status).toBe(204)
    for (const gone of [newer, createApi(addresses[1], api.organizationId, rotated.json.token)])
      expect((await gone.get('/v1/customers')).status).toBe(401)
  })

  test('a link to the console is exchanged once, by an API that it was not made by', async () => {
    const api = own()
    const link = await api.post('/v1/console-links', { scopes: ['customers:read'] })
    const secret = new URL(link.json.url).hash.replace('#link=', '')
    const anybody = createApi(addresses[1], '', null)
    const session = await anybody.post('/v1/console-links/exchange', { link: secret })
    expect(session.json).toMatchObject({ organizationId: api.organizationId, scopes: ['customers:read'] })
    const visitor = createApi(addresses[0], api.organizationId, session.json.token)
    expect((await visitor.get('/v1/customers')).status).toBe(200)
    expect((await anybody.post('/v1/console-links/exchange', { link: secret })).status).toBe(404)
    expect((await visitor.delete(`/v1/console-links/${session.json.id}`)).status).toBe(204)
    expect((await visitor.get('/v1/customers')).status).toBe(401)
  })

  test('whoever waits for its changes hears of those that another API makes', async () => {
    const api = own()
    const { nextCursor } = (await api.get('/v1/tickets?updatedAfter=1970-01-01T00:00:00Z')).json.pagination
    const waiting = api.get(`/v1/tickets?cursor=${nextCursor}&wait=50`)
    await makeTicket(elsewhere(api))
    expect((await waiting).json.data).toHaveLength(1)
  })
})

test('whatever is made, rotated and revoked in whichever database and by whichever API: a token is good exactly while it should be', async () => {
  const step = fc.record({
    place: fc.nat(names.length - 1),
    by: fc.nat(1),
    what: fc.constantFrom('create', 'rotate', 'drop', 'revoke'),
    which: fc.nat(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 16 }), async (steps) => {
      const keys: { place: number; id: string; good: string[]; bad: string[] }[] = []
      for (const { place, by, what, which } of steps) {
        const living = keys.filter(({ good }) => good.length > 0)
        const key = living[which % living.length]
        const api = (of: number) => createApi(addresses[by] ?? '', '', apis[of]?.token ?? '')
        if (what === 'create' || key === undefined) {
          const { json } = await api(place).post('/v1/api-keys', { name: 'k', scopes: ['tickets:read'] })
          keys.push({ place, id: json.id, good: [json.token], bad: [] })
        } else if (what === 'rotate') {
          key.good.push((await api(key.place).post(`/v1/api-keys/${key.id}/rotate`, undefined)).json.token)
        } else {
          const path = what === 'drop' ? `/v1/api-keys/${key.id}/previous-token` : `/v1/api-keys/${key.id}`
          expect((await api(key.place).delete(path)).status).toBe(204)
          key.bad.push(...key.good.splice(0, what === 'drop' ? key.good.length - 1 : key.good.length))
        }
        for (const address of addresses) {
          const status = async (token: string) =>
            (await createApi(address, '', token).get('/v1/tickets')).status
          for (const { good, bad } of keys) {
            expect(await Promise.all(good.map(status))).toEqual(good.map(() => 200))
            expect(await Promise.all(bad.map(status))).toEqual(bad.map(() => 401))
          }
        }
      }
    }),
    { numRuns: 2 },
  )
})

test('refused exchanges and creations write nothing into the directory', async () => {
  const [first, own] = [several.databases[0]!, several.databases[1]!]
  const api = await several.newOrganization(1, addresses[0])
  const { organizationId } = api
  const link = await api.post('/v1/console-links', { scopes: ['customers:read'] })
  const secret = new URL(link.json.url).hash.replace('#link=', '')
  const exchange = () =>
    createApi(addresses[0], '', null).post('/v1/console-links/exchange', { link: secret })
  expect((await exchange()).status).toBe(200)
  await own.pool.query(
    `insert into api_keys (organization_id, id, name, scopes, created_at, updated_at)
       select $1, gen_random_uuid(), 'one of many', '{customers:read}', now(), now() from generate_series(2, ${keyLimit})`,
    [organizationId],
  )
  await own.pool.query(
    `insert into console_links (token_hash, organization_id, id, api_key_id, scopes, created_at, expires_at)
       select sha256(('link ' || n)::bytea), $1, gen_random_uuid(), k.id, '{customers:read}', now(), now() + interval '1 hour'
       from generate_series(2, ${linkLimit}) n, (select id from api_keys where organization_id = $1 and '*' = any(scopes)) k`,
    [organizationId],
  )
  // What is written and taken back again is written too.
  await first.pool.query('create table writes (n int)')
  await first.pool.query(`create function note_write() returns trigger language plpgsql as $$
    begin insert into writes values (1); return null; end; $$`)
  await first.pool.query(
    'create trigger note_write after insert or update or delete on directory_tokens for each statement execute function note_write()',
  )
  try {
    for (let n = 0; n < 3; n++) {
      expect((await exchange()).status).toBe(404)
      const key = await api.post(
        '/v1/api-keys',
        { name: 'x', scopes: ['*'] },
        { 'idempotency-key': `key ${n}` },
      )
      expect([key.status, key.json.code]).toEqual([409, 'limit_reached'])
      const more = await api.post('/v1/console-links', { scopes: ['customers:read'] })
      expect([more.status, more.json.code]).toEqual([409, 'limit_reached'])
    }
    const { rows } = await first.pool.query('select n from writes')
    expect(rows).toEqual([])
    const { rows: kept } = await own.pool.query(
      'select k.key from idempotency_keys k where k.organization_id = $1',
      [organizationId],
    )
    expect(kept).toEqual([])
  } finally {
    await first.pool.query(
      'drop trigger note_write on directory_tokens; drop function note_write; drop table writes',
    )
  }
})

test('a token whose making lost a race is forgotten by the directory', async () => {
  const [first, own] = [several.databases[0]!, several.databases[1]!]
  const api = await several.newOrganization(1, addresses[0])
  const { organizationId } = api
  const noted = async () => {
    const { rows } = await first.pool.query<{ n: number }>(
      'select count(*)::int as n from directory_tokens t where t.organization_id = $1',
      [organizationId],
    )
    return rows[0]?.n
  }
  expect(await noted()).toBe(1)
  await using lock = await lockRow(own, 'organization_clocks', api)
  const creating = api.post('/v1/api-keys', { name: 'late', scopes: ['customers:read'] })
  await eventually('it is noted', async () => (await noted()) === 2)
  await own.pool.query(`update api_keys set scopes = '{api_keys:manage}' where organization_id = $1`, [
    organizationId,
  ])
  await lock.release()
  expect((await creating).status).toBe(503)
  expect(await noted()).toBe(1)
})

test('a token that nobody made is refused, and so is a link', async () => {
  const anybody = createApi(addresses[0], '', 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22')
  expect((await anybody.get('/v1/customers')).status).toBe(401)
  const link = 'dwl_0123456789ABCDEFGHIJKLMNOPQRST2Ia5MR'
  expect((await anybody.post('/v1/console-links/exchange', { link })).status).toBe(404)
  expect((await anybody.post('/v1/console-links/exchange', { link: 1 })).status).toBe(422)
})

test('figures tell the databases apart, and those of the process stand once', async () => {
  const text = await (await fetch(`${addresses[0]}/metrics`)).text()
  for (const name of names) {
    expect(text).toContain(`deskwire_webhooks_active{process="api",database="${name}"}`)
    expect(text).toContain(`deskwire_stream_commit_group_size_count{process="api",database="${name}"}`)
  }
  for (const [name, figure] of Object.entries<Figure>(catalogue)) {
    const series = text.match(new RegExp(`^${name}(?:_bucket|_sum|_count)?[{ ].*$`, 'gm')) ?? []
    const told = series.map((line) => /[{,]database="/.test(line))
    expect([name, new Set(told)]).toEqual([name, new Set(told.length === 0 ? [] : [!figure.ofAllDatabases])])
  }
  expect(text.match(/^deskwire_build_info\{.*process="api"\} \d+$/gm)).toHaveLength(1)
  expect(text).not.toMatch(/^deskwire_http_request_duration_seconds_count\{.*database=/m)
})

test('one database restored ends the cursors of its organizations, and of no other', async () => {
  const start = '/v1/customers?updatedAfter=1970-01-01T00:00:00Z&limit=1'
  const cursors = await Promise.all(
    apis.map(async (api) => (await api.get(start)).json.pagination.nextCursor),
  )
  await markRestored(several.databases[1]!.pool, systemClock)
  const statuses = apis.map(async (api, n) => (await api.get(`/v1/customers?cursor=${cursors[n]}`)).status)
  expect(await Promise.all(statuses)).toEqual([200, 410, 200])
})

describe('an organization whose database is said to be another', () => {
  /** As a move ends: the rows are in both, one of which says that it serves it. */
  async function move(api: Api, from: number, to: number): Promise<void> {
    const { organizationId } = api
    const source = poolOf(from)
    await copyRows(api, from, to)
    await several.directory.note(organizationId, await hashesOf(source, organizationId))
    for (const table of ['organizations', 'organization_clocks'])
      await source.query(`update ${table} set away = 'moved' where organization_id = $1`, [organizationId])
    const moved = { from: names[from]!, to: names[to]!, moves: 1 }
    expect(await several.directory.cutOver(organizationId, moved)).toBe(true)
    expect(await several.directory.cutOver(organizationId, moved)).toBe(false)
  }

  async function hashesOf(pool: SeveralDatabases['databases'][number]['pool'], organizationId: string) {
    const { rows } = await pool.query<{ token_hash: Buffer }>(
      'select k.token_hash from api_key_tokens k where k.organization_id = $1',
      [organizationId],
    )
    return rows.map((row) => row.token_hash)
  }

  test.each([
    [0, 1],
    [1, 2],
    [2, 0],
  ])('from %i to %i: goes on there at once, for APIs that knew it and that did not', async (from, to) => {
    const api = await several.newOrganization(from, addresses[0])
    const { id } = await makeCustomer(api, { name: 'before' })
    const waiting = api.get('/v1/customers?updatedAfter=2999-01-01T00:00:00Z&wait=50')
    await move(api, from, to)
    const both = [api, elsewhere(api)]
    for (const one of both) expect((await one.get(`/v1/customers/${id}`)).json.name).toBe('before')
    expect((await api.patch(`/v1/customers/${id}`, { name: 'after' })).status).toBe(200)
    expect((await elsewhere(api).get(`/v1/customers/${id}`)).json.name).toBe('after')
    expect((await waiting).status).toBe(200)
    // Made where it lives now, and known everywhere.
    const made = await api.post('/v1/api-keys', { name: 'Later', scopes: ['customers:read'] })
    const later = createApi(addresses[1], api.organizationId, made.json.token)
    expect((await later.get(`/v1/customers/${id}`)).status).toBe(200)
  })

  test('accepts access tokens where the organization is now, whatever the rows that it left say', async () => {
    await using issuer = await startIssuer()
    const publicUrl = 'https://desk.example'
    const { address } = await several.startApi({ mcp: true, mcpIssuer: issuer.url, publicUrl })
    const api = await several.newOrganization(0, address)
    const { id } = (await api.post('/v1/api-keys', { name: 'agent', scopes: ['tickets:read'] })).json
    const token = await issuer.sign({
      iss: issuer.url,
      aud: `${publicUrl}/mcp`,
      exp: Math.floor(Date.now() / 1_000) + 600,
      deskwire_key: `${api.organizationId}/${id}`,
      scope: 'tickets:read',
    })
    const ask = () => createApi(address, '', token).post('/mcp', {})
    await move(api, 0, 1)
    await poolOf(0).query(`update api_keys set scopes = '{bookings:read}' where id = $1`, [id])
    // The message is no request: the token was accepted.
    expect((await ask()).status).toBe(400)
  })

  test('a database that the process was not given is 503, and says when to come again', async () => {
    const api = await several.newOrganization(1, addresses[0])
    await several.directory.cutOver(api.organizationId, { from: 'two', to: 'nine', moves: 1 })
    const refused = await eventually('the API hears of it', async () => {
      const answer = await api.get('/v1/customers')
      return answer.status === 503 && answer
    })
    expect(refused.headers.get('retry-after')).toBe('1')
  })
})

describe('settling the directory with a database', () => {
  const settle = (place: number) =>
    settleDirectory({ name: names[0], pool: poolOf(0) }, { name: names[place]!, pool: poolOf(place) })
  const nothing: Settled = { organizations: 0, moved: 0, tokens: 0, taken: 0 }
  const awayIn = async (place: number, { organizationId }: Api) => {
    const tables = ['organizations', 'organization_clocks']
    const asked = tables.map((table) =>
      poolOf(place).query<{ away: string | null }>(
        `select t.away from ${table} t where t.organization_id = $1`,
        [organizationId],
      ),
    )
    return (await Promise.all(asked)).map(({ rows }) => rows[0]?.away)
  }

  // What the tests before have left behind is settled.
  beforeAll(async () => {
    for (const place of [1, 2]) await settle(place)
  })

  test.each([
    ['the directory has less of it', 1, { known: 0, claims: 1 }, 2],
    ['the directory has as much of it', 1, { known: 0, claims: 0 }, 1],
    ['the directory has more of it', 1, { known: 2, claims: 1 }, 1],
    ["the directory's own has less of it", 0, { known: 0, claims: 1 }, 2],
    ["the directory's own has more of it", 0, { known: 2, claims: 1 }, 0],
  ])('one that two databases claim, where %s: one serves it', async (_, knownAt, moves, served) => {
    const api = await several.newOrganization(knownAt, addresses[0])
    const { id } = await makeCustomer(api, { name: 'once' })
    await copyRows(api, knownAt, 2)
    for (const [place, count] of [
      [knownAt, moves.known],
      [2, moves.claims],
    ] as const)
      await poolOf(place).query('update organizations set moves = $2 where organization_id = $1', [
        api.organizationId,
        count,
      ])
    if (knownAt !== 0)
      await poolOf(0).query('update directory_organizations set moves = $2 where organization_id = $1', [
        api.organizationId,
        moves.known,
      ])
    const goes = served === 2
    // The hash of a token that the directory's own database has is not among those that are noted.
    const tokens = knownAt === 0 ? 1 : 0
    expect(await settle(2)).toEqual({
      ...nothing,
      organizations: goes ? 1 : 0,
      moved: goes ? 0 : 1,
      tokens,
    })
    expect(await settle(1)).toEqual({ ...nothing, moved: goes && knownAt === 1 ? 1 : 0 })
    expect(await several.directory.databaseOf(api.organizationId)).toEqual({
      database: names[served],
      moves: goes ? moves.claims : moves.known,
    })
    for (const place of [knownAt, 2]) {
      const away = place === served ? null : 'moved'
      expect([place, await awayIn(place, api)]).toEqual([place, [away, away]])
    }
    for (const each of [api, elsewhere(api)])
      expect((await each.patch(`/v1/customers/${id}`, { name: `${served}` })).json.name).toBe(`${served}`)
    const { rows } = await poolOf(served).query('select c.body from customers c where c.id = $1', [id])
    expect(JSON.parse(rows[0].body).name).toBe(`${served}`)
    for (const place of [1, 2]) expect(await settle(place)).toEqual(nothing)
  })

  test('tokens that the directory has lost are good again; entries of what the database does not have stay, and let nobody in', async () => {
    const api = await several.newOrganization(1, addresses[0])
    for (const table of ['directory_tokens', 'directory_organizations'])
      await poolOf(0).query(`delete from ${table} where organization_id = $1`, [api.organizationId])
    const nobody = newId(systemClock)
    await several.directory.place(nobody, names[1])
    const token = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'
    await several.directory.note(nobody, [Buffer.from(hashToken(token), 'hex')])
    const stranger = createApi(addresses[1], nobody, token)
    expect((await api.get('/v1/customers')).status).toBe(401)
    expect(await settle(1)).toEqual({ ...nothing, organizations: 1, tokens: 1 })
    expect((await stranger.get('/v1/customers')).status).toBe(401)
    expect(await several.directory.databaseOf(nobody)).toEqual({ database: names[1], moves: 0 })
    await eventually('the API knows its token', async () => (await api.get('/v1/customers')).status === 200)
    await several.directory.forget(nobody)
  })

  test.each([0, 2])(
    'a token that an organization in %i has too stays with that one, and is told of',
    async (place) => {
      const owner = await several.newOrganization(place, addresses[0])
      const other = await several.newOrganization(1, addresses[0])
      const hashes = [owner, other].map(({ token }) => Buffer.from(hashToken(token ?? ''), 'hex'))
      await poolOf(1).query('update api_key_tokens set token_hash = $1 where token_hash = $2', hashes)
      const told = await settle(1)
      expect(told).toEqual({ ...nothing, taken: 1 })
      for (const address of addresses) {
        const answer = await createApi(address, '', owner.token).get('/v1/organization')
        expect(answer.json.id).toBe(owner.organizationId)
      }
      await poolOf(1).query('delete from api_key_tokens where token_hash = $1', [hashes[0]])
    },
  )
})

test('the sweep forgets what is in the directory alone for a day, and nothing else', async () => {
  const hash = (n: number) => Buffer.from(n.toString(16).padStart(64, '0'), 'hex')
  const api = await several.newOrganization(1, addresses[0])
  const { json: key } = await api.post('/v1/api-keys', { name: 'Lives', scopes: ['customers:read'] })
  const { json: revoked } = await api.post('/v1/api-keys', { name: 'Goes', scopes: ['customers:read'] })
  const link = await api.post('/v1/console-links', { scopes: ['customers:read'] })
  const secret = new URL(link.json.url).hash.replace('#link=', '')
  expect((await api.delete(`/v1/api-keys/${revoked.id}`)).status).toBe(204)
  // Made, and without a token; told of and never made: of old, just now, elsewhere, and after a move.
  const [bare, never, now, third, moved] = [
    await several.newOrganization(1, addresses[0]),
    ...Array.from({ length: 4 }, () => ({ organizationId: newId(systemClock) })),
  ].map(({ organizationId }) => organizationId) as [string, string, string, string, string]
  await poolOf(1).query('delete from api_key_tokens where organization_id = $1', [bare])
  await poolOf(0).query('delete from directory_tokens where organization_id = $1', [bare])
  for (const id of [never, now, moved]) await several.directory.place(id, names[1])
  await several.directory.place(third, names[2])
  await several.directory.note(api.organizationId, [hash(1), hash(2)])
  await several.directory.note(third, [hash(3)])
  // More than are looked at at once.
  await poolOf(0).query(
    `insert into directory_tokens (token_hash, organization_id)
       select sha256(n::text::bytea), $1 from generate_series(1, 6000) n`,
    [api.organizationId],
  )
  await poolOf(0).query('update directory_organizations set moves = 1 where organization_id = $1', [moved])
  const old = `now() - interval '25 hours'`
  await poolOf(0).query(`update directory_tokens set noted_at = ${old} where token_hash <> $1`, [hash(1)])
  await poolOf(0).query(`update directory_organizations set placed_at = ${old} where organization_id <> $1`, [
    now,
  ])

  await createDirectorySweep(poolOf(0), { name: names[1], pool: poolOf(1) })()
  const { rows } = await poolOf(0).query<{ token_hash: Buffer }>(
    'select t.token_hash from directory_tokens t where t.organization_id = any($1)',
    [[api.organizationId, third]],
  )
  const kept = [
    hash(1),
    hash(3),
    ...[api.token ?? '', key.token, secret].map((t) => Buffer.from(hashToken(t), 'hex')),
  ]
  const text = (hashes: readonly Buffer[]) => hashes.map((one) => one.toString('hex')).sort()
  expect(text(rows.map((row) => row.token_hash))).toEqual(text(kept))
  const shards = [api.organizationId, bare, never, now, third, moved].map((id) =>
    several.directory.databaseOf(id),
  )
  expect((await Promise.all(shards)).map((shard) => shard?.database ?? null)).toEqual([
    names[1],
    names[1],
    null,
    names[1],
    names[2],
    names[1],
  ])
  expect((await api.get('/v1/customers')).status).toBe(200)
})
