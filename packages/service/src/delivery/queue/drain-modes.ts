/**
 * The modes of a drain and its transitions, pure; `drain.ts` carries them out, ARCHITECTURE.md draws them.
 * - `claiming`: statements take or keep the lease and return due deliveries. Attempts under way go on.
 * - `sending`: attempts run. Commits wake the drain.
 * - `completing`: a statement writes results, prolongs the lease if half of it is over, and says when more is due.
 * - `resting`: nothing is left to do. The drain keeps its lease for a while, so that the queue's row does not change
 *   with each commit; commits wake it.
 * - `releasing`: nothing is due or nothing may begin; a statement writes the last results and releases the lease.
 * - `lost`: another worker may have the lease, the endpoint was deleted, or nothing was due. The drain only waits for
 *   its attempts, as no other drain may send to the endpoint meanwhile.
 */
import { deliveryTuning } from '../tuning.ts'

const { completeAt, completeAfter, quietTicks, quietTicksMore, refillBelow } = deliveryTuning.drain

export const drainModes = [
  'claiming',
  'sending',
  'completing',
  'resting',
  'releasing',
  'lost',
  'ended',
] as const
export type DrainMode = (typeof drainModes)[number]

export const drainMoves: Readonly<Record<DrainMode, readonly DrainMode[]>> = {
  claiming: ['sending', 'lost'],
  sending: ['claiming', 'completing', 'resting', 'releasing', 'lost'],
  completing: ['sending', 'lost'],
  resting: ['claiming', 'releasing', 'lost'],
  releasing: ['ended', 'lost'],
  lost: ['ended'],
  ended: [],
}

/** Returns `to`. @throws Error when `drainMoves` does not allow the transition. */
export function moveTo(from: DrainMode, to: DrainMode): DrainMode {
  if (!drainMoves[from].includes(to)) throw new Error(`a drain cannot move from ${from} to ${to}`)
  return to
}

export interface DrainSituation {
  readonly mode: 'sending' | 'resting'
  /** The worker stops: nothing begins. */
  readonly stops: boolean
  /** The worker stops, and the time for attempts under way is over. */
  readonly isOverdue: boolean
  /** A claim of this drain was full: the next deliveries are claimed before these are all sent. */
  readonly hasBacklog: boolean
  readonly hasMore: boolean
  /**
   * No other queue of its priority waits for a permit, it sends no delivery alone, and it is not held.
   */
  readonly mayClaim: boolean
  readonly mayStart: boolean
  /** What waits, waits for the endpoint's rate. */
  readonly isPaced: boolean
  /** Claimed and not begun; under way; with a result that is not written. */
  readonly waiting: number
  readonly underWay: number
  readonly results: number
  /** Milliseconds since the first result; negative when the clock was set back. */
  readonly resultsAge: number
  /** Since the last result, claim or completion. */
  readonly quietTicks: number
  /** Whether the last of these was a completion. */
  readonly hasLooked: boolean
  /** Less than half of the lease is left. */
  readonly leaseIsShort: boolean
  /** With nothing to do it keeps its lease. */
  readonly mayRest: boolean
  /** It has rested for as long as it may. */
  readonly hasRested: boolean
}

/** The next mode; null while the drain waits for an attempt, a tick or a commit. */
export function nextMode(
  situation: DrainSituation,
): 'claiming' | 'completing' | 'resting' | 'releasing' | null {
  const { mode, underWay, waiting, results, isOverdue, hasMore, mayRest, hasRested } = situation
  if (isOverdue) return 'releasing'
  if (mustComplete(situation)) return 'completing'
  if (mustClaim(situation)) return 'claiming'
  if (underWay > 0 || waiting > 0) return null
  if (hasMore || !mayRest) return 'releasing'
  if (results > 0) return 'completing'
  if (mode === 'sending') return 'resting'
  return hasRested ? 'releasing' : null
}

/** There are permits and nothing to send. */
export function isIdle({ hasMore, mayClaim, waiting, mayStart }: DrainSituation): boolean {
  return !hasMore && mayClaim && waiting === 0 && mayStart
}

function mustComplete(situation: DrainSituation): boolean {
  const { results, resultsAge, underWay, isPaced, leaseIsShort, stops } = situation
  if (results >= completeAt) return true
  // Written with the release, or before a rest.
  if (underWay === 0 && !isPaced) return false
  if (leaseIsShort) return true
  if (results > 0 && (resultsAge >= completeAfter || resultsAge < 0)) return true
  const quiet = situation.hasLooked ? quietTicksMore : quietTicks
  return situation.quietTicks >= quiet && !stops && isIdle(situation)
}

function mustClaim(situation: DrainSituation): boolean {
  const { stops, hasMore, mayClaim, mayStart, waiting, hasBacklog } = situation
  if (stops || !hasMore || !mayClaim || !mayStart) return false
  return waiting < (hasBacklog ? refillBelow : 1)
}
