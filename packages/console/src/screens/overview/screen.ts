import { createRoute } from '@tanstack/react-router'
import { lazyScreen } from '../../router/lazy-screen.ts'
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
    component: lazyScreen(() => import('./overview.tsx'), 'Overview'),
  }),
] as const
