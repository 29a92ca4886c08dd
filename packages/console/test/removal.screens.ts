/** Erasing, exporting and deleting in the console: what was confirmed is gone, and nothing else. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { makeBooking, makeNote } from '../../testbed/desk.ts'
import type { Api } from '../../testbed/service.ts'
import { makeDesk } from './desk.fixture.ts'
import { consoleBench } from './harness.ts'

const bench = consoleBench()
const newOrganization = () => bench().service.newOrganization('Analytical Engines')
const status = async (api: Api, path: string) => (await api.get(path)).status

test('a person is erased by the keyboard, after a question that counts what goes, and the receipt is kept', async () => {
  const api = await newOrganization()
  const { ada, mary, parcel, ticket, fitting } = await makeDesk(api)
  await makeNote(api, { conversationId: parcel.id })
  const { page, audit } = await bench().open(api, `/customers/${ada.id}`, { expected: [404] })
  await page.getByRole('button', { name: 'More actions' }).press('Enter')
  await page.getByRole('menuitem', { name: 'Erase everything' }).press('Enter')
  const question = page.getByRole('alertdialog', { name: 'Erase Ada Lovelace?' })
  await question.getByText('conversations: 1, messages: 3, notes: 1, tickets: 1, bookings: 1.').waitFor()
  await audit()
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'hidden' })
  expect(await status(api, `/v1/customers/${ada.id}`)).toBe(200)
  await page.getByRole('button', { name: 'More actions' }).press('Enter')
  await page.getByRole('menuitem', { name: 'Erase everything' }).press('Enter')
  // The answer is lost: pressed again, it is the same erase, and the same receipt.
  await page.route(
    '**/erase',
    async (route) => {
      await route.fetch()
      await route.abort()
    },
    { times: 1 },
  )
  await question.getByRole('button', { name: 'Erase' }).press('Enter')
  await question.getByRole('alert').waitFor()
  await question.getByRole('button', { name: 'Erase' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Customer erased' }).waitFor()
  await page.getByRole('row', { name: /^message 3 1 / }).waitFor()
  await audit()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download the receipt' }).press('Enter'),
  ])
  const receipt = JSON.parse(readFileSync(await download.path(), 'utf8'))
  expect(receipt).toMatchObject({
    object: 'erasure',
    id: ada.id,
    removed: { customer: 1, message: 3, note: 1 },
  })
  for (const path of [
    `customers/${ada.id}`,
    `conversations/${parcel.id}`,
    `tickets/${ticket.id}`,
    `bookings/${fitting.id}`,
  ])
    expect([path, await status(api, `/v1/${path}`)]).toEqual([path, 404])
  expect(await status(api, `/v1/customers/${mary.id}`)).toBe(200)
  const { checkpoint } = (await api.get('/v1/messages?updatedAfter=1970-01-01T00:00:00Z')).json.pagination
  expect(receipt.checkpoint.message).toEqual(checkpoint)
})

