/** The calendar of bookings: days and weeks, conflicts, the customer's clock, and ends that follow their starts. */
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { makeBooking, makeCustomer, makeTeammate } from '../../testbed/desk.ts'
import type { Api } from '../../testbed/service.ts'
import { consoleBench } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()

/** On Wednesday, 9 January 2030. */
const at = (time: string) => `2030-01-09T${time}:00.000Z`

async function day(): Promise<{ readonly api: Api; readonly moved: string }> {
  const api = await bench().service.newOrganization('Calendar')
  const grace = await makeTeammate(api, { name: 'Grace Hopper' })
  const tokyo = await makeCustomer(api, { name: 'Haruka Nakata', timezone: 'Asia/Tokyo' })
  const rest = { customerId: tokyo.id, timezone: 'Europe/London', assigneeId: grace.id, status: 'confirmed' }
  const fitting = { ...rest, title: 'Fitting', startAt: at('10:00'), endAt: at('11:00') }
  const { id } = await makeBooking(api, fitting)
  await makeBooking(api, { ...rest, title: 'Call', startAt: at('10:30'), endAt: at('11:30') })
  await makeBooking(api, { ...rest, title: 'Survey', startAt: at('14:00'), endAt: at('14:30') })
  const walk = { title: 'Walk-in', startAt: at('10:15'), endAt: at('10:45'), assigneeId: null }
  await makeBooking(api, { ...rest, ...walk })
  const off = await makeBooking(api, {
    ...rest,
    title: 'Called off',
    startAt: at('10:00'),
    endAt: at('12:00'),
  })
  expect((await api.post(`/v1/bookings/${off.id}/cancel`, { by: 'customer' })).status).toBe(200)
  return { api, moved: id }
}

test('a block says the assignee and the customer’s clock; conflicts are marked and can be filtered', async () => {
  const { api } = await day()
  const { page, audit } = await bench().open(api, '/bookings?week=2030-01-09')
  const calendar = page.getByRole('region', { name: 'Calendar' })
  const blocks = calendar.getByRole('link')
  await expect.poll(() => blocks.count()).toBe(4)
  await settled(page)
  const fitting = calendar.getByRole('link', { name: /Fitting/ })
  await expect.poll(() => fitting.innerText()).toContain('Grace Hopper · 19:00 Tokyo')
  expect(await fitting.innerText()).toContain('Grace Hopper')
  expect(await fitting.textContent()).toContain('Conflict: Grace Hopper')
  // Nobody is booked twice by one that is nobody's.
  const walkIn = await calendar.getByRole('link', { name: /Walk-in/ }).textContent()
  expect(walkIn).toContain('Unassigned')
  expect(walkIn).not.toContain('Conflict')
  await audit()
  await page.getByLabel('Conflicts only').check()
  await expect.poll(() => blocks.count()).toBe(2)
  await page.getByLabel('Conflicts only').uncheck()
  await page.getByLabel('Show cancelled').check()
  await expect.poll(() => blocks.count()).toBe(5)
  expect(new URL(page.url()).searchParams.get('cancelled')).toBe('yes')
})

test.each([1280, 640, 390])('a day and a week cut no text at %d pixels', async (width) => {
  const { api } = await day()
  const { page, audit } = await bench().open(api, '/bookings?week=2030-01-09', { width })
  const calendar = page.getByRole('region', { name: 'Calendar' })
  for (const view of ['Week', 'Day']) {
    await page.getByRole('button', { name: view, exact: true }).click()
    await expect.poll(() => calendar.getByRole('link').count()).toBe(4)
    await settled(page)
    // A line is shown whole in height, and in width it ends in an ellipsis.
    const cut = await calendar.getByRole('link').evaluateAll((blocks) =>
      blocks.flatMap((block) => {
        const outer = block.getBoundingClientRect()
        return [...block.children].flatMap((line) => {
          const { top, bottom, left } = line.getBoundingClientRect()
          const isShown = left < outer.right
          return isShown && (bottom > outer.bottom + 0.5 || top < outer.top - 0.5) ? [line.textContent] : []
        })
      }),
    )
    expect(cut).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await audit()
  }
  await page.getByRole('button', { name: 'Next day' }).click()
  await page.getByText('No bookings.').waitFor()
  expect(new URL(page.url()).searchParams.get('week')).toBe('2030-01-10')
})

