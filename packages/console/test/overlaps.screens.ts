/** Bookings of one teammate that overlap: found in every view, and said where a booking is shown and moved. */
import { expect, test } from 'vitest'
import { makeBooking, makeCustomer, makeTeammate } from '../../testbed/desk.ts'
import { consoleBench } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()

/** On Wednesday, 9 January 2030: two that overlap, and one that does not. */
async function overlapping() {
  const api = await bench().service.newOrganization('Overlaps')
  const grace = await makeTeammate(api, { name: 'Grace Hopper' })
  const { id: customerId } = await makeCustomer(api, { name: 'Haruka Nakata' })
  const at = (time: string) => `2030-01-09T${time}:00.000Z`
  const book = (title: string, from: string, to: string) =>
    makeBooking(api, {
      customerId,
      title,
      startAt: at(from),
      endAt: at(to),
      timezone: 'Asia/Tokyo',
      assigneeId: grace.id,
      status: 'confirmed',
    })
  const fitting = await book('Fitting', '10:00', '11:00')
  const call = await book('Call', '10:30', '11:30')
  const survey = await book('Survey', '14:00', '14:30')
  return { api, fitting, call, survey }
}

test('conflicts stay filtered in the list, which marks them, and a week without any leads to the next', async () => {
  const { api } = await overlapping()
  const { page, audit } = await bench().open(api, '/bookings?week=2030-01-09')
  const only = page.getByLabel('Conflicts only')
  await only.check()
  await page.getByRole('button', { name: 'List', exact: true }).click()
  const rows = page.getByRole('row').filter({ has: page.getByRole('link') })
  await expect.poll(() => rows.count()).toBe(2)
  expect(await rows.allInnerTexts()).toEqual([
    expect.stringContaining('Fitting'),
    expect.stringContaining('Call'),
  ])
  expect(await only.isChecked()).toBe(true)
  await only.uncheck()
  await expect.poll(() => rows.count()).toBe(3)
  await expect.poll(() => rows.filter({ hasText: 'Conflict' }).count()).toBe(2)
  expect(await rows.filter({ hasText: 'Survey' }).innerText()).not.toContain('Conflict')
  await page.getByText('Times in Europe/London').waitFor()
  await audit()

  await page.goto(`${bench().service.url}/console/bookings?week=2030-01-16&conflicts=yes`)
  await page.getByRole('heading', { name: /No conflicts on 14.+20 January 2030/ }).waitFor()
  await settled(page)
  await audit()
  const state = page.getByRole('status').filter({ hasText: 'No conflicts on' })
  await state.getByRole('button', { name: 'Next week' }).click()
  await page.getByRole('heading', { name: /No conflicts on 21.+27 January 2030/ }).waitFor()
  await page.getByRole('button', { name: 'All conflicts' }).click()
  await expect.poll(() => rows.count()).toBe(2)
})

test('a booking and the dialog that moves it say with what it overlaps, and do not refuse', async () => {
  const { api, fitting, survey } = await overlapping()
  const { page, audit } = await bench().open(api, `/bookings/${fitting.id}`)
  const warning = page.getByRole('status').filter({ hasText: 'Overlaps' })
  await expect.poll(() => warning.innerText()).toBe('Overlaps with Call, 10:30 to 11:30.')
  await audit()

  await page.goto(`${bench().service.url}/console/bookings/${survey.id}`)
  await page.getByRole('heading', { level: 1, name: 'Survey' }).waitFor()
  await settled(page)
  expect(await warning.count()).toBe(0)
  await page.getByRole('button', { name: 'Reschedule' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Start').fill('2030-01-09T10:45')
  const warned = form.getByRole('status').filter({ hasText: 'Overlaps' })
  await expect
    .poll(() => warned.allInnerTexts())
    .toEqual(['Overlaps with Fitting, 10:00 to 11:00.', 'Overlaps with Call, 10:30 to 11:30.'])
  await settled(page)
  await audit()
  await form.getByLabel('Start').fill('2030-01-09T12:00')
  await expect.poll(() => warned.count()).toBe(0)
  await form.getByLabel('Start').fill('2030-01-09T10:45')
  await form.getByRole('button', { name: 'Reschedule' }).click()
  await page.getByText('Booking rescheduled').waitFor()
  await expect.poll(() => warning.count()).toBe(2)
})

test('a moved booking says when it was, in a zone that is named, and times have one form', async () => {
  const { api, survey } = await overlapping()
  const moved = { startAt: '2030-01-14T14:00:00.000Z' }
  expect((await api.post(`/v1/bookings/${survey.id}/reschedule`, moved)).status).toBe(200)
  const { page } = await bench().open(api, `/bookings/${survey.id}`)
  await page.getByText(/once, was Wed,? 9 Jan 2030, 14:00/).waitFor()
  await page.getByText('When (Europe/London)').waitFor()
  // A month and more later.
  await page.clock.setFixedTime(Date.now() + 32 * 86_400_000)
  await page.reload()
  await page.getByText('1 mo. ago').waitFor()
})
