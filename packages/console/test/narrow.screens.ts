/** What was cut, pushed aside or misaligned: at 390 pixels, at 1,280 at 200 %, and in a week at 1,280. */
import { expect, test } from 'vitest'
import { makeBooking, makeConversation, makeCustomer, makeTeammate, makeTicket } from '../../testbed/desk.ts'
import { presets } from '../src/screens/api-keys/scopes.ts'
import { choose } from './choose.ts'
import { makeDesk } from './desk.fixture.ts'
import { consoleBench } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()
const subject =
  'Invoice with the wrong address, and a purchase order number that has to be on it before the end of the quarter'
const overflow = 'document.documentElement.scrollWidth - window.innerWidth'

test.each([390, 640])('a long subject does not widen a list at %d pixels', async (width) => {
  const api = await bench().service.newOrganization('Narrow')
  const { id: customerId } = await makeCustomer(api, { name: 'Priya Kovač' })
  await makeTicket(api, { customerId, subject })
  await makeConversation(api, { customerId, subject })
  const { page } = await bench().open(api, '/tickets', { width })
  for (const kind of ['tickets', 'conversations']) {
    await page.goto(`${bench().service.url}/console/${kind}`)
    await page.getByRole('link', { name: subject }).waitFor()
    await settled(page)
    expect(await page.evaluate(overflow), kind).toBeLessThanOrEqual(0)
  }
})

test('at 390 pixels filters are in sight, values of cards are labelled, and the form of a key fits', async () => {
  const api = await bench().service.newOrganization('Cards')
  await api.post('/v1/api-keys', { name: 'Reader', scopes: presets[0]?.[1] })
  const { page } = await bench().open(api, '/bookings', { width: 390 })
  const box = await page.getByLabel('Conflicts only').boundingBox()
  expect((box?.x ?? 999) + (box?.width ?? 999)).toBeLessThanOrEqual(390)

  await page.goto(`${bench().service.url}/console/api-keys`)
  const row = page.getByRole('row').filter({ hasText: 'Reader' })
  const scopes = row.getByRole('cell').filter({ hasText: 'Read only' })
  await scopes.waitFor()
  const label = await scopes.evaluate((cell) => {
    const style = Reflect.get(globalThis, 'getComputedStyle') as (
      of: unknown,
      part: string,
    ) => { content: string }
    return style(cell, '::before').content
  })
  expect(label).toContain('Scopes')

  await page.getByRole('button', { name: 'Create API key' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Read tickets').waitFor()
  expect(await form.evaluate((dialog) => dialog.scrollWidth - dialog.clientWidth)).toBeLessThanOrEqual(0)
})

test('blocks of a week that conflict show their time and title whole', async () => {
  const api = await bench().service.newOrganization('Whole')
  const { id: assigneeId } = await makeTeammate(api, { name: 'Grace Hopper' })
  const { id: customerId } = await makeCustomer(api, { name: 'Haruka Nakata' })
  for (const title of ['Fitting of lamps', 'Call about offer']) {
    const [startAt, endAt] = ['2030-01-09T09:00:00.000Z', '2030-01-09T10:00:00.000Z']
    await makeBooking(api, {
      customerId,
      assigneeId,
      title,
      startAt,
      endAt,
      timezone: 'UTC',
      status: 'confirmed',
    })
  }
  const { page } = await bench().open(api, '/bookings?week=2030-01-09')
  const blocks = page.getByRole('region', { name: 'Calendar' }).getByRole('link')
  await expect.poll(() => blocks.count()).toBe(2)
  await settled(page)
  const cut = await blocks.evaluateAll((links) =>
    links.flatMap((link) =>
      [...link.children].slice(0, 1).flatMap((line) => {
        const { scrollWidth, clientWidth, scrollHeight, clientHeight, textContent } = line
        return scrollWidth > clientWidth || scrollHeight > clientHeight ? [textContent] : []
      }),
    ),
  )
  expect(cut).toEqual([])
})

test('at 1,280 pixels the buttons that send share a line, and the tabs of the inbox do', async () => {
  const api = await bench().service.newOrganization('Lines')
  const { parcel, grace } = await makeDesk(api)
  for (let n = 0; n < 12; n++) await makeConversation(api, { subject: `One ${n}`, assigneeId: grace.id })
  for (let n = 0; n < 12; n++) await makeConversation(api, { subject: `Other ${n}` })
  const { page } = await bench().open(api, `/inbox?id=${parcel.id}`)
  await choose(page.getByLabel('I am'), 'Grace Hopper')
  const tabs = page.getByRole('navigation', { name: 'Inbox views' }).getByRole('link')
  await tabs.filter({ hasText: /^Mine\s*12$/ }).waitFor()
  await settled(page)
  const tops = async (of: typeof tabs) =>
    new Set(await of.evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().bottom))))
  expect((await tops(tabs)).size).toBe(1)
  const buttons = page.getByRole('form', { name: 'Reply' }).getByRole('button', { name: /^Send/ })
  expect(await buttons.count()).toBe(2)
  const rows = [...(await tops(buttons))]
  expect(Math.max(...rows) - Math.min(...rows)).toBeLessThan(8)
})

test('the two numbers of the signature tester are on one line', async () => {
  const { api } = await bench().seeded()
  const { page } = await bench().open(api, '/signature-tester')
  const y = async (label: RegExp) => (await page.getByLabel(label).boundingBox())?.y
  await page.getByLabel(/^Tolerance/).waitFor()
  expect(await y(/^Tolerance/)).toBe(await y(/^Current time/))
})

test('the address of a delivery needs no endpoint', async () => {
  const { api, failing } = await bench().seeded()
  const [delivery] = (await api.get(`/v1/webhooks/${failing.id}/deliveries`)).json.data
  const { page } = await bench().open(api, `/deliveries/${delivery.id}`, { expected: [404] })
  await page.getByRole('heading', { level: 1, name: delivery.eventType }).waitFor()
  expect(new URL(page.url()).searchParams.get('endpoint')).toBe(failing.id)
})
