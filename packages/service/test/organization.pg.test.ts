/** `/v1/organization`: any key reads its own, one that manages keys changes it (specification 3.6). */
import { expect, test } from 'vitest'
import { testClock } from '../../testbed/clock.ts'
import { sharedService } from '../../testbed/shared-service.ts'

const clock = testClock()
const shared = sharedService({ clock })
const path = '/v1/organization'

test('any key reads the organization that it belongs to, and no other', async () => {
  const [one, other] = [await shared().newOrganization('One'), await shared().newOrganization('Other')]
  const now = new Date(clock.now()).toISOString()
  for (const [api, name] of [
    [one, 'One'],
    [other, 'Other'],
  ] as const) {
    const key = await shared().newKey(api.organizationId, ['teammates:read'])
    const read = await key.get(path)
    expect(read.json).toEqual({
      id: api.organizationId,
      object: 'organization',
      name,
      preventDoubleBooking: false,
      createdAt: now,
      updatedAt: now,
    })
    expect(read.headers.get('etag')).toBeNull()
  }
  expect((await shared().withToken(null).get(path)).status).toBe(401)
})

test('a new name shows at once and moves updatedAt; the same name moves nothing', async () => {
  const api = await shared().newOrganization('Before')
  const before = (await api.get(path)).json
  clock.advance(1_000)
  expect((await api.patch(path, { name: 'Before' })).json).toEqual(before)
  expect((await api.patch(path, {})).json).toEqual(before)
  const changed = (await api.patch(path, { name: 'After' })).json
  expect(changed).toEqual({ ...before, name: 'After', updatedAt: new Date(clock.now()).toISOString() })
  const again = (await api.patch(path, { name: 'Once more' })).json
  expect(again.updatedAt > changed.updatedAt).toBe(true)
  expect((await api.get(path)).json).toEqual(again)
})

test.each([
  ['/name', { name: '' }],
  ['/name', { name: null }],
  ['/name', { name: 'x'.repeat(256) }],
  ['/id', { id: 'x' }],
  ['/plan', { plan: 'x' }],
  ['/preventDoubleBooking', { preventDoubleBooking: null }],
])('%s is refused in %j', async (pointer, body) => {
  const refused = await shared().api.patch(path, body)
  expect([refused.status, refused.json.errors[0].pointer]).toEqual([422, pointer])
})
