/** Every sort of page in a browser, whole in light and in dark: part of `npm run check -- console`, as it takes half a minute. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, test } from 'vitest'
import { startBrowser } from '../../testbed/browser.ts'
import { type TestService, testService } from '../../testbed/service.ts'
import { expectWhole } from './whole-pages.fixture.ts'

let browser: Browser
let service: TestService

beforeAll(async () => {
  browser = await startBrowser()
  service = await testService()
})

afterAll(async () => {
  await browser?.close()
  await service?.[Symbol.asyncDispose]()
})

test.each(['light', 'dark'] as const)('in %s', (scheme) =>
  expectWhole(browser, service.url, scheme, [
    '/',
    '/docs',
    '/docs/api/updateTicket',
    '/docs/objects/Booking',
    '/docs/events/ticket.status_changed',
    '/docs/guides/sync.md',
    '/docs/reference/settings.md',
    '/docs/errors/invalid_transition',
  ]),
)
