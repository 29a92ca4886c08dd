/** `/mcp` as an OAuth 2.1 resource server. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { transaction } from '../../service/src/db/pool.ts'
import { movingTables } from '../../service/src/moves/tables.ts'
import { testClock } from '../../testbed/clock.ts'
import { makeTicket } from '../../testbed/desk.ts'
import { call, eventStream, mcpClient } from '../../testbed/mcp-client.ts'
import { type OauthIssuer, startAuthorizationServer, startIssuer } from '../../testbed/oauth-issuer.ts'
import { type Api, type TestService, testService } from '../../testbed/service.ts'

const publicUrl = 'https://desk.example'
const resource = `${publicUrl}/mcp`
const metadataUrl = `${publicUrl}/.well-known/oauth-protected-resource/mcp`

const clock = testClock()
let issuer: OauthIssuer
let service: TestService

beforeAll(async () => {
  issuer = await startIssuer()
  service = await testService({ clock, mcp: true, mcpIssuer: issuer.url, publicUrl })
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await issuer[Symbol.asyncDispose]()
})

/** An organization with a key of these scopes, and claims that are right for it. */
async function newKey(scopes = ['tickets:read', 'tickets:write', 'customers:write']) {
  const api = await service.newOrganization()
  const { json: key } = await api.post('/v1/api-keys', { name: 'agent', scopes })
  const now = Math.floor(clock.now() / 1_000)
  const claims = {
    iss: issuer.url,
    aud: resource,
    exp: now + 600,
    deskwire_key: `${key.organizationId}/${key.id}`,
  }
  return { api, key, claims, now }
}

function ask(token: string | null, path = '/mcp') {
  return fetch(new URL(path, service.url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  })
}

async function expectRefused(token: string | null, detail: RegExp): Promise<void> {
  const response = await ask(token)
  expect(response.status).toBe(401)
  const challenge = `Bearer realm="deskwire", resource_metadata="${metadataUrl}"`
  expect(response.headers.get('www-authenticate')).toBe(challenge)
  expect(((await response.json()) as { detail: string }).detail).toMatch(detail)
}

const toolsOf = async (token: string) => {
  await using client = await mcpClient(service.url, token)
  return (await client.listTools()).tools.map(({ name }) => name)
}
const ticketsOf = async (api: Api) => (await api.get('/v1/tickets')).json.data

describe('the metadata', () => {
  test.each(['', '/mcp'])('names the resource and its issuer at /.well-known/…%s', async (end) => {
    const response = await fetch(new URL(`/.well-known/oauth-protected-resource${end}`, service.url))
    expect(await response.json()).toMatchObject({ resource, authorization_servers: [issuer.url] })
  })

  test('is named to a client without a token', () => expectRefused(null, /Send the header/))

  test('does not exist without an issuer', async () => {
    await using other = await testService({ mcp: true, publicUrl })
    const response = await fetch(new URL('/.well-known/oauth-protected-resource', other.url))
    expect(response.status).toBe(404)
    expect((await other.withToken(null).post('/mcp', {})).headers.get('www-authenticate')).toBe(
      'Bearer realm="deskwire"',
    )
  })
})

