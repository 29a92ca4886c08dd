/** Lists stay true while others work: no row is lost, every shown row is current, and an idle screen asks for almost nothing. */
import { expect, test } from 'vitest'
import { makeCustomer, makeTeammate } from '../../testbed/desk.ts'
import type { Api } from '../../testbed/service.ts'
import { makeDesk } from './desk.fixture.ts'
import { consoleBench } from './harness.ts'
import { follows } from './settled.ts'

const bench = consoleBench()

/** Open conversations, newest first. */
async function conversations(api: Api, count: number): Promise<readonly string[]> {
  const { id: customerId } = await makeCustomer(api, { name: 'Ada Lovelace' })
  const items = Array.from({ length: count }, (_, n) => ({
    customerId,
    channel: 'email',
    subject: `Matter ${n}`,
  }))
  const made = await api.post('/v1/conversations/batch', { operation: 'create', items })
  if (made.status !== 200) throw new Error(made.text)
  const ids: string[] = []
  for (let after = ''; ids.length < count; after = `&after=${ids.at(-1)}`) {
    const { data } = (await api.get(`/v1/conversations?limit=100${after}`)).json
    ids.push(...data.map(({ id }: { id: string }) => id))
  }
  return ids
}

test('rows of the next page are not lost when rows of the first leave', async () => {
  const api = await bench().service.newOrganization('Leaving rows')
  const ids = await conversations(api, 60)
  const { page } = await bench().open(api, '/conversations')
  await page.getByText('50 of 60').waitFor()
  for (const id of ids.slice(0, 3)) await api.post(`/v1/conversations/${id}/resolve`, {})
  await page.getByRole('button', { name: '3 gone' }).waitFor()
  await page.getByRole('button', { name: 'Load more' }).click()
  await expect.poll(() => page.locator('tbody tr:not([data-gone])').count()).toBe(57)
  await page.getByRole('button', { name: '3 gone' }).click()
  await expect.poll(() => page.locator('tbody tr').count()).toBe(57)
})

test('a row far down shows its change', async () => {
  const api = await bench().service.newOrganization('Long lists')
  const { id: assigneeId } = await makeTeammate(api, { name: 'Maya Okafor' })
  const ids = await conversations(api, 140)
  const { page } = await bench().open(api, '/conversations')
  await page.getByRole('button', { name: 'Load more' }).click()
  await page.getByText('100 of 140').waitFor()
  await page.getByRole('button', { name: 'Load more' }).click()
  await expect.poll(() => page.locator('tbody tr').count()).toBe(140)
  await api.patch(`/v1/conversations/${ids[130]}`, { assigneeId })
  await page.locator('tbody tr').nth(130).getByText('Maya Okafor').waitFor()
})

/** Most requests and KiB of an idle minute. Deliveries have no stream: their screens ask. */
const idle = [
  ['/inbox', 3, 20],
  ['/conversations', 3, 20],
  ['/customers', 3, 20],
  ['/tickets', 3, 20],
  ['/bookings', 3, 20],
  ['/teammates', 3, 20],
  ['/', 60, 200],
  ['/endpoints', 30, 200],
  ['/deliveries', 30, 200],
  ['/api-keys', 12, 40],
] as const

test.each(idle)('an idle minute of %s takes at most %d requests and %d KiB', async (address, most, kib) => {
  const { api } = await bench().seeded()
  await makeDesk(api)
  const { page } = await bench().open(api, address)
  await page.clock.install()
  const isFollowing = follows(page)
  await page.reload()
  await page.locator('main :is(tbody tr, [aria-label=Calendar] a, ol a, ul a)').first().waitFor()
  await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0)
  // What the first load leaves for later is no idling yet.
  await page.clock.runFor(2_000)
  await isFollowing
  const seen: string[] = []
  let bytes = 0
  page.on('request', (request) => seen.push(request.url()))
  page.on('response', async (response) => {
    bytes += (await response.body().catch(() => Buffer.alloc(0))).length
  })
  for (let second = 0; second < 60; second++) await page.clock.runFor(1_000)
  await page.evaluate('document.fonts.ready')
  console.log(`${address}: ${seen.length} requests and ${(bytes / 1024).toFixed(1)} KiB in an idle minute`)
  expect(seen.length, seen.join('\n')).toBeLessThanOrEqual(most)
  expect(bytes).toBeLessThanOrEqual(kib * 1024)
})

test('the heads of columns stay in view, and new rows are scrolled to with the focus', async () => {
  const api = await bench().service.newOrganization('Long tables')
  await conversations(api, 60)
  const { page, audit } = await bench().open(api, '/conversations')
  await page.getByText('50 of 60').waitFor()
  await page.evaluate('scrollTo(0, 1200)')
  const head = page.getByRole('columnheader', { name: 'Subject' })
  await expect.poll(async () => (await head.boundingBox())?.y).toBe(0)
  await audit()
  const { id: customerId } = await makeCustomer(api, { name: 'Grace Hopper' })
  const made = await api.post('/v1/conversations', { customerId, channel: 'email', subject: 'The newest' })
  expect(made.status).toBe(201)
  await page.getByRole('button', { name: '1 new' }).click()
  const row = page.getByRole('link', { name: 'The newest' })
  await expect.poll(() => row.evaluate((link) => link.matches(':focus'))).toBe(true)
  const [top, bottom] = [await head.boundingBox(), await row.boundingBox()]
  // Below the heads, and not behind them.
  expect(bottom?.y).toBeGreaterThan((top?.y ?? 0) + (top?.height ?? 0) - 1)
  expect(bottom?.y).toBeLessThan(800)
})
