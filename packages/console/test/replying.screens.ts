/** Who replies, and what is made of a conversation without leaving it. */
import { expect, test } from 'vitest'
import { makeDesk } from './desk.fixture.ts'
import { consoleBench } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()

test('a reply is not sent before the user has said who they are, and then by one click', async () => {
  const api = await bench().service.newOrganization('Signed')
  const { parcel, joan } = await makeDesk(api)
  const { page, audit } = await bench().open(api, `/inbox?id=${parcel.id}`)
  const sent = async () => (await api.get(`/v1/messages?conversationId=${parcel.id}`)).json.data
  const before = (await sent()).length
  await page.getByLabel('Your reply').fill('It comes tomorrow.')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  const who = page.getByRole('group', { name: 'Who are you?' })
  const choices = who.getByRole('button')
  await expect.poll(() => choices.allInnerTexts()).toEqual(['Grace Hopper', 'Joan Clarke', 'Nobody'])
  expect(await choices.first().evaluate((button) => button.matches(':focus'))).toBe(true)
  expect(await sent()).toHaveLength(before)
  await settled(page)
  await audit()
  await page.keyboard.press('Escape')
  await expect.poll(() => who.count()).toBe(0)
  await page.keyboard.press('Control+Enter')
  await choices.nth(1).click()
  await expect
    .poll(async () => (await sent())[0])
    .toMatchObject({
      body: 'It comes tomorrow.',
      author: { type: 'teammate', id: joan.id },
    })
  // Said once, it holds.
  await expect.poll(() => page.getByLabel('Your reply').inputValue()).toBe('')
  await page.getByLabel('Your reply').fill('By noon.')
  await page.keyboard.press('Control+Enter')
  await expect.poll(async () => (await sent())[0].author.id).toBe(joan.id)
  expect(await who.count()).toBe(0)
})

test('a user who said to be nobody is not asked again', async () => {
  const api = await bench().service.newOrganization('Unsigned')
  const { parcel } = await makeDesk(api)
  const { page } = await bench().open(api, `/conversations/${parcel.id}`)
  const sent = async () => (await api.get(`/v1/messages?conversationId=${parcel.id}`)).json.data
  await page.getByLabel('Your reply').fill('It comes tomorrow.')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('group', { name: 'Who are you?' }).getByRole('button', { name: 'Nobody' }).click()
  await expect.poll(async () => (await sent())[0].body).toBe('It comes tomorrow.')
  await page.reload()
  await page.getByLabel('Your reply').fill('By noon.')
  await page.keyboard.press('Control+Enter')
  await expect.poll(async () => (await sent())[0].body).toBe('By noon.')
})

test('a ticket that is created from the inbox is linked, and the conversation stays', async () => {
  const api = await bench().service.newOrganization('Staying')
  const { parcel } = await makeDesk(api)
  const { page } = await bench().open(api, `/inbox?id=${parcel.id}`)
  await page.getByRole('button', { name: 'Create ticket' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Subject').fill('A second parcel')
  await form.getByRole('button', { name: 'Create', exact: true }).click()
  const toast = page.getByRole('status').filter({ hasText: 'Ticket created' })
  await toast.getByRole('link', { name: /View ticket #\d+/ }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/console/inbox')
  await page.getByRole('link', { name: /#\d+ A second parcel/ }).waitFor()
  await toast.getByRole('link', { name: /View ticket/ }).click()
  await page.getByRole('heading', { level: 1, name: /A second parcel/ }).waitFor()
})
