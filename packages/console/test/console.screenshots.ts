/** The picture of the console in README: `npm run screenshots` writes it. */
import { fileURLToPath } from 'node:url'
import { test } from 'vitest'
import { takePicture } from '../../testbed/picture.ts'
import { consoleBench, type Seeded } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()

test('overview', async () => {
  const seeded = await bench().seeded()
  await anHour(seeded)
  const { page } = await bench().open(seeded.api, '/')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await settled(page)
  await takePicture(
    page,
    fileURLToPath(new URL('../../../docs/console/overview-light.webp', import.meta.url)),
  )
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
