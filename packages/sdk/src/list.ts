/** A list, newest first: row by row, as an array, or one page for display. */

import type { CallPromise } from './call-promise.ts'
import type { ListPage } from './envelope.ts'

/**
 * Filters, and which page. `limit` is the rows of a page: at most 100. Lists of kinds also take `after`: the rows
 * behind the one with this id.
 */
export type ListParams<Filters> = Filters & {
  limit?: number | undefined
  offset?: number | undefined
  after?: string | undefined
}

interface Asked<T> {
  /** Asks for one page. */
  readonly ask: (query: object) => CallPromise<ListPage<T>>
  readonly params: object
}

interface ListOrder<T> {
  /** What rows are ordered by, highest first; no two rows have the same. */
  readonly place: (row: T) => string | number
  /** Whether pages can be asked for by `createdBefore`; otherwise by offset alone. */
  readonly isByTime: boolean
}

/** Newest first, equal times by id: times and ids are texts of one length. */
export const byTime: ListOrder<{ id: string; createdAt: string }> = {
  place: ({ createdAt, id }) => createdAt + id,
  isByTime: true,
}

/** The attempts of a delivery count up. Ids of deliveries and recoveries begin with their time. */
export const byNumberOrId: ListOrder<{ id: string; number?: number }> = {
  place: ({ number, id }) => number ?? id,
  isByTime: false,
}

/**
 * The rows that a list finds. Each iteration asks anew, page by page as the rows are used, 100 a page unless `limit`
 * says otherwise.
 *
 * Pages are found by the time of the last row, not by counting, and are compared with it. So a row that matches all
 * the while comes exactly once, whatever is created, changed or removed meanwhile. What is created after the
 * beginning does not come; what begins or ceases to match meanwhile may come or not. A list holds no removals and is
 * no way to keep a copy: use `sync`.
 */
export class List<T> implements AsyncIterable<T> {
  readonly #list: Asked<T> & ListOrder<T>

  constructor(list: Asked<T> & ListOrder<T>) {
    this.#list = list
  }

  /** One page with its counts, for display: `limit` rows (default 20), from `offset` on. */
  page(): CallPromise<ListPage<T>> {
    return this.#list.ask(this.#list.params)
  }

  /** The first rows, at most `limit` of them over all pages. */
  toArray({ limit }: { limit: number }): Promise<T[]> {
    return firstOf(this.#rows(limit), limit)
  }

  [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    return this.#rows(100)
  }

  async *#rows(most: number): AsyncGenerator<T, void, undefined> {
    const { ask, params, place, isByTime } = this.#list
    const { limit = Math.min(most, 100), offset = 0, ...filters } = params as PageQuery
    // Pages overlap by a row, so one row a page would never end.
    const rows = Math.max(2, limit)
    let query: PageQuery = { ...filters, limit: rows, offset }
    let last: T | undefined
    for (;;) {
      const { data, pagination } = await ask(query)
      // A page that does not begin at or before the last row leaves a gap: rows before it have left the list.
      const isGap = last !== undefined && !(data[0] !== undefined && place(data[0]) >= place(last))
      if (isGap && query.offset > 0) {
        query = { ...query, offset: Math.max(0, query.offset - rows) }
        continue
      }
      for (const row of data) {
        if (last !== undefined && place(row) >= place(last)) continue
        last = row
        yield row
      }
      if (!pagination.hasMore) return
      query = nextQuery(query, data, isByTime)
    }
  }
}

/** What a page says of the next one: what to ask for, or null after the last. */
export type NextPage<Page> = (page: Page) => object | null

/** A page of events names the next by a cursor, which goes without `createdAfter`. */
export const byCursor: NextPage<{ pagination: { hasMore: boolean; nextCursor: string } }> = ({
  pagination,
}) => (pagination.hasMore ? { cursor: pagination.nextCursor, createdAfter: undefined } : null)

/** A page of the inbox begins after a conversation, and since when its customer waits. */
export const byWait: NextPage<{
  data: { conversation: { id: string }; awaitingReplySince: string | null }[]
  pagination: { hasMore: boolean }
}> = ({ data, pagination }) => {
  const last = data.at(-1)
  if (!pagination.hasMore || last === undefined) return null
  return { after: last.conversation.id, afterSince: last.awaitingReplySince ?? undefined }
}

/**
 * The rows of pages of which each names the next. Each iteration asks anew, and ends with the last page that there
 * is.
 */
export class PagedList<T, Page extends { data: T[] }> implements AsyncIterable<T> {
  readonly #ask: (query: object) => CallPromise<Page>
  readonly #params: object
  readonly #next: NextPage<Page>

  constructor(ask: (query: object) => CallPromise<Page>, params: object, next: NextPage<Page>) {
    this.#ask = ask
    this.#params = params
    this.#next = next
  }

  /** One page. */
  page(): CallPromise<Page> {
    return this.#ask(this.#params)
  }

  /** The first rows, at most `limit` of them over all pages. */
  toArray({ limit }: { limit: number }): Promise<T[]> {
    return firstOf(this.#rows({ limit: Math.min(limit, 100), ...this.#params }), limit)
  }

  [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    return this.#rows(this.#params)
  }

  async *#rows(first: object): AsyncGenerator<T, void, undefined> {
    for (let query: object | null = first; query !== null; ) {
      const page: Page = await this.#ask(query)
      yield* page.data
      const next = this.#next(page)
      query = next && { ...query, ...next }
    }
  }
}

const firstOf = async <T>(all: AsyncIterable<T>, limit: number): Promise<T[]> => {
  const rows: T[] = []
  if (limit <= 0) return rows
  for await (const row of all) if (rows.push(row) >= limit) break
  return rows
}

interface PageQuery {
  readonly limit: number
  readonly offset: number
  readonly createdBefore?: string
  readonly after?: string
}

/** The page that begins with the last row of this one. */
const nextQuery = (
  { after: _, ...query }: PageQuery,
  data: readonly unknown[],
  isByTime: boolean,
): PageQuery => {
  const further = { ...query, offset: query.offset + data.length - 1 }
  if (!isByTime) return further
  const times = data.map((row) => (row as { createdAt: string }).createdAt)
  const last = times.at(-1) as string
  // A commit gives all its rows one time, so there may be more of them than a page has.
  const createdBefore = new Date(Date.parse(last) + 1).toISOString()
  if (createdBefore === query.createdBefore) return further
  return { ...query, createdBefore, offset: times.filter((time) => time === last).length - 1 }
}
