/** Working the desk in the console: what is done there is there by the API, and what others do meanwhile is not lost. */
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeMessage,
  makeTeammate,
  makeTicket,
} from '../../testbed/desk.ts'
import { makeWebhook } from '../../testbed/hooks.ts'
import type { Api } from '../../testbed/service.ts'
import { choose } from './choose.ts'
import { makeDesk } from './desk.fixture.ts'
import { consoleBench, payloads } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()
const newOrganization = () => bench().service.newOrganization('Analytical Engines')
// biome-ignore lint/suspicious/noExplicitAny: tests read whatever the object has
const read = async (api: Api, path: string): Promise<any> => (await api.get(path)).json

test('by keyboard alone: a conversation is found, answered and resolved', async () => {
  const api = await newOrganization()
  const { parcel, grace } = await makeDesk(api)
  const { page } = await bench().open(api, '/conversations')
  await page.getByRole('link', { name: 'Where is my parcel?' }).waitFor()
  const { keyboard } = page
  const focused = () => page.evaluate('document.activeElement?.textContent ?? ""')
  for (let n = 0; n < 60 && (await focused()) !== 'Where is my parcel?'; n++) await keyboard.press('Tab')
  expect(await focused()).toBe('Where is my parcel?')
  await keyboard.press('Enter')
  await page.getByText('It is number 1843').waitFor()
  // The way to the reply is not past the sidebar again.
  await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('content')
  const isInReply = () => page.evaluate('document.activeElement?.tagName === "TEXTAREA"')
  for (let n = 0; n < 60 && !(await isInReply()); n++) await keyboard.press('Tab')
  await keyboard.type('It comes tomorrow.')
  await keyboard.press('Control+Shift+Enter')
  await page.getByRole('group', { name: 'Who are you?' }).waitFor()
  await expect.poll(focused).toBe('Grace Hopper')
  await keyboard.press('Enter')
  await page.getByText('Conversation resolved').waitFor()
  await page.getByText('It comes tomorrow.').waitFor()
  expect((await read(api, `/v1/conversations/${parcel.id}`)).status).toBe('resolved')
  const { data } = await read(api, `/v1/messages?conversationId=${parcel.id}&direction=outbound`)
  expect(data[0]).toMatchObject({
    body: 'It comes tomorrow.',
    author: { type: 'teammate', id: grace.id },
  })
})

test('a message that has come unseen is not resolved away', async () => {
  const api = await newOrganization()
  const { parcel } = await makeDesk(api)
  const { page } = await bench().open(api, `/conversations/${parcel.id}`)
  await page.getByText('It is number 1843').waitFor()
  // From now on the page sees nothing by itself.
  await page.route('**/v1/messages?*limit=40*', (route) => route.abort())
  await makeMessage(api, { conversationId: parcel.id, body: 'And another thing.' })
  await page.getByRole('button', { name: 'Resolve', exact: true }).click()
  await page.getByRole('alertdialog').getByText('Unread message').waitFor()
  expect((await read(api, `/v1/conversations/${parcel.id}`)).status).toBe('open')
  await page.getByRole('button', { name: 'Resolve anyway' }).click()
  await page.getByText('Conversation resolved').waitFor()
  expect((await read(api, `/v1/conversations/${parcel.id}`)).status).toBe('resolved')
})

test('an answer that cannot be sent is kept, and is sent once', async () => {
  const api = await newOrganization()
  const { parcel } = await makeDesk(api)
  const { page, context, complaints } = await bench().open(api, `/conversations/${parcel.id}`)
  await page.getByText('It is number 1843').waitFor()
  await page.route('**/v1/messages', (route) => route.abort(), { times: 1 })
  await page.getByLabel('Your reply').fill('It comes tomorrow.')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('group', { name: 'Who are you?' }).getByRole('button', { name: 'Nobody' }).click()
  await page.getByText('Not sent').waitFor()
  expect(await page.getByLabel('Your reply').inputValue()).toBe('It comes tomorrow.')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('listitem').getByText('It comes tomorrow.').waitFor()
  expect(await page.getByLabel('Your reply').inputValue()).toBe('')
  const { data } = await read(api, `/v1/messages?conversationId=${parcel.id}&q=tomorrow`)
  expect(data).toHaveLength(1)
  expect(complaints).toEqual([])
  await context.close()
})

