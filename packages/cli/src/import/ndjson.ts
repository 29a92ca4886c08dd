/** A file of JSON objects, one a line, as a stream of records whose only cell is the line. */
import { createReadStream } from 'node:fs'
import { extname } from 'node:path'
import { readJson } from '@deskwire/sdk/json'
import { CommandFailure } from '../failure.ts'
import { errorColumn, type Layout } from './columns.ts'
import type { CsvRecord } from './csv.ts'
import { faultsText, lossFaults } from './fault.ts'

/** Longest line in bytes, as of an item. */
const longestLine = 1024 * 1024
const lineFeed = 0x0a

/** Whether a file of this name has lines of JSON; any other is CSV. */
export function isLinesFile(path: string): boolean {
  return ['.ndjson', '.jsonl'].includes(extname(path).toLowerCase())
}

/**
 * The lines that are not empty. Memory does not grow with the file.
 * @throws CommandFailure that names the line, for one that is too long or not UTF-8.
 */
export async function* readLines(
  path: string,
  { onPiece }: { onPiece?(piece: Uint8Array): void },
): AsyncGenerator<CsvRecord, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 0
  let left: Uint8Array = new Uint8Array()
  const recordOf = (bytes: Uint8Array): CsvRecord => {
    line++
    try {
      return { line, cells: [decoder.decode(bytes).trim()] }
    } catch {
      throw new CommandFailure(`${path}: line ${line} is not UTF-8: save the file as UTF-8`)
    }
  }
  for await (const piece of createReadStream(path) as AsyncIterable<Uint8Array>) {
    onPiece?.(piece)
    let rest: Uint8Array = left.length === 0 ? piece : Buffer.concat([left, piece])
    for (let end = rest.indexOf(lineFeed); end !== -1; end = rest.indexOf(lineFeed)) {
      const record = recordOf(rest.subarray(0, end))
      rest = rest.subarray(end + 1)
      if (record.cells[0] !== '') yield record
    }
    if (rest.length > longestLine)
      throw new CommandFailure(`${path}: line ${line + 1} is longer than ${longestLine} bytes`)
    left = rest
  }
  const last = recordOf(left)
  if (last.cells[0] !== '') yield last
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object of a line, without what is left out; or what is wrong with the line. */
export function objectOf(
  { ignored }: Layout,
  text: string,
): { readonly item: Record<string, unknown> } | { readonly fault: string } {
  let value: unknown
  try {
    const faults = lossFaults(text)
    if (faults.length > 0) return { fault: faultsText(faults) }
    value = readJson(text)
  } catch (error) {
    return { fault: `it is not JSON: ${(error as Error).message}` }
  }
  if (!isObject(value)) return { fault: 'it must be a JSON object' }
  const kept = Object.entries(value).filter(([name]) => name !== errorColumn && !ignored.includes(name))
  return { item: Object.fromEntries(kept) }
}

/** A rejected line with its error, to correct and import. */
export function rejectedLine(layout: Layout, text: string, error: string): string {
  const read = objectOf(layout, text)
  return `${JSON.stringify({ ...('item' in read ? read.item : { text }), [errorColumn]: error })}\n`
}
