/** Writes results in one call, if the lease still holds. They are arrays by column, which cost the database much less than JSON. */
import { readJson } from '@deskwire/sdk/json'
import { fromOrganization } from '../db/call-function.ts'
import type { Database } from '../db/fair-pool.ts'
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import { arrayParameter, type Parameter, type PreparedStatement, queryText } from '../db/text-query.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { endpointIsDisabled } from '../webhooks/table/endpoints.ts'
import { controlTypes, finalStatuses } from './control.ts'
import { type AttemptResult, type LeasedQueue, type Priority, priorities } from './model.ts'
import { insertControl } from './new-deliveries.ts'
import { countTally, tallyOf, tallyVariables } from './tally.ts'
import type { HealthChange } from './verdict.ts'

export interface Completion {
  readonly results: readonly AttemptResult[]
  readonly health: HealthChange
  /** Whether the queue is released or kept; if kept, whether commits wake the worker (`listen`) or it looks again by itself (`hold`). */
  readonly next: 'release' | 'listen' | 'hold'
  readonly priority: Priority
  /** Deliveries that the worker has claimed and not completed. */
  readonly known: readonly string[]
}

interface Completed {
  /** False when the queue is no longer this worker's: nothing was changed. */
  readonly held: boolean
  /** Something is due on the queue that is not `known`. */
  readonly more: boolean
  /** Milliseconds: the endpoint's first failure since its last success, if these results changed its health. */
  readonly failingSince: number | null
}

interface Round extends Omit<Completion, 'results'> {
  readonly tally: readonly number[]
}

interface Column<Value> {
  readonly name: string
  readonly type: string
  readonly value: (from: Value) => string | number | boolean | null
}

const roundColumns: readonly Column<Round>[] = [
  { name: 'next', type: 'text', value: ({ next }) => next },
  { name: 'priority', type: 'int', value: ({ priority }) => priorities.indexOf(priority) },
  { name: 'known', type: 'uuid[]', value: ({ known }) => arrayParameter(known) },
  { name: 'succeeded_at', type: 'timestamptz', value: ({ health }) => timeText(health.succeededAt) },
  { name: 'failures', type: 'int', value: ({ health }) => health.failures },
  { name: 'failed_at', type: 'timestamptz', value: ({ health }) => timeText(health.failedAt) },
  { name: 'tally', type: 'int[]', value: ({ tally }) => arrayParameter(tally) },
]

const resultColumns: readonly Column<AttemptResult>[] = [
  { name: 'id', type: 'uuid', value: ({ delivery }) => delivery.id },
  { name: 'number', type: 'int', value: ({ delivery }) => delivery.attemptCount + 1 },
  { name: 'seen', type: 'float8', value: ({ delivery }) => delivery.updatedAt },
  { name: 'status', type: 'text', value: ({ verdict }) => verdict.status },
  { name: 'attempted', type: 'boolean', value: ({ verdict }) => verdict.attempted },
  { name: 'started_at', type: 'float8', value: ({ startedAt }) => startedAt },
  { name: 'ended_at', type: 'float8', value: ({ endedAt }) => endedAt },
  { name: 'response_status', type: 'int', value: ({ responseStatus }) => responseStatus },
  { name: 'response_body', type: 'text', value: ({ responseBody }) => responseBody },
  { name: 'error_code', type: 'text', value: ({ verdict }) => verdict.error?.code ?? null },
  { name: 'error_message', type: 'text', value: ({ verdict }) => verdict.error?.message ?? null },
  { name: 'duration_ms', type: 'int', value: ({ durationMs }) => durationMs },
  { name: 'next_attempt_at', type: 'float8', value: ({ verdict }) => verdict.nextAttemptAt },
]

function timeText(milliseconds: number | null): string | null {
  return milliseconds === null ? null : formatTimestamp(milliseconds)
}

