/** Rotation: a new token, and the old one for 24 hours more; the key stays who it is. */
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { hour, makeWebhook, readWebhook } from '../../../testbed/hooks.ts'
import { asToken, firstKeyOf, makeKey, readKey } from '../../../testbed/keys.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const clock = testClock()
const shared = sharedService({ clock })
const rotate = (api: Api, id: string) => api.post(`/v1/api-keys/${id}/rotate`, undefined)
const works = async (api: Api, token: string) =>
  (await asToken(shared(), api, token).get('/v1/customers')).json

test('both tokens work for 24 hours, and the old one not a millisecond longer', async () => {
  const api = await shared().newOrganization()
  const { token: old, ...before } = await makeKey(api)
  clock.advance(1_000)
  const rotated = await rotate(api, before.id)
  const { token, ...record } = rotated.json
  expect(rotated.status).toBe(200)
  expect(token).not.toBe(old)
  expect(record).toEqual({
    ...before,
    last4: token.slice(-4),
    previousTokenExpiresAt: new Date(clock.now() + 24 * hour).toISOString(),
    updatedAt: new Date(clock.now()).toISOString(),
  })
  expect(await readKey(api, before.id)).toEqual(record)
  clock.advance(24 * hour - 1)
  for (const one of [old, token]) expect(await works(api, one)).toHaveProperty('data')
  clock.advance(1)
  const over = await works(api, old)
  expect(over).toMatchObject({ status: 401, code: 'key_expired' })
  expect(over.detail).toContain('replaced')
  expect(await works(api, token)).toHaveProperty('data')
  expect((await readKey(api, before.id)).previousTokenExpiresAt).toBeNull()
})

test('three rotations in a row: each replaced token works to its own end', async () => {
  const api = await shared().newOrganization()
  const { id, token } = await makeKey(api)
  const tokens: string[] = [token]
  for (let n = 0; n < 3; n++) {
    tokens.push((await rotate(api, id)).json.token)
    clock.advance(6 * hour)
  }
  const alive = async () => {
    const answers = await Promise.all(tokens.map((one) => works(api, one)))
    return answers.map(({ data }) => data !== undefined)
  }
  expect(await alive()).toEqual([true, true, true, true])
  clock.advance(6 * hour)
  expect(await alive()).toEqual([false, true, true, true])
  clock.advance(6 * hour)
  expect(await alive()).toEqual([false, false, true, true])
  clock.advance(6 * hour)
  expect(await alive()).toEqual([false, false, false, true])
})

test('after a leak every replaced token is ended at once, and the newest goes on', async () => {
  const api = await shared().newOrganization()
  const { id, token: first } = await makeKey(api)
  const second = (await rotate(api, id)).json.token
  const third = (await rotate(api, id)).json
  clock.advance(1_000)
  expect((await api.delete(`/v1/api-keys/${id}/previous-token`)).status).toBe(204)
  for (const old of [first, second]) expect((await works(api, old)).code).toBe('unauthorized')
  expect(await works(api, third.token)).toHaveProperty('data')
  const after = await readKey(api, id)
  expect(after.previousTokenExpiresAt).toBeNull()
  expect(after.updatedAt > third.updatedAt).toBe(true)
  // Again there is nothing to end, and nothing moves.
  clock.advance(1_000)
  expect((await api.delete(`/v1/api-keys/${id}/previous-token`)).status).toBe(204)
  const { lastUsedAt: _, ...same } = after
  expect(await readKey(api, id)).toMatchObject(same)
})

test('a key rotates itself, and goes on with either token', async () => {
  const api = await shared().newOrganization()
  const id = await firstKeyOf(api)
  const { token } = (await rotate(api, id)).json
  const renewed = asToken(shared(), api, token)
  expect((await api.get('/v1/api-keys')).status).toBe(200)
  expect((await renewed.delete(`/v1/api-keys/${id}/previous-token`)).status).toBe(204)
  expect((await api.get('/v1/api-keys')).status).toBe(401)
  expect((await renewed.get('/v1/api-keys')).status).toBe(200)
})

test('what it registered goes on as if nothing had happened', async () => {
  const api = await shared().newOrganization()
  const key = await makeKey(api, { scopes: ['webhooks:write', 'customers:read'] })
  const webhook = await makeWebhook(asToken(shared(), api, key.token))
  expect(webhook.apiKeyId).toBe(key.id)
  const { engine, sent } = testEngine(shared(), clock)
  await rotate(api, key.id)
  await api.delete(`/v1/api-keys/${key.id}/previous-token`)
  await makeCustomer(api)
  await engine.runDue()
  expect(sent).toHaveLength(1)
  expect(await readWebhook(api, webhook.id)).toMatchObject({ status: 'active', apiKeyId: key.id })
})
