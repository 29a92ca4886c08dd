/** What an operation came to, as a value: the route that it was asked by answers with it. */
import type { Problem } from '../kernel/errors.ts'

export type Outcome<T> =
  | { readonly outcome: 'done'; readonly value: T }
  | { readonly outcome: 'refused'; readonly problem: Problem }
  /** The request's idempotency key had committed already: its first answer is to be given again. */
  | { readonly outcome: 'replayed' }

/** A request that had nothing to change. `about`: an object that its answer speaks of, null for none. */
export interface Unchanged {
  readonly outcome: 'unchanged'
  readonly value: string
  readonly about: string | null
}

/** A route has sent its answer by itself, or is sending it. (A reply is no value: it is awaited as what it has sent.) */
export interface Sent {
  readonly outcome: 'sent'
}

export const sent: Sent = { outcome: 'sent' }

export function done<T>(value: T): { readonly outcome: 'done'; readonly value: T } {
  return { outcome: 'done', value }
}

export function refused(refusal: Problem): { readonly outcome: 'refused'; readonly problem: Problem } {
  return { outcome: 'refused', problem: refusal }
}
