/** No key makes, or takes over, one that may do more than itself (specification 3.5). */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { asToken, makeKey, readKey } from '../../../testbed/keys.ts'
import { lockRow, waitingChanges } from '../../../testbed/locks.ts'
import type { Answer, Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { scopeNames } from '../../src/auth/scopes.ts'
import { kinds } from '../../src/desk/index.ts'

const shared = sharedService()
const all = scopeNames(kinds)

/** Said a second time, in other words than the service's: `*` is everything, and nothing else implies anything. */
const covers = (held: readonly string[], wanted: readonly string[]) =>
  held.includes('*') || wanted.every((scope) => held.indexOf(scope) >= 0)

// Few enough scopes that sets are often within each other.
const some = fc.uniqueArray(fc.constantFrom('customers:read', 'customers:write', 'webhooks:write', '*'), {
  minLength: 1,
})
const managing = some.map((scopes) => ['api_keys:manage', ...scopes])

const refusedAsLacking = ({ status, json }: Answer) => status === 403 && json.code === 'insufficient_scope'

/** A key of the organization with these scopes, made by one that may do everything. */
async function keyWith(api: Api, scopes: readonly string[]) {
  const key = await makeKey(api, { scopes })
  return { ...key, api: asToken(shared(), api, key.token) as Api }
}

describe('over any scopes of who asks, whom, and for what', () => {
  test('a key grants what it holds and nothing else; touches keys that hold no more, and no others', async () => {
    const api = await shared().newOrganization()
    await fc.assert(
      fc.asyncProperty(managing, some, some, async (held, targets, wanted) => {
        const asking = await keyWith(api, held)
        const target = await keyWith(api, targets)
        const one = `/v1/api-keys/${target.id}`
        const created = await asking.api.post('/v1/api-keys', { name: 'x', scopes: wanted })
        expect(created.status).toBe(covers(held, wanted) ? 201 : 403)

        const before = await readKey(api, target.id)
        const changed = await asking.api.patch(one, { scopes: wanted })
        const mayChange = covers(held, targets) && covers(held, wanted)
        expect(changed.status).toBe(mayChange ? 200 : 403)
        const { lastUsedAt: _, ...after } = await readKey(api, target.id)
        if (mayChange) expect([...after.scopes].sort()).toEqual([...wanted].sort())
        else {
          expect(refusedAsLacking(changed)).toBe(true)
          expect(before).toMatchObject(after)
        }
        const nowHeld = after.scopes as string[]
        const mayTouch = covers(held, nowHeld)
        for (const [answer, done] of [
          [await asking.api.patch(one, { name: 'y' }), 200],
          [await asking.api.post(`${one}/rotate`, undefined), 200],
          [await asking.api.delete(`${one}/previous-token`), 204],
          [await asking.api.delete(one), 204],
        ] as const) {
          expect(answer.status).toBe(mayTouch ? done : 403)
          if (!mayTouch) expect(refusedAsLacking(answer)).toBe(true)
        }
        // A revoked key is nobody; one that could not be touched is what it was.
        const managing = covers(nowHeld, ['api_keys:manage'])
        expect((await target.api.get('/v1/api-keys')).status).toBe(mayTouch ? 401 : managing ? 200 : 403)
      }),
      { numRuns: 40 },
    )
  })

  test('every scope that there is can be granted by a key that holds it, and by no other', async () => {
    const api = await shared().newOrganization()
    for (const scope of all) {
      const holder = await keyWith(api, ['api_keys:manage', scope])
      const other = await keyWith(
        api,
        all.filter((one) => one !== scope && one !== '*').concat('api_keys:manage'),
      )
      const body = { name: 'x', scopes: [scope] }
      expect((await holder.api.post('/v1/api-keys', body)).status).toBe(201)
      const refused = await other.api.post('/v1/api-keys', body)
      if (scope === 'api_keys:manage') expect(refused.status).toBe(201)
      else {
        expect(refusedAsLacking(refused)).toBe(true)
        expect(refused.json.detail).toContain(scope)
      }
    }
  })
})

describe('at the moment of the commit', () => {
  /** A request that took longer than a tenth of a second is answered that its key is gone. */
  const refusals = [
    [503, 'unavailable'],
    [401, 'unauthorized'],
  ]

  test.each([
    ['revoked', (api: Api, id: string) => api.delete(`/v1/api-keys/${id}`)],
    ['narrowed', (api: Api, id: string) => api.patch(`/v1/api-keys/${id}`, { scopes: ['api_keys:manage'] })],
  ])('a key that was just %s makes nothing, and changes nothing', async (_how, end) => {
    const api = await shared().newOrganization()
    const asking = await keyWith(api, ['api_keys:manage', 'customers:read', 'webhooks:write'])
    const target = await keyWith(api, ['customers:read'])
    const total = async () => (await api.get('/v1/api-keys')).json.pagination.total
    const before = await total()
    const lock = await lockRow(shared().database, 'organization_clocks', api)
    const ending = end(api, asking.id)
    await waitingChanges(shared(), 1)
    // All were let in and decided, and wait behind what takes their key's power away.
    const asked = [
      asking.api.post('/v1/api-keys', { name: 'x', scopes: ['customers:read'] }),
      asking.api.patch(`/v1/api-keys/${target.id}`, { name: 'taken' }),
      asking.api.post(`/v1/api-keys/${target.id}/rotate`, undefined),
      asking.api.delete(`/v1/api-keys/${target.id}`),
    ]
    await waitingChanges(shared(), 5)
    await lock.release()
    const ended = await ending
    expect([200, 204]).toContain(ended.status)
    for (const answer of await Promise.all(asked)) {
      expect(refusals).toContainEqual([answer.status, answer.json.code])
    }
    expect(await total()).toBe(ended.status === 204 ? before - 1 : before)
    expect(await readKey(api, target.id)).toMatchObject({ name: 'Test', last4: target.last4 })
  })

  test('a key that was just revoked registers no endpoint, and enables none', async () => {
    const api = await shared().newOrganization()
    const asking = await keyWith(api, ['webhooks:write', 'customers:read'])
    const body = { url: 'https://127.0.0.1:1/hook', events: ['customer.created'] }
    const { id } = (await api.post('/v1/webhooks', body)).json
    await api.patch(`/v1/webhooks/${id}`, { status: 'disabled' })
    const lock = await lockRow(shared().database, 'organization_clocks', api)
    const revoked = api.delete(`/v1/api-keys/${asking.id}`)
    await waitingChanges(shared(), 1)
    const asked = [
      asking.api.post('/v1/webhooks', body),
      asking.api.patch(`/v1/webhooks/${id}`, { status: 'active' }),
    ]
    await waitingChanges(shared(), 3)
    await lock.release()
    expect((await revoked).status).toBe(204)
    for (const answer of await Promise.all(asked)) {
      expect(refusals).toContainEqual([answer.status, answer.json.code])
    }
    expect((await api.get('/v1/webhooks')).json).toMatchObject({ data: [{ id, status: 'disabled' }] })
  })
})
