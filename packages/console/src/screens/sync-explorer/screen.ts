import { createRoute } from '@tanstack/react-router'
import { lazyScreen } from '../../router/lazy-screen.ts'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'

export const screen: Screen = {
  path: '/sync-explorer',
  title: 'Sync explorer',
  group: 'Delivery',
  scope: null,
}

export const routes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sync-explorer',
    validateSearch: textsNamed('kind', 'what'),
    component: lazyScreen(() => import('./sync-explorer.tsx'), 'SyncExplorer'),
  }),
] as const
