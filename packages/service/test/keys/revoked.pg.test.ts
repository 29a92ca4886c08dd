/** Revoked keys are listed for 30 days, with the key that revoked them. */
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { day } from '../../../testbed/hooks.ts'
import { asToken, firstKeyOf, makeKey } from '../../../testbed/keys.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { revokeKey } from '../../src/keys/operator.ts'
import { findRevoked, forgetRevoked, revokedKept } from '../../src/keys/store.ts'

const clock = testClock()
const shared = sharedService({ clock })

const revoked = async (api: Api, query = '') => {
  const answer = await api.get(`/v1/api-keys?revoked=true${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.json
}

test('a revoked key shows what it was, when it was revoked and by which key', async () => {
  const api = await shared().newOrganization()
  const { token, ...first } = await makeKey(api, { name: 'Search index' })
  await asToken(shared(), api, token).get('/v1/customers')
  const manager = await makeKey(api, { name: 'Manager', scopes: ['api_keys:manage', 'customers:read'] })
  expect((await revoked(api)).data).toEqual([])
  clock.advance(1_000)
  const at = new Date(clock.now()).toISOString()
  await asToken(shared(), api, manager.token).delete(`/v1/api-keys/${first.id}`)
  const [shown] = (await revoked(api)).data
  expect(shown).toEqual({
    ...first,
    lastUsedAt: shown.lastUsedAt,
    revokedAt: at,
    revokedBy: { id: manager.id, name: 'Manager' },
  })
  expect(JSON.stringify(shown)).not.toContain(token)
  // By itself, and by the operator.
  clock.advance(1_000)
  await asToken(shared(), api, manager.token).delete(`/v1/api-keys/${manager.id}`)
  clock.advance(1_000)
  const last = await makeKey(api, { name: 'Last' })
  await revokeKey(shared().database.pool, clock, api.organizationId, last.id)
  const { data, pagination } = await revoked(api)
  expect(data.map(({ name, revokedBy }: { name: string; revokedBy: unknown }) => [name, revokedBy])).toEqual([
    ['Last', null],
    ['Manager', { id: manager.id, name: 'Manager' }],
    ['Search index', { id: manager.id, name: 'Manager' }],
  ])
  expect(pagination).toEqual({ total: 3, limit: 20, offset: 0, hasMore: false })
  expect((await revoked(api, '&limit=1&offset=1')).data.map(({ id }: { id: string }) => id)).toEqual([
    manager.id,
  ])
  expect((await revoked(api, `&createdAfter=${at}`)).pagination.total).toBe(1)
  // The living are listed without them, and without these fields.
  for (const query of ['', '?revoked=false']) {
    const { data } = (await api.get(`/v1/api-keys${query}`)).json
    expect(data.map(({ id }: { id: string }) => id)).toEqual([await firstKeyOf(api)])
    expect(data[0]).not.toHaveProperty('revokedAt')
  }
  expect((await api.get(`/v1/api-keys/${first.id}`)).status).toBe(404)
  expect((await revoked(await shared().newOrganization())).data).toEqual([])
})

test('after 30 days it is no longer listed, and then forgotten', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeKey(api)
  await api.delete(`/v1/api-keys/${id}`)
  clock.advance(30 * day - 1)
  expect((await revoked(api)).pagination.total).toBe(1)
  const { pool } = shared().database
  const kept = async () =>
    (await pool.query('select 1 from revoked_api_keys where organization_id = $1', [api.organizationId]))
      .rowCount
  await forgetRevoked(pool, clock.now() - revokedKept)
  expect(await kept()).toBe(1)
  clock.advance(1)
  expect((await revoked(api)).pagination.total).toBe(0)
  await forgetRevoked(pool, clock.now() - revokedKept)
  expect(await kept()).toBe(0)
})

test('a value of revoked other than true and false is refused with both', async () => {
  const { status, json } = await shared().api.get('/v1/api-keys?revoked=yes')
  expect([status, json.code]).toEqual([400, 'invalid_parameter'])
  expect(json.detail).toContain('revoked must be one of true, false')
})

test('a page is read by the index on the time of revocation', async () => {
  const { pool } = shared().database
  const { organizationId } = await shared().newOrganization()
  await pool.query(
    `insert into revoked_api_keys (organization_id, id, name, scopes, last4, created_at, updated_at, revoked_at)
       select $1, gen_random_uuid(), 'Old', '{tickets:read}', 'abcd', now(), now(), now() - n * interval '1 minute'
         from generate_series(1, 5000) n`,
    [organizationId],
  )
  await pool.query('analyze revoked_api_keys')
  const plans: string[] = []
  const db = {
    async query(text: string, values: unknown[]) {
      const { rows } = await pool.query(`explain ${text}`, values)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return pool.query(text, values)
    },
  } as unknown as typeof pool
  const page = { limit: 20, offset: 0 }
  await findRevoked(db, organizationId, { createdAfter: null, createdBefore: null }, page, 0)
  const plan = plans.find((one) => !one.includes('Aggregate'))
  expect(plan).toContain('revoked_api_keys_newest')
  expect(plan).not.toContain('Sort')
})
