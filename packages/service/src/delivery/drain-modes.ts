/**
 * The modes of a drain and its transitions, pure; `drain.ts` carries them out, ARCHITECTURE.md draws them.
 * - `claiming`: statements take or keep the lease and return due deliveries. Attempts under way go on.
 * - `sending`: attempts run. The drain looks for more by itself; commits wake it too until its first full claim or completion, if it is healthy.
 * - `completing`: a statement writes results and says whether more is due.
 * - `listening`: attempts hang and nothing else is left to begin. Commits wake the worker for this endpoint.
 * - `releasing`: nothing is due or nothing may begin; a statement writes the last results and releases the lease.
 * - `lost`: another worker may have the lease. The drain only waits for its attempts, as no other drain may send to the endpoint meanwhile.
 */
import { deliveryTuning } from './tuning.ts'

const { completeAt, completeAfter, quietTicks, refillBelow } = deliveryTuning.drain

export const drainModes = [
  'claiming',
  'sending',
  'completing',
  'listening',
  'releasing',
  'lost',
  'ended',
] as const
export type DrainMode = (typeof drainModes)[number]

export const drainMoves: Readonly<Record<DrainMode, readonly DrainMode[]>> = {
  claiming: ['sending', 'lost'],
  sending: ['claiming', 'completing', 'releasing', 'lost'],
  completing: ['sending', 'listening', 'lost'],
  listening: ['claiming', 'completing', 'releasing', 'lost'],
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
  readonly mode: 'sending' | 'listening'
  /** The worker stops, so that nothing begins; and the time for attempts under way is over. */
  readonly stops: boolean
  readonly isOverdue: boolean
  /** A claim of this drain was full: the next deliveries are claimed before these are all sent. */
  readonly hasBacklog: boolean
  readonly hasMore: boolean
  /** No other queue of its priority waits for a permit, it sends no delivery alone, and its organization is not suspended. */
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
  /** Ticks since the last result or claim. */
  readonly quietTicks: number
}

/** The next mode; null while the drain waits for an attempt, a tick or a commit. */
export function nextMode(situation: DrainSituation): 'claiming' | 'completing' | 'releasing' | null {
  const { underWay, waiting, isOverdue } = situation
  if (isOverdue) return 'releasing'
  if (mustComplete(situation)) return 'completing'
  if (mustClaim(situation)) return 'claiming'
  return underWay === 0 && waiting === 0 ? 'releasing' : null
}

/** There are permits and nothing to send: commits should wake the drain. */
export function isIdle({ hasMore, mayClaim, waiting, mayStart }: DrainSituation): boolean {
  return !hasMore && mayClaim && waiting === 0 && mayStart
}

function mustComplete(situation: DrainSituation): boolean {
  const { results, resultsAge, underWay, mode, stops, isPaced } = situation
  if (results >= completeAt) return true
  // Written with the release, or with the next results.
  if (underWay === 0 && !isPaced) return false
  if (results > 0 && (resultsAge >= completeAfter || resultsAge < 0)) return true
  return mode !== 'listening' && situation.quietTicks >= quietTicks && !stops && isIdle(situation)
}

function mustClaim(situation: DrainSituation): boolean {
  const { stops, hasMore, mayClaim, mayStart, waiting, hasBacklog } = situation
  if (stops || !hasMore || !mayClaim || !mayStart) return false
  return waiting < (hasBacklog ? refillBelow : 1)
}
