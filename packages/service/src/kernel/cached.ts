/**
 * A cached answer: what anybody may ask for at any rate, and costs something to find out, is found out once for all who ask
 * at the same time, and kept for a while. At most one read is under way, and each that begins is `goodFor` after the one before it at least.
 */
import type { Clock } from './timestamps.ts'

interface CacheOptions {
  readonly clock: Clock
  /** How old an answer may be, counted from when it was asked for, in milliseconds. */
  readonly goodFor: number
  /** The same for a failure; as for an answer unless told. */
  readonly failureGoodFor?: number
}

/** The same as `read`, as it was answered or has failed a while ago. A clock that is set back keeps nothing. */
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
    // Until it ends it is everybody's, however long it takes.
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
