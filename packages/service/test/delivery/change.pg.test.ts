import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import {
  day,
  deliveriesOf,
  hour,
  makeWebhook,
  minute,
  readWebhook,
  receiverUrl,
  retry,
} from '../../../testbed/hooks.ts'
import type { Answer, Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const clock = testClock()
const shared = sharedService({ clock })
const other = 'https://127.0.0.1:2/other'

describe('PATCH', () => {
  test('changes what it names, and nothing else', async () => {
    const api = await shared().newOrganization()
    const { secret, ...made } = await makeWebhook(api, { description: 'Ours' })
    clock.advance(minute)
    const changed = await api.patch(`/v1/webhooks/${made.id}`, { description: null })
    expect(changed.json).toEqual({
      ...made,
      description: null,
      updatedAt: new Date(clock.now()).toISOString(),
    })
    expect(await readWebhook(api, made.id)).toEqual(changed.json)
    const moved = await api.patch(`/v1/webhooks/${made.id}`, {
      url: other,
      events: ['ticket.created', 'customer.deleted', 'ticket.created'],
    })
    expect(moved.json).toMatchObject({ url: other, events: ['ticket.created', 'customer.deleted'] })
  })

  test('that changes no value moves nothing, not even updatedAt', async () => {
    const api = await shared().newOrganization()
    const { secret, ...made } = await makeWebhook(api, { description: 'Ours' })
    clock.advance(minute)
    const { url, description, events } = made
    for (const body of [{}, { url }, { events }, { status: 'active' }, { url, description, events }]) {
      const answer = await api.patch(`/v1/webhooks/${made.id}`, body)
      expect(answer.status).toBe(200)
      expect(answer.json).toEqual(made)
    }
    expect(await readWebhook(api, made.id)).toEqual(made)
  })

  test('of what it shows and the service sets is refused, field by field, as read_only', async () => {
    const api = await shared().newOrganization()
    const { secret, ...made } = await makeWebhook(api)
    const { url, description, events, signatures, status, ...set } = made
    const answer = await api.patch(`/v1/webhooks/${made.id}`, set)
    expect([answer.status, answer.json.code]).toEqual([422, 'validation_failed'])
    expect(answer.json.errors).toEqual(
      Object.keys(set).map((name) => ({
        pointer: `/${name}`,
        code: 'read_only',
        detail: `${name} is set by the service`,
      })),
    )
    expect(await readWebhook(api, made.id)).toEqual(made)
  })

  test.each([
    [{ url: 'http://127.0.0.1/' }, 'url_not_https'],
    [{ url: 'https://10.0.0.1/' }, 'url_not_public'],
    [{ url: null }, 'validation_failed'],
    [{ url: 'hooks.example.com' }, 'validation_failed'],
    [{ url: 'https://' }, 'validation_failed'],
    [{ events: [] }, 'validation_failed'],
    [{ events: ['ping'] }, 'validation_failed'],
    [{ events: null }, 'validation_failed'],
    [{ status: 'waiting' }, 'validation_failed'],
    [{ status: null }, 'validation_failed'],
    [{ secret: 'whsec_mine' }, 'validation_failed'],
    [{ failureCount: 0 }, 'validation_failed'],
    [{ apiKeyId: '01980000-0000-7000-8000-000000000000' }, 'validation_failed'],
    [{ createdAt: '2026-01-01T00:00:00.000Z' }, 'validation_failed'],
  ])('%j is refused: %s', async (body, code) => {
    const api = await shared().newOrganization()
    for (const options of [{}, { headers: { authorization: 'hidden' } }]) {
      const { secret, ...made } = await makeWebhook(api, options)
      const answer = await api.patch(`/v1/webhooks/${made.id}`, body)
      expect([options, answer.status, answer.json.code]).toEqual([options, 422, code])
      if (code === 'validation_failed')
        expect(answer.json.errors[0].pointer).toMatch(`/${Object.keys(body)[0]}`)
      expect(await readWebhook(api, made.id)).toEqual(made)
    }
  })

  test('of url, events or to active makes the caller the registrant; of anything else it does not', async () => {
    const api = await shared().newOrganization()
    const made = await makeWebhook(api)
    const path = `/v1/webhooks/${made.id}`
    const registrant = async (body: object) => {
      const key = await shared().newKey(api.organizationId, ['*'])
      const answer = await key.patch(path, body)
      expect(answer.status).toBe(200)
      const { apiKeyId } = answer.json
      const { rows } = await shared().database.pool.query(
        'select id from api_keys where organization_id = $1 order by created_at desc, id desc limit 1',
        [api.organizationId],
      )
      const before = registered
      registered = apiKeyId
      clock.advance(1)
      return apiKeyId === rows[0].id ? 'the caller' : apiKeyId === before ? 'as before' : 'somebody'
    }
    let registered: string = made.apiKeyId
    clock.advance(1)
    expect(await registrant({ description: 'Mine' })).toBe('as before')
    expect(await registrant({ url: made.url })).toBe('the caller')
    expect(await registrant({ events: ['customer.deleted'] })).toBe('the caller')
    expect(await registrant({ status: 'disabled' })).toBe('as before')
    expect(await registrant({ status: 'active' })).toBe('the caller')
    expect(await registrant({ status: 'active' })).toBe('the caller')
  })

  test('of url, events or status takes the read scopes of the events before and after', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeWebhook(api, { events: ['customer.created'] })
    const key = (...scopes: string[]) => shared().newKey(api.organizationId, ['webhooks:write', ...scopes])
    const patch = async (scopes: string[], body: object) =>
      (await (await key(...scopes)).patch(`/v1/webhooks/${id}`, body)).status
    for (const body of [{ url: receiverUrl }, { events: ['ticket.created'] }, { status: 'disabled' }]) {
      expect(await patch([], body)).toBe(403)
      expect(await patch(['tickets:read'], body)).toBe(403)
    }
    expect(await patch(['customers:read'], { events: ['ticket.created'] })).toBe(403)
    expect(await patch(['customers:read', 'tickets:read'], { events: ['ticket.created'] })).toBe(200)
    expect(await patch(['customers:read'], { status: 'active' })).toBe(403)
  })

  test('and so do rotation, retry and recovery, and everything but a ping of the endpoint of another key', async () => {
    const api = await shared().newOrganization()
    const { engine } = testEngine(shared(), clock)
    const events = ['customer.created', 'ticket.created']
    const { id, ...made } = await makeWebhook(api, { events })
    await api.delete(`/v1/customers/${(await makeCustomer(api)).id}`)
    await engine.runDue()
    const [failed] = await deliveriesOf(api, id)
    expect(failed.status).toBe('failed')
    const path = `/v1/webhooks/${id}`
    const guarded: Record<string, (key: Api) => Promise<Answer>> = {
      url: (key) => key.patch(path, { url: receiverUrl }),
      events: (key) => key.patch(path, { events: ['customer.created'] }),
      signatures: (key) => key.patch(path, { signatures: ['service', 'standard'] }),
      disabled: (key) => key.patch(path, { status: 'disabled' }),
      active: (key) => key.patch(path, { status: 'active' }),
      rotate: (key) => key.post(`${path}/rotate-secret`, undefined),
      retry: (key) => retry(key, failed),
      recover: (key) => key.post(`${path}/recover`, { since: failed.createdAt }),
      previous: (key) => key.delete(`${path}/previous-secret`),
      remove: (key) => key.delete(path),
    }
    const options = {
      description: 'x',
      conditions: [{ field: 'tags', op: 'exists' }],
      rateLimit: 1,
      skipOwn: true,
      includeActor: true,
      headers: null,
    }
    for (const [name, value] of Object.entries(options))
      guarded[name] = (key) => key.patch(path, { [name]: value })
    const key = (...scopes: string[]) => shared().newKey(api.organizationId, ['webhooks:write', ...scopes])
    for (const [name, ask] of Object.entries(guarded)) {
      const refused = await ask(await key('customers:read', 'tickets:write'))
      expect([refused.status, refused.json?.code], name).toEqual([403, 'insufficient_scope'])
      expect(refused.json.detail, name).toContain('tickets:read')
    }
    expect((await (await key()).post(`${path}/ping`, undefined)).status).toBe(202)
    // Whoever may, does: and of those that do not say where deliveries go, none becomes the registrant.
    const reader = await key('customers:read', 'tickets:read')
    for (const name of ['signatures', 'rotate', 'retry', 'recover', 'disabled']) {
      expect((await guarded[name]!(reader)).status, name).toBeLessThan(300)
      expect((await readWebhook(api, id)).apiKeyId, name).toBe(made.apiKeyId)
    }
    // Disabled already: nothing changes, neither since when nor why.
    clock.advance(minute)
    const before = await readWebhook(api, id)
    expect((await guarded.disabled!(reader)).json).toEqual(before)
    // Nothing of it is left to the engines of other tests.
    await engine.runDue()
  })

  test('by many at once: each is made, or says that it was not', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeWebhook(api)
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, n) => api.patch(`/v1/webhooks/${id}`, { description: `number ${n}` })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const latest = answers.map(({ json }) => json).sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))[0]
    expect(await readWebhook(api, id)).toEqual(latest)
    expect(new Set(answers.map(({ json }) => json.updatedAt)).size).toBe(4)
  })
})

