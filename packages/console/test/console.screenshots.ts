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
  /** What has to be pressed until it shows that the service fails. */
  readonly toFail?: (page: Page) => Promise<unknown>
  /** Whether it is there in an organization with nothing in it, and shows when the service fails. */
  readonly also: readonly ('empty' | 'error')[]
}

const screens: readonly Pictured[] = [
  { name: 'overview', address: () => '/', heading: 'Overview', also: ['empty', 'error'] },
  { name: 'endpoints', address: () => '/endpoints', heading: 'Endpoints', also: ['empty', 'error'] },
  {
    name: 'endpoint',
    address: ({ failing }) => `/endpoints/${failing.id}`,
    heading: /billing/,
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
    toFail: (page) => page.getByRole('button', { name: 'Make a copy' }).click(),
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

test.each(screens)(
  '$name',
  async ({ name, address, heading, prepare, waitsForNews = false, also, toFail }) => {
    const seeded = await bench().seeded()
    await anHour(seeded)
    const place = await address(seeded)
    for (const [look, options] of looks)
      await picture(bench(), `${name}-${look}`, seeded.api, place, {
        heading,
        options,
        prepare,
        waitsForNews,
      })
    if (also.includes('empty')) {
      const empty = await bench().service.newOrganization('Analytical Engines')
      await picture(bench(), `${name}-empty`, empty, place, { heading, options: wide })
    }
    if (also.includes('error')) {
      const options = { ...wide, expected: [500] }
      await picture(bench(), `${name}-error`, seeded.api, place, {
        heading: /./,
        options,
        prepare: async (page) => {
          await failing(page)
          await toFail?.(page)
        },
      })
    }
  },
)

test('sign-in', async () => {
  await picture(bench(), 'sign-in-light', null, '/', { heading: 'Sign in', options: wide })
})

/**
 * What an endpoint has behind it that is well, and one that has failed for twelve minutes, as a worker would have counted it; both
 * at addresses as people have them.
 */
async function anHour({ well, failing: sick }: Seeded): Promise<void> {
  const { pool } = bench().service.database
  const now = Date.now()
  const minute = 60_000
  for (let ago = 59; ago > 0; ago--) {
    const at = new Date(Math.floor(now / minute - ago) * minute).toISOString()
    const busy = Math.round(46 + 18 * Math.sin(ago / 7) + 9 * Math.sin(ago * 1.7))
    // Of a minute: how many succeeded, took 10 to 15, 15 to 20 and 50 to 70 ms, and were answered with another status than 2xx.
    const counted = [
      [
        well.id,
        [0, 7, 8, 11],
        [busy, Math.round(busy * 0.6), Math.round(busy * 0.3), Math.round(busy * 0.1)],
      ],
      ago > 12
        ? [sick.id, [0, 8, 11], [Math.round(busy / 4), Math.round(busy / 5), Math.round(busy / 20)]]
        : [sick.id, [8, 33], [Math.round(busy / 4), Math.round(busy / 4)]],
    ] as const
    for (const [id, places, counts] of counted) {
      await pool.query(
        `insert into delivery_stats (organization_id, webhook_id, minutes, at, places, counts)
           select w.organization_id, w.id, 1, $2, $3, $4 from webhooks w where w.id = $1`,
        [id, at, places, counts],
      )
    }
  }
  const since = (minutes: number) => new Date(now - minutes * minute).toISOString()
  await pool.query(
    'update webhook_health set failing_since = $2, failure_count = 141, last_success_at = $3 where webhook_id = $1',
    [sick.id, since(12), since(12.5)],
  )
  for (const [id, url] of [
    [well.id, 'https://warehouse.example.com/hooks'],
    [sick.id, 'https://billing.example.com/deskwire'],
  ])
    await pool.query('update webhooks set url = $2 where id = $1', [id, url])
}

async function copied(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Make a copy' }).click()
  await page.getByText(/^Exact at/).waitFor()
}
