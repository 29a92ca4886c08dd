/**
 * A list of the API as a screen shows it. New rows wait behind a count until the user asks for them, and rows that
 * have left the list stay until then, marked, so that nothing moves while it is read. Each read covers every shown
 * row, page by page from the row before, so none is passed over.
 */
import {
  hashKey,
  keepPreviousData,
  type QueryKey,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { sayProblem } from '../design/toasts.tsx'

export interface Row {
  readonly id: string
  readonly createdAt: string
}

export interface ListPage<T extends Row> {
  readonly data: readonly T[]
  readonly pagination: { readonly total: number; readonly hasMore: boolean; readonly totalIsExact?: false }
}

/** What a page begins after: a row of a kind, or a number of rows elsewhere. */
export type Place = { readonly limit: number } & (
  | { readonly after: string | undefined; readonly offset?: undefined }
  | { readonly offset: number; readonly after?: undefined }
)

interface ListOptions<T extends Row> {
  /** Identifies the list, with its filters. Those of the desk's kinds are read again when they change. */
  readonly key: QueryKey
  readonly load: (page: Place, signal?: AbortSignal) => Promise<ListPage<T>>
  /** For lists that only know an offset. */
  readonly isByOffset?: boolean
  /** Milliseconds between reads, for lists without a stream. */
  readonly every?: number | undefined
  readonly pageSize?: number
  /** False: not loaded. */
  readonly isEnabled?: boolean
}

/** Rows that are kept when new ones are shown: the oldest go, and "load more" brings them back. */
const maxRows = 500

/** Of a page of the API. */
const largestPage = 100

/** Ids of rows that the user has made: they are shown as soon as they are in a list. */
const ownRows = new Set<string>()

export function showAtOnce(id: string): void {
  ownRows.add(id)
}

interface Held<T> {
  /** The list as far as its last shown row, as it was read last. */
  readonly rows: readonly T[]
  /** The rows on the screen, in their order there; empty: all of them. */
  readonly shown: readonly T[]
  readonly total: number
  readonly isExact: boolean
  readonly hasMore: boolean
}

export interface List<T extends Row> {
  readonly rows: readonly T[]
  /** Of the whole list. */
  readonly total: number
  /** False: there are at least `total`. */
  readonly isExact: boolean
  readonly isLoading: boolean
  readonly error: Error | null
  readonly retry: () => void
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly loadMore: () => void
  /** How many new rows are not shown; `gone`: shown rows that have left the list. */
  readonly news: { readonly count: number; readonly gone: number }
  /** The row has left the list: it was resolved, moved or deleted. */
  readonly isGone: (row: T) => boolean
  readonly showNews: () => void
}

export function useList<T extends Row>({
  key: of,
  load,
  isByOffset = false,
  every,
  pageSize = 50,
  isEnabled = true,
}: ListOptions<T>): List<T> {
  const client = useQueryClient()
  // What is held differs from a page as the API answers it, which others keep under the key itself.
  const key = [...of, 'held']
  const placeAfter = (limit: number, rows: readonly T[]): Place =>
    isByOffset ? { limit, offset: rows.length } : { limit, after: rows.at(-1)?.id }

  const query = useQuery({
    queryKey: key,
    queryFn: async ({ signal }): Promise<Held<T>> => {
      const held = client.getQueryData<Held<T>>(key)
      const before = held === undefined ? [] : shownOf(held)
      const last = before.at(-1)
      const limit = Math.min(largestPage, Math.max(pageSize, before.length + 10))
      const rows = new Map<string, T>()
      for (;;) {
        const { data, pagination } = await load(placeAfter(limit, [...rows.values()]), signal)
        for (const row of data) rows.set(row.id, row)
        const bottom = data.at(-1)
        if (pagination.hasMore && last !== undefined && bottom !== undefined && isBefore(bottom, last))
          continue
        const within = [...rows.values()].filter((row) => last === undefined || !isBefore(last, row))
        const shown = client.getQueryData<Held<T>>(key)?.shown ?? []
        const known = new Set(shown.map(({ id }) => id))
        const own = within.some(({ id }) => ownRows.has(id) && !known.has(id))
        return {
          rows: within,
          // Nothing moves where nothing is shown.
          shown:
            shown.length === 0
              ? within
              : own
                ? within.filter(({ id }) => known.has(id) || ownRows.has(id))
                : shown,
          total: pagination.total,
          isExact: pagination.totalIsExact !== false,
          hasMore: pagination.hasMore || within.length < rows.size,
        }
      }
    },
    enabled: isEnabled,
    refetchInterval: every ?? false,
    placeholderData: keepPreviousData,
  })

  const more = useMutation({
    mutationFn: async () => {
      const exactly = { queryKey: key, exact: true }
      const isReading = client.isFetching(exactly) > 0
      // What is read now would not know of the page.
      await client.cancelQueries(exactly)
      const { data, pagination } = await load(placeAfter(pageSize, rows))
      client.setQueryData<Held<T>>(key, (now) => {
        if (now === undefined) return now
        const shown = shownOf(now)
        const known = new Set(shown.map(({ id }) => id))
        const added = data.filter(({ id }) => !known.has(id))
        return {
          ...now,
          rows: [...now.rows, ...added],
          shown: [...shown, ...added],
          total: pagination.total,
          hasMore: pagination.hasMore,
        }
      })
      if (isReading) await client.invalidateQueries(exactly)
    },
    onError: (error) => sayProblem('Could not load more', error),
  })

  const hash = hashKey(key)
  // Nobody reads it any more: what is new or gone is taken over when it is shown again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the hash stands for the key
  useEffect(
    () => () => {
      const state = client.getQueryState<Held<T>>(key)
      if (state?.data === undefined) return
      if (state.isInvalidated) client.removeQueries({ queryKey: key, exact: true })
      else client.setQueryData(key, { ...state.data, shown: [] }, { updatedAt: state.dataUpdatedAt })
    },
    [client, hash],
  )

  const held = query.data
  const { rows, fresh, gone } = useMemo(() => {
    const current = new Map(held?.rows.map((row) => [row.id, row]))
    const shown = held === undefined ? [] : shownOf(held)
    const known = new Set(shown.map(({ id }) => id))
    return {
      rows: shown.map((row) => current.get(row.id) ?? row),
      fresh: [...current.keys()].filter((id) => !known.has(id)).length,
      gone: new Set(shown.flatMap(({ id }) => (current.has(id) ? [] : [id]))),
    }
  }, [held])

  return {
    rows,
    total: held?.total ?? 0,
    isExact: held?.isExact ?? true,
    isLoading: query.isPending,
    error: query.error,
    retry: () => void query.refetch(),
    hasMore: held?.hasMore ?? false,
    isLoadingMore: more.isPending,
    loadMore: () => more.mutate(),
    news: { count: fresh, gone: gone.size },
    isGone: ({ id }) => gone.has(id),
    showNews: () =>
      client.setQueryData<Held<T>>(key, (held) => {
        if (held === undefined) return held
        const rows = held.rows.slice(0, maxRows)
        return { ...held, rows, shown: rows, hasMore: held.hasMore || rows.length < held.rows.length }
      }),
  }
}

function shownOf<T>({ rows, shown }: Held<T>): readonly T[] {
  return shown.length === 0 ? rows : shown
}

/** Newest first, as every list is. */
function isBefore(one: Row, other: Row): boolean {
  return one.createdAt === other.createdAt ? one.id > other.id : one.createdAt > other.createdAt
}
