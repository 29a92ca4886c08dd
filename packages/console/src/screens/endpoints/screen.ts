import { createRoute } from '@tanstack/react-router'
import { lazyScreen } from '../../router/lazy-screen.ts'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'
import { Endpoints } from './endpoints.tsx'

export const screen: Screen = {
  path: '/endpoints',
  title: 'Endpoints',
  group: 'Delivery',
  scope: 'webhooks:read',
}

export const routes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/endpoints',
    validateSearch: textsNamed('status'),
    component: Endpoints,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/endpoints/$id',
    component: lazyScreen(() => import('./endpoint.tsx'), 'OneEndpoint'),
  }),
] as const
