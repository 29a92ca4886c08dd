/**
 * The modes of a drain, and what it does next: pure. `drain.ts` does it.
 *
 * - `claiming`: a statement takes or keeps the lease and returns due deliveries. Attempts under way go on.
 * - `sending`: attempts begin and are waited for. The drain looks for more by itself: no commit wakes it.
 * - `completing`: a statement writes results, and says whether more is due.
 * - `listening`: as sending, with nothing left to begin and attempts that hang. Commits wake the worker for this endpoint.
 * - `releasing`: nothing is due or nothing may be begun; a statement writes what is left of results and gives the lease back.
 * - `lost`: another worker has the lease, or may have. Nothing begins or is written; attempts under way are waited for, as no other drain
 *   else may send to the endpoint meanwhile. Nothing in it can fail.
 * - `ended`: nothing of it runs any more.
 *
 * ```
 *                    ┌──────────────── more is due ───────────────┐
 *                    ▼                                            │
 *   (begins) ──▶ claiming ──────▶ sending ◀──────────────┐        │
 *                    │             │ │ │                 │        │
 *                    │             │ │ └─ results ─▶ completing ──┼─ idle ─▶ listening
 *                    │             │ │                   ▲        │          │ │ │
 *                    │             │ └── more is due ────┼────────┴──────────┘ │ │
 *                    │             │                     └───── results ───────┘ │
 *                    │             └─ nothing is left ─▶ releasing ◀─────────────┘
 *                    │                                       │
 *                    └─ another's ─▶ lost ──────────▶ ended ◀┘      (any but lost and ended ─ unexpected error ─▶ lost)
 * ```
 */
import type { DrainTuning } from './tuning.ts'

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

/** Where each mode may lead. */
export const drainMoves: Readonly<Record<DrainMode, readonly DrainMode[]>> = {
  claiming: ['sending', 'lost'],
  sending: ['claiming', 'completing', 'releasing', 'lost'],
  completing: ['sending', 'listening', 'lost'],
  listening: ['claiming', 'completing', 'releasing', 'lost'],
  releasing: ['ended', 'lost'],
  lost: ['ended'],
  ended: [],
}

/** The mode that is moved to. @throws Error when the move is none of `drainMoves`. */
export function moveTo(from: DrainMode, to: DrainMode): DrainMode {
  if (!drainMoves[from].includes(to)) throw new Error(`a drain cannot move from ${from} to ${to}`)
  return to
}

/** What a drain that sends or listens goes by. */
export interface DrainSituation {
  readonly mode: 'sending' | 'listening'
  /** The worker stops, so that nothing is begun any more; and the time for what is under way is over. */
  readonly stops: boolean
  readonly isOverdue: boolean
  /** The last claim was full: the next deliveries are claimed before the last of these are sent. */
  readonly hasBacklog: boolean
  /** More may be due than was claimed. */
  readonly hasMore: boolean
  /** It may claim more: others of its class do not wait for a permit, and its delivery is not one that is sent alone. */
  readonly mayClaim: boolean
  /** Another attempt may begin. */
  readonly mayStart: boolean
  /** Claimed and not begun; under way; with a result that is not written. */
  readonly waiting: number
  readonly underWay: number
  readonly results: number
  /** Milliseconds since the first of the results came; negative when the clock was set back since. */
  readonly resultsAge: number
  /** Ticks since anything came of it. */
  readonly quietTicks: number
}

/** Where a drain that sends or listens goes next; null when it waits for an attempt, a tick or a commit. */
export function nextMode(
  situation: DrainSituation,
  tuning: DrainTuning,
): 'claiming' | 'completing' | 'releasing' | null {
  const { underWay, waiting, isOverdue } = situation
  if (isOverdue) return 'releasing'
  if (mustComplete(situation, tuning)) return 'completing'
  if (mustClaim(situation, tuning)) return 'claiming'
  return underWay === 0 && waiting === 0 ? 'releasing' : null
}

/** There are permits and nothing to send: commits are to wake the drain. */
export function isIdle({ hasMore, mayClaim, waiting, mayStart }: DrainSituation): boolean {
  return !hasMore && mayClaim && waiting === 0 && mayStart
}

function mustComplete(situation: DrainSituation, tuning: DrainTuning): boolean {
  const { results, resultsAge, underWay, mode, quietTicks, stops } = situation
  if (results >= tuning.completeAt) return true
  // Written when the lease is given back, or with what comes next.
  if (underWay === 0) return false
  // A clock that was set back says nothing of how long they have waited.
  if (results > 0 && (resultsAge >= tuning.completeAfter || resultsAge < 0)) return true
  return mode !== 'listening' && quietTicks >= tuning.quietTicks && !stops && isIdle(situation)
}

function mustClaim(
  { stops, hasMore, mayClaim, mayStart, waiting, hasBacklog }: DrainSituation,
  { refillBelow }: DrainTuning,
): boolean {
  if (stops || !hasMore || !mayClaim || !mayStart) return false
  return waiting < (hasBacklog ? refillBelow : 1)
}