const completionArguments: string = [
  ...roundColumns.map(({ name, type }) => `p_${name} ${type}`),
  ...resultColumns.map(({ name, type }) => `p_${name} ${type}[]`),
].join(', ')

/** The results as rows. `generate_subscripts` makes the planner expect a thousand rows; arrays alone, ten, and a nested loop. */
const completedRows: string = `rows from (${resultColumns.map(({ name }) => `unnest(p_${name})`).join(', ')},
        generate_subscripts(p_id, 1)) as r(${resultColumns.map(({ name }) => name).join(', ')}, place)`

const completionParameters: number = roundColumns.length + resultColumns.length

/** A completed delivery's day in the log. Pending deliveries have a partition of their own, under the day 'infinity'. */
export function logDay(delivery: string): string {
  return `(${delivery}.created_at at time zone 'UTC')::date`
}

/** Copies the attempts that the deliveries' rows hold to `attempts`, before the next overwrite them. Where the last update was no attempt, the row exists. */
export const archivePreviousAttempts = (
  ids: string,
) => `insert into attempts (organization_id, delivery_id, number, at, response_status,
      error_code, error_message, duration_ms, response_body)
    select p_organization_id, d.id, d.attempt_count, d.last_attempt_at, d.response_status, d.last_error_code,
        d.last_error_message, d.duration_ms, d.response_body
      from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(${ids})
        and d.log_day = 'infinity' and d.last_attempt_at is not null
    on conflict do nothing;`

const time = (milliseconds: string) => `to_timestamp(${milliseconds} / 1000)`

/**
 * Completes results, if the lease still holds. The queue is locked in one statement and what is due is read in a later one, whose snapshot
 * has every commit before the lock; a single statement could leave a delivery behind. A delivery is completed only if it has not changed
 * since the claim: one that was started over meanwhile must not end with an older attempt.
 */
