/** Links to the console: good once, for a session that may do no more than it says, and that ends with whatever it hangs on. */
import { describe, expect, test } from 'vitest'
import { at, testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { day, hour, makeWebhook, minute } from '../../../testbed/hooks.ts'
import { asToken, makeKey } from '../../../testbed/keys.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { newToken } from '../../src/auth/token.ts'
import { linkLimit } from '../../src/keys/console-links.ts'

const clock = testClock()
const shared = sharedService({ clock })
const nobody = () => shared().withToken(null)
const scopes = ['customers:read', 'webhooks:read']

async function makeLink(api: Api, body: object = {}) {
  const answer = await api.post('/v1/console-links', { scopes, ...body })
  expect(answer.status, answer.text).toBe(201)
  return answer.json
}
const secretOf = ({ url }: { url: string }) => url.split('#link=')[1] ?? ''
const exchange = (link: string) => nobody().post('/v1/console-links/exchange', { link })

async function sessionOf(api: Api, link: { url: string }): Promise<Api & { id: string }> {
  const answer = await exchange(secretOf(link))
  expect(answer.status, answer.text).toBe(200)
  return { ...asToken(shared(), api, answer.json.token), id: answer.json.id }
}
const told = async (asked: ReturnType<Api['get']>) => {
  const { status, json } = await asked
  return [status, json?.code]
}
const lives = (session: Api) => told(session.get('/v1/customers'))

test('a link is exchanged once, for a session that may do what it says and nothing else', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api)
  const link = await makeLink(api)
  expect(link).toEqual({
    id: expect.any(String),
    object: 'console_link',
    scopes,
    url: `${shared().url}/console#link=${secretOf(link)}`,
    expiresAt: at(clock.now() + hour),
  })
  expect(secretOf(link)).toMatch(/^dwl_[0-9A-Za-z]{36}$/)
  // The secret is no token, and the token no secret.
  expect(await lives(asToken(shared(), api, secretOf(link)))).toEqual([401, 'unauthorized'])
  const answers = await Promise.all(Array.from({ length: 4 }, () => exchange(secretOf(link))))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
  const { json, headers } = answers.find(({ status }) => status === 200)!
  expect(headers.get('cache-control')).toBe('no-store')
  expect(json).toEqual({
    id: link.id,
    object: 'console_session',
    organizationId: api.organizationId,
    scopes,
    token: expect.stringMatching(/^dws_[0-9A-Za-z]{36}$/),
    expiresAt: link.expiresAt,
  })
  expect(await told(exchange(json.token))).toEqual([404, 'not_found'])
  const session = asToken(shared(), api, json.token)
  expect((await session.get(`/v1/customers/${id}`)).status).toBe(200)
  expect((await session.get('/v1/stats')).status).toBe(200)
  const [itself, itsKey] = [await session.get('/v1/api-keys/self'), await api.get('/v1/api-keys/self')]
  expect([itself.json.id, itself.json.scopes, itsKey.json.scopes]).toEqual([itsKey.json.id, scopes, ['*']])
  expect(await told(session.patch(`/v1/customers/${id}`, { name: 'x' }))).toEqual([403, 'insufficient_scope'])
  expect(await told(session.get('/v1/tickets'))).toEqual([403, 'insufficient_scope'])
  expect(await told(session.get('/v1/api-keys'))).toEqual([403, 'insufficient_scope'])
  expect(await told(session.post('/v1/console-links', { scopes }))).toEqual([403, 'insufficient_scope'])
  const { rows } = await shared().database.pool.query(
    'select encode(c.token_hash, $2) as hash from console_links c where c.organization_id = $1',
    [api.organizationId, 'escape'],
  )
  expect(JSON.stringify(rows)).not.toContain(json.token)
})

