/** Bookings field by field, and what their moves write down. */
import { beforeAll, describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeBooking, makeConversation, makeCustomer, makeTeammate } from '../../../testbed/desk.ts'
import { absent, type FieldCase, refused, tryChange, tryCreation } from '../../../testbed/field-cases.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'
import { booking } from '../../src/desk/booking/index.ts'
import { parseCreation } from '../../src/kernel/fields/validate.ts'

const clock = testClock()
const shared = sharedService({ clock })
const hour = 3_600_000
const unknown = '01980000-0000-7000-8000-000000000000'
const at = '2026-01-31T09:30:00.000Z'
const isoIn = (milliseconds: number) => new Date(clock.now() + milliseconds).toISOString()
let api: Api
let base: Record<string, string>

beforeAll(async () => {
  api = await shared().newOrganization()
  base = {
    customerId: (await makeCustomer(api)).id,
    title: 'Fitting',
    startAt: '2026-04-01T09:00:00.000Z',
    endAt: '2026-04-01T09:30:00.000Z',
    timezone: 'Europe/Berlin',
  }
})

describe('times are instants, whatever the clocks of the zone show', () => {
  test.each([
    // Berlin goes from 02:00 to 03:00 on 29 March 2026, and from 03:00 back to 02:00 on 25 October.
    ['over the gap', '2026-03-29T01:30:00+01:00', '2026-03-29T00:30:00.000Z', '2026-03-29T02:00:00.000Z'],
    ['in the gap', '2026-03-29T02:30:00+01:00', '2026-03-29T01:30:00.000Z', '2026-03-29T03:00:00.000Z'],
    ['first 02:30', '2026-10-25T02:30:00+02:00', '2026-10-25T00:30:00.000Z', '2026-10-25T02:00:00.000Z'],
    ['second 02:30', '2026-10-25T02:30:00+01:00', '2026-10-25T01:30:00.000Z', '2026-10-25T03:00:00.000Z'],
  ])('a booking that moves %s lasts as long as before', async (_where, startAt, start, end) => {
    const { json } = await api.post('/v1/bookings', { ...base, endAt: '2026-04-01T10:30:00.000Z' })
    const moved = await api.post(`/v1/bookings/${json.id}/reschedule`, { startAt })
    expect(moved.json).toMatchObject({ startAt: start, endAt: end, timezone: 'Europe/Berlin' })
    const again = await api.post(`/v1/bookings/${json.id}/reschedule`, { startAt })
    expect(again.json).toEqual(moved.json)
    // A new one lasts from instant to instant too.
    const made = await api.post('/v1/bookings', { ...base, startAt, endAt: end })
    expect(made.json).toMatchObject({ startAt: start, endAt: end })
  })
})