test('an internal note is added apart from a reply, and its draft is never offered as one', async () => {
  const api = await newOrganization()
  const { parcel } = await makeDesk(api)
  const { page, context, complaints, audit } = await bench().open(api, `/conversations/${parcel.id}`)
  await page.getByRole('button', { name: 'Note', exact: true }).click()
  await page.getByLabel('Your note').fill('The carrier lost it.')
  await page.getByRole('button', { name: 'Reply', exact: true }).click()
  expect(await page.getByLabel('Your reply').inputValue()).toBe('')
  await page.getByRole('button', { name: 'Note', exact: true }).click()
  await page.getByRole('button', { name: 'Add note' }).click()
  await page.getByRole('group', { name: 'Who are you?' }).getByRole('button', { name: 'Nobody' }).click()
  const shown = page.getByRole('listitem').filter({ hasText: 'The carrier lost it.' })
  await shown.getByText('Internal note').waitFor()
  await audit()
  const { data } = await read(api, `/v1/notes?conversationId=${parcel.id}`)
  expect(data).toMatchObject([{ body: 'The carrier lost it.', author: { type: 'teammate' } }])
  expect((await read(api, `/v1/messages?conversationId=${parcel.id}&q=lost`)).data).toEqual([])
  expect(complaints).toEqual([])
  await context.close()
})

test('a conversation is assigned, handed to a person, resolved, summarized and opened again', async () => {
  const api = await newOrganization()
  const { bot, joan } = await makeDesk(api)
  const { page, audit } = await bench().open(api, `/conversations/${bot.id}`, { expected: [422] })
  await page.getByText('Open, with AI').waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Escalate' }).click()
  await page.getByText('Open, unassigned').waitFor()
  await choose(page.getByLabel('Assignee'), 'Joan Clarke')
  await expect.poll(async () => (await read(api, `/v1/conversations/${bot.id}`)).assigneeId).toBe(joan.id)
  await page.getByRole('button', { name: 'Resolve', exact: true }).click()
  await page.getByText('a few minutes after').waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit summary' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('must be a string of 1').waitFor()
  await page.getByRole('textbox', { name: 'Summary' }).fill('They asked for the hours.')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('They asked for the hours.').waitFor()
  await audit()
  await page.getByRole('button', { name: 'Reopen' }).click()
  await page.getByText('Conversation reopened').waitFor()
  expect(await read(api, `/v1/conversations/${bot.id}`)).toMatchObject({ status: 'open', summary: null })
})

test('a change that another has got ahead of is shown beside theirs, and each field is chosen', async () => {
  const api = await newOrganization()
  const { ada } = await makeDesk(api)
  const { page, audit } = await bench().open(api, `/customers/${ada.id}`, { expected: [412] })
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Company').fill('Babbage and Sons')
  await page.getByLabel('Phone').fill('+442079999999')
  await api.patch(`/v1/customers/${ada.id}`, { company: 'Menabrea', locale: 'it-IT' })
  await page.getByRole('button', { name: 'Save' }).click()
  const dialog = page.getByRole('dialog', { name: 'Someone else changed this' })
  await dialog.getByText('Menabrea').waitFor()
  expect(await dialog.getByText('Babbage and Sons').count()).toBe(1)
  // Only what both have changed is asked.
  expect(await dialog.getByRole('group').count()).toBe(1)
  await audit()
  await dialog.getByRole('radio', { name: /Theirs/ }).check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(await read(api, `/v1/customers/${ada.id}`)).toMatchObject({
    company: 'Menabrea',
    phone: '+442079999999',
    locale: 'it-IT',
  })
})

