/** Endpoints: registered, changed, tried, rotated, disabled, and brought up to date. */

import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { systemClock } from '../../service/src/kernel/timestamps.ts'
import { deliveryJobsOn } from '../../testbed/delivery-jobs.ts'
import { makeCustomer } from '../../testbed/desk.ts'
import { hour } from '../../testbed/hooks.ts'
import { answer } from '../../testbed/receiver.ts'
import { choose } from './choose.ts'
import { consoleBench, payloads } from './harness.ts'

/** How long ago the service believes that it is, in milliseconds. */
let behind = 0
const bench = consoleBench({ clock: { now: () => systemClock.now() - behind } })

test('one is registered: what is wrong with the address stands at it, and the secret is shown once', async () => {
  const api = await bench().service.newOrganization('New')
  const { url } = await bench().receiver()
  const { page, audit } = await bench().open(api, '/endpoints', { expected: [422] })
  await page.getByText('No endpoints yet').waitFor()
  await audit()
  await page.getByRole('button', { name: 'Add endpoint' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await audit()
  await dialog.getByLabel('URL').fill('http://example.com/hooks')
  // What was missing is no fault any more once it is there.
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('Choose at least one event.').waitFor()
  await dialog.getByLabel('customer', { exact: true }).check()
  await dialog.getByText('Choose at least one event.').waitFor({ state: 'hidden' })
  expect(await dialog.getByLabel('updated').first().isChecked()).toBe(true)
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText(/https/).nth(1).waitFor()
  await expect.poll(() => dialog.getByLabel('URL').getAttribute('aria-invalid')).toBe('true')
  await audit()
  await dialog.getByLabel('URL').fill(url)
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  const secret = page.getByRole('alertdialog')
  await secret.getByText(/^whsec_/).waitFor()
  await audit()
  await page.keyboard.press('Escape')
  expect(await secret.isVisible()).toBe(true)
  await secret.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByRole('heading', { level: 1, name: /localhost/ }).waitFor()
  expect(await page.getByText(/^whsec_/).count()).toBe(0)
  const [made] = (await api.get('/v1/webhooks')).json.data
  expect(made).toMatchObject({ url, events: ['customer.*'] })
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await dialog.getByLabel('deleted').nth(1).uncheck()
  await dialog.getByLabel('All events, including future ones').waitFor()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Endpoint saved').waitFor()
  expect((await api.get(`/v1/webhooks/${made.id}`)).json.events).toEqual([
    'customer.created',
    'customer.updated',
  ])
})

test('options are chosen in the form, and shown; headers by their names alone', async () => {
  const { api, well } = await bench().seeded()
  const { page, audit } = await bench().open(api, `/endpoints/${well.id}`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Options', { exact: true }).click()
  await dialog.getByLabel('Headers').fill('X-Token: hidden')
  await dialog.getByLabel('Rate limit').fill('5')
  await choose(dialog.getByLabel('Payload'), 'ID and kind only')
  await dialog.getByLabel('Disable on 410').check()
  await audit()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('ID and kind only').waitFor()
  await page.getByText('x-token').waitFor()
  expect((await api.get(`/v1/webhooks/${well.id}`)).json).toMatchObject({
    headerNames: ['x-token'],
    rateLimit: 5,
    payload: 'thin',
    disableOn410: true,
  })
})

test('conditions are edited by the keyboard: fields of all its events, a refusal at its row, and none at the end', async () => {
  const { api, well } = await bench().seeded()
  const { page, audit } = await bench().open(api, `/endpoints/${well.id}`, { width: 390, expected: [422] })
  const conditions = async () => (await api.get(`/v1/webhooks/${well.id}`)).json.conditions
  const dialog = page.getByRole('dialog')
  const row = (n: number) => dialog.getByRole('group', { name: `Condition ${n}`, exact: true })
  const edit = async () => {
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await dialog.getByText('Options', { exact: true }).click()
  }

  // Its events are of customers and tickets.
  await edit()
  const add = dialog.getByRole('button', { name: 'Add condition' })
  await add.press('Enter')
  const isFocused = (control: Locator) => control.and(page.locator(':focus')).isVisible()
  const optionsOf = async (select: Locator) => {
    await select.press('ArrowDown')
    await page.getByRole('listbox').waitFor()
    const names = await page.getByRole('option').allTextContents()
    await page.keyboard.press('Escape')
    await page.getByRole('listbox').waitFor({ state: 'detached' })
    return names
  }
  const fields = ['Choose a field', 'externalId', 'tags', 'customAttributes']
  expect(await optionsOf(row(1).getByLabel('Field'))).toEqual(fields)
  const customers = dialog.getByLabel('customer', { exact: true })
  await customers.check()
  await customers.uncheck()

  // A new row has the focus. What is missing is named before anything is sent.
  await add.press('Enter')
  await expect.poll(() => isFocused(row(2).getByLabel('Field'))).toBe(true)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await row(2).getByText('Choose a field.').waitFor()
  await row(2).getByText('Enter a value.').waitFor()
  await audit()
  await choose(row(2).getByLabel('Field'), 'tags')
  expect(await optionsOf(row(2).getByLabel('Operator'))).toEqual(['changed', 'is set', 'is empty'])
  await choose(row(1).getByLabel('Field'), 'priority')
  await choose(row(1).getByLabel('Operator'), 'is one of')
  await row(1).getByLabel('Values').fill('high\nhighest')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await row(1)
    .getByText(/must be one of low, normal, high, urgent/)
    .waitFor()
  await expect.poll(() => row(1).getByLabel('Values').getAttribute('aria-invalid')).toBe('true')
  expect(
    await row(2)
      .getByText(/must be/)
      .count(),
  ).toBe(0)
  await audit()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await row(1).getByLabel('Values').fill('high\nurgent')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('priority is one of high, urgent and tags changed').waitFor()
  expect(await conditions()).toEqual([
    { field: 'priority', op: 'in', value: ['high', 'urgent'] },
    { field: 'tags', op: 'changed' },
  ])

  // A number, a choice, and ten at most.
  await edit()
  await choose(row(1).getByLabel('Field'), 'number')
  await choose(row(1).getByLabel('Operator'), 'is')
  await row(1).getByLabel('Value').fill('7')
  await choose(row(2).getByLabel('Field'), 'status')
  await choose(row(2).getByLabel('Operator'), 'is')
  await choose(row(2).getByLabel('Value'), 'open')
  for (let n = 3; n <= 10; n++) await add.press('Enter')
  expect(await add.isDisabled()).toBe(true)
  for (let n = 10; n > 2; n--) {
    await dialog.getByRole('button', { name: `Remove condition ${n}`, exact: true }).press('Enter')
    expect(await isFocused(add)).toBe(true)
  }
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('number is 7 and status is open').waitFor()
  expect(await conditions()).toEqual([
    { field: 'number', op: 'equals', value: 7 },
    { field: 'status', op: 'equals', value: 'open' },
  ])

  await edit()
  for (const _ of [1, 2]) await dialog.getByRole('button', { name: 'Remove condition 1' }).press('Enter')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('number is 7').waitFor({ state: 'hidden' })
  expect(await conditions()).toBeUndefined()
})

test('one that fails says why, and what it has missed is sent again in two clicks', async () => {
  const { api, failing, failingReceiver } = await bench().seeded()
  const { page, audit } = await bench().open(api, `/endpoints/${failing.id}`)
  await page.getByRole('heading', { level: 2, name: 'Failed: HTTP 500' }).waitFor()
  await page.getByText(/Failing since/).waitFor()
  const [failed, pending] = ['Failed deliveries', 'Pending deliveries'].map((name) =>
    page.getByRole('term').filter({ hasText: name }),
  ) as [Locator, Locator]
  expect((await failed.boundingBox())?.y).toBe((await pending.boundingBox())?.y)
  await page
    .getByText(/^Failed attempts/)
    .first()
    .waitFor()
  await audit()
  failingReceiver.will(answer(200))
  await page.getByText('the database of the receiver is away').waitFor()
  await page.getByText(/will be disabled in 2 d/).waitFor()
  await page.getByRole('button', { name: 'Resend missed events' }).click()
  await page.getByRole('dialog').getByText('3 pending, 0 failed.').waitFor()
  await audit()
  await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click()
  await page.getByText(/3 pending retried/).waitFor()
  const history = page.getByRole('region', { name: 'Resend history' })
  await history.waitFor()
  expect(await history.getByText('Nothing is missing').count()).toBe(0)
  await deliveryJobsOn(bench().service, systemClock).runDue()
  await bench().engine.runDue()
  await page.getByText('Completed').waitFor()
  await history.getByText('3 pending deliveries retried', { exact: true }).waitFor()
  await history.getByText('Nothing is missing').waitFor()
  await audit()
  // It waited for no timer.
  expect((await api.get(`/v1/webhooks/${failing.id}`)).json.failingSince).toBeNull()
  expect((await api.get(`/v1/webhooks/${failing.id}/deliveries?status=succeeded`)).json.data).toHaveLength(3)
  expect((await api.get(`/v1/webhooks/${failing.id}/recoveries`)).json.data).toMatchObject([
    { status: 'done' },
  ])
})

test('one that fails says why, though many deliveries have come since', async () => {
  const { api, failing } = await bench().seeded()
  for (let n = 0; n < 25; n++) await makeCustomer(api, { name: `Customer ${n}` })
  const { page } = await bench().open(api, `/endpoints/${failing.id}`)
  await page.getByRole('heading', { level: 2, name: 'Failed: HTTP 500' }).waitFor()
  await page.getByText('the database of the receiver is away').waitFor()
})

test('everything that failed before it was disabled and enabled is sent again, and what it missed meanwhile', async () => {
  behind = 60 * hour
  const { api, failing, failingReceiver } = await bench().seeded()
  for (let n = 0; n < 9; n++) await makeCustomer(api, { name: `Customer ${n}` })
  await bench().engine.runDue()
  behind = 0
  const { page, audit } = await bench().open(api, `/endpoints/${failing.id}`)
  await page.getByText(/Failing since/).waitFor()
  await page.getByRole('button', { name: /^More/ }).click()
  await page.getByRole('menuitem', { name: 'Pause' }).click()
  await page.getByText('Deliveries are kept as pending').waitFor()
  await audit()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('Endpoint resumed').waitFor()
  await page.getByText('Deliveries are kept as pending').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: /^More/ }).click()
  await page.getByRole('menuitem', { name: 'Disable' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByText('Disabled manually').waitFor()
  await page.getByText(/The first missed event is from/).waitFor()
  await bench().engine.runDue()
  await makeCustomer(api, { name: 'Meanwhile' })
  failingReceiver.will(answer(200))
  await page.getByRole('button', { name: 'Enable' }).click()
  await page.getByText(/^Endpoint enabled/).waitFor()
  await page.getByText('Disabled manually').waitFor({ state: 'hidden' })
  // It is active and nothing fails, and yet not healthy.
  const outage = page.getByRole('region', { name: 'Missed events' })
  await outage.getByText('2 days ago').waitFor()
  await outage.getByText('12', { exact: true }).waitFor()
  // Enabling clears the failure and proves nothing: the receiver may still be down.
  await outage.getByText('No delivery has succeeded since the outage began').waitFor()
  await page.getByText('Missed events', { exact: true }).first().waitFor()
  await audit()
  await outage.getByRole('button', { name: 'Resend missed events' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('0 pending, 12 failed.').waitFor()
  await dialog.getByText(/first missed event in the log/).waitFor()
  await audit()
  await dialog.getByRole('button', { name: 'Resend' }).click()
  await page.getByRole('region', { name: 'Resend history' }).waitFor()
  await deliveryJobsOn(bench().service, systemClock).runDue()
  await bench().engine.runDue()
  const [recovery] = (await api.get(`/v1/webhooks/${failing.id}/recoveries`)).json.data
  expect(recovery).toMatchObject({ status: 'done', retried: 12, created: 1 })
  await page.getByText('13 resent, 1 of them sent for the first time').waitFor()
  await page.getByText('Healthy', { exact: true }).waitFor()
  await outage.waitFor({ state: 'hidden' })
  const { data } = (await api.get(`/v1/webhooks/${failing.id}/deliveries?status=succeeded`)).json
  expect(data).toHaveLength(13)
})

test('one that answers again is not healthy while deliveries of its outage are pending', async () => {
  const { api, failing, failingReceiver } = await bench().seeded()
  failingReceiver.will(answer(200))
  await makeCustomer(api, { name: 'Hedy Lamarr' })
  await bench().engine.runDue()
  expect((await api.get(`/v1/webhooks/${failing.id}`)).json.failingSince).toBeNull()
  const { page, audit } = await bench().open(api, '/endpoints')
  const row = page.getByRole('row').filter({ hasText: 'Billing' })
  await row.getByText('Catching up').waitFor()
  await row.getByRole('link').click()
  const outage = page.getByRole('region', { name: 'Pending deliveries' })
  await outage.getByText('3', { exact: true }).waitFor()
  await audit()
  await outage.getByRole('button', { name: 'Resend missed events' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click()
  await page.getByText(/3 pending retried/).waitFor()
  await bench().engine.runDue()
  await page.getByText('Healthy', { exact: true }).waitFor()
})

test('one is pinged, rotated, disabled, enabled and deleted, by the keyboard alone', async () => {
  const { api, well } = await bench().seeded()
  // Its deliveries may be read while it is deleted.
  const { page, audit } = await bench().open(api, `/endpoints/${well.id}`, { expected: [404] })
  await page.getByRole('heading', { level: 1, name: /localhost/ }).waitFor()

  async function choose(action: string): Promise<void> {
    await page.getByRole('button', { name: /^More/ }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: action }).waitFor()
    await page.keyboard.type(action.slice(0, 3))
    await page.keyboard.press('Enter')
  }
  await choose('Rotate secret')
  await page.getByRole('alertdialog').waitFor()
  await audit()
  await page.getByRole('button', { name: 'Rotate' }).press('Enter')
  await page.getByText(/^whsec_/).waitFor()
  await page.getByRole('button', { name: 'I have saved it' }).press('Enter')
  await page.getByText('Two active secrets').waitFor()
  await audit()

  await choose('Disable')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).press('Enter')
  await page.getByText('Disabled manually').waitFor()
  await audit()
  expect((await api.get(`/v1/webhooks/${well.id}`)).json.status).toBe('disabled')
  await page.getByRole('button', { name: 'Enable' }).press('Enter')
  await expect.poll(async () => (await api.get(`/v1/webhooks/${well.id}`)).json.status).toBe('active')

  await page.getByRole('button', { name: 'Ping' }).press('Enter')
  const ping = page.getByRole('status', { name: 'Ping' })
  await ping.getByText('Pending').waitFor()
  await bench().engine.runDue()
  await ping.getByText('Succeeded', { exact: true }).waitFor()
  await audit()
  await choose('Delete')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor()
  expect((await api.get(`/v1/webhooks/${well.id}`)).status).toBe(404)
})

test.each(payloads)('whatever its fields hold is text: %s', async (payload) => {
  const { api, well } = await bench().seeded()
  const changed = await api.patch(`/v1/webhooks/${well.id}`, {
    description: payload,
    url: `${well.url}?q=${encodeURIComponent(payload)}`,
  })
  expect(changed.status).toBe(200)
  for (const address of ['/endpoints', `/endpoints/${well.id}`, '/', '/deliveries']) {
    const { page } = await bench().open(api, address)
    await page.getByRole('heading', { level: 1 }).waitFor()
    if (address.includes(well.id)) await page.getByText(payload, { exact: true }).first().waitFor()
    expect(
      await page.evaluate('document.querySelectorAll("main img, main svg[onload], main script").length'),
    ).toBe(0)
  }
})