describe('a valid token', () => {
  test('acts as its key, within its scopes and those of the key', async () => {
    const { api, claims } = await newKey()
    const { id: ticketId } = await makeTicket(api)
    const reads = await issuer.sign({ ...claims, scope: 'openid tickets:read conversations:read' })
    expect(await toolsOf(reads)).toEqual(['find', 'changes_since'])
    await using reader = await mcpClient(service.url, reads)
    await expect(
      reader.callTool({ name: 'change_ticket', arguments: { ticketId, priority: 'low' } }),
    ).rejects.toThrow()
    await using writer = await mcpClient(service.url, await issuer.sign(claims))
    await call(writer, 'change_ticket', { ticketId, priority: 'urgent' })
    expect(await ticketsOf(api)).toMatchObject([{ id: ticketId, priority: 'urgent' }])
  })

  test('of another organization finds nothing of this one', async () => {
    const { api } = await newKey()
    await makeTicket(api)
    const other = await newKey()
    await using client = await mcpClient(service.url, await issuer.sign(other.claims))
    expect(await call(client, 'find', { kind: 'tickets' })).toMatchObject({ total: 0 })
  })

  test('cannot manage keys, whatever its key can', async () => {
    const { claims } = await newKey(['*'])
    expect(await toolsOf(await issuer.sign({ ...claims, scope: '*' }))).toHaveLength(16)
    expect((await ask(await issuer.sign({ ...claims, scope: 'api_keys:manage' }))).status).toBe(403)
  })

  test('without a scope of its key is 403', async () => {
    const { claims } = await newKey()
    const response = await ask(await issuer.sign({ ...claims, scope: 'bookings:read' }))
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ code: 'insufficient_scope' })
  })

  test('ends with its key', async () => {
    const { api, key, claims } = await newKey()
    const token = await issuer.sign(claims)
    expect((await ask(token)).status).toBe(200)
    await api.delete(`/v1/api-keys/${key.id}`)
    await expectRefused(token, /names no valid API key/)
  })

  test.each(['at+jwt', 'application/at+jwt', 'JWT'])('may be of type %s', async (typ) => {
    const { claims } = await newKey()
    expect((await ask(await issuer.sign(claims, { typ }))).status).toBe(200)
  })

  test('ends its streams with itself, and outlives the sessions that serve it', async () => {
    const { api, claims, now } = await newKey()
    const token = await issuer.sign({ ...claims, exp: now + 1_800 })
    const messages = eventStream(service.url, token, { name: 'ticket.created' }, AbortSignal.timeout(25_000))
    const next = async () => {
      for (;;) {
        const { method, params } = (await messages.next()).value
        if (method !== 'notifications/events/heartbeat') return [method.split('/').at(-1), params]
      }
    }
    expect((await next())[0]).toBe('active')
    // A session lasts for a quarter of an hour.
    for (const minutes of [0, 14, 6]) {
      clock.advance(minutes * 60_000)
      await makeTicket(api)
      expect((await next())[0]).toBe('event')
    }
    clock.advance(10 * 60_000)
    await makeTicket(api)
    expect(await next()).toMatchObject(['terminated', { error: { code: -32_024 } }])
  })

  test('shares a session with the next request, and gets another when it was ended', async () => {
    const { claims, key } = await newKey()
    const token = await issuer.sign(claims)
    const sessions = async () => {
      const text = 'select count(*)::int as links from console_links where api_key_id = $1'
      return (await service.database.pool.query(text, [key.id])).rows[0].links
    }
    await Promise.all([ask(token), ask(token), ask(token)])
    expect(await sessions()).toBe(1)
    await service.database.pool.query('delete from console_links where api_key_id = $1', [key.id])
    expect((await ask(token)).status).toBe(200)
    expect(await sessions()).toBe(1)
  })

  test('is for /mcp alone', async () => {
    const { claims } = await newKey()
    expect((await service.withToken(await issuer.sign(claims)).get('/v1/tickets')).status).toBe(401)
  })
})

describe('scopes', () => {
  const reader = ['find', 'changes_since']
  const none = 403
  const wrong = 401
  const forms: readonly (readonly [claims: Record<string, unknown>, tools: readonly string[] | number])[] = [
    [{ scope: 'tickets:read' }, reader],
    [{ scope: ' openid  tickets:read tickets:read ' }, reader],
    [{ scope: ['tickets:read', 'openid'] }, reader],
    [{ scp: 'tickets:read' }, reader],
    [{ scp: ['tickets:read', 'tickets:read'] }, reader],
    [{ scope: 'tickets:read customers:write', scp: ['tickets:read', 'tickets:write'] }, reader],
    [{ scope: '*', scp: 'tickets:read' }, reader],
    [{ scope: 'tickets:read', scp: '*' }, reader],
    [{ scope: 'tickets:read', scp: 'tickets:write' }, none],
    [{ scope: 'tickets:read', scp: '' }, none],
    [{ scope: [], scp: 'tickets:read' }, none],
    ...[
      '',
      ' ',
      [],
      [''],
      'Tickets:Read',
      'tickets:read,tickets:write',
      'tickets',
      'tickets:*',
      'openid',
    ].flatMap((list) => [[{ scope: list }, none] as const, [{ scp: list }, none] as const]),
    [{ scope: ['tickets:read tickets:write'] }, none],
    [{ scope: '__proto__ constructor' }, none],
    ...[
      {},
      0,
      1,
      null,
      true,
      false,
      [null],
      [['tickets:read']],
      ['tickets:read', 0],
      { 0: 'tickets:read' },
    ].flatMap((odd) => [
      [{ scope: odd }, wrong] as const,
      [{ scp: odd }, wrong] as const,
      [{ scope: 'tickets:read', scp: odd }, wrong] as const,
      [{ scope: odd, scp: 'tickets:read' }, wrong] as const,
    ]),
  ]

  test.each(forms)('%j', async (form, expected) => {
    const { claims } = await newKey()
    const token = await issuer.sign({ ...claims, ...form })
    if (typeof expected !== 'number') expect(await toolsOf(token)).toEqual(expected)
    else if (expected === wrong) await expectRefused(token, /claims scope and scp must be/)
    else {
      const response = await ask(token)
      expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
        none,
        'insufficient_scope',
      ])
    }
  })
})

