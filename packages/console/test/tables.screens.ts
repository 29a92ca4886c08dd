/** Tables keep their widths, show what they cut off, and no screen scrolls sideways. */
import { expect, test } from 'vitest'
import { makeConversation, makeCustomer, makeMessage, makeTicket } from '../../testbed/desk.ts'
import type { Api } from '../../testbed/service.ts'
import { choose } from './choose.ts'
import { makeDesk } from './desk.fixture.ts'
import { type ConsolePage, consoleBench } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()
const long = 'The parcel of the analytical engines that was to come on Monday and did not '.repeat(2).trim()
const unbroken = 'Donaudampfschifffahrtsgesellschaft'.repeat(4)

async function makeLong(api: Api) {
  const customer = await makeCustomer(api, { name: long, company: unbroken, email: 'long@example.com' })
  await makeConversation(api, { customerId: customer.id, subject: unbroken })
  const ticket = await makeTicket(api, { customerId: customer.id, subject: long })
  return { customer, ticket }
}

test('columns keep their widths whatever their rows hold, and a cut text is shown to pointer and keyboard', async () => {
  const api = await bench().service.newOrganization('Widths')
  await makeDesk(api)
  const { page, audit } = await bench().open(api, '/tickets')
  const columns = page.locator('thead th')
  await page.getByText('Parcel 1843 is lost').waitFor()
  const widths = () =>
    Promise.all([0, 1, 2, 3, 4, 5, 6].map(async (n) => (await columns.nth(n).boundingBox())?.width))
  const before = await widths()
  const { ticket } = await makeLong(api)
  await page.getByRole('button', { name: /new/ }).click()
  await page.getByRole('link', { name: ticket.subject }).waitFor()
  expect(await widths()).toEqual(before)

  const tip = page.getByRole('tooltip')
  const name = page.getByRole('link', { name: ticket.subject })
  await name.focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await tip.getByText(`#${ticket.number} ${long}`).waitFor()
  await tip.getByText(long, { exact: true }).waitFor()
  await audit()
  await page.keyboard.press('Escape')
  expect(await tip.count()).toBe(0)
  // The link of the row lies over its cells.
  const pointAt = async (words: string) => {
    const cell = await page.getByRole('cell', { name: words, exact: true }).boundingBox()
    await page.mouse.move((cell?.x ?? 0) + 20, (cell?.y ?? 0) + 10)
  }
  await pointAt(long)
  await tip.waitFor()
  expect(await tip.textContent()).toBe(long)
  await page.mouse.move(2, 2)
  await tip.waitFor({ state: 'detached' })
})

/** What is wider than its place: the page, or a part of it that scrolls, but for code. */
const scrolling = `[document.documentElement, ...document.querySelectorAll('main *')]
  .filter((element) => element.scrollWidth > element.clientWidth + 1 &&
    (element === document.documentElement || /auto|scroll/.test(getComputedStyle(element).overflowX)) &&
    !element.closest('pre'))
  .map((element) => element.tagName + '.' + element.className + ' ' + element.scrollWidth + ' > ' + element.clientWidth)`

// 640 is what 200 % leaves of 1,280.
test.each([390, 640])('no screen scrolls sideways at a width of %d', async (width) => {
  const { api, failing } = await bench().seeded()
  const { ada, parcel, ticket, fitting } = await makeDesk(api)
  const { customer, ticket: other } = await makeLong(api)
  const [delivery] = (await api.get(`/v1/deliveries?webhookId=${failing.id}`)).json.data
  const [key] = (await api.get('/v1/api-keys')).json.data
  const opened: ConsolePage = await bench().open(api, '/', { width })
  const { page } = opened
  const found: string[] = []
  for (const address of [
    '/',
    '/endpoints',
    `/endpoints/${failing.id}`,
    '/deliveries',
    `/deliveries/${delivery.id}?endpoint=${failing.id}`,
    '/signature-tester',
    '/sync-explorer',
    '/inbox',
    `/inbox?id=${parcel.id}`,
    '/conversations',
    `/conversations/${parcel.id}`,
    '/customers',
    `/customers/${ada.id}`,
    `/customers/${customer.id}`,
    '/tickets',
    `/tickets/${ticket.id}`,
    `/tickets/${other.id}`,
    '/bookings',
    '/bookings?view=day',
    '/bookings?view=list',
    `/bookings/${fitting.id}`,
    '/teammates',
    '/api-keys',
    `/api-keys/${key.id}`,
  ]) {
    await page.goto(`${bench().service.url}/console${address}`)
    await settled(page)
    const wide = (await page.evaluate(scrolling)) as string[]
    found.push(...wide.map((element) => `${address}: ${element}`))
  }
  expect(found).toEqual([])
})

