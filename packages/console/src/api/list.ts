/**
 * A list of the API as a screen shows it: pages that are loaded one after another, and the news of it. What has come since
 * waits behind a count until the reader asks for it, so that nothing moves under the eyes; what is shown already is kept
 * current in its place.
 */
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'

export interface Row {
  readonly id: string
}

export interface ListPage<T extends Row> {
  readonly data: readonly T[]
  readonly pagination: { readonly total: number; readonly hasMore: boolean }
}

export interface ListOptions<T extends Row> {
  /** What the list is of, with its filters: one list a key. */
  readonly key: readonly unknown[]
  readonly load: (page: { limit: number; offset: number }, signal: AbortSignal) => Promise<ListPage<T>>
  /** Milliseconds between looks for news; none unless told. */
  readonly every?: number | undefined
  readonly pageSize?: number
  /** False where it may not be asked for. */
  readonly isEnabled?: boolean
}

/** Rows that are kept at most when news are taken in: the oldest go, and "load more" brings them back. */
const keptAtMost = 500

export interface List<T extends Row> {
  readonly rows: readonly T[]
  /** Of the whole list, as far as the service counts. */
  readonly total: number
  readonly isLoading: boolean
  readonly error: Error | null
  readonly retry: () => void
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly loadMore: () => void
  /** How many rows have come that are not shown; `isMore` when there are more than were looked at. */
  readonly news: { readonly count: number; readonly isMore: boolean }
  readonly showNews: () => void
}

export function useList<T extends Row>({
  key,
  load,
  every,
  pageSize = 50,
  isEnabled = true,
}: ListOptions<T>): List<T> {
  const client = useQueryClient()
  const pagesKey = [...key, 'pages']
  const pages = useInfiniteQuery({
    queryKey: pagesKey,
    queryFn: ({ pageParam, signal }) => load({ limit: pageSize, offset: pageParam }, signal),
    initialPageParam: 0,
    enabled: isEnabled,
    // News push rows down: what comes twice is shown once.
    getNextPageParam: (last, all) =>
      last.pagination.hasMore ? all.reduce((sum, { data }) => sum + data.length, 0) : undefined,
    placeholderData: keepPreviousData,
    staleTime: every === undefined ? 0 : Number.POSITIVE_INFINITY,
  })
  const head = useQuery({
    queryKey: [...key, 'head'],
    queryFn: ({ signal }) => load({ limit: pageSize, offset: 0 }, signal),
    enabled: isEnabled && every !== undefined && pages.isSuccess && !pages.isPlaceholderData,
    refetchInterval: every ?? false,
    gcTime: 0,
  })

  const { rows, fresh } = useMemo(() => {
    const newest = new Map((head.data?.data ?? []).map((row) => [row.id, row]))
    const shown = new Map<string, T>()
    for (const row of pages.data?.pages.flatMap(({ data }) => data) ?? []) {
      if (!shown.has(row.id)) shown.set(row.id, newest.get(row.id) ?? row)
    }
    return { rows: [...shown.values()], fresh: [...newest.values()].filter(({ id }) => !shown.has(id)) }
  }, [pages.data, head.data])

  function showNews(): void {
    // There may be more between what was looked at and what is shown.
    if (fresh.length >= pageSize) {
      void client.resetQueries({ queryKey: pagesKey })
      return
    }
    client.setQueryData<typeof pages.data>(pagesKey, (held) => {
      const last = held?.pages.at(-1)
      if (held === undefined || last === undefined) return held
      const all = [...fresh, ...held.pages.flatMap(({ data }) => data)]
      const data = all.slice(0, keptAtMost)
      const hasMore = last.pagination.hasMore || all.length > data.length
      return { pages: [{ ...last, data, pagination: { ...last.pagination, hasMore } }], pageParams: [0] }
    })
  }

  return {
    rows,
    total: head.data?.pagination.total ?? pages.data?.pages.at(-1)?.pagination.total ?? 0,
    isLoading: pages.isPending,
    error: pages.error,
    retry: () => void pages.refetch(),
    hasMore: pages.hasNextPage,
    isLoadingMore: pages.isFetchingNextPage,
    loadMore: () => void pages.fetchNextPage(),
    news: { count: fresh.length, isMore: fresh.length >= pageSize },
    showNews,
  }
}
