/** Deliveries: found, followed, explained and sent again; live without a jump. */
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { makeCustomer, makeTicket } from '../../testbed/desk.ts'
import { answer } from '../../testbed/receiver.ts'
import { choose } from './choose.ts'
import { consoleBench, payloads } from './harness.ts'

const bench = consoleBench()

test('filters stand in the address, and what matches nothing can be cleared', async () => {
  const { api, failing } = await bench().seeded()
  const { page, audit } = await bench().open(api, '/deliveries')
  await page.getByRole('table').waitFor()
  expect(await page.getByRole('row').count()).toBe(7)
  await choose(page.getByRole('combobox', { name: 'Status' }), 'Pending')
  await expect.poll(() => page.getByRole('row').count()).toBe(4)
  expect(new URL(page.url()).search).toBe('?status=pending')
  await choose(page.getByRole('combobox', { name: 'Endpoint' }), failing.url.replace('https://', ''))
  await choose(page.getByRole('combobox', { name: 'Event' }), 'ticket.created')
  await page.getByText('No results').waitFor()
  await audit()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect.poll(() => page.getByRole('row').count()).toBe(7)
})

test('they are found by event and by time of creation', async () => {
  const { api } = await bench().seeded()
  const [newest] = (await api.get('/v1/deliveries')).json.data
  const { page, audit } = await bench().open(api, '/deliveries', { width: 390, expected: [400] })
  const rows = page.getByRole('table').getByRole('link')
  await expect.poll(() => rows.count()).toBe(6)
  await page.getByRole('searchbox', { name: 'Event ID' }).fill(newest.eventId)
  await expect.poll(() => rows.count()).toBe(2)
  expect(new URL(page.url()).searchParams.get('event')).toBe(newest.eventId)
  await page.getByRole('searchbox', { name: 'Event ID' }).fill('7')
  await page.getByText('eventId must be an id, a UUID').waitFor()
  await page.getByRole('searchbox', { name: 'Event ID' }).fill('')
  await expect.poll(() => rows.count()).toBe(6)
  const created = page.getByRole('button', { name: 'Created Any' })
  await created.press('Enter')
  await audit()
  const to = page.getByLabel('To', { exact: true })
  await to.fill('2020-01-01T10:00')
  await to.press('Enter')
  await page.getByText('No results').waitFor()
  await page.getByRole('button', { name: 'Created until 1 Jan 2020, 10:00' }).press('Enter')
  await page.getByRole('button', { name: 'Last hour' }).press('Enter')
  await expect.poll(() => rows.count()).toBe(6)
  expect(new URL(page.url()).searchParams.get('createdBefore')).toBe(null)
  await audit()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
})

test('news wait behind a count, and move nothing until they are asked for', async () => {
  const { api } = await bench().seeded()
  const { page, audit } = await bench().open(api, '/deliveries')
  const first = page.getByRole('row').nth(1)
  await first.waitFor()
  const before = await first.getByRole('link').getAttribute('href')
  await makeCustomer(api, { name: 'Radia Perlman' })
  const pill = page.getByRole('button', { name: '2 new' })
  await pill.waitFor()
  expect(await first.getByRole('link').getAttribute('href')).toBe(before)
  await audit()
  await pill.click()
  await expect.poll(() => first.getByRole('link').getAttribute('href')).not.toBe(before)
  expect(await page.getByRole('row').count()).toBe(9)
})

test('one is a timeline of its attempts, shows its payload, and is sent again', async () => {
  const { api, failing, failingReceiver } = await bench().seeded()
  const [delivery] = (await api.get(`/v1/webhooks/${failing.id}/deliveries`)).json.data
  // It fails for good with its endpoint's address: here, as the endpoint was disabled and enabled in between.
  await api.patch(`/v1/webhooks/${failing.id}`, { status: 'disabled' })
  await api.patch(`/v1/webhooks/${failing.id}`, { status: 'active' })
  const { page, audit } = await bench().open(api, `/deliveries/${delivery.id}?endpoint=${failing.id}`)
  await page.getByText('Failed: HTTP 500').waitFor()
  await page.getByText('the database of the receiver is away').waitFor()
  await page.getByText('"Mary Somerville"').waitFor()
  await audit()
  failingReceiver.will(answer(200))
  await page.getByRole('button', { name: 'Resend' }).click()
  await page.getByText('Delivery resent').first().waitFor()
  await bench().engine.runDue()
  await page.getByText('Succeeded: HTTP 200').waitFor()
  await audit()
})

