/** Creating and changing keys: what is accepted, what is refused and why. */
import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { hour } from '../../../testbed/hooks.ts'
import { asToken, firstKeyOf, makeKey, readKey } from '../../../testbed/keys.ts'
import { lockRow, waitingChanges } from '../../../testbed/locks.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { keyLimit } from '../../src/keys/keys.ts'

const clock = testClock()
const shared = sharedService({ clock })
const at = (milliseconds: number) => new Date(clock.now() + milliseconds).toISOString()
/** A use is noted beside calls, and may show from one to the next. */
const unused = ({ lastUsedAt: _, ...rest }: Record<string, unknown>) => rest
const patch = (api: Api, id: string, body: unknown) => api.patch(`/v1/api-keys/${id}`, body)

describe('what a body may hold', () => {
  test.each([
    ['/name', { scopes: ['*'] }, 'required'],
    ['/name', { name: '', scopes: ['*'] }, 'too_short'],
    ['/name', { name: 'x'.repeat(256), scopes: ['*'] }, 'too_long'],
    ['/name', { name: null, scopes: ['*'] }, 'invalid_type'],
    ['/scopes', { name: 'x' }, 'required'],
    ['/scopes', { name: 'x', scopes: [] }, 'invalid_value'],
    ['/scopes', { name: 'x', scopes: 'customers:read' }, 'invalid_type'],
    ['/scopes/1', { name: 'x', scopes: ['customers:read', 'customers:reed'] }, 'invalid_value'],
    ['/expiresAt', { name: 'x', scopes: ['*'], expiresAt: 'tomorrow' }, 'invalid_format'],
    ['/expiresAt', { name: 'x', scopes: ['*'], expiresAt: '2020-01-01T00:00:00Z' }, 'invalid_value'],
    ['/token', { name: 'x', scopes: ['*'], token: 'dwk_' }, 'unknown_field'],
    ['/id', { name: 'x', scopes: ['*'], id: 'x' }, 'read_only'],
    ['/last4', { name: 'x', scopes: ['*'], last4: 'abcd' }, 'read_only'],
  ])('%s is refused in %j', async (pointer, body, code) => {
    const refused = await shared().api.post('/v1/api-keys', body)
    expect([refused.status, refused.json.code]).toEqual([422, 'validation_failed'])
    expect(refused.json.errors).toMatchObject([{ pointer, code }])
  })

  test('a scope that there is not is told which there are', async () => {
    const refused = await shared().api.post('/v1/api-keys', { name: 'x', scopes: ['everything'] })
    const { detail } = refused.json.errors[0]
    for (const scope of ['customers:read', 'tickets:write', 'webhooks:write', 'api_keys:manage', '*'])
      expect(detail).toContain(scope)
  })

  test('a key expires in a time to come, from the very millisecond on', async () => {
    const api = await shared().newOrganization()
    const now = await api.post('/v1/api-keys', { name: 'x', scopes: ['customers:read'], expiresAt: at(0) })
    expect(now.json.errors).toMatchObject([{ pointer: '/expiresAt', code: 'invalid_value' }])
    const key = await makeKey(api, { expiresAt: at(hour) })
    expect(key.expiresAt).toBe(at(hour))
    const who = asToken(shared(), api, key.token)
    clock.advance(hour - 1)
    expect((await who.get('/v1/customers')).status).toBe(200)
    clock.advance(1)
    expect((await who.get('/v1/customers')).json.code).toBe('key_expired')
  })

  test('an organization has a bounded number of keys', async () => {
    const api = await shared().newOrganization()
    await shared().database.pool.query(
      `insert into api_keys (organization_id, id, name, scopes, created_at, updated_at)
         select $1, gen_random_uuid(), 'filler', '{tickets:read}', now(), now() from generate_series(1, $2)`,
      [api.organizationId, keyLimit - 2],
    )
    await makeKey(api)
    const refused = await api.post('/v1/api-keys', { name: 'x', scopes: ['customers:read'] })
    expect([refused.status, refused.json.code]).toEqual([409, 'limit_reached'])
  })
})

