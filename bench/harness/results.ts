/** bench/results.json: the latest results of the committed cases. RESULTS.md is generated from it. */
import { readFile, writeFile } from 'node:fs/promises'
import type { Result, Skipped } from './report.ts'

export interface Measured extends Result {
  readonly group: string
  /** `YYYY-MM-DD`. */
  readonly measured: string
  /** Measured by a run with `--full`. */
  readonly full?: true
  /** Where it was measured, unless with the latest cases. */
  readonly machine?: readonly string[]
}

export interface Results {
  /** Where the latest cases were measured. */
  readonly machine: readonly string[]
  readonly cases: readonly Measured[]
}

export interface GroupRun {
  readonly group: string
  readonly measured: string
  readonly full: boolean
  /** Only some of its cases were requested. */
  readonly partial?: boolean
  readonly machine: readonly string[]
  readonly results: readonly (Result | Skipped)[]
}

/**
 * The results after a run: its cases replace their earlier results. A case of the group that is missing now is dropped,
 * unless the run could not or was not asked to measure it. Groups have this order; others are dropped.
 */
export function mergeRun(held: Results, run: GroupRun, order: readonly string[]): Results {
  const { group, measured, full, partial = false, machine, results } = run
  const latest = results.flatMap((result): Measured[] =>
    'skipped' in result ? [] : [{ group, measured, ...(full ? { full } : {}), ...result }],
  )
  const came = new Set(latest.map((result) => result.case))
  const skipped = new Set(results.flatMap((result) => ('skipped' in result ? [result.case] : [])))
  const kept = held.cases
    .filter((entry) => !came.has(entry.case))
    .filter(
      (entry) =>
        entry.group !== group || partial || skipped.has(entry.case) || (entry.full === true && !full),
    )
    .map((entry) => placed(entry, entry.machine ?? held.machine, machine))
  const all = [...latest, ...kept]
  // Keeps the order of remaining cases.
  const place = new Map(held.cases.map((entry, at) => [entry.case, at]))
  const placeOf = (entry: Measured) => place.get(entry.case) ?? held.cases.length
  if (partial) all.sort((one, other) => placeOf(one) - placeOf(other))
  return { machine, cases: order.flatMap((name) => all.filter((entry) => entry.group === name)) }
}

/** Adds the machine, where it is not that of the latest cases. */
function placed(
  { machine: _, ...entry }: Measured,
  taken: readonly string[],
  latest: readonly string[],
): Measured {
  return taken.join('\n') === latest.join('\n') ? entry : { ...entry, machine: taken }
}

/**
 * Cases whose results are committed: those that documents cite, and the most important ones. Others are printed only.
 */
const committed: readonly RegExp[] = [
  /^write: PATCH, (one organization, (16|64)|64 organizations, 64) clients/,
  /^grown: /,
  /^sync: pages|^sync: from epoch, one client/,
  /^list: with total, (no filter|filter q, )/,
  /^start: /,
  /^deliver: |^latency: |^isolate: /,
  /^memory: a worker/,
  /^drift: verify, (0|10000) /,
  /^import: /,
  /^move: an organization of 100k/,
  /^neighbours: (?!a foreign load).*: done$/,
  /^neighbours: all together: (a request|memory)/,
]

export function isCommitted({ case: name }: Pick<Result, 'case'>): boolean {
  return committed.some((pattern) => pattern.test(name))
}

const data = new URL('../results.json', import.meta.url)
const page = new URL('../RESULTS.md', import.meta.url)

export async function readResults(): Promise<Results> {
  return JSON.parse(await readFile(data, 'utf8')) as Results
}

export async function writeResults(
  { machine, cases }: Results,
  pageOf: (results: Results) => string,
): Promise<void> {
  const results = { machine, cases: cases.filter(isCommitted) }
  await writeFile(data, `${JSON.stringify(results, null, 2)}\n`)
  await writeFile(page, pageOf(results))
}
