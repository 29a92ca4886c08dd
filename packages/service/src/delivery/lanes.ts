/**
 * Lanes: how workers find, lease and settle what is due, one lane an endpoint. A lane is held by one worker at a
 * time, so an endpoint never sees more attempts at once than that worker makes, and no search steps over the backlog
 * of an endpoint that is down.
 *
 * `due_at` of a lane says when somebody has to look at it: when its next delivery is due, or, while a worker holds it,
 * when its lease ends. A commit moves it to now, unless its holder has its hands full and looks again by itself.
 */
import { callFunction } from '../db/call-function.ts'
import { untilFree } from '../db/errors.ts'
import type { Queryable } from '../db/pool.ts'
import { type PreparedStatement, queryText } from '../db/text-query.ts'
import type { StreamTable } from '../journal/stream-table.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { Verdict } from './decide.ts'
import { disableFunction, failPendingFunction, settleFunction } from './functions.ts'
import { encodeSettling, type Settling, settlingParameters } from './lane-settling.ts'
import { sweepLanes, wakeFromTheFuture } from './lane-sweep.ts'
import { createTake } from './lane-take.ts'
import { foundAtOnce, type Tier, tiers } from './tiers.ts'

export interface LaneKey {
  readonly organizationId: string
  readonly webhookId: string
}

/** A delivery that a worker has taken. */
export interface TakenDelivery {
  readonly id: string
  readonly attemptCount: number
  readonly maxAttempts: number
  /** Since when its next attempt is due, in milliseconds: before any attempt, when it was made or begun anew. */
  readonly dueAt: number
  /** In milliseconds; a retry by hand or a recovery that begins it anew moves it on. */
  readonly updatedAt: number
  readonly event: {
    readonly id: string
    readonly type: string
    /** As the wire writes it. */
    readonly createdAt: string
    /** The subject's kind; `webhook` for a ping. */
    readonly subjectKind: string
  }
  /** What `data` is to be, null when the subject is gone: its representation now, or the stored payload. */
  readonly data: string | null
}

/** An endpoint as it was when its lane was taken. */
export interface Endpoint {
  readonly url: string
  readonly disabledReason: string | null
  /** The registrant's scopes; null when its key is revoked or has expired. */
  readonly scopes: readonly string[] | null
  /** The secrets that sign now, the newest first, as stored. */
  readonly sealedSecrets: readonly Buffer[]
}

export interface Taken extends LaneKey {
  readonly leaseId: string
  readonly endpoint: Endpoint
  readonly deliveries: readonly TakenDelivery[]
}

/** What came of one delivery that was taken. */
export interface AttemptResult {
  readonly delivery: TakenDelivery
  /** Where it went: the endpoint may have another URL by now. */
  readonly url: string
  readonly verdict: Verdict
  /** When the attempt began and ended, in milliseconds since the Unix epoch. */
  readonly startedAt: number
  readonly endedAt: number
  readonly responseStatus: number | null
  readonly responseBody: string | null
  readonly durationMs: number
  /** Whether a TLS handshake was made for it in vain. */
  readonly lostHandshake: boolean
}

export interface Settled {
  /** False when the lane is no longer this worker's: nothing was changed. */
  readonly held: boolean
  /** Something is due on the lane that is not `known`. */
  readonly more: boolean
  /** Milliseconds; the endpoint's first failure since its last success, when these results changed its record. */
  readonly failingSince: number | null
}

/** A lane that may be taken, or the worker's own with something new. */
export interface DueLane extends LaneKey {
  readonly tier: Tier
}

/** A worker's hold on a lane. Times in milliseconds since the Unix epoch. */
export interface Lease {
  readonly id: string
  readonly workerId: string
  readonly until: number
  /** Whether commits are to tell the worker of what they add to the lane. */
  readonly listening: boolean
}

/** What a worker takes, and for how long. `now` in milliseconds since the Unix epoch. */
export interface Taking {
  readonly lease: Lease
  readonly now: number
  /** Deliveries at most. */
  readonly limit: number
}

