/** A customer's page: one timeline of everything of theirs, and what happened to the customer itself. */
import { expect, test } from 'vitest'
import { makeConversation, makeCustomer, makeTicket } from '../../testbed/desk.ts'
import { makeDesk } from './desk.fixture.ts'
import { consoleBench } from './harness.ts'

const bench = consoleBench()

test('conversations, tickets, bookings and notes are one timeline, newest first', async () => {
  const api = await bench().service.newOrganization('Timeline')
  const { ada, parcel, grace } = await makeDesk(api)
  const author = { type: 'teammate', id: grace.id }
  await api.post('/v1/notes', { conversationId: parcel.id, body: 'The carrier lost it.', author })
  const { page, audit } = await bench().open(api, `/customers/${ada.id}`)
  const rows = page.getByRole('table', { name: 'Timeline, newest first' }).locator('tbody tr')
  await expect.poll(() => rows.count()).toBe(4)
  const names = await rows.getByRole('link').allTextContents()
  expect(names.map((name) => name.replace(/ (Mon|Tue|Wed|Thu|Fri).*/, ''))).toEqual([
    'The carrier lost it.',
    'Fitting',
    '#1 Parcel 1843 is lost',
    'Where is my parcel?',
  ])
  await audit()
  // What is new waits behind a count, and moves nothing.
  await makeTicket(api, { customerId: ada.id, subject: 'The second one' })
  await page.getByRole('button', { name: '1 new' }).click()
  await rows.first().getByText('#3 The second one').waitFor()
  await page.getByRole('link', { name: 'The carrier lost it.' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Where is my parcel?' }).waitFor()
})

test('a long timeline is in order as far as it is loaded', async () => {
  const api = await bench().service.newOrganization('Long timeline')
  const { id: customerId } = await makeCustomer(api, { name: 'Ada Lovelace' })
  for (let n = 0; n < 3; n++) {
    const items = Array.from({ length: 15 }, (_, m) => ({ customerId, subject: `Ticket ${n}.${m}` }))
    expect((await api.post('/v1/tickets/batch', { items })).json.created).toBe(15)
    await makeConversation(api, { customerId, subject: `Conversation ${n}` })
  }
  const { page } = await bench().open(api, `/customers/${customerId}`)
  const table = page.getByRole('table', { name: 'Timeline, newest first' })
  const rows = table.locator('tbody tr')
  // Of the conversations, those that are newer than the last loaded ticket.
  const [, second] = [await table.waitFor(), await rows.filter({ hasText: 'Conversation' }).allTextContents()]
  expect(second.map((text) => text.slice(0, 14))).toEqual(['Conversation 2', 'Conversation 1'])
  for (const count of [43, 48]) {
    await page.getByRole('button', { name: 'Load more' }).click()
    await expect.poll(() => rows.count()).toBe(count)
  }
  expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0)
  await rows.last().getByText('Ticket 0.').waitFor()
})

test('what happened to a customer, and by whom', async () => {
  const api = await bench().service.newOrganization('Activity')
  const { ada } = await makeDesk(api)
  const { page, audit } = await bench().open(api, `/customers/${ada.id}`)
  const events = page.getByRole('region', { name: 'Activity' }).getByRole('listitem')
  await events.filter({ hasText: 'Created by First key' }).waitFor()
  await api.patch(`/v1/customers/${ada.id}`, { company: 'Menabrea' })
  await events.filter({ hasText: 'Updated by First key' }).waitFor()
  expect(await events.count()).toBe(2)
  await audit()
})
