/** What a person sees of an import while it runs: a bar on a terminal, and the first of the bad lines. */
import { plain, type Screen } from '../terminal.ts'
import type { Counts } from './progress.ts'
import type { Reject } from './rejects.ts'

/** Lines that are shown one by one; the rejects file has them all. */
const toldLines = 20
const barWidth = 24

interface Show {
  update(counts: Counts, rejects: readonly Reject[]): void
  /** Takes the bar away. */
  end(): void
}

/** `now` in milliseconds. */
export function createShow(
  output: Screen,
  { total, done, now }: { readonly total: number; readonly done: number; now(): number },
): Show {
  const begun = now()
  let shown = 0
  return {
    update(counts, rejects) {
      output.line('')
      for (const { line, error } of rejects) {
        if (shown < toldLines) output.write(`line ${line}: ${plain(error)}\n`)
        if (shown === toldLines) output.write('further lines are not shown\n')
        shown++
      }
      if (!output.isTTY) return
      const perSecond = (counts.rows - done) / Math.max(0.001, (now() - begun) / 1_000)
      output.line(barText(counts, total, perSecond))
    },
    end: () => output.line(''),
  }
}

/** `[######··········]  37 %  37,000 of 100,000 rows, 8,120/s, 3 rejected` */
export function barText({ rows, rejected }: Counts, total: number, perSecond: number): string {
  const refused = rejected === 0 ? '' : `, ${count(rejected)} rejected`
  return `${barOf(rows, total)}  ${count(rows)} of ${count(total)} rows, ${count(Math.round(perSecond))}/s${refused}`
}

/** `[######··········]  37 %`. */
export function barOf(done: number, total: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const filled = Math.floor(share * barWidth)
  const percent = `${Math.floor(share * 100)} %`.padStart(5)
  return `[${'#'.repeat(filled)}${'·'.repeat(barWidth - filled)}] ${percent}`
}

/** With commas between thousands. */
export function count(value: number): string {
  return value.toLocaleString('en')
}

export function rowsText(rows: number): string {
  return rows === 1 ? '1 row' : `${count(rows)} rows`
}
