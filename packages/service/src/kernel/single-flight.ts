/** Concurrent look-ups of a key share one load that begins after them, so each sees what was committed before. */

interface Flight<V> {
  readonly result: Promise<V>
  /** For look-ups that arrived after the current load began. */
  next: Promise<V> | null
}

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