describe('at creation', () => {
  test('has these values unless told', async () => {
    const { json } = await api.post('/v1/bookings', base)
    expect(json).toEqual({
      id: expect.any(String),
      object: 'booking',
      organizationId: api.organizationId,
      createdAt: json.createdAt,
      updatedAt: expect.any(String),
      ...base,
      status: 'pending',
      location: null,
      assigneeId: null,
      conversationId: null,
      notes: null,
      cancelledBy: null,
      cancellationReason: null,
      rejectionReason: null,
      previousStartAt: null,
      rescheduleCount: 0,
      confirmedAt: null,
      completedAt: null,
      cancelledAt: null,
      externalId: null,
      tags: [],
      customAttributes: {},
    })
  })

  test.each<FieldCase>([
    ...['customerId', 'title', 'startAt', 'endAt', 'timezone'].flatMap((field): FieldCase[] => [
      [field, absent, refused('required')],
      [field, null, refused('invalid_type')],
    ]),
    ['customerId', unknown, refused('unknown_reference')],
    ['title', '', refused('too_short')],
    ['title', 't'.repeat(255), 't'.repeat(255)],
    ['title', 't'.repeat(256), refused('too_long')],
    ['startAt', '2026-04-01T10:00:00+02:00', '2026-04-01T08:00:00.000Z'],
    ['startAt', '1999-01-01T00:00:00Z', '1999-01-01T00:00:00.000Z'],
    ['startAt', 'tomorrow', refused('invalid_format')],
    ['endAt', '2026-04-01T09:00:00.000Z', refused('invalid_value')],
    ['endAt', '2026-04-01T08:59:59.999Z', refused('invalid_value')],
    ['endAt', '2026-04-01T09:00:00.001Z', '2026-04-01T09:00:00.001Z'],
    ['timezone', 'UTC', 'UTC'],
    ['timezone', 'America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
    ['timezone', 'europe/london', 'Europe/London'],
    ['timezone', 'asia/KOLKATA', 'Asia/Kolkata'],
    ['timezone', '+02:00', refused('invalid_format')],
    ['timezone', 'Mars/Olympus', refused('invalid_format')],
    ['timezone', '', refused('too_short')],
    ['status', 'confirmed', 'confirmed'],
    ...['cancelled', 'completed', 'no_show', 'rejected', 'new'].map(
      (one): FieldCase => ['status', one, refused('invalid_value')],
    ),
    ...['in_person', 'phone', 'video', 'other'].map(
      (type): FieldCase => ['location', { type, value: 'v' }, { type, value: 'v' }],
    ),
    ['location', null, null],
    ['location', { type: 'video' }, refused('invalid_type', '/value')],
    ['location', { type: 'video', value: '' }, refused('too_short', '/value')],
    ['location', { type: 'moon', value: 'v' }, refused('invalid_value', '/type')],
    ['location', { type: 'video', value: 'v', more: 1 }, refused('unknown_field')],
    ['location', 'here', refused('invalid_type')],
    ['assigneeId', unknown, refused('unknown_reference')],
    ['conversationId', unknown, refused('unknown_reference')],
    ['notes', 'n'.repeat(64_000), 'n'.repeat(64_000)],
    ['notes', 'n'.repeat(64_001), refused('too_long')],
    ...['cancelledBy', 'cancellationReason', 'rejectionReason', 'previousStartAt', 'rescheduleCount'].map(
      (field): FieldCase => [field, null, refused('read_only')],
    ),
    ...['confirmedAt', 'completedAt', 'cancelledAt'].map(
      (field): FieldCase => [field, at, refused('read_only')],
    ),
  ])('%s: %j', async (...given) => {
    await tryCreation(api, '/v1/bookings', base, given)
  })

  test('a zone keeps its name, former ones included, in the case of the IANA database', async () => {
    const { rows } = await shared().database.pool.query<{ name: string }>(
      `select name from pg_timezone_names where name !~ '^(posix|right)/|^(Factory|localtime|posixrules)$'`,
    )
    expect(rows.length).toBeGreaterThan(500)
    const stored = (timezone: string) => {
      const parsed = parseCreation(booking, { ...base, timezone })
      return parsed.ok ? parsed.value.timezone : parsed.error
    }
    for (const { name } of rows)
      expect([name, name.toLowerCase(), name.toUpperCase()].map(stored)).toEqual([name, name, name])
  })

  test('confirmed, it was confirmed then, and tells of the creation alone', async () => {
    const made = await makeBooking(api, { ...base, status: 'confirmed' })
    expect(made.confirmedAt).toBe(made.createdAt)
    expect((await storedEvents(shared(), api.organizationId, made.id)).map(({ type }) => type)).toEqual([
      'booking.created',
    ])
  })
})

describe('in a change', () => {
  test.each<FieldCase>([
    ['startAt', at, refused('read_only')],
    ['endAt', at, refused('read_only')],
    ['status', 'confirmed', refused('read_only')],
    ['customerId', null, refused('invalid_type')],
    ['customerId', unknown, refused('unknown_reference')],
    ['title', 'Second fitting', 'Second fitting'],
    ['title', null, refused('invalid_type')],
    ['timezone', 'asia/tokyo', 'Asia/Tokyo'],
    ['location', { type: 'phone', value: '+49' }, { type: 'phone', value: '+49' }],
    ['location', null, null],
    ['notes', 'n', 'n'],
    ['rescheduleCount', 3, refused('read_only')],
  ])('%s: %j', async (...given) => {
    await tryChange(api, `/v1/bookings/${(await makeBooking(api, base)).id}`, given)
  })

  test('has no event, whatever changes', async () => {
    const { id } = await makeBooking(api, base)
    const assigneeId = (await makeTeammate(api)).id
    const conversationId = (await makeConversation(api, { customerId: base.customerId })).id
    const { json } = await api.patch(`/v1/bookings/${id}`, {
      assigneeId,
      conversationId,
      notes: 'n',
      tags: ['a'],
    })
    expect(json).toMatchObject({ assigneeId, conversationId })
    expect((await storedEvents(shared(), api.organizationId, id)).map(({ type }) => type)).toEqual([
      'booking.created',
    ])
  })
})

describe('a move', () => {
  const act = (id: string, action: string, body?: unknown, headers?: Record<string, string>) =>
    api.post(`/v1/bookings/${id}/${action}`, body, headers)

  test('to other times keeps id and status, counts, and remembers where it was', async () => {
    const made = await makeBooking(api, { ...base, status: 'confirmed' })
    const first = { startAt: '2026-05-01T09:00:00.000Z', endAt: '2026-05-01T10:00:00.000Z' }
    const once = await act(made.id, 'reschedule', first)
    expect(once.json).toEqual({
      ...made,
      ...first,
      previousStartAt: made.startAt,
      rescheduleCount: 1,
      updatedAt: once.json.updatedAt,
    })
    const again = await act(made.id, 'reschedule', first)
    expect(again.text).toBe(once.text)
    const longer = { ...first, endAt: '2026-05-01T11:00:00.000Z' }
    expect((await act(made.id, 'reschedule', longer)).json).toMatchObject({
      ...longer,
      previousStartAt: first.startAt,
      rescheduleCount: 2,
    })
    const events = await storedEvents(shared(), api.organizationId, made.id)
    expect(events.map(({ type }) => type)).toEqual([
      'booking.created',
      'booking.rescheduled',
      'booking.rescheduled',
    ])
  })

  test.each<readonly [action: string, body: unknown, pointer: string, code: string]>([
    ['reschedule', undefined, '/startAt', 'required'],
    ['reschedule', { startAt: '9999-12-31T23:59:59Z' }, '/endAt', 'invalid_value'],
    ['reschedule', { startAt: at, endAt: at }, '/endAt', 'invalid_value'],
    ['reschedule', { startAt: 'x', endAt: at }, '/startAt', 'invalid_format'],
    ['cancel', undefined, '/by', 'required'],
    ['cancel', { by: 'nobody' }, '/by', 'invalid_value'],
    ['cancel', { by: 'customer', reason: 'r'.repeat(2_001) }, '/reason', 'too_long'],
    ['reject', { reason: 7 }, '/reason', 'invalid_type'],
    ['confirm', { now: true }, '/now', 'unknown_field'],
    ['confirm', [], '', 'invalid_type'],
  ])('%s does not take %j', async (action, body, pointer, code) => {
    const { id } = await makeBooking(api, base)
    const { status, json } = await act(id, action, body)
    expect(status).toBe(422)
    expect(
      json.errors.map((error: { pointer: string; code: string }) => [error.pointer, error.code]),
    ).toContainEqual([pointer, code])
  })

  test('writes down who, why and when', async () => {
    const cancelled = await makeBooking(api, { ...base, status: 'confirmed' })
    clock.advance(1_000)
    expect((await act(cancelled.id, 'cancel', { by: 'customer', reason: 'a cold' })).json).toMatchObject({
      status: 'cancelled',
      cancelledBy: 'customer',
      cancellationReason: 'a cold',
      cancelledAt: isoIn(0),
    })
    const rejected = await makeBooking(api, base)
    expect((await act(rejected.id, 'reject', { reason: 'full' })).json).toMatchObject({
      status: 'rejected',
      rejectionReason: 'full',
    })
    const silent = await makeBooking(api, base)
    expect((await act(silent.id, 'reject')).json).toMatchObject({ status: 'rejected', rejectionReason: null })
  })

  test('to its end is possible from the very millisecond it starts, and can be corrected either way', async () => {
    const { id } = await makeBooking(api, {
      ...base,
      startAt: isoIn(hour),
      endAt: isoIn(2 * hour),
      status: 'confirmed',
    })
    clock.advance(hour - 1)
    for (const action of ['complete', 'no-show']) {
      const early = await act(id, action)
      expect([early.status, early.json.code]).toEqual([409, 'invalid_transition'])
      expect(early.json.detail).toContain('Possible now: cancel, reschedule.')
    }
    clock.advance(1)
    expect((await act(id, 'complete')).json).toMatchObject({ status: 'completed', completedAt: isoIn(0) })
    clock.advance(hour)
    expect((await act(id, 'no-show')).json).toMatchObject({ status: 'no_show', completedAt: null })
    clock.advance(hour)
    expect((await act(id, 'complete')).json).toMatchObject({ status: 'completed', completedAt: isoIn(0) })
    expect((await storedEvents(shared(), api.organizationId, id)).map(({ type }) => type)).toEqual([
      'booking.created',
      'booking.completed',
      'booking.no_show',
      'booking.completed',
    ])
  })

  test('can be asked for a version, and is refused on another', async () => {
    const made = await makeBooking(api, base)
    const stale = await act(made.id, 'confirm', undefined, { 'if-match': '"2020-01-01T00:00:00.000Z"' })
    expect([stale.status, stale.json.code]).toEqual([412, 'version_mismatch'])
    const done = await act(made.id, 'confirm', undefined, { 'if-match': `"${made.updatedAt}"` })
    expect([done.status, done.headers.get('etag')]).toEqual([200, `"${done.json.updatedAt}"`])
    const again = await act(made.id, 'cancel', { by: 'system' }, { 'if-match': `"${made.updatedAt}"` })
    expect(again.status).toBe(412)
  })
})

test('lists those that reach into a span, however early they begin, both bounds exclusive', async () => {
  const own = await shared().newOrganization()
  const customerId = (await makeCustomer(own)).id
  const spans = {
    before: ['2026-05-01T00:00:00.000Z', '2026-06-01T00:00:00.000Z'],
    // Over the change of clocks in spring, with another offset at its end.
    into: ['2026-03-01T09:00:00+01:00', '2026-06-01T02:00:00.001+02:00'],
    around: ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'],
    within: ['2026-06-01T10:00:00.000Z', '2026-06-01T10:00:00.001Z'],
    exactly: ['2026-06-01T00:00:00.000Z', '2026-06-02T00:00:00.000Z'],
    outOf: ['2026-06-01T23:59:59.999Z', '2026-07-01T00:00:00.000Z'],
    after: ['2026-06-02T00:00:00.000Z', '2026-06-03T00:00:00.000Z'],
  } as const
  for (const [title, [startAt, endAt]] of Object.entries(spans))
    await makeBooking(own, { customerId, title, startAt, endAt })
  const found = async (query: Record<string, string>) => {
    const { data, pagination } = (await own.get(`/v1/bookings?${new URLSearchParams(query)}`)).json
    expect(pagination.total).toBe(data.length)
    return data.map(({ title }: { title: string }) => title).sort()
  }
  const day = { endAfter: '2026-06-01T00:00:00Z', startBefore: '2026-06-02T02:00:00+02:00' }
  expect(await found(day)).toEqual(['around', 'exactly', 'into', 'outOf', 'within'])
  const around = await own.get('/v1/bookings?endAfter=9999-01-01T00:00:00Z')
  await own.delete(`/v1/bookings/${around.json.data[0].id}`)
  expect(await found({ ...day, q: 'out' })).toEqual(['outOf'])
  expect(await found({ ...day, assigneeId: 'null', customerId })).toEqual([
    'exactly',
    'into',
    'outOf',
    'within',
  ])
  // One moment: whatever is under way then.
  const moment = '2026-06-01T10:00:00.000Z'
  expect(await found({ endAfter: moment, startBefore: moment })).toEqual(['exactly'])
  expect(await found({ endBefore: '2026-06-01T00:00:00.001Z' })).toEqual(['before'])
  expect(await found({ endAfter: '2026-06-03T00:00:00Z', endBefore: '2026-08-01T00:00:00Z' })).toEqual([
    'outOf',
  ])
  for (const name of ['endAfter', 'endBefore'])
    expect((await own.get(`/v1/bookings?${name}=soon`)).json).toMatchObject({ code: 'invalid_parameter' })
})

test('lists by when they start, both bounds exclusive', async () => {
  const own = await shared().newOrganization()
  const customerId = (await makeCustomer(own)).id
  const starts = ['2026-06-01T09:00:00.000Z', '2026-06-01T10:00:00.000Z', '2026-06-01T11:00:00.000Z']
  for (const startAt of starts) {
    await makeBooking(own, { customerId, startAt, endAt: '2026-06-02T00:00:00Z' })
  }
  const found = async (query: string) =>
    (await own.get(`/v1/bookings?${query}`)).json.data.map((row: { startAt: string }) => row.startAt).sort()
  expect(await found(`startAfter=${starts[0]}`)).toEqual(starts.slice(1))
  expect(await found(`startBefore=${starts[2]}`)).toEqual(starts.slice(0, 2))
  expect(await found(`startAfter=${starts[0]}&startBefore=${starts[2]}`)).toEqual([starts[1]])
  expect((await own.get('/v1/bookings?startAfter=soon')).status).toBe(400)
})
