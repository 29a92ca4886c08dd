import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { answerOf, api } from '../../api/client.ts'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'
import { findBy, rowsOf } from '../desk/objects.ts'

export const screen: Screen = {
  path: '/conversations',
  title: 'Conversations',
  group: 'Desk',
  scope: 'conversations:read',
  find: async (words, go, signal) => {
    const query = findBy(words)
    const { data } = rowsOf(await answerOf(api.GET('/v1/conversations', { params: { query }, signal })))
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
    validateSearch: textsNamed('q', 'status', 'channel', 'assignee', 'handled'),
    component: lazyRouteComponent(() => import('./conversations.tsx'), 'Conversations'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/conversations/$id',
    component: lazyRouteComponent(() => import('./conversation.tsx'), 'OneConversation'),
  }),
] as const
