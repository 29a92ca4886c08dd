/** A first look at a file, from end to end, before anything of it is sent. */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { readJson } from '@deskwire/sdk/json'
import { type Kind, quoted } from '@deskwire/service/kinds'
import { CommandFailure } from '../failure.ts'
import { UsageError } from '../usage-error.ts'
import { isIdName, type Layout, lineLayout, readHeader } from './columns.ts'
import { readRecords, separatorOf } from './csv.ts'
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
  readonly delimiter: string
  /** Whether the first line is no header, and names the delimiter. */
  readonly hasSeparatorLine: boolean
  /** What its user should look at. */
  readonly warnings: readonly string[]
}

export interface Source {
  readonly path: string
  /** Null: the one that the file names, or a comma. */
  readonly delimiter: string | null
  /** Columns or fields to leave out. */
  readonly ignored: readonly string[]
  /** Rows come with their past. */
  readonly history?: boolean
  /** Rows are created that an earlier import of the file has created. */
  readonly again?: boolean
  /** Whether the file may have an externalId twice: its later line changes the row again. */
  readonly allowsDuplicates?: boolean
}

/**
 * Reads the whole file: it is UTF-8, and CSV with a header that fits the kind, or has lines.
 * @throws UsageError for a header that does not fit, and a file that cannot be read; CommandFailure for what is no CSV.
 */
export async function survey(kind: Kind, source: Source): Promise<Survey> {
  const { path, ignored, history = false, allowsDuplicates = false } = source
  const file = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      `${path} cannot be read: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}`,
    )
  })
  if (!file.isFile()) throw new UsageError(`${path} is no file`)
  const separator = isLinesFile(path) ? null : await separatorOf(path)
  if (separator !== null && ![null, separator].includes(source.delimiter))
    throw new UsageError(
      `--delimiter: the first line of ${path} says sep=${separator}: leave --delimiter out, or remove that line`,
    )
  const form = {
    delimiter: separator ?? source.delimiter ?? ',',
    hasSeparatorLine: separator !== null,
  }
  const { onPiece, identity } = identify()
  const ids = new Ids()
  let layout: Layout | null = null
  let rows = 0
  let matched = 0
  let others = 0
  for await (const { line, cells } of recordsOf(path, form, onPiece)) {
    const isHeader: boolean = layout === null && !isLinesFile(path)
    layout ??= isHeader ? readHeader(kind, cells, ignored, history) : lineLayout(kind, ignored, history)
    if (isHeader) continue
    rows++
    const { id, named } = externalIdsIn(layout, cells)
    if (id === null) others++
    else if (id !== undefined) matched++
    ids.take(line, id ?? null, named)
  }
  if (layout === null) {
    const wanted = isLinesFile(path) ? '' : ': its first line has to name the columns'
    throw new CommandFailure(`${path} is empty${wanted}`)
  }
  const repeated = ids.repeated()
  if (repeated !== null && !allowsDuplicates) {
    const allow = history ? '' : ', or give --duplicates last: then a later line changes the row again'
    throw new UsageError(`${path} has externalIds more than once: ${repeated}. Correct the file${allow}`)
  }
  return { file: identity(), layout, rows, matched, others, ...form, warnings: ids.warnings() }
}

interface FoundIds {
  /** The externalId by which the service looks for a record's row; null: it has none; undefined: it is rejected. */
  readonly id: string | null | undefined
  /** With those of objects that the row refers to. */
  readonly named: readonly string[]
}

function externalIdsIn(layout: Layout, cells: readonly string[]): FoundIds {
  if (!layout.isLines) {
    const id = layout.idColumn === null ? null : cells[layout.idColumn] || undefined
    return { id, named: layout.idColumns.map((n) => cells[n] ?? '') }
  }
  try {
    const value: unknown = readJson(cells[0] ?? '')
    if (!isObject(value)) return { id: undefined, named: [] }
    const item = Object.entries(value).filter(([name]) => !layout.ignored.includes(name))
    const id = idOf(layout, Object.fromEntries(item))
    const named = item.flatMap(([name, one]) => (isIdName(name) && typeof one === 'string' ? [one] : []))
    return { id: id === null || typeof id === 'string' ? id : undefined, named }
  } catch {
    return { id: undefined, named: [] }
  }
}

/** Repeated ids that are named, and lines of each. */
const [shownIds, shownLines] = [5, 5]

/** The externalIds of a file. */
class Ids {
  /** By id, the first line that has it. */
  readonly #first = new Map<string, number>()
  readonly #repeated = new Map<string, number[]>()
  #shortened: { readonly line: number; readonly id: string } | null = null
  #others = 0

  take(line: number, id: string | null, named: readonly string[]): void {
    for (const one of named) {
      if (!/^[+-]?\d+([.,]\d+)?E[+-]\d+$/i.test(one)) continue
      if (this.#shortened === null) this.#shortened = { line, id: one }
      else this.#others++
    }
    if (id === null) return
    const first = this.#first.get(id)
    if (first === undefined) {
      this.#first.set(id, line)
      return
    }
    const lines = this.#repeated.get(id) ?? [first]
    lines.push(line)
    this.#repeated.set(id, lines)
  }

  /** The first of those that are there more than once, as a text; null: there are none. */
  repeated(): string | null {
    if (this.#repeated.size === 0) return null
    const shown = [...this.#repeated].slice(0, shownIds).map(([id, lines]) => {
      const more = lines.length > shownLines ? ` and ${lines.length - shownLines} more` : ''
      return `${quoted(id)} on lines ${lines.slice(0, shownLines).join(', ')}${more}`
    })
    const more = this.#repeated.size > shownIds ? `; and ${this.#repeated.size - shownIds} more` : ''
    return shown.join('; ') + more
  }

  warnings(): string[] {
    if (this.#shortened === null) return []
    const { line, id } = this.#shortened
    const more = this.#others === 0 ? '' : ` and ${this.#others} more like it`
    return [
      `line ${line} has the externalId ${quoted(id)}${more}: a spreadsheet has shortened a number. Format the column as text, and export the file again`,
    ]
  }
}

function recordsOf(
  path: string,
  form: Pick<Survey, 'delimiter' | 'hasSeparatorLine'>,
  onPiece: (piece: Uint8Array) => void,
) {
  return isLinesFile(path) ? readLines(path, { onPiece }) : readRecords(path, { ...form, onPiece })
}

/**
 * The records below the header, or the lines. @throws CommandFailure at the end of a file that is not the one that
 * was surveyed: somebody wrote to it meanwhile.
 */
export async function* rowsOf({ path }: Source, { file, ...form }: Survey) {
  const { onPiece, identity } = identify()
  let isHeader = !isLinesFile(path)
  for await (const record of recordsOf(path, form, onPiece)) {
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
