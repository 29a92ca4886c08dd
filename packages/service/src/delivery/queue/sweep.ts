/**
 * Finds queues and delivery jobs that are due but do not say so. There should be none, unless a clock was
 * set back.
 */
import type { FastifyBaseLogger } from 'fastify'
import { isServedElsewhere } from '../../db/not-served.ts'
import type { Queryable } from '../../db/pool.ts'
import { nilUuid } from '../../kernel/ids.ts'
import { loggable } from '../../kernel/log.ts'
import { periodic } from '../../kernel/periodic.ts'
import { type Clock, formatTimestamp } from '../../kernel/timestamps.ts'
import type { DeliverySchedule } from '../model.ts'
import { deliveryTuning, leaseOf } from '../tuning.ts'

const {
  every,
  soon,
  clocksDiffer,
  setBackBy,
  suspiciousSweeps,
  recoveryWaits,
  queuesAtOnce,
  deliveriesAtOnce,
} = deliveryTuning.sweep

export function createSweeper(
  services: {
    readonly queues: {
      sweep(now: number, longestLease: number): Promise<number>
      wakeAfterClockSetBack: WakeAfterClockSetBack
    }
    readonly clock: Clock
    readonly schedule: DeliverySchedule
    readonly log: Pick<FastifyBaseLogger, 'warn'>
  },
  options: { readonly stopWithin: number; readonly onDeliveries: () => void },
) {
  const { queues, clock, schedule, log } = services
  /** The clock may have been set back before the first search. */
  let lastSearch = Number.POSITIVE_INFINITY
  /** Searches still to be made for what a clock left in the future. */
  let suspicions = 0

  const { stopWithin, onDeliveries } = options
  const onFailure = (error: Error) =>
    log.warn({ err: loggable(error) }, 'the sweep for stray deliveries failed; it will be tried again')
  const sweeping = periodic({ every, stopWithin, run: sweepOnce, onFailure })
  const walking = periodic({ every: null, stopWithin, run: walk, onFailure })

  return {
    start: sweeping.start,
    /**
     * To be called with the time of each search, which shows that a clock was set back: then what is pending is
     * searched, now and after the next sweeps. No search of the engine waits for it, as a million deliveries may be
     * pending.
     */
    noticed(now: number): void {
      if (now < lastSearch - setBackBy) {
        suspicions = 1 + suspiciousSweeps
        walking.wake()
      }
      lastSearch = now
    },
    get isIdle(): boolean {
      return walking.status === 'idle' && sweeping.status !== 'running'
    },
    /** Waits for work under way, `stopWithin` milliseconds at most. Never rejects. */
    async stop(): Promise<void> {
      await Promise.all([sweeping.stop(), walking.stop()])
    },
  }

  async function sweepOnce(): Promise<void> {
    const woken = await queues.sweep(clock.now(), leaseOf(schedule) + clocksDiffer)
    if (woken > 0)
      log.warn({ queues: woken }, "due deliveries were found whose endpoint's queue did not say so")
    if (suspicions > 0) walking.wake()
  }

  /** After a failure, the next sweep begins it again. */
  async function walk(signal: AbortSignal): Promise<void> {
    await queues.wakeAfterClockSetBack(clock.now(), signal, (woken) => {
      log.warn({ deliveries: woken }, 'deliveries were found that a wrong clock had scheduled too late')
      onDeliveries()
    })
    suspicions--
  }
}

interface QueueRow {
  readonly organization_id: string
  readonly webhook_id: string
}

/** SQL array of the organizations that are suspended or not served here, read once a statement. */
export const suspendedOrganizations = `array(select o.organization_id from organizations o
  where o.suspended_at is not null or ${isServedElsewhere('o')})`

/** The queues for which the condition on `l` holds, with its values from `$3` on: one statement for many. */
async function* queuesWhere(
  pool: Queryable,
  condition: string,
  values: readonly string[],
): AsyncGenerator<QueueRow> {
  for (let last: QueueRow = { organization_id: nilUuid, webhook_id: nilUuid }; ; ) {
    const { rows } = await pool.query<QueueRow & { found: boolean }>({
      text: `select l.organization_id, l.webhook_id, ${condition} as found
             from endpoint_queues l where (l.organization_id, l.webhook_id) > ($1::uuid, $2::uuid)
             order by l.organization_id, l.webhook_id limit ${queuesAtOnce}`,
      values: [last.organization_id, last.webhook_id, ...values],
    })
    yield* rows.filter(({ found }) => found)
    const end = rows.at(-1)
    if (end === undefined || rows.length < queuesAtOnce) return
    last = end
  }
}

/**
 * Wakes queues with something due that do not say so, and those leased for longer than `longestLease` (ms), by one
 * index probe for each queue. Returns how many.
 */
