/** Events about endpoints, as another endpoint gets them over TLS and `GET /v1/events` shows them. */

import { describe, expect, test, vi } from 'vitest'
import { at } from '../../../testbed/clock.ts'
import { deliveryJobsOn, reportsOn } from '../../../testbed/delivery-jobs.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { hour, makeWebhook, minute, second } from '../../../testbed/hooks.ts'
import { answer, type Behaviour } from '../../../testbed/receiver.ts'
import { endpointEvents } from '../../src/delivery/endpoint/event-types.ts'
import { receiving } from './receiving.fixture.ts'

const all = Object.keys(endpointEvents)

/** A watched endpoint at `/hook`, whose answers a test sets, and one at `/watch` that gets the events about it. */
async function watching(watched: object = {}, watcher: object = {}) {
  const it = await receiving()
  let status = 200
  const byPath: Behaviour = (socket, request, below) =>
    answer(request.path === '/hook' ? status : 200)(socket, request, below)
  it.receiver.will(byPath)
  const scopes = ['webhooks:read', 'webhooks:write', 'customers:read']
  const hook = await makeWebhook(await it.service.newKey(it.api.organizationId, scopes), {
    url: it.url,
    ...watched,
  })
  const watch = await it.endpoint({ url: it.url.replace('/hook', '/watch'), events: all, ...watcher })
  const reports = reportsOn(it.service, it.clock)
  return {
    ...it,
    hook,
    watch,
    reports,
    path: `/v1/webhooks/${hook.id}`,
    answers(next: number) {
      status = next
    },
    /** What workers do: deliver, report, deliver the reports. */
    async work() {
      await it.engine.runDue()
      await reports.runDue()
      await it.engine.runDue()
    },
    /** A new event for the watched endpoint, and what follows. */
    async cause() {
      await makeCustomer(it.api)
      await this.work()
    },
    /** What arrived at the watcher. */
    get arrived() {
      return it.receiver.requests
        .filter(({ path }) => path === '/watch')
        .map(({ body }) => JSON.parse(body.toString()))
    },
    get types(): string[] {
      return this.arrived.map(({ type }) => type.replace('endpoint.', ''))
    },
    async listed(query = '') {
      return (await it.api.get(`/v1/events?types=${all.join()}${query}`)).json.data
    },
  }
}