export const completeFunction: SchemaFunction = schemaFunction(
  'complete_deliveries',
  {
    arguments: `p_organization_id uuid, p_webhook_id uuid, p_lease_id uuid, p_now timestamptz, p_lease_until timestamptz,
      ${completionArguments}`,
    returns: 'jsonb',
  },
  `declare
  v_failing_since timestamptz(3);
  v_due timestamptz(3);
  ${tallyVariables}
begin
  perform 1 from endpoint_queues l where l.organization_id = p_organization_id and l.webhook_id = p_webhook_id
    and l.lease_id = p_lease_id for update;
  if not found then
    return jsonb_build_object('held', false);
  end if;

  if 1 < any(p_number) then
    ${archivePreviousAttempts('p_id')}
  end if;
  -- The rows are found by their ids, each by the index: a join with what came would read all that is pending.
  update deliveries d set status = r.status, attempt_count = d.attempt_count + r.attempted::int,
        response_status = case when r.attempted then r.response_status else d.response_status end,
        response_body = case when r.attempted then r.response_body else d.response_body end,
        last_error_code = r.error_code, last_error_message = r.error_message,
        duration_ms = case when r.attempted then r.duration_ms else d.duration_ms end,
        last_attempt_at = case when r.attempted then ${time('r.started_at')} else d.last_attempt_at end,
        next_attempt_at = ${time('r.next_attempt_at')}, updated_at = greatest(d.updated_at, p_now),
        delivered_at = case when r.status = 'succeeded' then ${time('r.ended_at')} end,
        log_day = case when r.status = 'pending' then 'infinity' else ${logDay('d')} end
      from ${completedRows}
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.id = any(p_id) and d.id = r.id
        and d.log_day = 'infinity' and d.attempt_count = r.number - 1 and d.updated_at = ${time('r.seen')};

  -- Creates a gap event for a subscription that has missed something, one at a time.
  if 'failed' = any(p_status) then
    ${insertControl('gap', {
      among: `w.id = p_webhook_id and w.status = 'active'
        and exists (select 1 from deliveries d where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
          and d.id = any(p_id) and d.status = 'failed' and d.event_type not in (${controlTypes})
          and coalesce(d.response_status, 0) not in (${finalStatuses.join(', ')}))
        and not exists (select 1 from deliveries d where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id
          and d.log_day = 'infinity' and d.event_type = 'gap')`,
      attempts: '(select max(n) from unnest(p_number) as n)',
    })}
  end if;

  if cardinality(p_id) > 0 then
    ${countTally(
      'p_tally',
      [
        'last_success_at = coalesce(p_succeeded_at, h.last_success_at)',
        'failure_count = case when p_succeeded_at is null then h.failure_count else 0 end + p_failures',
        'failing_since = coalesce(case when p_succeeded_at is null then h.failing_since end, p_failed_at)',
      ],
      `
      returning case when p_succeeded_at is not null or p_failures > 0 then h.failing_since end into v_failing_since`,
    )}
  end if;

  select d.next_attempt_at into v_due from deliveries d
    where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day = 'infinity'
      and d.id <> all(p_known)
    order by d.next_attempt_at, d.id limit 1;
  if p_next = 'release' then
    -- Disabled meanwhile: what is pending is not to wait for its next attempt, but to fail now.
    if v_due > p_now and ${endpointIsDisabled} then
      v_due := p_now;
    end if;
    -- A backlog waits behind those that have waited longer: its queue was drained just now.
    update endpoint_queues set due_at = case when v_due > p_now then v_due when v_due is not null then p_now end,
        lease_id = null, lease_until = null, worker_id = null, listening = false,
        lost_leases = 0, alone_id = null, alone_since = null,
        alone_left = case when alone_left > 0 and v_due <= p_now then alone_left - 1 else 0 end,
        priority = p_priority
      where organization_id = p_organization_id and webhook_id = p_webhook_id;
  else
    -- Until then only its holder has to look at it.
    update endpoint_queues set lease_until = p_lease_until, listening = p_next = 'listen',
        due_at = case when p_next = 'listen' then least(v_due, p_lease_until) else p_lease_until end
      where organization_id = p_organization_id and webhook_id = p_webhook_id;
  end if;
  return jsonb_build_object('held', true, 'failing_since', v_failing_since, 'more', v_due is not null and v_due <= p_now);
end;`,
)

const completeStatement: PreparedStatement = {
  name: completeFunction.name,
  text: `select ${completeFunction.name}($1, $2, $3, $4, $5,
    ${Array.from({ length: completionParameters }, (_, n) => `$${n + 6}`).join(', ')}) as completed
    ${fromOrganization}`,
}

interface CompletedText {
  readonly held: boolean
  readonly failing_since: string | null
  readonly more: boolean | null
}

export type CompleteQueue = (
  queue: LeasedQueue,
  completion: Completion,
  now: number,
  leaseUntil: number,
) => Promise<Completed>

export function createComplete(database: Pick<Database, 'of'>): CompleteQueue {
  return async ({ organizationId, webhookId, leaseId }, completion, now, leaseUntil) => {
    const [row] = await queryText(database.of(organizationId), completeStatement, [
      organizationId,
      webhookId,
      leaseId,
      formatTimestamp(now),
      formatTimestamp(leaseUntil),
      ...encodeCompletion(completion),
    ])
    const completed = readJson(row?.[0] ?? '{}') as Partial<CompletedText>
    const failingSince = completed.failing_since ?? null
    return {
      held: completed.held ?? false,
      more: completed.more ?? false,
      failingSince: failingSince === null ? null : Date.parse(failingSince),
    }
  }
}

function encodeCompletion({ results, ...round }: Completion): readonly Parameter[] {
  const text = (value: string | number | boolean | null) => (value === null ? null : String(value))
  const ofRound: Round = { ...round, tally: tallyOf(results) }
  return [
    ...roundColumns.map(({ value }) => text(value(ofRound))),
    ...resultColumns.map(({ value }) => arrayParameter(results.map(value))),
  ]
}
