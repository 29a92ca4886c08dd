/** The palette, by keyboard alone: screens, actions, objects by words and by id, what was visited of late. */
import { expect, test } from 'vitest'
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeMessage,
  makeTeammate,
  makeTicket,
} from '../../testbed/desk.ts'
import { makeDesk } from './desk.fixture.ts'
import { consoleBench } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()

test.each(['light', 'dark'] as const)('anything is a few keys away, in %s', async (scheme) => {
  const { api, failing } = await bench().seeded()
  const { page, audit } = await bench().open(api, '/', { scheme })
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  const palette = page.getByRole('dialog', { name: 'Search or jump to' })
  const options = palette.getByRole('option')
  async function find(words: string): Promise<void> {
    await page.keyboard.press('Control+k')
    await palette.waitFor()
    await page.keyboard.insertText(words)
  }

  await find('sig')
  await expect.poll(() => options.first().innerText()).toContain('Signature tester')
  await audit()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Signature tester' }).waitFor()

  await find('Billing')
  await options.filter({ hasText: 'Billing' }).waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/console/endpoints/${failing.id}`)

  await find(`endpoint: ${failing.id}`)
  await expect.poll(() => options.count()).toBe(1)
  await page.keyboard.press('Escape')

  await find('create api')
  await options.filter({ hasText: 'Create API key' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByLabel('Name').waitFor()
  await page.keyboard.press('Escape')

  // Of late, the latest first.
  await find('')
  await expect
    .poll(async () => (await options.allInnerTexts()).slice(0, 3).map((text) => text.split('\n')[0]))
    .toEqual(['Create API key', 'Billing', 'Signature tester'])

  await page.keyboard.insertText('zzzz')
  await palette.getByText('No results for “zzzz”.').waitFor()
  await audit()
})

test('keys that are typed before the palette is there are kept, to the last', async () => {
  const api = await bench().service.newOrganization('Analytical Engines')
  await makeTicket(api, { subject: 'The printer is on fire' })
  const second = await makeTicket(api, { subject: 'The door does not close' })
  const { page } = await bench().open(api, '/')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  const script = Promise.withResolvers<void>()
  await page.route('**/assets/palette-*.js', async (route) => {
    await script.promise
    await route.continue()
  })
  const field = page.locator('input[aria-label="Search or jump to"]')
  await page.keyboard.press('Control+k')
  await field.waitFor()
  const words = `ticket: ${'the door does not close '.repeat(4).trim()}`
  await page.keyboard.type(words.slice(0, 10))
  script.resolve()
  await page.keyboard.type(words.slice(10))
  await page.getByRole('dialog').waitFor()
  await expect.poll(() => field.inputValue()).toBe(words)
  await field.fill('')
  // Enter means what was typed, and waits for it.
  await page.keyboard.type(`#${second.number}`)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: /The door does not close/ }).waitFor()
})

test('the palette is there before it is wanted, and asks for nothing when it opens', async () => {
  const { api } = await bench().seeded()
  const { page } = await bench().open(api, '/deliveries')
  await page.waitForResponse(/[/]assets[/]palette-/)
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
  await settled(page)
  await page.route('**/assets/**', (route) => route.abort())
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('option', { name: 'Sync explorer' }).waitFor()
})

test('what the words name comes first: a number, an email address, an id', async () => {
  const api = await bench().service.newOrganization('Names')
  const { id: customerId } = await makeCustomer(api, { name: 'Mira', email: 'mira@example.com' })
  const ticket = await makeTicket(api, { customerId, subject: 'The one that is meant' })
  const booking = await makeBooking(api, { title: 'Fitting' })
  const conversation = await makeConversation(api, { subject: 'Invoice' })
  // Newer than it, and with its words.
  for (let n = 0; n < 6; n++) {
    await makeCustomer(api, { name: `Number ${ticket.number} and mira@example.com, ${n}` })
    await makeMessage(api, {
      conversationId: conversation.id,
      body: `#${ticket.number} mira@example.com ${booking.id} ${n}`,
    })
  }
  const { page } = await bench().open(api, '/')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  const named = [
    [`#${ticket.number}`, `/tickets/${ticket.id}`],
    [`${ticket.number}`, `/tickets/${ticket.id}`],
    ['mira@example.com', `/customers/${customerId}`],
    ['MIRA@example.com', `/customers/${customerId}`],
    [booking.id, `/bookings/${booking.id}`],
    [conversation.id, `/conversations/${conversation.id}`],
  ] as const
  for (const [words, path] of named) {
    await page.keyboard.press('Control+k')
    await page.locator('input[aria-label="Search or jump to"]').waitFor()
    await page.keyboard.insertText(words)
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).pathname, { message: words }).toBe(`/console${path}`)
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  }
})

