/** The console is there, lets in who has a key, and shows what happens: the little that every run looks at. */
import { expect, test } from 'vitest'
import { makeConversation, makeCustomer, makeMessage } from '../../testbed/desk.ts'
import { consoleBench } from './harness.ts'
import { expectWhole } from './whole.fixture.ts'

const bench = consoleBench()

test('one signs in, and finds why a delivery failed', async () => {
  const { api } = await bench().seeded()
  const { page, audit } = await bench().open(null, '/deliveries?status=pending', { expected: [401] })
  await page.getByLabel('API key').fill('dwk_mistyped')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page
    .getByText('not a valid API key')
    .or(page.getByText(/API key/).nth(1))
    .first()
    .waitFor()
  await audit()
  await page.getByLabel('API key').fill(api.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
  await page.getByRole('link', { name: 'customer.created' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'customer.created' }).waitFor()
  await page.getByText('Failed: HTTP 500').waitFor()
  expect(await page.getByText('the database of the receiver is away').count()).toBe(1)
  await audit()
})

test('one answers a conversation and resolves it', async () => {
  const api = await bench().service.newOrganization('Analytical Engines')
  const { id } = await makeConversation(api, { subject: 'Where is my parcel?' })
  await makeMessage(api, { conversationId: id, body: '<b>It</b> did not come.' })
  const { page, audit } = await bench().open(api, '/conversations')
  await page.getByRole('link', { name: 'Where is my parcel?' }).click()
  await page.getByText('<b>It</b> did not come.').waitFor()
  await page.getByLabel('Your reply').fill('It comes tomorrow.')
  await audit()
  await page.getByRole('button', { name: 'Send and resolve' }).click()
  await page.getByText('Conversation resolved').waitFor()
  expect((await api.get(`/v1/conversations/${id}`)).json.status).toBe('resolved')
})

test('text that turns its direction turns nothing next to it', async () => {
  const api = await bench().service.newOrganization('Turning')
  const turning = (text: string) => `${text}\u202e-gnp`
  const customAttributes = { [turning('plan')]: turning('gold') }
  const customer = await makeCustomer(api, { name: turning('Ada'), tags: [turning('vip')], customAttributes })
  const { id } = await makeConversation(api, { customerId: customer.id, subject: turning('Where') })
  const attachment = { fileName: 'invoice\u202efdp.exe', contentType: 'text/plain', sizeBytes: 2048 }
  const attachments = [{ ...attachment, url: 'https://example.com/a' }]
  await makeMessage(api, { conversationId: id, body: `${turning('See')} \`code\``, attachments })
  for (const path of [`/conversations/${id}`, `/customers/${customer.id}`, `/inbox?id=${id}`]) {
    const { page } = await bench().open(api, path)
    await page.getByText('Ada').first().waitFor()
    if (!path.startsWith('/customers')) await page.getByText('invoice\\u202efdp.exe').waitFor()
    expect(await page.evaluate<string[]>(turned), path).toEqual([])
  }
})

/** The texts of a page without directions of their own whose characters do not follow each other from left to right. */
const turned = `(() => {
  const found = []
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    if (node.data.includes('\\u202e')) continue
    const range = document.createRange()
    let last = { top: NaN, left: 0 }
    for (let n = 0; n < node.length; n++) {
      range.setStart(node, n)
      range.setEnd(node, n + 1)
      const [at] = range.getClientRects()
      if (at === undefined) continue
      if (at.top === last.top && at.left < last.left - 1) { found.push(node.data); break }
      last = at
    }
  }
  return found
})()`

test('every screen is whole in light; in dark `npm run check -- console` sees them', async () => {
  await expectWhole(bench(), 'light')
})
