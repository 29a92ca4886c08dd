/** Look-ups that arrive while others run share the next query, so each sees what was committed before it began. */

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
