/** Nothing that was typed is lost: by a slip, by a reload, or by a session that ends. */
import { expect, test } from 'vitest'
import { makeDesk } from './desk.fixture.ts'
import { consoleBench } from './harness.ts'

const bench = consoleBench()

test('a form that holds something asks before Escape or a press outside closes it', async () => {
  const api = await bench().service.newOrganization('Typed')
  const { page, audit } = await bench().open(api, '/customers')
  await page.getByRole('button', { name: 'Add customer' }).first().click()
  const dialog = page.getByRole('dialog')
  const name = dialog.getByLabel('Name', { exact: true })
  await expect.poll(() => name.evaluate((field) => field.matches(':focus'))).toBe(true)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Add customer' }).first().click()
  await name.fill('Hedy Lamarr')
  for (const leave of [() => page.keyboard.press('Escape'), () => page.mouse.click(2, 2)]) {
    await leave()
    await dialog.getByText('Discard your changes?').waitFor()
    await audit()
    await dialog.getByRole('button', { name: 'Keep editing' }).click()
    expect(await name.inputValue()).toBe('Hedy Lamarr')
  }
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Discard' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Add customer' }).first().click()
  expect(await name.inputValue()).toBe('')
})

test('a reply and a form are there again after the session has ended and begun anew', async () => {
  const api = await bench().service.newOrganization('Drafts')
  const { parcel } = await makeDesk(api)
  const key = await api.post('/v1/api-keys', { name: 'Shift', scopes: ['*'] })
  const mine = bench().service.withToken(key.json.token)
  const { page } = await bench().open(mine, `/conversations/${parcel.id}`, { expected: [401] })
  await page.getByLabel('Your reply').fill('The carrier has found it.')
  await page.getByRole('link', { name: 'Customers' }).click()
  await page.getByRole('button', { name: 'Add customer' }).first().click()
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Hedy Lamarr')
  await api.delete(`/v1/api-keys/${key.json.id}`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  // Another organization, by a link in the same tab, is shown nothing of it.
  const other = await bench().service.newOrganization('Other')
  const scopes = ['customers:read', 'customers:write']
  const link = (await other.post('/v1/console-links', { scopes })).json
  await page.goto(`${bench().service.url}/console/customers${new URL(link.url).hash}`)
  await page.getByRole('button', { name: 'Add customer' }).first().click()
  expect(await page.getByRole('dialog').getByLabel('Name', { exact: true }).inputValue()).toBe('')
  await other.delete(`/v1/console-links/${link.id}`)
  await page.reload()
  await page.getByLabel('API key').fill(api.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Add customer' }).first().click()
  expect(await page.getByRole('dialog').getByLabel('Name', { exact: true }).inputValue()).toBe('Hedy Lamarr')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.goto(`${bench().service.url}/console/conversations/${parcel.id}`)
  await expect.poll(() => page.getByLabel('Your reply').inputValue()).toBe('The carrier has found it.')
  await page.getByRole('button', { name: /Drafts/ }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.evaluate('Object.keys(sessionStorage).filter((name) => name.includes("draft"))')).toEqual(
    [],
  )
})

test('an endpoint that was not added yet is there again, without its secret headers', async () => {
  const api = await bench().service.newOrganization('Endpoints')
  const { page } = await bench().open(api, '/endpoints')
  const dialog = page.getByRole('dialog')
  const open = () => page.getByRole('button', { name: 'Add endpoint' }).first().click()
  await open()
  await dialog.getByLabel('URL').fill('https://example.com/hooks')
  await dialog.getByLabel('customer', { exact: true }).check()
  await dialog.getByText('Options', { exact: true }).click()
  await dialog.getByLabel('Custom headers').fill('Authorization: Bearer hidden')
  await page.reload()
  await open()
  await dialog.getByText('Draft restored.').waitFor()
  expect(await dialog.getByLabel('URL').inputValue()).toBe('https://example.com/hooks')
  expect(await dialog.getByLabel('customer', { exact: true }).isChecked()).toBe(true)
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('hidden')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await open()
  expect(await dialog.getByLabel('URL').inputValue()).toBe('')
})

test('a key whose scopes were chosen by a preset asks before Escape closes it, and is there again', async () => {
  const api = await bench().service.newOrganization('Keys')
  const { page } = await bench().open(api, '/api-keys?new=yes')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Read only' }).click()
  await page.keyboard.press('Escape')
  await dialog.getByText('Discard your changes?').waitFor()
  await dialog.getByRole('button', { name: 'Keep editing' }).click()
  await page.reload()
  await dialog.getByText('Draft restored.').waitFor()
  expect(await dialog.getByLabel('Read tickets').isChecked()).toBe(true)
})
