/** Expected outcomes as values. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Problem } from './errors.ts'

/** What was asked for, or why not. */
export type Result<T, E> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E }

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value }
}

export function fail<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error }
}

/** The outcome of an operation, from the journal and the stores to the response, which `http/route.ts` makes of it. */
export type Outcome<T, E = Problem> =
  /** `value`: what is stored, or the response. */
  | { readonly outcome: 'done'; readonly value: T }
  /** Nothing had to change, and nothing was committed. `about`: the id of the object in the response, or null. */
  | { readonly outcome: 'unchanged'; readonly value: string; readonly about: string | null }
  | { readonly outcome: 'refused'; readonly error: E }
  /** The request's Idempotency-Key committed earlier. `stored` is its response, once that has been read. */
  | { readonly outcome: 'replayed'; readonly stored?: StoredResponse }

export interface StoredResponse {
  readonly status: number
  readonly body: string
}

export function done<T>(value: T): { readonly outcome: 'done'; readonly value: T } {
  return { outcome: 'done', value }
}

export function refused<E>(error: E): { readonly outcome: 'refused'; readonly error: E } {
  return { outcome: 'refused', error }
}

/** Converts a database function's word. Null for `conflict`: the caller decides again (`retryOnConflict`). */
export function outcomeOf<T, Word extends string>(
  word: Word,
  value: T,
  problems: Readonly<Record<Exclude<Word, 'done' | 'replayed' | 'conflict'>, Problem>>,
): Outcome<T> | ('conflict' extends Word ? null : never) {
  switch (word as string) {
    case 'done':
      return done(value)
    case 'replayed':
      return { outcome: 'replayed' }
    case 'conflict':
      return null as 'conflict' extends Word ? null : never
    default:
      return refused(problems[word as keyof typeof problems])
  }
}

const attempts = 10
/** Upper limit of the first random pause, in milliseconds. It doubles up to `longestPause`. */
const firstPause = 4
const longestPause = 250

/** Runs `attempt` until it returns a value, at most ten times, with random exponential backoff; null: conflict. */
export async function retryOnConflict<A>(attempt: () => Promise<A | null>): Promise<A | null> {
  for (let lost = 0; lost < attempts; lost++) {
    if (lost > 0) await delay(Math.random() * Math.min(longestPause, firstPause * 2 ** (lost - 1)))
    const result = await attempt()
    if (result !== null) return result
  }
  return null
}
