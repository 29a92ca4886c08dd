/**
 * The pictures in docs/console: every screen in light, in dark and narrow, with nothing in it, and when the service fails.
 * `npm run console:screenshots` writes them.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Api } from '../../service/test/harness/service.ts'
import { consoleBench, type PageOptions, type Seeded } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()
const directory = fileURLToPath(new URL('../../../docs/console/', import.meta.url))

/** What a picture may weigh, in bytes. */
const atMost = 60 * 1024

interface Pictured {
  readonly name: string
  /** Where it is, in an organization with something in it. */
  readonly address: (seeded: Seeded) => string | Promise<string>
  readonly heading: string | RegExp
  /** Whether it is there in an organization with nothing in it. */
  readonly hasEmpty: boolean
}

const screens: readonly Pictured[] = [
  { name: 'overview', address: () => '/', heading: 'Overview', hasEmpty: true },
  { name: 'endpoints', address: () => '/endpoints', heading: 'Endpoints', hasEmpty: true },
  {
    name: 'endpoint',
    address: ({ failing }) => `/endpoints/${failing.id}`,
    heading: /localhost/,
    hasEmpty: false,
  },
  { name: 'deliveries', address: () => '/deliveries', heading: 'Deliveries', hasEmpty: true },
  {
    name: 'delivery',
    async address({ api, failing }) {
      const [delivery] = (await api.get(`/v1/webhooks/${failing.id}/deliveries`)).json.data
      return `/deliveries/${delivery.id}?endpoint=${failing.id}`
    },
    heading: 'customer.created',
    hasEmpty: false,
  },
]

const wide = { scheme: 'light', width: 1280, height: 800 } as const
const looks = [
  ['light', wide],
  ['dark', { ...wide, scheme: 'dark' }],
  ['narrow', { scheme: 'light', width: 360, height: 720 }],
] as const

test.each(screens)('$name', async ({ name, address, heading, hasEmpty }) => {
  const seeded = await bench().seeded()
  const place = await address(seeded)
  for (const [look, options] of looks)
    await picture(`${name}-${look}`, seeded.api, place, { heading, options })
  if (hasEmpty) {
    const empty = await bench().service.newOrganization('Analytical Engines')
    await picture(`${name}-empty`, empty, place, { heading, options: wide })
  }
  const failed = { ...wide, expected: [500] }
  await picture(`${name}-error`, seeded.api, place, { heading: /./, options: failed, prepare: failing })
})

test('sign-in', async () => {
  await picture('sign-in-light', null, '/', { heading: 'Sign in', options: wide })
})

async function picture(
  name: string,
  api: Api | null,
  address: string,
  {
    heading,
    options,
    prepare = async () => {},
  }: { heading: string | RegExp; options: PageOptions; prepare?: (page: Page) => Promise<unknown> },
): Promise<void> {
  const { page, context } = await bench().open(api, address, options)
  await prepare(page)
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
  await settled(page)
  // As WebP, a third of a PNG, which Playwright does not write by itself.
  const session = await context.newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
  const taken = Buffer.from(data, 'base64')
  expect(taken.length, name).toBeLessThan(atMost)
  await mkdir(directory, { recursive: true })
  await writeFile(`${directory}${name}.webp`, taken)
  await context.close()
}

/** Has the service fail all that a screen asks of it. */
async function failing(page: Page): Promise<void> {
  const problem = {
    type: '/docs/errors/internal_error',
    title: 'The service has failed',
    status: 500,
    code: 'internal_error',
    detail: 'It is in its log, with the id of this request.',
    requestId: 'b1946ac9-2492-4d23-8a3e-3f1b5a1c5e0d',
  }
  await page.route(/\/v1\/(?!organization|api-keys)/, (route) =>
    route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
  )
  await page.reload()
}
