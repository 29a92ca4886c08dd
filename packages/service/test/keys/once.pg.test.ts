/** What is stored of an answer with a token under an Idempotency-Key. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { makeKey } from '../../../testbed/keys.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { rowsWith } from '../../../testbed/stored.ts'
import { createSecretBox } from '../../src/delivery/endpoint/secrets.ts'

const clock = testClock()
const shared = sharedService({ clock })
const once = () => ({ 'idempotency-key': randomUUID() })
const body = { name: 'Once', scopes: ['customers:read'] }

test('no row holds a token: the stored response is encrypted, and erased when its key is revoked', async () => {
  const api = await shared().newOrganization()
  const headers = once()
  const { id, token } = await makeKey(api, body, headers)
  const kept = async () => {
    const { rows } = await shared().database.pool.query(
      'select body, sealed from idempotency_keys where organization_id = $1',
      [api.organizationId],
    )
    return rows
  }
  const [{ body: plain, sealed }] = await kept()
  expect(plain).toBeNull()
  expect(await rowsWith(shared().database.pool, token.slice(4, 34))).toEqual({})
  expect((sealed as Buffer).includes(token.slice(4, 34))).toBe(false)
  const box = createSecretBox(deliverySettings.encryptionKey)
  const owner = { organizationId: api.organizationId, webhookId: id }
  expect(JSON.parse(box.open(sealed, owner)).token).toBe(token)
  await api.delete(`/v1/api-keys/${id}`)
  expect(await kept()).toEqual([{ body: null, sealed: null }])
  const gone = await api.post('/v1/api-keys', body, headers)
  expect([gone.status, gone.json.code]).toEqual([404, 'not_found'])
  expect((await api.get('/v1/api-keys')).json.pagination.total).toBe(1)
})
