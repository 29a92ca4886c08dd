/**
 * A list of the API as a screen shows it. New rows wait behind a count until the user asks for them, and rows that have
 * left the list stay until then, marked, so that nothing moves while it is read. Shown rows are kept current.
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

interface ListOptions<T extends Row> {
  /** Identifies the list, with its filters. */
  readonly key: readonly unknown[]
  readonly load: (page: { limit: number; offset: number }, signal: AbortSignal) => Promise<ListPage<T>>
  /** Milliseconds between looks for new rows; default: none. */
  readonly every?: number | undefined
  readonly pageSize?: number
  /** False: not loaded. */
  readonly isEnabled?: boolean
}

/** Rows that are kept when new ones are shown: the oldest go, and "load more" brings them back. */
const mostRows = 500

/** Rows that a look for new ones asks for. */
const mostNewRows = 100

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
  /** How many new rows are not shown; `isMore`: at least so many. `gone`: shown rows that have left the list. */
  readonly news: { readonly count: number; readonly isMore: boolean; readonly gone: number }
  /** The row has left the list: it was resolved, moved or deleted. */
  readonly isGone: (row: T) => boolean
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
    // New rows push others down, so some come twice.
    getNextPageParam: (last, all) =>
      last.pagination.hasMore ? all.reduce((sum, { data }) => sum + data.length, 0) : undefined,
    placeholderData: keepPreviousData,
    staleTime: every === undefined ? 0 : Number.POSITIVE_INFINITY,
  })
  const held = pages.data?.pages.reduce((sum, { data }) => sum + data.length, 0) ?? 0
  const looked = Math.min(Math.max(held, pageSize), mostNewRows)
  const head = useQuery({
    queryKey: [...key, 'head'],
    queryFn: ({ signal }) => load({ limit: looked, offset: 0 }, signal),
    enabled: isEnabled && every !== undefined && pages.isSuccess && !pages.isPlaceholderData,
    refetchInterval: every ?? false,
    gcTime: 0,
  })

  const { rows, fresh, gone } = useMemo(() => {
    const newest = new Map((head.data?.data ?? []).map((row) => [row.id, row]))
    const shown = new Map<string, T>()
    for (const row of pages.data?.pages.flatMap(({ data }) => data) ?? []) {
      if (!shown.has(row.id)) shown.set(row.id, newest.get(row.id) ?? row)
    }
    const rows = [...shown.values()]
    const fresh = [...newest.values()].filter(({ id }) => !shown.has(id))
    // Rows keep their order: those before one that was found have been looked for as well.
    const last = head.data?.pagination.hasMore ? rows.findLastIndex(({ id }) => newest.has(id)) : rows.length
    // An earlier look does not know of rows that were shown since.
    const isLater = head.data !== undefined && head.dataUpdatedAt >= pages.dataUpdatedAt
    const left = isLater ? rows.slice(0, last + 1).filter(({ id }) => !newest.has(id)) : []
    return { rows, fresh, gone: new Set(left.map(({ id }) => id)) }
  }, [pages.data, pages.dataUpdatedAt, head.data, head.dataUpdatedAt])

  function showNews(): void {
    // There may be more between the new rows and the shown ones.
    if (fresh.length >= pageSize) {
      void client.resetQueries({ queryKey: pagesKey })
      return
    }
    client.setQueryData<typeof pages.data>(pagesKey, (held) => {
      const last = held?.pages.at(-1)
      if (held === undefined || last === undefined) return held
      const all = [...fresh, ...held.pages.flatMap(({ data }) => data)].filter(({ id }) => !gone.has(id))
      const data = all.slice(0, mostRows)
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
    news: { count: fresh.length, isMore: fresh.length >= pageSize, gone: gone.size },
    isGone: ({ id }) => gone.has(id),
    showNews,
  }
}
