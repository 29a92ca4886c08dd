/** A cached value for unlimited requests: reads begin at least `goodFor` apart, one at a time. */
import type { Clock } from './timestamps.ts'

interface CacheOptions {
  readonly clock: Clock
  /** In milliseconds from the start of the read. */
  readonly goodFor: number
  /** For a failure. Default: `goodFor`. */
  readonly failureGoodFor?: number
}

/** Repeats the last value or failure of `read` while that is recent. A clock that is set back expires it. */
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
