/** Two people at one desk: no work of either is lost, and neither acts on what they have not seen. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { makeBooking, makeConversation, makeCustomer, makeMessage, makeTeammate } from '../../testbed/desk.ts'
import type { Api } from '../../testbed/service.ts'
import { choose } from './choose.ts'
import { makeDesk } from './desk.fixture.ts'
import { consoleBench } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()
const newOrganization = () => bench().service.newOrganization('Together')
const read = async (api: Api, path: string) => (await api.get(path)).json

const conflictOf = (page: Page) => page.getByRole('dialog', { name: 'Someone else changed this' })

/** A confirmed booking in 2030, open in the browsers of two people. */
async function bookedTwice() {
  const api = await newOrganization()
  const grace = await makeTeammate(api, { name: 'Grace Hopper' })
  const { id } = await makeBooking(api, {
    title: 'Fitting',
    startAt: '2030-01-09T08:00:00.000Z',
    endAt: '2030-01-09T09:00:00.000Z',
    assigneeId: grace.id,
  })
  const open = async () => {
    const opened = await bench().open(api, `/bookings/${id}`, { expected: [412] })
    await opened.page.getByRole('button', { name: 'Reschedule' }).waitFor()
    return opened
  }
  const [mine, theirs] = [await open(), await open()]
  return { api, path: `/v1/bookings/${id}`, mine, theirs: theirs.page }
}

async function moveTo(page: Page, start: string): Promise<void> {
  await page.getByRole('button', { name: 'Reschedule' }).click()
  await page.getByRole('dialog').getByLabel('Start').fill(start)
  await page.getByRole('dialog').getByRole('button', { name: 'Reschedule' }).click()
}

test('a booking that a colleague moves while I move it is not moved back', async () => {
  const { api, path, mine, theirs } = await bookedTwice()
  const { page, audit } = mine
  await page.getByRole('button', { name: 'Reschedule' }).click()
  const form = page.getByRole('dialog', { name: 'Reschedule booking' })
  await form.getByLabel('Start').fill('2030-01-09T15:00')
  await moveTo(theirs, '2030-01-09T10:00')
  // The dialog says what has changed, and by which key, before anything is sent.
  const news = form.getByRole('region', { name: 'Changed while you were editing' })
  await news.getByText(/Start:.*10:00/).waitFor()
  await news.getByText(/ by /).waitFor()
  await audit()
  await form.getByRole('button', { name: 'Reschedule' }).click()
  const conflict = conflictOf(page)
  await conflict.getByRole('region', { name: 'Start' }).waitFor()
  await audit()
  expect((await read(api, path)).startAt).toBe('2030-01-09T10:00:00.000Z')
  await conflict.getByRole('button', { name: 'Keep theirs' }).click()
  await conflict.waitFor({ state: 'hidden' })
  expect(await read(api, path)).toMatchObject({ startAt: '2030-01-09T10:00:00.000Z', rescheduleCount: 1 })
})

test.each([
  ['Reject', 'Reject booking', 'Reject'],
  ['Cancel booking', 'Cancel booking', 'Cancel booking'],
])('%s is refused for a version that was not seen when the dialog opened', async (button, name, verb) => {
  const { api, path, mine, theirs } = await bookedTwice()
  const { page } = mine
  await page.getByRole('button', { name: button }).click()
  const form = page.getByRole('dialog', { name })
  await form.getByLabel('Reason').fill('We are closed then.')
  await moveTo(theirs, '2030-01-09T10:00')
  await form.getByText(/Start:.*10:00/).waitFor()
  await form.getByRole('button', { name: verb }).click()
  await conflictOf(page).waitFor()
  expect((await read(api, path)).status).toBe('pending')
  await conflictOf(page)
    .getByRole('button', { name: `${verb} anyway` })
    .click()
  await page.getByText(/^Booking (rejected|cancelled)$/).waitFor()
})

test('a form keeps the version that it was opened on through a reload, and says what changed', async () => {
  const api = await newOrganization()
  const { ticket } = await makeDesk(api)
  const mine = await bench().open(api, `/tickets/${ticket.id}`, { expected: [412] })
  const theirs = await bench().open(api, `/tickets/${ticket.id}`)
  const edit = async (page: Page) => {
    await page.getByRole('button', { name: 'Edit' }).click()
    return page.getByRole('dialog', { name: 'Edit ticket' })
  }
  const form = await edit(mine.page)
  await form.getByLabel('Subject').fill('Parcel 1843 is found')
  const other = await edit(theirs.page)
  await other.getByLabel('Subject').fill('Parcel 1843 was stolen')
  await other.getByRole('button', { name: 'Save' }).click()
  await theirs.page.getByText('Ticket saved').waitFor()
  await form.getByText('Subject: Parcel 1843 was stolen').waitFor()
  await mine.page.reload()
  await edit(mine.page)
  await form.getByText('Draft restored.').waitFor()
  await form.getByText('Subject: Parcel 1843 was stolen').waitFor()
  await mine.audit()
  await form.getByRole('button', { name: 'Save' }).click()
  await conflictOf(mine.page).getByText('Parcel 1843 is found').waitFor()
  expect((await read(api, `/v1/tickets/${ticket.id}`)).subject).toBe('Parcel 1843 was stolen')
})

