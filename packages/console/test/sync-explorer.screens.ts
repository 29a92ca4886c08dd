/** The stream as it comes, and a copy in the tab: exact, broken on purpose, found, repaired, and exact again. */
import { expect, test } from 'vitest'
import { makeConversation, makeCustomer, makeTicket } from '../../testbed/desk.ts'
import { choose } from './choose.ts'
import { consoleBench, payloads } from './harness.ts'

const bench = consoleBench()

test.each(['light', 'dark'] as const)('a copy proves itself, in %s', async (scheme) => {
  const { api } = await bench().seeded()
  const { page, audit } = await bench().open(api, '/sync-explorer', { scheme })
  await page.getByText('No copy yet').waitFor()
  await audit()
  await page.getByRole('button', { name: 'Create copy' }).click()
  await page.getByText(/^Exact at/).waitFor()
  const stream = page.getByRole('list', { name: 'Changes, newest first' })
  expect(await stream.getByRole('listitem').count()).toBe(3)
  await audit()

  const mary = await makeCustomer(api, { name: 'Mary Anning' })
  await stream.getByText('Mary Anning').waitFor()
  await api.delete(`/v1/customers/${mary.id}`)
  await stream.getByText('customer removed').waitFor()
  await page.getByText(/^Exact at/).waitFor()

  for (const [how, found] of [
    ['Delete a row', 'is missing'],
    ['Change a row', 'is changed'],
  ] as const) {
    await page.getByRole('button', { name: how }).click()
    await page.getByText('Differs', { exact: true }).first().waitFor()
    await audit()
    await page.getByRole('button', { name: 'Find differences' }).click()
    await page.getByText(found).waitFor()
    await page.getByRole('button', { name: 'Repair' }).click()
    await page.getByText(/^Exact at/).waitFor()
  }
})

test('a row is created when the copy did not have it, whatever its times say', async () => {
  const { api } = await bench().seeded()
  const { page } = await bench().open(api, '/sync-explorer')
  const [ada] = (await api.get('/v1/customers')).json.data
  await api.patch(`/v1/customers/${ada.id}`, { company: 'Changed before' })
  await page.getByRole('button', { name: 'Create copy' }).click()
  await page.getByText(/^Exact at/).waitFor()
  const rows = page.getByRole('list', { name: 'Changes, newest first' }).getByRole('listitem')
  const says = () =>
    rows.evaluateAll((all) => all.map((one) => one.getAttribute('data-what') ?? '').filter(Boolean))
  expect(await says()).toEqual(['created', 'created', 'created'])
  const items = [{ name: 'Mary Anning', createdAt: '2020-01-02T03:04:05.678Z' }]
  const imported = await api.post('/v1/customers/batch', { operation: 'import', items })
  expect(imported.json.created).toBe(1)
  await rows.getByText('Mary Anning').waitFor()
  expect(await says()).toEqual(['created', 'created', 'created', 'created'])
  await api.patch(`/v1/customers/${ada.id}`, { company: 'Changed after' })
  await expect.poll(says).toEqual(['changed', 'created', 'created', 'created', 'created'])
})

test('what is said of a broken copy has one full stop, and counts have separators', async () => {
  const { api } = await bench().seeded()
  const conversation = await makeConversation(api)
  const items = Array.from({ length: 1000 }, () => ({
    conversationId: conversation.id,
    direction: 'inbound',
    author: { type: 'customer' },
    body: 'Where is it?.',
  }))
  expect((await api.post('/v1/messages/batch', { operation: 'create', items })).status).toBe(200)
  const { page } = await bench().open(api, '/sync-explorer')
  await page.getByRole('button', { name: 'Create copy' }).click()
  await page.getByText(/^Exact at/).waitFor()
  await page
    .getByRole('row', { name: /^message / })
    .getByText('1,000', { exact: true })
    .waitFor()
  await page.getByRole('button', { name: 'Change a row' }).click()
  await page.getByText('message Where is it?. Only the content digest').waitFor()
})

test('what comes while somebody reads waits; rows are opened by keyboard; filters stand in the address', async () => {
  const { api } = await bench().seeded()
  const { page, audit } = await bench().open(api, '/sync-explorer')
  await page.getByRole('button', { name: 'Create copy' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText(/^Exact at/).waitFor()
  const rows = page.getByRole('list', { name: 'Changes, newest first' }).getByRole('button')
  await rows.first().focus()
  await page.keyboard.press('ArrowDown')
  await makeTicket(api, { subject: 'The printer is on fire' })
  await page.getByRole('button', { name: '2 new' }).waitFor()
  expect(await page.getByText('The printer is on fire').count()).toBe(0)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByText('"customer"').waitFor()
  await audit()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: '2 new' }).click()
  await page.getByText('The printer is on fire').waitFor()
  await choose(page.getByLabel('Kind'), 'ticket')
  await expect.poll(() => rows.count()).toBe(1)
  expect(new URL(page.url()).search).toBe('?kind=ticket')
  await choose(page.getByRole('combobox', { name: 'Change' }), 'Removed')
  await page.getByText('No results').waitFor()
})

test('a service that is away is waited for, behind the same cursor; a key without kinds is told so', async () => {
  const { api } = await bench().seeded()
  const { page } = await bench().open(api, '/sync-explorer')
  await page.getByRole('button', { name: 'Follow changes' }).click()
  await page.getByText('No changes yet').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  for (const name of payloads) await makeCustomer(api, { name })
  await page.getByRole('button', { name: 'Resume' }).click()
  for (const name of payloads) await page.getByText(name, { exact: true }).waitFor()
  const other = await bench().service.newKey(api.organizationId, ['webhooks:read'])
  const second = await bench().open(other, '/sync-explorer')
  await second.page.getByText('No access').waitFor()
  await second.audit()
})

test('a hundred changes a second: some rows are in the page, and the copy is exact', async () => {
  const { api } = await bench().seeded()
  const { page } = await bench().open(api, '/sync-explorer')
  await page.getByRole('button', { name: 'Create copy' }).click()
  await page.getByText(/^Exact at/).waitFor()
  const items = Array.from({ length: 1000 }, (_, n) => ({ name: `Customer ${n}` }))
  expect((await api.post('/v1/customers/batch', { operation: 'create', items })).status).toBe(200)
  await expect.poll(() => page.getByText('1,003').count(), { timeout: 20_000 }).toBeGreaterThan(0)
  await page.getByText(/^Exact at/).waitFor()
  const rows = page.getByRole('list', { name: 'Changes, newest first' }).getByRole('listitem')
  expect(await rows.count()).toBeLessThan(40)
})
