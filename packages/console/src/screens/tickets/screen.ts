import { createRoute } from '@tanstack/react-router'
import { answerOf, api } from '../../api/client.ts'
import { lazyScreen } from '../../router/lazy-screen.ts'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'
import { findBy, sayStatus } from '../desk/objects.ts'
import { Tickets } from './tickets.tsx'

export const screen: Screen = {
  path: '/tickets',
  title: 'Tickets',
  group: 'Desk',
  scope: 'tickets:read',
  find: async (words, go, signal) => {
    const [, number] = /^#?([1-9]\d{0,14})$/.exec(words) ?? []
    const { tickets } = api()
    const data =
      number === undefined
        ? await findBy(tickets, words, signal)
        : (await answerOf(tickets.list({ number: Number(number) }, { signal }).page())).data
    return data.map((one) => ({
      id: one.id,
      title: `#${one.number} ${one.subject}`,
      detail: `Ticket, ${sayStatus(one.status).toLowerCase()}`,
      run: () => go(`/tickets/${one.id}`),
    }))
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
