import { createRouter } from '@tanstack/react-router'
import { routes } from '../screens/index.ts'
import { Failed, rootRoute } from './root-route.tsx'
import { parseSearch, stringifySearch } from './search.ts'

export const router = createRouter({
  routeTree: rootRoute.addChildren(routes),
  basepath: '/console',
  parseSearch,
  stringifySearch,
  defaultErrorComponent: Failed,
  defaultPreload: 'intent',
  scrollRestoration: false,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
