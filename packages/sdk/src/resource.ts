/** The calls that kinds, endpoints and keys have, once. */
import type { BatchAnswer, ImportOf, UpsertOf } from './batch.ts'
import type { CallPromise } from './call-promise.ts'
import type { ListPage, RangeDigests, Row } from './envelope.ts'
import { ExportStream } from './export.ts'
import { type FollowOptions, followPages } from './follow.ts'
import { byTime, List, type ListParams } from './list.ts'
import type { ActionOptions, CallOptions, ChangeOptions, CreateOptions, GetOptions } from './options.ts'
import type { Method } from './retry.ts'
import { type SyncPage, type SyncParams, syncPages } from './sync.ts'
import type { Send } from './transport.ts'

/** All ids in 16 ranges unless told. */
export interface DigestParams {
  /** Where the ids begin, exclusive. */
  after?: string | undefined
  /** Where they end, inclusive. */
  before?: string | undefined
  /** Equal ranges to divide them into, at most 256. */
  parts?: number | undefined
  /** Ranges of no more than so many rows also have their `ids`: at most 100, none unless told. */
  idsUpTo?: number | undefined
}

/** Ids of one call of `getMany`. */
const idsOfCall = 100

/**
 * Objects that are created, read and listed. Every call throws DeskwireError, and repeats itself where `retry.ts`
 * calls that safe.
 */
export class Objects<T extends Row, Create extends object, Filters extends object, Created = T> {
  protected readonly send: Send
  protected readonly path: string

  /** `name` is the part of the address, for example `customers`. */
  constructor(send: Send, name: string) {
    this.send = send
    this.path = `/${name}`
  }

  /**
   * Creates an object and returns it (without the read scope, `Written`). Safe to repeat: it always carries an
   * Idempotency-Key.
   */
  create(input: Create, options?: CreateOptions): CallPromise<Created> {
    return this.send({ method: 'POST', path: this.path, body: input }, options)
  }

  /** Reads one object; with `ifNoneMatch`, `not_modified` when the caller's is still current. */
  get(id: string, options?: CallOptions): CallPromise<T>
  get(id: string, options: GetOptions): CallPromise<T | 'not_modified'>
  get(id: string, options?: GetOptions): CallPromise<T | 'not_modified'> {
    return this.ofOne('GET', id, options)
  }

  /** Newest first: `for await (const row of list(…))`, `.toArray({ limit })`, or `.page()` for one page to show. */
  list(params: ListParams<Filters> = {} as ListParams<Filters>, options?: CallOptions): List<T> {
    const ask = (query: object) => this.send<ListPage<T>>({ method: 'GET', path: this.path, query }, options)
    return new List<T>({ ask, params, ...byTime })
  }

  protected ofOne<R>(
    method: Method,
    id: string,
    options: (ActionOptions & GetOptions) | undefined,
    body?: object,
  ): CallPromise<R> {
    return this.send({ method, path: `${this.path}/{}`, ids: [id], body }, options)
  }
}

/** Objects whose fields can be changed, and that can be deleted. */
export class ChangeableObjects<
  T extends Row,
  Create extends object,
  Patch extends object,
  Filters extends object,
  Created = T,
> extends Objects<T, Create, Filters, Created> {
  /**
   * Changes the fields given. In doubt (`connection_failed`) the change may have been made: it is not repeated for
   * you.
   */
  update(id: string, patch: Patch, options?: ChangeOptions): CallPromise<T> {
    return this.ofOne('PATCH', id, options, patch)
  }

  /** Deletes an object. As with `update`, it is not repeated in doubt. */
  delete(id: string, options?: ChangeOptions): CallPromise<void> {
    return this.ofOne('DELETE', id, options)
  }
}

/**
 * The rows of one kind. A call that writes returns the row; a key without the kind's read scope gets no more of it than
 * `Written` has.
 */
export class Resource<T extends Row, Create extends object, Filters extends object> extends Objects<
  T,
  Create,
  Filters
> {
  /** Reads the rows with these ids, however many, in no order; those that do not exist are left out. */
  async getMany(ids: Iterable<string>, options?: CallOptions): Promise<T[]> {
    const left = [...new Set(ids)]
    const rows: T[] = []
    while (left.length > 0) {
      const query = { ids: left.splice(0, idsOfCall).join(',') }
      const { data } = await this.list(query as object as ListParams<Filters>, options).page()
      rows.push(...data)
    }
    return rows
  }

  /**
   * Counts and digests of equal ranges of ids at one moment: compared with those of a copy at the same moment they
   * say where it differs (`findDifferences`).
   */
  digests(params: DigestParams = {}, options?: CallOptions): CallPromise<RangeDigests> {
    return this.send({ method: 'GET', path: `${this.path}/digests`, query: params }, options)
  }

  /**
   * The pages of a sync until caught up (specification 7). Keep the last page's cursor and give it to
   * the next call. See `syncPages` for what it promises and throws.
   */
  sync(params: SyncParams = {}, options?: CallOptions): AsyncGenerator<SyncPage<T>, void, undefined> {
    return syncPages<T>(this.send, this.path, params, options)
  }

  /** A sync that does not end: waits for changes, and continues after failures. See `followPages`. */
  follow(params: SyncParams = {}, options?: FollowOptions): AsyncGenerator<SyncPage<T>, never, undefined> {
    return followPages<T>(this.send, this.path, params, options)
  }

  /**
   * Creates up to 1,000 rows in one transaction and returns what became of each: an item that is refused is
   * left out and named, and is no failure of the call. Safe to repeat, as `create` is.
   */
  batch(items: readonly Create[], options?: CreateOptions): CallPromise<BatchAnswer> {
    return this.#batch('create', items, options)
  }

  /** The same, but changes the row that has an item's `externalId`, and creates it where there is none. */
  upsert(items: readonly UpsertOf<Create>[], options?: CreateOptions): CallPromise<BatchAnswer> {
    return this.#batch('upsert', items, options)
  }

  /**
   * Creates rows with their past, such as `createdAt` and `customerExternalId` (in the reference: `TicketImport`),
   * without events. A row that has an item's `externalId` stays as it is. Needs the scope `import`.
   */
  import(items: readonly ImportOf<Create>[], options?: CreateOptions): CallPromise<BatchAnswer> {
    return this.#batch('import', items, options)
  }

  /** Deletes a row. In doubt (`connection_failed`) it may have been deleted: it is not repeated for you. */
  delete(id: string, options?: ChangeOptions): CallPromise<void> {
    return this.ofOne('DELETE', id, options)
  }

  #batch(operation: string, items: readonly object[], options?: CreateOptions): CallPromise<BatchAnswer> {
    return this.send({ method: 'POST', path: `${this.path}/batch`, body: { operation, items } }, options)
  }

  /** Every row of the kind, proved complete at the end; its cursor begins a sync. */
  export(options: CallOptions = {}): ExportStream<T> {
    return new ExportStream<T>(this.send, this.path, options)
  }
}

/** The rows of a kind whose fields can be changed. */
export class ChangeableResource<
  T extends Row,
  Create extends object,
  Patch extends object,
  Filters extends object,
> extends Resource<T, Create, Filters> {
  /**
   * Changes the fields given and returns the row (without the read scope, `Written`). In doubt (`connection_failed`)
   * the change may have been made: it is not repeated for you.
   */
  update(id: string, patch: Patch, options?: ChangeOptions): CallPromise<T> {
    return this.ofOne('PATCH', id, options, patch)
  }
}
