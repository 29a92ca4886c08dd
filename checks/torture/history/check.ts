/** Checks whether a history can be true: no version is lost, repeated or invented. All faults: verdict.ts. */
import { explain } from './explain.ts'
import { orderOf, Walk } from './followers.ts'
import type { History } from './format.ts'
import { Ledger } from './ledger.ts'
import { faultSorts, type Verdict } from './verdict.ts'

/** Reads the history twice, and stores numbers of each version in between, never pages. */
export async function checkHistory(history: History): Promise<Verdict> {
  const ledger = new Ledger()
  for await (const line of history()) ledger.take(line)
  explain(ledger)
  const walk = new Walk(ledger, orderOf(ledger))
  for await (const line of history()) walk.take(line)
  walk.end()
  const { asks, faults } = ledger
  return {
    faults: faults.list,
    counts: faults.counts,
    seen: {
      lines: ledger.lines,
      asks: asks.line.length,
      acknowledged: asks.outcome.filter((outcome) => outcome === 'done').length,
      unanswered: asks.outcome.filter((outcome) => outcome === 'unknown').length,
      versions: ledger.versions.at.length,
      rows: ledger.ids.length,
      ...walk.walked,
      marks: ledger.marks,
    },
  }
}

/** Whether nothing was found. */
export function isClean({ counts }: Verdict): boolean {
  return faultSorts.every((sort) => counts[sort] === 0)
}