test('the end follows the start, and the customer’s clock is beside mine', async () => {
  const { api, moved } = await day()
  const { page } = await bench().open(api, '/bookings')
  await page.getByRole('button', { name: 'Create booking' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Start').fill('2030-07-01T10:00')
  await expect.poll(() => form.getByLabel('End', { exact: true }).inputValue()).toBe('2030-07-01 10:30')
  await form.getByLabel('End', { exact: true }).fill('2030-07-01T12:00')
  await form.getByLabel('Start').fill('2030-07-02T23:00')
  await expect.poll(() => form.getByLabel('End', { exact: true }).inputValue()).toBe('2030-07-03 01:00')

  await page.goto(`${bench().service.url}/console/bookings/${moved}`)
  await page.getByRole('button', { name: 'Reschedule' }).click()
  await page.getByLabel('Start').fill('2030-01-10T08:00')
  await expect.poll(() => page.getByLabel('End').inputValue()).toBe('2030-01-10 09:00')
  await page.getByText(/17:00.*18:00 in Asia\/Tokyo/).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Reschedule' }).click()
  await page.getByText('Booking rescheduled').waitFor()
  expect((await api.get(`/v1/bookings/${moved}`)).json).toMatchObject({
    startAt: '2030-01-10T08:00:00.000Z',
    endAt: '2030-01-10T09:00:00.000Z',
  })
})

const now = new Date(at('16:30'))

test('a week opens at the present hour, and every block has its customer', async () => {
  const { api } = await day()
  const { page, audit } = await bench().open(api, '/bookings', { height: 600 })
  await page.clock.setFixedTime(now)
  await page.reload()
  const line = page.getByTitle('16:30', { exact: true })
  const isInView = (of: Locator) =>
    of.evaluate((one) => {
      const { top, bottom } = one.getBoundingClientRect()
      return top >= 0 && bottom < 600
    })
  await expect.poll(() => isInView(line)).toBe(true)
  // The names of the days stay in view.
  expect(await isInView(page.getByRole('heading', { name: 'Wed 9' }))).toBe(true)
  const calendar = page.getByRole('region', { name: 'Calendar' })
  await expect.poll(() => calendar.getByText('Haruka Nakata').count()).toBe(4)
  for (const customer of await calendar.getByText('Haruka Nakata').all())
    expect(
      await customer.evaluate((words) => {
        const [inner, outer] = [words, words.closest('a') ?? words].map((one) => one.getBoundingClientRect())
        return (
          inner !== undefined &&
          outer !== undefined &&
          inner.bottom <= outer.bottom &&
          inner.left < outer.right
        )
      }),
    ).toBe(true)
  await audit()
  await page.evaluate('scrollTo(0, 0)')
  await page.getByRole('button', { name: 'Today' }).click()
  await expect.poll(() => isInView(line)).toBe(true)
})

test('on a phone a week opens at today', async () => {
  const { api } = await day()
  const { id: customerId } = await makeCustomer(api, { name: 'Ada Lovelace' })
  for (let hour = 8; hour < 18; hour++)
    for (const date of ['2030-01-07', '2030-01-10'])
      await makeBooking(api, {
        customerId,
        title: `Call ${hour}`,
        startAt: `${date}T${String(hour).padStart(2, '0')}:00:00Z`,
        endAt: `${date}T${String(hour).padStart(2, '0')}:30:00Z`,
        timezone: 'Europe/London',
      })
  const { page, audit } = await bench().open(api, '/bookings', { width: 390 })
  await page.clock.setFixedTime(now)
  await page.reload()
  const today = page.getByRole('heading', { name: 'Wed 9' })
  await expect.poll(async () => Math.round((await today.boundingBox())?.y ?? 0)).toBeLessThan(120)
  expect((await today.boundingBox())?.y).toBeGreaterThan(40)
  await audit()
})
