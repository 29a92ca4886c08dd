/** Selects: by the keyboard alone, with their labels, and searched where they are long. */
import { expect, test } from 'vitest'
import { makeTeammate } from '../../testbed/desk.ts'
import { choose } from './choose.ts'
import { makeDesk } from './desk.fixture.ts'
import { consoleBench } from './harness.ts'

const bench = consoleBench()

test('a filter is chosen by the keyboard alone', async () => {
  const api = await bench().service.newOrganization('Keys')
  await makeDesk(api)
  const { page, audit } = await bench().open(api, '/tickets')
  await page.getByRole('table').waitFor()
  const priority = page.getByRole('combobox', { name: 'Priority' })
  await priority.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('listbox').waitFor()
  await audit()
  await page.keyboard.press('h')
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).search).toBe('?priority=high')
  expect(await priority.textContent()).toBe('PriorityHigh')
  expect(await priority.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
  await priority.press('ArrowDown')
  await page.getByRole('listbox').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('listbox').waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('?priority=high')
})

test.each([1280, 390])('a long list of options is searched, at a width of %d', async (width) => {
  const api = await bench().service.newOrganization('Many')
  for (let n = 0; n < 12; n++) await makeTeammate(api, { name: `Teammate ${n}` })
  await makeDesk(api)
  const { page, audit } = await bench().open(api, '/tickets', { width })
  const assignee = page.getByRole('combobox', { name: 'Assignee' })
  await assignee.focus()
  await page.keyboard.press('Enter')
  await page.getByPlaceholder('Search', { exact: true }).fill('grac')
  await expect.poll(() => page.getByRole('option').allTextContents()).toEqual(['Grace Hopper'])
  await audit()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
  expect(await assignee.textContent()).toBe('AssigneeGrace Hopper')
})

test('a list that is open when many options arrive stays open, and is searched', async () => {
  const api = await bench().service.newOrganization('Late')
  for (let n = 0; n < 12; n++) await makeTeammate(api, { name: `Teammate ${n}` })
  await makeDesk(api)
  const { page } = await bench().open(api, '/tickets')
  const { promise: arrival, resolve: arrive } = Promise.withResolvers<void>()
  await page.route('**/v1/teammates?*', async (route) => {
    await arrival
    await route.continue()
  })
  await page.reload()
  await page.getByRole('combobox', { name: 'Assignee' }).click()
  await page.getByRole('option', { name: 'Any' }).waitFor()
  arrive()
  await page.getByPlaceholder('Search', { exact: true }).fill('mate 11')
  await expect.poll(() => page.getByRole('option').allTextContents()).toEqual(['Teammate 11'])
})

test('a time zone is searched in a form, which knows that it was changed', async () => {
  const api = await bench().service.newOrganization('Zones')
  const { ada } = await makeDesk(api)
  const { page, audit } = await bench().open(api, `/customers/${ada.id}`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit customer' })
  await dialog.getByText('Time zone', { exact: true }).waitFor()
  await dialog.getByLabel('Time zone').click()
  await page.getByPlaceholder('Search', { exact: true }).fill('new_y')
  await page.getByRole('option', { name: 'America/New_York' }).click()
  await audit()
  await page.keyboard.press('Escape')
  await dialog.getByText('Discard your changes?').waitFor()
  await dialog.getByRole('button', { name: 'Keep editing' }).click()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await api.get(`/v1/customers/${ada.id}`)).json.timezone).toBe('America/New_York')
})

test.each([1280, 390])(
  'a time is typed, or chosen in a calendar by the keyboard, at a width of %d',
  async (width) => {
    const api = await bench().service.newOrganization('Times')
    const { ticket } = await makeDesk(api)
    const due = async () => (await api.get(`/v1/tickets/${ticket.id}`)).json.dueAt
    const { page, audit } = await bench().open(api, `/tickets/${ticket.id}`, { width, expected: [422] })
    const dialog = page.getByRole('dialog', { name: 'Edit ticket' })
    const edit = () => page.getByRole('button', { name: 'Edit', exact: true }).click()
    await edit()
    await dialog.getByText('Europe/London').waitFor()
    await dialog.getByLabel('Due').fill('next week')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect.poll(() => dialog.getByLabel('Due').getAttribute('aria-invalid')).toBe('true')
    await dialog.getByLabel('Due').fill('2030-07-31 14:05')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await due()).toBe('2030-07-31T13:05:00.000Z')

    await edit()
    await dialog.getByRole('button', { name: 'Pick a date' }).press('Enter')
    const calendar = page.getByRole('dialog', { name: 'Day and time' })
    await calendar.getByRole('button', { name: /31 July 2030/ }).waitFor()
    await audit()
    await page.keyboard.press('PageDown')
    await page.keyboard.press('PageDown')
    await page.keyboard.press('ArrowRight')
    await calendar
      .getByRole('button', { name: /\b1 October 2030/ })
      .and(page.locator(':focus'))
      .waitFor()
    await page.keyboard.press('Enter')
    await calendar.waitFor({ state: 'detached' })
    expect(await dialog.getByLabel('Due').inputValue()).toBe('2030-10-01 14:05')
    await dialog.getByRole('button', { name: 'Pick a date' }).click()
    await choose(calendar.getByRole('combobox', { name: 'Time', exact: true }), '08:30')
    await page.keyboard.press('Escape')
    await calendar.waitFor({ state: 'detached' })
    expect(await dialog.getByLabel('Due').inputValue()).toBe('2030-10-01 08:30')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await due()).toBe('2030-10-01T07:30:00.000Z')
  },
)
