import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { newToken } from '../../src/auth/token.ts'

const shared = sharedService()

describe('a request without a living key', () => {
  test('is 401 and says how to authenticate, whatever is asked', async () => {
    const { api } = shared()
    const checksumWrong = api.token.slice(0, -1) + (api.token.endsWith('0') ? '1' : '0')
    for (const authorization of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      `Basic ${api.token}`,
      api.token,
      `Bearer ${api.token} x`,
      `Bearer ${checksumWrong}`,
      `Bearer ${newToken()}`,
      `Bearer ${'x'.repeat(5000)}`,
    ]) {
      const headers = authorization === undefined ? {} : { authorization }
      const stranger = shared().withToken(null)
      for (const answer of [
        await stranger.get('/v1/customers?nonsense', headers),
        await stranger.post('/v1/customers', 'not json', headers),
        await stranger.patch('/v1/tickets/x', {}, headers),
        await stranger.delete('/v1/customers/x', headers),
      ]) {
        expect(answer.status).toBe(401)
        expect(answer.json.code).toBe('unauthorized')
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
      }
    }
  })

  test('the scheme may be written in any case', async () => {
    const { api } = shared()
    const stranger = shared().withToken(null)
    for (const scheme of ['bearer', 'BEARER', 'Bearer  ']) {
      expect((await stranger.get('/v1/customers', { authorization: `${scheme} ${api.token}` })).status).toBe(
        200,
      )
    }
  })
})

describe('an expired key', () => {
  test.each(['api_keys', 'api_key_tokens'])(
    'is refused from the very millisecond on that %s says',
    async (table) => {
      const clock = testClock()
      await using service = await testService({ clock })
      const { api } = service
      await service.database.pool.query(
        `update ${table} set expires_at = '2026-03-01T13:00:00.000Z' where organization_id = $1`,
        [api.organizationId],
      )
      clock.set(Date.parse('2026-03-01T12:59:59.999Z'))
      expect((await api.get('/v1/customers')).status).toBe(200)
      clock.advance(1)
      const answer = await api.get('/v1/customers')
      expect([answer.status, answer.json.code]).toEqual([401, 'key_expired'])
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
    },
  )
})

test('a key that was deleted is unknown with the next request', async () => {
  const api = await shared().newOrganization()
  expect((await api.get('/v1/customers')).status).toBe(200)
  await shared().database.pool.query('delete from api_keys where organization_id = $1', [api.organizationId])
  expect((await api.get('/v1/customers')).json.code).toBe('unauthorized')
})