describe('a change', () => {
  test('of name, scopes and expiry shows at once, and moves updatedAt each time', async () => {
    const api = await shared().newOrganization()
    const { id, token, ...before } = await makeKey(api, { expiresAt: at(hour) })
    const who = asToken(shared(), api, token)
    const named = (await patch(api, id, { name: 'Renamed' })).json
    expect(named).toEqual({ ...before, id, name: 'Renamed', updatedAt: named.updatedAt })
    expect(named.updatedAt > before.updatedAt).toBe(true)
    expect((await who.get('/v1/tickets')).status).toBe(403)
    const widened = (await patch(api, id, { scopes: ['tickets:read'], expiresAt: null })).json
    expect(widened).toMatchObject({
      ...unused(named),
      scopes: ['tickets:read'],
      expiresAt: null,
      updatedAt: widened.updatedAt,
    })
    expect(widened.updatedAt > named.updatedAt).toBe(true)
    expect((await who.get('/v1/tickets')).status).toBe(200)
    expect((await who.get('/v1/customers')).status).toBe(403)
    clock.advance(2 * hour)
    expect((await who.get('/v1/tickets')).status).toBe(200)
    expect(unused(await readKey(api, id))).toEqual(unused(widened))
  })

  test('that changes nothing stamps nothing', async () => {
    const api = await shared().newOrganization()
    const { token: _, ...before } = await makeKey(api, { expiresAt: at(hour) })
    clock.advance(1_000)
    const { name, scopes, expiresAt } = before
    for (const body of [{}, { name }, { name, scopes, expiresAt }]) {
      expect((await patch(api, before.id, body)).json).toEqual(before)
    }
    expect(await readKey(api, before.id)).toEqual(before)
  })

  test('does not bring an expired key back to life, nor does a rotation; its name may still change', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeKey(api, { expiresAt: at(hour) })
    clock.advance(hour)
    for (const refused of [
      await patch(api, id, { expiresAt: at(hour) }),
      await patch(api, id, { expiresAt: null }),
      await api.post(`/v1/api-keys/${id}/rotate`, undefined),
    ]) {
      expect([refused.status, refused.json.code]).toEqual([409, 'invalid_transition'])
      expect(refused.json.detail).toContain('expired')
    }
    expect((await patch(api, id, { name: 'Over' })).json.name).toBe('Over')
    expect((await api.delete(`/v1/api-keys/${id}`)).status).toBe(204)
  })

  test('decided on an older version is decided again: none of two is lost', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeKey(api)
    const lock = await lockRow(shared().database, 'organization_clocks', api)
    const asked = [patch(api, id, { name: 'New' }), patch(api, id, { scopes: ['tickets:read'] })]
    await waitingChanges(shared(), 2)
    await lock.release()
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200])
    expect(await readKey(api, id)).toMatchObject({ name: 'New', scopes: ['tickets:read'] })
  })
})

describe('the last key that can manage keys', () => {
  test('is neither revoked nor narrowed, until another lives that can', async () => {
    const api = await shared().newOrganization()
    const first = await firstKeyOf(api)
    await makeKey(api, { scopes: ['customers:read', 'webhooks:write'] })
    await makeKey(api, { scopes: ['*'], expiresAt: at(hour) })
    clock.advance(hour)
    for (const refused of [
      await api.delete(`/v1/api-keys/${first}`),
      await patch(api, first, { scopes: ['customers:read'] }),
    ]) {
      expect([refused.status, refused.json.code]).toEqual([409, 'last_managing_key'])
    }
    expect((await patch(api, first, { scopes: ['api_keys:manage', 'customers:read'] })).status).toBe(200)
    await makeKey(api, { scopes: ['api_keys:manage'] })
    expect((await patch(api, first, { scopes: ['customers:read'] })).status).toBe(200)
    expect((await api.get('/v1/api-keys')).status).toBe(403)
  })

  test('is kept when the last two revoke each other, or themselves, at the same moment', async () => {
    for (const crosswise of [true, false]) {
      const api = await shared().newOrganization()
      const [a, b] = [await firstKeyOf(api), await makeKey(api, { scopes: ['*'] })]
      const other = asToken(shared(), api, b.token)
      const lock = await lockRow(shared().database, 'organization_clocks', api)
      const asked = [
        api.delete(`/v1/api-keys/${crosswise ? b.id : a}`),
        other.delete(`/v1/api-keys/${crosswise ? a : b.id}`),
      ]
      await waitingChanges(shared(), 2)
      await lock.release()
      const statuses = (await Promise.all(asked)).map(({ status, json }) => json?.code ?? status)
      // Crosswise, the second to come is revoked before its own request counts: before or after its key was looked up.
      const second = crosswise ? /^(unauthorized|unavailable)$/ : /^last_managing_key$/
      expect(statuses.sort()).toEqual([204, expect.stringMatching(second)])
      const alive = [await api.get('/v1/api-keys'), await other.get('/v1/api-keys')]
      expect(alive.map(({ status }) => status).sort()).toEqual([200, 401])
    }
  })
})
