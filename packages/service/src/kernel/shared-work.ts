import type { Clock } from './timestamps.ts'

/**
 * Look-ups that arrive while others run share the next query, so each sees what was committed before it began. Also
 * queues by key, and values that are made once.
 */

interface CoalesceLimits {
  readonly keys: number
  /** Under way at once. */
  readonly queries: number
}

interface Waiting<K, V> {
  readonly key: K
  readonly resolve: (value: V) => void
  readonly reject: (error: unknown) => void
}

/** `load(keys)` resolves with one value per key, in order. The returned function looks up one key. */
export function coalesce<K, V>(
  load: (keys: readonly K[]) => Promise<readonly V[]>,
  limits: CoalesceLimits = { keys: 100, queries: 2 },
): (key: K) => Promise<V> {
  let queue: Waiting<K, V>[] = []
  let underWay = 0
  let scheduled = false

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      while (queue.length > 0 && underWay < limits.queries) {
        const batch = queue.slice(0, limits.keys)
        queue = queue.slice(limits.keys)
        void run(batch)
      }
    })
  }

  async function run(batch: readonly Waiting<K, V>[]): Promise<void> {
    underWay++
    try {
      const values = await load(batch.map(({ key }) => key))
      batch.forEach(({ resolve }, n) => {
        resolve(values[n] as V)
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      underWay--
      if (queue.length > 0) schedule()
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      queue.push({ key, resolve, reject })
      schedule()
    })
}

interface Flight<V> {
  readonly result: Promise<V>
  /** For look-ups that arrived after the current load began. */
  next: Promise<V> | null
}

/** Concurrent look-ups of a key share one load that begins after them, so each sees what was committed before. */
export function singleFlight<V>(): (key: string, load: () => Promise<V>) => Promise<V> {
  const underWay = new Map<string, Flight<V>>()

  function send(key: string, load: () => Promise<V>): Promise<V> {
    const flight: Flight<V> = { result: load(), next: null }
    underWay.set(key, flight)
    const forget = () => {
      if (flight.next === null) underWay.delete(key)
    }
    flight.result.then(forget, forget)
    return flight.result
  }

  return (key, load) => {
    const flight = underWay.get(key)
    if (flight === undefined) return send(key, load)
    const again = () => send(key, load)
    flight.next ??= flight.result.then(again, again)
    return flight.next
  }
}

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

export type KeyedQueue = ReturnType<typeof createKeyedQueue>

/** Runs tasks of one key one after another, and tasks of different keys concurrently. */
export function createKeyedQueue() {
  const tails = new Map<string, Promise<unknown>>()
  return {
    /** A task whose signal aborts before it starts does not run: the promise rejects with the reason. */
    run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      const before = tails.get(key)
      const task = async () => {
        signal?.throwIfAborted()
        return work()
      }
      // A failed task rejects only for its own caller; the next one still starts.
      const result = before === undefined ? task() : before.then(task, task)
      tails.set(key, result)
      const forget = () => {
        if (tails.get(key) === result) tails.delete(key)
      }
      result.then(forget, forget)
      return result
    },
  }
}
