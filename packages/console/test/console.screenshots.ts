/**
 * The pictures in docs/console: every screen in light, in dark and narrow, with nothing in it, and when the service fails; the
 * desk's are in desk.screenshots.ts. `npm run console:screenshots` writes them.
 */
import type { Page } from 'playwright-core'
import { test } from 'vitest'
import { consoleBench, type Seeded } from './harness.ts'
import { failing, looks, picture, wide } from './pictures.ts'

const bench = consoleBench()

interface Pictured {
  readonly name: string
  /** Where it is, in an organization with something in it. */
  readonly address: (seeded: Seeded) => string | Promise<string>
  readonly heading: string | RegExp
  /** What is done there before the picture is taken. */
  readonly prepare?: ((page: Page) => Promise<unknown>) | undefined
  /** Whether it asks the service for news all the time then. */
  readonly waitsForNews?: true
  /** Whether it is there in an organization with nothing in it, and shows when the service fails. */
  readonly also: readonly ('empty' | 'error')[]
}

const screens: readonly Pictured[] = [
  { name: 'overview', address: () => '/', heading: 'Overview', also: ['empty', 'error'] },
  { name: 'endpoints', address: () => '/endpoints', heading: 'Endpoints', also: ['empty', 'error'] },
  {
    name: 'endpoint',
    address: ({ failing }) => `/endpoints/${failing.id}`,
    heading: /localhost/,
    also: ['error'],
  },
  { name: 'deliveries', address: () => '/deliveries', heading: 'Deliveries', also: ['empty', 'error'] },
  {
    name: 'delivery',
    async address({ api, failing }) {
      const [delivery] = (await api.get(`/v1/webhooks/${failing.id}/deliveries`)).json.data
      return `/deliveries/${delivery.id}?endpoint=${failing.id}`
    },
    heading: 'customer.created',
    also: ['error'],
  },
  {
    name: 'signature-tester',
    address: () => '/signature-tester',
    heading: 'Signature tester',
    also: ['empty'],
    async prepare(page) {
      await page.getByRole('button', { name: 'Try a sample' }).click()
      await page.getByText('Verified', { exact: true }).first().waitFor()
      const body = page.getByLabel('Raw body')
      await body.fill(JSON.stringify(JSON.parse(await body.inputValue()), null, 2))
      await page.getByText('Refused', { exact: true }).first().waitFor()
    },
  },
  {
    name: 'sync-explorer',
    address: () => '/sync-explorer',
    heading: 'Sync explorer',
    also: ['empty', 'error'],
    waitsForNews: true,
    prepare: copied,
  },
  {
    name: 'sync-explorer-found',
    address: () => '/sync-explorer',
    heading: 'Sync explorer',
    also: [],
    waitsForNews: true,
    async prepare(page) {
      await copied(page)
      await page.getByRole('button', { name: 'Lose a row' }).click()
      await page.getByRole('button', { name: 'Find what differs' }).click()
      await page.getByText('is missing').waitFor()
    },
  },
  { name: 'api-keys', address: () => '/api-keys', heading: 'API keys', also: [] },
  {
    name: 'api-key-new',
    address: () => '/api-keys?new=yes',
    heading: 'API keys',
    also: [],
    prepare: (page) => page.getByRole('dialog').waitFor(),
  },
]

test.each(screens)('$name', async ({ name, address, heading, prepare, waitsForNews = false, also }) => {
  const seeded = await bench().seeded()
  const place = await address(seeded)
  for (const [look, options] of looks)
    await picture(bench(), `${name}-${look}`, seeded.api, place, { heading, options, prepare, waitsForNews })
  if (also.includes('empty')) {
    const empty = await bench().service.newOrganization('Analytical Engines')
    await picture(bench(), `${name}-empty`, empty, place, { heading, options: wide })
  }
  if (also.includes('error')) {
    const options = { ...wide, expected: [500] }
    await picture(bench(), `${name}-error`, seeded.api, place, { heading: /./, options, prepare: failing })
  }
})

test('sign-in', async () => {
  await picture(bench(), 'sign-in-light', null, '/', { heading: 'Sign in', options: wide })
})

async function copied(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Make a copy' }).click()
  await page.getByText(/^Exact at/).waitFor()
}
