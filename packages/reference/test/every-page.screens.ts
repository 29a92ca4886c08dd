/** Every sort of page in a browser, light and dark. In `npm run check -- console`, as it takes half a minute. */
import { test } from 'vitest'
import { sharedBrowser, sharedService } from '../../testbed/shared-service.ts'
import { expectWhole } from './whole-pages.fixture.ts'

const browser = sharedBrowser()
const service = sharedService()

test.each(['light', 'dark'] as const)('in %s', (scheme) =>
  expectWhole(browser(), service().url, scheme, [
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
