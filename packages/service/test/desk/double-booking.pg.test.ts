/** An organization that prevents double booking (specification 4.7): no two bookings at once for an assignee. */
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer, makeTeammate } from '../../../testbed/desk.ts'
import { type Api, createApi, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const clock = testClock()
const shared = sharedService({ clock })

/** The time of day on 1 April 2026, from `9` or `9:30`. */
function at(time: string): string {
  const [hour = '', minute = '00'] = time.split(':')
  return `2026-04-01T${hour.padStart(2, '0')}:${minute}:00.000Z`
}

async function desk(preventDoubleBooking = true) {
  const api = await shared().newOrganization()
  const patched = await api.patch('/v1/organization', { preventDoubleBooking })
  expect(patched.json.preventDoubleBooking).toBe(preventDoubleBooking)
  const customerId = (await makeCustomer(api)).id
  const assigneeId = (await makeTeammate(api)).id
  const body = (from: string, to: string, more: object = {}) => {
    const times = { startAt: at(from), endAt: at(to), timezone: 'Europe/Berlin' }
    return { customerId, assigneeId, title: 'Fitting', ...times, ...more }
  }
  const book = (from: string, to: string, more: object = {}) => api.post('/v1/bookings', body(from, to, more))
  return { api, customerId, assigneeId, body, book }
}

const conflictWith = (id: string) => [409, 'booking_conflict', id]
const said = ({ status, json }: { status: number; json: { code?: string; existingId?: string } }) =>
  status < 300 ? status : [status, json.code, json.existingId]

test('it is off until an organization turns it on, which leaves what is there', async () => {
  const { api, book } = await desk(false)
  expect((await api.get('/v1/organization')).json.preventDoubleBooking).toBe(false)
  const first = (await book('9', '10')).json
  expect(said(await book('9', '10'))).toBe(201)
  await api.patch('/v1/organization', { preventDoubleBooking: true })
  expect((await book('9', '10')).json.code).toBe('booking_conflict')
  expect(said(await api.post(`/v1/bookings/${first.id}/confirm`, {}))).toBe(200)
  expect(said(await api.patch(`/v1/bookings/${first.id}`, { title: 'Second fitting' }))).toBe(200)
  await api.patch('/v1/organization', { preventDoubleBooking: false })
  expect(said(await book('9', '10'))).toBe(201)
})

test.each([
  ['the same time', '10', '11', true],
  ['an end within', '9', '10:01', true],
  ['a start within', '10:59', '12', true],
  ['all of it and more', '9', '12', true],
  ['a part of it', '10:15', '10:30', true],
  ['an end at its start', '9', '10', false],
  ['a start at its end', '11', '12', false],
])('%s: %s to %s conflicts with 10 to 11: %s', async (_which, from, to, conflicts) => {
  const { book } = await desk()
  const { id } = (await book('10', '11')).json
  const answer = await book(from, to)
  expect(said(answer)).toEqual(conflicts ? conflictWith(id) : 201)
  if (conflicts) expect(answer.json.detail).toContain(id)
})

test('only pending and confirmed bookings of the assignee take time', async () => {
  const { api, book, body } = await desk()
  const { id } = (await book('10', '11')).json
  expect(said(await book('10', '11', { assigneeId: null }))).toBe(201)
  expect(said(await book('10', '11', { assigneeId: (await makeTeammate(api)).id }))).toBe(201)
  await api.post(`/v1/bookings/${id}/cancel`, { by: 'customer' })
  const second = (await book('10', '11', { status: 'confirmed' })).json
  await api.delete(`/v1/bookings/${second.id}`)
  const third = (await book('10', '11')).json
  await api.post(`/v1/bookings/${third.id}/reject`, {})
  const fourth = (await book('10', '11', { status: 'confirmed' })).json
  expect(said(await api.post('/v1/bookings', body('10', '11')))).toEqual(conflictWith(fourth.id))
})

test('rescheduling and assigning are refused alike, and a booking is never in its own way', async () => {
  const { api, book } = await desk()
  const [nine, ten] = [(await book('9', '10')).json, (await book('10', '11')).json]
  const reschedule = (id: string, from: string, to: string) =>
    api.post(`/v1/bookings/${id}/reschedule`, { startAt: at(from), endAt: at(to) })
  expect(said(await reschedule(nine.id, '9:30', '10:30'))).toEqual(conflictWith(ten.id))
  expect((await api.get(`/v1/bookings/${nine.id}`)).json.updatedAt).toBe(nine.updatedAt)
  expect(said(await reschedule(nine.id, '8:30', '9:30'))).toBe(200)
  const free = (await book('10', '11', { assigneeId: null })).json
  const assigned = await api.patch(`/v1/bookings/${free.id}`, { assigneeId: ten.assigneeId })
  expect(said(assigned)).toEqual(conflictWith(ten.id))
})

test('items of a batch conflict with what is there and with earlier items', async () => {
  const { api, assigneeId, body, book } = await desk()
  const other = (await makeTeammate(api)).id
  const { id } = (await book('10', '11')).json
  const items = [
    body('9', '10'),
    body('10:30', '11:30'),
    body('9:30', '10'),
    body('9:30', '10', { assigneeId: other }),
    body('11', '12'),
    body('8', '9:15'),
    // What is refused for another reason takes no time.
    body('13', '14', { customerId: assigneeId }),
    body('13', '14'),
    body('14', '15'),
  ]
  const { json } = await api.post('/v1/bookings/batch', { operation: 'create', items })
  const first = json.data[0].id
  expect(
    json.data.map(({ problem, status }: { problem?: object; status: number }) => problem ?? status),
  ).toMatchObject([
    201,
    { code: 'booking_conflict', existingId: id },
    { code: 'booking_conflict', existingId: first },
    201,
    201,
    { code: 'booking_conflict', existingId: first },
    { code: 'validation_failed' },
    201,
    201,
  ])
  const list = await api.get(`/v1/bookings?assigneeId=${assigneeId}`)
  expect(list.json.pagination.total).toBe(5)
})

test('of many writers at once through two services one gets each time', async () => {
  const { api, body } = await desk()
  await using second = await testService({ clock, database: shared().database })
  const other = createApi(second.url, api.organizationId, api.token)
  const through = (n: number): Api => (n % 2 === 0 ? api : other)
  // Twelve overlapping times of half an hour, each wanted by several writers, alone and in batches.
  const wanted = Array.from({ length: 120 }, (_, n) => {
    const from = `${9 + Math.floor((n % 12) / 4)}:${String((n % 4) * 15).padStart(2, '0')}`
    const start = Date.parse(at(from))
    return { ...body('9', '10'), startAt: at(from), endAt: new Date(start + 1_800_000).toISOString() }
  })
  await Promise.all(
    wanted.map((booking, n) =>
      n % 3 === 0
        ? through(n).post('/v1/bookings/batch', { items: [booking, booking] })
        : through(n).post('/v1/bookings', booking),
    ),
  )
  const { data } = (await api.get('/v1/bookings?limit=100')).json
  const times = data
    .map(({ startAt, endAt }: { startAt: string; endAt: string }) => ({ startAt, endAt }))
    .sort((a: { startAt: string }, b: { startAt: string }) => a.startAt.localeCompare(b.startAt))
  expect(times.length).toBeGreaterThanOrEqual(4)
  for (let n = 1; n < times.length; n++)
    expect(times[n].startAt >= times[n - 1].endAt, JSON.stringify(times)).toBe(true)
})
