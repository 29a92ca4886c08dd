/** Asking for a recovery: the window, who may, and the list of those that were asked for. */

import { describe, expect, test } from 'vitest'
import { at } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { day, hour, makeWebhook, minute } from '../../../testbed/hooks.ts'
import { type Desk, desk, namesFrom, recovered } from './recovery.fixture.ts'

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

  test('begins at the registration of the endpoint unless earlier events are asked for', async () => {
    await using it = await desk(['customer.created'])
    await makeCustomer(it.api, { name: 'before' })
    it.clock.advance(minute)
    const { id, createdAt } = await makeWebhook(it.api, { events: ['customer.created'] })
    const path = `/v1/webhooks/${id}/recover`
    const since = at(it.clock.now() - day)
    const bounded = await it.api.post(path, { since })
    expect(bounded).toMatchObject({ status: 202, json: { since: createdAt } })
    await it.deliveryJobs.runDue()
    const ended = await it.api.post(path, { since, until: at(Date.parse(createdAt) - 1) })
    expect(ended.json.errors).toMatchObject([{ pointer: '/until', code: 'invalid_value' }])
    const read = async (recovery: string) =>
      (await it.api.get(`/v1/webhooks/${id}/recoveries/${recovery}`)).json
    expect(await read(bounded.json.id)).toMatchObject({ status: 'done', created: 0 })
    const asked = await it.api.post(path, { since, includeBeforeCreation: true })
    expect(asked).toMatchObject({ status: 202, json: { since } })
    await it.deliveryJobs.runDue()
    expect(await read(asked.json.id)).toMatchObject({ status: 'done', created: 1 })
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
    const answer = await it.recover({
      since: '2026-03-01T13:00:00.0009+02:00',
      until: null,
      includeBeforeCreation: true,
    })
    expect(answer.json).toMatchObject({ since: '2026-03-01T11:00:00.000Z', until: at(it.clock.now()) })
  })
})

describe('missedSince', () => {
  const missed = async (it: Desk) => (await it.read()).missedSince

  test('is no later than the first event that failed, disabled and enabled meanwhile', async () => {
    await using it = await desk(['customer.created'])
    expect(await missed(it)).toBeNull()
    await makeCustomer(it.api, { name: 'arrived' })
    await it.work()
    it.answer(500)
    it.clock.advance(hour)
    const first = it.clock.now()
    for (let n = 0; n < 12; n++) {
      await makeCustomer(it.api, { name: `missed ${n}` })
      await it.work()
      it.clock.advance(6 * hour)
    }
    for (let n = 0; n < 12; n++) {
      it.clock.advance(hour)
      await it.work()
    }
    expect(await it.read()).toMatchObject({ status: 'disabled', disabledReason: 'failing' })
    it.answer(200)
    it.sent.length = 0
    expect((await it.enable()).json.missedSince).toBe(at(first))
    it.clock.advance(day)
    const since = await missed(it)
    expect(since).toBe(at(first))
    expect(await recovered(it, { since })).toMatchObject({ retried: 12, created: 0 })
    expect(namesFrom(it, 0)).toEqual(Array.from({ length: 12 }, (_, n) => `missed ${n}`))
    expect(await missed(it)).toBeNull()
  })

  test('is no later than the moment of disabling, where nothing had failed', async () => {
    await using it = await desk(['customer.created'])
    it.clock.advance(hour)
    const disabledAt = it.clock.now()
    expect((await it.disable()).json.missedSince).toBe(at(disabledAt - minute))
    for (const name of ['a', 'b']) {
      await makeCustomer(it.api, { name })
      it.clock.advance(day)
      await it.enable()
      it.clock.advance(day)
      await it.disable()
    }
    await it.enable()
    const since = await missed(it)
    expect(since).toBe(at(disabledAt - minute))
    expect(await recovered(it, { since })).toMatchObject({ created: 2 })
    expect(await missed(it)).toBeNull()
  })

  test('goes back as far as a recovery whose deliveries have failed again', async () => {
    await using it = await desk(['customer.created'])
    it.clock.advance(hour)
    await it.disable()
    const first = Date.parse((await makeCustomer(it.api, { name: 'a' })).createdAt)
    it.clock.advance(3 * day)
    await it.enable()
    it.answer(500)
    await recovered(it, { since: await missed(it) })
    it.clock.advance(hour)
    await it.disable()
    await it.work()
    it.answer(200)
    await it.enable()
    it.sent.length = 0
    const since = await missed(it)
    expect(Date.parse(since)).toBeLessThanOrEqual(first)
    expect(await recovered(it, { since })).toMatchObject({ retried: 1 })
    expect(namesFrom(it, 0)).toEqual(['a'])
    expect(await missed(it)).toBeNull()
  })

  test('is accepted for a minute, and null once the log knows no more of it', async () => {
    await using it = await desk(['customer.created'])
    it.clock.advance(day)
    await it.disable()
    it.clock.advance(30 * day)
    await it.enable()
    const since = await missed(it)
    it.clock.advance(minute)
    expect((await it.recover({ since })).status).toBe(202)
    it.clock.advance(30 * day)
    expect(await missed(it)).toBeNull()
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