export interface Lanes {
  /** Of each open tier a few lanes that are to be looked at (`foundAtOnce`), those that have waited longest first. */
  findDue(workerId: string, now: number, open: readonly Tier[]): Promise<readonly DueLane[]>
  /**
   * Leases the lane, or prolongs the lease, and reads its endpoint and up to `limit` of the next deliveries, apart from
   * those `known`; null when somebody else has it. What is taken is asked for when there is a connection: to wait for one
   * shortens no lease.
   */
  take(lane: LaneKey, taking: () => Taking, known?: readonly string[]): Promise<Taken | null>
  settle(
    lane: LaneKey & { readonly leaseId: string },
    settling: Settling,
    now: number,
    leaseUntil: number,
  ): Promise<Settled>
  /**
   * Whether this call disabled it. It does not when it has changed, and what was found holds no more: of an address that is not
   * public, when `tried` is not its URL any more.
   */
  disable(
    lane: LaneKey,
    tried: string | null,
    reason: string,
    now: number,
    failingBefore: number,
  ): Promise<boolean>
  /** Fails what is pending on a disabled endpoint, pings apart. */
  failPending(lane: LaneKey, reason: string, now: number): Promise<void>
  /**
   * Wakes lanes that have something due but do not say so, and those whose lease ends later than any lease can
   * (`longestLease` in milliseconds), as the clock was set back; answers how many. There should be none.
   */
  sweep(now: number, longestLease: number): Promise<number>
  /**
   * For a clock that was set back: what was made later than now, and never tried, is due at once, and so are recoveries and
   * what was retried by hand: it has all of its `attempts` left. Answers for how many lanes.
   */
  wakeFromTheFuture(now: number, attempts: number): Promise<number>
}

const settleStatement: PreparedStatement = {
  name: settleFunction.name,
  text: `select ${settleFunction.name}($1, $2, $3, $4, $5,
    ${Array.from({ length: settlingParameters }, (_, n) => `$${n + 6}`).join(', ')}) as settled`,
}

interface SettledText {
  readonly held: boolean
  readonly failing_since: string | null
  readonly more: boolean | null
}

/** Deliveries of a disabled endpoint failed in one statement. */
const failStep = 2_000

export function createLanes(pool: Queryable, tables: readonly StreamTable[]): Lanes {
  return {
    async findDue(workerId, now, open) {
      const { rows } = await pool.query<{ organization_id: string; webhook_id: string; tier: number }>({
        name: 'find_due_lanes',
        text: searchStatement,
        values: [formatTimestamp(now), workerId, ...tiers.map((tier) => open.includes(tier))],
      })
      return rows.map((row) => ({
        organizationId: row.organization_id,
        webhookId: row.webhook_id,
        tier: tiers[row.tier] ?? 'light',
      }))
    },

    take: createTake(pool, tables),

    async settle({ organizationId, webhookId, leaseId }, settling, now, leaseUntil) {
      const [row] = await queryText(pool, settleStatement, [
        organizationId,
        webhookId,
        leaseId,
        formatTimestamp(now),
        formatTimestamp(leaseUntil),
        ...encodeSettling(settling),
      ])
      const settled = JSON.parse(row?.[0] ?? '{}') as Partial<SettledText>
      const failingSince = settled.failing_since ?? null
      return {
        held: settled.held ?? false,
        more: settled.more ?? false,
        failingSince: failingSince === null ? null : Date.parse(failingSince),
      }
    },

    async disable({ organizationId, webhookId }, tried, reason, now, failingBefore) {
      const values = [
        organizationId,
        webhookId,
        tried,
        reason,
        formatTimestamp(now),
        formatTimestamp(failingBefore),
      ]
      return (await untilFree(() => callFunction<boolean | null>(pool, disableFunction, values))) ?? false
    },

    async failPending({ organizationId, webhookId }, reason, now) {
      for (let failed = failStep; failed === failStep; ) {
        const { rows } = await pool.query<{ failed: number }>({
          text: `select ${failPendingFunction.name}($1, $2, $3, $4, ${failStep}) as failed`,
          values: [organizationId, webhookId, formatTimestamp(now), reason],
        })
        failed = rows[0]?.failed ?? 0
      }
    },

    sweep: (now, longestLease) => sweepLanes(pool, now, longestLease),
    wakeFromTheFuture: (now, attempts) => wakeFromTheFuture(pool, now, attempts),
  }
}

/**
 * One index range a tier. The limit is part of the text: as a parameter the planner does not know it, and plans anew
 * each time.
 */
export const searchStatement: string = tiers
  .map(
    (tier, n) => `(select l.organization_id, l.webhook_id, l.tier from lanes l
      where $${n + 3}::boolean and l.tier = ${n} and l.due_at <= $1
        and (l.lease_until is null or l.lease_until <= $1 or l.worker_id = $2)
      order by l.due_at limit ${foundAtOnce[tier]})`,
  )
  .join('\n    union all ')
