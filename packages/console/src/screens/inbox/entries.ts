/** What the inbox reads: entries by how long the customer waits, and the counts of its tabs. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { answerOf, api } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import type { Conversation, Message } from '../desk/objects.ts'

/** As the API shows it (specification 6.5). */
export interface Entry {
  readonly conversation: Conversation
  readonly lastMessage: (Pick<Message, 'id' | 'author' | 'sentAt'> & { readonly preview: string }) | null
  readonly awaitingReplySince: string | null
}

interface Page {
  readonly data: readonly Entry[]
  readonly pagination: { readonly hasMore: boolean }
}

export interface Counts {
  readonly open: number
  readonly waiting: number
  readonly unassigned: number
  readonly assigned: number
}

/** The API counts to 1,000. */
export function sayCount(count: number): string {
  return count >= 1_000 ? '1,000+' : String(count)
}

type Query = Readonly<Record<string, string>>

/** Entries page by page; null: nothing is asked. */
export function useEntries(query: Query | null) {
  return useInfiniteQuery({
    queryKey: keys.inbox(query),
    queryFn: ({ pageParam, signal }) => {
      const asked: object = { limit: 50, ...query, ...pageParam }
      return answerOf(api().inbox.list(asked, { signal }).page() as Promise<Page>)
    },
    initialPageParam: {} as Query,
    getNextPageParam: ({ data, pagination }): Query | undefined => {
      const last = data.at(-1)
      if (!pagination.hasMore || last === undefined) return undefined
      const { conversation, awaitingReplySince } = last
      return {
        after: conversation.id,
        ...(awaitingReplySince === null ? {} : { afterSince: awaitingReplySince }),
      }
    },
    enabled: query !== null,
    placeholderData: keepPreviousData,
  })
}

export function useCounts(assigneeId: string | null, isEnabled = true): Counts | undefined {
  const query: Query = assigneeId === null ? {} : { assigneeId }
  return useQuery({
    queryKey: keys.inbox('counts', query),
    queryFn: ({ signal }) => answerOf<Counts>(api().inbox.counts(query, { signal })),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
  }).data
}
