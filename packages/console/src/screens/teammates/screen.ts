import { createRoute } from '@tanstack/react-router'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'
import { Teammates } from './teammates.tsx'

export const screen: Screen = {
  path: '/teammates',
  title: 'Teammates',
  group: 'Desk',
  scope: 'teammates:read',
}

export const routes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/teammates',
    validateSearch: textsNamed('q'),
    component: Teammates,
  }),
] as const
