/** The body of an answer: counted to its end, and kept as far as the log shows it. */
import { type Framing, isTrailer } from './answer-head.ts'

/** Bytes that are read; of a body that is longer, nobody reads the rest. */
const readLimit = 16 * 1024
/** Bytes that are kept. */
const keptLimit = 1024
/** Bytes between the chunks, and after them: what a small chunk drags along is bounded too. */
const framingLimit = 64 * 1024

/** `cut`: it goes on, or is broken, and nothing more of it is wanted. */
export type BodyProgress = 'more' | 'complete' | 'cut'

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const quoted = String.raw`"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"`
/** Of extensions by the letter, and without white space: what else stands behind a size is not read alike by all. */
const chunkSize = new RegExp(`^([0-9A-Fa-f]{1,16})(?:;${token}(?:=(?:${token}|${quoted}))?)*$`)

export class BodyReader {
  readonly #framing: Framing
  /** Bytes that came after its end. */
  rest = 0
  /** Bytes that are to come: of the body, or of the chunk. */
  #missing: number
  /** What comes next in chunks: the line with the size, the data, the line end after these, or the lines at the end. */
  #part: 'size' | 'data' | 'data_end' | 'trailers' = 'size'
  #line = ''
  #framingBytes = 0
  #read = 0
  #kept: Buffer[] = []

  constructor(framing: Framing) {
    this.#framing = framing
    this.#missing = typeof framing === 'number' ? framing : Number.POSITIVE_INFINITY
  }

  /** The first KiB as text that a database can hold: without what is cut of a character, and without U+0000. */
  get text(): string {
    if (this.#kept.length === 0) return ''
    const bytes = Buffer.concat(this.#kept)
    return new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\ufffd')
  }

  /** Reads the chunk from `at` on. Not to be called again after anything but `more`. */
  read(chunk: Buffer, at: number): BodyProgress {
    return this.#framing === 'chunked' ? this.#readChunks(chunk, at) : this.#readData(chunk, at)
  }

  #readData(chunk: Buffer, at: number): BodyProgress {
    const length = Math.min(chunk.length - at, this.#missing)
    this.#take(chunk, at, length)
    if (this.#missing === 0) {
      this.rest = chunk.length - at - length
      return this.#read > readLimit ? 'cut' : 'complete'
    }
    return this.#read > readLimit ? 'cut' : 'more'
  }

  #readChunks(chunk: Buffer, begin: number): BodyProgress {
    let at = begin
    while (at < chunk.length) {
      if (this.#part === 'data') {
        const length = Math.min(chunk.length - at, this.#missing)
        this.#take(chunk, at, length)
        if (this.#read > readLimit) return 'cut'
        if (this.#missing === 0) this.#part = 'data_end'
        at += length
        continue
      }
      const end = chunk.indexOf('\n', at)
      const stop = end === -1 ? chunk.length : end + 1
      this.#framingBytes += stop - at
      if (this.#framingBytes > framingLimit) return 'cut'
      this.#line += chunk.toString('latin1', at, stop)
      at = stop
      if (end === -1) return 'more'
      if (!this.#line.endsWith('\r\n')) return 'cut'
      const line = this.#line.slice(0, -2)
      this.#line = ''
      if (this.#part === 'trailers' && line === '') {
        this.rest = chunk.length - at
        return 'complete'
      }
      if (!this.#readFraming(line)) return 'cut'
    }
    return 'more'
  }

  /** False when the line is not what has to come here. */
  #readFraming(line: string): boolean {
    switch (this.#part) {
      case 'size': {
        const [, digits] = chunkSize.exec(line) ?? []
        if (digits === undefined) return false
        this.#missing = Number.parseInt(digits, 16)
        this.#part = this.#missing === 0 ? 'trailers' : 'data'
        return true
      }
      case 'data_end':
        this.#part = 'size'
        return line === ''
      default:
        // What may stand after the last chunk is read past.
        return isTrailer(line)
    }
  }

  #take(chunk: Buffer, at: number, length: number): void {
    const kept = Math.min(length, keptLimit - this.#read)
    // Of its own: the chunk is larger, and would stay as long.
    if (kept > 0) this.#kept.push(Buffer.from(chunk.subarray(at, at + kept)))
    this.#read += length
    this.#missing -= length
  }
}