describe('an issuer whose first address answers with', () => {
  type First = NonNullable<OauthIssuer['first']>
  const respond =
    (body: string, status = 200, headers = {}): First =>
    (_request, response) =>
      response.writeHead(status, headers).end(body)

  const firsts: readonly (readonly [string, First, RegExp])[] = [
    ['HTML', respond('<!doctype html>', 200, { 'content-type': 'text/html' }), /not JSON/],
    ['a redirect', respond('', 302, { location: '/.well-known/openid-configuration' }), /redirect/],
    ['null', respond('null'), /does not name the issuer/],
    ['a list', respond('[]'), /does not name the issuer/],
    ['a text', respond('"issuer"'), /does not name the issuer/],
    ['nothing', respond(''), /not JSON/],
    ['HTTP 204', respond('', 204), /HTTP 204/],
    ['HTTP 500', respond('{}', 500), /HTTP 500/],
    ['another issuer', respond('{"issuer":"https://other.example"}'), /does not name the issuer/],
    [
      'no address of keys',
      (_request, response) => response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: 'keys' })),
      /no jwks_uri/,
    ],
    ['too much', respond(' '.repeat(2 ** 21)), /more than/],
    ['a reset connection', ({ socket }) => socket.resetAndDestroy(), /fetch failed/],
    [
      'half a response',
      (_request, response) =>
        response.writeHead(200, { 'content-length': 9 }).write('{', () => response.destroy()),
      /terminated|closed/,
    ],
  ]

  async function metadataBy(first: First) {
    issuer.first = first
    const cold = await testService({
      clock,
      mcp: true,
      mcpIssuer: issuer.url,
      publicUrl,
      database: service.database,
    })
    const { claims } = await newKey()
    try {
      const { status } = await cold.withToken(await issuer.sign(claims)).post('/mcp', {})
      // The message is no request: the token was accepted.
      return { status, logged: cold.logged.filter(({ msg }) => /second address/.test(String(msg))) }
    } finally {
      issuer.first = null
      await cold[Symbol.asyncDispose]()
    }
  }

  test.each(firsts)('%s is read at its second, with the reason in the log', async (_what, first, reason) => {
    const { status, logged } = await metadataBy(first)
    expect(status).toBe(400)
    expect(logged).toMatchObject([{ level: 'info', reasons: [expect.stringMatching(reason)] }])
  })

  test('nothing in time is read at its second, with the reason in the log', async () => {
    const late = new AbortController()
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(late.signal)
    const { status, logged } = await metadataBy(() => late.abort(new DOMException('late', 'TimeoutError')))
    timeout.mockRestore()
    expect(status).toBe(400)
    expect(logged).toMatchObject([{ reasons: [expect.stringContaining('late')] }])
  })
})

test('a token of an organization that has moved is 503 as its key is, until its rows are dropped', async () => {
  const { api, key, claims } = await newKey()
  const { pool } = service.database
  const { organizationId } = api
  const known = await issuer.sign(claims)
  const other = await issuer.sign({ ...claims, scope: 'tickets:read' })
  const unlike = await issuer.sign({ ...claims, scope: 'bookings:read' })
  expect((await ask(known)).status).toBe(200)
  for (const table of ['organizations', 'organization_clocks'])
    await pool.query(`update ${table} set away = 'moved' where organization_id = $1`, [organizationId])
  for (const token of [key.token, known, other, unlike]) {
    const response = await ask(token)
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      503,
      'unavailable',
    ])
  }
  await transaction(pool, async (tx) => {
    for (const { name } of (await movingTables(pool)).toReversed())
      await tx.query(`delete from ${name} where organization_id = $1`, [organizationId])
  })
  expect((await ask(key.token)).status).toBe(401)
  for (const token of [known, other, unlike]) await expectRefused(token, /names no valid API key/)
})

