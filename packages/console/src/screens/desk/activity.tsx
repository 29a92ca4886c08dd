/** What happened to an object, by whom and when: its events, as long as the delivery log keeps them. */
import type { ListedEvent } from '@deskwire/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { answerOf, api } from '../../api/client.ts'
import { Button } from '../../design/button.tsx'
import { Panel } from '../../design/page.tsx'
import { ErrorState } from '../../design/states.tsx'
import { Time } from '../../design/time.tsx'
import css from './activity.module.css'
import { sayStatus } from './objects.ts'

export function Activity({
  of: { id, createdAt, updatedAt },
}: {
  readonly of: { readonly id: string; readonly createdAt: string; readonly updatedAt: string }
}) {
  const read = useInfiniteQuery({
    // Each version may have an event of its own.
    queryKey: ['activity', id, updatedAt],
    queryFn: async ({ pageParam, signal }) => {
      const query = { subject: id, include: 'actor' as const, limit: 100, ...pageParam }
      const { data, pagination } = await answerOf(api().events.list(query, { signal }).page())
      // Without the object as it is, which may be erased while this is cached.
      return {
        pagination,
        data: data.map((event) => ({ ...event, data: null })),
      }
    },
    initialPageParam: { createdAfter: new Date(Date.parse(createdAt) - 1).toISOString() } as {
      readonly createdAfter?: string
      readonly cursor?: string
    },
    getNextPageParam: ({ pagination }) =>
      pagination.hasMore ? { cursor: pagination.nextCursor } : undefined,
    placeholderData: (before) => before,
  })
  const all = read.data?.pages.flatMap(({ data }) => data) ?? []
  // A request that assigned it has updated it too.
  const events = all.filter(
    ({ type, requestId }) =>
      !type.endsWith('.updated') ||
      requestId === null ||
      all.every((other) => other.requestId !== requestId || other.type === type),
  )
  return (
    <Panel title="Activity">
      {read.error !== null && <ErrorState error={read.error} retry={() => void read.refetch()} />}
      <ol className={css.events}>
        {events.map((event) => (
          <li key={event.id}>
            <span>
              {sayStatus(event.type.split('.')[1] ?? event.type)} by{' '}
              <bdi>{actorOf(event) ?? 'the service'}</bdi>
            </span>
            <Time at={event.createdAt} />
          </li>
        ))}
      </ol>
      {read.data !== undefined && events.length === 0 && <p>Its events are not kept any more.</p>}
      {read.hasNextPage && (
        <Button size="s" isBusy={read.isFetchingNextPage} onClick={() => void read.fetchNextPage()}>
          Load more
        </Button>
      )}
    </Panel>
  )
}

/** The name of who caused it, as far as the key may know. */
export function actorOf({ actor, onBehalfOf }: ListedEvent): string | undefined {
  return onBehalfOf?.name ?? actor?.name ?? (actor?.type === 'api_key' ? 'an API key' : undefined)
}
