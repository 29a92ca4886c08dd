/**
 * Writes results in one call, if the lease still holds. They are arrays by column, which cost the database much less
 * than JSON.
 */
import { readJson } from '@deskwire/sdk/json'
import { fromOrganization } from '../../db/call-function.ts'
import type { Database } from '../../db/fair-pool.ts'
import type { SchemaFunction } from '../../db/migration.ts'
import { fillTemplate, readSql, schemaObject } from '../../db/sql-file.ts'
import { arrayParameter, type Parameter, type PreparedStatement, queryText } from '../../db/text-query.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'
import { type AttemptResult, type LeasedQueue, type Priority, priorities } from '../model.ts'
import { deliveryTuning } from '../tuning.ts'
import type { HealthChange } from '../verdict.ts'
import { type ReadPosition, unread } from './read-position.ts'
import { countsIn, tallyOf } from './tally.ts'

export interface Completion {
  readonly results: readonly AttemptResult[]
  readonly health: HealthChange
  /** Whether the queue is released or kept. */
  readonly next: 'release' | 'keep'
  readonly priority: Priority
  /** Deliveries that the worker has claimed, not completed and keeps. */
  readonly known: readonly string[]
  /** Default: nothing is known. */
  readonly position?: ReadPosition
  /** From when on counts may be left to fold; default: none are. */
  readonly foldFrom?: number | null
  /** The latest success under the lease, for a release; default: none. */
  readonly succeededLast?: number | null
}

export interface Completed {
  /** False when the queue is no longer this worker's: nothing was changed. */
  readonly held: boolean
  /** When the next delivery is due that is not `known`; null: none is pending. */
  readonly due: number | null
  readonly leaseUntil: number
  /** Milliseconds: the endpoint's first failure since its last success, if these results changed its health. */
  readonly failingSince: number | null
}

interface Round extends Required<Omit<Completion, 'results'>> {
  readonly tally: readonly number[]
}

/** The function's arguments after the lease, in their order. */
interface Column<Value> {
  readonly name: string
  readonly value: (from: Value) => string | number | boolean | null
}

const roundColumns: readonly Column<Round>[] = [
  { name: 'next', value: ({ next }) => next },
  { name: 'priority', value: ({ priority }) => priorities.indexOf(priority) },
  { name: 'known', value: ({ known }) => arrayParameter(known) },
  { name: 'rewinds', value: ({ position }) => (position.readTo === null ? -1 : position.rewinds) },
  { name: 'read_to', value: ({ position }) => timeText(position.readTo?.at ?? null) },
  { name: 'read_to_id', value: ({ position }) => position.readTo?.id ?? null },
  { name: 'succeeded_at', value: ({ health }) => timeText(health.succeededAt) },
  { name: 'failures', value: ({ health }) => health.failures },
  { name: 'failed_at', value: ({ health }) => timeText(health.failedAt) },
  { name: 'succeeded_last', value: ({ succeededLast }) => timeText(succeededLast) },
  { name: 'places', value: ({ tally }) => arrayParameter(countsIn(tally).places) },
  { name: 'counts', value: ({ tally }) => arrayParameter(countsIn(tally).counts) },
  { name: 'fold_from', value: ({ foldFrom }) => timeText(foldFrom) },
]

const resultColumns: readonly Column<AttemptResult>[] = [
  { name: 'id', value: ({ delivery }) => delivery.id },
  { name: 'due', value: ({ delivery }) => delivery.dueAt },
  { name: 'number', value: ({ delivery }) => delivery.attemptCount + 1 },
  { name: 'seen', value: ({ delivery }) => delivery.updatedAt },
  { name: 'status', value: ({ verdict }) => verdict.status },
  { name: 'attempted', value: ({ verdict }) => verdict.attempted },
  { name: 'started_at', value: ({ startedAt }) => startedAt },
  { name: 'ended_at', value: ({ endedAt }) => endedAt },
  { name: 'response_status', value: ({ responseStatus }) => responseStatus },
  { name: 'response_body', value: ({ responseBody }) => responseBody },
  { name: 'error_code', value: ({ verdict }) => verdict.error?.code ?? null },
  { name: 'error_message', value: ({ verdict }) => verdict.error?.message ?? null },
  { name: 'duration_ms', value: ({ durationMs }) => durationMs },
  { name: 'next_attempt_at', value: ({ verdict }) => verdict.nextAttemptAt },
]

function timeText(milliseconds: number | null): string | null {
  return milliseconds === null ? null : formatTimestamp(milliseconds)
}

const sql = (file: string) => readSql(import.meta.url, file)

export const archiveAttemptsFunction: SchemaFunction = schemaObject(sql('./archive-attempts.sql'))
export const countDeliveriesFunction: SchemaFunction = schemaObject(sql('./count-deliveries.sql'))
export const completeFunction: SchemaFunction = schemaObject(
  fillTemplate(sql('./complete-deliveries.sql'), {
    clocks_apart: String(deliveryTuning.drain.clocksApart),
  }),
  [archiveAttemptsFunction, countDeliveriesFunction],
)

const parameters = 5 + roundColumns.length + resultColumns.length

const completeStatement: PreparedStatement = {
  name: completeFunction.name,
  text: `select ${completeFunction.name}(${Array.from({ length: parameters }, (_, n) => `$${n + 1}`).join(', ')}) as completed
    ${fromOrganization}`,
}

interface CompletedText {
  readonly held: boolean
  readonly failing_since: string | null
  readonly due: number | null
  readonly lease_until: number
}

type CompleteQueue = (
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
      due: completed.due ?? null,
      leaseUntil: completed.lease_until ?? 0,
      failingSince: failingSince === null ? null : Date.parse(failingSince),
    }
  }
}

function encodeCompletion({ results, ...round }: Completion): readonly Parameter[] {
  const text = (value: string | number | boolean | null) => (value === null ? null : String(value))
  const ofRound: Round = {
    position: unread,
    foldFrom: null,
    succeededLast: null,
    ...round,
    tally: tallyOf(results),
  }
  return [
    ...roundColumns.map(({ value }) => text(value(ofRound))),
    ...resultColumns.map(({ value }) => arrayParameter(results.map(value))),
  ]
}
