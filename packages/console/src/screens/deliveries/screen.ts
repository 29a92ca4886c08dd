import { createRoute } from '@tanstack/react-router'
import { lazyScreen } from '../../router/lazy-screen.ts'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'
import { Deliveries } from './deliveries.tsx'

export const screen: Screen = {
  path: '/deliveries',
  title: 'Deliveries',
  group: 'Delivery',
  scope: 'webhooks:read',
}

export const routes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/deliveries',
    validateSearch: textsNamed('status', 'type', 'endpoint', 'event', 'createdAfter', 'createdBefore'),
    component: Deliveries,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/deliveries/$id',
    validateSearch: textsNamed('endpoint'),
    component: lazyScreen(() => import('./delivery.tsx'), 'OneDelivery'),
  }),
] as const
