/** The inbox: the right order for everybody who waits, live, by keyboard alone, and in any width. */
import { expect, test } from 'vitest'
import { makeConversation, makeCustomer, makeMessage, makeTeammate } from '../../testbed/desk.ts'
import type { Api } from '../../testbed/service.ts'
import { choose } from './choose.ts'
import { consoleBench, payloads } from './harness.ts'
import { follows, settled } from './settled.ts'

const bench = consoleBench()
const newOrganization = () => bench().service.newOrganization('Analytical Engines')

/** Conversations whose customers wait, the first of them longest. */
async function waiting(api: Api, count: number): Promise<readonly string[]> {
  const { id: customerId } = await makeCustomer(api, {
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    timezone: 'America/New_York',
  })
  const conversations: string[] = []
  for (let n = 0; n < count; n++)
    conversations.push((await makeConversation(api, { customerId, subject: `Matter ${n}` })).id)
  // Neither the order of creation nor that of the latest message.
  const order = conversations.map((_, n) => conversations[(n * 7) % count] as string)
  for (const [n, conversationId] of order.entries()) {
    const sentAt = new Date(Date.now() - (count - n) * 60_000).toISOString()
    await makeMessage(api, { conversationId, sentAt, body: `Where is it, ${n}?` })
    if (n % 3 === 0) await makeMessage(api, { conversationId, body: 'Hello?' })
    if (n % 5 === 0)
      await makeMessage(api, { conversationId, direction: 'outbound', author: { type: 'system' } })
  }
  return order
}

