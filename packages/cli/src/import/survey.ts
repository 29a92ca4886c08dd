/** A first look at a file, from end to end, before anything of it is sent. */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { Kind } from '@deskwire/service/administration'
import { CommandFailure } from '../failure.ts'
import { UsageError } from '../usage-error.ts'
import { type Layout, readHeader } from './columns.ts'
import { readRecords } from './csv.ts'

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
}

export interface Source {
  readonly path: string
  readonly delimiter: string
  /** Columns to leave out. */
  readonly ignored: readonly string[]
}

/**
 * Reads the whole file: it is CSV, in UTF-8, and its header fits the kind.
 * @throws UsageError for a header that does not fit, and a file that cannot be read; CommandFailure for what is no CSV.
 */
export async function survey(kind: Kind, { path, delimiter, ignored }: Source): Promise<Survey> {
  const file = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      `${path} cannot be read: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}`,
    )
  })
  if (!file.isFile()) throw new UsageError(`${path} is no file`)
  const { onPiece, identity } = identify()
  let layout: Layout | null = null
  let rows = 0
  for await (const { cells } of readRecords(path, { delimiter, onPiece })) {
    if (layout === null) layout = readHeader(kind, cells, ignored)
    else rows++
  }
  if (layout === null) throw new CommandFailure(`${path} is empty: its first line has to name the columns`)
  return { file: identity(), layout, rows }
}

/**
 * The records below the header. @throws CommandFailure at the end of a file that is not the one that was surveyed: somebody
 * wrote to it meanwhile.
 */
export async function* rowsOf({ path, delimiter }: Source, { file }: Survey) {
  const { onPiece, identity } = identify()
  let isHeader = true
  for await (const record of readRecords(path, { delimiter, onPiece })) {
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
