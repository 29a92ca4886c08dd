/** The pages in a browser: without other hosts, under their policy, accessible, tried against this service. */
import { expect, test } from 'vitest'
import { watchedPage } from '../../testbed/browser.ts'
import { makeCustomer } from '../../testbed/desk.ts'
import { sharedBrowser, sharedService } from '../../testbed/shared-service.ts'
import { expectWhole } from './whole-pages.fixture.ts'

const browser = sharedBrowser()
const service = sharedService()

test('pages are whole, light and dark, wide and narrow; the others are seen by `npm run check -- console`', async () => {
  await expectWhole(browser(), service().url, 'light', ['/docs/api/updateTicket'])
  await expectWhole(browser(), service().url, 'dark', ['/docs'])
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
