import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'

export const screen: Screen = {
  path: '/',
  title: 'Overview',
  group: 'Delivery',
  scope: null,
}

export const routes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/',
    validateSearch: textsNamed('span'),
    component: lazyRouteComponent(() => import('./overview.tsx'), 'Overview'),
  }),
] as const