test('request and response are side by side, and the request opens in the signature tester', async () => {
  const { api, failing, failingReceiver } = await bench().seeded()
  const [delivery] = (await api.get(`/v1/webhooks/${failing.id}/deliveries`)).json.data
  const { page, audit } = await bench().open(api, `/deliveries/${delivery.id}?endpoint=${failing.id}`)
  const [request, response] = ['Request', 'Response'].map((name) => page.getByRole('region', { name })) as [
    Locator,
    Locator,
  ]
  await request.getByText('"Mary Somerville"').waitFor()
  await request.getByText(`X-Service-Event-Id: ${delivery.eventId}`).waitFor()
  await response.getByText('HTTP 500').waitFor()
  await response.getByText('the database of the receiver is away').waitFor()
  const [left, right] = await Promise.all([request.boundingBox(), response.boundingBox()])
  expect(left?.y).toBe(right?.y)
  await audit()
  for (const width of [390, 640]) {
    await page.setViewportSize({ width, height: 800 })
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }
  await page.getByRole('button', { name: 'Open in the signature tester' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Signature tester' }).waitFor()
  const { json } = await api.get(`/v1/webhooks/${failing.id}/deliveries/${delivery.id}/payload`)
  expect(JSON.parse(await page.getByLabel('Raw body').inputValue())).toEqual(json)
  const headers = page.getByLabel('Headers')
  expect(await headers.inputValue()).toContain(delivery.eventId)
  expect(await headers.inputValue()).not.toContain('…')
  const [sent] = failingReceiver.requests.filter(
    ({ headers: of }) => of['x-service-event-id'] === delivery.eventId,
  )
  expect(Number(await page.getByLabel('Current time').inputValue())).toBeGreaterThan(Date.now() / 1000 - 300)
  await page.getByLabel('Secret').fill(failing.secret)
  await page.getByText('Paste the signature header that your receiver got').waitFor()
  expect(await page.getByText('Invalid', { exact: true }).count()).toBe(0)
  await audit()
  await headers.fill(
    `${await headers.inputValue()}\nX-Service-Signature: ${sent?.headers['x-service-signature']}`,
  )
  await page.getByText('Verified', { exact: true }).waitFor()
})

test('resending says how many, and resends exactly the failed ones of the filter', async () => {
  const { api, failing, failingReceiver } = await bench().seeded()
  const [customer] = (await api.get('/v1/customers')).json.data
  await makeTicket(api, { customerId: customer.id, subject: 'Not of the filter' })
  await bench().engine.runDue()
  await api.patch(`/v1/webhooks/${failing.id}`, { status: 'disabled' })
  await api.patch(`/v1/webhooks/${failing.id}`, { status: 'active' })
  failingReceiver.will(answer(200))
  const before = failingReceiver.requests.length
  const since = new Date(Date.now() - 3_600_000).toISOString()
  const address = `/deliveries?status=undelivered&type=customer.created&endpoint=${failing.id}&createdAfter=${since}`
  const { page, audit } = await bench().open(api, address)
  await page.getByRole('button', { name: 'Resend deliveries' }).click()
  const dialog = page.getByRole('alertdialog', { name: 'Resend 3 deliveries?' })
  await dialog.waitFor()
  await audit()
  await dialog.getByRole('button', { name: 'Resend 3 deliveries' }).click()
  await page.getByText('3 deliveries resent').waitFor()
  await bench().engine.runDue()
  expect(failingReceiver.requests.length - before).toBe(3)
  const left = await api.get(`/v1/webhooks/${failing.id}/deliveries?status=failed`)
  expect(left.json.data.map((one: { eventType: string }) => one.eventType)).toEqual(['ticket.created'])
})

test('rows are gone through by arrows, and opened by Enter', async () => {
  const { api } = await bench().seeded()
  const { page } = await bench().open(api, '/deliveries')
  const links = page.getByRole('table').getByRole('link')
  await links.first().focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  const third = await links.nth(2).getAttribute('href')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 2, name: 'Attempts' }).waitFor()
  expect(page.url()).toContain(third ?? 'nowhere')
})

test.each(payloads)('what a receiver answers, and what a payload holds, is text: %s', async (payload) => {
  const { api, failing, failingReceiver } = await bench().seeded()
  failingReceiver.will(answer(500, payload))
  await makeCustomer(api, { name: payload })
  await bench().engine.runDue()
  const [delivery] = (await api.get(`/v1/webhooks/${failing.id}/deliveries`)).json.data
  const { page } = await bench().open(api, `/deliveries/${delivery.id}?endpoint=${failing.id}`)
  await page.getByText(payload, { exact: true }).first().waitFor()
  await page.getByText(JSON.stringify(payload), { exact: true }).waitFor()
  expect(await page.evaluate('document.querySelectorAll("main img, main script").length')).toBe(0)
})

test('a service that fails is told of, with the request, and asked again', async () => {
  const { api } = await bench().seeded()
  const { page, audit } = await bench().open(null, '/', { expected: [500] })
  await page.addInitScript({ content: `sessionStorage.setItem('deskwire.key', '${api.token}')` })
  await page.route('**/v1/deliveries*', (route) =>
    route.fulfill({
      status: 500,
      contentType: 'application/problem+json',
      body: JSON.stringify({
        status: 500,
        code: 'internal_error',
        title: 'It failed',
        detail: 'Ours.',
        requestId: 'r-1',
      }),
    }),
  )
  await page.goto(`${bench().service.url}/console/deliveries`)
  await page.getByRole('alert').getByText('It failed').waitFor()
  await page.getByText('r-1').waitFor()
  await audit()
  await page.unroute('**/v1/deliveries*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('table').waitFor()
})
