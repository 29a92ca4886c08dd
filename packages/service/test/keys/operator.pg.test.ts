/** Keys as the operator lists and revokes them, without a key of his own. */
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeWebhook, readWebhook } from '../../../testbed/hooks.ts'
import { asToken, firstKeyOf, makeKey } from '../../../testbed/keys.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { listKeys, revokeKey } from '../../src/keys/operator.ts'

const clock = testClock()
const shared = sharedService({ clock })
const nobody = '01980000-0000-7000-8000-000000000009'

test('they are listed as the API shows them, the newest first, with no token', async () => {
  const api = await shared().newOrganization()
  clock.advance(1)
  await makeKey(api, { name: 'Reader', expiresAt: '2099-01-01T00:00:00Z' })
  const { pool } = shared().database
  const listed = await listKeys(pool, clock, api.organizationId)
  expect(listed).toEqual((await api.get('/v1/api-keys')).json.data)
  expect(listed?.map(({ name }) => name)).toEqual(['Reader', 'First key'])
  expect(await listKeys(pool, clock, nobody)).toBeNull()
})

test('one is revoked at once with what it registered, the last that manages keys too', async () => {
  const api = await shared().newOrganization()
  const { pool } = shared().database
  const key = await makeKey(api, { scopes: ['webhooks:write', 'customers:read'] })
  const own = await makeWebhook(asToken(shared(), api, key.token))
  expect(await revokeKey(pool, clock, api.organizationId, key.id)).toMatchObject({ id: key.id, name: 'Test' })
  expect((await shared().withToken(key.token).get('/v1/customers')).status).toBe(401)
  expect(await readWebhook(api, own.id)).toMatchObject({ disabledReason: 'registrant_revoked' })
  expect(await revokeKey(pool, clock, api.organizationId, key.id)).toBeNull()

  const other = await shared().newOrganization()
  expect(await revokeKey(pool, clock, other.organizationId, await firstKeyOf(api))).toBeNull()
  expect(await revokeKey(pool, clock, api.organizationId, await firstKeyOf(api))).toMatchObject({
    name: 'First key',
  })
  expect((await api.get('/v1/customers')).status).toBe(401)
})
