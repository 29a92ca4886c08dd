/** Endpoints that end by themselves, and strings of their owners. */
import { describe, expect, test } from 'vitest'
import { at, testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { hour, makeWebhook, minute, readWebhook, receiverUrl } from '../../../testbed/hooks.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const clock = testClock()
const shared = sharedService({ clock })
const inAnHour = () => at(clock.now() + hour)

describe('expiresAt', () => {
  test('ends an endpoint: nothing more is sent, no call finds it, and maintenance deletes it with its log', async () => {
    const api = await shared().newOrganization()
    const { engine, sent } = testEngine(shared(), clock)
    const { id, expiresAt } = await makeWebhook(api, { expiresAt: inAnHour() })
    expect(expiresAt).toBe(inAnHour())
    const { id: other, ...lasting } = await makeWebhook(api)
    expect(lasting).not.toHaveProperty('expiresAt')
    clock.advance(hour - 1)
    await makeCustomer(api)
    await engine.runDue()
    expect(sent).toHaveLength(2)
    expect((await readWebhook(api, id)).expiresAt).toBe(expiresAt)
    clock.advance(1)
    await makeCustomer(api)
    await engine.runDue()
    expect(sent).toHaveLength(3)
    const path = `/v1/webhooks/${id}`
    const calls = [
      api.get(path),
      api.get(`${path}/deliveries`),
      api.patch(path, { expiresAt: null }),
      api.delete(path),
      api.post(`${path}/ping`, undefined),
      api.post(`${path}/rotate-secret`, undefined),
      api.post(`${path}/recover`, { since: at(clock.now() - hour) }),
    ]
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 404))
    const { data, pagination } = (await api.get('/v1/webhooks')).json
    expect([data.map((one: { id: string }) => one.id), pagination.total]).toEqual([[other], 1])
    await shared().app.maintenance.run()
    const left = await shared().database.pool.query(
      'select w.id from webhooks w where w.organization_id = $1',
      [api.organizationId],
    )
    expect(left.rows).toEqual([{ id: other }])
    expect(
      (await api.get('/v1/deliveries')).json.data.map((one: { webhookId: string }) => one.webhookId),
    ).toEqual([other, other])
  })

  test('moves by a PATCH until then, and goes with null', async () => {
    const api = await shared().newOrganization()
    const { engine, sent } = testEngine(shared(), clock)
    const { id, secret: _, ...made } = await makeWebhook(api, { expiresAt: inAnHour() })
    const path = `/v1/webhooks/${id}`
    expect((await api.patch(path, { expiresAt: made.expiresAt })).json.updatedAt).toBe(made.updatedAt)
    clock.advance(hour - minute / 2)
    // A change of something else keeps an end that is near.
    expect((await api.patch(path, { description: 'x' })).json.expiresAt).toBe(made.expiresAt)
    const later = inAnHour()
    expect((await api.patch(path, { expiresAt: later })).json.expiresAt).toBe(later)
    clock.advance(minute)
    await makeCustomer(api)
    await engine.runDue()
    expect(sent).toHaveLength(1)
    expect((await api.patch(path, { expiresAt: null })).json).not.toHaveProperty('expiresAt')
    clock.advance(2 * hour)
    await shared().app.maintenance.run()
    await makeCustomer(api)
    await engine.runDue()
    expect(sent).toHaveLength(2)
  })

  test.each([
    ['in the past', () => at(clock.now() - 1)],
    ['in less than a minute', () => at(clock.now() + minute - 1)],
    ['no time', () => 'soon'],
    ['empty', () => ''],
    ['a number', () => clock.now() + hour],
    ['an object', () => ({})],
  ])('%s is refused', async (_what, expiresAt) => {
    const api = await shared().newOrganization()
    const { id } = await makeWebhook(api)
    const body = { url: receiverUrl, events: ['customer.created'], expiresAt: expiresAt() }
    for (const answer of [
      await api.post('/v1/webhooks', body),
      await api.patch(`/v1/webhooks/${id}`, { expiresAt: expiresAt() }),
    ])
      expect(answer.json).toMatchObject({ code: 'validation_failed', errors: [{ pointer: '/expiresAt' }] })
  })

  test('does not count toward the limit once it has passed', async () => {
    const api = await shared().newOrganization()
    const make = (body = {}) =>
      api.post('/v1/webhooks', { url: receiverUrl, events: ['customer.created'], ...body })
    for (let n = 0; n < 50; n++) await make(n === 0 ? { expiresAt: inAnHour() } : {})
    expect((await make()).json.code).toBe('limit_reached')
    clock.advance(hour)
    expect((await make()).status).toBe(201)
    expect((await make()).json.code).toBe('limit_reached')
  })
})

describe('metadata', () => {
  const odd = JSON.parse('{"__proto__":"a","constructor":"","a:b":"🧵","ı":"x"}') as Record<string, string>

  test('is returned as it was given, merged by a PATCH, and not delivered', async () => {
    const api = await shared().newOrganization()
    const { engine, sent } = testEngine(shared(), clock)
    const { id, metadata } = await makeWebhook(api, { metadata: odd })
    expect(Object.entries(metadata)).toEqual(Object.entries(odd))
    const path = `/v1/webhooks/${id}`
    expect(Object.entries((await api.get(path)).json.metadata).sort()).toEqual(Object.entries(odd).sort())
    const changed = await api.patch(path, { metadata: { plan: 'gold', ı: null, constructor: null } })
    expect(Object.entries(changed.json.metadata).sort()).toEqual([
      ['__proto__', 'a'],
      ['a:b', '🧵'],
      ['plan', 'gold'],
    ])
    expect((await api.patch(path, { metadata: { plan: 'gold' } })).json.updatedAt).toBe(
      changed.json.updatedAt,
    )
    await makeCustomer(api)
    await engine.runDue()
    expect(sent[0]?.body).not.toContain('gold')
    const none = Object.fromEntries(Object.keys(changed.json.metadata).map((name) => [name, null]))
    expect((await api.patch(path, { metadata: none })).json).not.toHaveProperty('metadata')
  })

  test.each([
    [{ a: 1 }],
    [{ a: true }],
    [{ a: {} }],
    [{ a: 'x'.repeat(501) }],
    [{ ['x'.repeat(41)]: 'a' }],
    [{ '': 'a' }],
    [{ a: '\u0000' }],
    [{ a: '\ud83e' }],
    [Object.fromEntries(Array.from({ length: 21 }, (_, n) => [n, 'x']))],
    [[]],
    ['a'],
    [null],
  ])('%j is refused', async (metadata) => {
    const api = await shared().newOrganization()
    const answer = await api.post('/v1/webhooks', {
      url: receiverUrl,
      events: ['customer.created'],
      metadata,
    })
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([
      422,
      expect.stringMatching(/^\/metadata/),
    ])
  })

  test('holds 20 strings of 500 characters, and no more after a PATCH', async () => {
    const api = await shared().newOrganization()
    const full = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, '🧵'.repeat(500)]))
    const { id } = await makeWebhook(api, { metadata: full })
    const more = await api.patch(`/v1/webhooks/${id}`, { metadata: { one: 'more' } })
    expect(more.json).toMatchObject({ code: 'validation_failed', errors: [{ pointer: '/metadata' }] })
    expect((await readWebhook(api, id)).metadata).toEqual(full)
  })
})
