/** Recovery: what it brings back and what it leaves, how far it reaches, and that it can be asked for again and again. */
import { describe, expect, test } from 'vitest'
import { createRecoverer } from '../../src/delivery/recoverer.ts'
import { createRecoveries } from '../../src/delivery/recoveries.ts'
import { testClock } from '../harness/clock.ts'
import { makeCustomer, makeTicket } from '../harness/desk.ts'
import { testEngine } from '../harness/engine.ts'
import { attemptsOf, dataOf, day, deliveriesOf, hour, makeWebhook, minute, retry } from '../harness/hooks.ts'
import { lockRow, waitingBackends } from '../harness/locks.ts'
import { type Api, type TestService, testService } from '../harness/service.ts'

const at = (milliseconds: number) => new Date(milliseconds).toISOString()

/** An organization with one endpoint, and a worker whose receiver answers by script. */
async function desk(
  events: readonly string[] = ['customer.created', 'customer.updated', 'customer.deleted'],
) {
  const clock = testClock()
  const service = await testService({ clock })
  const { api } = service
  const { id } = await makeWebhook(api, { events })
  const worker = testEngine(service, clock)
  const recoverer = recovererOn(service, clock)
  const path = `/v1/webhooks/${id}`
  return {
    clock,
    service,
    api,
    id: id as string,
    path,
    ...worker,
    recoverer,
    log: (query = '') => deliveriesOf(api, id, query),
    disable: () => api.patch(path, { status: 'disabled' }),
    enable: () => api.patch(path, { status: 'active' }),
    recover: (body: object, headers: Record<string, string> = {}) =>
      api.post(`${path}/recover`, body, headers),
    read: async (recoveryId: string) => (await api.get(`${path}/recoveries/${recoveryId}`)).json,
    /** All that workers have to do now. */
    async work() {
      await recoverer.runDue()
      await worker.engine.runDue()
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

function recovererOn({ database, app }: TestService, clock: ReturnType<typeof testClock>) {
  return createRecoverer({
    recoveries: createRecoveries(database.pool, 6),
    clock,
    log: app.server.log,
    onDeliveries: () => {},
  })
}

type Desk = Awaited<ReturnType<typeof desk>>

/** The names of the customers that arrived from the request on, in the order of their events. */
const namesFrom = (it: Desk, first: number) =>
  it.sent
    .slice(first)
    .toSorted((a, b) => (JSON.parse(a.body).createdAt < JSON.parse(b.body).createdAt ? -1 : 1))
    .map((sent) => JSON.parse(dataOf(sent)).name)

/** Recovers the window, which must be accepted, and does all that follows; the recovery as it is then. */
async function recovered(it: Desk, window: object) {
  const answer = await it.recover(window)
  expect(answer.status, answer.text).toBe(202)
  await it.work()
  return it.read(answer.json.id)
}

describe('what an endpoint missed while it was disabled', () => {
  test('is made, and reads anew; the answer says where it stands', async () => {
    await using it = await desk()
    await it.disable()
    const since = it.clock.now()
    const first = await makeCustomer(it.api, { name: 'one' })
    it.clock.advance(minute)
    await makeCustomer(it.api, { name: 'two' })
    await it.api.patch(`/v1/customers/${first.id}`, { name: 'one, changed' })
    it.clock.advance(minute)
    await it.enable()
    expect(await it.log()).toEqual([])

    const answer = await it.recover({ since: at(since) })
    expect(answer.status).toBe(202)
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      object: 'recovery',
      webhookId: it.id,
      since: at(since),
      until: at(it.clock.now()),
      status: 'running',
      retried: 0,
      created: 0,
      createdAt: at(it.clock.now()),
      finishedAt: null,
    })
    expect(await it.read(answer.json.id)).toEqual(answer.json)
    await it.work()
    const done = { ...answer.json, status: 'done', created: 3, finishedAt: at(it.clock.now()) }
    expect(await it.read(done.id)).toEqual(done)
    expect(namesFrom(it, 0)).toEqual(['one, changed', 'two', 'one, changed'])
    expect(await it.log()).toMatchObject(
      Array(3).fill({ status: 'succeeded', attemptCount: 1, maxAttempts: 6 }),
    )
  })

  test('of a subject that is gone cannot be sent; its removal can, with its record', async () => {
    await using it = await desk()
    await it.disable()
    const { id, updatedAt } = await makeCustomer(it.api)
    await it.api.delete(`/v1/customers/${id}`)
    await it.enable()
    expect(await recovered(it, { since: at(it.clock.now() - minute) })).toMatchObject({
      created: 2,
      retried: 0,
    })
    const rows = await it.log()
    expect(
      rows.map(({ eventType, status, lastError }) => [eventType, status, lastError?.code ?? null]).sort(),
    ).toEqual([
      ['customer.created', 'failed', 'subject_unavailable'],
      ['customer.deleted', 'succeeded', null],
    ])
    const { data } = (await it.api.get(`/v1/customers?updatedAfter=${updatedAt}`)).json
    expect(JSON.parse(dataOf(it.sent[0]!))).toEqual(data[0])
  })

  test('is that of the types it is subscribed to, and of its own organization', async () => {
    await using it = await desk(['ticket.created'])
    const stranger = await it.service.newOrganization()
    await it.disable()
    await makeTicket(stranger)
    await makeTicket(it.api)
    await it.enable()
    expect(await recovered(it, { since: at(it.clock.now() - minute) })).toMatchObject({ created: 1 })
    expect(it.sent.map(({ headers }) => headers['x-service-event-type'])).toEqual(['ticket.created'])
  })

  test('reaches back to before it was registered', async () => {
    await using it = await desk()
    await makeCustomer(it.api, { name: 'earlier' })
    await it.work()
    const { id } = await makeWebhook(it.api, { events: ['customer.created'] })
    const answer = await it.api.post(`/v1/webhooks/${id}/recover`, { since: at(it.clock.now() - hour) })
    await it.work()
    expect((await it.api.get(`/v1/webhooks/${id}/recoveries/${answer.json.id}`)).json).toMatchObject({
      created: 1,
    })
    expect(namesFrom(it, 1)).toEqual(['earlier'])
  })
})

describe('deliveries that are there', () => {
  /** One delivery each that failed, succeeded and is pending, the last with an attempt to come. */
  async function three(it: Desk) {
    const failed = await makeCustomer(it.api, { name: 'failed' })
    it.answer(500)
    for (let attempt = 0; attempt < 6; attempt++) {
      await it.engine.runDue()
      it.clock.advance(9 * hour)
    }
    it.answer(200, 500)
    await makeCustomer(it.api, { name: 'succeeded' })
    await it.engine.runDue()
    await makeCustomer(it.api, { name: 'pending' })
    await it.engine.runDue()
    return { failed }
  }

  test('are retried when they failed, with their stored payload and the schedule anew; others are left', async () => {
    await using it = await desk(['customer.created'])
    const { failed } = await three(it)
    await it.api.patch(`/v1/customers/${failed.id}`, { name: 'changed since' })
    const before = await it.log()
    const sent = it.sent.length
    it.answer(503)
    expect(await recovered(it, { since: at(it.clock.now() - 20 * day) })).toMatchObject({
      status: 'done',
      retried: 1,
      created: 0,
    })
    expect(namesFrom(it, sent)).toEqual(['failed'])
    const after = await it.log()
    expect(after).toHaveLength(3)
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2))
    expect(after[2]).toMatchObject({
      id: before[2].id,
      status: 'pending',
      attemptCount: 7,
      maxAttempts: 12,
      nextAttemptAt: at(it.clock.now() + minute),
    })
    expect(await attemptsOf(it.api, after[2])).toHaveLength(7)
  })

  test('are not sent twice, however often and at once it is asked for', async () => {
    await using it = await desk(['customer.created'])
    await three(it)
    await it.disable()
    await makeCustomer(it.api, { name: 'missed' })
    await it.enable()
    it.answer(200)
    const window = { since: at(it.clock.now() - 20 * day) }
    const asked = await Promise.all([1, 2, 3].map(() => it.recover(window)))
    const others = [1, 2].map(() => recovererOn(it.service, it.clock))
    await Promise.all([it.recoverer, ...others].map((one) => one.runDue()))
    await it.engine.runDue()
    const came = await Promise.all(asked.map(({ json }) => it.read(json.id)))
    expect(came.map(({ status }) => status)).toEqual(['done', 'done', 'done'])
    // The pending one failed when the endpoint was disabled.
    expect(came.reduce((sum, { retried }) => sum + retried, 0)).toBe(2)
    expect(came.reduce((sum, { created }) => sum + created, 0)).toBe(1)
    const sent = it.sent.length
    expect(await recovered(it, window)).toMatchObject({ retried: 0, created: 0, status: 'done' })
    expect(it.sent).toHaveLength(sent)
    expect((await it.log()).map(({ status }) => status)).toEqual(Array(4).fill('succeeded'))
    const { rows } = await it.service.database.pool.query(
      'select d.event_id from deliveries d group by d.event_id, d.webhook_id having count(*) > 1',
    )
    expect(rows).toEqual([])
  })

  test('made by a recovery can be retried by hand when they fail, with what was stored when the event was made', async () => {
    await using it = await desk(['customer.created'])
    await it.disable()
    const customer = await makeCustomer(it.api, { name: 'as it was' })
    await it.api.patch(`/v1/customers/${customer.id}`, { name: 'as it is' })
    it.clock.advance(29 * day)
    await it.enable()
    await recovered(it, { since: at(it.clock.now() - 30 * day) })
    it.answer(500)
    // The event is far older than the log goes back when the delivery's last attempt has failed.
    it.clock.advance(20 * day)
    await it.service.app.maintenance.run()
    await it.service.database.pool.query(
      `update deliveries set status = 'failed', delivered_at = null where organization_id = $1`,
      [it.api.organizationId],
    )
    const [row] = await it.log()
    expect((await retry(it.api, row)).status).toBe(202)
    await it.engine.runDue()
    expect(namesFrom(it, 0)).toEqual(['as it is', 'as it was'])
  })
})