test('a long list draws the rows in the window, and the keyboard reaches every row', async () => {
  const api = await bench().service.newOrganization('Long')
  const items = Array.from({ length: 340 }, (_, n) => ({ name: `Customer ${String(n).padStart(3, '0')}` }))
  expect((await api.post('/v1/customers/batch', { items })).json.created).toBe(340)
  const { page, audit } = await bench().open(api, '/customers')
  const more = page.getByRole('button', { name: 'Load more' })
  for (const count of [100, 150, 200, 250]) {
    await more.click()
    await page.getByText(`${count} of 340`).waitFor()
  }
  const rows = page.locator('tbody tr[data-index]')
  await expect.poll(() => rows.count()).toBeLessThan(100)
  expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe('341')
  // Of equal times the order is by id: the names are read from the list.
  await page.evaluate('scrollTo(0, 0)')
  const focused = page.locator('tbody tr:has(a:focus)')
  await rows.first().getByRole('link').focus()
  await page.keyboard.press('End')
  await expect.poll(() => focused.getAttribute('aria-rowindex')).toBe('251')
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => focused.getAttribute('aria-rowindex')).toBe('250')
  await audit()
  await page.keyboard.press('Home')
  await expect.poll(() => focused.getAttribute('aria-rowindex')).toBe('2')
  for (let n = 0; n < 70; n++) await page.keyboard.press('ArrowDown')
  await expect.poll(() => focused.getAttribute('aria-rowindex')).toBe('72')
  expect(await focused.isVisible()).toBe(true)
  // Scrolled away, the row keeps the focus.
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  await expect.poll(() => page.locator('tr[data-index="249"]').count()).toBe(1)
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => focused.getAttribute('aria-rowindex')).toBe('73')
})

test('a list is filtered by when its rows were made', async () => {
  const api = await bench().service.newOrganization('Ranges')
  await makeDesk(api)
  const { page, audit } = await bench().open(api, '/tickets')
  const created = page.getByRole('button', { name: /^Created (Any|since|until)/ })
  const rows = page.locator('tbody tr')
  await expect.poll(() => rows.count()).toBe(2)
  await created.click()
  const popover = page.getByRole('dialog', { name: 'Created' })
  await popover.getByLabel('To').fill('last year')
  await popover.getByRole('button', { name: 'Apply' }).click()
  await popover.getByText('must be a day').waitFor()
  await audit()
  await popover.getByLabel('To').fill('2020-01-01')
  await popover.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('No results').waitFor()
  expect(new URL(page.url()).searchParams.get('createdBefore')).toBe('2020-01-01T00:00:00.000Z')
  await expect.poll(() => created.textContent()).toBe('Created until 1 Jan 2020, 00:00')
  await created.click()
  await popover.getByRole('button', { name: 'Last 24 hours' }).click()
  await expect.poll(() => rows.count()).toBe(2)
  // A range includes its beginning.
  await created.click()
  await popover.getByLabel('From').fill('2020-01-01')
  await popover.getByRole('button', { name: 'Apply' }).click()
  await popover.waitFor({ state: 'detached' })
  const after = () => new URL(page.url()).searchParams.get('createdAfter')
  await expect.poll(after).toBe('2019-12-31T23:59:59.999Z')
  await expect.poll(() => created.textContent()).toBe('Created since 1 Jan 2020, 00:00')
})

test('selected conversations are assigned and resolved, and one that has changed meanwhile is refused', async () => {
  const api = await bench().service.newOrganization('Selected')
  const { joan, parcel, bot, invoice } = await makeDesk(api)
  const read = async ({ id }: { id: string }) => (await api.get(`/v1/conversations/${id}`)).json
  const { page, audit } = await bench().open(api, '/conversations', { expected: [412] })
  await page.getByText('Where is my parcel?').waitFor()
  await page.getByRole('checkbox', { name: 'Select all rows' }).check()
  const bar = page.getByRole('region', { name: 'Selected rows' })
  await bar.getByText('3 selected').waitFor()
  await audit()
  await choose(bar.getByRole('combobox', { name: 'Assign to' }), 'Joan Clarke')
  await page.getByText('3 assigned').waitFor()
  expect((await read(bot)).assigneeId).toBe(joan.id)

  // The list reads each change, but for one that comes while nothing is heard of it.
  await page.locator('tbody tr').nth(2).getByText('Joan Clarke').waitFor()
  await page.route('**/v1/changes**', () => {})
  await page.route('**/v1/conversations?**', () => {})
  await page.getByRole('checkbox', { name: 'Select', exact: true }).first().press('Space')
  await page.getByRole('checkbox', { name: 'Select', exact: true }).nth(1).press('Space')
  await page.getByRole('checkbox', { name: 'Select', exact: true }).nth(2).press('Space')
  await bar.getByText('3 selected').waitFor()
  await makeMessage(api, { conversationId: parcel.id, body: 'It has come!' })
  await bar.getByRole('button', { name: 'Resolve' }).click()
  await page.getByText('2 resolved, 1 refused').waitFor()
  await page.getByText('It has changed meanwhile.').waitFor()
  expect([(await read(parcel)).status, (await read(bot)).status, (await read(invoice)).status]).toEqual([
    'open',
    'resolved',
    'resolved',
  ])
})

