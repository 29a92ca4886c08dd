/**
 * A cached value for requests that anyone may make at any rate. Concurrent readers share one read; at most one
 * read runs at a time, and reads begin at least `goodFor` apart.
 */
import type { Clock } from './timestamps.ts'

interface CacheOptions {
  readonly clock: Clock
  /** Maximum age of a value, in milliseconds from the start of its read. */
  readonly goodFor: number
  /** The same for a failure. Default: `goodFor`. */
  readonly failureGoodFor?: number
}

/**
 * Wraps `read`, and repeats its last value or failure while that is recent. A clock that is set back expires
 * the value.
 */
export function cached<V>(
  read: () => Promise<V>,
  { clock, goodFor, failureGoodFor = goodFor }: CacheOptions,
): () => Promise<V> {
  let last: { readonly answer: Promise<V>; readonly at: number; keptFor: number } | null = null
  const isGood = ({ at, keptFor }: { at: number; keptFor: number }, now: number) =>
    keptFor === Number.POSITIVE_INFINITY || (now >= at && now - at < keptFor)
  return () => {
    const now = clock.now()
    if (last !== null && isGood(last, now)) return last.answer
    // Until the read ends, every reader waits for it.
    const begun = { answer: read(), at: now, keptFor: Number.POSITIVE_INFINITY }
    last = begun
    begun.answer.then(
      () => {
        begun.keptFor = goodFor
      },
      () => {
        begun.keptFor = failureGoodFor
      },
    )
    return begun.answer
  }
}
