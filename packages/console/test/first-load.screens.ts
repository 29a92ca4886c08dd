/**
 * What a first load costs until its rows are shown: requests, script, and something to look at meanwhile. A second later
 * the stream and the counts of the navigation follow, in four more requests.
 */
import { expect, test } from 'vitest'
import { makeDesk } from './desk.fixture.ts'
import { consoleBench } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()

const lists = [
  ['/inbox', 'Ada Lovelace'],
  ['/conversations', 'Ada Lovelace'],
  ['/customers', 'Ada Lovelace'],
  ['/tickets', 'Ada Lovelace'],
  ['/bookings?view=list', 'Ada Lovelace'],
  ['/teammates', 'Grace Hopper'],
  ['/deliveries', 'customer.created'],
  ['/api-keys', 'Your key'],
] as const

test.each(lists)(
  'a first load of %s with %s in it is shown after few requests and at most 200 KB of script',
  async (address, shown) => {
    // The page, its icon, style, font, two scripts, and calls. The inbox has its counts as well.
    const most = address === '/inbox' ? 13 : 12
    const { api } = await bench().seeded()
    await makeDesk(api)
    const { page } = await bench().open(api, '/missing')
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
    // As in a browser that was never here.
    const cdp = await page.context().newCDPSession(page)
    await cdp.send('Network.setCacheDisabled', { cacheDisabled: true })
    const asked: string[] = []
    page.on('request', (request) => void asked.push(request.url()))
    await page.goto(`${bench().service.url}/console${address}`)
    await page.locator('#content').getByText(shown).filter({ visible: true }).first().waitFor()
    await settled(page)
    const scripts = JSON.parse(
      await page.evaluate(
        'JSON.stringify(performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js")).map(({ encodedBodySize }) => encodedBodySize))',
      ),
    ) as number[]
    expect(asked.length, asked.join('\n')).toBeLessThanOrEqual(most)
    expect(scripts.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(200_000)
  },
)

test('a skeleton is shown before the script has come, and until the session is known', async () => {
  const { api } = await bench().seeded()
  const { page } = await bench().open(api, '/deliveries')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const held = Promise.withResolvers<void>()
  const script = Promise.withResolvers<void>()
  await page.route('**/*.js', async (route) => {
    await script.promise
    await route.continue()
  })
  await page.route('**/v1/api-keys/self', async (route) => {
    await held.promise
    await route.continue()
  })
  await page.reload({ waitUntil: 'commit' })
  await page.locator('#root > div.boot').waitFor()
  script.resolve()
  await page.locator('main.boot').waitFor()
  held.resolve()
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor()
})
