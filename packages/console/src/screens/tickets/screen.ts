import { createRoute } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { lazyScreen } from '../../router/lazy-screen.ts'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'
import { findRows, sayDate, sayParts, sayStatus } from '../desk/objects.ts'
import { Tickets } from './tickets.tsx'

export const screen: Screen = {
  path: '/tickets',
  title: 'Tickets',
  group: 'Desk',
  scope: 'tickets:read',
  find: (words, go, signal) => {
    const [, number] = /^#?([1-9]\d{0,14})$/.exec(words) ?? []
    const { tickets } = api()
    return findRows({
      kind: tickets,
      list: '/tickets',
      words,
      go,
      signal,
      named: number ? tickets.list({ number: Number(number) }, { signal }).toArray({ limit: 1 }) : null,
      show: (one) => ({
        title: `#${one.number} ${one.subject}`,
        detail: 'Ticket',
        about: sayParts(sayStatus(one.status), sayDate(one.createdAt)),
        customerId: one.customerId,
        address: `/tickets/${one.id}`,
      }),
    })
  },
}

export const routes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/tickets',
    validateSearch: textsNamed(
      'q',
      'status',
      'priority',
      'type',
      'assignee',
      'overdue',
      'createdAfter',
      'createdBefore',
    ),
    component: Tickets,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/tickets/$id',
    component: lazyScreen(() => import('./ticket.tsx'), 'OneTicket'),
  }),
] as const
