/** Every screen when there is nothing, nothing yet, nothing that matches, nothing to be had, and nothing that is allowed. */
import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Api } from '../../testbed/service.ts'
import { makeDesk } from './desk.fixture.ts'
import { type ConsolePage, consoleBench } from './harness.ts'
import { expectWhole } from './whole.fixture.ts'

const bench = consoleBench()

interface Listed {
  readonly address: string
  readonly heading: string
  readonly empty: string
  /** Filters with which nothing is found. */
  readonly noMatch: string
}

const lists: readonly Listed[] = [
  { address: '/endpoints', heading: 'Endpoints', empty: 'No endpoints yet', noMatch: 'status=disabled' },
  {
    address: '/deliveries',
    heading: 'Deliveries',
    empty: 'No deliveries yet',
    noMatch: 'type=ticket.deleted',
  },
  { address: '/conversations', heading: 'Conversations', empty: 'No open conversations', noMatch: 'q=zzzz' },
  { address: '/customers', heading: 'Customers', empty: 'No customers yet', noMatch: 'q=zzzz' },
  { address: '/tickets', heading: 'Tickets', empty: 'No tickets yet', noMatch: 'q=zzzz' },
  { address: '/bookings', heading: 'Bookings', empty: 'No bookings.', noMatch: 'q=zzzz' },
  { address: '/bookings?view=list', heading: 'Bookings', empty: 'No bookings yet', noMatch: 'q=zzzz' },
  { address: '/teammates', heading: 'Teammates', empty: 'No teammates yet', noMatch: 'q=zzzz' },
]

/** An organization with something on each screen, and where one of each is. */
async function peopled(): Promise<{ api: Api; objects: readonly (readonly [string, string])[] }> {
  const { api, failing } = await bench().seeded()
  const { parcel, ada, ticket, fitting } = await makeDesk(api)
  const [delivery] = (await api.get(`/v1/webhooks/${failing.id}/deliveries`)).json.data
  const [key] = (await api.get('/v1/api-keys')).json.data
  return {
    api,
    objects: [
      [`/endpoints/${failing.id}`, 'webhooks'],
      [`/deliveries/${delivery.id}?endpoint=${failing.id}`, 'webhooks'],
      [`/conversations/${parcel.id}`, 'conversations'],
      [`/customers/${ada.id}`, 'customers'],
      [`/tickets/${ticket.id}`, 'tickets'],
      [`/bookings/${fitting.id}`, 'bookings'],
      [`/api-keys/${key.id}`, 'api-keys'],
    ],
  }
}

/** For fifteen screens one after another. */
const long = 900_000

/** Whoever calls stays known: only what the screen itself asks for. */
const asked = /\/v1\/(?!organization|api-keys\/self|changes)/
const go = (page: Page, address: string) => page.goto(`${bench().service.url}/console${address}`)

test('whole: each screen of an integration, in dark', async () => {
  await expectWhole(bench(), 'dark')
})

test('empty: each list says what it would hold', async () => {
  const api = await bench().service.newOrganization('Nothing yet')
  const { page, audit } = await bench().open(api, '/')
  for (const { address, heading, empty } of lists) {
    await go(page, address)
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    await page.getByText(empty).first().waitFor()
    await audit()
  }
})

test('no match: each list says so, and takes the filters away', async () => {
  const { api } = await peopled()
  const { page, audit } = await bench().open(api, '/')
  for (const { address, noMatch } of lists) {
    await go(page, `${address}${address.includes('?') ? '&' : '?'}${noMatch}`)
    await page.getByText('No results').waitFor()
    await audit()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByText('No results').waitFor({ state: 'hidden' })
    expect(page.url(), address).not.toContain(noMatch)
  }
})

test(
  'loading: each screen says so once it takes long',
  async () => {
    const { api, objects } = await peopled()
    const { page } = await bench().open(api, '/signature-tester')
    for (const address of [...lists.map(({ address }) => address), ...objects.map(([address]) => address)]) {
      const held: Route[] = []
      await page.route(asked, (route) => void held.push(route))
      await go(page, address)
      await page.getByRole('status').filter({ hasText: 'Loading' }).first().waitFor({ state: 'attached' })
      await page.unroute(asked)
      await Promise.all(held.map((route) => route.continue().catch(() => {})))
      await expect.poll(() => page.locator('main [aria-busy=true]').count(), { message: address }).toBe(0)
    }
  },
  long,
)

test(
  'error: each screen names the request, and tries again',
  async () => {
    const { api, objects } = await peopled()
    const { page, audit } = await bench().open(api, '/signature-tester', { expected: [500] })
    for (const address of [...lists.map(({ address }) => address), ...objects.map(([address]) => address)]) {
      await go(page, address)
      await failing(page)
      await page.getByRole('alert').getByText('The service has failed').first().waitFor()
      await page.getByRole('link', { name: 'internal_error' }).first().waitFor()
      await audit()
      await page.unroute(asked)
      await comesBack(page, address)
    }
  },
  long,
)

test(
  'offline: each screen says that the service cannot be reached, and what is there stays there',
  async () => {
    const { api, objects } = await peopled()
    const opened = await bench().open(api, '/signature-tester')
    for (const address of [...lists.map(({ address }) => address), ...objects.map(([address]) => address)])
      await withoutService(opened, address)
    const { page, context, audit } = opened
    await go(page, '/customers')
    const row = page.getByRole('link', { name: 'Ada Lovelace' }).first()
    await row.waitFor()
    await context.setOffline(true)
    await page.getByText('You are offline.').waitFor()
    expect(await row.isVisible()).toBe(true)
    await audit()
    await context.setOffline(false)
    await page.getByText('You are offline.').waitFor({ state: 'hidden' })
  },
  long,
)

/** Has the service fail what the screen asks. */
async function failing(page: Page): Promise<void> {
  const problem = {
    type: '/docs/errors/internal_error',
    title: 'The service has failed',
    status: 500,
    code: 'internal_error',
    detail: 'It is in its log, with the id of this request.',
    requestId: 'b1946ac9-2492-4d23-8a3e-3f1b5a1c5e0d',
  }
  await page.route(asked, (route) =>
    route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
  )
  await page.reload()
}

async function withoutService({ page, audit }: ConsolePage, address: string): Promise<void> {
  await page.route(asked, (route) => route.abort('connectionrefused'))
  await go(page, address)
  await page.getByText('Cannot reach the service').first().waitFor()
  await audit()
  await page.unroute(asked)
  await comesBack(page, address)
}

/** Each part of a screen that failed is asked for again, unless it has come by itself in between. */
async function comesBack(page: Page, address: string): Promise<void> {
  const again = page.getByRole('button', { name: 'Try again' }).first()
  const failed = async () => {
    await again.click({ timeout: 1_000 }).catch(() => {})
    return page.getByRole('alert').filter({ hasText: /./ }).count()
  }
  await expect.poll(failed, { message: address }).toBe(0)
}

test('forbidden: each screen names the scope that it needs', async () => {
  const { api, objects } = await peopled()
  const stranger = await bench().service.newKey(api.organizationId, ['webhooks:write'])
  const { page, audit } = await bench().open(stranger, '/signature-tester')
  const addresses = [
    ...lists.map(({ address }) => address),
    ...objects.map(([address]) => address),
    '/api-keys',
    '/',
    '/sync-explorer',
  ]
  for (const address of addresses) {
    await go(page, address)
    await page.getByText('No access').waitFor()
    await audit()
  }
})
