/** The pictures of the desk in docs/console, also of what is empty and of what fails. `npm run console:screenshots` writes them. */
import { test } from 'vitest'
import { type Desk, makeDesk } from './desk.fixture.ts'
import { consoleBench } from './harness.ts'
import { takePictures } from './pictures.ts'

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
  const desk = await makeDesk(api)
  await takePictures(
    name,
    (options) => bench().open(api, address(desk), options),
    (page) => page.getByRole('heading', { level: 1, name: heading }).waitFor(),
  )
})

test('conversations-empty', async () => {
  const api = await bench().service.newOrganization('Analytical Engines')
  await takePictures(
    'conversations-empty',
    (options) => bench().open(api, '/conversations', options),
    (page) => page.getByText('Nothing is open').waitFor(),
    ['light'],
  )
})

test('conversation-error', async () => {
  const api = await bench().service.newOrganization('Analytical Engines')
  const nobodys = '01980000-0000-7000-8000-000000000003'
  await takePictures(
    'conversation-error',
    (options) => bench().open(api, `/conversations/${nobodys}`, { ...options, expected: [404] }),
    (page) => page.getByRole('alert').waitFor(),
    ['light'],
  )
})

test('customer-conflict', async () => {
  const api = await bench().service.newOrganization('Analytical Engines')
  const { ada } = await makeDesk(api)
  await takePictures(
    'customer-conflict',
    (options) => bench().open(api, `/customers/${ada.id}`, { ...options, expected: [412] }),
    async (page) => {
      await page.getByRole('button', { name: 'Change' }).click()
      await page.getByLabel('Company').fill('Babbage and Sons')
      await api.patch(`/v1/customers/${ada.id}`, { company: `Menabrea ${Date.now() % 10}` })
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('radio').first().waitFor()
    },
    ['light', 'dark', 'narrow'],
  )
})
