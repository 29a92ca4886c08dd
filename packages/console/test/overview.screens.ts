/** The overview: what it counts is what happened, as bars and as a table. */
import { expect, test } from 'vitest'
import { makeConversation, makeCustomer, makeMessage, makeTicket } from '../../testbed/desk.ts'
import { makeWebhook } from '../../testbed/hooks.ts'
import { consoleBench } from './harness.ts'

const bench = consoleBench()

test.each(['light', 'dark'] as const)(
  'it shows what was delivered, failed, waits and changed, in %s',
  async (scheme) => {
    const { api } = await bench().seeded()
    const { page, audit } = await bench().open(api, '/', { scheme })
    const figure = (name: string) => page.locator('dl > div', { hasText: name }).locator('strong')
    await expect.poll(() => figure('Succeeded').innerText()).toBe('3')
    await expect.poll(() => figure('Failed attempts').innerText()).toBe('3')
    await expect.poll(() => figure('Pending').innerText()).toBe('3')
    await page.getByRole('img', { name: /Attempts per minute/ }).waitFor()
    await page.getByRole('img', { name: 'customer: 3 changed' }).waitFor()
    const endpoints = page.getByRole('region', { name: 'Endpoints' })
    expect(await endpoints.getByRole('listitem').first().innerText()).toContain('Failing')
    await audit()
    await page.getByRole('button', { name: 'Show table' }).click()
    await page.getByRole('cell', { name: '3' }).first().waitFor()
    await audit()
  },
)

test('what needs attention comes first, and each leads to where it is settled', async () => {
  const { api, failing } = await bench().seeded()
  const { id } = await makeConversation(api, { subject: 'Where is it?' })
  const [customer] = (await api.get('/v1/customers')).json.data
  await makeTicket(api, {
    customerId: customer.id,
    subject: 'Late already',
    dueAt: new Date(Date.now() - 60_000).toISOString(),
  })
  await makeMessage(api, { conversationId: id })
  const { page, audit } = await bench().open(api, '/')
  const matters = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem')
  await expect.poll(() => matters.count()).toBe(4)
  await audit()
  await matters.filter({ hasText: 'is failing' }).getByRole('link').click()
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/console/endpoints/${failing.id}`)
  await page.goBack()
  await page.setViewportSize({ width: 390, height: 800 })
  await page.getByRole('link', { name: 'Open overdue tickets' }).press('Enter')
  await page.getByRole('link', { name: /Late already/ }).waitFor()
  expect(new URL(page.url()).search).toBe('?overdue=true')
  await page.goBack()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await page.setViewportSize({ width: 1280, height: 800 })
  await matters.filter({ hasText: '1 unassigned' }).waitFor()
  await page.getByRole('link', { name: 'Answer the longest wait' }).click()
  await page.getByRole('heading', { level: 2, name: 'Where is it?' }).waitFor()
  await makeMessage(api, { conversationId: id, direction: 'outbound' })
  await page.goBack()
  await matters.filter({ hasText: '1 unassigned' }).waitFor()
  await expect.poll(() => matters.filter({ hasText: 'waiting' }).count()).toBe(0)
})

test('a bar opens the deliveries of its time that ended as it says, by mouse and by keyboard', async () => {
  const { api, failing } = await bench().seeded()
  const { page, audit } = await bench().open(api, '/')
  const bar = page.locator('a[data-bar$="failed"]').first()
  await bar.waitFor()
  await bar.click()
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
  const rows = page.getByRole('table').getByRole('link')
  await expect.poll(() => rows.count()).toBe(3)
  const { status, createdAfter, createdBefore } = Object.fromEntries(new URL(page.url()).searchParams)
  expect(status).toBe('undelivered')
  expect(Date.parse(createdBefore ?? '') - Date.parse(createdAfter ?? '')).toBe(60_001)
  await page.goBack()
  await page.getByRole('button', { name: 'Show table' }).press('Enter')
  await audit()
  await page.getByRole('table').getByRole('link').first().press('Enter')
  await expect.poll(() => new URL(page.url()).searchParams.get('status')).toBe('succeeded')
  await expect.poll(() => rows.count()).toBe(3)
  await audit()
  // Of one endpoint, those of that endpoint.
  await page.goto(`${bench().service.url}/console/endpoints/${failing.id}`)
  await bar.click()
  await expect.poll(() => rows.count()).toBe(3)
  expect(new URL(page.url()).searchParams.get('endpoint')).toBe(failing.id)
})

test('it goes on by itself, and its span stands in the address', async () => {
  const { api } = await bench().seeded()
  const { page } = await bench().open(api, '/')
  const delivered = page.locator('dl > div', { hasText: 'Succeeded' }).locator('strong')
  await expect.poll(() => delivered.innerText()).toBe('3')
  await makeCustomer(api, { name: 'Hedy Lamarr' })
  await bench().engine.runDue()
  await expect.poll(() => delivered.innerText(), { timeout: 20_000 }).toBe('4')
  await page.getByRole('button', { name: 'Day' }).click()
  await page.getByRole('heading', { name: 'Attempts per hour' }).waitFor()
  expect(new URL(page.url()).search).toBe('?span=day')
})

test('an organization with nothing is told how it begins', async () => {
  const api = await bench().service.newOrganization('Nothing yet')
  const { page, audit } = await bench().open(api, '/', { width: 360 })
  await page.getByText('No endpoints yet').waitFor()
  const steps = page.getByRole('region', { name: 'Get started' }).getByRole('listitem')
  await expect.poll(() => steps.count()).toBe(4)
  expect(await steps.filter({ hasText: ', done' }).count()).toBe(1)
  await audit()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  const { url } = await bench().receiver()
  await makeWebhook(api, { url, events: ['customer.created'] })
  await makeCustomer(api, { name: 'The first' })
  await expect.poll(() => steps.filter({ hasText: ', done' }).count()).toBe(3)
  await bench().engine.runDue()
  await page.getByText('The first delivery has arrived').waitFor()
  await audit()
  await page.getByRole('link', { name: 'Open the delivery' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'customer.created' }).waitFor()
})

test.each([360, 768, 1440, 2560])('nothing is cut off at %d pixels', async (width) => {
  const { api, failing } = await bench().seeded()
  for (const address of ['/', '/endpoints', `/endpoints/${failing.id}`, '/deliveries']) {
    const { page, context } = await bench().open(api, address, { width })
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), address).toBe(true)
    await context.close()
  }
})
