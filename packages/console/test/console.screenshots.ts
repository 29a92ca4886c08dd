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

const screens: readonly Pictured[] = [
  { name: 'overview', address: () => '/', heading: 'Overview' },
  { name: 'endpoints', address: () => '/endpoints', heading: 'Endpoints' },
  { name: 'endpoint', address: ({ failing }) => `/endpoints/${failing.id}`, heading: /localhost/ },
  { name: 'deliveries', address: () => '/deliveries', heading: 'Deliveries' },
  { name: 'sync-explorer-empty', address: () => '/sync-explorer', heading: 'Sync explorer' },
  { name: 'api-keys', address: () => '/api-keys', heading: 'API keys' },
  {
    name: 'api-key-new',
    address: () => '/api-keys',
    heading: 'API keys',
    prepare: (page) => page.getByRole('button', { name: 'Create a key' }).click(),
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
