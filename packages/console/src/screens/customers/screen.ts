import { createRoute } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { lazyScreen } from '../../router/lazy-screen.ts'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'
import { findRows, nameOf, sayDate, sayParts } from '../desk/objects.ts'
import { Customers } from './customers.tsx'

export const screen: Screen = {
  path: '/customers',
  title: 'Customers',
  group: 'Desk',
  scope: 'customers:read',
  find: (words, go, signal) => {
    const { customers } = api()
    return findRows({
      kind: customers,
      list: '/customers',
      words,
      go,
      signal,
      named: words.includes('@') ? customers.list({ email: words }, { signal }).toArray({ limit: 1 }) : null,
      show: (one) => ({
        title: nameOf(one),
        detail: 'Customer',
        about: sayParts(one.company, one.email ?? one.phone ?? `Added ${sayDate(one.createdAt)}`),
        address: `/customers/${one.id}`,
      }),
    })
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
