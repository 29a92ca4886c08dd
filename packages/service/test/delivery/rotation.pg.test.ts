/** Rotation of signing secrets, judged by the signatures that receivers get. */
import { Webhook } from 'standardwebhooks'
import { describe, expect, test, vi } from 'vitest'
import { at, testClock } from '../../../testbed/clock.ts'
import { testEngine } from '../../../testbed/engine.ts'
import {
  expectedSignature,
  hour,
  makeWebhook,
  minute,
  readWebhook,
  receiverUrl,
  signedBy,
} from '../../../testbed/hooks.ts'
import { lockRow, waitingChanges } from '../../../testbed/locks.ts'
import type { Api, TestService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const clock = testClock()
const shared = sharedService({ clock })

async function rotatedEndpoint(service: TestService) {
  const api = await service.newOrganization()
  const made = await makeWebhook(api)
  const path = `/v1/webhooks/${made.id}`
  const { engine, sent } = testEngine(service, clock)
  return {
    api,
    id: made.id as string,
    path,
    first: made.secret as string,
    rotate: async () => {
      const answer = await api.post(`${path}/rotate-secret`, undefined)
      expect(answer.status).toBe(200)
      return answer.json
    },
    /** A ping, as it was sent now. */
    ping: async () => {
      const { eventId } = (await api.post(`${path}/ping`, undefined)).json
      await engine.runDue()
      return sent.find(({ headers }) => headers['x-service-event-id'] === eventId)!
    },
  }
}

describe('a secret of the client', () => {
  const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`

  test.each([24, 32, 64])('of %i bytes signs from the creation on, and after a rotation', async (bytes) => {
    const api = await shared().newOrganization()
    const { engine, sent } = testEngine(shared(), clock)
    const signatures = ['service', 'standard']
    const made = await makeWebhook(api, { secret: secretOf(bytes), signatures })
    expect(made.secret).toBe(secretOf(bytes))
    const path = `/v1/webhooks/${made.id}`
    const ping = async () => {
      await api.post(`${path}/ping`, undefined)
      await engine.runDue()
      return sent.at(-1)!
    }
    expect(await signedBy(await ping(), [made.secret])).toEqual([made.secret])
    const { headers, body } = await ping()
    vi.useFakeTimers({ toFake: ['Date'], now: clock.now() })
    expect(() => new Webhook(made.secret).verify(body, headers)).not.toThrow()
    vi.useRealTimers()
    const next = secretOf(bytes === 64 ? 24 : bytes + 1)
    const rotated = await api.post(`${path}/rotate-secret`, { secret: next, overlap: 0 })
    expect(rotated.json.secret).toBe(next)
    expect(await signedBy(await ping(), [made.secret, next])).toEqual([next])
    expect(await readWebhook(api, made.id)).not.toHaveProperty('secret')
  })

  test.each([
    secretOf(23),
    secretOf(65),
    secretOf(32).replace('whsec_', ''),
    `${secretOf(32)} `,
    `${secretOf(32)}=`,
    // Bits that no byte has, and the alphabet of URLs.
    secretOf(32).replace(/.=$/, 'd='),
    `whsec_${Buffer.alloc(32, 255).toString('base64url')}`,
    '',
    0,
    {},
    [],
  ])('is refused: %j', async (secret) => {
    const api = await shared().newOrganization()
    const { id } = await makeWebhook(api)
    const body = { url: receiverUrl, events: ['customer.created'], secret }
    for (const answer of [
      await api.post('/v1/webhooks', body),
      await api.post(`/v1/webhooks/${id}/rotate-secret`, { secret }),
    ]) {
      expect(answer.json).toMatchObject({ code: 'validation_failed', errors: [{ pointer: '/secret' }] })
      if (secret !== '' && typeof secret === 'string') expect(answer.text).not.toContain(secret)
    }
  })

  test('is not taken by a PATCH', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeWebhook(api)
    expect((await api.patch(`/v1/webhooks/${id}`, { secret: secretOf(32) })).status).toBe(422)
  })
})

test('a new secret is shown once, and for 24 hours both sign, the newest first', async () => {
  const { api, id, first, rotate, ping } = await rotatedEndpoint(shared())
  const alone = await ping()
  expect(await signedBy(alone, [first])).toEqual([first])
  const before = await readWebhook(api, id)
  clock.advance(minute)
  const began = clock.now()
  const { secret, ...record } = await rotate()
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(record).toEqual({ ...before, previousSecretExpiresAt: at(began + 24 * hour), updatedAt: at(began) })
  expect(await readWebhook(api, id)).toEqual(record)

  for (const later of [0, 24 * hour - 1]) {
    clock.set(began + later)
    const both = await ping()
    expect(both.headers['x-service-signature']).toBe(expectedSignature(both, [secret, first]))
    expect(await signedBy(both, [secret, first, 'whsec_another'])).toEqual([secret, first])
  }
  clock.set(began + 24 * hour)
  const after = await ping()
  expect(after.headers['x-service-signature']).toBe(expectedSignature(after, [secret]))
  expect(await signedBy(after, [secret, first])).toEqual([secret])
  expect((await readWebhook(api, id)).previousSecretExpiresAt).toBeNull()
})

test('three rotations in a row: each replaced secret signs to its own end', async () => {
  const { api, id, first, rotate, ping } = await rotatedEndpoint(shared())
  const began = clock.now()
  const secrets = [first]
  for (const hours of [0, 10, 20]) {
    clock.set(began + hours * hour)
    secrets.unshift((await rotate()).secret)
  }
  const signing = async (hours: number) => {
    clock.set(began + hours * hour)
    const sent = await ping()
    const good = await signedBy(sent, secrets)
    expect(sent.headers['x-service-signature']).toBe(expectedSignature(sent, good))
    return good.length
  }
  expect([await signing(20), await signing(23.9)]).toEqual([4, 4])
  expect([await signing(24), await signing(33.9)]).toEqual([3, 3])
  expect((await readWebhook(api, id)).previousSecretExpiresAt).toBe(at(began + 44 * hour))
  expect([await signing(34), await signing(43.9)]).toEqual([2, 2])
  expect([await signing(44), await signing(1_000)]).toEqual([1, 1])
  expect((await readWebhook(api, id)).previousSecretExpiresAt).toBeNull()
})

test('rotations within one millisecond, and with a clock that steps back, still sign newest first', async () => {
  const { first, rotate, ping } = await rotatedEndpoint(shared())
  const secrets = [first]
  for (let n = 0; n < 4; n++) secrets.unshift((await rotate()).secret)
  const same = await ping()
  expect(same.headers['x-service-signature']).toBe(expectedSignature(same, secrets))
  clock.advance(-minute)
  secrets.unshift((await rotate()).secret)
  const back = await ping()
  expect(back.headers['x-service-signature']?.split(',')[1]).toBe(
    expectedSignature(back, secrets).split(',')[1],
  )
  expect(await signedBy(back, secrets)).toEqual(secrets)
})

describe('twenty secrets sign at most', () => {
  const twenty = async () => {
    const endpoint = await rotatedEndpoint(shared())
    const secrets = [endpoint.first]
    for (let n = 0; n < 19; n++) secrets.unshift((await endpoint.rotate()).secret)
    const refusal = async () => {
      const { status, json } = await endpoint.api.post(`${endpoint.path}/rotate-secret`, undefined)
      return { status, code: json.code, detail: json.detail }
    }
    return { ...endpoint, secrets, refusal }
  }
  const refused = {
    status: 409,
    code: 'limit_reached',
    detail: expect.stringMatching(
      / at most 20 secrets.* DELETE \/v1\/webhooks\/[0-9a-f-]{36}\/previous-secret /,
    ),
  }

  test('a rotation beyond is refused and changes nothing, until the overlaps are ended', async () => {
    const { api, id, path, secrets, rotate, refusal, ping } = await twenty()
    const before = await readWebhook(api, id)
    expect(await refusal()).toEqual(refused)
    expect(await readWebhook(api, id)).toEqual(before)
    expect(await signedBy(await ping(), secrets)).toEqual(secrets)
    expect((await api.delete(`${path}/previous-secret`)).status).toBe(204)
    const { secret } = await rotate()
    expect(await signedBy(await ping(), [secret, ...secrets])).toEqual([secret, secrets[0]])
  })

  test('those whose overlap has ended do not count', async () => {
    const { rotate, refusal } = await twenty()
    const began = clock.now()
    clock.set(began + 24 * hour - 1)
    expect(await refusal()).toEqual(refused)
    clock.set(began + 24 * hour)
    await rotate()
  })

  test('also when rotations come all at once', async () => {
    const { api, id, path, first, rotate, ping } = await rotatedEndpoint(shared())
    const secrets = [first]
    for (let n = 0; n < 18; n++) secrets.unshift((await rotate()).secret)
    // All of them have read the endpoint, and decided, before the first can commit.
    const lock = await lockRow(shared().database, 'organization_clocks', api)
    const asked = [1, 2, 3].map(() => api.post(`${path}/rotate-secret`, undefined))
    await waitingChanges(shared(), 3)
    await lock.release()
    const answers = await Promise.all(asked)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const last = answers.find(({ status }) => status === 200)?.json
    expect(await signedBy(await ping(), [last.secret, ...secrets])).toEqual([last.secret, ...secrets])
    expect((await readWebhook(api, id)).updatedAt).toBe(last.updatedAt)
  })
})

describe('DELETE previous-secret', () => {
  test('ends every overlap at once', async () => {
    const { api, id, path, first, rotate, ping } = await rotatedEndpoint(shared())
    const [second, third] = [(await rotate()).secret, (await rotate()).secret]
    expect((await api.delete(`${path}/previous-secret`)).status).toBe(204)
    const sent = await ping()
    expect(await signedBy(sent, [third, second, first])).toEqual([third])
    expect(sent.headers['x-service-signature']).toBe(expectedSignature(sent, [third]))
    expect((await readWebhook(api, id)).previousSecretExpiresAt).toBeNull()
    const { rows } = await shared().database.pool.query(
      'select id from webhook_secrets where webhook_id = $1',
      [id],
    )
    expect(rows).toHaveLength(1)
  })

  test('without an overlap it changes nothing', async () => {
    const { api, id, path, first, ping } = await rotatedEndpoint(shared())
    const before = await readWebhook(api, id)
    clock.advance(minute)
    expect((await api.delete(`${path}/previous-secret`)).status).toBe(204)
    expect(await readWebhook(api, id)).toEqual(before)
    expect(await signedBy(await ping(), [first])).toEqual([first])
  })
})

test('rotating takes the read scopes of what is subscribed', async () => {
  const { api, id, path } = await rotatedEndpoint(shared())
  const key = await shared().newKey(api.organizationId, ['webhooks:write', 'tickets:read'])
  const answer = await key.post(`${path}/rotate-secret`, undefined)
  expect([answer.status, answer.json.code]).toEqual([403, 'insufficient_scope'])
  expect(answer.json.detail).toContain('customers:read')
  expect((await readWebhook(api, id)).previousSecretExpiresAt).toBeNull()
})

test('the signature changes with the time and with the endpoint, never with the attempt at one time', async () => {
  const api: Api = await shared().newOrganization()
  const { engine, sent, answer } = testEngine(shared(), clock)
  answer(500)
  const [one, two] = [await makeWebhook(api), await makeWebhook(api)]
  await api.post('/v1/customers', { name: 'Ada' })
  await engine.runDue()
  clock.advance(minute)
  await engine.runDue()
  expect(sent).toHaveLength(4)
  expect(new Set(sent.map(({ headers }) => headers['x-service-signature'])).size).toBe(4)
  for (const each of sent) expect(await signedBy(each, [one.secret, two.secret])).toHaveLength(1)
})

describe('an overlap of the caller’s choice', () => {
  test.each([
    ['an hour', 3_600],
    ['seven days', 604_800],
  ])('%s: both sign until then, and only the new one after', async (_, overlap) => {
    const { api, path, first, ping } = await rotatedEndpoint(shared())
    const began = clock.now()
    const { secret, previousSecretExpiresAt } = (await api.post(`${path}/rotate-secret`, { overlap })).json
    expect(previousSecretExpiresAt).toBe(at(began + overlap * 1_000))
    clock.set(began + overlap * 1_000 - 1)
    expect(await signedBy(await ping(), [secret, first])).toEqual([secret, first])
    clock.set(began + overlap * 1_000)
    expect(await signedBy(await ping(), [secret, first])).toEqual([secret])
  })

  test('none: only the new one signs from the next delivery on', async () => {
    const { api, id, path, first, ping } = await rotatedEndpoint(shared())
    const { secret, ...record } = (await api.post(`${path}/rotate-secret`, { overlap: 0 })).json
    expect(record.previousSecretExpiresAt).toBeNull()
    expect(await readWebhook(api, id)).toEqual(record)
    expect(await signedBy(await ping(), [secret, first])).toEqual([secret])
  })

  test('a shorter one does not shorten that of a secret replaced before', async () => {
    const { api, id, path, rotate } = await rotatedEndpoint(shared())
    const { previousSecretExpiresAt } = await rotate()
    const { secret: _, ...record } = (await api.post(`${path}/rotate-secret`, { overlap: 60 })).json
    expect(record.previousSecretExpiresAt).toBe(previousSecretExpiresAt)
    expect(await readWebhook(api, id)).toEqual(record)
  })

  test.each([-1, 604_801, 1.5, '3600'])('%j is refused, and nothing is rotated', async (overlap) => {
    const { api, id, path } = await rotatedEndpoint(shared())
    const before = await readWebhook(api, id)
    const answer = await api.post(`${path}/rotate-secret`, { overlap })
    expect(answer.status).toBe(422)
    expect(answer.json.errors[0]).toMatchObject({
      pointer: '/overlap',
      detail: expect.stringContaining('must be a whole number from 0 to 604800'),
    })
    expect(await readWebhook(api, id)).toEqual(before)
  })
})
