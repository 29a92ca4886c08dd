/** The pictures in docs/console: every screen in light, in dark, and narrow. `npm run console:screenshots` writes them. */
import { test } from 'vitest'
import { consoleBench, type Seeded } from './harness.ts'
import { takePictures } from './pictures.ts'

const bench = consoleBench()

interface Pictured {
  readonly name: string
  readonly address: (seeded: Seeded) => string
  readonly heading: string | RegExp
}

const screens: readonly Pictured[] = [
  { name: 'overview', address: () => '/', heading: 'Overview' },
  { name: 'endpoints', address: () => '/endpoints', heading: 'Endpoints' },
  { name: 'endpoint', address: ({ failing }) => `/endpoints/${failing.id}`, heading: /localhost/ },
  { name: 'deliveries', address: () => '/deliveries', heading: 'Deliveries' },
]

test.each(screens)('$name', async ({ name, address, heading }) => {
  const seeded = await bench().seeded()
  await takePictures(
    name,
    (options) => bench().open(seeded.api, address(seeded), options),
    (page) => page.getByRole('heading', { level: 1, name: heading }).waitFor(),
  )
})
