/**
 * The outcome of an operation, as one value from the commit to the response. The journal and the stores of the
 * API's own records return it, a kind's rules turn the journal's reasons into problems, and `http/route.ts`
 * maps it to a response.
 */
import type { Problem } from './errors.ts'

export type Outcome<T, E = Problem> =
  /** Committed, or read: `value` is the stored value, or the response. */
  | { readonly outcome: 'done'; readonly value: T }
  /**
   * Nothing had to change, so nothing was committed and no response is stored. `about`: the id of the object
   * in the response; null for none.
   */
  | { readonly outcome: 'unchanged'; readonly value: string; readonly about: string | null }
  /** Nothing was committed, for this reason. */
  | { readonly outcome: 'refused'; readonly error: E }
  /** The request's Idempotency-Key committed earlier. `stored` is its response, once that has been read. */
  | { readonly outcome: 'replayed'; readonly stored?: StoredResponse }

/** The response to the first request with an Idempotency-Key. */
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

/**
 * Converts the word that a database function returned. `done` has this value, and every other word its
 * problem; null for `conflict`: the record has changed since it was read, so the caller decides again
 * (`retryOnConflict`).
 */
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
