/** The calls that every kind has, once. */
import type { BatchAnswer, UpsertOf } from './batch.ts'
import type { ListPage, RangeDigests, Row } from './envelope.ts'
import { Export } from './export.ts'
import { type FollowOptions, followPages } from './follow.ts'
import { type SyncOptions, type SyncPage, syncPages } from './sync.ts'
import type { Answer, Call, Send } from './transport.ts'

export interface CallOptions {
  /** Ends the call, pauses between repetitions included. Its reason is thrown. */
  signal?: AbortSignal
}

export interface CreateOptions extends CallOptions {
  /**
   * At most 255 characters, honoured for 24 hours: the same key with the same body answers what the first call
   * answered. Give one to be safe across crashes of your own; otherwise each call makes one.
   */
  idempotencyKey?: string
}

export interface GetOptions extends CallOptions {
  /** An entity tag (`etagOf(row)`): a row that is still so answers `not_modified`. */
  ifNoneMatch?: string
}

export interface ChangeOptions extends CallOptions {
  /** An entity tag (`etagOf(row)`): a row that has changed since is left alone, `version_mismatch` (412). */
  ifMatch?: string
}

/** An action is a POST, safe to repeat, and can be made conditional like a change. */
export interface ActionOptions extends CreateOptions, ChangeOptions {}

export interface BatchOptions extends CreateOptions {
  /** `upsert` changes the row that has an item's `externalId`, and creates it where there is none. */
  operation?: 'create' | 'upsert'
}

/** All ids and 16 ranges unless told. */
export interface DigestOptions extends CallOptions {
  /** Where the ids begin, exclusive. */
  after?: string
  /** Where they end, inclusive. */
  before?: string
  /** Equal ranges to divide them into, at most 256. */
  parts?: number
  /** Ranges of no more than so many rows also have their `ids`: at most 100, none unless told. */
  idsUpTo?: number
}

/** Ids of one call of `getMany`. */
const idsOfCall = 100

/** Newest first (specification 6.2). `limit` is 20 unless told, at most 100. */
export type ListParams<Filters> = Filters & { limit?: number; offset?: number }

/**
 * The rows of one kind. A call that writes answers the row; a key without the kind's read scope gets no more of it than
 * `Written` has. Every call throws DeskwireError when it fails, a row that does not exist included
 * (`not_found`), and repeats itself where `retry.ts` calls that safe.
 */
export class Resource<T extends Row, Create extends object, Filters extends object> {
  readonly #send: Send
  readonly #path: string

  /** `name` is the kind's part of the address, for example `customers`. */
  constructor(send: Send, name: string) {
    this.#send = send
    this.#path = `/${name}`
  }

  /** Creates a row and answers it (without the read scope, `Written`). Safe to repeat: it always carries an Idempotency-Key. */
  async create(input: Create, { idempotencyKey, signal }: CreateOptions = {}): Promise<T> {
    const headers = given('idempotency-key', idempotencyKey)
    const answer = await this.#send({ method: 'POST', path: this.#path, body: input, headers, signal })
    return answer.body as T
  }

  /** Reads one row; with `ifNoneMatch`, `not_modified` when the caller's is still current. */
  get(id: string, options?: CallOptions): Promise<T>
  get(id: string, options: GetOptions): Promise<T | 'not_modified'>
  async get(id: string, { ifNoneMatch, signal }: GetOptions = {}): Promise<T | 'not_modified'> {
    const headers = given('if-none-match', ifNoneMatch)
    const answer = await this.callRow(id, { method: 'GET', headers, signal })
    return answer.status === 304 ? 'not_modified' : (answer.body as T)
  }

  /** Reads the rows with these ids, however many, in no order; those that do not exist are left out. */
  async getMany(ids: Iterable<string>, { signal }: CallOptions = {}): Promise<T[]> {
    const left = [...new Set(ids)]
    const rows: T[] = []
    while (left.length > 0) {
      const query = { ids: left.splice(0, idsOfCall).join(',') }
      const answer = await this.#send({ method: 'GET', path: this.#path, query, signal })
      rows.push(...(answer.body as ListPage<T>).data)
    }
    return rows
  }

  /**
   * Counts and digests of equal ranges of ids at one moment: compared with those of a copy at the same moment they say where it
   * differs (`findDifferences`).
   */
  async digests({ signal, ...query }: DigestOptions = {}): Promise<RangeDigests> {
    const answer = await this.#send({ method: 'GET', path: `${this.#path}/digests`, query, signal })
    return answer.body as RangeDigests
  }

