import { createRoute } from '@tanstack/react-router'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'
import { Inbox } from './inbox.tsx'

export const screen: Screen = {
  path: '/inbox',
  title: 'Inbox',
  group: 'Desk',
  scope: 'conversations:read',
}

export const routes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/inbox',
    validateSearch: textsNamed('tab', 'id'),
    component: Inbox,
  }),
] as const
