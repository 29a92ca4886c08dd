/** Splits long work into slices, so that the event loop handles other work every few milliseconds. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { stopwatch } from './timestamps.ts'

const sliceMilliseconds = 8

/** Undefined while the slice is short; otherwise a promise that resolves after other pending work. */
type YieldWhenDue = () => Promise<void> | undefined

export function yielder(): YieldWhenDue {
  let elapsed = stopwatch()
  return () => {
    if (elapsed() < sliceMilliseconds) return
    return nextTurn().then(() => {
      elapsed = stopwatch()
    })
  }
}

/** Maps `items` in order, yielding to the event loop between slices. */
export async function mapYielding<T, R>(
  items: Iterable<T>,
  f: (item: T, index: number) => R,
  yieldWhenDue = yielder(),
): Promise<R[]> {
  const results: R[] = []
  for (const item of items) {
    results.push(f(item, results.length))
    const pause = yieldWhenDue()
    if (pause !== undefined) await pause
  }
  return results
}
