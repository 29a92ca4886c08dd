/** A rehearsal: every row is held against the rules of its kind, and nothing is sent. */
import { toBatches } from './batches.ts'
import { brokenRules, type Entry } from './entry.ts'
import { faultsText } from './fault.ts'
import { type Counts, noCounts } from './progress.ts'
import type { Reject } from './rejects.ts'
import { rowsOf, type Source, type Survey } from './survey.ts'

/** What this version of the service would refuse by itself; what depends on other rows shows only when it is sent. */
export async function checkRows(
  source: Source,
  found: Survey,
  onProgress: (counts: Counts, rejects: readonly Reject[]) => void,
): Promise<Counts> {
  const { layout } = found
  const faultOf = (entry: Entry) =>
    'fault' in entry ? entry.fault : faultsText(brokenRules(layout, entry.item, entry.isMatched))
  let counts = noCounts
  for await (const { entries } of toBatches(rowsOf(source, found), layout)) {
    const rejects = entries.flatMap((entry): Reject[] => {
      const error = faultOf(entry)
      return error === '' ? [] : [{ line: entry.line, cells: entry.cells, error }]
    })
    counts = { ...counts, rows: counts.rows + entries.length, rejected: counts.rejected + rejects.length }
    onProgress(counts, rejects)
  }
  return counts
}