export async function sweepQueues(pool: Queryable, now: number, longestLease: number): Promise<number> {
  const latest = now + longestLease
  const isStray = `(l.lease_until > $4
    or l.lease_id is null and (l.due_at is null or l.due_at > $5 and l.due_at < 'infinity') and l.organization_id <> all(${suspendedOrganizations})
      and (select d.next_attempt_at from deliveries d where d.organization_id = l.organization_id
        and d.webhook_id = l.webhook_id and d.log_day = 'infinity' order by d.next_attempt_at, d.id limit 1) <= $3)`
  let woken = 0
  for await (const row of queuesWhere(pool, isStray, [now, latest, now + soon].map(formatTimestamp))) {
    await wake(pool, row, now, latest)
    woken++
  }
  return woken
}

async function wake(pool: Queryable, row: QueueRow, now: number, latest: number): Promise<void> {
  await pool.query(
    `update endpoint_queues set due_at = least(due_at, $3), rewinds = rewinds + 1, read_to = null,
       lease_until = case when lease_until > $4 then $3 else lease_until end
     where organization_id = $1 and webhook_id = $2`,
    [row.organization_id, row.webhook_id, formatTimestamp(now), formatTimestamp(latest)],
  )
}

interface PendingRow {
  readonly id: string
  /** As PostgreSQL reads it. */
  readonly due_at: string
  readonly begins: boolean
}

/** Ends early after the signal. `onWoken` gets how many deliveries became due, a queue at a time. */
type WakeAfterClockSetBack = (
  now: number,
  signal: AbortSignal,
  onWoken: (deliveries: number) => void,
) => Promise<void>

/**
 * After a clock was set back: makes due the deliveries that were created or started over later than now and not
 * attempted since, and delivery jobs. Walks all that is pending and not due, in pieces. A schedule's first attempt is
 * never due later than now, unless a clock was ahead. Retries keep their time.
 */
export function wakeAfterClockSetBack(pool: Queryable): WakeAfterClockSetBack {
  return async (now, signal, onWoken) => {
    await wakeJobs(pool, now)
    // What is being committed at this moment is no evidence.
    const since = formatTimestamp(now + soon)
    const isAhead = `(select d.next_attempt_at from deliveries d where d.organization_id = l.organization_id
      and d.webhook_id = l.webhook_id and d.log_day = 'infinity' and d.next_attempt_at > $3
      order by d.next_attempt_at, d.id limit 1) is not null`
    for await (const queue of queuesWhere(pool, isAhead, [since])) {
      if (signal.aborted) return
      const woken = await wakePending(pool, queue, now, since)
      if (woken > 0) onWoken(woken)
    }
  }
}

async function wakePending(pool: Queryable, queue: QueueRow, now: number, since: string): Promise<number> {
  let woken = 0
  for (let last: Pick<PendingRow, 'due_at' | 'id'> = { due_at: since, id: nilUuid }; ; ) {
    const { rows } = await pool.query<PendingRow>({
      name: 'find_pending_in_the_future',
      text: `select d.id, d.next_attempt_at::text as due_at, d.attempt_count = d.attempts_before as begins
             from deliveries d where d.organization_id = $1 and d.webhook_id = $2 and d.log_day = 'infinity'
               and (d.next_attempt_at, d.id) > ($3::timestamptz, $4::uuid)
             order by d.next_attempt_at, d.id limit ${deliveriesAtOnce}`,
      values: [queue.organization_id, queue.webhook_id, last.due_at, last.id],
    })
    const begun = rows.filter(({ begins }) => begins).map(({ id }) => id)
    if (begun.length > 0) await beginNow(pool, queue, begun, now)
    woken += begun.length
    const end = rows.at(-1)
    if (end === undefined || rows.length < deliveriesAtOnce) return woken
    last = end
  }
}

async function beginNow(
  pool: Queryable,
  { organization_id, webhook_id }: QueueRow,
  ids: readonly string[],
  now: number,
): Promise<void> {
  const values = [organization_id, webhook_id, formatTimestamp(now)]
  await pool.query(
    `update deliveries set next_attempt_at = $3 where organization_id = $1 and webhook_id = $2 and id = any($4)
       and log_day = 'infinity' and next_attempt_at > $3 and attempt_count = attempts_before`,
    [...values, ids],
  )
  // After they are due, as a worker that reads on from before would not find them.
  await pool.query(
    `update endpoint_queues set due_at = least(due_at, $3), rewinds = rewinds + 1, read_to = null
       where organization_id = $1 and webhook_id = $2`,
    values,
  )
}

/** Makes delivery jobs due that wait for longer than any can. */
async function wakeJobs(pool: Queryable, now: number): Promise<void> {
  const waitsTooLong = `j.due_at > case j.kind when 'recovery' then $2::timestamptz else $1::timestamptz end`
  const latest = [now + soon, now + soon + recoveryWaits].map(formatTimestamp)
  const { rows } = await pool.query<{ organization_id: string }>(
    `select distinct j.organization_id from delivery_jobs j where ${waitsTooLong}`,
    latest,
  )
  for (const { organization_id: organizationId } of rows) {
    await pool.query(
      `update delivery_jobs j set due_at = $4 where j.organization_id = $3 and ${waitsTooLong}`,
      [...latest, organizationId, formatTimestamp(now)],
    )
  }
}
