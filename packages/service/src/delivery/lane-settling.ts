/**
 * What a worker tells the database when it settles results, as parameters of the settling function: the round's own, and of
 * the results an array a column. Read as JSON they took the database a seventh of all that a delivery costs it.
 */
import { arrayParameter, type Parameter } from '../db/text-query.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { HealthChange } from './decide.ts'
import type { AttemptResult } from './lanes.ts'
import { type Tier, tiers } from './tiers.ts'

export interface Settling {
  readonly results: readonly AttemptResult[]
  readonly health: HealthChange
  /**
   * What becomes of the lane: it is let go, or kept; and if kept, whether its holder wants to hear of what comes in, as it
   * has attempts to spare, or looks again by itself.
   */
  readonly next: 'release' | 'listen' | 'hold'
  /** Where the lane waits when it is let go: a light or a heavy one in the one or the other, by its backlog. */
  readonly tier: Tier
  /** Ids of deliveries that its holder has taken and not settled yet. */
  readonly known: readonly string[]
}

interface Column<Told> {
  /** The parameter is called `p_` and this. */
  readonly name: string
  readonly type: string
  readonly value: (told: Told) => string | number | boolean | null
}

const roundColumns: readonly Column<Omit<Settling, 'results'>>[] = [
  { name: 'next', type: 'text', value: ({ next }) => next },
  { name: 'tier', type: 'int', value: ({ tier }) => tiers.indexOf(tier) },
  { name: 'known', type: 'uuid[]', value: ({ known }) => arrayParameter(known) },
  { name: 'succeeded_at', type: 'timestamptz', value: ({ health }) => timeText(health.succeededAt) },
  { name: 'failures', type: 'int', value: ({ health }) => health.failures },
  { name: 'failed_at', type: 'timestamptz', value: ({ health }) => timeText(health.failedAt) },
]

/** Times in milliseconds since the Unix epoch. */
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

/** The parameters as the function declares them. */
export const settlingArguments: string = [
  ...roundColumns.map(({ name, type }) => `p_${name} ${type}`),
  ...resultColumns.map(({ name, type }) => `p_${name} ${type}[]`),
].join(', ')

/**
 * The results as rows, within the function. The planner takes an array of unknown length for ten rows, and would compare each
 * with each; it takes subscripts for a thousand.
 */
export const settledRows: string = `rows from (${resultColumns.map(({ name }) => `unnest(p_${name})`).join(', ')},
        generate_subscripts(p_id, 1)) as r(${resultColumns.map(({ name }) => name).join(', ')}, place)`

/** How many parameters there are. */
export const settlingParameters: number = roundColumns.length + resultColumns.length

/** The parameters' values, in their order. */
export function encodeSettling({ results, ...round }: Settling): readonly Parameter[] {
  const text = (value: string | number | boolean | null) => (value === null ? null : String(value))
  return [
    ...roundColumns.map(({ value }) => text(value(round))),
    ...resultColumns.map(({ value }) => arrayParameter(results.map(value))),
  ]
}
