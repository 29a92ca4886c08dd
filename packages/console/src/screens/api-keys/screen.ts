import { createRoute } from '@tanstack/react-router'
import { answerOf, api } from '../../api/client.ts'
import { lazyScreen } from '../../router/lazy-screen.ts'
import { rootRoute } from '../../router/root-route.tsx'
import type { Screen } from '../../router/screen.ts'
import { textsNamed } from '../../router/search.ts'
import { sayDate, sayParts } from '../desk/objects.ts'
import { ApiKeys } from './api-keys.tsx'

export const screen: Screen = {
  path: '/api-keys',
  title: 'API keys',
  group: 'Access',
  scope: 'api_keys:manage',
  commands: (_, go) => [
    { id: 'api-keys/new', title: 'Create API key', detail: 'Action', run: () => go('/api-keys?new=yes') },
  ],
  find: async (words, go, signal) => {
    const { data } = await answerOf(api().apiKeys.list({ limit: 100 }, { signal }).page())
    return data
      .filter(({ id, name, last4 }) =>
        [id, name, last4].some((text) => text.toLowerCase().includes(words.toLowerCase())),
      )
      .slice(0, 4)
      .map(({ id, name, last4, createdAt }) => ({
        id,
        title: name,
        detail: 'API key',
        about: sayParts(`…${last4}`, `Created ${sayDate(createdAt)}`),
        isNamed: id === words.toLowerCase(),
        run: () => go(`/api-keys/${id}`),
      }))
  },
}

export const routes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/api-keys',
    validateSearch: textsNamed('new', 'revoked'),
    component: ApiKeys,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/api-keys/$id',
    component: lazyScreen(() => import('./api-key.tsx'), 'OneApiKey'),
  }),
] as const
