/** A cached value for unlimited requests: reads begin at least `goodFor` apart, one at a time. */
import type { Clock } from './timestamps.ts'

/** Makes the value of a key once; the key is not kept for it. */
export function madeOnce<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, { readonly value: V }>()
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known.value
    const value = make(key)
    made.set(key, { value })
    return value
  }
}

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
  let last: { readonly value: Promise<V>; readonly at: number; maximumAge: number } | null = null
  const isFresh = ({ at, maximumAge }: { at: number; maximumAge: number }, now: number) =>
    maximumAge === Number.POSITIVE_INFINITY || (now >= at && now - at < maximumAge)
  return () => {
    const now = clock.now()
    if (last !== null && isFresh(last, now)) return last.value
    // Until the read ends, every reader waits for it.
    const begun = { value: read(), at: now, maximumAge: Number.POSITIVE_INFINITY }
    last = begun
    begun.value.then(
      () => {
        begun.maximumAge = goodFor
      },
      () => {
        begun.maximumAge = failureGoodFor
      },
    )
    return begun.value
  }
}