test('selected tickets are closed, and those that may not be are counted', async () => {
  const api = await bench().service.newOrganization('Closed')
  const { ticket } = await makeDesk(api)
  await api.patch(`/v1/tickets/${ticket.id}`, { status: 'resolved' })
  const { page } = await bench().open(api, '/tickets', { width: 390, expected: [409, 422] })
  await page.getByText('Parcel 1843 is lost').waitFor()
  for (const n of [0, 1]) await page.getByRole('checkbox').nth(n).check()
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByText('1 closed, 1 refused').waitFor()
  expect((await api.get(`/v1/tickets/${ticket.id}`)).json.status).toBe('closed')
})

test('selected deliveries are resent, and no others', async () => {
  const { api, failing, failingReceiver } = await bench().seeded()
  const { page } = await bench().open(api, `/deliveries?endpoint=${failing.id}`, { expected: [409] })
  await page.getByRole('checkbox', { name: 'Select', exact: true }).first().check()
  await page.getByRole('button', { name: 'Resend 1 delivery' }).click()
  // Its retries are still to come.
  await page.getByText('0 resent, 1 refused').waitFor()
  expect(failingReceiver.requests.length).toBe(3)
})

test('a complete list is sorted by a column, which the address keeps, and an incomplete one is not', async () => {
  const api = await bench().service.newOrganization('Sorted')
  const { ada } = await makeDesk(api)
  await makeTicket(api, {
    customerId: ada.id,
    subject: 'Late',
    priority: 'urgent',
    dueAt: '2030-01-01T10:00:00Z',
  })
  const { page, audit } = await bench().open(api, '/tickets')
  const first = page.locator('tbody tr').first()
  const due = page.getByRole('columnheader', { name: 'Due' })
  // The title ends where the values below it end.
  await page.getByRole('button', { name: 'Due' }).waitFor()
  const gap = await page.evaluate<number>(`(() => {
    const cell = [...document.querySelectorAll('th')].find((one) => one.textContent === 'Due')
    const title = document.createRange()
    title.selectNodeContents(cell.querySelector('button'))
    const end = cell.getBoundingClientRect().right - parseFloat(getComputedStyle(cell).paddingRight)
    return end - title.getBoundingClientRect().right
  })()`)
  expect(Math.abs(gap)).toBeLessThan(1)
  await page.getByRole('button', { name: 'Due' }).press('Enter')
  await expect.poll(() => due.getAttribute('aria-sort')).toBe('ascending')
  await first.getByText('Late').waitFor()
  expect(new URL(page.url()).search).toBe('?sort=Due')
  await page.getByRole('button', { name: 'Priority' }).click()
  await first.getByText('Wrong address').waitFor()
  await page.getByRole('button', { name: 'Priority' }).click()
  await first.getByText('Late').waitFor()
  await audit()
  await page.reload()
  await first.getByText('Late').waitFor()
  expect(await page.getByRole('columnheader', { name: 'Priority' }).getAttribute('aria-sort')).toBe(
    'descending',
  )
  await page.getByRole('button', { name: 'Priority' }).click()
  expect(new URL(page.url()).search).toBe('')

  const items = Array.from({ length: 51 }, (_, n) => ({ customerId: ada.id, subject: `Ticket ${n}` }))
  await api.post('/v1/tickets/batch', { items })
  await page.goto(`${bench().service.url}/console/tickets?sort=-Priority`)
  await page.getByText('50 of 54').waitFor()
  expect(await page.getByRole('button', { name: 'Priority' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Load more' }).click()
  await first.getByText('Late').waitFor()
})