describe('status', () => {
  test('disabled by hand: pending deliveries fail, events are not queued; active again: new ones arrive', async () => {
    const api = await shared().newOrganization()
    const { engine, sent, answer } = testEngine(shared(), clock)
    answer(500)
    const { id } = await makeWebhook(api)
    await makeCustomer(api)
    await engine.runDue()
    const disabled = await api.patch(`/v1/webhooks/${id}`, { status: 'disabled' })
    expect(disabled.json).toMatchObject({
      status: 'disabled',
      disabledReason: 'manual',
      disabledAt: new Date(clock.now()).toISOString(),
    })
    await makeCustomer(api, { name: 'Unheard' })
    await engine.runDue()
    expect(await deliveriesOf(api, id)).toMatchObject([
      { status: 'failed', attemptCount: 1, lastError: { code: 'endpoint_disabled' }, nextAttemptAt: null },
    ])
    answer(200)
    const enabled = await api.patch(`/v1/webhooks/${id}`, { status: 'active' })
    expect(enabled.json).toMatchObject({
      status: 'active',
      disabledReason: null,
      disabledAt: null,
      failureCount: 0,
      failingSince: null,
    })
    clock.advance(day)
    await makeCustomer(api, { name: 'Heard' })
    await engine.runDue()
    expect(sent.map(({ body }) => JSON.parse(body).data.name)).toEqual(['Ada', 'Heard'])
  })

  test('to active before a worker came: what was pending has failed all the same, and is not sent', async () => {
    const api = await shared().newOrganization()
    const { engine, sent } = testEngine(shared(), clock)
    const { id } = await makeWebhook(api)
    await makeCustomer(api)
    await api.patch(`/v1/webhooks/${id}`, { status: 'disabled' })
    await api.patch(`/v1/webhooks/${id}`, { status: 'active' })
    await engine.runDue()
    expect(sent).toEqual([])
    expect(await deliveriesOf(api, id)).toMatchObject([
      { status: 'failed', attemptCount: 0, lastError: { code: 'endpoint_disabled' } },
    ])
  })

  test('to active on a failing endpoint starts its failures anew, without failing what is pending', async () => {
    const api = await shared().newOrganization()
    const { engine, answer } = testEngine(shared(), clock)
    answer(500)
    const { id } = await makeWebhook(api)
    await makeCustomer(api)
    await engine.runDue()
    const failing = await readWebhook(api, id)
    expect(failing).toMatchObject({ failureCount: 1, failingSince: new Date(clock.now()).toISOString() })
    const reset = await api.patch(`/v1/webhooks/${id}`, { status: 'active' })
    expect(reset.json).toMatchObject({ failureCount: 0, failingSince: null })
    expect(await deliveriesOf(api, id)).toMatchObject([{ status: 'pending', attemptCount: 1 }])
    clock.advance(hour)
    await engine.runDue()
    expect(await readWebhook(api, id)).toMatchObject({
      failureCount: 1,
      failingSince: new Date(clock.now()).toISOString(),
    })
  })

  test('to active takes a URL that is public now', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeWebhook(api)
    await shared().database.pool.query(`update webhooks set url = 'https://10.0.0.1/' where id = $1`, [id])
    await api.patch(`/v1/webhooks/${id}`, { status: 'disabled' })
    const answer = await api.patch(`/v1/webhooks/${id}`, { status: 'active' })
    expect([answer.status, answer.json.code]).toEqual([422, 'url_not_public'])
    expect((await readWebhook(api, id)).status).toBe('disabled')
  })
})

