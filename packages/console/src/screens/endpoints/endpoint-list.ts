/** The endpoints of the organization, loaded once for all screens, and kept current. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { answerOf, api, type Webhook } from '../../api/client.ts'

/** Nearly every organization has fewer; the others are shown by id. */
const named = 100

export const endpointsQuery = queryOptions({
  queryKey: ['endpoints', 'named'],
  queryFn: ({ signal }) => answerOf(api().webhooks.list({ limit: named }, { signal }).page()),
  refetchInterval: 10_000,
})

export function useEndpoints(): {
  readonly all: readonly Webhook[]
  readonly byId: ReadonlyMap<string, Webhook>
} {
  const { data } = useQuery(endpointsQuery)
  const all = data?.data ?? []
  return { all, byId: new Map(all.map((endpoint) => [endpoint.id, endpoint])) }
}

/** The host of a URL, by which people know it; its path where that distinguishes it. */
export function hostOf(url: string | undefined): string | null {
  if (url === undefined) return null
  try {
    const { host, pathname } = new URL(url)
    return pathname === '/' ? host : `${host}${pathname}`
  } catch {
    return url
  }
}
