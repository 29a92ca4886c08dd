/**
 * Lanes: how workers find, lease and settle what is due, one lane an endpoint. A lane is held by one worker at a
 * time, so an endpoint never sees more attempts at once than that worker makes, and no search steps over the backlog
 * of an endpoint that is down.
 */
import type { Pool } from 'pg'
import { timestampText } from '../journal/commit-fragments.ts'
import type { StreamTable } from '../journal/stream-table.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { HealthChange, Verdict } from './decide.ts'
import { disableFunction, failPendingFunction, settleFunction } from './functions.ts'

export interface LaneKey {
  readonly organizationId: string
  readonly webhookId: string
}

/** A delivery that a worker has taken. */
export interface TakenDelivery {
  readonly id: string
  readonly attemptCount: number
  readonly maxAttempts: number
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

/** One delivery's part of a round. */
export interface RoundResult {
  readonly delivery: TakenDelivery
  readonly verdict: Verdict
  /** When the attempt began and ended, in milliseconds since the Unix epoch. */
  readonly startedAt: number
  readonly endedAt: number
  readonly responseStatus: number | null
  readonly responseBody: string | null
  readonly durationMs: number
}

export interface Settled {
  /** False when the lane is no longer this worker's: nothing was changed. */
  readonly held: boolean
  /** Milliseconds; the endpoint's first failure since its last success, when the round changed its record. */
  readonly failingSince: number | null
}

export interface Lanes {
  /** Lanes with something due that nobody holds, the longest due first. */
  findDue(now: number, limit: number): Promise<readonly LaneKey[]>
  /** Leases the lane and reads its endpoint and next deliveries; null when somebody else was quicker. */
  take(lane: LaneKey, leaseId: string, now: number, leaseUntil: number, limit: number): Promise<Taken | null>
  settle(
    lane: LaneKey & { readonly leaseId: string },
    round: { results: readonly RoundResult[]; health: HealthChange; release: boolean },
    now: number,
    leaseUntil: number,
  ): Promise<Settled>
  /** Whether this call disabled it. It does not when it has changed, and what was found holds no more. */
  disable(
    taken: LaneKey & { readonly endpoint: Pick<Endpoint, 'url'> },
    reason: string,
    now: number,
    failingBefore: number,
  ): Promise<boolean>
  /** Fails what is pending on a disabled endpoint, pings apart. */
  failPending(lane: LaneKey, reason: string, now: number): Promise<void>
  /** Wakes lanes that have something due but do not say so; answers how many. There should be none. */
  sweep(now: number): Promise<number>
}

interface TakenRow {
  readonly url: string
  readonly disabled_reason: string | null
  /** Separated by spaces, as the secrets are: every row has them, and only the first one's are read. */
  readonly scopes: string | null
  readonly secrets: string | null
  readonly id: string | null
  readonly attempt_count: number
  readonly max_attempts: number
  readonly event_id: string
  readonly event_type: string
  readonly event_created_at: string
  readonly subject_kind: string
  readonly payload: 'current' | 'stored'
  readonly current: string | null
}

/** Deliveries of a disabled endpoint failed in one statement. */
const failStep = 2_000

/** A round as the settling function takes it. */
function encodeRound(round: {
  results: readonly RoundResult[]
  health: HealthChange
  release: boolean
}): string {
  const at = (milliseconds: number | null) => (milliseconds === null ? null : formatTimestamp(milliseconds))
  return JSON.stringify({
    release: round.release,
    succeeded_at: at(round.health.succeededAt),
    failures: round.health.failures,
    failed_at: at(round.health.failedAt),
    results: round.results.map(({ delivery, verdict, ...result }) => ({
      id: delivery.id,
      number: delivery.attemptCount + 1,
      status: verdict.status,
      attempted: verdict.attempted,
      at: at(result.startedAt),
      ended_at: at(result.endedAt),
      response_status: result.responseStatus,
      response_body: result.responseBody,
      error_code: verdict.error?.code ?? null,
      error_message: verdict.error?.message ?? null,
      duration_ms: result.durationMs,
      next_attempt_at: at(verdict.nextAttemptAt),
    })),
  })
}

export function createLanes(pool: Pool, tables: readonly StreamTable[]): Lanes {
  const removals = new Set(tables.flatMap(({ removedEvent }) => removedEvent ?? []))
  /** A manual retry sends what was stored with the event; a removal and a ping have nothing but what they always had. */
  const isStored = ({ payload, event_type }: TakenRow) =>
    payload === 'stored' && event_type !== 'ping' && !removals.has(event_type)

  /** The stored payloads of these deliveries' events, by the event's id. Few deliveries need one. */
  async function storedPayloads(organizationId: string, taken: readonly TakenRow[]) {
    const events = taken.filter(isStored).map((row) => row.event_id)
    if (events.length === 0) return new Map<string, string | null>()
    const { rows } = await pool.query<{ id: string; body: string | null }>(
      'select e.id, e.body from events e where e.organization_id = $1 and e.id = any($2)',
      [organizationId, events],
    )
    return new Map(rows.map(({ id, body }) => [id, body]))
  }

  return {
    async findDue(now, limit) {
      const { rows } = await pool.query<{ organization_id: string; webhook_id: string }>({
        name: `find_due_lanes_${limit}`,
        text: `select l.organization_id, l.webhook_id from lanes l
               where l.due_at <= $1 and (l.lease_until is null or l.lease_until <= $1) order by l.due_at limit ${limit}`,
        values: [formatTimestamp(now)],
      })
      return rows.map((row) => ({ organizationId: row.organization_id, webhookId: row.webhook_id }))
    },

    async take({ organizationId, webhookId }, leaseId, now, leaseUntil, limit) {
      const { rows } = await pool.query<TakenRow>({
        name: `take_lane_${limit}`,
        text: takeStatement(tables, limit),
        values: [organizationId, webhookId, leaseId, formatTimestamp(now), formatTimestamp(leaseUntil)],
      })
      const [first] = rows
      if (first === undefined) return null
      const stored = await storedPayloads(organizationId, rows)
      const dataOf = (row: TakenRow) => {
        if (row.event_type === 'ping') return '{}'
        // Nothing is sent of what the API would not serve, whatever was stored of it.
        return row.current !== null && isStored(row) ? (stored.get(row.event_id) ?? null) : row.current
      }
      return {
        organizationId,
        webhookId,
        leaseId,
        endpoint: {
          url: first.url,
          disabledReason: first.disabled_reason,
          scopes: first.scopes?.split(' ') ?? null,
          sealedSecrets: first.secrets?.split(' ').map((hex) => Buffer.from(hex, 'hex')) ?? [],
        },
        deliveries: rows.flatMap((row) => (row.id === null ? [] : [takenDelivery(row, row.id, dataOf(row))])),
      }
    },

    async settle({ organizationId, webhookId, leaseId }, round, now, leaseUntil) {
      const { rows } = await pool.query<{ settled: { held: boolean; failing_since: string | null } }>({
        name: settleFunction.name,
        text: `select ${settleFunction.name}($1, $2, $3, $4, $5, $6) as settled`,
        values: [
          organizationId,
          webhookId,
          leaseId,
          formatTimestamp(now),
          formatTimestamp(leaseUntil),
          encodeRound(round),
        ],
      })
      const settled = rows[0]?.settled
      const failingSince = settled?.failing_since ?? null
      return {
        held: settled?.held ?? false,
        failingSince: failingSince === null ? null : Date.parse(failingSince),
      }
    },

    async disable({ organizationId, webhookId, endpoint }, reason, now, failingBefore) {
      const { rows } = await pool.query<{ disabled: boolean }>({
        text: `select ${disableFunction.name}($1, $2, $3, $4, $5, $6) as disabled`,
        values: [
          organizationId,
          webhookId,
          endpoint.url,
          reason,
          formatTimestamp(now),
          formatTimestamp(failingBefore),
        ],
      })
      return rows[0]?.disabled ?? false
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

    async sweep(now) {
      const { rows } = await pool.query<{ organization_id: string; webhook_id: string; due: Date }>({
        text: `select d.organization_id, d.webhook_id, min(d.next_attempt_at) as due from deliveries d
               join lanes l on l.organization_id = d.organization_id and l.webhook_id = d.webhook_id
               where d.log_day = 'infinity' and d.next_attempt_at <= $1 and l.lease_id is null
                 and (l.due_at is null or l.due_at > d.next_attempt_at)
               group by d.organization_id, d.webhook_id`,
        values: [formatTimestamp(now)],
      })
      for (const row of rows) {
        await pool.query({
          text: `update lanes set due_at = least(due_at, $3) where organization_id = $1 and webhook_id = $2`,
          values: [row.organization_id, row.webhook_id, formatTimestamp(row.due.getTime())],
        })
      }
      return rows.length
    },
  }
}

function takenDelivery(row: TakenRow, id: string, data: string | null): TakenDelivery {
  return {
    id,
    attemptCount: row.attempt_count,
    maxAttempts: row.max_attempts,
    event: {
      id: row.event_id,
      type: row.event_type,
      createdAt: row.event_created_at,
      subjectKind: row.subject_kind,
    },
    data,
  }
}

/**
 * Lease, claim and bodies in one statement; what is sent is read from the subject's own table, for a removal the record
 * that stands there in its place. The limit is part of the text: as a parameter the planner does not know it, and plans
 * anew each time.
 */
function takeStatement(tables: readonly StreamTable[], limit: number): string {
  const current = tables.map(({ kind, name, removedEvent }) => {
    const exists = 't.removed_at is null'
    const readable = removedEvent === null ? exists : `(${exists}) = (d.event_type <> '${removedEvent}')`
    return `when '${kind}' then
        (select t.body from ${name} t where t.organization_id = $1 and t.id = d.subject_id and ${readable})`
  })
  return `with leased as (
      update lanes l set lease_id = $3, lease_until = $5
        where l.organization_id = $1 and l.webhook_id = $2 and l.due_at <= $4
          and (l.lease_until is null or l.lease_until <= $4)
        returning l.webhook_id)
    select w.url, w.disabled_reason,
      (select array_to_string(k.scopes, ' ') from api_keys k where k.organization_id = $1 and k.id = w.api_key_id
        and (k.expires_at is null or k.expires_at > $4)) as scopes,
      (select string_agg(encode(s.sealed, 'hex'), ' ' order by s.created_at desc, s.id desc) from webhook_secrets s
        where s.organization_id = $1 and s.webhook_id = $2 and (s.expires_at is null or s.expires_at > $4)) as secrets,
      d.id, d.attempt_count, d.max_attempts, d.event_id, d.event_type, ${timestampText('d.event_created_at')} as event_created_at,
      d.subject_kind, d.payload,
      case d.subject_kind ${current.join('\n        ')} end as current
    from leased l
    join webhooks w on w.organization_id = $1 and w.id = l.webhook_id
    left join lateral (
      select d.id, d.attempt_count, d.max_attempts, d.event_id, d.event_type, d.event_created_at, d.subject_kind,
          d.subject_id, d.payload
        from deliveries d
        where d.organization_id = $1 and d.webhook_id = $2 and d.log_day = 'infinity' and d.next_attempt_at <= $4
        order by d.next_attempt_at, d.id limit ${limit}) d on true`
}
