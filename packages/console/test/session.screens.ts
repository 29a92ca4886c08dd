/** Coming in, staying in, and being put out: with the key, its scopes, and a service that is away. */
import { once } from 'node:events'
import { afterAll, expect, test } from 'vitest'
import { makeWebhook } from '../../testbed/hooks.ts'
import { startHttpServer } from '../../testbed/loopback.ts'
import type { Api } from '../../testbed/service.ts'
import { choose } from './choose.ts'
import { makeDesk } from './desk.fixture.ts'
import { consoleBench } from './harness.ts'

/** A product of others: its page at /FRAMED shows that address in a frame. By another name it is of another origin. */
const product = await startHttpServer(({ url = '' }, answer) => {
  const src = decodeURIComponent(url.slice(1))
  answer.setHeader('content-type', 'text/html')
  answer.end(`<!doctype html><iframe title="Webhooks" width="100%" height="600" src="${src}"></iframe>`)
})
afterAll(() => product[Symbol.asyncDispose]())
const [allowed, stranger] = [`http://localhost:${product.port}`, product.url] as const
const bench = consoleBench({ consoleFrameAncestors: [allowed] })

test('a key that ceases to work leads to signing in, with the reason, and back to the same place', async () => {
  const { api } = await bench().seeded()
  const key = await api.post('/v1/api-keys', { name: 'Shift', scopes: ['*'] })
  const mine = bench().service.withToken(key.json.token)
  const { page, audit } = await bench().open(mine, '/deliveries?status=pending', { expected: [401] })
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
  await api.delete(`/v1/api-keys/${key.json.id}`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.getByRole('status').first().innerText()).toMatch(/^Your session has ended\. /)
  await audit()
  await page.getByLabel('API key').fill(api.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
  expect(new URL(page.url()).search).toBe('?status=pending')
})

test('what the scopes do not allow is not offered', async () => {
  const { api, failing } = await bench().seeded()
  const reader = await bench().service.newKey(api.organizationId, ['webhooks:read'])
  const { page } = await bench().open(reader, `/endpoints/${failing.id}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await page.getByRole('button', { name: /Ping|Edit|Resend/ }).count()).toBe(0)
  const nobody = await bench().service.newKey(api.organizationId, ['tickets:read'])
  const second = await bench().open(nobody, '/')
  await second.page.getByText('No access').waitFor()
  expect(await second.page.getByRole('link', { name: 'Deliveries' }).count()).toBe(0)
  await second.audit()
})

test('a new tab has the session of the others, with who the user is, and all end together', async () => {
  const api = await bench().service.newOrganization('Tabs')
  const { parcel, joan } = await makeDesk(api)
  const { page, context } = await bench().open(null, '/')
  await page.getByLabel('API key').fill(api.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  const tab = await context.newPage()
  await tab.goto(`${bench().service.url}/console/conversations/${parcel.id}`)
  // It is assigned to nobody, and nobody is taken for the user.
  await choose(tab.getByLabel('I am'), 'Joan Clarke')
  await page.goto(`${bench().service.url}/console/conversations/${parcel.id}`)
  await page.getByLabel('Your reply').fill('It comes tomorrow.')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await tab.getByRole('listitem').filter({ hasText: 'It comes tomorrow.' }).getByText('Joan Clarke').waitFor()
  const [sent] = (await api.get(`/v1/messages?conversationId=${parcel.id}`)).json.data
  expect(sent.author).toMatchObject({ type: 'teammate', id: joan.id })
  expect(await tab.evaluate('Object.values(localStorage).join()')).toBe('')
  await tab.getByRole('button', { name: /Tabs/ }).click()
  await tab.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goto(`${bench().service.url}/console/customers`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('signing out forgets the key, and another tab never had it', async () => {
  const { api } = await bench().seeded()
  const { page, context } = await bench().open(api, '/')
  await page.getByRole('button', { name: /Analytical Engines/ }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(
    await page.evaluate('Object.values(sessionStorage).concat(Object.values(localStorage)).join()'),
  ).not.toContain(api.token)
  expect(await context.cookies()).toEqual([])
})

/** What stands behind /console in a link to it. */
async function makeLink(api: Api, scopes: readonly string[] = ['webhooks:read']): Promise<string> {
  const { json } = await api.post('/v1/console-links', { scopes })
  return new URL(json.url).hash
}

test('a link opens the console once, leaves the address, and ends with signing out', async () => {
  const { api } = await bench().seeded()
  const link = await makeLink(api)
  const { page } = await bench().open(null, `/deliveries?status=failed${link}`)
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
  expect(new URL(page.url()).search + new URL(page.url()).hash).toBe('?status=failed')
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
  const token = String(await page.evaluate("sessionStorage.getItem('deskwire.key')"))
  expect((await bench().service.withToken(token).get('/v1/webhooks')).status).toBe(200)

  const second = await bench().open(null, `/deliveries${link}`, { expected: [404] })
  await second.page.getByText('no longer valid').waitFor()
  expect(new URL(second.page.url()).hash).toBe('')
  await second.audit()

  await page.getByRole('button', { name: /Analytical Engines/ }).click()
  const ended = page.waitForResponse((answer) => answer.request().method() === 'DELETE')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect((await ended).status()).toBe(204)
  expect((await bench().service.withToken(token).get('/v1/webhooks')).status).toBe(401)
  expect(await page.evaluate('Object.values(sessionStorage).length')).toBe(0)
})

test('a link opened over a session asks first, and is used only if it is to replace it', async () => {
  const { api } = await bench().seeded()
  const other = await bench().service.newOrganization('Difference Engines')
  const { page, audit } = await bench().open(api, '/deliveries', { expected: [404] })
  const at = (link: string) => `${bench().service.url}/console/deliveries?status=failed${link}`
  const open = async (link: string) => {
    await page.goto('about:blank')
    await page.goto(at(link))
  }
  const token = () => page.evaluate("sessionStorage.getItem('deskwire.key')")
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()

  const link = await makeLink(other)
  await open(link)
  await page.getByRole('heading', { name: 'Switch session?' }).waitFor()
  await page.getByText('You are signed in to Analytical Engines').waitFor()
  expect(new URL(page.url()).hash).toBe('')
  await audit()
  await page.getByRole('button', { name: 'Stay signed in' }).click()
  await page.getByRole('button', { name: /Analytical Engines/ }).waitFor()
  expect(await token()).toBe(api.token)

  // It was not used: it still opens, once it is agreed to.
  await open(link)
  await page.getByRole('button', { name: 'Switch' }).click()
  await page.getByRole('button', { name: /Difference Engines/ }).waitFor()
  const session = String(await token())
  expect(session).toMatch(/^dws_/)

  // A link of the same organization asks as well; what is used up leaves the session as it is.
  await open(link)
  await page.getByText('You are signed in to Difference Engines').waitFor()
  await page.getByRole('button', { name: 'Switch' }).click()
  await page.getByText('no longer valid').waitFor()
  expect(await token()).toBe(session)
  await page.getByRole('button', { name: 'Stay signed in' }).click()
  await open(await makeLink(other))
  const ended = page.waitForResponse((answer) => answer.request().method() === 'DELETE')
  await page.getByRole('button', { name: 'Switch' }).click()
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
  expect((await ended).status()).toBe(204)
  expect(await token()).not.toBe(session)
  expect((await bench().service.withToken(session).get('/v1/webhooks')).status).toBe(401)
})

test('a session that has ended is replaced without asking, and a page of others cannot reach the console', async () => {
  const { api } = await bench().seeded()
  const key = await api.post('/v1/api-keys', { name: 'Shift', scopes: ['*'] })
  const mine = bench().service.withToken(key.json.token)
  const { page, context } = await bench().open(mine, '/deliveries', { expected: [401] })
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
  await page.goto('about:blank')
  await api.delete(`/v1/api-keys/${key.json.id}`)
  const url = `${bench().service.url}/console/deliveries`
  await page.goto(`${url}${await makeLink(api)}`)
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()

  const outside = await context.newPage()
  await outside.goto(`${stranger}/about%3Ablank`)
  const popup = context.waitForEvent('page')
  await outside.evaluate(`window.opened = window.open(${JSON.stringify(`${url}${await makeLink(api)}`)})`)
  await (await popup).getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
  expect(await (await popup).evaluate('window.opener')).toBeNull()
  expect(await outside.evaluate('window.opened.closed')).toBe(true)
})

test('an endpoint that a session registered is marked in the list and at the endpoint', async () => {
  const { api, well } = await bench().seeded()
  const scopes = ['webhooks:write', 'webhooks:read', 'customers:read']
  const link = (await api.post('/v1/console-links', { scopes })).json
  const secret = new URL(link.url).hash.slice('#link='.length)
  const session = (await api.post('/v1/console-links/exchange', { link: secret })).json
  const { url } = await bench().receiver()
  const made = await makeWebhook(bench().service.withToken(session.token), { url, description: 'By Ada' })
  const { page, audit } = await bench().open(api, '/endpoints')
  const row = (text: string) => page.getByRole('row').filter({ hasText: text })
  await row('By Ada').getByText('Console link').waitFor()
  expect(await row(well.description).getByText('Console link').count()).toBe(0)
  await audit()
  await page.goto(`${bench().service.url}/console/endpoints/${made.id}`)
  await page.getByText('Console link').waitFor()
  await audit()
})

test('a page that is named shows the console in a frame, and no other does', async () => {
  const { api } = await bench().seeded()
  const { context } = await bench().open(null, '/')
  for (const origin of [allowed, stranger]) {
    const src = `${bench().service.url}/console?theme=dark${await makeLink(api)}`
    const outside = await context.newPage()
    const refused = outside.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
    refused.catch(() => {})
    await outside.goto(`${origin}/${encodeURIComponent(src)}`)
    if (origin === stranger) {
      await refused
      continue
    }
    const frame = outside.frameLocator('iframe')
    await frame.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(await frame.locator('html').getAttribute('data-theme')).toBe('dark')
    // The next visit has a link of its own, and is not asked.
    const next = `${bench().service.url}/console/deliveries${await makeLink(api)}`
    await outside.goto(`${origin}/${encodeURIComponent(next)}`)
    await frame.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
  }
})

test.each([
  ['light', 900],
  ['dark', 900],
  ['light', 390],
] as const)(
  'the portal of endpoints has nothing of the product around it, in %s at %d pixels',
  async (scheme, width) => {
    const { api, failing } = await bench().seeded()
    const named = await api.post('/v1/api-keys', { name: 'Internal backend key', scopes: ['*'] })
    const product = bench().service.withToken(named.json.token)
    const link = await makeLink(product, ['webhooks:read', 'customers:read'])
    const { context } = await bench().open(null, '/', { scheme, expected: [401] })
    const outside = await context.newPage()
    await outside.setViewportSize({ width: width + 40, height: 700 })
    const view = '?chrome=none&sections=endpoints,deliveries'
    await outside.goto(`${allowed}/${encodeURIComponent(`${bench().service.url}/console${view}${link}`)}`)
    const frame = outside.frameLocator('iframe')
    const heading = (name: string) => frame.getByRole('heading', { level: 1, name }).waitFor()
    const words = () => frame.locator('body').innerText()
    await heading('Endpoints')
    await frame.getByRole('link', { name: new RegExp(failing.description) }).waitFor()
    const tabs = frame.getByRole('navigation', { name: 'Main' }).getByRole('link')
    expect(await tabs.allInnerTexts()).toEqual([expect.stringMatching(/^Endpoints/), 'Deliveries'])
    expect(await words()).not.toMatch(/Internal backend key|Analytical|Deskwire|Search or jump|Sign out/)
    // It stays so wherever one goes.
    await frame.getByRole('link', { name: new RegExp(failing.description) }).click()
    await heading('localhost')
    await tabs.first().press('Control+k')
    // Whoever visits has no key for a call of the API, and cannot change the endpoint.
    expect(await frame.getByRole('button', { name: 'More actions' }).count()).toBe(0)
    await tabs.filter({ hasText: 'Deliveries' }).click()
    await heading('Deliveries')
    await frame.getByRole('row').filter({ hasText: 'customer.created' }).getByRole('link').first().click()
    await heading('customer.created')
    await frame.getByText('Payload').first().waitFor()
    expect(await frame.getByRole('dialog').count()).toBe(0)
    expect(await words()).not.toMatch(/Internal backend key|Analytical|Deskwire|Search or jump|Sign out/)
    expect(await frame.getByRole('button', { name: 'Open in the signature tester' }).count()).toBe(0)
    // The session ends with its key, and nobody is asked for one.
    await api.delete(`/v1/api-keys/${named.json.id}`)
    await tabs.filter({ hasText: 'Endpoints' }).click()
    const ended = frame.getByText('It was ended, or has expired. Ask for a new link.')
    await ended.waitFor()
    await frame.locator('body').evaluate((body) => body.ownerDocument.location.reload())
    await frame.getByText('This page needs a new console link.').waitFor()
    expect(await frame.getByLabel('API key').count()).toBe(0)
  },
)

test('a link with sections shows only those, and its session has no name of a key', async () => {
  const { api } = await bench().seeded()
  const named = await api.post('/v1/api-keys', { name: 'Internal backend key', scopes: ['*'] })
  const link = await makeLink(bench().service.withToken(named.json.token))
  const { page, audit, context } = await bench().open(null, `/?sections=endpoints,deliveries${link}`, {
    // Its session ends when another tab replaces it.
    expected: [401],
  })
  await page.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor()
  const tabs = page.getByRole('navigation', { name: 'Main' }).getByRole('link')
  await expect.poll(() => tabs.count()).toBe(2)
  await audit()
  expect(await page.locator('body').innerText()).not.toContain('Internal backend key')
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Search or jump to' })
  await palette.getByRole('option', { name: 'Deliveries' }).waitFor()
  expect((await palette.getByRole('option').allInnerTexts()).join()).not.toMatch(/Tickets|Signature|Overview/)
  await page.keyboard.press('Escape')
  await page.goto(`${bench().service.url}/console/signature-tester?sections=endpoints,deliveries`)
  await page.getByText('This page is not shown here').waitFor()
  await audit()
  // A tab that is opened from it shows the same.
  await page.goto(`${bench().service.url}/console/?sections=endpoints,deliveries`)
  const opened = context.waitForEvent('page')
  await tabs.filter({ hasText: 'Deliveries' }).click({ modifiers: ['Control'] })
  const other = await opened
  await other.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
  expect(await other.getByRole('navigation', { name: 'Main' }).getByRole('link').count()).toBe(2)
  // Another link has a view of its own.
  await other.goto('about:blank')
  await other.goto(`${bench().service.url}/console/deliveries${await makeLink(api)}`)
  await other.getByText('with a console link').waitFor()
  expect(await other.locator('body').innerText()).not.toContain('Internal backend key')
  await other.getByRole('button', { name: 'Switch' }).click()
  await other.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Overview' }).waitFor()
})

test('while the service is away, the page says so, keeps what it has and goes on by itself', async () => {
  const { api } = await bench().seeded()
  const { page, audit, complaints } = await bench().open(api, '/deliveries')
  await page.getByRole('table').waitFor()
  await page.route('**/v1/**', (route) => route.abort('connectionrefused'))
  await page.getByRole('link', { name: 'Endpoints' }).click()
  await page.getByText('Cannot reach the service').waitFor()
  await audit()
  await page.unroute('**/v1/**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('table').waitFor()
  expect(complaints).toEqual([])
})

test('a screen says that it is not connected, and since when, once one call has failed', async () => {
  const { api } = await bench().seeded()
  const { page, audit } = await bench().open(api, '/customers', { goesAway: true })
  const row = page.getByRole('link', { name: 'Ada Lovelace' })
  await row.waitFor()
  // A screen that was never opened has no file either.
  await stopListening()
  await page.getByRole('link', { name: 'Signature tester' }).click()
  await page.getByText(/^Not connected. Showing data from \d\d:\d\d\.$/).waitFor()
  await page.getByText('Cannot reach the service').waitFor()
  await audit()
  await page.getByRole('link', { name: 'Customers' }).click()
  await row.waitFor()
  await listenAgain()
  await page.getByText('Not connected').waitFor({ state: 'hidden' })
  await page.getByRole('link', { name: 'Signature tester' }).click()
  await page.getByRole('heading', { level: 1, name: 'Signature tester' }).waitFor()
})

/** As when the service has ended: its port refuses connections. */
async function stopListening(): Promise<void> {
  const { server } = bench().service.app.server
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

async function listenAgain(): Promise<void> {
  const { app, url } = bench().service
  app.server.server.listen({ host: '127.0.0.1', port: Number(new URL(url).port) })
  await once(app.server.server, 'listening')
}

test('the palette goes anywhere by the keyboard alone', async () => {
  const { api } = await bench().seeded()
  const { page, audit } = await bench().open(api, '/')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.keyboard.press('Control+k')
  const input = page.getByRole('combobox', { name: 'Search or jump to' })
  await input.waitFor()
  await audit()
  await input.fill('deliv')
  await page.getByRole('option', { name: /Deliveries/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
})

test.each(['light', 'dark'] as const)('?theme=%s wins over what the system prefers', async (theme) => {
  const { api } = await bench().seeded()
  const other = theme === 'light' ? 'dark' : 'light'
  const { page } = await bench().open(api, `/?theme=${theme}`, { scheme: other })
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe(theme)
})

test('a screen that there is not says so, and an address of the API that fails names its request', async () => {
  const { api } = await bench().seeded()
  const { page, audit } = await bench().open(api, '/nowhere', { expected: [404] })
  await page.getByText('There is no page at this address').waitFor()
  await audit()
  await page.goto(`${bench().service.url}/console/endpoints/01980000-0000-7000-8000-000000000000`)
  await page.getByRole('alert').waitFor()
  await page.getByRole('link', { name: 'not_found' }).waitFor()
  await audit()
})
