/**
 * Taking a lane: lease, endpoint, claim and bodies in one statement. What a commit adds at that very moment the statement
 * may not see, though the lane was woken for it; settling looks again, with a later snapshot.
 */
import type { Pool } from 'pg'
import { timestampText } from '../journal/commit-fragments.ts'
import type { StreamTable } from '../journal/stream-table.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { Lanes, TakenDelivery } from './lanes.ts'

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
  readonly stored: string | null
  readonly current: string | null
}

/** The statement for one limit is made once: see `takeStatement`. */
export function createTake(pool: Pool, tables: readonly StreamTable[]): Lanes['take'] {
  const carriesItsOwn = new Set(['ping', ...tables.flatMap(({ removedEvent }) => removedEvent ?? [])])
  const texts = new Map<number, string>()
  const textFor = (limit: number) => {
    const text = texts.get(limit) ?? takeStatement(tables, limit)
    texts.set(limit, text)
    return text
  }
  return async ({ organizationId, webhookId }, lease, now, limit, known = []) => {
    const { rows } = await pool.query<TakenRow>({
      name: `take_lane_${limit}`,
      text: textFor(limit),
      values: [
        organizationId,
        webhookId,
        lease.id,
        formatTimestamp(now),
        formatTimestamp(lease.until),
        lease.workerId,
        lease.listening,
        known,
      ],
    })
    const [first] = rows
    if (first === undefined) return null
    return {
      organizationId,
      webhookId,
      leaseId: lease.id,
      endpoint: {
        url: first.url,
        disabledReason: first.disabled_reason,
        scopes: first.scopes?.split(' ') ?? null,
        sealedSecrets: first.secrets?.split(' ').map((hex) => Buffer.from(hex, 'hex')) ?? [],
      },
      deliveries: rows.flatMap((row) => (row.id === null ? [] : [takenDelivery(row, row.id, carriesItsOwn)])),
    }
  }
}

function takenDelivery(row: TakenRow, id: string, carriesItsOwn: ReadonlySet<string>): TakenDelivery {
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
    data: dataOf(row, carriesItsOwn),
  }
}

/**
 * A removal carries its record, a ping its empty object. Anything else is sent only while its subject exists: as it
 * is now, or for a manual retry as it was when the event was made.
 */
function dataOf(row: TakenRow, carriesItsOwn: ReadonlySet<string>): string | null {
  if (carriesItsOwn.has(row.event_type)) return row.stored
  return row.current === null || row.payload === 'current' ? row.current : row.stored
}

/**
 * Lease, claim and bodies in one statement; what is read now comes from the subject's own table. The limit is part of
 * the text: as a parameter the planner does not know it, and plans anew each time.
 */
function takeStatement(tables: readonly StreamTable[], limit: number): string {
  const current = tables.map(
    ({ kind, name }) => `when '${kind}' then
        (select t.body from ${name} t where t.organization_id = $1 and t.id = e.subject_id and t.removed_at is null)`,
  )
  return `with leased as (
      update lanes l set lease_id = $3, lease_until = $5, worker_id = $6, listening = $7, due_at = $5
        where l.organization_id = $1 and l.webhook_id = $2
          and (l.lease_id = $3 or l.due_at <= $4 and (l.lease_until is null or l.lease_until <= $4))
        returning l.webhook_id)
    select w.url, w.disabled_reason,
      (select array_to_string(k.scopes, ' ') from api_keys k where k.organization_id = $1 and k.id = w.api_key_id
        and (k.expires_at is null or k.expires_at > $4)) as scopes,
      (select string_agg(encode(s.sealed, 'hex'), ' ' order by s.created_at desc, s.id desc) from webhook_secrets s
        where s.organization_id = $1 and s.webhook_id = $2 and (s.expires_at is null or s.expires_at > $4)) as secrets,
      d.id, d.attempt_count, d.max_attempts, d.event_id, d.event_type, ${timestampText('e.created_at')} as event_created_at,
      e.subject_kind,
      d.payload, e.body as stored,
      case e.subject_kind ${current.join('\n        ')} end as current
    from leased l
    join webhooks w on w.organization_id = $1 and w.id = l.webhook_id
    left join lateral (
      select d.id, d.attempt_count, d.max_attempts, d.event_id, d.event_type, d.payload from deliveries d
        where d.organization_id = $1 and d.webhook_id = $2 and d.status = 'pending' and d.next_attempt_at <= $4
          and d.id <> all($8::uuid[])
        order by d.next_attempt_at, d.id limit ${limit}) d on true
    left join events e on e.organization_id = $1 and e.id = d.event_id`
}
