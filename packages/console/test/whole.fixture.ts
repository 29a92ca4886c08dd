/** The screens of an integration, each looked at: it is there, and axe finds nothing. */
import type { Bench } from './harness.ts'

export async function expectWhole(bench: Bench, scheme: 'light' | 'dark'): Promise<void> {
  const { api, failing } = await bench.seeded()
  const { page, audit } = await bench.open(api, '/', { scheme })
  const shown = [
    ['/', 'Overview'],
    ['/endpoints', 'Endpoints'],
    [`/endpoints/${failing.id}`, /localhost/],
    ['/deliveries', 'Deliveries'],
    ['/signature-tester', 'Signature tester'],
    ['/sync-explorer', 'Sync explorer'],
    ['/api-keys', 'API keys'],
  ] as const
  for (const [address, name] of shown) {
    await page.goto(`${bench.service.url}/console${address}`)
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await audit()
  }
}