test('a summary, an endpoint and a deletion do not undo what a colleague has done meanwhile', async () => {
  const api = await newOrganization()
  const { bot, fitting } = await makeDesk(api)
  const conversation = `/v1/conversations/${bot.id}`
  await api.post(`${conversation}/resolve`, {})
  const { page } = await bench().open(api, `/conversations/${bot.id}`, { expected: [412] })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit summary' }).click()
  await page.getByRole('textbox', { name: 'Summary' }).fill('They asked for the hours.')
  await api.post(`${conversation}/summarize`, { summary: 'Closed on the 24th.' })
  await page.getByText('Summary: Closed on the 24th.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await conflictOf(page).getByText('Closed on the 24th.').waitFor()
  expect((await read(api, conversation)).summary).toBe('Closed on the 24th.')
  await conflictOf(page).getByRole('button', { name: 'Save anyway' }).click()
  await expect.poll(async () => (await read(api, conversation)).summary).toBe('They asked for the hours.')

  const { url } = await bench().receiver()
  const endpoint = (await api.post('/v1/webhooks', { url, events: ['ticket.created'] })).json
  await page.goto(`${bench().service.url}/console/endpoints/${endpoint.id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('dialog').getByLabel('Description').fill('Warehouse')
  await api.patch(`/v1/webhooks/${endpoint.id}`, { description: 'Billing' })
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await conflictOf(page).getByText('Billing').waitFor()
  expect((await read(api, `/v1/webhooks/${endpoint.id}`)).description).toBe('Billing')

  await page.goto(`${bench().service.url}/console/bookings/${fitting.id}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const question = page.getByRole('alertdialog')
  await api.patch(`/v1/bookings/${fitting.id}`, { notes: 'Do not delete: the court asks for it.' })
  await question.getByText(/the court asks/).waitFor()
  await question.getByRole('button', { name: 'Delete' }).click()
  await question.getByRole('alert').waitFor()
  expect((await api.get(`/v1/bookings/${fitting.id}`)).status).toBe(200)
})

test('what is typed while a reply is sent stays, also in a note', async () => {
  const api = await newOrganization()
  const { parcel } = await makeDesk(api)
  const { page } = await bench().open(api, `/conversations/${parcel.id}`)
  await choose(page.getByLabel('I am'), 'Nobody')
  const reply = page.getByLabel('Your reply')
  const note = page.getByLabel('Your note')
  const sent = async (kind: string) =>
    (await read(api, `/v1/${kind}?conversationId=${parcel.id}`)).data.map(
      ({ body }: { body: string }) => body,
    )
  /** Holds the response of the next creation back until it is called. */
  const hold = async () => {
    const released = Promise.withResolvers<void>()
    await page.route(
      '**/v1/messages',
      async (route) => {
        await released.promise
        await route.continue()
      },
      { times: 1 },
    )
    return released.resolve
  }
  const sendFirst = await hold()
  await reply.fill('It comes tomorrow.')
  await page.keyboard.press('Control+Enter')
  await reply.pressSequentially(' And it is insured.')
  sendFirst()
  await expect.poll(() => sent('messages')).toContain('It comes tomorrow.')
  await expect.poll(() => reply.inputValue()).toBe('And it is insured.')

  await settled(page)
  const sendSecond = await hold()
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: 'Note', exact: true }).click()
  await note.fill('The carrier pays.')
  sendSecond()
  await expect.poll(() => sent('messages')).toContain('And it is insured.')
  await settled(page)
  expect(await note.inputValue()).toBe('The carrier pays.')
  await page.reload()
  expect(await reply.inputValue()).toBe('')
  await page.getByRole('button', { name: 'Note', exact: true }).click()
  expect(await note.inputValue()).toBe('The carrier pays.')
})

