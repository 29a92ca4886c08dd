/**
 * The pictures in docs/console: every screen in light, in dark and narrow, with nothing in it, and when the service fails.
 * `npm run console:screenshots` writes them.
 */
import { test } from 'vitest'
import { consoleBench, type Seeded } from './harness.ts'
import { failing, looks, picture, wide } from './pictures.ts'

const bench = consoleBench()
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

test.each(screens)('$name', async ({ name, address, heading, hasEmpty }) => {
  const seeded = await bench().seeded()
  const place = await address(seeded)
  for (const [look, options] of looks)
    await picture(bench(), `${name}-${look}`, seeded.api, place, { heading, options })
  if (hasEmpty) {
    const empty = await bench().service.newOrganization('Analytical Engines')
    await picture(bench(), `${name}-empty`, empty, place, { heading, options: wide })
  }
  const failed = { ...wide, expected: [500] }
  await picture(bench(), `${name}-error`, seeded.api, place, {
    heading: /./,
    options: failed,
    prepare: failing,
  })
})

test('sign-in', async () => {
  await picture(bench(), 'sign-in-light', null, '/', { heading: 'Sign in', options: wide })
})
