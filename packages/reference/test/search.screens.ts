/** The search of the pages, by the keyboard alone, and the language that stays chosen: `npm run check -- console` runs these. */
import { expect, test } from 'vitest'
import { watchedPage } from '../../testbed/browser.ts'
import { sharedBrowser, sharedService } from '../../testbed/shared-service.ts'
import { findings } from './whole-pages.fixture.ts'

const browser = sharedBrowser()
const service = sharedService()

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