describe('an endpoint that fails', () => {
  test('is reported once, with its record, at another endpoint and in the events', async () => {
    await using it = await watching()
    const notified = vi.spyOn(it.service.app.readers, 'notify')
    it.answers(500)
    await it.cause()
    await it.cause()
    await it.work()
    expect(it.types).toEqual(['failing'])
    await eventually('waiting readers of the event are notified', () =>
      notified.mock.calls.some(([news]) => news?.get(it.api.organizationId)?.has('endpoint.failing')),
    )
    const [event] = it.arrived
    expect(event).toMatchObject({
      apiVersion: 'v1',
      organizationId: it.api.organizationId,
      data: {
        id: it.hook.id,
        object: 'webhook',
        status: 'active',
        failingSince: at(it.clock.now()),
        disablesAt: at(it.clock.now() + 72 * hour),
        failureCount: 1,
      },
    })
    expect(Object.keys(event.data)).toEqual(Object.keys(await it.read(it.hook.id)))
    expect(event.data).not.toHaveProperty('secret')
    expect(await it.listed()).toEqual([event])
    expect(await it.listed(`&subject=${it.hook.id}`)).toEqual([event])
    expect((await it.log(it.watch.id)).map(({ eventType, status }) => [eventType, status])).toEqual([
      ['endpoint.failing', 'succeeded'],
    ])
    expect(await it.log(it.watch.id, '&eventType=endpoint.failing')).toHaveLength(1)
  })

  test('asks for a report when its state turns, and not with each delivery', async () => {
    await using it = await watching()
    const turnsOf = async (work: () => Promise<unknown>) => {
      const before = it.turns()
      await work()
      return it.turns() - before
    }
    const deliver = async () => {
      await makeCustomer(it.api)
      await it.engine.runDue()
    }
    expect(await turnsOf(deliver)).toBe(0)
    it.answers(500)
    expect(await turnsOf(deliver)).toBe(1)
    await it.work()
    expect(await turnsOf(deliver)).toBe(0)
    it.answers(200)
    expect(await turnsOf(deliver)).toBe(1)
    await it.work()
    expect(await turnsOf(deliver)).toBe(0)
    await it.change(it.hook.id, { status: 'disabled' })
    expect(await turnsOf(() => it.engine.runDue())).toBe(1)
    await it.work()
    expect(it.types).toEqual(['failing', 'recovered', 'disabled'])
  })

  test('is reported again at half of the time, when it is disabled, and when it is well again', async () => {
    await using it = await watching()
    it.answers(500)
    await it.cause()
    it.clock.advance(36 * hour - second)
    await it.work()
    expect(it.types).toEqual(['failing'])
    it.clock.advance(second)
    await it.work()
    await it.work()
    expect(it.types).toEqual(['failing', 'disabling_soon'])
    it.clock.advance(36 * hour)
    await it.cause()
    expect(it.types).toEqual(['failing', 'disabling_soon', 'disabled'])
    expect(it.arrived.at(-1).data).toMatchObject({ status: 'disabled', disabledReason: 'failing' })
    it.answers(200)
    await it.change(it.hook.id, { status: 'active' })
    await it.work()
    expect(it.types).toHaveLength(3)
    await it.cause()
    expect(it.types).toEqual(['failing', 'disabling_soon', 'disabled', 'recovered'])
    expect(it.arrived.at(-1).data).toMatchObject({ status: 'active', failingSince: null })
    await it.work()
    expect(it.types).toHaveLength(4)
    expect((await it.listed()).map(({ id }: { id: string }) => id)).toEqual(it.arrived.map(({ id }) => id))
  })

  test('and is well again before anybody looks is not reported', async () => {
    await using it = await watching()
    it.answers(500)
    await makeCustomer(it.api)
    await it.engine.runDue()
    it.answers(200)
    it.clock.advance(minute)
    await it.engine.runDue()
    await it.work()
    expect(it.types).toEqual([])
    expect(await it.listed()).toEqual([])
  })

  test('and recovers in turns is reported as failing once in five minutes, and in the end if it still fails', async () => {
    await using it = await watching()
    for (let turn = 0; turn < 4; turn++) {
      it.answers(500)
      await it.cause()
      it.clock.advance(30 * second)
      it.answers(200)
      await it.cause()
      it.clock.advance(30 * second)
    }
    expect(it.types).toEqual(['failing', 'recovered'])
    it.answers(500)
    await it.cause()
    expect(it.types).toHaveLength(2)
    it.clock.advance(5 * minute)
    await it.work()
    expect(it.types).toEqual(['failing', 'recovered', 'failing'])
  })

  test('and is set to active by hand is warned of again after half of the new time', async () => {
    await using it = await watching()
    it.answers(500)
    await it.cause()
    it.clock.advance(36 * hour)
    await it.work()
    await it.change(it.hook.id, { status: 'active' })
    await it.cause()
    expect(it.types).toEqual(['failing', 'disabling_soon'])
    it.clock.advance(36 * hour)
    await it.work()
    await it.work()
    expect(it.types).toEqual(['failing', 'disabling_soon', 'disabling_soon'])
  })
})

type Watching = Awaited<ReturnType<typeof watching>>

describe('an endpoint that is disabled', () => {
  const reasons: Record<string, (it: Watching) => Promise<unknown>> = {
    manual: (it) => it.change(it.hook.id, { status: 'disabled' }),
    gone: async (it) => {
      it.answers(410)
      await makeCustomer(it.api)
    },
    registrant_revoked: (it) => it.api.delete(`/v1/api-keys/${it.hook.apiKeyId}`),
    address_not_public: async (it) => {
      const { pool } = it.service.database
      await pool.query(`update webhooks set url = 'https://10.0.0.1/' where id = $1`, [it.hook.id])
      await makeCustomer(it.api)
    },
  }

  test.each(Object.entries(reasons))('is reported with the reason: %s', async (reason, disable) => {
    await using it = await watching({ disableOn410: true })
    await disable(it)
    await it.work()
    await it.work()
    const [event, ...others] = it.arrived.filter(({ type }) => type === 'endpoint.disabled')
    expect(others).toEqual([])
    expect(event.data).toMatchObject({ id: it.hook.id, status: 'disabled', disabledReason: reason })
    const { missedSince, ...record } = await it.read(it.hook.id)
    expect(event.data).toMatchObject(record)
    expect(missedSince).not.toBe(null)
  })

  test('and is made active and disabled again is reported again', async () => {
    await using it = await watching()
    for (const status of ['disabled', 'active', 'disabled']) {
      it.clock.advance(second)
      await it.change(it.hook.id, { status })
      await it.work()
    }
    expect(it.types).toEqual(['disabled'])
    await it.change(it.hook.id, { status: 'active' })
    await it.cause()
    await it.change(it.hook.id, { status: 'disabled' })
    await it.work()
    expect(it.types).toEqual(['disabled', 'recovered', 'disabled'])
  })
})