test('a person is exported as one file', async () => {
  const api = await newOrganization()
  const { ada, parcel } = await makeDesk(api)
  const { page } = await bench().open(api, `/customers/${ada.id}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Export everything' }).click(),
  ])
  expect(download.suggestedFilename()).toBe(`customer-${ada.id}.json`)
  const file = JSON.parse(readFileSync(await download.path(), 'utf8'))
  expect(file).toEqual((await api.get(`/v1/customers/${ada.id}/export`)).json)
  expect(file.conversations).toMatchObject([{ id: parcel.id }])
})

test('a key without the scope is offered neither erase nor export', async () => {
  const api = await newOrganization()
  const { ada } = await makeDesk(api)
  const reader = await bench().service.newKey(api.organizationId, ['customers:read', 'customers:write'])
  const { page } = await bench().open(reader, `/customers/${ada.id}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
  expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Delete', 'Equivalent API calls'])
})

test('messages and notes are deleted one by one, then their conversation', async () => {
  const api = await newOrganization()
  const { parcel } = await makeDesk(api)
  await makeNote(api, { conversationId: parcel.id, body: 'The carrier lost it.' })
  const { page, audit } = await bench().open(api, `/conversations/${parcel.id}`, { expected: [404] })
  const choose = async (title: string) => {
    await page.getByRole('button', { name: 'More actions' }).press('Enter')
    await page.getByRole('menuitem', { name: title, exact: true }).press('Enter')
  }
  const question = page.getByRole('alertdialog')
  await page.getByText('It is number 1843').waitFor()
  expect(await page.getByRole('button', { name: /^Delete what/ }).count()).toBe(0)
  await choose('Delete messages')
  await expect.poll(() => page.getByRole('button', { name: /^Delete what/ }).count()).toBe(4)
  await audit()
  for (const [said, path] of [
    ['It is number 1843', 'messages'],
    ['The carrier lost it', 'notes'],
  ] as const) {
    await page.getByRole('button', { name: new RegExp(`^Delete what .*${said}`) }).press('Enter')
    await question.getByRole('button', { name: 'Delete' }).press('Enter')
    await question.waitFor({ state: 'hidden' })
    await page.getByRole('listitem').filter({ hasText: said }).waitFor({ state: 'hidden' })
    const { data } = (await api.get(`/v1/${path}?conversationId=${parcel.id}`)).json
    expect(data).toHaveLength(path === 'notes' ? 0 : 2)
  }
  await page.getByRole('button', { name: 'Done deleting' }).click()
  expect(await page.getByRole('button', { name: /^Delete what/ }).count()).toBe(0)
  await choose('Delete')
  await audit()
  await question.getByRole('button', { name: 'Delete' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Conversations' }).waitFor()
  expect(await status(api, `/v1/conversations/${parcel.id}`)).toBe(404)
  expect((await api.get(`/v1/messages?conversationId=${parcel.id}`)).json.data).toEqual([])
})

test('a conversation that is deleted in the inbox leaves it', async () => {
  const api = await newOrganization()
  const { parcel } = await makeDesk(api)
  const { page } = await bench().open(api, `/inbox?tab=all&id=${parcel.id}`, { expected: [404] })
  await page.getByText('It is number 1843').waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Conversation deleted').waitFor()
  await expect.poll(() => new URL(page.url()).search).not.toContain(parcel.id)
  expect(await status(api, `/v1/conversations/${parcel.id}`)).toBe(404)
})

test('bookings and teammates are deleted, and what a teammate had is unassigned', async () => {
  const api = await newOrganization()
  const { fitting, grace, ticket } = await makeDesk(api)
  const { page, audit } = await bench().open(api, `/bookings/${fitting.id}`, { expected: [404] })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await audit()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { level: 1, name: 'Bookings' }).waitFor()
  expect(await status(api, `/v1/bookings/${fitting.id}`)).toBe(404)
  await page.getByRole('link', { name: 'Teammates' }).click()
  await page.getByRole('button', { name: 'Delete Grace Hopper' }).click()
  await page.getByRole('alertdialog').getByText('become unassigned').waitFor()
  await audit()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Teammate deleted').waitFor()
  await page.getByRole('alertdialog').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Delete Grace Hopper' }).waitFor({ state: 'hidden' })
  expect(await status(api, `/v1/teammates/${grace.id}`)).toBe(404)
  expect((await api.get(`/v1/tickets/${ticket.id}`)).json.assigneeId).toBeNull()
})

test('double booking is prevented and allowed again, by who may; a conflict is explained in the form', async () => {
  const api = await newOrganization()
  const { ada, grace, fitting } = await makeDesk(api)
  const { page, audit } = await bench().open(api, '/bookings')
  const choose = async (title: string, verb: string) => {
    await page.getByRole('button', { name: 'More actions' }).press('Enter')
    await page.getByRole('menuitem', { name: title }).press('Enter')
    await audit()
    await page.getByRole('alertdialog').getByRole('button', { name: verb }).press('Enter')
    await page.getByRole('alertdialog').waitFor({ state: 'hidden' })
  }
  const book = () => {
    const { startAt, endAt, timezone } = fitting
    const times = { startAt, endAt, timezone }
    return api.post('/v1/bookings', { customerId: ada.id, title: 'Second', assigneeId: grace.id, ...times })
  }
  await choose('Prevent double booking', 'Prevent')
  expect((await book()).json.code).toBe('booking_conflict')
  await choose('Allow double booking', 'Allow')
  expect((await book()).status).toBe(201)
  const writer = await bench().service.newKey(api.organizationId, ['bookings:read', 'bookings:write'])
  const other = await bench().open(writer, '/bookings')
  await other.page.getByRole('button', { name: 'More actions' }).click()
  expect(await other.page.getByRole('menuitem').allTextContents()).toEqual(['Equivalent API calls'])
  await makeBooking(api, { customerId: ada.id })
})
