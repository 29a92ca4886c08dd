/** Idempotency-Key on the POSTs of keys: one change and one answer, the token in it. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { hour } from '../../../testbed/hooks.ts'
import { asToken, makeKey } from '../../../testbed/keys.ts'
import { lockRow, waitingChanges } from '../../../testbed/locks.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { rowsWith } from '../../../testbed/stored.ts'
import { createSecretBox } from '../../src/delivery/endpoint/secrets.ts'

const clock = testClock()
const shared = sharedService({ clock })
const once = () => ({ 'idempotency-key': randomUUID() })
const body = { name: 'Once', scopes: ['customers:read'] }

const operations = [
  [
    'create',
    async (api: Api) => (headers: Record<string, string>) => api.post('/v1/api-keys', body, headers),
  ],
  [
    'rotate',
    async (api: Api) => {
      const { id } = await makeKey(api)
      return (headers: Record<string, string>) => api.post(`/v1/api-keys/${id}/rotate`, undefined, headers)
    },
  ],
] as const

async function tokensOf({ organizationId }: Api): Promise<number> {
  const { rows } = await shared().database.pool.query(
    'select count(*)::int as count from api_key_tokens where organization_id = $1',
    [organizationId],
  )
  return rows[0].count
}

describe.each(operations)('%s', (_title, prepare) => {
  test('asked again under its key, it answers the very same bytes and does nothing', async () => {
    const api = await shared().newOrganization()
    const ask = await prepare(api)
    const headers = once()
    const first = await ask(headers)
    const before = await tokensOf(api)
    const second = await ask(headers)
    expect([second.status, second.text]).toEqual([first.status, first.text])
    expect(second.headers.get('location')).toBe(first.headers.get('location'))
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(await tokensOf(api)).toBe(before)
    expect((await asToken(shared(), api, second.json.token).get('/v1/customers')).status).toBe(200)
    clock.advance(24 * hour)
    expect((await ask(headers)).json.token).not.toBe(first.json.token)
  })

  test('twins that come at once are one change and one answer', async () => {
    const api = await shared().newOrganization()
    const ask = await prepare(api)
    const before = await tokensOf(api)
    const headers = once()
    const lock = await lockRow(shared().database, 'organization_clocks', api)
    const asked = [ask(headers), ask(headers), ask(headers)]
    await waitingChanges(shared(), 3)
    await lock.release()
    const answers = await Promise.all(asked)
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]?.json.token).toMatch(/^dwk_/)
    expect(await tokensOf(api)).toBe(before + 1)
  })
})

test('another body under the key is refused; a refusal is not kept', async () => {
  const api = await shared().newOrganization()
  const headers = once()
  expect((await api.post('/v1/api-keys', { ...body, scopes: ['x'] }, headers)).status).toBe(422)
  expect((await api.post('/v1/api-keys', body, headers)).status).toBe(201)
  const other = await api.post('/v1/api-keys', { ...body, name: 'Other' }, headers)
  expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused'])
})

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
