import { queryOptions, useQuery } from '@tanstack/react-query'
import { answerOf, api, type Webhook } from '../../api/client.ts'
import { Status, type Tone } from '../../design/status.tsx'

type Health = 'well' | 'missed' | 'failing' | 'paused' | 'disabled' | 'unused'

/** The health of an endpoint in a word. */
export function healthOf({ status, failingSince, missedSince, lastSuccessAt }: Webhook): Health {
  if (status === 'paused') return 'paused'
  if (status !== 'active') return 'disabled'
  if (failingSince !== null) return 'failing'
  if (missedSince !== null) return 'missed'
  return lastSuccessAt === null ? 'unused' : 'well'
}

const shown: Readonly<Record<Health, readonly [tone: Tone, words: string]>> = {
  well: ['good', 'Healthy'],
  missed: ['wait', 'Missed events'],
  failing: ['bad', 'Failing'],
  paused: ['wait', 'Paused'],
  disabled: ['wait', 'Disabled'],
  unused: ['quiet', 'No deliveries yet'],
}

export function EndpointStatus({ endpoint }: { readonly endpoint: Webhook }) {
  const health = healthOf(endpoint)
  const isCatchingUp = useCatchingUp(endpoint.id, health === 'well')
  if (isCatchingUp) return <Status tone="wait">Catching up</Status>
  const [tone, words] = shown[health]
  return <Status tone={tone}>{words}</Status>
}

/** The newest pending deliveries of all endpoints: one request, however many endpoints a list has. */
const pendingQuery = queryOptions({
  queryKey: ['deliveries', 'pending'],
  queryFn: ({ signal }) =>
    answerOf(api().deliveries.list({ status: 'pending', limit: 100 }, { signal }).page()),
  refetchInterval: 10_000,
})

/** New deliveries of a healthy endpoint succeed at once: a pending one that was tried is of its outage. */
export function useCatchingUp(id: string, isEnabled: boolean): boolean {
  const { data } = useQuery({ ...pendingQuery, enabled: isEnabled })
  const isAmongMore = data?.pagination.hasMore === true
  const behind = useBehind(id, 'pending', isEnabled && isAmongMore)
  if (!isEnabled || data === undefined) return false
  const isRetried = data.data.some(({ webhookId, attemptCount }) => webhookId === id && attemptCount > 0)
  return isRetried || behind?.isRetried === true
}

interface Behind {
  readonly count: number
  /** False: there are at least `count`. */
  readonly isExact: boolean
  readonly isRetried: boolean
}

/** Deliveries of an endpoint that have not arrived; undefined until known. */
export function useBehind(id: string, status: 'pending' | 'failed', isEnabled = true): Behind | undefined {
  const { data } = useQuery({
    queryKey: ['deliveries', 'count', id, status],
    queryFn: ({ signal }) => answerOf(api().webhooks.deliveries(id, { status, limit: 1 }, { signal }).page()),
    enabled: isEnabled,
    refetchInterval: 10_000,
  })
  if (data === undefined || !isEnabled) return undefined
  const { total, totalIsExact } = data.pagination
  return {
    count: total,
    isExact: totalIsExact !== false,
    isRetried: data.data.some(({ attemptCount }) => attemptCount > 0),
  }
}

export function sayBehind({ count, isExact }: Behind): string {
  return `${count.toLocaleString('en')}${isExact ? '' : ' or more'}`
}

/** Why an endpoint is disabled, in words. */
export const disabledReasons: Readonly<Record<string, string>> = {
  failing: 'Disabled after failing for too long',
  address_not_public: 'Disabled: its host no longer has a public address',
  registrant_revoked: 'Disabled: the key that registered it was revoked',
  manual: 'Disabled manually',
  gone: 'Disabled: the receiver responded with 410 (gone)',
}
