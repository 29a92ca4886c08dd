/**
 * The records of JSON as helpdesks export it, one at a time: objects one a line or one after the other, a list of
 * objects, and pages (`{"tickets":[{…},{…}],"end_of_stream":true}`) of any size. Memory holds one record, however
 * long the file is.
 */
import { readJson } from '@deskwire/sdk/json'
import { CommandFailure } from '../../failure.ts'

export interface FoundRecord {
  /** The member of its page that it is in; null for one outside of pages. */
  readonly list: string | null
  /** The line, from 1, that it begins on. */
  readonly line: number
  readonly text: string
}

/** Longest record in bytes: a ticket with five thousand comments. A text of JavaScript holds little more. */
const longestRecord = 384 * 2 ** 20
/** No list of a page has a longer name. */
const longestName = 64

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d]
const lineFeed = 0x0a

/**
 * Reads records. `lists` are the members of a page whose elements are records; an object without any of them is a
 * record itself.
 * @throws CommandFailure that names the line, for what is no JSON in UTF-8 or was cut off.
 */
export async function* recordsIn(
  name: string,
  pieces: AsyncIterable<Uint8Array>,
  lists: ReadonlySet<string>,
): AsyncGenerator<FoundRecord, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let line = 1
  /** Objects and lists that are open. */
  let depth = 0
  /** Lists around the outermost objects: one where the file is a list. */
  let outer = 0
  /** The list of a page that is being read. */
  let list: string | null = null
  let isString = false
  let isEscaped = false
  /** The string that was read last in an outermost object, as a name may be. */
  let string: number[] = []
  let member: string | null = null
  /** The pieces of the record so far; null outside of one. */
  let record: Uint8Array[] | null = null
  let recordLine = 0
  let bytes = 0
  let isFirst = true

  const fail = (fault: string) => new CommandFailure(`${name}: line ${line}: ${fault}`)
  const textOf = (parts: readonly Uint8Array[]): string => {
    try {
      return decoder.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts))
    } catch {
      throw new CommandFailure(
        `${name}: the record on line ${recordLine} is not UTF-8: save the file as UTF-8`,
      )
    }
  }

  for await (const whole of pieces) {
    const piece = isFirst ? withoutMark(name, whole) : whole
    isFirst = false
    let from = 0
    for (let n = 0; n < piece.length; n++) {
      const byte = piece[n] as number
      if (isString) {
        // Behind the quote that ends the string, or that is escaped in it.
        const found: number = isEscaped ? n : piece.indexOf(quote, n)
        const until = found === -1 ? piece.length : found + 1
        if (depth === outer + 1 && string.length <= longestName)
          string.push(...piece.subarray(n, Math.min(until, n + longestName + 1)))
        if (isEscaped) isEscaped = false
        else {
          const end: number = found === -1 ? until : found
          let slash = end
          while (slash > n && piece[slash - 1] === backslash) slash--
          const isOdd: boolean = (end - slash) % 2 === 1
          if (found === -1) isEscaped = isOdd
          else if (!isOdd) isString = false
        }
        n = until - 1
        continue
      }
      if (byte <= 0x20) {
        if (byte === lineFeed) line++
        continue
      }
      const within = depth - outer
      if (within === 0 || (within === 2 && list !== null)) {
        if (byte === openObject) {
          record = []
          recordLine = line
          bytes = 0
          from = n
        } else if (byte === openList && depth === 0) outer = 1
        else if (byte === closeList && list !== null) list = null
        else if (byte === closeList && depth === 1 && outer === 1) outer = 0
        else if (byte !== comma)
          throw fail(`${shown(piece, n)} is no JSON object: give JSON, or objects one a line`)
        if (byte === openObject || byte === openList) depth++
        else if (byte === closeList) depth--
        continue
      }
      if (byte === quote) {
        isString = true
        if (within === 1) string = [quote]
      } else if (byte === colon) {
        if (within === 1) member = nameOf(string)
      } else if (byte === openObject || byte === openList) {
        if (byte === openList && within === 1 && member !== null && lists.has(member)) {
          list = member
          record = null
        }
        depth++
      } else if (byte === closeObject || byte === closeList) {
        depth--
        const ends = depth === outer || (depth === outer + 2 && list !== null)
        if (!ends) continue
        if (record === null) continue
        record.push(piece.subarray(from, n + 1))
        yield { list, line: recordLine, text: textOf(record) }
        record = null
      } else if (within === 1 && byte === comma) member = null
    }
    if (record !== null) {
      bytes += piece.length - from
      if (bytes > longestRecord)
        throw new CommandFailure(
          `${name}: the record on line ${recordLine} has more than ${longestRecord} bytes`,
        )
      // The stream may use its memory again.
      record.push(piece.slice(from))
    }
  }
  if (depth > 0 || isString) throw fail('it ends in the middle of a record: it was cut off; export it again')
}

function nameOf(bytes: readonly number[]): string | null {
  try {
    return readJson<string>(Buffer.from(bytes).toString())
  } catch {
    return null
  }
}

function shown(piece: Uint8Array, n: number): string {
  return JSON.stringify(Buffer.from(piece.subarray(n, n + 20)).toString())
}

/** The beginning of a file without the mark of UTF-8. @throws CommandFailure for what is known to be no JSON. */
function withoutMark(name: string, piece: Uint8Array): Uint8Array {
  const [a, b, c] = piece
  if (a === 0x1f && b === 0x8b) throw new CommandFailure(`${name} is compressed: unpack it (gunzip) first`)
  if (a === 0x50 && b === 0x4b) throw new CommandFailure(`${name} is a ZIP file: unpack it first`)
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff))
    throw new CommandFailure(`${name} is UTF-16: save it as UTF-8`)
  return a === 0xef && b === 0xbb && c === 0xbf ? piece.subarray(3) : piece
}
