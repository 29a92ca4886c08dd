/** What the holder of a key cannot do with subscriptions. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeTicket } from '../../testbed/desk.ts'
import { answer, hangUp } from '../../testbed/receiver.ts'
import { agentOf, newSecret, type Subscribing, secret, subscribing, verified } from './subscriber.fixture.ts'

/** For what is refused and leaves nothing. */
let refusing: Subscribing
beforeAll(async () => {
  refusing = await subscribing()
})
afterAll(() => refusing[Symbol.asyncDispose]())

describe('a receiver', () => {
  test.each([
    ['that answers nothing of the challenge', answer(200), 'challenge_failed'],
    ['that sends the challenge of another', answer(200, '{"challenge":"x"}'), 'challenge_failed'],
    ['that answers what is not JSON', answer(200, 'challenge'), 'challenge_failed'],
    ['that redirects', answer(302, '', { location: 'https://169.254.169.254/' }), 'challenge_failed'],
    ['that has no such path', answer(404, 'a secret of the network'), 'http_4xx'],
    ['that fails', answer(500), 'http_5xx'],
    ['that hangs up', hangUp, 'connection_refused'],
  ])('%s gets no deliveries', async (_, behaviour, reason) => {
    const it = refusing
    it.receiver.will(behaviour)
    expect(await it.refusal({})).toEqual({
      code: -32027,
      message: expect.not.stringContaining('secret of the network'),
      reason,
    })
    expect(it.arrived()).toHaveLength(1)
    expect(await it.endpoints()).toEqual([])
    await makeTicket(it.api)
    await it.work()
    expect(it.arrived()).toEqual([])
  })

  test.each([
    'https://10.0.0.1/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/hook',
    'https://[::ffff:10.0.0.1]/hook',
  ])('in an internal network is not reached: %s', async (url) => {
    const it = refusing
    expect(await it.refusal({ delivery: { url } })).toMatchObject({
      code: -32027,
      reason: 'connection_refused',
    })
  })

  test('is asked for each key, and again once it has left', async () => {
    await using it = await subscribing()
    await it.subscribe()
    const key = await it.service.newKey(it.api.organizationId, ['*'])
    await using other = await agentOf(it.service.url, key)
    await it.subscribe({}, other)
    await it.unsubscribe({}, other)
    await it.subscribe({}, other)
    expect(it.arrived().map((request) => verified(request).type)).toEqual(Array(3).fill('verification'))
  })

  test('is not asked without end: a host has its limit, whatever URLs are named', async () => {
    await using it = await subscribing()
    it.receiver.will(answer(200))
    for (let n = 0; n < 25; n++) await it.refusal({ delivery: { url: `${it.url}/${n}` } })
    expect(it.arrived()).toHaveLength(20)
    expect(await it.refusal({})).toMatchObject({ code: -32025, limit: 'requests' })
  })
})

describe('another key', () => {
  test('of another organization has neither the events nor the subscription', async () => {
    await using it = await subscribing()
    const made = await it.subscribe()
    const other = await it.service.newOrganization()
    await using agent = await agentOf(it.service.url, other)
    await expect(it.unsubscribe({}, agent)).rejects.toMatchObject({ code: -32023 })
    expect((await it.subscribe({}, agent)).id).not.toBe(made.id)
    expect((await other.get('/v1/webhooks')).json.data).toHaveLength(1)
    expect(await it.refusal({ cursor: made.cursor }, agent)).toMatchObject({ code: -32602 })
    it.arrived()
    await makeTicket(other)
    await it.work()
    const requests = it.arrived()
    expect(requests).toHaveLength(1)
    expect(requests[0]?.headers['x-mcp-subscription-id']).not.toBe(made.id)
  })

  test('of the same organization cannot end it, or replace its secret', async () => {
    await using it = await subscribing()
    const made = await it.subscribe()
    const key = await it.service.newKey(it.api.organizationId, ['*'])
    await using agent = await agentOf(it.service.url, key)
    await expect(it.unsubscribe({}, agent)).rejects.toMatchObject({ code: -32023 })
    const own = await it.subscribe({ delivery: { secret: newSecret(9) } }, agent)
    expect(own.id).not.toBe(made.id)
    it.arrived()
    await makeTicket(it.api)
    await it.work()
    const mine = it.arrived().find(({ headers }) => headers['x-mcp-subscription-id'] === made.id)
    expect(verified(mine!).name).toBe('ticket.created')
  })

  test.each([
    ['without webhooks:write', ['tickets:read']],
    ['without the scope of the event', ['webhooks:write', 'customers:read']],
  ])('%s may not subscribe', async (_, scopes) => {
    const it = refusing
    const key = await it.service.newKey(it.api.organizationId, scopes)
    await using agent = await agentOf(it.service.url, key)
    expect(await it.refusal({}, agent)).toMatchObject({ code: -32024 })
    expect(it.arrived()).toEqual([])
    const { events } = await agent.ask('events/list', {})
    const offered = events.filter(
      ({ name, delivery }: { name: string; delivery: string[] }) =>
        name === 'ticket.created' && delivery.includes('webhook'),
    )
    expect(offered).toEqual([])
  })
})

