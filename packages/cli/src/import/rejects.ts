/** The lines that were not imported, as a CSV of the same columns and one more that says why. */
import { type FileHandle, open, rm } from 'node:fs/promises'
import { extname } from 'node:path'
import { stringify } from 'csv-stringify/sync'
import { errorColumn, type Layout } from './columns.ts'
import type { CsvRecord } from './csv.ts'

export interface Reject extends CsvRecord {
  readonly error: string
}

export interface Rejects extends AsyncDisposable {
  readonly path: string
  /** Appends lines. @returns the length of the file in bytes. */
  append(rejects: readonly Reject[]): Promise<number>
}

/** `customers.csv` → `customers.rejects.csv`. */
export function rejectsPath(path: string): string {
  const extension = extname(path)
  const stem = extension === '' ? path : path.slice(0, -extension.length)
  return `${stem}.rejects${extension || '.csv'}`
}

/**
 * The rejects of an import that has come to `keptBytes` of them: what a killed process wrote beyond is cut off. There is no
 * file until there is something to write; one of an earlier import is removed.
 */
export async function openRejects(
  path: string,
  { layout, delimiter, keptBytes }: { layout: Layout; delimiter: string; keptBytes: number },
): Promise<Rejects> {
  let length = 0
  let file: FileHandle | null = null
  if (keptBytes === 0) await rm(path, { force: true })
  else {
    file = await open(path, 'a')
    // Somebody may have taken it away, or some of it.
    length = Math.min(keptBytes, (await file.stat()).size)
    await file.truncate(length)
  }
  // What was mended before may have an error from then.
  const kept = layout.header.flatMap((name, n) => (name === errorColumn ? [] : [n]))
  const line = (cells: readonly string[], error: string) => [
    ...kept.map((n) => cells[n] ?? ''),
    error,
    // What is too much stays visible, and too much.
    ...cells.slice(layout.header.length),
  ]
  return {
    path,
    async append(rejects) {
      if (rejects.length === 0) return length
      const header = length === 0 ? [line(layout.header, errorColumn)] : []
      const rows = rejects.map(({ cells, error }) => line(cells, error))
      const text = stringify([...header, ...rows], { delimiter })
      file ??= await open(path, 'a')
      await file.appendFile(text)
      length += Buffer.byteLength(text)
      return length
    },
    async [Symbol.asyncDispose]() {
      await file?.close()
    },
  }
}
