/** The palette, by keyboard alone: screens, actions, objects by words and by id, what was visited of late. */
import { expect, test } from 'vitest'
import { makeTicket } from '../../testbed/desk.ts'
import { consoleBench } from './harness.ts'

const bench = consoleBench()

test.each(['light', 'dark'] as const)('anything is a few keys away, in %s', async (scheme) => {
  const { api, failing } = await bench().seeded()
  const { page, audit } = await bench().open(api, '/', { scheme })
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  const palette = page.getByRole('dialog', { name: 'Search or jump to' })
  const options = palette.getByRole('option')
  async function find(words: string): Promise<void> {
    await page.keyboard.press('Control+k')
    await palette.waitFor()
    await page.keyboard.insertText(words)
  }

  await find('sig')
  await expect.poll(() => options.first().innerText()).toContain('Signature tester')
  await audit()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Signature tester' }).waitFor()

  await find('Billing')
  await options.filter({ hasText: 'Billing' }).waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/console/endpoints/${failing.id}`)

  await find(`endpoint: ${failing.id}`)
  await expect.poll(() => options.count()).toBe(1)
  await page.keyboard.press('Escape')

  await find('create api')
  await options.filter({ hasText: 'Create API key' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByLabel('Name').waitFor()
  await page.keyboard.press('Escape')

  // Of late, the latest first.
  await find('')
  await expect
    .poll(async () => (await options.allInnerTexts()).slice(0, 3).map((text) => text.split('\n')[0]))
    .toEqual(['Create API key', 'Billing', 'Signature tester'])

  await page.keyboard.insertText('zzzz')
  await palette.getByText('No results for “zzzz”.').waitFor()
  await audit()
})

test('a ticket is found by its number, and what is typed while the palette loads is not lost', async () => {
  const api = await bench().service.newOrganization('Analytical Engines')
  await makeTicket(api, { subject: 'The printer is on fire' })
  const second = await makeTicket(api, { subject: 'The door does not close' })
  const { page } = await bench().open(api, '/')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  // Its script takes its time.
  let pass = () => {}
  const passed = new Promise<void>((resolve) => {
    pass = resolve
  })
  await page.route('**/assets/palette-*.js', async (route) => {
    await passed
    await route.continue()
  })
  await page.keyboard.press('Control+k')
  await page.locator('input[aria-label="Search or jump to"]').waitFor()
  await page.keyboard.type(`#${second.number}`)
  pass()
  const option = page.getByRole('dialog').getByRole('option')
  await expect
    .poll(() => option.allInnerTexts())
    .toEqual([expect.stringContaining('The door does not close')])
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: /The door does not close/ }).waitFor()
})

test('nothing is offered that the key may not see', async () => {
  const { api } = await bench().seeded()
  const reader = await bench().service.newKey(api.organizationId, ['tickets:read'])
  const { page } = await bench().open(reader, '/signature-tester')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.insertText('e')
  await page.getByRole('dialog').getByRole('option', { name: 'Sync explorer' }).first().waitFor()
  const titles = await page.getByRole('dialog').getByRole('option').allInnerTexts()
  expect(titles.join()).toContain('Sync explorer')
  expect(titles.join()).not.toMatch(/Endpoints|Deliveries|API key/)
})
