/**
 * The API's way to the database. Every statement says whom it is for, and waits in that organization's queue where the
 * organization has its share of the connections: who asks for much waits for its own statements, and not others for them.
 *
 * The pool's own queue, in which whoever comes first goes first, is not reached by them: `placesOf` leaves connections
 * for what is bounded elsewhere.
 */
import type { Pool } from 'pg'
import { Budget, ShareExceeded } from '../kernel/budget.ts'
import { FairTurns, type Sort, type Turn, type TurnLimits } from '../kernel/fair-turns.ts'
import type { LargeWork } from '../kernel/large-work.ts'
import { stopwatch } from '../kernel/timestamps.ts'
import type { ObservedStatement, StatementObserver } from './observe-statements.ts'
import type { Queryable } from './pool.ts'

/** Whom a statement is for. */
export interface Database {
  /** For one organization. */
  of(organizationId: string): Queryable
  /** The same for what may take seconds: searches, and counts of what was searched for. */
  ofLong(organizationId: string): Queryable
  /** For whichever organizations asked at the same time: short, and of a bounded number at once. */
  readonly together: Queryable
}

/** A database whose connections nobody shares: of a worker, a command, a test. */
export function unshared(pool: Queryable): Database {
  return { of: () => pool, ofLong: () => pool, together: pool }
}

/**
 * Connections that others than these statements use at the same time: two look-ups of tokens, so that it is known soon who
 * asks; four calls of the journal that may hold theirs for long (`journal/group-commit.ts`); and one for
 * whatever else the process does, such as its maintenance.
 */
const connectionsOfOthers = 7

/** For a pool of so many connections. */
function placesOf(connections: number): TurnLimits {
  const places = Math.max(2, connections - connectionsOfOthers)
  return { places, longPlaces: Math.max(1, Math.ceil(places / 3)), commonPlaces: Math.max(1, places - 3) }
}

/** Statements that may wait at once; each of them is the request of somebody who waits. */
const waitingAtMost = 20_000
/** How long one waits, in milliseconds, before its client is told to come again; where nobody is, it may wait for ever. */
const waitAtMost = 20_000

export interface PoolObserver {
  /** A statement has waited for so many milliseconds; those that did not are not told of. */
  waited(milliseconds: number): void
  /** Each statement is told to it; none is where there is nobody. */
  readonly asked?: StatementObserver | undefined
}

export class FairPool implements Database {
  readonly #pool: Queryable
  readonly #turns: FairTurns
  readonly #queue = new Budget(waitingAtMost)
  readonly #elapsed = stopwatch()
  readonly #observer: PoolObserver
  readonly #waitAtMost: number
  readonly #largeWork: LargeWork | null
  readonly together: Queryable

  constructor(
    pool: Pool,
    observer: PoolObserver,
    limits: Partial<TurnLimits> & { readonly waitAtMost?: number } = {},
    largeWork: LargeWork | null = null,
  ) {
    this.#pool = pool
    this.#observer = observer
    this.#turns = new FairTurns({ ...placesOf(pool.options.max), ...limits }, this.#elapsed)
    this.#waitAtMost = limits.waitAtMost ?? waitAtMost
    this.#largeWork = largeWork
    this.together = this.#queryable('', 'common')
  }

  /** @throws ShareExceeded, as a rejection, when too many statements wait, or one has waited for long. */
  of(organizationId: string): Queryable {
    return this.#queryable(organizationId, 'short')
  }

  ofLong(organizationId: string): Queryable {
    const long = this.#queryable(organizationId, 'long')
    const largeWork = this.#largeWork
    if (largeWork === null) return long
    const query = (...asked: unknown[]) =>
      largeWork.run(organizationId, () => Reflect.apply(long.query, long, asked), {
        waitAtMost: this.#waitAtMost,
      })
    return { query: query as Pool['query'] }
  }

  /** Statements that wait now, and those that are under way. */
  get standing(): { readonly waiting: number; readonly underWay: number } {
    return { waiting: this.#turns.waiting, underWay: this.#turns.underWay }
  }

  #queryable(name: string, sort: Sort): Queryable {
    return { query: ((...asked: unknown[]) => this.#ask(name, sort, asked)) as Pool['query'] }
  }

  #ask(name: string, sort: Sort, asked: unknown[]): Promise<unknown> {
    const observed = this.#observer.asked?.(asked) ?? null
    const turn = this.#turns.begin(name, sort)
    return turn === null ? this.#wait(name, sort, asked, observed) : this.#run(turn, asked, observed)
  }

  #run(turn: Turn, asked: unknown[], observed: ObservedStatement | null): Promise<unknown> {
    const began = this.#elapsed()
    observed?.began()
    const end = (error: unknown = null) => {
      const took = this.#elapsed() - began
      this.#turns.end(turn, took)
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

  #wait(name: string, sort: Sort, asked: unknown[], observed: ObservedStatement | null): Promise<unknown> {
    const taken = this.#queue.take(name, 1)
    if (taken !== 'taken') return Promise.reject(new ShareExceeded(taken, 'statements'))
    const began = this.#elapsed()
    return new Promise((resolve, reject) => {
      const over = () => {
        clearTimeout(timer)
        this.#queue.give(name, 1)
        this.#observer.waited(this.#elapsed() - began)
      }
      const waiting = this.#turns.wait(name, sort, (turn) => {
        over()
        try {
          resolve(this.#run(turn, asked, observed))
        } catch (error) {
          reject(error)
        }
      })
      const giveUp = () => {
        const reason = this.#turns.waitsForItsOwn(waiting) ? 'own_share' : 'all_taken'
        this.#turns.leave(waiting)
        over()
        reject(new ShareExceeded(reason, 'database_time'))
      }
      const timer = Number.isFinite(this.#waitAtMost) ? setTimeout(giveUp, this.#waitAtMost) : undefined
    })
  }
}