test('an endpoint names the link whose session registered it, also when that is over', async () => {
  const api = await shared().newOrganization()
  const all = { scopes: ['webhooks:write', 'webhooks:read', 'customers:read'] }
  const session = await sessionOf(api, await makeLink(api, all))
  const other = await sessionOf(api, await makeLink(api, all))
  const made = await makeWebhook(session)
  expect(made).toMatchObject({ consoleLinkId: session.id })
  const { id } = await makeWebhook(api)
  const path = `/v1/webhooks/${id}`
  const link = async () => (await api.get(path)).json.consoleLinkId
  expect(await link()).toBeNull()
  // Who becomes the registrant is named, as the key is; other changes leave it.
  await session.patch(path, { events: ['customer.created', 'customer.updated'] })
  expect(await link()).toBe(session.id)
  await other.patch(path, { description: 'Ours' })
  expect(await link()).toBe(session.id)
  await session.patch(path, { status: 'disabled' })
  expect((await other.patch(path, { status: 'active' })).json.consoleLinkId).toBe(other.id)
  await other.delete(`/v1/console-links/${other.id}`)
  expect(await link()).toBe(other.id)
  await api.patch(path, { events: ['customer.created'] })
  expect(await link()).toBeNull()
  const { data } = (await api.get('/v1/webhooks')).json
  const links = new Map(data.map(({ id, consoleLinkId }: Record<string, string>) => [id, consoleLinkId]))
  expect(Object.fromEntries(links)).toEqual({ [id]: null, [made.id]: session.id })
})

test('what a session registers, its key answers for', async () => {
  const api = await shared().newOrganization()
  const session = await sessionOf(
    api,
    await makeLink(api, { scopes: ['customers:read', 'webhooks:write', 'webhooks:read'] }),
  )
  const { apiKeyId } = await makeWebhook(session)
  expect((await api.get('/v1/api-keys')).json.data.map(({ id }: { id: string }) => id)).toContain(apiKeyId)
  const refused = await session.post('/v1/webhooks', {
    url: 'https://127.0.0.1:1/hook',
    events: ['ticket.created'],
  })
  expect([refused.status, refused.json.code]).toEqual([403, 'insufficient_scope'])
})

describe('a session ends', () => {
  test('with its link, and so does a link that nobody opened', async () => {
    const api = await shared().newOrganization()
    const unopened = await makeLink(api, { expiresIn: 60 })
    const session = await sessionOf(api, await makeLink(api, { expiresIn: 60 }))
    clock.advance(minute - 1)
    expect(await lives(session)).toEqual([200, undefined])
    clock.advance(1)
    expect(await lives(session)).toEqual([401, 'key_expired'])
    expect(await told(exchange(secretOf(unopened)))).toEqual([404, 'not_found'])
    clock.advance(day)
    await shared().app.maintenance.run()
    expect(await lives(session)).toEqual([401, 'unauthorized'])
  })

  test('with its key, when that is revoked or expires, and is narrowed with it', async () => {
    const api = await shared().newOrganization()
    const all = { scopes: [...scopes, 'webhooks:write'], expiresAt: at(clock.now() + hour) }
    const [revoked, expiring] = [await makeKey(api, all), await makeKey(api, all)]
    const keys = [revoked, expiring].map(({ token }) => asToken(shared(), api, token))
    const sessions = []
    for (const key of keys) sessions.push(await sessionOf(api, await makeLink(key, { expiresIn: 7200 })))
    const waiting = await makeLink(keys[0]!)
    await api.patch(`/v1/api-keys/${expiring.id}`, { scopes: ['webhooks:read', 'tickets:read'] })
    expect(await lives(sessions[1]!)).toEqual([403, 'insufficient_scope'])
    expect(await told(sessions[1]!.get('/v1/webhooks'))).toEqual([200, undefined])
    expect(await told(sessions[1]!.get('/v1/tickets'))).toEqual([403, 'insufficient_scope'])
    await api.delete(`/v1/api-keys/${revoked.id}`)
    expect(await lives(sessions[0]!)).toEqual([401, 'unauthorized'])
    expect(await told(exchange(secretOf(waiting)))).toEqual([404, 'not_found'])
    clock.advance(hour)
    expect(await told(sessions[1]!.get('/v1/webhooks'))).toEqual([401, 'key_expired'])
  })

  test('by DELETE: of its key, of a key that manages keys, of itself, and of nobody else', async () => {
    const api = await shared().newOrganization()
    const key = await shared().newKey(api.organizationId, scopes)
    const stranger = await shared().newKey(api.organizationId, scopes)
    const links = []
    for (let n = 0; n < 4; n++) links.push(await makeLink(key))
    const [first, second, third] = links.map(({ id }) => `/v1/console-links/${id}`) as [
      string,
      string,
      string,
    ]
    const session = await sessionOf(api, links[0])
    for (const other of [stranger, await shared().newOrganization()])
      expect(await told(other.delete(first))).toEqual([404, 'not_found'])
    expect(await told(session.delete(second))).toEqual([404, 'not_found'])
    expect(await lives(session)).toEqual([200, undefined])
    for (const [who, which, link] of [
      [session, first, links[0]],
      [key, second, links[1]],
      [api, third, links[2]],
    ] as const) {
      expect((await who.delete(which)).status).toBe(204)
      expect(await told(exchange(secretOf(link)))).toEqual([404, 'not_found'])
      expect(await told(key.delete(which))).toEqual([404, 'not_found'])
    }
    expect(await lives(session)).toEqual([401, 'unauthorized'])
    expect((await sessionOf(api, links[3])).id).toBe(links[3].id)
  })
})

