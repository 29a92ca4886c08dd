/** A CSV file (RFC 4180) as a stream of records, each with the line that it begins on. */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { CsvError, parse } from 'csv-parse'
import { CommandFailure } from '../failure.ts'
import { Lines, NotUtf8 } from './lines.ts'

export interface CsvRecord {
  /** The line of the file, from 1, that it begins on; a value in quotes may hold line breaks. */
  readonly line: number
  readonly cells: readonly string[]
}

/** Longest record in bytes. What is longer has lost a quote: memory is not to grow with it. */
const longestRecord = 1024 * 1024

/**
 * The records of a file, the header among them; empty lines are left out. Memory does not grow with the file.
 * @throws CommandFailure that names the line, for what is no CSV: from a misplaced quote on nobody knows where values
 *   end, so nothing behind it can be trusted.
 */
export async function* readRecords(
  path: string,
  {
    delimiter,
    hasSeparatorLine = false,
    onPiece,
  }: {
    readonly delimiter: string
    /** Whether the first line is no record, and names the delimiter. */
    readonly hasSeparatorLine?: boolean
    onPiece?(piece: Uint8Array): void
  },
): AsyncGenerator<CsvRecord, void, undefined> {
  const lines = new Lines()
  /** Where the parser is: an error drops the records that it has read and nobody has taken. */
  let parsedTo = 0
  const parser = parse({
    bom: true,
    delimiter,
    info: true,
    on_record(parsed, { bytes }) {
      parsedTo = bytes
      return parsed
    },
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: longestRecord,
  })
  const flowing = pipeline(
    createReadStream(path),
    async function* (pieces: AsyncIterable<Uint8Array>) {
      for await (const piece of pieces) {
        onPiece?.(piece)
        lines.take(piece)
        yield piece
      }
      lines.end()
    },
    parser,
  )
  // What goes wrong shows where the parser is read.
  flowing.catch(() => {})
  let begins = 0
  let skips = hasSeparatorLine
  try {
    for await (const parsed of parser) {
      const { record: cells, info } = parsed as { record: string[]; info: { bytes: number } }
      const line = lines.at(begins)
      begins = info.bytes
      if (!skips && (cells.length > 1 || cells[0] !== '')) yield { line, cells }
      skips = false
    }
  } catch (error) {
    if (error instanceof CsvError) throw notCsv(path, lines.at(parsedTo), error)
    if (error instanceof NotUtf8) throw new CommandFailure(`${path}: ${error.message}`)
    throw error
  }
}

/** The delimiter that the first line names, as Excel writes it (`sep=;`); null where it names none. */
export async function separatorOf(path: string): Promise<string | null> {
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0)
  const [, separator = null] =
    /^\ufeff?sep=([^"\r\n])[\r\n]/i.exec(buffer.toString('utf8', 0, bytesRead)) ?? []
  return separator
}

function notCsv(path: string, line: number, error: CsvError): CommandFailure {
  return new CommandFailure(`${path}: the record on line ${line} cannot be read: ${reason(error)}`)
}

function reason(error: CsvError): string {
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'a quote is opened and never closed; a quote inside quotes is written twice ("")'
    case 'CSV_INVALID_CLOSING_QUOTE':
      return 'something follows a closing quote; a quote inside quotes is written twice ("")'
    case 'INVALID_OPENING_QUOTE':
      return 'a quote stands inside a value that does not begin with one; put the value in quotes, and its own quotes twice ("")'
    case 'CSV_MAX_RECORD_SIZE':
      return `it is longer than ${longestRecord} bytes; is there a quote that is never closed?`
    default:
      return error.message
  }
}
