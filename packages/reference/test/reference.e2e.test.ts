/** The pages in a browser: without other hosts, under their policy, by keyboard, accessible. */
import { expect, test } from 'vitest'
import { watchedPage } from '../../testbed/browser.ts'
import { makeCustomer } from '../../testbed/desk.ts'
import { sharedBrowser, sharedService } from '../../testbed/shared-service.ts'
import { expectWhole, findings } from './whole-pages.fixture.ts'

const browser = sharedBrowser()
const service = sharedService()

test('pages are whole, light and dark, wide and narrow; the others are seen by `npm run check -- console`', async () => {
  await expectWhole(browser(), service().url, 'light', ['/docs/api/updateTicket'])
  await expectWhole(browser(), service().url, 'dark', ['/docs'])
})

test('the search finds operations, fields, events, errors and guides, by the keyboard alone', async () => {
  const { page, complaints } = await watchedPage(browser())
  await page.goto(`${service().url}/docs`, { waitUntil: 'networkidle' })
  const search = page.getByRole('combobox')
  const options = page.getByRole('option')
  for (const [words, title, address] of [
    ['create tick', 'Create a ticket', '/docs/api/createTicket'],
    ['reschedulecount', 'rescheduleCount', '/docs/objects/Booking#field-rescheduleCount'],
    ['status_changed', 'ticket.status_changed', '/docs/events/ticket.status_changed'],
    ['too old', 'cursor_too_old', '/docs/errors/cursor_too_old'],
    ['find differs', 'Find what differs', '/docs/guides/sync.md#find-what-differs'],
    ['behind a pooler', 'Behind a pooler', '/docs/guides/postgresql.md#behind-a-pooler'],
    ['lost update', 'version_mismatch', '/docs/errors/version_mismatch'],
    ['PATCH /v1/tickets', 'Change a ticket', '/docs/api/updateTicket'],
  ] as const) {
    await page.keyboard.press('/')
    await search.fill(words)
    await expect.poll(() => options.first().innerText()).toContain(title)
    await page.keyboard.press('Enter')
    await page.waitForURL(service().url + address)
  }
  await page.keyboard.press('Control+k')
  await search.fill('ticket')
  await page.keyboard.press('ArrowDown')
  expect(await options.nth(1).getAttribute('aria-selected')).toBe('true')
  expect(await findings(page)).toEqual([])
  await search.fill('<img src=x onerror=alert(1)>')
  await expect
    .poll(() => page.getByRole('dialog').innerText())
    .toContain('Nothing has “<img src=x onerror=alert(1)>”')
  await page.keyboard.press('Escape')
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(complaints).toEqual([])
})

test('keys that are pressed while the index is on its way choose from what it finds', async () => {
  const { page, complaints } = await watchedPage(browser())
  const coming = Promise.withResolvers<void>()
  await page.route('**/docs/search.json', async (route) => {
    await coming.promise
    await route.continue()
  })
  await page.goto(`${service().url}/docs`)
  await page.keyboard.press('/')
  await page.getByRole('combobox').fill('ticket')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  coming.resolve()
  await page.getByRole('option').first().waitFor()
  expect(await page.getByRole('option').nth(2).getAttribute('aria-selected')).toBe('true')
  expect(complaints).toEqual([])
})

test('a language stays chosen, and its sample is copied as it is', async () => {
  const { page, complaints } = await watchedPage(browser())
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(`${service().url}/docs/api/createTicket`, { waitUntil: 'networkidle' })
  await page.getByRole('radio', { name: 'Python' }).check()
  await page.goto(`${service().url}/docs/api/createCustomer`, { waitUntil: 'networkidle' })
  const sample = page.locator('.sample:visible')
  expect(await sample.count()).toBe(1)
  await sample.getByRole('button', { name: 'Copy' }).click()
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(copied).toBe(await sample.locator('pre').textContent())
  expect(copied).toContain('urllib.request')
  expect(complaints).toEqual([])
})

test('an operation is tried against this service, with a key that stays in the tab', async () => {
  const { name } = await makeCustomer(service().api, { name: 'Ada of the <reference>' })
  const { page, requests, complaints } = await watchedPage(browser())
  await page.goto(`${service().url}/docs/api/listCustomers`, { waitUntil: 'networkidle' })
  await page.getByText('Try it').click()
  await page.getByLabel('Key', { exact: true }).fill(service().api.token)
  await page.getByLabel('limit').fill('5')
  await page.getByRole('button', { name: 'Send GET' }).click()
  const outcome = page.getByRole('status')
  await expect.poll(() => outcome.innerText()).toContain('200')
  expect(await outcome.innerText()).toContain(name)
  expect(requests).toContain(`${service().url}/v1/customers?limit=5`)
  expect(complaints).toEqual([])

  await page.goto(`${service().url}/docs/api/createTicket`, { waitUntil: 'networkidle' })
  await page.getByText('Try it').click()
  expect(await page.getByLabel('Key', { exact: true }).inputValue()).toBe(service().api.token)
  await page.getByRole('button', { name: 'Send POST' }).click()
  await expect.poll(() => outcome.innerText()).toContain('422')
  expect(await outcome.innerText()).toContain('/customerId')
  const elsewhere = await page.context().newPage()
  await elsewhere.goto(`${service().url}/docs/api/createTicket`, { waitUntil: 'networkidle' })
  await elsewhere.getByText('Try it').click()
  expect(await elsewhere.getByLabel('Key', { exact: true }).inputValue()).toBe('')
})

test('without a script a page has everything but what needs one', async () => {
  const context = await browser().newContext({
    javaScriptEnabled: false,
    viewport: { width: 360, height: 740 },
  })
  const page = await context.newPage()
  await page.goto(`${service().url}/docs/api/createTicket`)
  await page.getByRole('button', { name: 'Menu' }).click()
  const list = page.getByRole('navigation', { name: 'Documentation' })
  await list.getByText('Keep a copy', { exact: true }).click()
  expect(await list.getByRole('link', { name: 'Keep an exact copy' }).isVisible()).toBe(true)
  await page.keyboard.press('Escape')
  await page.getByRole('radio', { name: 'TypeScript' }).check()
  expect(await page.locator('.sample:visible').innerText()).toContain('client.tickets.create')
  expect(await page.getByText('Try it').isVisible()).toBe(false)
  expect(await page.getByRole('button', { name: 'Search' }).isVisible()).toBe(false)
})
