import { createRoute } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { lazyScreen } from '../../router/lazy-screen.ts'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'
import { findBy } from '../desk/objects.ts'
import { Conversations } from './conversations.tsx'

export const screen: Screen = {
  path: '/conversations',
  title: 'Conversations',
  group: 'Desk',
  scope: 'conversations:read',
  find: async (words, go, signal) => {
    const data = await findBy(api().conversations, words, signal)
    return data.map((one) => ({
      id: one.id,
      title: one.subject || 'No subject',
      detail: `Conversation, ${one.status}`,
      run: () => go(`/conversations/${one.id}`),
    }))
  },
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
