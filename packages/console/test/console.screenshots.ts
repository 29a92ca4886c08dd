/** The pictures in docs/console: every screen in light, in dark, and narrow. `npm run console:screenshots` writes them. */
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { consoleBench, type Seeded } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()
const directory = fileURLToPath(new URL('../../../docs/console/', import.meta.url))

/** What a picture may weigh, in bytes. */
const atMost = 60 * 1024

interface Pictured {
  readonly name: string
  readonly address: (seeded: Seeded) => string
  readonly heading: string | RegExp
  /** What is done there before the picture is taken. */
  readonly prepare?: (page: Page) => Promise<unknown>
}

async function copied(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Make a copy' }).click()
  await page.getByText(/^Exact at/).waitFor()
}

async function refused(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Try a sample' }).click()
  await page.getByText('Verified', { exact: true }).first().waitFor()
  const body = page.getByLabel('Raw body')
  await body.fill(JSON.stringify(JSON.parse(await body.inputValue()), null, 2))
  await page.getByText('Refused', { exact: true }).first().waitFor()
}

const screens: readonly Pictured[] = [
  { name: 'overview', address: () => '/', heading: 'Overview' },
  { name: 'endpoints', address: () => '/endpoints', heading: 'Endpoints' },
  { name: 'endpoint', address: ({ failing }) => `/endpoints/${failing.id}`, heading: /localhost/ },
  { name: 'deliveries', address: () => '/deliveries', heading: 'Deliveries' },
  { name: 'signature-tester-empty', address: () => '/signature-tester', heading: 'Signature tester' },
  {
    name: 'signature-tester-refused',
    address: () => '/signature-tester',
    heading: 'Signature tester',
    prepare: refused,
  },
  { name: 'sync-explorer-empty', address: () => '/sync-explorer', heading: 'Sync explorer' },
  { name: 'sync-explorer', address: () => '/sync-explorer', heading: 'Sync explorer', prepare: copied },
  {
    name: 'sync-explorer-found',
    address: () => '/sync-explorer',
    heading: 'Sync explorer',
    prepare: async (page) => {
      await copied(page)
      await page.getByRole('button', { name: 'Lose a row' }).click()
      await page.getByRole('button', { name: 'Find what differs' }).click()
      await page.getByText('is missing').waitFor()
    },
  },
  { name: 'api-keys', address: () => '/api-keys', heading: 'API keys' },
  {
    name: 'api-key-new',
    address: () => '/api-keys?new=yes',
    heading: 'API keys',
    prepare: (page) => page.getByRole('dialog').waitFor(),
  },
]

const looks = [
  ['light', { scheme: 'light', width: 1280, height: 800 }],
  ['dark', { scheme: 'dark', width: 1280, height: 800 }],
  ['narrow', { scheme: 'light', width: 360, height: 720 }],
] as const

test.each(screens)('$name', async ({ name, address, heading, prepare }) => {
  const seeded = await bench().seeded()
  await mkdir(directory, { recursive: true })
  for (const [look, options] of looks) {
    const { page, context } = await bench().open(seeded.api, address(seeded), options)
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    await settled(page)
    await prepare?.(page)
    const picture = await page.screenshot({ type: 'png', animations: 'disabled' })
    expect(picture.length, name).toBeLessThan(atMost)
    await writeFile(`${directory}${name}-${look}.png`, picture)
    await context.close()
  }
})
