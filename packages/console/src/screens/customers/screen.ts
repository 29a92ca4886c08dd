import { createRoute } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { lazyScreen } from '../../router/lazy-screen.ts'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'
import { findBy, nameOf } from '../desk/objects.ts'
import { Customers } from './customers.tsx'

export const screen: Screen = {
  path: '/customers',
  title: 'Customers',
  group: 'Desk',
  scope: 'customers:read',
  find: async (words, go, signal) => {
    const data = await findBy(api().customers, words, signal)
    return data.map((one) => ({
      id: one.id,
      title: nameOf(one),
      detail: 'Customer',
      run: () => go(`/customers/${one.id}`),
    }))
  },
}

export const routes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/customers',
    validateSearch: textsNamed('q', 'tag', 'createdAfter', 'createdBefore'),
    component: Customers,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/customers/$id',
    component: lazyScreen(() => import('./customer.tsx'), 'OneCustomer'),
  }),
] as const
