/** Reading keys: the record, the list, and what is never shown. */
import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { asToken, firstKeyOf, makeKey, readKey } from '../../../testbed/keys.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const clock = testClock()
const shared = sharedService({ clock })

test('a new key answers 201 with its token, this once, and works at once', async () => {
  const api = await shared().newOrganization()
  const created = await api.post('/v1/api-keys', {
    name: 'Reports',
    scopes: ['customers:read', 'tickets:read', 'customers:read'],
  })
  const { token, ...record } = created.json
  expect(created.status).toBe(201)
  expect(created.headers.get('location')).toBe(`/v1/api-keys/${record.id}`)
  expect(token).toMatch(/^dwk_[0-9A-Za-z]{36}$/)
  const now = new Date(clock.now()).toISOString()
  expect(record).toEqual({
    id: record.id,
    object: 'api_key',
    organizationId: api.organizationId,
    name: 'Reports',
    scopes: ['customers:read', 'tickets:read'],
    expiresAt: null,
    last4: token.slice(-4),
    previousTokenExpiresAt: null,
    lastUsedAt: null,
    createdAt: now,
    updatedAt: now,
  })
  expect(await readKey(api, record.id)).toEqual(record)
  const key = asToken(shared(), api, token)
  expect((await key.get('/v1/customers')).status).toBe(200)
  expect((await key.post('/v1/customers', { name: 'x' })).json.code).toBe('insufficient_scope')
})

test('no answer and no line of the log shows a token but the one that makes it', async () => {
  const api = await shared().newOrganization()
  const { id, token } = await makeKey(api, {}, { 'idempotency-key': 'once' })
  const answers = [
    await api.get(`/v1/api-keys/${id}`),
    await api.get('/v1/api-keys'),
    await api.patch(`/v1/api-keys/${id}`, { name: 'Other' }),
  ]
  for (const { status, text } of answers) {
    expect(status).toBe(200)
    expect(text).not.toMatch(/"token"|dwk_/)
  }
  expect(JSON.stringify(shared().logged)).not.toContain(token)
  for (const table of ['api_keys', 'api_key_tokens', 'idempotency_keys']) {
    const { rows } = await shared().database.pool.query(`select t::text as row from ${table} t`)
    expect(rows.filter(({ row }) => row.includes(token.slice(4, 34)))).toEqual([])
  }
})

test('any key reads itself, and no other', async () => {
  const api = await shared().newOrganization()
  const key = await shared().newKey(api.organizationId, ['tickets:read'])
  const own = await key.get('/v1/api-keys/self')
  expect(own.status).toBe(200)
  expect(own.json).toMatchObject({ object: 'api_key', scopes: ['tickets:read'], last4: key.token.slice(-4) })
  expect(own.text).not.toContain(key.token)
  expect((await key.get(`/v1/api-keys/${own.json.id}`)).json.code).toBe('insufficient_scope')
  expect((await shared().withToken(null).get('/v1/api-keys/self')).json.code).toBe('unauthorized')
})

describe('the list', () => {
  test('has the newest first, by pages, between times of creation', async () => {
    const api = await shared().newOrganization()
    const first = await firstKeyOf(api)
    const ids: string[] = [first]
    for (let n = 0; n < 5; n++) {
      clock.advance(1_000)
      ids.unshift((await makeKey(api, { name: `Key ${n}` })).id)
    }
    const idsOf = (answer: { json: { data: { id: string }[] } }) => answer.json.data.map(({ id }) => id)
    expect(idsOf(await api.get('/v1/api-keys'))).toEqual(ids)
    const page = await api.get('/v1/api-keys?limit=2&offset=3')
    expect(idsOf(page)).toEqual(ids.slice(3, 5))
    expect(page.json.pagination).toEqual({ total: 6, limit: 2, offset: 3, hasMore: true })
    const end = await api.get('/v1/api-keys?limit=1000&offset=6')
    expect(end.json).toEqual({ data: [], pagination: { total: 6, limit: 100, offset: 6, hasMore: false } })
    const { createdAt } = await readKey(api, ids[2] as string)
    const later = await api.get(`/v1/api-keys?createdAfter=${createdAt}`)
    expect([idsOf(later), later.json.pagination.total]).toEqual([ids.slice(0, 2), 2])
    expect(idsOf(await api.get(`/v1/api-keys?createdBefore=${createdAt}`))).toEqual(ids.slice(3))
  })

  test.each([
    'updatedAfter=1970-01-01T00:00:00Z',
    'cursor=x',
    'wait=5',
    'limit=0',
    'limit=1&limit=2',
    'offset=-1',
    'createdAfter=yesterday',
    'name=x',
  ])('refuses ?%s by name', async (query) => {
    const refused = await shared().api.get(`/v1/api-keys?${query}`)
    expect([refused.status, refused.json.code]).toEqual([400, 'invalid_parameter'])
    expect(refused.json.detail).toContain(query.split('=')[0])
  })
})

test('every call needs api_keys:manage, and is let in with it', async () => {
  const api = await shared().newOrganization()
  const all = (await makeKey(api, { scopes: ['*'] })) as { token: string }
  const scopes = ['customers:read', 'customers:write', 'webhooks:read', 'webhooks:write', 'teammates:write']
  const calls = (id: string) =>
    [
      ['POST', '/v1/api-keys', { name: 'x', scopes: ['customers:read'] }, 201],
      ['GET', '/v1/api-keys', undefined, 200],
      ['GET', `/v1/api-keys/${id}`, undefined, 200],
      ['PATCH', `/v1/api-keys/${id}`, { name: 'y' }, 200],
      ['POST', `/v1/api-keys/${id}/rotate`, undefined, 200],
      ['DELETE', `/v1/api-keys/${id}/previous-token`, undefined, 204],
      ['DELETE', `/v1/api-keys/${id}`, undefined, 204],
    ] as const
  const send = (who: typeof api, [method, path, body]: ReturnType<typeof calls>[number]) => {
    switch (method) {
      case 'POST':
        return who.post(path, body)
      case 'PATCH':
        return who.patch(path, body)
      case 'DELETE':
        return who.delete(path)
      case 'GET':
        return who.get(path)
    }
  }
  const { id } = await makeKey(api)
  const without = asToken(shared(), api, (await makeKey(api, { scopes })).token)
  for (const call of calls(id)) {
    const refused = await send(without, call)
    expect([refused.status, refused.json.code]).toEqual([403, 'insufficient_scope'])
    expect(refused.json.detail).toContain('api_keys:manage')
  }
  for (const granted of [['api_keys:manage', 'customers:read'], ['*']]) {
    const who = asToken(
      shared(),
      api,
      (await makeKey(asToken(shared(), api, all.token), { scopes: granted })).token,
    )
    const target = await makeKey(api)
    for (const call of calls(target.id))
      expect([call[0], (await send(who, call)).status]).toEqual([call[0], call[3]])
  }
})