describe('the window', () => {
  test('holds both its ends, to the millisecond', async () => {
    await using it = await desk(['customer.created'])
    await it.disable()
    const times: number[] = []
    for (const name of ['a', 'b', 'c', 'd']) {
      it.clock.advance(minute)
      const { createdAt } = await makeCustomer(it.api, { name })
      times.push(Date.parse(createdAt))
    }
    it.clock.advance(minute)
    await it.enable()
    expect(await recovered(it, { since: at(times[1]!), until: at(times[2]!) })).toMatchObject({ created: 2 })
    expect(namesFrom(it, 0)).toEqual(['b', 'c'])
    expect(await recovered(it, { since: at(times[0]! + 1), until: at(times[3]! - 1) })).toMatchObject({
      created: 0,
    })
    expect(await recovered(it, { since: at(times[0]!), until: at(times[0]!) })).toMatchObject({ created: 1 })
    expect(await recovered(it, { since: at(times[0]!) })).toMatchObject({ created: 1 })
    expect(namesFrom(it, 2)).toEqual(['a', 'd'])
  })

  test('without an end takes in what was stamped ahead of the clock', async () => {
    await using it = await desk(['customer.created'])
    await it.disable()
    const since = at(it.clock.now())
    await Promise.all(['a', 'b', 'c'].map((name) => makeCustomer(it.api, { name })))
    await makeCustomer(it.api, { name: 'd' })
    const last = (await it.api.get('/v1/customers')).json.data[0].updatedAt
    expect(Date.parse(last)).toBeGreaterThan(it.clock.now())
    await it.enable()
    const done = await recovered(it, { since })
    expect(done).toMatchObject({ created: 4 })
    expect(done.until >= last).toBe(true)
  })

  test('reaches as far back as the log, and not a millisecond further', async () => {
    await using it = await desk(['customer.created'])
    const { api } = it
    const earliest = it.clock.now() - 30 * day
    expect((await it.recover({ since: at(earliest) })).status).toBe(202)
    const refused = await it.recover({ since: at(earliest - 1) })
    expect(refused).toMatchObject({ status: 422, json: { code: 'validation_failed' } })
    expect(refused.json.errors).toMatchObject([{ pointer: '/since', code: 'invalid_value' }])
    expect(refused.json.detail).toContain(at(earliest))
    expect((await api.get(`${it.path}/recoveries`)).json.pagination.total).toBe(1)
  })

  test('that is none is 422, which says what is wrong', async () => {
    await using it = await desk()
    for (const [what, body, pointer, code] of [
      ['no since', {}, '/since', 'required'],
      ['since null', { since: null }, '/since', 'invalid_type'],
      ['since without an offset', { since: '2026-03-01T11:00:00' }, '/since', 'invalid_format'],
      ['a day', { since: '2026-02-28' }, '/since', 'invalid_format'],
      ['a number', { since: 1772362800 }, '/since', 'invalid_type'],
      ['a future since', { since: '2026-03-01T12:00:01.000Z' }, '/since', 'invalid_value'],
      [
        'a future until',
        { since: '2026-03-01T11:00:00Z', until: '2026-03-01T12:00:01.000Z' },
        '/until',
        'invalid_value',
      ],
      [
        'until before since',
        { since: '2026-03-01T11:00:00Z', until: '2026-03-01T10:59:59Z' },
        '/until',
        'invalid_value',
      ],
      ['an unknown field', { since: '2026-03-01T11:00:00Z', events: [] }, '/events', 'unknown_field'],
    ] as const) {
      const refused = await it.recover(body)
      expect([refused.status, refused.json.code], what).toEqual([422, 'validation_failed'])
      expect(refused.json.errors, what).toMatchObject([{ pointer, code }])
    }
  })

  test('offsets and finer fractions are read as elsewhere; until may be null', async () => {
    await using it = await desk()
    const answer = await it.recover({ since: '2026-03-01T13:00:00.0009+02:00', until: null })
    expect(answer.json).toMatchObject({ since: '2026-03-01T11:00:00.000Z', until: at(it.clock.now()) })
  })
})

