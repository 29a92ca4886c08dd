/** The console is there, lets in who has a key, and shows what happens: the little that every run looks at. */
import { expect, test } from 'vitest'
import { makeConversation, makeMessage } from '../../testbed/desk.ts'
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

test('every screen is whole in light; in dark `npm run check -- console` sees them', async () => {
  await expectWhole(bench(), 'light')
})