describe('DELETE', () => {
  test('the endpoint is gone at once, what was pending is not sent, and maintenance removes the rest', async () => {
    const service = shared()
    const api = await service.newOrganization()
    const { engine, sent, answer } = testEngine(service, clock)
    answer(500)
    const kept = await makeWebhook(api)
    const { id } = await makeWebhook(api)
    await makeCustomer(api)
    await engine.runDue()
    clock.advance(minute)
    await engine.runDue()
    const [{ eventId }] = await deliveriesOf(api, kept.id)
    const sentBefore = sent.length
    expect((await api.delete(`/v1/webhooks/${id}`)).status).toBe(204)
    for (const path of ['', '/deliveries']) {
      const answer = await api.get(`/v1/webhooks/${id}${path}`)
      expect([answer.status, answer.json.code]).toEqual([404, 'not_found'])
    }
    expect((await api.delete(`/v1/webhooks/${id}`)).status).toBe(404)
    clock.advance(5 * minute)
    await engine.runDue()
    expect(
      sent.slice(sentBefore).filter(({ headers }) => headers['x-service-event-id'] === eventId),
    ).toHaveLength(1)
    const left = async () => {
      const { rows } = await service.database.pool.query(
        `select (select count(*)::int from deliveries where webhook_id = $1) as deliveries,
           (select count(*)::int from attempts a where a.organization_id = $2) as attempts,
           (select count(*)::int from webhook_secrets where webhook_id = $1) as secrets,
           (select count(*)::int from erasures where subject_id = $1) as removed`,
        [id, api.organizationId],
      )
      return rows[0]
    }
    expect(await left()).toEqual({ deliveries: 1, attempts: 3, secrets: 0, removed: 1 })
    await service.app.maintenance.run()
    expect(await left()).toEqual({ deliveries: 0, attempts: 2, secrets: 0, removed: 0 })
    expect(await deliveriesOf(api, kept.id)).toHaveLength(1)
  })
})