describe('a request', () => {
  test.each([
    ['without a secret', { delivery: { secret: undefined } }],
    ['with a short secret', { delivery: { secret: `whsec_${Buffer.alloc(16).toString('base64')}` } }],
    ['with a long secret', { delivery: { secret: `whsec_${Buffer.alloc(65).toString('base64')}` } }],
    ['with a secret that is not base64', { delivery: { secret: `whsec_${'€'.repeat(40)}` } }],
    ['to http', { delivery: { url: 'http://127.0.0.1/hook' } }],
    ['with user information', { delivery: { url: 'https://me:pass@127.0.0.1/hook' } }],
    ['with a header in its URL', { delivery: { url: 'https://127.0.0.1/\r\nX-Evil: 1' } }],
    ['with arguments of no schema', { arguments: { filter: '1 = 1' } }],
    ['with arguments that are huge', { arguments: { subject: 'x'.repeat(500_000) } }],
    ['with an altered cursor', { cursor: 'x'.repeat(92) }],
    ['for no time', { ttlMs: 0 }],
  ])('%s is refused, and nobody is asked', async (_, params) => {
    const it = refusing
    expect(await it.refusal(params)).toMatchObject({ code: -32602 })
    expect(it.arrived()).toEqual([])
    expect(await it.endpoints()).toEqual([])
  })

  test('for another mode of delivery, or an event that is not there, says so', async () => {
    const it = refusing
    expect(await it.refusal({ delivery: { mode: 'push' } })).toMatchObject({
      code: -32026,
      feature: 'deliveryMode',
      value: 'push',
    })
    expect(await it.refusal({ name: 'ticket.eaten' })).toMatchObject({ code: -32023, kind: 'event' })
  })

  test('beyond the limit of endpoints is refused', async () => {
    await using it = await subscribing()
    await it.subscribe()
    await it.service.database.pool.query(
      `insert into webhooks (organization_id, id, url, events, signatures, status, api_key_id, created_at, updated_at)
         select w.organization_id, gen_random_uuid(), w.url, w.events, w.signatures, w.status, w.api_key_id, w.created_at,
           w.updated_at from webhooks w, generate_series(1, 49)`,
    )
    expect(await it.refusal({ name: 'ticket.updated' })).toMatchObject({
      code: -32025,
      limit: 'subscriptions',
    })
    // One that there is can be refreshed and ended.
    expect(await it.subscribe()).toMatchObject({ truncated: false })
    await it.unsubscribe()
  })
})

describe('the organization', () => {
  test('sees who receives its events, and never the secret', async () => {
    await using it = await subscribing()
    const made = await it.subscribe()
    const [{ id, metadata, expiresAt, apiKeyId }] = await it.endpoints()
    expect(metadata.subscription).toBe(made.id)
    expect(expiresAt).toBe(made.refreshBefore)
    await makeTicket(it.api)
    await it.work()
    const [delivery] = (await it.api.get(`/v1/webhooks/${id}/deliveries`)).json.data
    const shown = await Promise.all(
      [
        '/v1/webhooks',
        `/v1/webhooks/${id}`,
        `/v1/webhooks/${id}/deliveries/${delivery.id}/attempts`,
        `/v1/webhooks/${id}/deliveries/${delivery.id}/payload`,
        `/v1/api-keys/${apiKeyId}`,
      ].map(async (path) => (await it.api.get(path)).text),
    )
    const everything = [made, ...shown, it.service.logged].map((one) => JSON.stringify(one)).join()
    for (const text of [secret, secret.slice(6)]) expect(everything).not.toContain(text)
    const { rows } = await it.service.database.pool.query('select sealed from webhook_secrets')
    expect(Buffer.concat(rows.map(({ sealed }) => sealed)).includes(secret)).toBe(false)
  })

  test('can stop it, and end it', async () => {
    await using it = await subscribing()
    await it.subscribe()
    const [{ id }] = await it.endpoints()
    const path = `/v1/webhooks/${id}`
    it.arrived()
    const stop = () => it.api.patch(path, { status: 'disabled' })
    const end = () => it.api.delete(path)
    for (const [act, status] of [
      [stop, 200],
      [end, 204],
    ] as const) {
      expect((await act()).status).toBe(status)
      await makeTicket(it.api)
      await it.work()
      expect(it.arrived()).toEqual([])
    }
  })

  test('is not sent what its suspension holds back', async () => {
    await using it = await subscribing()
    await it.subscribe()
    it.arrived()
    await makeTicket(it.api)
    await it.service.database.pool.query(
      'update organizations set suspended_at = now() where organization_id = $1',
      [it.api.organizationId],
    )
    await it.work()
    expect(it.arrived()).toEqual([])
  })
})