test.each([
  [{ scopes: ['*'] }, 422, '/scopes/0'],
  [{ scopes: ['api_keys:manage'] }, 422, '/scopes/0'],
  [{ scopes: [] }, 422, '/scopes'],
  [{ scopes, expiresIn: 86_401 }, 422, '/expiresIn'],
  [{ scopes, expiresIn: 59 }, 422, '/expiresIn'],
  [{ scopes, theme: 'dark' }, 422, '/theme'],
  [{ scopes: ['tickets:read'] }, 403, null],
])('%j is refused', async (body, status, pointer) => {
  const api = await shared().newOrganization()
  const key = await shared().newKey(api.organizationId, scopes)
  const answer = await key.post('/v1/console-links', body)
  expect(answer.status).toBe(status)
  if (pointer !== null) expect(answer.json.errors[0].pointer).toBe(pointer)
})

test('what is no link is not found, whatever it is', async () => {
  for (const link of ['x', newToken('link'), newToken('session'), newToken()])
    expect(await told(exchange(link))).toEqual([404, 'not_found'])
  expect((await nobody().post('/v1/console-links/exchange', {})).status).toBe(422)
})

test('a stored answer is given again to the same key, not to a session nor when the key has less', async () => {
  const api = await shared().newOrganization()
  const made = await makeKey(api, { scopes: [...scopes, 'webhooks:write'] })
  const key = asToken(shared(), api, made.token)
  const headers = { 'idempotency-key': 'once' }
  const first = await key.post('/v1/console-links', { scopes }, headers)
  const again = await key.post('/v1/console-links', { scopes }, headers)
  expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
  const session = await sessionOf(api, first.json)
  expect(await told(session.post('/v1/console-links', { scopes }, headers))).toEqual([
    403,
    'insufficient_scope',
  ])
  await api.patch(`/v1/api-keys/${made.id}`, { scopes: ['webhooks:read'] })
  expect(await told(key.post('/v1/console-links', { scopes }, headers))).toEqual([403, 'insufficient_scope'])
})

test('so many of an organization may be open', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeLink(api)
  await shared().database.pool.query(
    `insert into console_links (token_hash, organization_id, id, api_key_id, scopes, created_at, expires_at)
       select sha256(n::text::bytea || c.token_hash), c.organization_id, gen_random_uuid(), c.api_key_id, c.scopes, c.created_at, c.expires_at
         from console_links c cross join generate_series(2, $2::int) n where c.id = $1`,
    [id, linkLimit],
  )
  expect(await told(api.post('/v1/console-links', { scopes }))).toEqual([409, 'limit_reached'])
  await api.delete(`/v1/console-links/${id}`)
  await makeLink(api)
})