describe('who may, and when', () => {
  test('webhooks:write, and the read scope of every subscribed type', async () => {
    await using it = await desk(['customer.created', 'ticket.created'])
    const { organizationId } = it.api
    const body = { since: at(it.clock.now()) }
    const status = async (scopes: string[]) => {
      const key = await it.service.newKey(organizationId, scopes)
      return (await key.post(`${it.path}/recover`, body)).status
    }
    expect(await status(['customers:read', 'tickets:read'])).toBe(403)
    expect(await status(['webhooks:read', 'customers:read', 'tickets:read'])).toBe(403)
    expect(await status(['webhooks:write', 'customers:read'])).toBe(403)
    expect(await status(['webhooks:write', 'customers:read', 'tickets:read'])).toBe(202)
    const reader = await it.service.newKey(organizationId, ['webhooks:read'])
    expect((await reader.get(`${it.path}/recoveries`)).json.data).toHaveLength(1)
    const writer = await it.service.newKey(organizationId, ['webhooks:write'])
    expect((await writer.get(`${it.path}/recoveries`)).status).toBe(403)
  })

  test('another organization finds neither endpoint nor recovery', async () => {
    await using it = await desk()
    const { id } = (await it.recover({ since: at(it.clock.now()) })).json
    const stranger = await it.service.newOrganization()
    const mine = await makeWebhook(stranger)
    const asked = [
      stranger.post(`${it.path}/recover`, { since: at(it.clock.now()) }),
      stranger.get(`${it.path}/recoveries`),
      stranger.get(`${it.path}/recoveries/${id}`),
      stranger.get(`/v1/webhooks/${mine.id}/recoveries/${id}`),
      it.api.get(`${it.path}/recoveries/${it.id}`),
      it.api.get(`${it.path}/recoveries/nonsense`),
      it.api.post('/v1/webhooks/nonsense/recover', { since: at(it.clock.now()) }),
    ]
    for (const answer of await Promise.all(asked)) {
      expect([answer.status, answer.json.code]).toEqual([404, 'not_found'])
    }
  })

  test('a disabled endpoint is 409, with an idempotency key and without', async () => {
    await using it = await desk()
    await it.disable()
    for (const headers of [{}, { 'idempotency-key': 'k' }]) {
      const refused = await it.recover({ since: at(it.clock.now()) }, headers as Record<string, string>)
      expect([refused.status, refused.json.code]).toEqual([409, 'webhook_disabled'])
      expect(refused.json.detail).toContain('manual')
    }
  })

  test('one Idempotency-Key begins one recovery, for twins too', async () => {
    await using it = await desk()
    const body = { since: at(it.clock.now()) }
    const twins = await Promise.all([1, 2, 3].map(() => it.recover(body, { 'idempotency-key': 'k' })))
    await it.disable()
    it.clock.advance(minute)
    const late = await it.recover(body, { 'idempotency-key': 'k' })
    expect(new Set([...twins, late].map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(late.headers.get('idempotent-replayed')).toBe('true')
    expect((await it.recover({ ...body, until: null }, { 'idempotency-key': 'k' })).json.code).toBe(
      'idempotency_key_reused',
    )
    expect((await it.api.get(`${it.path}/recoveries`)).json.pagination.total).toBe(1)
  })
})

test('recoveries are listed, newest first, as long as the log goes back', async () => {
  await using it = await desk()
  const made: string[] = []
  for (let n = 0; n < 3; n++) {
    made.unshift((await it.recover({ since: at(it.clock.now()) })).json.id)
    it.clock.advance(minute)
  }
  await it.work()
  const list = async (query = '') => (await it.api.get(`${it.path}/recoveries${query}`)).json
  const ids = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)
  const page = await list('?limit=2')
  expect(ids(page)).toEqual(made.slice(0, 2))
  expect(page.pagination).toEqual({ total: 3, limit: 2, offset: 0, hasMore: true })
  expect(ids(await list('?offset=2'))).toEqual(made.slice(2))
  expect((await it.api.get(`${it.path}/recoveries?status=done`)).status).toBe(400)
  it.clock.advance(30 * day - 1)
  await it.service.app.maintenance.run()
  expect(ids(await list())).toEqual(made)
  it.clock.advance(1)
  await it.service.app.maintenance.run()
  expect(ids(await list())).toEqual([])
})

describe('many events', () => {
  /** So many customers that were created while the endpoint was disabled, a millisecond apart. */
  async function missed(it: Desk, api: Api, count: number) {
    await it.service.database.pool.query(
      `with made as (select new_uuid_v7($2::timestamptz + n * interval '1 millisecond') as id,
          $2::timestamptz + n * interval '1 millisecond' as at from generate_series(1, $3) as n)
       insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
        select $1, m.id, 'customer.created', m.at, 'customer', m.id, '{}' from made m`,
      [api.organizationId, at(it.clock.now() - hour), count],
    )
  }

  test('come back in pieces, and no more at a time than the endpoint takes', async () => {
    await using it = await desk()
    await missed(it, it.api, 3_500)
    const { id } = (await it.recover({ since: at(it.clock.now() - day) })).json
    const pending = async () => (await it.log('&status=pending')).length
    const created: number[] = []
    for (let rounds = 0; (await it.read(id)).status === 'running' && rounds < 20; rounds++) {
      await it.recoverer.runDue()
      created.push((await it.read(id)).created)
      await it.engine.runDue()
      expect(await pending()).toBe(0)
      it.clock.advance(250)
    }
    expect(created).toEqual([1_000, 2_000, 3_000, 3_500])
    const { rows } = await it.service.database.pool.query(
      'select count(distinct d.event_id)::int as events, count(*)::int as deliveries from deliveries d',
    )
    expect(rows).toEqual([{ events: 3_500, deliveries: 3_500 }])
  })

  test('one that is lost in the middle goes on where it was, by another worker, once the lease is over', async () => {
    await using it = await desk()
    await missed(it, it.api, 450)
    const { id } = (await it.recover({ since: at(it.clock.now() - day) })).json
    const { pool } = it.service.database
    const recoveries = createRecoveries(pool, 6)
    const [due] = await recoveries.findDue(it.clock.now(), 1)
    const dead = '01980000-0000-7000-8000-00000000dead'
    const lease = it.clock.now() + 10_000
    expect(await recoveries.take(due!, dead, it.clock.now(), lease)).toBe(true)
    expect(await recoveries.piece(due!, dead, it.clock.now(), lease)).toBe('more')
    expect(await it.read(id)).toMatchObject({ status: 'running', created: 200 })
    // Somebody holds it.
    expect(await it.recoverer.runDue()).toBe(0)
    it.clock.advance(10_000)
    await it.recoverer.runDue()
    expect(await it.read(id)).toMatchObject({ status: 'done', created: 450 })
    // The dead comes back, and finds that it is no longer its own.
    expect(await recoveries.piece(due!, dead, it.clock.now(), lease)).toBe('lost')
    expect(await it.read(id)).toMatchObject({ status: 'done', created: 450 })
  })

  test('wait while the endpoint is disabled, and go on when it is active again', async () => {
    await using it = await desk()
    await missed(it, it.api, 300)
    const { id } = (await it.recover({ since: at(it.clock.now() - day) })).json
    await it.disable()
    await it.work()
    expect(await it.read(id)).toMatchObject({ status: 'running', created: 0 })
    await it.enable()
    it.clock.advance(minute)
    await it.work()
    expect(await it.read(id)).toMatchObject({ status: 'done', created: 300 })
  })

  test('are forgotten with their endpoint', async () => {
    await using it = await desk()
    await missed(it, it.api, 300)
    await it.recover({ since: at(it.clock.now() - day) })
    const { pool } = it.service.database
    const recoveries = createRecoveries(pool, 6)
    const [due] = await recoveries.findDue(it.clock.now(), 1)
    const lease = '01980000-0000-7000-8000-00000000beef'
    await recoveries.take(due!, lease, it.clock.now(), it.clock.now() + 10_000)
    expect((await it.api.delete(it.path)).status).toBe(204)
    expect(await recoveries.piece(due!, lease, it.clock.now(), it.clock.now() + 10_000)).toBe('lost')
    const { rows } = await pool.query('select 1 from recoveries union all select 1 from deliveries')
    expect(rows).toEqual([])
  })

  test('a commit, a disabling and a piece wait for each other, and nothing comes twice or is lost', async () => {
    await using it = await desk(['customer.created'])
    await it.disable()
    await makeCustomer(it.api, { name: 'missed' })
    await it.enable()
    await it.recover({ since: at(it.clock.now() - minute) })
    const lock = await lockRow(it.service.database, 'organization_clocks', it.api)
    const piece = it.recoverer.runDue()
    await waitingBackends(it.service.database, 1)
    const commit = makeCustomer(it.api, { name: 'meanwhile' })
    await waitingBackends(it.service.database, 2)
    const disabling = it.disable()
    await waitingBackends(it.service.database, 3)
    await lock.release()
    await Promise.all([piece, commit, disabling])
    await it.enable()
    await it.engine.runDue()
    const window = { since: at(it.clock.now() - minute) }
    await recovered(it, window)
    await recovered(it, window)
    expect(namesFrom(it, 0)).toEqual(['missed', 'meanwhile'])
    expect((await it.log()).map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
  })
})
