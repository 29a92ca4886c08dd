/** The pictures of the desk in docs/console, also of what is empty and of what fails. `npm run console:screenshots` writes them. */
import { test } from 'vitest'
import { type Desk, makeDesk } from './desk.fixture.ts'
import { consoleBench } from './harness.ts'
import { failing, looks, picture, wide } from './pictures.ts'

const bench = consoleBench()

const screens: readonly (readonly [
  name: string,
  address: (desk: Desk) => string,
  heading: string | RegExp,
])[] = [
  ['conversations', () => '/conversations', 'Conversations'],
  ['conversation', ({ parcel }) => `/conversations/${parcel.id}`, 'Where is my parcel?'],
  ['customers', () => '/customers', 'Customers'],
  ['customer', ({ ada }) => `/customers/${ada.id}`, 'Ada Lovelace'],
  ['tickets', () => '/tickets', 'Tickets'],
  ['ticket', ({ ticket }) => `/tickets/${ticket.id}`, /1843/],
  ['bookings', () => '/bookings', 'Bookings'],
  ['booking', ({ fitting }) => `/bookings/${fitting.id}`, 'Fitting'],
  ['teammates', () => '/teammates', 'Teammates'],
]

test.each(screens)('%s', async (name, address, heading) => {
  const api = await bench().service.newOrganization('Analytical Engines')
  const place = address(await makeDesk(api))
  for (const [look, options] of looks)
    await picture(bench(), `${name}-${look}`, api, place, { heading, options })
  // Where one object is, there is no empty screen.
  if (place.lastIndexOf('/') === 0) {
    const empty = await bench().service.newOrganization('Analytical Engines')
    await picture(bench(), `${name}-empty`, empty, place, { heading, options: wide })
  }
  const options = { ...wide, expected: [500] }
  await picture(bench(), `${name}-error`, api, place, { heading: /./, options, prepare: failing })
})

test.each(looks)('customer-conflict in %s', async (look, options) => {
  const api = await bench().service.newOrganization('Analytical Engines')
  const { ada } = await makeDesk(api)
  await picture(bench(), `customer-conflict-${look}`, api, `/customers/${ada.id}`, {
    heading: 'Ada Lovelace',
    options: { ...options, expected: [412] },
    async prepare(page) {
      await page.getByRole('button', { name: 'Change' }).click()
      await page.getByLabel('Company').fill('Babbage and Sons')
      await api.patch(`/v1/customers/${ada.id}`, { company: 'Menabrea' })
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('radio').first().waitFor()
    },
  })
})
