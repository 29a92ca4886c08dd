/** What people and the service say: in any script, in any zone, once, and for the reader of the screen. */
import { expect, test } from 'vitest'
import { makeBooking, makeConversation, makeCustomer, makeMessage, makeTicket } from '../../testbed/desk.ts'
import { choose } from './choose.ts'
import { consoleBench } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()

test('what was written from right to left is shown so, wherever it is', async () => {
  const api = await bench().service.newOrganization('Scripts')
  const [name, words] = ['سارة 12', 'أين طلبي رقم 1843؟']
  const { id: customerId } = await makeCustomer(api, { name, company: 'شركة A', tags: ['مهم'] })
  const { id } = await makeConversation(api, { customerId, subject: words })
  await makeMessage(api, { conversationId: id, body: words })
  const ticket = await makeTicket(api, { customerId, subject: words, description: words })
  const { page, audit } = await bench().open(api, '/customers')
  for (const path of [
    '/customers',
    `/customers/${customerId}`,
    '/conversations',
    `/conversations/${id}`,
    `/inbox?tab=all&id=${id}`,
    `/tickets/${ticket.id}`,
  ]) {
    await page.goto(`${bench().service.url}/console${path}`)
    await page
      .getByText(/سارة|طلبي/)
      .first()
      .waitFor()
    await settled(page)
    expect(await page.evaluate<string[]>(leftToRight), path).toEqual([])
    await audit()
  }
  await page
    .getByLabel('Your reply')
    .or(page.getByRole('button', { name: 'Edit' }))
    .first()
    .waitFor()
  await page.goto(`${bench().service.url}/console/conversations/${id}`)
  const reply = page.getByLabel('Your reply')
  await reply.fill(words)
  expect(await reply.evaluate((field) => field.matches(':dir(rtl)'))).toBe(true)
})

/** Arabic texts that are set from left to right: their punctuation and numbers would be at the wrong end. */
const leftToRight = `(() => {
  const found = []
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const isShown = node.parentElement.getClientRects().length > 0
    if (isShown && /^[^A-Za-z]*[\\u0600-\\u06ff]/.test(node.data) && !node.parentElement.matches(':dir(rtl)'))
      found.push(node.parentElement.outerHTML.slice(0, 200))
  }
  return found
})()`

test('a link ends where the sentence of its script goes on', async () => {
  const api = await bench().service.newOrganization('Links')
  const { id } = await makeConversation(api, { subject: 'Links' })
  const body = [
    '注文は（https://example.com/a）で確認できます。',
    '詳細はhttps://example.com/b。次に、https://example.com/c、または「https://example.com/d」へ。',
    'هل رأيت https://example.com/e؟ نعم، https://example.com/f، شكرا.',
    'See https://example.com/g(h), “https://example.com/i” and (https://example.com/j).',
    'https://example.com/%E3%80%82?q=1&r=(2)',
  ].join('\n')
  await makeMessage(api, { conversationId: id, body })
  const { page } = await bench().open(api, `/conversations/${id}`)
  const links = page.getByRole('list', { name: 'Messages' }).getByRole('link')
  await links.first().waitFor()
  expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')?.slice(20)))).toEqual([
    'a',
    'b',
    'c',
    'd',
    'e',
    'f',
    'g(h)',
    'i',
    'j',
    '%E3%80%82?q=1&r=(2)',
  ])
})

