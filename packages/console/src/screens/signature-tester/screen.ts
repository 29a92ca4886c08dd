import { createRoute } from '@tanstack/react-router'
import { lazyScreen } from '../../router/lazy-screen.ts'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'

export const screen: Screen = {
  path: '/signature-tester',
  title: 'Signature tester',
  group: 'Delivery',
  scope: null,
}

export const routes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/signature-tester',
    component: lazyScreen(() => import('./signature-tester.tsx'), 'SignatureTester'),
  }),
] as const
