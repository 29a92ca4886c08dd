/** A first look at a file, from end to end, before anything of it is sent. */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { readJson } from '@deskwire/sdk/json'
import type { Kind } from '@deskwire/service/administration'
import { CommandFailure } from '../failure.ts'
import { UsageError } from '../usage-error.ts'
import { type Layout, lineLayout, readHeader } from './columns.ts'
import { readRecords } from './csv.ts'
import { idOf } from './entry.ts'
import { isLinesFile, isObject, readLines } from './ndjson.ts'

/** What tells a file from every other. */
export interface FileIdentity {
  readonly size: number
  readonly sha256: string
}

export interface Survey {
  readonly file: FileIdentity
  readonly layout: Layout
  /** Records below the header. */
  readonly rows: number
  /** Those that have an externalId by which the service looks for them. */
  readonly matched: number
  /** Those that have none, and are created. */
  readonly others: number
}

export interface Source {
  readonly path: string
  readonly delimiter: string
  /** Columns or fields to leave out. */
  readonly ignored: readonly string[]
  /** Rows come with their past. */
  readonly history?: boolean
  /** Rows are created that an earlier import of the file has created. */
  readonly again?: boolean
}

/**
 * Reads the whole file: it is UTF-8, and CSV with a header that fits the kind, or has lines.
 * @throws UsageError for a header that does not fit, and a file that cannot be read; CommandFailure for what is no CSV.
 */
export async function survey(kind: Kind, source: Source): Promise<Survey> {
  const { path, ignored, history = false } = source
  const file = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      `${path} cannot be read: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}`,
    )
  })
  if (!file.isFile()) throw new UsageError(`${path} is no file`)
  const { onPiece, identity } = identify()
  let layout: Layout | null = null
  let rows = 0
  let matched = 0
  let others = 0
  for await (const { cells } of recordsOf(source, onPiece)) {
    const isHeader: boolean = layout === null && !isLinesFile(path)
    layout ??= isHeader ? readHeader(kind, cells, ignored, history) : lineLayout(kind, ignored, history)
    if (isHeader) continue
    rows++
    const id = externalIdIn(layout, cells)
    if (id === null) others++
    else if (id !== undefined) matched++
  }
  if (layout === null) {
    const wanted = isLinesFile(path) ? '' : ': its first line has to name the columns'
    throw new CommandFailure(`${path} is empty${wanted}`)
  }
  return { file: identity(), layout, rows, matched, others }
}

/** The externalId by which the service looks for a record's row; null: it has none; undefined: it is rejected. */
function externalIdIn(layout: Layout, cells: readonly string[]): string | null | undefined {
  if (!layout.isLines) return layout.idColumn === null ? null : cells[layout.idColumn] || undefined
  if (layout.ignored.includes('externalId')) return null
  try {
    const value: unknown = readJson(cells[0] ?? '')
    const id = isObject(value) ? idOf(layout, value) : undefined
    return id === null || typeof id === 'string' ? id : undefined
  } catch {
    return undefined
  }
}

function recordsOf({ path, delimiter }: Source, onPiece: (piece: Uint8Array) => void) {
  return isLinesFile(path) ? readLines(path, { onPiece }) : readRecords(path, { delimiter, onPiece })
}

/**
 * The records below the header, or the lines. @throws CommandFailure at the end of a file that is not the one that was surveyed: somebody
 * wrote to it meanwhile.
 */
export async function* rowsOf(source: Source, { file }: Survey) {
  const { path } = source
  const { onPiece, identity } = identify()
  let isHeader = !isLinesFile(path)
  for await (const record of recordsOf(source, onPiece)) {
    if (!isHeader) yield record
    isHeader = false
  }
  if (identity().sha256 !== file.sha256) {
    throw new CommandFailure(
      `${path} was changed while it was being read: some of it was taken as it was, some as it is. Look up what is there before you import it again`,
    )
  }
}

/** Takes a file in pieces and says at the end which it was. */
function identify() {
  const hash = createHash('sha256')
  let size = 0
  return {
    onPiece(piece: Uint8Array): void {
      hash.update(piece)
      size += piece.length
    },
    identity: (): FileIdentity => ({ size, sha256: hash.digest('hex') }),
  }
}