test('an authorization server with its defaults signs tokens that act within their scopes', async () => {
  const { api, claims } = await newKey()
  await makeTicket(api)
  const scopes = ['tickets:read', 'tickets:write']
  await using server = await startAuthorizationServer({ deskwire_key: claims.deskwire_key }, scopes)
  const { url: mcpIssuer } = server
  await using desk = await testService({ mcp: true, mcpIssuer, publicUrl, database: service.database })
  const reads = await server.tokenFor({ resource, scope: 'tickets:read' })
  await using reader = await mcpClient(desk.url, reads)
  expect((await reader.listTools()).tools.map(({ name }) => name)).toEqual(['find', 'changes_since'])
  expect(await call(reader, 'find', { kind: 'tickets' })).toMatchObject({ total: 1 })
  await using writer = await mcpClient(desk.url, await server.tokenFor({ resource }))
  expect((await writer.listTools()).tools.map(({ name }) => name)).toContain('change_ticket')
  // Opaque, or for another audience.
  for (const parameters of [{}, { scope: 'tickets:read' }, { resource: `${publicUrl}/v1` }])
    expect((await desk.withToken(await server.tokenFor(parameters)).post('/mcp', {})).status).toBe(401)
})

describe('refuses a token', () => {
  test.each([
    ['for another audience', { aud: `${publicUrl}/v1` }],
    ['of another issuer', { iss: 'https://other.example' }],
    ['without an end', { exp: undefined }],
    ['that has expired', { exp: 1_700_000_000 }],
    ['that is not valid yet', { nbf: 4_000_000_000 }],
  ])('%s', async (_what, wrong) => {
    const { claims } = await newKey()
    await expectRefused(await issuer.sign({ ...claims, ...wrong }), /not valid here/)
  })

  test.each([undefined, 'x', `${crypto.randomUUID()}/${crypto.randomUUID()}`])(
    'whose key is %s',
    async (named) => {
      const { claims } = await newKey()
      await expectRefused(await issuer.sign({ ...claims, deskwire_key: named }), /names no valid API key/)
    },
  )

  // What is not understood gives nothing.
  test.each<unknown>([{}, [], 0, null, true, { toString: null }])('whose key is %j', async (named) => {
    const { claims } = await newKey()
    const list = [claims.deskwire_key]
    for (const one of [named, list])
      await expectRefused(await issuer.sign({ ...claims, deskwire_key: one }), /names no valid API key/)
  })

  test.each(['cnf', 'authorization_details'])('restricted by %s', async (claim) => {
    const { claims } = await newKey()
    for (const restriction of [{}, null, []])
      await expectRefused(await issuer.sign({ ...claims, [claim]: restriction }), /cannot be checked/)
  })

  test.each<unknown>([
    'logout+jwt',
    'id_token',
    'dpop+jwt',
    'secevent+jwt',
    '',
    'jwtx',
    {},
    ['at+jwt'],
    null,
  ])('of type %j', async (typ) => {
    const { claims } = await newKey()
    await expectRefused(await issuer.sign(claims, { typ }), /not valid here/)
  })

  test('without a signature', async () => {
    const { claims } = await newKey()
    await expectRefused(issuer.unsigned(claims), /not valid here/)
  })

  test('signed by another', async () => {
    await using impostor = await startIssuer()
    const { claims } = await newKey()
    await expectRefused(await impostor.sign(claims), /not valid here/)
  })

  test('that is not one', () => expectRefused('abc', /not valid here/))
})

test('while the issuer is down, or sends too much, keys it has published go on, and others are 503 until it is back', async () => {
  const { claims, key } = await newKey()
  const token = await issuer.sign(claims)
  await ask(token)
  await using cold = await testService({ clock, mcp: true, mcpIssuer: issuer.url, publicUrl })
  const askCold = (sent: string) => cold.withToken(sent).post('/mcp', {})
  for (const trouble of ['isDown', 'isLong'] as const) {
    issuer[trouble] = true
    try {
      expect((await ask(token)).status).toBe(200)
      const down = await askCold(token)
      expect(down.status).toBe(503)
      expect(down.json).toMatchObject({ code: 'unavailable' })
      expect((await ask(key.token)).status).toBe(200)
    } finally {
      issuer[trouble] = false
    }
  }
  // Its own database has no such key: the token itself was accepted.
  expect((await askCold(token)).json.detail).toMatch(/names no valid API key/)
})
