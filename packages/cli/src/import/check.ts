/** A rehearsal: every row is held against the rules of its kind, and nothing is sent. */
import { type Kind, parseNew, systemClock } from '@deskwire/service/administration'
import { type Entry, toBatches } from './batches.ts'
import { faultText } from './fault.ts'
import type { Counts } from './progress.ts'
import type { Reject } from './rejects.ts'
import { rowsOf, type Source, type Survey } from './survey.ts'

/** What this version of the service would refuse by itself; what depends on other rows shows only when it is sent. */
export async function checkRows(
  kind: Kind,
  source: Source,
  found: Survey,
  onProgress: (counts: Counts, rejects: readonly Reject[]) => void,
): Promise<Counts> {
  const { layout } = found
  let counts: Counts = { rows: 0, created: 0, updated: 0, unchanged: 0, rejected: 0 }
  for await (const { entries } of toBatches(rowsOf(source, found), layout)) {
    const rejects = entries.flatMap((entry): Reject[] => {
      const error = faultOf(kind, entry, layout.hasExternalId)
      return error === null ? [] : [{ line: entry.line, cells: entry.cells, error }]
    })
    counts = { ...counts, rows: counts.rows + entries.length, rejected: counts.rejected + rejects.length }
    onProgress(counts, rejects)
  }
  return counts
}

function faultOf(kind: Kind, entry: Entry, isUpsert: boolean): string | null {
  if ('fault' in entry) return entry.fault
  if (isUpsert && entry.item.externalId === undefined) return 'externalId: an upsert finds rows by it'
  const parsed = parseNew(kind, entry.item, systemClock)
  if (parsed.ok) return null
  const { detail, errors } = parsed.error
  // A row that is there already has what it requires.
  const left = errors?.filter(({ code }) => !(isUpsert && code === 'required'))
  return errors !== undefined && left?.length === 0 ? null : faultText({ detail, errors: left })
}