test('99 of 99 who wait are listed by how long they wait, and leave when they are answered', async () => {
  const api = await newOrganization()
  const order = await waiting(api, 99)
  const answered = await makeConversation(api, { subject: 'Answered' })
  await makeMessage(api, { conversationId: answered.id })
  await makeMessage(api, { conversationId: answered.id, direction: 'outbound' })
  const { page } = await bench().open(api, '/inbox')
  const tab = (name: string) => page.getByRole('navigation', { name: 'Inbox views' }).getByText(name)
  await tab('Waiting').getByText('99', { exact: true }).waitFor()
  const entries = page.getByRole('region', { name: 'Conversations' }).getByRole('listitem')
  await page.getByRole('button', { name: 'Load more' }).click()
  await expect.poll(() => entries.count()).toBe(99)
  const ids = await entries
    .getByRole('link')
    .evaluateAll((links) =>
      links.map((link) => new URL(link.getAttribute('href') ?? '', 'http://x').searchParams.get('id')),
    )
  expect(ids).toEqual(order)

  await makeMessage(api, { conversationId: order[0], direction: 'outbound' })
  await tab('Waiting').getByText('98', { exact: true }).waitFor()
  await expect.poll(() => entries.count()).toBe(98)
  await makeMessage(api, { conversationId: order[0] })
  await expect.poll(() => entries.last().getByRole('link').getAttribute('href')).toContain(order[0])
  await tab('All').click()
  await expect.poll(() => page.getByRole('link', { name: 'Answered' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Load more' }).click()
  await page.getByRole('link', { name: 'Answered' }).waitFor()
})

test('by keyboard alone: the customer who waits longest is answered', async () => {
  const api = await newOrganization()
  const [longest] = await waiting(api, 8)
  const { page } = await bench().open(api, '/inbox')
  const { keyboard } = page
  const entry = page.getByRole('region', { name: 'Conversations' }).getByRole('listitem').getByRole('link')
  await entry.first().waitFor()
  const isFirst = () => entry.first().evaluate((link) => link.matches(':focus'))
  for (let n = 0; n < 40 && !(await isFirst()); n++) await keyboard.press('Tab')
  await keyboard.press('ArrowDown')
  await keyboard.press('ArrowUp')
  expect(await isFirst()).toBe(true)
  await keyboard.press('Enter')
  await page.getByText('Where is it, 0?').last().waitFor()
  const isInReply = () => page.evaluate('document.activeElement?.tagName === "TEXTAREA"')
  let presses = 0
  for (; presses < 30 && !(await isInReply()); presses++) await keyboard.press('Tab')
  expect(presses).toBeLessThan(15)
  await keyboard.type('It comes tomorrow.')
  await keyboard.press('Control+Enter')
  await expect
    .poll(async () => (await api.get(`/v1/messages?conversationId=${longest}&limit=1`)).json.data[0].body)
    .toBe('It comes tomorrow.')
  await expect.poll(() => entry.count()).toBe(7)
})

test('the tabs are those of the teammate that the user is', async () => {
  const api = await newOrganization()
  const maya = await makeTeammate(api, { name: 'Maya Okafor' })
  await makeConversation(api, { subject: 'Hers', assigneeId: maya.id })
  const free = await makeConversation(api, { subject: 'Nobodys' })
  const { page } = await bench().open(api, '/inbox?tab=mine')
  const list = page.getByRole('region', { name: 'Conversations' })
  await choose(list.getByLabel('I am'), 'Maya Okafor')
  await list.getByRole('link', { name: 'Hers' }).waitFor()
  expect(await list.getByRole('listitem').count()).toBe(1)
  await list.getByRole('link', { name: 'Unassigned' }).click()
  await list.getByRole('link', { name: 'Nobodys' }).click()
  await choose(page.getByLabel('Assignee'), 'Maya Okafor')
  await list.getByText('Every open conversation has an assignee.').waitFor()
  expect((await api.get(`/v1/conversations/${free.id}`)).json.assigneeId).toBe(maya.id)
  await list.getByRole('link', { name: 'Mine' }).getByText('2', { exact: true }).waitFor()
})

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  // 1,280 pixels at 200 %.
  ['dark', 640],
] as const)('list, thread and customer are whole, in %s and %d pixels wide', async (scheme, width) => {
  const api = await newOrganization()
  const order = await waiting(api, 12)
  const { page, audit } = await bench().open(api, '/inbox', { scheme, width })
  const fits = async () =>
    expect(
      await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'),
    ).toBeLessThanOrEqual(0)
  const entry = page.getByRole('region', { name: 'Conversations' }).getByRole('link', { name: 'Matter' })
  await entry.first().waitFor()
  await settled(page)
  await audit()
  await fits()
  await entry.first().click()
  await page.getByRole('region', { name: 'Customer' }).getByText('America/New York').waitFor()
  await page.getByText('Other conversations').waitFor()
  await settled(page)
  await audit()
  await fits()
  expect(await entry.first().isVisible()).toBe(width > 900)
  // What acts on the conversation stays in sight at the end of the thread.
  for (let n = 0; n < 30; n++)
    await makeMessage(api, {
      conversationId: order[0],
      direction: n % 2 ? 'inbound' : 'outbound',
      body: `Line ${n}`,
    })
  await page.getByText('Line 29').last().waitFor()
  await page.getByText('Line 29').last().scrollIntoViewIfNeeded()
  const resolve = page.getByRole('button', { name: 'Resolve', exact: true })
  const box = await resolve.boundingBox()
  expect(box?.y).toBeGreaterThanOrEqual(0)
  expect(box?.y).toBeLessThan(300)
  await resolve.click()
  await page.getByText('Conversation resolved').waitFor()
})

test('links and code of a message are set as such, and nothing of it runs', async () => {
  const api = await newOrganization()
  const { id } = await makeConversation(api, { subject: 'Markup' })
  const bodies = [
    'See https://example.com/a?b=(c). Then run `npm start`:\n```sh\nnpm start\n```\nThanks',
    ...payloads,
    'javascript:alert(1) https://example.com/"onmouseover="alert(1) `<b>` https://example.com/<img/src=x>',
  ]
  for (const body of bodies) await makeMessage(api, { conversationId: id, body, contentType: 'html' })
  const { page } = await bench().open(api, `/inbox?id=${id}`)
  page.on('dialog', () => expect.unreachable('a script of a message has run'))
  const thread = page.getByRole('list', { name: 'Messages' })
  await thread.getByText('javascript:alert(1) https').waitFor()
  const links = await thread
    .getByRole('link')
    .evaluateAll((all) => all.map((a) => [a.getAttribute('href'), a.getAttribute('rel')]))
  const rel = 'noreferrer noopener'
  expect(links).toEqual([
    ['https://example.com/a?b=(c)', rel],
    ['https://example.com/', rel],
    ['https://example.com/', rel],
  ])
  expect(await thread.locator('pre').allInnerTexts()).toEqual(['npm start'])
  expect(await thread.locator('code').allInnerTexts()).toEqual(['npm start', '<b>'])
  expect(await thread.locator('img, script, svg, b').count()).toBe(0)
  for (const payload of payloads) await thread.getByText(payload, { exact: true }).waitFor()
})

test('a message that a search found is shown, however far up it is', async () => {
  const api = await newOrganization()
  const { id } = await makeConversation(api, { subject: 'Long' })
  await makeMessage(api, { conversationId: id, body: 'The secret word is heliotrope' })
  const items = Array.from({ length: 130 }, (_, n) => ({
    conversationId: id,
    direction: 'inbound',
    author: { type: 'customer' },
    body: `Filler ${n}`,
  }))
  expect((await api.post('/v1/messages/batch', { items })).status).toBe(200)
  const { page } = await bench().open(api, '/inbox')
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.locator('input[aria-label="Search or jump to"]').waitFor()
  await page.keyboard.insertText('heliotrope')
  await page.getByRole('dialog').getByRole('option', { name: 'heliotrope' }).click()
  const found = page.getByRole('list', { name: 'Messages' }).getByText('heliotrope')
  await expect.poll(async () => (await found.boundingBox())?.y ?? -1).toBeGreaterThan(0)
  await expect.poll(async () => (await found.boundingBox())?.y ?? 9999).toBeLessThan(800)
})

test('a first load takes few calls and little script, and an idle minute almost nothing', async () => {
  const api = await newOrganization()
  await waiting(api, 20)
  const { page } = await bench().open(api, '/inbox')
  const first = page.getByRole('region', { name: 'Conversations' }).getByRole('listitem').first()
  await first.waitFor()
  await settled(page)
  const loaded: readonly { name: string; encodedBodySize: number }[] = JSON.parse(
    await page.evaluate('JSON.stringify(performance.getEntriesByType("resource"))'),
  )
  const calls = loaded.filter(({ name }) => name.includes('/v1/'))
  expect(calls.length, calls.map(({ name }) => name).join('\n')).toBeLessThanOrEqual(12)
  const scripts = loaded.filter(({ name }) => name.endsWith('.js'))
  const bytes = scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
  expect(bytes, `${scripts.length} scripts`).toBeLessThanOrEqual(200 * 1024)
  await page.clock.install()
  const isFollowing = follows(page)
  await page.reload()
  await first.waitFor()
  await settled(page)
  // What the first load leaves for later is no idling yet.
  await page.clock.runFor(4_000)
  await isFollowing
  const seen: string[] = []
  page.on('request', (request) => seen.push(request.url()))
  for (let second = 0; second < 60; second++) await page.clock.runFor(1_000)
  await page.evaluate('document.fonts.ready')
  expect(seen.length, seen.join('\n')).toBeLessThanOrEqual(3)
})
