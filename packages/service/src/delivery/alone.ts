/**
 * Deliveries that are sent alone, because one may be what workers die of: pure.
 *
 * After three lost leases in a row an endpoint's deliveries are sent one at a time, until those that may have been under way
 * with the workers that died are through. The one that was alone when its worker died gets the attempt `worker_lost`
 * (specification 10.6), and is sent alone from there on. Who is alone stands in the lane before anything is sent.
 */
import type { Taken, TakenDelivery } from './lanes.ts'

/** Leases lost in a row, after which deliveries are sent one at a time. */
export const lostInARow = 3
/**
 * So many deliveries are sent alone then, and fewer when no more are due: those that a worker may have taken and not settled
 * when it died are the first that are due. A take of 64, what was left of the one before, and as many results.
 */
export const mostAlone = 160

export type Share =
  /** All of these at once. What was taken behind them is left. */
  | { readonly kind: 'together'; readonly deliveries: readonly TakenDelivery[] }
  /** This one while nothing else is under way. */
  | { readonly kind: 'alone'; readonly delivery: TakenDelivery }
  /** This one was alone when its worker died, since `since` (milliseconds since the Unix epoch): that was its attempt. */
  | { readonly kind: 'lost'; readonly delivery: TakenDelivery; readonly since: number }

/** What of the deliveries that were taken is to be sent now. */
export function shareOf({
  deliveries,
  aloneLeft,
  lost,
}: Pick<Taken, 'deliveries' | 'aloneLeft' | 'lost'>): Share {
  const victim = lost === null ? undefined : deliveries.find(({ id }) => id === lost.id)
  if (lost !== null && victim !== undefined) return { kind: 'lost', delivery: victim, since: lost.since }
  const [first] = deliveries
  if (first !== undefined && (aloneLeft > 0 || first.lostWorker)) return { kind: 'alone', delivery: first }
  const suspect = deliveries.findIndex(({ lostWorker }) => lostWorker)
  return { kind: 'together', deliveries: suspect === -1 ? deliveries : deliveries.slice(0, suspect) }
}
