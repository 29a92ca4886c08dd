/** What the calls of every resource are made with. */
import type { ListPage } from './envelope.ts'
import { List, type NextPage, PagedList } from './list.ts'
import type { ActionOptions, CallOptions, GetOptions } from './options.ts'
import type { Method } from './retry.ts'
import type { Call, Send } from './transport.ts'

/** The calls of one resource. Every call throws DeskwireError, and repeats itself where `retry.ts` calls that safe. */
export class Calls {
  protected readonly send: Send
  protected readonly path: string

  /** `name` is the part of the address, for example `customers`. */
  constructor(send: Send, name: string) {
    this.send = send
    this.path = `/${name}`
  }

  /** One call; its path may be the parts of one. */
  protected async call<T>(
    method: Method,
    path: Path,
    options: (ActionOptions & GetOptions) | undefined,
    more?: Pick<Call, 'query' | 'body' | 'isDocument'>,
  ): Promise<T> {
    return this.send({ method, path: textOf(path), ...more }, options)
  }

  protected listBelow<R>(
    path: Path,
    params: object,
    options: CallOptions | undefined,
    order: ListOrder<R>,
  ): List<R> {
    const ask = (query: object) => this.call<ListPage<R>>('GET', path, options, { query })
    return new List<R>({ ask, params, ...order })
  }

  protected pagesBelow<R, Page extends { data: R[] }>(
    path: string,
    params: object,
    options: CallOptions | undefined,
    next: NextPage<Page>,
  ): PagedList<R, Page> {
    // The service may hold the response back for so long.
    const waitOf = (query: { wait?: number }) => query.wait
    const ask = (query: object) =>
      this.send<Page>({ method: 'GET', path, query, wait: waitOf(query) }, options)
    return new PagedList<R, Page>(ask, params, next)
  }
}

type Path = string | readonly string[]

const textOf = (path: Path): string => (typeof path === 'string' ? path : addressOf('', ...path))

/** What a list is ordered by. */
export interface ListOrder<R> {
  readonly place: (row: R) => string | number
  readonly isByTime: boolean
}

/** Newest first, equal times by id: times and ids are texts of one length. */
export const byTime: ListOrder<{ id: string; createdAt: string }> = {
  place: ({ createdAt, id }) => createdAt + id,
  isByTime: true,
}

/** A delivery's id begins with its time, and so does a recovery's. */
export const byId: ListOrder<{ id: string }> = { place: ({ id }) => id, isByTime: false }

/** Attempts count up. */
export const byNumber: ListOrder<{ number: number }> = { place: ({ number }) => number, isByTime: false }

/** An empty or dotted part would address the list or its parent, so it is refused before anything is sent. */
export const addressOf = (path: string, ...parts: readonly string[]): string =>
  parts.reduce((address, part) => {
    if (/^\.{0,2}$/.test(part)) throw new TypeError(`An id is a UUID, not ${JSON.stringify(part)}`)
    return `${address}/${encodeURIComponent(part)}`
  }, path)
