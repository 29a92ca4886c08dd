import { plain } from './terminal.ts'

/** Rows of texts as lines, each column as wide as its widest text: the first row is the heading. */
export function table(given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map(plain))
  const widths = (rows[0] ?? []).map((_, n) => Math.max(...rows.map((row) => row[n]?.length ?? 0)))
  const line = (row: readonly string[]) => row.map((text, n) => text.padEnd(widths[n] ?? 0)).join('  ')
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('')
}
