import { createRoute } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { lazyScreen } from '../../router/lazy-screen.ts'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'
import { findRows, sayDate, sayParts, sayStatus } from '../desk/objects.ts'
import { Conversations } from './conversations.tsx'

export const screen: Screen = {
  path: '/conversations',
  title: 'Conversations',
  group: 'Desk',
  scope: 'conversations:read',
  find: (words, go, signal) =>
    findRows({
      kind: api().conversations,
      list: '/conversations?status=any',
      words,
      go,
      signal,
      show: (one) => ({
        title: one.subject || 'No subject',
        detail: 'Conversation',
        about: sayParts(sayStatus(one.status), sayDate(one.lastMessageAt ?? one.createdAt)),
        customerId: one.customerId,
        address: `/conversations/${one.id}`,
      }),
    }),
}

export const routes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/conversations',
    validateSearch: textsNamed(
      'q',
      'status',
      'channel',
      'assignee',
      'handled',
      'createdAfter',
      'createdBefore',
    ),
    component: Conversations,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/conversations/$id',
    validateSearch: textsNamed('message'),
    component: lazyScreen(() => import('./conversation.tsx'), 'OneConversation'),
  }),
] as const
