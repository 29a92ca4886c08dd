/** The pages in a browser: whole without any other host, under the policy that they are sent with. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBrowser, watchedPage } from '../harness/browser.ts'
import { makeCustomer } from '../harness/desk.ts'
import { type TestService, testService } from '../harness/service.ts'

let browser: Browser
let service: TestService

beforeAll(async () => {
  browser = await startBrowser()
  service = await testService()
})

afterAll(async () => {
  await browser?.close()
  await service?.[Symbol.asyncDispose]()
})

test('the reference lists every operation and every event, asks no other host, and has nothing to complain of', async () => {
  const { page, requests, complaints } = await watchedPage(browser)
  await page.goto(`${service.url}/docs`, { waitUntil: 'networkidle' })
  const { paths, webhooks } = (await service.api.get('/openapi.json')).json
  const methods = ['get', 'post', 'patch', 'delete']
  const operations = Object.values<object>(paths).flatMap((item) =>
    Object.keys(item).filter((name) => methods.includes(name)),
  )
  const blocks = page.locator('.opblock')
  await expect
    .poll(() => blocks.count(), { timeout: 30_000 })
    .toBe(operations.length + Object.keys(webhooks).length)
  expect(await page.locator('h1, .title').first().innerText()).toContain('Deskwire')
  expect(requests.length).toBeGreaterThan(5)
  expect(requests.filter((url) => !url.startsWith(`${service.url}/`) && !url.startsWith('data:'))).toEqual([])
  expect(complaints).toEqual([])

  const outcome = await page.evaluate(() =>
    fetch('http://127.0.0.2:9/').then(
      () => 'sent',
      () => 'refused',
    ),
  )
  expect(outcome).toBe('refused')
  expect(complaints.join('\n')).toContain('Content Security Policy')
})

test('an operation is opened and tried against this service, with a key', async () => {
  const { name } = await makeCustomer(service.api, { name: 'Ada of the reference' })
  const { page, requests, complaints } = await watchedPage(browser)
  await page.goto(`${service.url}/docs#/customers/listCustomers`, { waitUntil: 'networkidle' })
  await page.locator('.btn.authorize').click()
  await page.locator('.auth-container input').fill(service.api.token)
  await page.locator('.auth-container button[type=submit]').click()
  await page.locator('.auth-container .btn-done').click()
  const operation = page.locator('#operations-customers-listCustomers')
  await operation.locator('.try-out__btn').click()
  await operation.locator('.execute').click()
  const answer = operation.locator('.live-responses-table .response').first()
  await answer.waitFor()
  expect(await answer.locator('.response-col_status').innerText()).toContain('200')
  expect(await answer.innerText()).toContain(name)
  expect(requests).toContain(`${service.url}/v1/customers?limit=20&offset=0`)
  expect(complaints).toEqual([])
})

test.each(['light', 'dark'] as const)(
  'error pages are whole and follow the reader, here in %s',
  async (scheme) => {
    const { page, requests, complaints } = await watchedPage(browser, scheme)
    await page.goto(`${service.url}/docs/errors`, { waitUntil: 'networkidle' })
    await page.getByRole('link', { name: 'invalid_transition' }).click()
    expect(new URL(page.url()).pathname).toBe('/docs/errors/invalid_transition')
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(
      'The state does not allow this move',
    )
    const paper = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
    expect(paper).toBe(scheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(22, 25, 29)')
    expect(requests.filter((url) => !url.startsWith(`${service.url}/`))).toEqual([])
    expect(complaints).toEqual([])
  },
)