test.each(['light', 'dark'] as const)(
  'namesakes are told apart, and all results are a list, in %s',
  async (scheme) => {
    const api = await bench().service.newOrganization('Namesakes')
    for (const n of [1, 2, 3, 4, 5, 6, 7, 8])
      await makeCustomer(api, { name: 'Kim Park', company: `Works ${n}`, email: `kim${n}@example.com` })
    const { id: customerId } = await makeCustomer(api, { name: 'Ines', email: 'ines@example.com' })
    await makeConversation(api, { customerId, subject: 'Kim' })
    const { page, audit } = await bench().open(api, '/', { scheme })
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Search or jump to' })
    await palette.waitFor()
    await page.keyboard.insertText('Kim')
    const options = palette.getByRole('option')
    await options.filter({ hasText: 'Works 8 · kim8@example.com' }).waitFor()
    await expect.poll(() => options.first().innerText()).toMatch(/^Kim/)
    await options.filter({ hasText: 'Conversation' }).filter({ hasText: 'Ines · Open' }).waitFor()
    await audit()
    await options.filter({ hasText: 'All 8 results' }).filter({ hasText: 'Customers' }).click()
    await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor()
    await expect.poll(() => page.locator('tbody tr').count()).toBe(8)
    expect(await page.getByLabel('Search customers').inputValue()).toBe('Kim')
  },
)

test('the palette acts on what is shown', async () => {
  const api = await bench().service.newOrganization('Actions')
  const { parcel, ticket, ada, grace } = await makeDesk(api)
  const { page } = await bench().open(api, `/conversations/${parcel.id}`)
  const { keyboard } = page
  const palette = page.getByRole('dialog', { name: 'Search or jump to' })
  async function act(words: string, title: string): Promise<void> {
    await keyboard.press('Control+k')
    await palette.waitFor()
    await keyboard.insertText(words)
    const option = palette.getByRole('option').first()
    await expect.poll(async () => (await option.innerText()).split('\n')[0]).toBe(title)
    await keyboard.press('Enter')
    await palette.waitFor({ state: 'hidden' })
  }
  const of = async (path: string) => (await api.get(`/v1/${path}`)).json
  const hasFocus = (label: string) =>
    expect.poll(() => page.getByLabel(label).evaluate((field) => field.matches(':focus'))).toBe(true)
  await page.getByLabel('Your reply').waitFor()
  await settled(page)

  await act('assign to gra', 'Assign to Grace Hopper')
  await expect.poll(async () => (await of(`conversations/${parcel.id}`)).assigneeId).toBe(grace.id)
  await act('unass', 'Unassign')
  await expect.poll(async () => (await of(`conversations/${parcel.id}`)).assigneeId).toBeNull()
  await act('add an int', 'Add an internal note')
  await hasFocus('Your note')
  await act('rep', 'Reply')
  await hasFocus('Your reply')
  await act('create bo', 'Create booking')
  const form = page.getByRole('dialog', { name: 'Create booking' })
  await form.getByLabel('Title').fill('A visit')
  await form.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('link', { name: 'View booking' }).waitFor()
  const [booking] = (await of(`bookings?customerId=${ada.id}`)).data
  expect(booking).toMatchObject({ title: 'A visit', conversationId: parcel.id })
  await act('res', 'Resolve')
  await expect.poll(async () => (await of(`conversations/${parcel.id}`)).status).toBe('resolved')
  await act('reo', 'Reopen')
  await expect.poll(async () => (await of(`conversations/${parcel.id}`)).status).toBe('open')
  await act('theme: d', 'Theme: Dark')
  await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
  await act('keyb', 'Keyboard shortcuts')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  // Behind a dialog nothing is acted on.
  await keyboard.press('Control+k')
  await palette.waitFor()
  await keyboard.insertText('res')
  await expect.poll(() => palette.getByRole('option', { name: 'Resolve' }).count()).toBe(0)
  await keyboard.press('Escape')
  await keyboard.press('Escape')

  await page.goto(`${bench().service.url}/console/tickets/${ticket.id}`)
  await page.getByRole('heading', { level: 1, name: /Parcel 1843/ }).waitFor()
  await settled(page)
  await act('res', 'Resolve')
  await expect.poll(async () => (await of(`tickets/${ticket.id}`)).status).toBe('resolved')
})

test('after a choice from a list, keys and the palette go on, and assign to who one is', async () => {
  const api = await bench().service.newOrganization('Me')
  const { id } = await makeConversation(api, { subject: 'Mine' })
  const me = await makeTeammate(api, { name: 'Mira' })
  const { page } = await bench().open(api, `/conversations/${id}`)
  await page.getByLabel('Your reply').waitFor()
  await page.getByLabel('I am').click()
  await page.getByRole('option', { name: 'Mira' }).click()
  await page.getByRole('option', { name: 'Mira' }).waitFor({ state: 'hidden' })
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('n')
  await page.getByLabel('Your note').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog', { name: 'Search or jump to' }).waitFor()
  await page.keyboard.insertText('assign to me')
  await page.getByRole('option', { name: 'Assign to me' }).waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(async () => (await api.get(`/v1/conversations/${id}`)).json.assigneeId).toBe(me.id)
})

test('nothing is offered that the key may not see', async () => {
  const { api } = await bench().seeded()
  const reader = await bench().service.newKey(api.organizationId, ['tickets:read'])
  const { page } = await bench().open(reader, '/signature-tester')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.insertText('e')
  await page.getByRole('dialog').getByRole('option', { name: 'Sync explorer' }).first().waitFor()
  const titles = await page.getByRole('dialog').getByRole('option').allInnerTexts()
  expect(titles.join()).toContain('Sync explorer')
  expect(titles.join()).not.toMatch(/Endpoints|Deliveries|API key/)
})