describe('who gets them', () => {
  test('only endpoints that name the types, and never the one that they are about', async () => {
    await using it = await watching({ events: ['customer.created', ...all] })
    const other = await it.endpoint({ events: ['customer.updated'], url: `${it.url}/other` })
    it.answers(500)
    await it.cause()
    expect(it.types).toEqual(['failing'])
    const own = await it.log(it.hook.id)
    expect(own.map(({ eventType }) => eventType)).toEqual(['customer.created'])
    expect(await it.log(other.id)).toEqual([])
    // Nor when it asks for all that it has missed.
    it.answers(200)
    const window = { since: at(it.clock.now() - hour), includeSucceeded: true }
    expect((await it.api.post(`${it.path}/recover`, window)).status).toBe(202)
    await deliveryJobsOn(it.service, it.clock).runDue()
    await it.work()
    expect((await it.log(it.hook.id)).map(({ eventType }) => eventType)).toEqual(['customer.created'])
  })

  test('a key without webhooks:read neither subscribes to them nor reads them', async () => {
    await using it = await watching()
    const key = await it.service.newKey(it.api.organizationId, ['webhooks:write', 'customers:read'])
    const refused = await key.post('/v1/webhooks', { url: it.url, events: ['endpoint.failing'] })
    expect(refused.json).toMatchObject({ status: 403, code: 'insufficient_scope' })
    expect(refused.json.detail).toContain('webhooks:read')
    const unread = await key.get('/v1/events?types=endpoint.failing')
    expect(unread.json).toMatchObject({ status: 403, code: 'insufficient_scope' })
    it.answers(500)
    await it.cause()
    const types = async (api: typeof key) =>
      (await api.get('/v1/events')).json.data.map(({ type }: { type: string }) => type)
    expect(await types(key)).toEqual(['customer.created'])
    expect(await types(it.api)).toEqual(['customer.created', 'endpoint.failing'])
    expect((await it.api.get('/v1/changes?updatedAfter=2020-01-01T00:00:00Z')).text).not.toContain(it.hook.id)
  })

  test('nothing is sent once the key of the watcher has lost the scope', async () => {
    await using it = await watching()
    const { pool } = it.service.database
    const key = await it.service.newKey(it.api.organizationId, ['webhooks:write', 'webhooks:read'])
    const sent = { url: it.url.replace('hook', 'late'), events: all }
    const late = (await key.post('/v1/webhooks', sent)).json
    await pool.query(`update api_keys set scopes = '{webhooks:write}' where id = $1`, [late.apiKeyId])
    await it.change(it.hook.id, { status: 'disabled' })
    await it.work()
    expect(await it.log(late.id)).toMatchObject([
      { status: 'failed', attemptCount: 0, lastError: { code: 'subject_unavailable' } },
    ])
    expect(it.types).toEqual(['disabled'])
  })

  test('without a subscriber there is an event to read, and no delivery', async () => {
    await using it = await watching({}, { events: ['ticket.created'] })
    await it.change(it.hook.id, { status: 'disabled' })
    await it.work()
    expect(await it.listed()).toMatchObject([{ type: 'endpoint.disabled', data: { id: it.hook.id } }])
    expect(await it.log(it.watch.id)).toEqual([])
  })

  test('a reader that waits is answered', async () => {
    await using it = await watching()
    const { pagination } = (await it.api.get('/v1/events')).json
    const waiting = it.api.get(`/v1/events?wait=50&cursor=${pagination.nextCursor}`)
    await eventually('it waits', () => it.service.app.readers.waiting > 0)
    await it.change(it.hook.id, { status: 'disabled' })
    await it.reports.runDue()
    await it.service.app.readers.poll()
    expect((await waiting).json.data).toMatchObject([{ type: 'endpoint.disabled' }])
  })
})

