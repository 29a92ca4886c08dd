/**
 * The API's way to the database: a fair queue in front of the pool. Every statement names its organization, so an organization that asks
 * for much waits for its own statements, and no other waits for them.
 *
 * The pool's own queue, first come first served, is not reached by these statements: some connections are left for others.
 */
import type { Pool } from 'pg'
import { FairQueue, type FairQueueLimits, type Permit, type WorkClass } from '../admission/fair-queue.ts'
import { stopwatch } from '../kernel/timestamps.ts'
import type { ObservedStatement, StatementObserver } from './observe-statements.ts'
import type { Queryable } from './pool.ts'

/** Connections by organization. `signal`: a statement that still waits when it aborts is never sent. */
export interface Database {
  of(organizationId: string, signal?: AbortSignal): Queryable
  /** The same for what may take seconds: searches, and counts of what was searched for. */
  ofLong(organizationId: string, signal?: AbortSignal): Queryable
  /** For several organizations that asked at the same time: short, and of a bounded number at once. */
  readonly together: Queryable
}

/** A database whose connections are not shared: of a worker, a command, a test. */
export function unshared(pool: Queryable): Database {
  return { of: () => pool, ofLong: () => pool, together: pool }
}

/**
 * Connections that are used besides these statements: two look-ups of tokens, so that it is known soon who asks; four calls of the journal
 * that may hold theirs for long (`journal/group-commit.ts`); and one for whatever else the process does, such as its maintenance.
 */
const connectionsOfOthers = 7

/** For a pool of so many connections: long statements have a quarter, and an organization by itself two thirds. */
function limitsOf(connections: number): FairQueueLimits {
  const capacity = Math.max(2, connections - connectionsOfOthers)
  return {
    capacity,
    share: 2,
    long: Math.max(1, Math.floor(capacity / 4)),
    shared: Math.max(1, capacity - 3),
    // Each is the request of a client that waits.
    waiting: 20_000,
    waitingOfOne: 10_000,
    waitAtMost: 20_000,
  }
}

interface PoolObserver {
  /** A statement has waited for so many milliseconds; those that did not wait are not reported. */
  waited(milliseconds: number): void
  /** Is notified of each statement; optional. */
  readonly asked?: StatementObserver | undefined
}

export class FairPool implements Database {
  readonly #pool: Queryable
  readonly #queue: FairQueue
  readonly #elapsed = stopwatch()
  readonly #observer: PoolObserver
  readonly together: Queryable

  constructor(pool: Pool, observer: PoolObserver, limits: Partial<FairQueueLimits> = {}) {
    this.#pool = pool
    this.#observer = observer
    this.#queue = new FairQueue('statements', { ...limitsOf(pool.options.max), ...limits }, this.#elapsed)
    this.together = this.#queryable('', 'shared')
  }

  /** @throws LimitExceeded, as a rejection, when too many statements wait, or one has waited for too long. */
  of(organizationId: string, signal?: AbortSignal): Queryable {
    return this.#queryable(organizationId, 'short', signal)
  }

  ofLong(organizationId: string, signal?: AbortSignal): Queryable {
    return this.#queryable(organizationId, 'long', signal)
  }

  /** Statements that wait now, and those that are under way. */
  get standing(): { readonly waiting: number; readonly underWay: number } {
    return { waiting: this.#queue.waiting, underWay: this.#queue.held }
  }

  #queryable(organizationId: string, kind: WorkClass, signal?: AbortSignal): Queryable {
    const query = (...asked: unknown[]) => this.#ask(organizationId, kind, signal, asked)
    return { query: query as Pool['query'] }
  }

  #ask(
    organizationId: string,
    kind: WorkClass,
    signal: AbortSignal | undefined,
    asked: unknown[],
  ): Promise<unknown> {
    // Part of the trace that asks now, also where the statement has to wait.
    const observed = this.#observer.asked?.(asked) ?? null
    const permit = this.#queue.acquire(organizationId, { kind, signal })
    return permit instanceof Promise
      ? this.#wait(permit, asked, observed)
      : this.#run(permit, asked, observed)
  }

  async #wait(
    waiting: Promise<Permit>,
    asked: unknown[],
    observed: ObservedStatement | null,
  ): Promise<unknown> {
    const began = this.#elapsed()
    const permit = await waiting.finally(() => this.#observer.waited(this.#elapsed() - began))
    return this.#run(permit, asked, observed)
  }

  #run(permit: Permit, asked: unknown[], observed: ObservedStatement | null): Promise<unknown> {
    observed?.began()
    const end = (error: unknown = null) => {
      permit.release()
      observed?.ended(error)
    }
    let result: Promise<unknown>
    try {
      result = Reflect.apply(this.#pool.query, this.#pool, asked)
    } catch (error) {
      end(error)
      throw error
    }
    result.then(() => end(), end)
    return result
  }
}
