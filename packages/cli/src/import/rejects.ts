/** The lines that were not imported, in a file of the same form, with a column or field more that says why. */
import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { extname } from 'node:path'
import { stringify } from 'csv-stringify/sync'
import { CommandFailure } from '../failure.ts'
import { fileMode } from '../files.ts'
import { errorColumn, type Layout } from './columns.ts'
import type { CsvRecord } from './csv.ts'
import { rejectedLine } from './ndjson.ts'

export interface Reject extends CsvRecord {
  readonly error: string
}

/** A file of rejects, as far as an import has come. */
export interface RejectsFile {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

export interface Rejects extends AsyncDisposable {
  /** Appends lines. @returns the file as it is then; null while there is none. */
  append(rejects: readonly Reject[]): Promise<RejectsFile | null>
}

/** `customers.csv` → `customers.rejects.csv`, and `customers.rejects-2.csv` where there is that. */
function rejectsPath(path: string, n: number): string {
  const extension = extname(path)
  const stem = extension === '' ? path : path.slice(0, -extension.length)
  return `${stem}.rejects${n === 1 ? '' : `-${n}`}${extension || '.csv'}`
}

/**
 * The rejects of an import of the file `path` that has come to `kept` of them: what a killed process wrote beyond is
 * cut off. There is no file until there is something to write, and then it is a new one: those of earlier imports may
 * hold corrections.
 */
export async function openRejects(
  path: string,
  {
    layout,
    delimiter,
    hasSeparatorLine = false,
    kept,
  }: { layout: Layout; delimiter: string; hasSeparatorLine?: boolean; kept: RejectsFile | null },
): Promise<Rejects> {
  const hash = createHash('sha256')
  let opened = kept === null ? null : await openKept(kept, hash)
  // What was corrected before may have an error from then.
  const columns = layout.header.flatMap((name, n) => (name === errorColumn ? [] : [n]))
  const line = (cells: readonly string[], error: string) => [
    ...columns.map((n) => cells[n] ?? ''),
    error,
    // What is too much stays visible, and too much.
    ...cells.slice(layout.header.length),
  ]
  const textOf = (rejects: readonly Reject[], isFirst: boolean) => {
    if (layout.isLines)
      return rejects.map(({ cells, error }) => rejectedLine(layout, cells[0] ?? '', error)).join('')
    const header = isFirst ? [line(layout.header, errorColumn)] : []
    const separator = isFirst && hasSeparatorLine ? `sep=${delimiter}\n` : ''
    const records = [...header, ...rejects.map(({ cells, error }) => line(cells, error))]
    return separator + stringify(records, { delimiter })
  }
  return {
    async append(rejects) {
      if (rejects.length > 0) {
        const text = textOf(rejects, opened === null)
        opened ??= { ...(await openNew(path)), bytes: 0 }
        await opened.file.appendFile(text)
        hash.update(text)
        opened.bytes += Buffer.byteLength(text)
      }
      if (opened === null) return null
      return { path: opened.path, bytes: opened.bytes, sha256: hash.copy().digest('hex') }
    },
    async [Symbol.asyncDispose]() {
      await opened?.file.close()
    },
  }
}

interface Opened {
  readonly path: string
  readonly file: FileHandle
  bytes: number
}

async function openNew(path: string): Promise<{ path: string; file: FileHandle }> {
  for (let n = 1; ; n++) {
    const free = rejectsPath(path, n)
    const file = await open(free, 'ax', fileMode).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return null
      throw error
    })
    if (file !== null) return { path: free, file }
  }
}

/**
 * The file that an interrupted import left; null where it was taken away. @throws CommandFailure where it was
 * changed.
 */
async function openKept({ path, bytes, sha256 }: RejectsFile, hash: Hash): Promise<Opened | null> {
  const file = await open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (file === null) return null
  const found = createHash('sha256')
  for await (const piece of file.createReadStream({ start: 0, end: bytes - 1, autoClose: false })) {
    hash.update(piece)
    found.update(piece)
  }
  if (found.digest('hex') === sha256) {
    await file.truncate(bytes)
    await file.close()
    return { path, file: await open(path, 'a'), bytes }
  }
  await file.close()
  throw new CommandFailure(
    `${path} was changed since this import was interrupted: give it another name, and run the command again to go on`,
  )
}
