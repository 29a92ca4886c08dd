import { createRoute } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { lazyScreen } from '../../router/lazy-screen.ts'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'
import { findRows, sayParts, sayStatus } from '../desk/objects.ts'
import { Bookings } from './bookings.tsx'
import { sayWhen } from './when.ts'

export const screen: Screen = {
  path: '/bookings',
  title: 'Bookings',
  group: 'Desk',
  scope: 'bookings:read',
  find: (words, go, signal) =>
    findRows({
      kind: api().bookings,
      list: '/bookings?view=list',
      words,
      go,
      signal,
      show: (one) => ({
        title: one.title,
        detail: 'Booking',
        about: sayParts(sayStatus(one.status), sayWhen(one)),
        customerId: one.customerId,
        address: `/bookings/${one.id}`,
      }),
    }),
}

export const routes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/bookings',
    validateSearch: textsNamed(
      'view',
      'week',
      'q',
      'status',
      'assignee',
      'cancelled',
      'conflicts',
      'createdAfter',
      'createdBefore',
    ),
    component: Bookings,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/bookings/$id',
    component: lazyScreen(() => import('./booking.tsx'), 'OneBooking'),
  }),
] as const