  /** A page for display. It holds no removals and is no way to keep a copy: use `sync`. */
  async list(params?: ListParams<Filters>, { signal }: CallOptions = {}): Promise<ListPage<T>> {
    const answer = await this.#send({ method: 'GET', path: this.#path, query: params ?? {}, signal })
    return answer.body as ListPage<T>
  }

  /**
   * The pages of a sync until caught up (specification 7). Keep the last page's cursor and give it to
   * the next call. See `syncPages` for what it promises and throws.
   */
  sync(options: SyncOptions = {}): AsyncGenerator<SyncPage<T>, void, undefined> {
    return syncPages<T>(this.#send, this.#path, options)
  }

  /** A sync that does not end: waits for news, and goes on after failures. See `followPages`. */
  follow(options: FollowOptions = {}): AsyncGenerator<SyncPage<T>, never, undefined> {
    return followPages<T>(this.#send, this.#path, options)
  }

  /**
   * Creates or upserts up to 1,000 rows in one transaction and answers what became of each: an item that is refused is
   * left out and named, and is no failure of the call. Safe to repeat, as `create` is.
   */
  batch(items: readonly Create[], options?: BatchOptions & { operation?: 'create' }): Promise<BatchAnswer>
  batch(
    items: readonly UpsertOf<Create>[],
    options: BatchOptions & { operation: 'upsert' },
  ): Promise<BatchAnswer>
  async batch(
    items: readonly object[],
    { operation = 'create', idempotencyKey, signal }: BatchOptions = {},
  ): Promise<BatchAnswer> {
    const headers = given('idempotency-key', idempotencyKey)
    const body = { operation, items }
    const answer = await this.#send({ method: 'POST', path: `${this.#path}/batch`, body, headers, signal })
    return answer.body as BatchAnswer
  }

  /** Every row of the kind, proved complete at the end; its cursor begins a sync. */
  export({ signal }: CallOptions = {}): Export<T> {
    return new Export<T>(this.#send, this.#path, signal)
  }

  /**
   * One of the kind's own moves, which answers the row (without the read scope, `Written`); one that the row's state does
   * not allow is `invalid_transition` (409).
   */
  protected async act(
    id: string,
    action: string,
    body: object | undefined,
    { idempotencyKey, ifMatch, signal }: ActionOptions = {},
  ): Promise<T> {
    const headers = { ...given('idempotency-key', idempotencyKey), ...given('if-match', ifMatch) }
    const answer = await this.callRow(id, { method: 'POST', action, body, headers, signal })
    return answer.body as T
  }

  protected callRow(id: string, { action, ...call }: RowCall): Promise<Answer> {
    const path = addressOf(this.#path, id)
    return this.#send({ ...call, path: action === undefined ? path : `${path}/${action}` })
  }
}

/** A call about one row, or of one of its actions. */
type RowCall = Omit<Call, 'path' | 'query'> & { action?: string }

/** The rows of a kind whose fields can be changed. */
export class ChangeableResource<
  T extends Row,
  Create extends object,
  Patch extends object,
  Filters extends object,
> extends Resource<T, Create, Filters> {
  /**
   * Changes the fields given and answers the row (without the read scope, `Written`). When no answer arrives (`connection_failed`) the change may
   * have been made: it is not repeated for you.
   */
  async update(id: string, patch: Patch, { ifMatch, signal }: ChangeOptions = {}): Promise<T> {
    const headers = given('if-match', ifMatch)
    const answer = await this.callRow(id, { method: 'PATCH', body: patch, headers, signal })
    return answer.body as T
  }
}

/** The rows of a kind that can be changed and removed. */
export class RemovableResource<
  T extends Row,
  Create extends object,
  Patch extends object,
  Filters extends object,
> extends ChangeableResource<T, Create, Patch, Filters> {
  /** Removes a row; removing a customer removes its tickets too. As with `update`, it is not repeated in doubt. */
  async remove(id: string, { ifMatch, signal }: ChangeOptions = {}): Promise<void> {
    await this.callRow(id, { method: 'DELETE', headers: given('if-match', ifMatch), signal })
  }
}

/** An empty or dotted id would address the list or its parent, so it is refused before anything is sent. */
export const addressOf = (path: string, id: string): string => {
  if (/^\.{0,2}$/.test(id)) throw new TypeError(`An id is a UUID, not ${JSON.stringify(id)}`)
  return `${path}/${encodeURIComponent(id)}`
}

export const given = (name: string, value: string | undefined): Record<string, string> =>
  value === undefined ? {} : { [name]: value }
