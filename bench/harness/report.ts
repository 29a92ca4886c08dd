/** The result of a case: a JSON line with medians of its runs. */
import type { Load } from './load.ts'

export interface Result {
  readonly case: string
  readonly conditions: Readonly<Record<string, string | number>>
  readonly value: number
  readonly unit: string
  readonly p50?: number
  readonly p99?: number
  /** The bare limit in the same run. */
  readonly baseline?: number
  /** The median of the runs' ratios to the baseline. */
  readonly ratio?: number
  /** The value of each run. */
  readonly runs: readonly number[]
}

/** A case that cannot be measured here. */
export interface Skipped {
  readonly case: string
  /** In one line. */
  readonly skipped: string
}

export interface Run {
  readonly value: number
  readonly p50?: number
  readonly p99?: number
  readonly baseline?: number
}

/** A load and the bare limit of the same run. */
export function runOf(load: Load, baseline?: number): Run {
  const { perSecond: value, p50, p99 } = load
  return { value, p50, p99, ...(baseline === undefined ? {} : { baseline }) }
}

export function summarize(
  name: string,
  unit: string,
  conditions: Result['conditions'],
  runs: readonly Run[],
): Result {
  const middle = (pick: (run: Run) => number | undefined) => {
    const values = runs.map(pick).filter((value) => value !== undefined)
    return values.length === 0 ? undefined : rounded(median(values))
  }
  const optional = {
    p50: middle((run) => run.p50),
    p99: middle((run) => run.p99),
    baseline: middle((run) => run.baseline),
    ratio: middle((run) => (run.baseline === undefined ? undefined : run.value / run.baseline)),
  }
  const known = Object.entries(optional).filter(([, value]) => value !== undefined)
  return {
    case: name,
    conditions,
    value: rounded(median(runs.map((run) => run.value))),
    unit,
    ...Object.fromEntries(known),
    runs: runs.map((run) => rounded(run.value)),
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** To three significant digits. */
function rounded(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))
}
