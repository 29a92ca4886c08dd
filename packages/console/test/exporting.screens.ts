/** What a list is filtered to, saved as CSV: every page of it. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { makeCustomer } from '../../testbed/desk.ts'
import { consoleBench } from './harness.ts'

const bench = consoleBench()

test('every row of a filtered list is saved, with formulas as text', async () => {
  const api = await bench().service.newOrganization('Export')
  const ada = await makeCustomer(api, { name: 'Ada Lovelace' })
  const items = Array.from({ length: 240 }, (_, n) => ({
    customerId: ada.id,
    subject: n === 7 ? '=HYPERLINK("http://example.com")' : `Ticket ${n}`,
    priority: n % 2 === 0 ? 'low' : 'high',
  }))
  for (let n = 0; n < items.length; n += 100)
    expect((await api.post('/v1/tickets/batch', { items: items.slice(n, n + 100) })).status).toBe(200)
  const { page } = await bench().open(api, '/tickets?priority=high')
  await page.getByText('50 of 120').waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  const saving = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'Export as CSV' }).click()
  const download = await saving
  expect(download.suggestedFilename()).toBe('tickets.csv')
  const [header = '', ...lines] = (await readFile(await download.path(), 'utf8')).split('\r\n').slice(0, -1)
  expect(header.split(',')).toEqual(
    expect.arrayContaining(['\uFEFFid', 'subject', 'priority', 'customAttributes']),
  )
  expect(lines).toHaveLength(120)
  expect(new Set(lines.map((line) => line.split(',')[0])).size).toBe(120)
  expect(lines.filter((line) => line.includes(`"'=HYPERLINK(""http://example.com"")"`))).toHaveLength(1)
  await page.getByText('120 rows exported').waitFor()
})

test('deliveries of an endpoint are saved as their log shows them', async () => {
  const { api, failing } = await bench().seeded()
  const { page } = await bench().open(api, `/deliveries?endpoint=${failing.id}`)
  await page.locator('tbody tr').first().waitFor()
  const { total } = (await api.get(`/v1/deliveries?webhookId=${failing.id}`)).json.pagination
  await page.getByRole('button', { name: 'More actions' }).click()
  const saving = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'Export as CSV' }).click()
  const text = await readFile(await (await saving).path(), 'utf8')
  expect(text.split('\r\n').filter((line) => line.includes(failing.id))).toHaveLength(total)
})

test('an export says how far it is, and can be cancelled', async () => {
  const api = await bench().service.newOrganization('Cancelled export')
  for (let n = 0; n < 6; n++) {
    const items = Array.from({ length: 100 }, (_, m) => ({ name: `Customer ${n}.${m}` }))
    expect((await api.post('/v1/customers/batch', { items })).status).toBe(200)
  }
  const { page, audit } = await bench().open(api, '/customers')
  await page.getByText('50 of 600').waitFor()
  let pages = 0
  await page.route('**/v1/customers?**limit=100**', async (route) => {
    if (++pages <= 5) await route.continue()
  })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Export as CSV' }).press('Enter')
  await page.getByText(/Exporting/).waitFor()
  await expect.poll(() => pages).toBe(6)
  await audit()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByText(/Exporting/).waitFor({ state: 'detached' })
  expect(await page.getByText('Could not export').count()).toBe(0)
})