test('a message that came while the thread was scrolled up is announced, and not resolved away', async () => {
  const api = await newOrganization()
  const { id } = await makeConversation(api, { subject: 'Long' })
  for (let n = 0; n < 30; n++)
    await makeMessage(api, { conversationId: id, body: `Line ${n}\nand another\nand a third` })
  const { page, audit } = await bench().open(api, `/conversations/${id}`)
  const other = await bench().open(api, `/conversations/${id}`)
  await other.page.getByText('Line 29').waitFor()
  await page.getByText('Line 29').waitFor()
  await settled(page)
  await page.evaluate('document.querySelector("ol[aria-label=Messages]").scrollIntoView()')
  await makeMessage(api, { conversationId: id, body: 'Stop, I have found it!' })
  const announced = page.getByRole('button', { name: '1 new message' })
  await announced.waitFor()
  await audit()
  // The end of the thread is in sight there, and so is what comes.
  await other.page.getByText('Stop, I have found it!').waitFor()
  expect(await other.page.getByRole('button', { name: '1 new message' }).count()).toBe(0)

  await page.getByLabel('Your reply').fill('We send another one.')
  await page.getByRole('button', { name: 'Send and resolve' }).click()
  const question = page.getByRole('alertdialog', { name: 'Unread message' })
  await question.getByText('Stop, I have found it!').waitFor()
  await audit()
  expect((await read(api, `/v1/conversations/${id}`)).status).toBe('open')
  // Another one is asked about too.
  await makeMessage(api, { conversationId: id, body: 'It was under the stairs.' })
  await question.getByRole('button', { name: 'Resolve anyway' }).click()
  await question.getByText('It was under the stairs.').waitFor()
  expect((await read(api, `/v1/conversations/${id}`)).status).toBe('open')
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Stop, I have found it!').last().scrollIntoViewIfNeeded()
  await announced.waitFor({ state: 'hidden' })
  await other.page.getByRole('button', { name: 'Resolve', exact: true }).click()
  await other.page.getByText('Conversation resolved').waitFor()
})

test('whoever is erased elsewhere is gone from every open page, with what was typed about them', async () => {
  const api = await newOrganization()
  const { ada, parcel, ticket } = await makeDesk(api)
  const open = async (path: string, words: string) => {
    const opened = await bench().open(api, path, { expected: [404] })
    await opened.page.getByText(words).first().waitFor()
    await settled(opened.page)
    return opened
  }
  const customer = await open(`/customers/${ada.id}`, 'ada@example.com')
  await customer.page.getByRole('button', { name: 'Edit' }).click()
  await customer.page.getByRole('dialog').getByLabel('Company').fill('Lovelace and Co')
  const list = await open('/customers', 'Ada Lovelace')
  const inbox = await open(`/inbox?tab=all&id=${parcel.id}`, 'It is number 1843')
  const work = await open(`/tickets/${ticket.id}`, 'no trace')
  expect((await api.post(`/v1/customers/${ada.id}/erase`, {})).status).toBe(200)
  const erasedAt = Date.now()
  await customer.page.getByText('This customer was deleted').waitFor()
  expect(Date.now() - erasedAt).toBeLessThan(5_000)
  await inbox.page.getByText('This conversation was deleted').waitFor()
  await work.page.getByText('This ticket was deleted').waitFor()
  await list.page.getByRole('row').filter({ hasText: 'Deleted' }).waitFor()
  for (const { page, audit } of [customer, list, inbox, work]) {
    expect(await page.locator('body').innerText()).not.toMatch(/Ada|Lovelace|ada@|\+4420|1843/)
    expect(await page.title()).not.toMatch(/Ada|1843/)
    expect(await page.getByRole('button', { name: /^(Edit|Save|Resolve|Send)$/ }).count()).toBe(0)
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('Lovelace')
    await audit()
  }
})