describe('what they carry', () => {
  test('is as it was then, also when it is sent again, read later or looked at before', async () => {
    await using it = await watching()
    await it.change(it.hook.id, { status: 'disabled' })
    await it.work()
    const [event] = it.arrived
    await it.change(it.hook.id, { status: 'active', description: 'Changed' })
    const [delivery] = await it.log(it.watch.id)
    const path = `/v1/webhooks/${it.watch.id}/deliveries/${delivery.id}`
    expect((await it.api.get(`${path}/payload`)).json).toEqual(event)
    expect((await it.api.post(`${path}/resend`, undefined)).status).toBe(202)
    await it.work()
    const window = { since: at(it.clock.now() - hour), includeSucceeded: true }
    expect((await it.api.post(`/v1/webhooks/${it.watch.id}/recover`, window)).status).toBe(202)
    await deliveryJobsOn(it.service, it.clock).runDue()
    await it.work()
    expect(it.arrived).toEqual([event, event, event])
    expect(await it.listed()).toEqual([event])
  })

  test('a retry sends it too', async () => {
    await using it = await watching()
    it.receiver.will(answer(500))
    await it.change(it.hook.id, { status: 'disabled' })
    await it.work()
    for (let n = 1; n < 6; n++) {
      it.clock.advance(9 * hour)
      await it.engine.runDue()
    }
    const [failed] = await it.log(it.watch.id, '&status=failed')
    expect(failed).toMatchObject({ eventType: 'endpoint.disabled', attemptCount: 6 })
    it.receiver.will(answer(200))
    expect(
      (await it.api.post(`/v1/webhooks/${it.watch.id}/deliveries/${failed.id}/retry`, undefined)).status,
    ).toBe(202)
    await it.engine.runDue()
    expect(it.arrived).toHaveLength(7)
    expect(it.arrived.at(-1)).toEqual(it.arrived[0])
  })

  test('thin, it is id and object; the service caused it; conditions do not hold it back', async () => {
    const conditions = [{ field: 'priority', op: 'equals', value: 'urgent' }]
    const events = ['ticket.created', ...all]
    await using it = await watching({}, { events, payload: 'thin', includeActor: true, conditions })
    await it.change(it.hook.id, { status: 'disabled' })
    await makeTicket(it.api, { priority: 'low' })
    await it.work()
    expect(it.arrived).toMatchObject([
      {
        type: 'endpoint.disabled',
        actor: { type: 'system', id: null, name: null },
        requestId: null,
        data: { id: it.hook.id, object: 'webhook' },
      },
    ])
    expect(Object.keys(it.arrived[0].data)).toEqual(['id', 'object'])
    const refused = await it.api.post('/v1/webhooks', { url: it.url, events: all, conditions })
    expect(refused.json).toMatchObject({ status: 422, errors: [{ pointer: '/conditions' }] })
  })

  test('of an endpoint that was deleted meanwhile nothing is sent or shown', async () => {
    await using it = await watching()
    const before = await it.endpoint({ url: `${it.url}/before` })
    await it.change(it.hook.id, { status: 'disabled' })
    await it.change(before.id, { status: 'disabled' })
    await it.api.delete(`/v1/webhooks/${before.id}`)
    await it.reports.runDue()
    await it.api.delete(it.path)
    await it.work()
    expect(it.arrived).toEqual([])
    const [delivery, ...others] = await it.log(it.watch.id)
    expect(others).toEqual([])
    expect(delivery).toMatchObject({ status: 'failed', lastError: { code: 'subject_unavailable' } })
    const payload = await it.api.get(`/v1/webhooks/${it.watch.id}/deliveries/${delivery.id}/payload`)
    expect(payload.status).toBe(404)
    expect(await it.listed()).toMatchObject([{ type: 'endpoint.disabled', data: null }])
  })
})

describe('once', () => {
  test('a worker that dies before the commit loses nothing, and leaves nothing', async () => {
    await using it = await watching()
    await it.change(it.hook.id, { status: 'disabled' })
    const { pool } = it.service.database
    const client = await pool.connect()
    client.on('error', () => {})
    await client.query('begin')
    const { rows } = await client.query('select pg_backend_pid() as pid')
    expect(await reportsOn(it.service, it.clock, client).runDue()).toBe(1)
    expect((await client.query('select 1 from events where subject_id = $1', [it.hook.id])).rowCount).toBe(1)
    await pool.query('select pg_terminate_backend($1)', [rows[0].pid])
    client.release(true)
    await it.engine.runDue()
    expect(await it.listed()).toEqual([])
    await it.work()
    expect(it.types).toEqual(['disabled'])
    expect(await it.listed()).toHaveLength(1)
  })

  test('several workers at once report it once, whatever else commits', async () => {
    await using it = await watching()
    await it.change(it.hook.id, { status: 'disabled' })
    const workers = [1, 2, 3, 4].map(() => reportsOn(it.service, it.clock))
    await Promise.all([...workers.map((one) => one.runDue()), makeCustomer(it.api), makeCustomer(it.api)])
    await it.work()
    expect(it.types).toEqual(['disabled'])
    // No commit has its stamp.
    const { data } = (await it.api.get('/v1/events')).json
    const { createdAt } = it.arrived[0]
    expect(data).toHaveLength(3)
    expect(data.filter((event: { createdAt: string }) => event.createdAt === createdAt)).toHaveLength(1)
  })

  test('an endpoint of a suspended organization is reported when that is resumed', async () => {
    await using it = await watching()
    await it.change(it.hook.id, { status: 'disabled' })
    const { pool } = it.service.database
    await pool.query('update organizations set suspended_at = now()')
    expect(await it.reports.runDue()).toBe(0)
    await pool.query('update organizations set suspended_at = null')
    await it.work()
    expect(it.types).toEqual(['disabled'])
  })
})
