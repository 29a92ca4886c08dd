/** Work in turns: what takes long in one piece lets the event loop see to others every few milliseconds. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { stopwatch } from './timestamps.ts'

/** How long a turn may last before others have theirs, in milliseconds. */
const sliceMilliseconds = 8

/** Resolves at once while this turn is short, and else when all that waits had its turn. */
type YieldWhenDue = () => Promise<void> | undefined

/** Begins a turn. */
export function yielder(): YieldWhenDue {
  let elapsed = stopwatch()
  return () => {
    if (elapsed() < sliceMilliseconds) return
    return nextTurn().then(() => {
      elapsed = stopwatch()
    })
  }
}

/** What `f` makes of each, in their order, in turns. */
export async function mapYielding<T, R>(
  items: Iterable<T>,
  f: (item: T, index: number) => R,
  yieldWhenDue = yielder(),
): Promise<R[]> {
  const made: R[] = []
  for (const item of items) {
    made.push(f(item, made.length))
    const rest = yieldWhenDue()
    if (rest !== undefined) await rest
  }
  return made
}