test('drafts are of one organization and one session of a link, and end in every tab with the sign-out', async () => {
  const api = await newOrganization()
  const scopes = ['customers:read', 'customers:write']
  const link = async (of: Api) => {
    const { json } = await of.post('/v1/console-links', { scopes })
    return { id: json.id, address: `${bench().service.url}/console/customers${new URL(json.url).hash}` }
  }
  const { page, context } = await bench().open(null, '/customers', { expected: [401] })
  const name = () => page.getByRole('dialog').getByLabel('Name', { exact: true })
  const open = () => page.getByRole('button', { name: 'Add customer' }).first().click()
  const first = await link(api)
  const follow = async (address: string) => {
    await page.goto('about:blank')
    await page.goto(address)
    await page.getByRole('button', { name: /Together/ }).waitFor()
  }
  await follow(first.address)
  await open()
  await name().fill('Hedy Lamarr')
  await page.reload()
  await open()
  expect(await name().inputValue()).toBe('Hedy Lamarr')
  // A second visitor of the same product, in the same tab.
  await api.delete(`/v1/console-links/${first.id}`)
  await follow((await link(api)).address)
  await open()
  expect(await name().inputValue()).toBe('')
  await name().fill('Grace Hopper')

  const tab = await context.newPage()
  await tab.goto(`${bench().service.url}/console/customers`)
  await tab.getByRole('button', { name: 'Add customer' }).first().click()
  await tab.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Katherine Johnson')
  await tab.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await tab.getByRole('dialog').getByRole('button', { name: 'Keep editing' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('button', { name: /Together/ }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await tab.getByRole('heading', { name: 'Sign in' }).waitFor()
  for (const one of [page, tab]) expect(await one.evaluate('JSON.stringify(sessionStorage)')).toBe('{}')
})

test('a booking that began days before a view is in it, in its warning and among its conflicts', async () => {
  const api = await newOrganization()
  const grace = await makeTeammate(api, { name: 'Grace Hopper' })
  const fair = await makeBooking(api, {
    title: 'Trade fair',
    startAt: '2030-01-05T08:00:00.000Z',
    endAt: '2030-01-09T18:00:00.000Z',
    assigneeId: grace.id,
  })
  const call = await makeBooking(api, {
    title: 'Call',
    startAt: '2030-01-09T10:00:00.000Z',
    endAt: '2030-01-09T11:00:00.000Z',
    assigneeId: grace.id,
    status: 'confirmed',
  })
  expect(fair.status).toBe('pending')
  const { page } = await bench().open(api, '/bookings?view=day&week=2030-01-09')
  const calendar = page.getByRole('region', { name: 'Calendar' })
  await calendar.getByRole('link', { name: /Trade fair/ }).waitFor()
  expect(await calendar.getByRole('link', { name: /Call/ }).textContent()).toContain('Conflict')
  // Also with what a filter hides.
  await choose(page.getByLabel('Status'), 'Confirmed')
  await calendar.getByRole('link', { name: /Trade fair/ }).waitFor({ state: 'hidden' })
  await expect.poll(() => calendar.getByRole('link', { name: /Call/ }).textContent()).toContain('Conflict')
  const other = await bench().open(api, `/bookings/${call.id}`)
  await other.page.getByText(/Overlaps with Trade fair/).waitFor()
})

test('a list that is cut says so, and no note is left out', async () => {
  const api = await newOrganization()
  const grace = await makeTeammate(api, { name: 'Grace Hopper' })
  const { id: customerId } = await makeCustomer(api, { name: 'Ada Lovelace' })
  const book = (n: number, hours = 0.5) => ({
    customerId,
    title: `Visit ${n}`,
    startAt: new Date(Date.UTC(2030, 0, 1) + n * 3_600_000).toISOString(),
    endAt: new Date(Date.UTC(2030, 0, 1) + (n + hours) * 3_600_000).toISOString(),
    timezone: 'Europe/London',
    assigneeId: grace.id,
    status: 'confirmed',
  })
  // The two that conflict are the oldest.
  const bookings = [book(0, 2), book(1), ...Array.from({ length: 510 }, (_, n) => book(n + 10))]
  for (let n = 0; n < bookings.length; n += 100)
    expect((await api.post('/v1/bookings/batch', { items: bookings.slice(n, n + 100) })).status).toBe(200)
  const { page } = await bench().open(api, '/bookings?view=list&conflicts=yes')
  await page.getByText('Conflicts among the newest 500 of 512 bookings').waitFor()
  expect(await page.locator('body').innerText()).not.toContain('at the same time from today on')

  const { id } = await makeConversation(api, { subject: 'Notes', customerId })
  const items = Array.from({ length: 130 }, (_, n) => ({
    conversationId: id,
    body: `Remark ${n}.`,
    author: { type: 'system' },
  }))
  for (const part of [items.slice(0, 100), items.slice(100)])
    expect((await api.post('/v1/notes/batch', { items: part })).status).toBe(200)
  const other = await bench().open(api, `/conversations/${id}`)
  await other.page.getByText('Remark 0.', { exact: true }).waitFor()
  await expect.poll(() => other.page.getByText(/^Remark \d+\.$/).count()).toBe(130)
})

test('a number that the API does not keep is refused in its words, and nothing else is saved for it', async () => {
  const api = await newOrganization()
  const { ada } = await makeDesk(api)
  const { page } = await bench().open(api, `/customers/${ada.id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  const form = page.getByRole('dialog', { name: 'Edit customer' })
  const seats = form.getByLabel('Value of attribute 2')
  expect(await seats.inputValue()).toBe('12')
  for (const [text, words] of [
    ['9007199254740993', 'must be a number that a double (IEEE 754) holds'],
    ['0x10', 'must be a number as JSON writes it'],
    ['0b101', 'must be a number as JSON writes it'],
    ['1,5', 'must be a number as JSON writes it'],
  ] as const) {
    await seats.fill(text)
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByRole('alert').getByText(words).waitFor()
  }
  expect((await read(api, `/v1/customers/${ada.id}`)).customAttributes.seats).toBe(12)
  // A number of JSON, which the API reads as 1000 too.
  await seats.fill('1e3')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Customer saved').waitFor()
  expect((await read(api, `/v1/customers/${ada.id}`)).customAttributes.seats).toBe(1000)
})
