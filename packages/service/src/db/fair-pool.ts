/**
 * The API's access to the database: a fair queue in front of the pool, so that an organization with many statements
 * waits only for its own. These statements never use all connections, so they do not reach the pool's own first-come
 * queue.
 */
import type { Pool } from 'pg'
import {
  type CapacityPermit,
  FairQueue,
  type FairQueueLimits,
  type WorkKind,
} from '../admission/fair-queue.ts'
import { stopwatch } from '../kernel/timestamps.ts'
import type { ObservedStatement, StatementObserver } from './observe-statements.ts'
import type { Queryable } from './pool.ts'

/** Connections by organization. A statement that is still queued when `signal` aborts is not sent. */
export interface Database {
  of(organizationId: string, signal?: AbortSignal): Queryable
  /** The same for statements that may take seconds: searches and their counts. */
  ofLong(organizationId: string, signal?: AbortSignal): Queryable
  /** For short statements that serve several organizations at once. */
  readonly forSeveral: Queryable
}

export function unshared(pool: Queryable): Database {
  return { of: () => pool, ofLong: () => pool, forSeveral: pool }
}

/**
 * Left for others: two for look-ups of tokens, four for long calls of the journal (`journal/group-commit.ts`), one for
 * the rest.
 */
const connectionsOfOthers = 7

function limitsOf(connections: number): FairQueueLimits {
  const capacity = Math.max(2, connections - connectionsOfOthers)
  return {
    capacity,
    share: 2,
    long: Math.max(1, Math.floor(capacity / 4)),
    shared: Math.max(1, capacity - 3),
    // Each is the request of a waiting client.
    waiting: 20_000,
    waitingOfOne: 10_000,
    waitAtMost: 20_000,
  }
}

interface PoolObserver {
  /** Milliseconds that a statement was queued; not called for statements that were not. */
  waited(milliseconds: number): void
  readonly observe?: StatementObserver | undefined
}

export class FairPool implements Database {
  readonly #pool: Queryable
  readonly #queue: FairQueue
  readonly #elapsed = stopwatch()
  readonly #observer: PoolObserver
  readonly forSeveral: Queryable

  constructor(pool: Pool, observer: PoolObserver, limits: Partial<FairQueueLimits> = {}) {
    this.#pool = pool
    this.#observer = observer
    this.#queue = new FairQueue('statements', { ...limitsOf(pool.options.max), ...limits }, this.#elapsed)
    this.forSeveral = this.#queryable('', 'shared')
  }

  /** Rejects with LimitExceeded when too many statements wait, or one has waited for too long. */
  of(organizationId: string, signal?: AbortSignal): Queryable {
    return this.#queryable(organizationId, 'short', signal)
  }

  ofLong(organizationId: string, signal?: AbortSignal): Queryable {
    return this.#queryable(organizationId, 'long', signal)
  }

  get usage(): { readonly waiting: number; readonly underWay: number } {
    return { waiting: this.#queue.waiting, underWay: this.#queue.held }
  }

  #queryable(organizationId: string, kind: WorkKind, signal?: AbortSignal): Queryable {
    const query = (...queryArguments: unknown[]) => this.#ask(organizationId, kind, signal, queryArguments)
    return { query: query as Pool['query'] }
  }

  #ask(
    organizationId: string,
    kind: WorkKind,
    signal: AbortSignal | undefined,
    queryArguments: unknown[],
  ): Promise<unknown> {
    // Belongs to the trace of the request, also while the statement is queued.
    const observed = this.#observer.observe?.(queryArguments) ?? null
    const permit = this.#queue.acquire(organizationId, { kind, signal })
    return permit instanceof Promise
      ? this.#wait(permit, queryArguments, observed)
      : this.#run(permit, queryArguments, observed)
  }

  async #wait(
    waiting: Promise<CapacityPermit>,
    queryArguments: unknown[],
    observed: ObservedStatement | null,
  ): Promise<unknown> {
    const began = this.#elapsed()
    const permit = await waiting.finally(() => this.#observer.waited(this.#elapsed() - began))
    return this.#run(permit, queryArguments, observed)
  }

  #run(
    permit: CapacityPermit,
    queryArguments: unknown[],
    observed: ObservedStatement | null,
  ): Promise<unknown> {
    observed?.began()
    const end = (error: unknown = null) => {
      permit.release()
      observed?.ended(error)
    }
    let result: Promise<unknown>
    try {
      result = Reflect.apply(this.#pool.query, this.#pool, queryArguments)
    } catch (error) {
      end(error)
      throw error
    }
    result.then(() => end(), end)
    return result
  }
}