test('a customer is added: what is wrong stands at its field', async () => {
  const api = await newOrganization()
  await makeDesk(api)
  const { page, audit } = await bench().open(api, '/customers', { expected: [422, 409] })
  await page.getByRole('button', { name: 'Add customer' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('Sofia Kovalevskaya')
  await dialog.getByLabel('Email').fill('not an address')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('must be an email address').waitFor()
  expect(await dialog.getByLabel('Email').getAttribute('aria-invalid')).toBe('true')
  await audit()
  await dialog.getByLabel('Email').fill('ada@example.com')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('Another customer has this email').waitFor()
  await dialog.getByLabel('Email').fill('sofia@example.com')
  for (const [n, [name, type, value]] of Object.entries([
    ['plan', 'Text', 'free'],
    ['seats', 'Number', '3'],
    ['code', 'Text', '7'],
  ])) {
    const at = Number(n) + 1
    await dialog.getByRole('button', { name: 'Add attribute' }).click()
    await dialog.getByLabel(`Name of attribute ${at}`).fill(name ?? '')
    await choose(dialog.getByLabel(`Type of attribute ${at}`), type ?? '')
    await dialog.getByLabel(`Value of attribute ${at}`).fill(value ?? '')
  }
  await audit()
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Sofia Kovalevskaya' }).waitFor()
  const { data } = await read(api, '/v1/customers?email=sofia@example.com')
  expect(data[0].customAttributes).toEqual({ plan: 'free', seats: 3, code: '7' })
})

test('a form sends what was edited, and keeps the rest exactly', async () => {
  const api = await newOrganization()
  const customAttributes = { 'a:b': 'two\nlines', constructor: 'x', seats: 7 }
  const customer = await makeCustomer(api, { name: 'Ada', tags: ['a, b', 'c'], customAttributes })
  const path = `/v1/customers/${customer.id}`
  const { page, audit } = await bench().open(api, `/customers/${customer.id}`)
  const patches: unknown[] = []
  page.on('request', (request) => {
    if (request.method() === 'PATCH') patches.push(request.postDataJSON())
  })
  const dialog = page.getByRole('dialog')
  const edit = async (change: () => Promise<void>) => {
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await dialog.waitFor()
    await change()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
  }
  await edit(() => audit())
  expect(patches).toEqual([])
  await edit(async () => {
    await dialog.getByLabel('Tags').fill('d, e')
    await dialog.getByLabel('Tags').press('Enter')
    await dialog.getByRole('button', { name: 'Remove c' }).click()
  })
  expect(patches).toEqual([{ tags: ['a, b', 'd, e'] }])
  await edit(async () => {
    for (const n of [3, 2, 1])
      if ((await dialog.getByLabel(`Name of attribute ${n}`).inputValue()) === 'constructor')
        await dialog.getByRole('button', { name: `Remove attribute ${n}` }).click()
  })
  expect(patches[1]).toEqual({ customAttributes: { constructor: null } })
  expect(await read(api, path)).toMatchObject({ tags: ['a, b', 'd, e'] })
  expect((await read(api, path)).customAttributes).toEqual({ 'a:b': 'two\nlines', seats: 7 })
})

/** The second half past one of the night in which London's clocks go back, of next year: as the day before, at 1:30 UTC. */
function repeatedHour(seconds: string): string {
  const year = new Date().getUTCFullYear() + 1
  const last = new Date(Date.UTC(year, 9, 31))
  const sunday = 31 - last.getUTCDay()
  return `${year}-10-${sunday}T01:30:${seconds}.000Z`
}

const customAttributes = { 'a:b': 'two\nlines', constructor: 'x', seats: 7 }
const tags = ['a, b', 'c']

/** An object of each form but the customer's, with values that a form may lose, and edits with what each is to send. */
const forms: readonly {
  readonly what: string
  readonly made: (api: Api) => Promise<{ readonly id: string; readonly name?: string }>
  /** Where the form is, and how it is opened there. */
  readonly screen: (id: string) => string
  readonly open: (page: Page) => Promise<void>
  readonly edits: readonly (readonly [edit: (dialog: Locator) => Promise<void>, body: object])[]
}[] = [
  {
    what: 'ticket',
    made: (api) => makeTicket(api, { tags, customAttributes, dueAt: repeatedHour('45') }),
    screen: (id) => `/tickets/${id}`,
    open: pressChange,
    edits: [
      [(dialog) => dialog.getByLabel('Subject').fill('Other'), { subject: 'Other' }],
      [(dialog) => dialog.getByLabel('Due').fill(local(31, 45)), { dueAt: at(31, 45) }],
      [(dialog) => dialog.getByRole('button', { name: 'Remove c' }).click(), { tags: ['a, b'] }],
      [(dialog) => attribute(dialog, 'a:b', 'one\ntwo'), { customAttributes: { 'a:b': 'one\ntwo' } }],
    ],
  },
  {
    what: 'booking',
    made: (api) => makeBooking(api, { tags, customAttributes, startAt: at(30, 45), endAt: at(50, 45) }),
    screen: (id) => `/bookings/${id}`,
    open: pressChange,
    edits: [
      [(dialog) => dialog.getByLabel('Internal notes').fill('a\nb'), { notes: 'a\nb' }],
      [(dialog) => attribute(dialog, 'constructor', null), { customAttributes: { constructor: null } }],
    ],
  },
  {
    what: 'reschedule',
    made: (api) => makeBooking(api, { startAt: at(30, 45), endAt: at(50, 45), status: 'confirmed' }),
    screen: (id) => `/bookings/${id}`,
    open: (page) => page.getByRole('button', { name: 'Reschedule', exact: true }).click(),
    edits: [
      [(dialog) => dialog.getByLabel('End').fill(local(55, 45)), { startAt: at(30, 45), endAt: at(55, 45) }],
    ],
  },
  {
    what: 'teammate',
    made: (api) => makeTeammate(api, { name: 'Grace, "Amazing"', email: 'grace@example.com' }),
    screen: () => '/teammates',
    open: (page) => page.getByRole('button', { name: /^Edit Grace/ }).click(),
    edits: [
      [(dialog) => dialog.getByLabel('Email').fill('hopper@example.com'), { email: 'hopper@example.com' }],
      [(dialog) => choose(dialog.getByLabel('Active'), 'No'), { active: false }],
    ],
  },
  {
    what: 'endpoint',
    made: async (api) =>
      makeWebhook(api, { url: (await bench().receiver()).url, description: ' two\nlines ' }),
    screen: (id) => `/endpoints/${id}`,
    open: pressChange,
    edits: [
      [(dialog) => dialog.getByLabel(/Standard Webhooks/).check(), { signatures: ['service', 'standard'] }],
      [(dialog) => dialog.getByLabel('Description').fill('a: b'), { description: 'a: b' }],
    ],
  },
  {
    what: 'API key',
    made: async (api) => {
      const key = { name: 'Index, all', scopes: ['tickets:read'], expiresAt: at(30, 45) }
      return (await api.post('/v1/api-keys', key)).json
    },
    screen: (id) => `/api-keys/${id}`,
    open: async (page) => {
      await page.getByRole('button', { name: /^More/ }).click()
      await page.getByRole('menuitem', { name: 'Edit' }).click()
    },
    edits: [
      [(dialog) => dialog.getByLabel('Name').fill('Index: all'), { name: 'Index: all' }],
      [(dialog) => dialog.getByLabel('Expires').fill(local(31, 45)), { expiresAt: at(31, 45) }],
    ],
  },
]

/** In the second of the two hours. */
function at(minutes: number, seconds: number): string {
  return repeatedHour(String(seconds)).replace(':30:', `:${minutes}:`)
}

/** The same by London's clock, which is as UTC is by then. */
function local(minutes: number, seconds: number): string {
  return at(minutes, seconds).slice(0, 19)
}

function pressChange(page: Page): Promise<void> {
  return page.getByRole('button', { name: 'Edit', exact: true }).click()
}

/** Gives the attribute of this name another value; none where that is null. */
async function attribute(dialog: Locator, name: string, value: string | null): Promise<void> {
  const names = await dialog
    .getByLabel(/^Name of attribute/)
    .evaluateAll((inputs) => inputs.map((input) => String(Reflect.get(input, 'value'))))
  const n = names.indexOf(name) + 1
  if (value === null) await dialog.getByRole('button', { name: `Remove attribute ${n}` }).click()
  else await dialog.getByLabel(`Value of attribute ${n}`).fill(value)
}

test.each(forms)('the $what form sends what was edited alone', async ({ made, screen, open, edits }) => {
  const api = await newOrganization()
  const { id } = await made(api)
  const { page, audit } = await bench().open(api, screen(id))
  const bodies: unknown[] = []
  page.on('request', (request) => {
    if (['PATCH', 'POST'].includes(request.method())) bodies.push(request.postDataJSON())
  })
  const dialog = page.getByRole('dialog')
  const save = async (edit: (dialog: Locator) => Promise<void>) => {
    await open(page)
    await dialog.waitFor()
    await edit(dialog)
    await dialog.getByRole('button', { name: /^(Save|Reschedule)$/ }).click()
    await dialog.waitFor({ state: 'hidden' })
  }
  await save(audit)
  expect(bodies).toEqual([])
  for (const [edit] of edits) await save(edit)
  expect(bodies).toEqual(edits.map(([, body]) => body))
})

test('customers are searched by words that stand in the address', async () => {
  const api = await newOrganization()
  await makeDesk(api)
  const { page } = await bench().open(api, '/customers')
  await page.getByRole('link', { name: 'Mary Somerville' }).waitFor()
  await page.getByLabel('Search customers').fill('lovel')
  await page.getByRole('link', { name: 'Mary Somerville' }).waitFor({ state: 'hidden' })
  expect(new URL(page.url()).search).toBe('?q=lovel')
  await page.getByLabel('Search customers').fill('nobody of that name')
  await page.getByText('No results').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('link', { name: 'Mary Somerville' }).waitFor()
})

test('a customer is shown with everything of theirs, and deleted once that is meant', async () => {
  const api = await newOrganization()
  const { ada } = await makeDesk(api)
  const { page } = await bench().open(api, `/customers/${ada.id}`)
  for (const name of ['Where is my parcel?', /Parcel 1843 is lost/, 'Fitting'])
    await page.getByRole('link', { name }).waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor()
  expect((await api.get(`/v1/customers/${ada.id}`)).status).toBe(404)
})

test('from a conversation to its customer and back, by links', async () => {
  const api = await newOrganization()
  const { parcel } = await makeDesk(api)
  const { page } = await bench().open(api, `/conversations/${parcel.id}`)
  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
  await page.getByRole('link', { name: 'Ada Lovelace' }).first().click()
  await heading('Ada Lovelace')
  await page.getByRole('link', { name: 'Where is my parcel?' }).click()
  await heading('Where is my parcel?')
})

test('a ticket is changed and deleted; what both have changed is chosen', async () => {
  const api = await newOrganization()
  const { ticket, joan } = await makeDesk(api)
  const path = `/v1/tickets/${ticket.id}`
  const { page, audit } = await bench().open(api, `/tickets/${ticket.id}`, { expected: [412, 422] })
  await page.getByRole('button', { name: 'Edit' }).click()
  const form = page.getByRole('dialog', { name: 'Edit ticket' })
  await form.getByLabel('Subject').fill('')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('must be a string of 1').waitFor()
  await form.getByLabel('Subject').fill('Parcel 1843 is on its way')
  await choose(form.getByLabel('Priority'), 'Low')
  await choose(form.getByLabel('Assignee'), 'Joan Clarke')
  await api.patch(path, { priority: 'urgent', dueAt: '2030-01-07T10:00:00Z' })
  await form.getByRole('button', { name: 'Save' }).click()
  const choice = page.getByRole('dialog', { name: 'Someone else changed this' })
  await choice.getByRole('radio', { name: /Theirs/ }).check()
  await audit()
  await choice.getByRole('button', { name: 'Save' }).click()
  await choice.waitFor({ state: 'hidden' })
  expect(await read(api, path)).toMatchObject({
    subject: 'Parcel 1843 is on its way',
    priority: 'urgent',
    assigneeId: joan.id,
    dueAt: '2030-01-07T10:00:00.000Z',
  })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await audit()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { level: 1, name: 'Tickets' }).waitFor()
  expect((await api.get(path)).status).toBe(404)
})

test('what a colleague resolves stays in an open list, marked, until it is taken away', async () => {
  const api = await newOrganization()
  const { parcel } = await makeDesk(api)
  const { page, audit } = await bench().open(api, '/conversations')
  const row = page.getByRole('row').filter({ hasText: 'Where is my parcel?' })
  await row.waitFor()
  await api.post(`/v1/conversations/${parcel.id}/resolve`, {})
  const pill = page.getByRole('button', { name: '1 gone' })
  await pill.waitFor()
  expect(await row.getAttribute('title')).toContain('No longer in this list')
  await audit()
  await pill.click()
  await row.waitFor({ state: 'hidden' })
  await page.getByRole('row').filter({ hasText: 'Opening hours in December' }).waitFor()
  expect(await pill.count()).toBe(0)
})

test('a ticket is opened for a customer who is found by typing', async () => {
  const api = await newOrganization()
  await makeDesk(api)
  const { page, audit } = await bench().open(api, '/tickets', { expected: [422] })
  await page.getByRole('button', { name: 'Create ticket' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('must be the id').waitFor()
  await dialog.getByRole('combobox', { name: 'Customer' }).fill('mary')
  await page.getByRole('option', { name: /Mary Somerville/ }).click()
  await dialog.getByLabel('Subject').fill('The door does not close')
  await audit()
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { level: 1, name: /The door does not close/ }).waitFor()
})

test('a booking is confirmed, moved and cancelled; a week shows it where it is', async () => {
  const api = await newOrganization()
  const { fitting } = await makeDesk(api)
  const { page, audit } = await bench().open(api, '/bookings', { expected: [422] })
  await page.getByRole('link', { name: /Fitting/ }).waitFor()
  await audit()
  await page.getByRole('button', { name: 'Next week' }).click()
  await page.getByText('No bookings.').waitFor()
  await page.getByRole('button', { name: 'Today' }).click()
  await page.getByRole('link', { name: /Fitting/ }).click()
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('Booking confirmed').waitFor()
  await page.getByRole('button', { name: 'Reschedule' }).click()
  await page.getByLabel('End').fill('2020-01-01T10:00')
  await page.getByRole('dialog').getByRole('button', { name: 'Reschedule' }).click()
  await page.getByText('must be later than startAt').waitFor()
  await page.getByLabel('Start').fill('2030-01-07T10:00')
  await page.getByLabel('End').fill('2030-01-07T11:00')
  await page.getByRole('dialog').getByRole('button', { name: 'Reschedule' }).click()
  await page.getByText('Booking rescheduled').waitFor()
  expect(await read(api, `/v1/bookings/${fitting.id}`)).toMatchObject({
    startAt: '2030-01-07T10:00:00.000Z',
    rescheduleCount: 1,
  })
  await page.getByRole('button', { name: 'Cancel booking' }).click()
  await page.getByLabel('Reason').fill('She is ill.')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel booking' }).click()
  await page.getByText('She is ill.').waitFor()
  expect(await page.getByRole('region', { name: 'Status actions' }).count()).toBe(0)
})

test('a booking is made', async () => {
  const api = await newOrganization()
  const { ada } = await makeDesk(api)
  const { page } = await bench().open(api, `/customers/${ada.id}`)
  await page.getByRole('button', { name: 'Create booking' }).click()
  await page.getByLabel('Title').fill('Second fitting')
  await page.getByLabel('Start').fill('2030-07-01T10:00')
  await page.getByLabel('End', { exact: true }).fill('2030-07-01T11:00')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Second fitting' }).waitFor()
  const { data } = await read(api, '/v1/bookings?q=second')
  // By the clock of London, in summer.
  expect(data[0].startAt).toBe('2030-07-01T09:00:00.000Z')
})

test('a booking is rejected; of one that has begun it is said what it came to', async () => {
  const api = await newOrganization()
  const { fitting } = await makeDesk(api)
  const began = Date.now() - 3_600_000
  const call = await makeBooking(api, {
    title: 'Call',
    startAt: new Date(began).toISOString(),
    endAt: new Date(began + 1_800_000).toISOString(),
    status: 'confirmed',
  })
  const { page, audit } = await bench().open(api, `/bookings/${fitting.id}`)
  await page.getByRole('button', { name: 'Reject' }).click()
  await page.getByRole('dialog').getByLabel('Reason').fill('We are closed then.')
  await audit()
  await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
  await page.getByText('Booking rejected').waitFor()
  await page.getByText('We are closed then.').waitFor()
  expect(await read(api, `/v1/bookings/${fitting.id}`)).toMatchObject({
    status: 'rejected',
    rejectionReason: 'We are closed then.',
  })
  await page.goto(`${bench().service.url}/console/bookings/${call.id}`)
  await page.getByRole('button', { name: 'Complete' }).click()
  await page.getByText('Booking completed').waitFor()
  expect((await read(api, `/v1/bookings/${call.id}`)).status).toBe('completed')
  await page.getByRole('button', { name: 'Mark as no-show' }).click()
  await page.getByText('Booking marked as no-show').waitFor()
  expect((await read(api, `/v1/bookings/${call.id}`)).status).toBe('no_show')
  await audit()
})

test('a move that another has got ahead of is shown beside theirs, and made only when it is meant', async () => {
  const api = await newOrganization()
  const { fitting } = await makeDesk(api)
  const path = `/v1/bookings/${fitting.id}`
  const { page, audit } = await bench().open(api, `/bookings/${fitting.id}`, { expected: [412] })
  const dialog = page.getByRole('dialog', { name: 'Someone else changed this' })
  const sides = (name: string) => dialog.getByRole('region', { name }).locator('dd').allInnerTexts()
  await page.getByRole('button', { name: 'Confirm' }).waitFor()
  // The page does not see by itself what has become of it; what stands against its move it reads.
  let isMade = false
  page.on('request', (request) => {
    isMade ||= request.method() === 'POST'
  })
  await page.route(`**${path}`, (route) => (isMade ? route.continue() : route.abort()))
  await api.post(`${path}/reschedule`, { startAt: '2030-01-07T10:00:00Z', endAt: '2030-01-07T11:00:00Z' })
  await page.getByRole('button', { name: 'Confirm' }).click()
  await dialog.waitFor()
  const [yours, theirs] = await sides('Start')
  expect(yours).not.toBe(theirs)
  expect(theirs).toContain('2030')
  await audit()
  expect((await read(api, path)).status).toBe('pending')
  await dialog.getByRole('button', { name: 'Confirm anyway' }).click()
  await page.getByText('Booking confirmed').waitFor()
  expect(await read(api, path)).toMatchObject({ status: 'confirmed', startAt: '2030-01-07T10:00:00.000Z' })
})

test('a teammate is added, and made inactive', async () => {
  const api = await newOrganization()
  const { page } = await bench().open(api, '/teammates')
  await page.getByText('No teammates yet').waitFor()
  await page.getByRole('button', { name: 'Add teammate' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('Katherine Johnson')
  await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('button', { name: 'Edit Katherine Johnson' }).click()
  await choose(page.getByRole('dialog').getByLabel('Active'), 'No')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByText('Inactive').waitFor()
})

test('a key that may only read is offered nothing else', async () => {
  const api = await newOrganization()
  const { parcel, ticket, fitting } = await makeDesk(api)
  const scopes = ['customers', 'conversations', 'tickets', 'bookings', 'teammates'].map(
    (kind) => `${kind}:read`,
  )
  const reader = await bench().service.newKey(api.organizationId, scopes)
  const { page } = await bench().open(reader, `/conversations/${parcel.id}`)
  await page.getByText('messages:read').waitFor()
  for (const address of [`/conversations/${parcel.id}`, `/tickets/${ticket.id}`, `/bookings/${fitting.id}`]) {
    await page.goto(`${bench().service.url}/console${address}`)
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
    const main = page.getByRole('main')
    for (const name of ['Edit', 'Resolve', 'Confirm', 'Send']) {
      expect(await main.getByRole('button', { name }).count(), `${address}: ${name}`).toBe(0)
    }
  }
})

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 360],
  ['dark', 360],
] as const)('every screen of the desk is whole, here in %s and %d pixels wide', async (scheme, width) => {
  const api = await newOrganization()
  const { ada, parcel, ticket, fitting } = await makeDesk(api)
  const { page, audit } = await bench().open(api, '/conversations', { scheme, width })
  for (const [address, name] of [
    ['/conversations', 'Conversations'],
    [`/conversations/${parcel.id}`, 'Where is my parcel?'],
    ['/customers', 'Customers'],
    [`/customers/${ada.id}`, 'Ada Lovelace'],
    ['/tickets', 'Tickets'],
    [`/tickets/${ticket.id}`, /1843/],
    ['/bookings', 'Bookings'],
    ['/bookings?view=list', 'Bookings'],
    [`/bookings/${fitting.id}`, 'Fitting'],
    ['/teammates', 'Teammates'],
  ] as const) {
    await page.goto(`${bench().service.url}/console${address}`)
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await settled(page)
    await audit()
    const overhang = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
    expect(overhang, address).toBeLessThanOrEqual(0)
  }
})

test.each(payloads)('what somebody smuggles in is text in every field: %s', async (payload) => {
  const api = await newOrganization()
  const teammate = await makeTeammate(api, { name: payload })
  const customer = await makeCustomer(api, {
    name: payload,
    company: payload,
    externalId: payload,
    tags: [payload.slice(0, 50)],
    customAttributes: { [payload.slice(0, 40)]: payload },
  })
  const of = {
    customerId: customer.id,
    assigneeId: teammate.id,
    tags: [payload.slice(0, 50)],
    customAttributes: { [payload.slice(0, 40)]: payload },
  }
  const conversation = await makeConversation(api, { ...of, subject: payload, externalId: payload })
  await makeMessage(api, {
    conversationId: conversation.id,
    author: { type: 'customer', name: payload },
    body: payload,
    contentType: 'html',
    attachments: [
      {
        fileName: payload,
        contentType: 'text/plain',
        sizeBytes: 1,
        url: 'https://example.com/?q=<script>',
      },
    ],
  })
  const ticket = await makeTicket(api, {
    ...of,
    subject: payload,
    description: payload,
    externalId: payload,
  })
  const booking = await makeBooking(api, {
    ...of,
    title: payload,
    notes: payload,
    location: { type: 'other', value: payload },
  })
  const { page } = await bench().open(api, '/customers')
  page.on('dialog', () => expect.unreachable('a script of a field has run'))
  for (const address of [
    '/customers',
    `/customers/${customer.id}`,
    '/conversations',
    `/conversations/${conversation.id}`,
    '/tickets',
    `/tickets/${ticket.id}`,
    '/bookings',
    `/bookings/${booking.id}`,
    '/teammates',
  ]) {
    await page.goto(`${bench().service.url}/console${address}`)
    await settled(page)
    if (address !== '/bookings') await page.getByText(payload).filter({ visible: true }).first().waitFor()
    expect(await page.locator('main img, main script, main svg[onload], a[href^="javascript"]').count()).toBe(
      0,
    )
  }
})
