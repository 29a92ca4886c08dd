import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'

const shared = sharedService()
const hour = 3_600_000
const withKey = (key: string) => ({ 'idempotency-key': key })

describe('an Idempotency-Key', () => {
  test('makes the same request twice one change and one answer', async () => {
    const api = await shared().newOrganization()
    const first = await api.post('/v1/customers', { name: 'Ada' }, withKey('k'))
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    const second = await api.post('/v1/customers', { name: 'Ada' }, withKey('k'))
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(second.status).toBe(201)
    expect(second.text).toBe(first.text)
    for (const header of ['location', 'etag', 'content-type']) {
      expect(second.headers.get(header)).toBe(first.headers.get(header))
    }
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect((await api.get('/v1/customers')).json.pagination.total).toBe(1)
    expect(await storedEvents(shared(), api.organizationId)).toHaveLength(1)
  })

  test('replays the first answer, not what has become of the object since', async () => {
    const api = await shared().newOrganization()
    const first = await api.post('/v1/customers', { name: 'Ada' }, withKey('k'))
    await api.patch(`/v1/customers/${first.json.id}`, { name: 'Grace' })
    expect((await api.post('/v1/customers', { name: 'Ada' }, withKey('k'))).text).toBe(first.text)
    await api.delete(`/v1/customers/${first.json.id}`)
    expect((await api.post('/v1/customers', { name: 'Ada' }, withKey('k'))).text).toBe(first.text)
    expect((await api.get('/v1/customers')).json.pagination.total).toBe(0)
  })

  test('gives concurrent twins one row and the same answer', async () => {
    const api = await shared().newOrganization()
    for (const [round, body] of [
      { name: 'Ada' },
      { email: 'ada@example.com' },
      { externalId: '7' },
    ].entries()) {
      const twins = await Promise.all(
        Array.from({ length: 6 }, () => api.post('/v1/customers', body, withKey(`twin ${round}`))),
      )
      expect(twins.map(({ status }) => status)).toEqual(Array(6).fill(201))
      expect(new Set(twins.map(({ text }) => text)).size).toBe(1)
      expect(twins.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1)
    }
    expect((await api.get('/v1/customers')).json.pagination.total).toBe(3)
    expect(await storedEvents(shared(), api.organizationId)).toHaveLength(3)
  })

  test('with another body is 422, concurrently too, and the first answer stands', async () => {
    const api = await shared().newOrganization()
    const [a, b] = await Promise.all([
      api.post('/v1/customers', { name: 'Ada' }, withKey('k')),
      api.post('/v1/customers', { name: 'Grace' }, withKey('k')),
    ])
    expect([a.status, b.status].sort()).toEqual([201, 422])
    expect([a, b].find(({ status }) => status === 422)?.json.code).toBe('idempotency_key_reused')
    for (const body of [{ name: 'Other' }, {}, '{"name" : "Ada"}']) {
      expect((await api.post('/v1/customers', body, withKey('k'))).json.code).toBe('idempotency_key_reused')
    }
    expect((await api.get('/v1/customers')).json.pagination.total).toBe(1)
  })

  test('belongs to its API key and its path: the same one elsewhere is another', async () => {
    const api = await shared().newOrganization()
    const body = { name: 'Ada' }
    const answers = [
      await api.post('/v1/customers', body, withKey('k')),
      await (await shared().newKey(api.organizationId, ['*'])).post('/v1/customers', body, withKey('k')),
      await api.post('/v1/teammates', body, withKey('k')),
      await api.post('/v1/customers', body, withKey('K')),
      await (await shared().newOrganization()).post('/v1/customers', body, withKey('k')),
    ]
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(5)
  })

  test('is looked up after authentication and scope', async () => {
    const api = await shared().newOrganization()
    await api.post('/v1/customers', { name: 'Ada' }, withKey('k'))
    const reader = await shared().newKey(api.organizationId, ['customers:read'])
    expect((await reader.post('/v1/customers', { name: 'Ada' }, withKey('k'))).status).toBe(403)
    expect((await shared().withToken(null).post('/v1/customers', { name: 'Ada' }, withKey('k'))).status).toBe(
      401,
    )
  })

  test('keeps no failure: once the reason is gone, the same request goes through', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeCustomer(api, { email: 'ada@example.com' })
    const again = () => api.post('/v1/customers', { email: 'ada@example.com' }, withKey('k'))
    expect((await again()).status).toBe(409)
    expect((await api.post('/v1/customers', { phone: 'x' }, withKey('k'))).status).toBe(422)
    expect((await api.post('/v1/customers', '{', withKey('k'))).status).toBe(400)
    await api.delete(`/v1/customers/${id}`)
    expect((await again()).status).toBe(201)
  })

  test('has 1 to 255 printable ASCII characters, spaces among them', async () => {
    const { api } = shared()
    for (const key of ['', 'x'.repeat(256), 'é']) {
      const answer = await api.post('/v1/customers', { name: 'Ada' }, withKey(key))
      expect([answer.status, answer.json.code]).toEqual([400, 'invalid_parameter'])
    }
    for (const key of ['x', 'y'.repeat(255), 'with space "and" more']) {
      expect((await api.post('/v1/customers', { name: 'Ada' }, withKey(key))).status).toBe(201)
    }
  })

  test('is kept for 24 hours, and is then a new key', async () => {
    const clock = testClock()
    await using service = await testService({ clock })
    const { api } = service
    const post = async (body: object = { name: 'Ada' }) =>
      (await api.post('/v1/customers', body, withKey('k'))).json.id
    const first = await post()
    clock.advance(24 * hour - 1)
    expect(await post()).toBe(first)
    clock.advance(1)
    const second = await post({ name: 'another body' })
    expect(second).toMatch(/-7/)
    expect(second).not.toBe(first)
    expect(await post({ name: 'another body' })).toBe(second)
    expect((await api.get('/v1/customers')).json.pagination.total).toBe(2)
  })

  test('that is over is over for concurrent twins alike: still one row', async () => {
    const clock = testClock()
    await using service = await testService({ clock })
    const { api } = service
    const post = () => api.post('/v1/customers', { name: 'Ada' }, withKey('k'))
    await post()
    clock.advance(25 * hour)
    const twins = await Promise.all([post(), post(), post()])
    expect(new Set(twins.map(({ json }) => json.id)).size).toBe(1)
    expect((await api.get('/v1/customers')).json.pagination.total).toBe(2)
  })

  test('holds though the clock steps back', async () => {
    const clock = testClock()
    await using service = await testService({ clock })
    const post = () => service.api.post('/v1/customers', { name: 'Ada' }, withKey('k'))
    const first = await post()
    clock.advance(-5 * hour)
    expect((await post()).text).toBe(first.text)
  })
})
