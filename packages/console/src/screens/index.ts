/** Every screen, in the order of the sidebar, and its routes. */
import type { Screen } from '../router/screen.ts'
import * as apiKeys from './api-keys/screen.ts'
import * as bookings from './bookings/screen.ts'
import * as conversations from './conversations/screen.ts'
import * as customers from './customers/screen.ts'
import * as deliveries from './deliveries/screen.ts'
import * as endpoints from './endpoints/screen.ts'
import * as inbox from './inbox/screen.ts'
import * as overview from './overview/screen.ts'
import * as signatureTester from './signature-tester/screen.ts'
import * as syncExplorer from './sync-explorer/screen.ts'
import * as teammates from './teammates/screen.ts'
import * as tickets from './tickets/screen.ts'

export const screens: readonly Screen[] = [
  overview.screen,
  endpoints.screen,
  deliveries.screen,
  signatureTester.screen,
  syncExplorer.screen,
  inbox.screen,
  conversations.screen,
  customers.screen,
  tickets.screen,
  bookings.screen,
  teammates.screen,
  apiKeys.screen,
]

export const routes = [
  ...overview.routes,
  ...endpoints.routes,
  ...deliveries.routes,
  ...signatureTester.routes,
  ...syncExplorer.routes,
  ...inbox.routes,
  ...conversations.routes,
  ...customers.routes,
  ...tickets.routes,
  ...bookings.routes,
  ...teammates.routes,
  ...apiKeys.routes,
] as const