test('a zone that the browser cannot tell is asked for', async () => {
  const api = await bench().service.newOrganization('Zones')
  const customer = await makeCustomer(api, { name: 'Ada Lovelace' })
  const { page, context } = await bench().open(api, '/bookings', { expected: [422] })
  await context.addInitScript({
    content: `const resolved = Intl.DateTimeFormat.prototype.resolvedOptions
      Intl.DateTimeFormat.prototype.resolvedOptions = function () {
        return { ...resolved.call(this), timeZone: 'Etc/Unknown' }
      }`,
  })
  await page.goto(`${bench().service.url}/console/customers/${customer.id}`)
  await page.getByRole('button', { name: 'Create booking' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Title').fill('Fitting')
  const zone = form.getByLabel('Time zone')
  await expect.poll(() => zone.innerText()).toBe('Choose…')
  await form.getByRole('button', { name: 'Create', exact: true }).click()
  await form.getByText('must be an IANA time zone').waitFor()
  await zone.click()
  await page.keyboard.type('Berlin')
  await page.getByRole('option', { name: 'Europe/Berlin' }).click()
  await form.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('Booking created').waitFor()
  const [booking] = (await api.get('/v1/bookings')).json.data
  expect(booking.timezone).toBe('Europe/Berlin')
})

test('a failure is said once, and nothing is said to be missed while it is pending', async () => {
  const { api, failing } = await bench().seeded()
  const { page } = await bench().open(api, '/deliveries')
  const row = page.getByRole('row').filter({ hasText: 'HTTP 500' }).first()
  await row.waitFor()
  expect(await row.innerText()).not.toContain('Failed: HTTP')
  await page.goto(`${bench().service.url}/console/endpoints/${failing.id}`)
  await page.getByRole('button', { name: 'Resend missed events' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Resend missed events' })
  await dialog.getByText('No delivery has failed for good.').waitFor()
  expect(await dialog.innerText()).not.toContain('The log shows no missed events')
})

test('an ended session says that it was ended, and not that its key is mistyped', async () => {
  const api = await bench().service.newOrganization('Ended')
  const key = (await api.post('/v1/api-keys', { name: 'Shift', scopes: ['*'] })).json
  const mine = bench().service.withToken(key.token)
  const { page } = await bench().open(mine, '/customers', { expected: [401] })
  await page.getByText('No customers yet').waitFor()
  await api.delete(`/v1/api-keys/${key.id}`)
  await page.getByText('Your session has ended. The API key was revoked').waitFor()
  const link = (await api.post('/v1/console-links', { scopes: ['customers:read'] })).json
  await page.goto('about:blank')
  await page.goto(`${bench().service.url}/console/customers${new URL(link.url).hash}`)
  await page.getByText('No customers yet').waitFor()
  await api.delete(`/v1/console-links/${link.id}`)
  await page.getByText('Your session has ended. It was ended, or has expired. Ask for a new link.').waitFor()
  expect(await page.locator('body').innerText()).not.toContain('mistyped')
})

test.each([
  [1280, 800],
  [1024, 600],
  [390, 667],
])('every dialog and its buttons are within a window of %d × %d', async (width, height) => {
  const api = await bench().service.newOrganization('Fitting')
  const customer = await makeCustomer(api, { name: 'Ada Lovelace' })
  const booking = await makeBooking(api, { customerId: customer.id })
  const ticket = await makeTicket(api, { customerId: customer.id })
  const { page, audit } = await bench().open(api, '/api-keys', { width, height })
  for (const [path, open, verb] of [
    ['/api-keys', 'Create API key', 'Create'],
    ['/endpoints', 'Add endpoint', 'Add'],
    [`/customers/${customer.id}`, 'Edit', 'Save'],
    [`/tickets/${ticket.id}`, 'Edit', 'Save'],
    [`/bookings/${booking.id}`, 'Edit', 'Save'],
    [`/bookings/${booking.id}`, 'Reschedule', 'Reschedule'],
  ] as const) {
    await page.goto(`${bench().service.url}/console${path}`)
    await page.getByRole('button', { name: open, exact: true }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: verb, exact: true }).waitFor()
    await settled(page)
    for (const one of [dialog, dialog.getByRole('button', { name: verb, exact: true })]) {
      const box = await one.boundingBox()
      expect(box?.y, `${path} ${open}`).toBeGreaterThanOrEqual(0)
      expect((box?.y ?? 0) + (box?.height ?? 9999), `${path} ${open}`).toBeLessThanOrEqual(height)
    }
    await audit()
  }
})

test('under a finger rows and buttons are 44 pixels high, fields do not zoom, and cards leave nothing out', async () => {
  const api = await bench().service.newOrganization('Touched')
  const customer = await makeCustomer(api, { name: 'Ada Lovelace' })
  await makeTicket(api, { customerId: customer.id, subject: 'Lost', type: 'incident' })
  const { page } = await bench().open(api, '/tickets', { width: 390, height: 844, isTouched: true })
  const row = page.getByRole('row').filter({ hasText: 'Lost' })
  await row.waitFor()
  expect((await row.boundingBox())?.height).toBeGreaterThanOrEqual(44)
  for (const button of await page.locator('main').getByRole('button').all())
    if (await button.isVisible()) expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44)
  await row.getByText('Ada Lovelace').waitFor()
  await page.getByRole('button', { name: 'Create ticket' }).click()
  await page.getByRole('dialog').getByLabel('Subject').waitFor()
  const sizes = await page
    .getByRole('dialog')
    .locator('input:not([aria-hidden]), textarea')
    .evaluateAll((fields) =>
      fields.map((field) => {
        const styleOf = Reflect.get(globalThis, 'getComputedStyle') as (of: unknown) => { fontSize: string }
        return Number.parseFloat(styleOf(field).fontSize)
      }),
    )
  expect(sizes.length).toBeGreaterThan(2)
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(16)
  await choose(page.getByRole('dialog').getByLabel('Priority'), 'High')
})
