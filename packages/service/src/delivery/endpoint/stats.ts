/** Statistics of deliveries and changes in steps of time (specification 11.5). */
import type { Database } from '../../db/fair-pool.ts'
import { readSql } from '../../db/sql-file.ts'
import { milliseconds, queryTextWithin } from '../../db/text-query.ts'
import type { StreamTable } from '../../journal/stream-table.ts'
import { type Problem, problem } from '../../kernel/errors.ts'
import { fail, ok, type Result } from '../../kernel/outcome.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'
import { durationBounds, meaningOf, quantile } from '../queue/tally.ts'

export const stepLengths = { '1m': 60_000, '1h': 3_600_000, '1d': 86_400_000 } as const
type Step = keyof typeof stepLengths

export const maxSteps = 1_500
export const defaultSteps = 60
const longestQuery = 20_000

export interface StepsQuery {
  readonly from: string | null
  readonly to: string | null
  readonly step: string | null
}

/** From `from` to `to`, rounded outwards, within the log and not after now. `now` and `retention` in milliseconds. */
export function stepsOf(query: StepsQuery, now: number, retention: number): Result<Steps, Problem> {
  const word = (query.step ?? '1m') as Step
  const length = stepLengths[word]
  const begin = (time: number) => Math.floor(time / length) * length
  const end = (time: number) => Math.ceil(time / length) * length
  const now1 = begin(now) + length
  const to = query.to === null ? now1 : end(Date.parse(query.to))
  const from = query.from === null ? to - defaultSteps * length : begin(Date.parse(query.from))
  if (query.from !== null && query.to !== null && Date.parse(query.from) > Date.parse(query.to))
    return fail(problem('invalid_parameter', 'from must not be later than to.'))
  const steps = { from: Math.max(from, begin(now - retention)), to: Math.min(to, now1), length }
  const count = (steps.to - steps.from) / length
  if (count <= maxSteps) return ok(count > 0 ? steps : { ...steps, to: steps.from })
  const longer = word === '1m' ? '1h or 1d' : '1d'
  const detail = `from and to are ${count} steps of ${word} apart; an answer has at most ${maxSteps}. Ask for a shorter span, or for a step of ${longer}.`
  return fail(problem('invalid_parameter', detail))
}

/** The counts of one step. `failed` and `changes` omit zeros. */
export interface StatsPoint {
  readonly at: string
  readonly succeeded: number
  readonly failed: Readonly<Record<string, number>>
  readonly p50: number | null
  readonly p95: number | null
  readonly changes: Readonly<Record<string, number>>
}

export interface Stats {
  readonly data: readonly StatsPoint[]
  /** Of the whole range: a percentile is not a sum of its steps'. */
  readonly total: Omit<StatsPoint, 'at' | 'changes'>
}

/** Statistics of one endpoint, or of all if `webhookId` is null, with changes of these kinds. */
export async function readStats(
  database: Pick<Database, 'ofLong'>,
  { organizationId, webhookId }: { readonly organizationId: string; readonly webhookId: string | null },
  tables: readonly StreamTable[],
  { steps, answerTimeout }: { readonly steps: Steps; readonly answerTimeout: number },
): Promise<Stats | 'too_long'> {
  const values = [
    organizationId,
    webhookId,
    formatTimestamp(steps.from),
    formatTimestamp(steps.to),
    `${steps.length} milliseconds`,
  ]
  const [deliveries, changes] = await Promise.all([
    queryTextWithin(database.ofLong(organizationId), longestQuery, statement, values),
    countChanges(database, organizationId, tables, steps, longestQuery),
  ])
  if (deliveries === 'too_long' || changes === 'too_long') return 'too_long'
  const counted = deliveries.map(([at, index, count]) => ({
    at: Number(at),
    index: Number(index),
    count: Number(count),
  }))
  return {
    data: pointsOf({ ...steps, answerTimeout }, counted, changes),
    total: outcomesOf(counted, answerTimeout),
  }
}

const statement = readSql(import.meta.url, './read-stats.sql')

interface DeliveryCount {
  readonly at: number
  readonly index: number
  readonly count: number
}

/** All steps, including those without events. */
function pointsOf(
  { from, to, length, answerTimeout }: Steps & { readonly answerTimeout: number },
  deliveries: readonly DeliveryCount[],
  changes: readonly ChangeCount[],
): readonly StatsPoint[] {
  const deliveriesAt = Map.groupBy(deliveries, ({ at }) => at)
  const changesAt = Map.groupBy(changes, ({ at }) => at)
  return Array.from({ length: (to - from) / length }, (_, n) => {
    const at = from + n * length
    const changed = (changesAt.get(at) ?? []).map(({ kind, count }) => [kind, count])
    return {
      at: formatTimestamp(at),
      ...outcomesOf(deliveriesAt.get(at) ?? [], answerTimeout),
      changes: Object.fromEntries(changed),
    }
  })
}

function outcomesOf(counts: readonly DeliveryCount[], answerTimeout: number): Stats['total'] {
  let succeeded = 0
  const failed: Record<string, number> = {}
  const durations = new Array<number>(durationBounds.length + 1).fill(0)
  for (const { index, count } of counts) {
    const meaning = meaningOf(index)
    switch (meaning?.counts) {
      case 'succeeded':
        succeeded += count
        break
      case 'failed':
        failed[meaning.code] = (failed[meaning.code] ?? 0) + count
        break
      case 'duration':
        durations[meaning.bucket] = (durations[meaning.bucket] ?? 0) + count
        break
      case undefined: // Of a later release.
    }
  }
  const [p50 = null, p95 = null] = [0.5, 0.95].map((part) => quantile(durations, part, answerTimeout))
  return { succeeded, failed, p50, p95 }
}

/** Steps of equal length, in milliseconds, from `from` to `to`. */
export interface Steps {
  readonly from: number
  readonly to: number
  readonly length: number
}

interface ChangeCount {
  /** When the step began, in milliseconds since the Unix epoch. */
  readonly at: number
  readonly kind: string
  readonly count: number
}

/** SQL: the start of the step that contains a time, counted from the Unix epoch in any time zone of the session. */
const stepOf = (length: string, time: string) =>
  `date_bin(${length}, ${time}, timestamptz '1970-01-01 00:00:00Z')`

/** Steps without a change are left out. `too_long`: the statement ran longer than `longest` milliseconds. */
async function countChanges(
  database: Pick<Database, 'ofLong'>,
  organizationId: string,
  tables: readonly Pick<StreamTable, 'kind' | 'name'>[],
  { from, to, length }: Steps,
  longest: number,
): Promise<readonly ChangeCount[] | 'too_long'> {
  if (tables.length === 0) return []
  const step = stepOf('$4::interval', 't.updated_at')
  const text = tables
    .map(
      ({ kind, name }) => `select '${kind}', ${milliseconds(step)}, count(*) from ${name} t
        where t.organization_id = $1::uuid and t.updated_at >= $2::timestamptz and t.updated_at < $3::timestamptz group by 2`,
    )
    .join(' union all ')
  const values = [organizationId, formatTimestamp(from), formatTimestamp(to), `${length} milliseconds`]
  const rows = await queryTextWithin(database.ofLong(organizationId), longest, text, values)
  if (rows === 'too_long') return rows
  return rows.map(([kind, at, count]) => ({ kind: String(kind), at: Number(at), count: Number(count) }))
}
