/** Single keys: they do what the screen says, never what is typed, and can be turned off. */
import { expect, test } from 'vitest'
import { makeConversation, makeMessage, makeTicket } from '../../testbed/desk.ts'
import { consoleBench } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()

test('the inbox is worked by single keys', async () => {
  const api = await bench().service.newOrganization('Keys')
  for (const subject of ['First', 'Second']) {
    const { id } = await makeConversation(api, { subject })
    await makeMessage(api, { conversationId: id, body: `The ${subject.toLowerCase()} question` })
  }
  const { page, audit } = await bench().open(api, '/inbox')
  const { keyboard } = page
  await page.getByRole('link', { name: 'Second' }).waitFor()
  await settled(page)
  await keyboard.press('?')
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await sheet.getByText('Next row').waitFor()
  await audit()
  // Behind a dialog nothing is done.
  await keyboard.press('j')
  await keyboard.press('Escape')
  await sheet.waitFor({ state: 'hidden' })
  const isOn = (subject: string) =>
    page.getByRole('link', { name: subject }).evaluate((link) => link.matches(':focus'))
  await keyboard.press('j')
  await expect.poll(() => isOn('First')).toBe(true)
  await keyboard.press('j')
  await expect.poll(() => isOn('Second')).toBe(true)
  await keyboard.press('k')
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: 'First' }).waitFor()
  await page.getByText('The first question').last().waitFor()
  await keyboard.press('n')
  const note = page.getByLabel('Your note')
  await expect.poll(() => note.evaluate((field) => field.matches(':focus'))).toBe(true)
  // It is a letter now.
  await keyboard.type('renace?')
  expect(await note.inputValue()).toBe('renace?')
  await note.evaluate((field) => Reflect.get(field, 'blur').call(field))
  await keyboard.press('r')
  const reply = page.getByLabel('Your reply')
  await expect.poll(() => reply.evaluate((field) => field.matches(':focus'))).toBe(true)
  expect(await reply.inputValue()).toBe('')
  await reply.evaluate((field) => Reflect.get(field, 'blur').call(field))
  await keyboard.press('e')
  await page.getByText('Conversation resolved').waitFor()
  await page.getByRole('heading', { name: 'Second' }).waitFor()

  await keyboard.press('?')
  await sheet.getByLabel('Use single-key shortcuts').uncheck()
  await sheet.getByRole('button', { name: 'Close' }).click()
  await sheet.waitFor({ state: 'hidden' })
  await page.reload()
  await page.getByRole('heading', { name: 'Second' }).waitFor()
  await settled(page)
  await keyboard.press('e')
  await keyboard.press('?')
  expect(await sheet.count()).toBe(0)
  expect((await api.get('/v1/conversations?status=open')).json.data).toHaveLength(1)
})

test('lists are searched and added to by a key, rows are selected with Shift, and a jump leads to the content', async () => {
  const api = await bench().service.newOrganization('Lists')
  for (let n = 1; n <= 6; n++) await makeTicket(api, { subject: `Matter ${n}` })
  const { page } = await bench().open(api, '/tickets')
  const { keyboard } = page
  await page.getByRole('link', { name: 'Matter 6' }).waitFor()
  await settled(page)
  await keyboard.press('/')
  const search = page.getByLabel('Search tickets')
  await expect.poll(() => search.evaluate((field) => field.matches(':focus'))).toBe(true)
  expect(await search.inputValue()).toBe('')
  await search.evaluate((field) => Reflect.get(field, 'blur').call(field))
  const pick = (n: number) =>
    page
      .getByRole('row')
      .filter({ hasText: `Matter ${n}` })
      .getByRole('checkbox')
  await pick(5).check()
  await pick(2).click({ modifiers: ['Shift'] })
  await page.getByText('4 selected').waitFor()
  await keyboard.press('c')
  await page.getByRole('dialog', { name: 'Create ticket' }).waitFor()
  await keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await keyboard.press('Control+k')
  await page.locator('input[aria-label="Search or jump to"]').waitFor()
  await keyboard.insertText('Customers')
  await page.getByRole('option', { name: 'Customers Screen' }).click()
  await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor()
  await expect
    .poll(() => page.evaluate('document.querySelector("#content").contains(document.activeElement)'))
    .toBe(true)
})
