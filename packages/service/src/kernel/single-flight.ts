/**
 * Whoever asks for the same at the same time shares one look-up, one key a look-up. None joins one that has already been sent: it
 * waits for the next, and so sees everything that was committed before it asked.
 */

interface Flight<V> {
  readonly result: Promise<V>
  /** The look-up for those who came after this one was sent. */
  next: Promise<V> | null
}

/** The returned function looks up what the key stands for, by `load` when nobody else is about to. */
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
