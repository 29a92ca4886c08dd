/** When a worker that ended by itself is started again: pure. */

/** A worker that ran for so long was well, in milliseconds. */
export const healthyAfter = 60_000
/** How long after its first end in a row a worker is replaced, and how long at most, in milliseconds. */
const shortest = 500
const longest = 30_000
/** Ends in a row after which it is said that the worker does not stay up. */
const worthTelling = 3

/** Ends in a row, none of them after a healthy minute, once one more came after `ranFor` milliseconds. */
export function endsInARow(before: number, ranFor: number): number {
  return ranFor >= healthyAfter ? 1 : before + 1
}

/** Milliseconds until it is started again: half a second, twice as long after each, half a minute at most. */
export function startsAgainAfter(ends: number): number {
  return Math.min(shortest * 2 ** (ends - 1), longest)
}

/** What `/readyz` says of a worker that does not stay up; null of one that does. `ranFor`: the one that runs now, or 0. */
export function troubleOf(ends: number, ranFor: number): string | null {
  if (ends < worthTelling || ranFor >= healthyAfter) return null
  return `The worker ended ${ends} times in a row: deliveries and summaries wait. The log says why.`
}
