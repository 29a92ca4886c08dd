/**
 * Reads an answer of HTTP/1.1 as its bytes come (RFC 9112), and no more of it than an attempt needs: the status, the
 * beginning of the body, and whether the connection may carry another request.
 *
 * The status decides an attempt. A receiver that wrote a clear status line has done with the event what it says, so that line
 * stands as soon as the head has ended within the limits, however malformed another line of it is. Everything else is read
 * strictly, as what two readers read differently is how answers are smuggled: of an answer that is not by the letter no body is
 * read, and the connection carries nothing more.
 *
 * No I/O. However the bytes are cut into chunks, the outcome is the same.
 */
import { deliveryTuning } from '../tuning.ts'

const { answers: limits } = deliveryTuning
/** How every answer begins. */
const version = 'HTTP/1.'

/**
 * - `more`: it is not complete.
 * - `complete`: nothing more of it is wanted. Its body may be cut, or broken: the status stands.
 * - `malformed`: what came is no answer.
 */
export type Progress = 'more' | 'complete' | 'malformed'

export class AnswerReader {
  /** Of the final answer, once its head is complete; 0 until then. */
  status = 0
  /** Bytes that have been read, whatever they are. */
  bytes = 0
  /** Whether the connection may carry another request, once the answer is complete. */
  persistent = false
  /** Milliseconds for which the receiver says it keeps the connection; null when it does not say. */
  keptMs: number | null = null
  #head: Head | null = null
  /** Whether no interim answer says that the connection ends, or announces a body. */
  #goesOn = true
  /** Bytes of whole lines: of the head that is being read, and of all heads. */
  #headBytes = 0
  #beginning = 0
  /** The beginning of a line whose end has not come. */
  #line = ''
  #body: BodyReader | null = null

  /** The first KiB of the body, as text that a database can hold. */
  get text(): string {
    return this.#body?.text ?? ''
  }

  /** Not to be called again after anything but `more`. */
  read(chunk: Buffer): Progress {
    this.bytes += chunk.length
    if (this.#body !== null) return this.#readBody(chunk, 0)
    const before = this.#line.length
    const text = this.#line + chunk.toString('latin1', 0, Math.min(chunk.length, limits.beginning + 1))
    let at = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', at)) {
      if (!this.#count(end + 1 - at)) return 'malformed'
      const whole = end > at && text[end - 1] === '\r'
      const head = this.#readLine(text.slice(at, whole ? end - 1 : end), whole)
      if (head === 'malformed') return 'malformed'
      at = end + 1
      if (head !== 'more') return this.#begin(head, chunk, at - before)
    }
    this.#line = text.slice(at)
    return this.#mayBecomeAnAnswer() ? 'more' : 'malformed'
  }

  /** Counts a line; false when there are too many bytes. */
  #count(bytes: number): boolean {
    this.#headBytes += bytes
    this.#beginning += bytes
    return this.#headBytes <= limits.head && this.#beginning <= limits.beginning
  }

  /** The head when it is complete. `whole`: the line ended with carriage return and line feed, as it has to. */
  #readLine(line: string, whole: boolean): Head | 'more' | 'malformed' {
    const head = this.#head
    if (head === null) {
      this.#head = readStatusLine(line)
      if (this.#head === null) return 'malformed'
      this.#head.irregular = !whole
      return 'more'
    }
    // A line feed alone is an end to one reader, and not to another.
    if (!whole) head.irregular = true
    if (line !== '') {
      readField(head, line)
      return 'more'
    }
    this.#head = null
    this.#headBytes = 0
    if (head.status >= 200) return head
    this.#goesOn &&= isPersistent(head, 0)
    // Interim answers decide nothing else; nobody asked for another protocol.
    return head.status === 101 ? 'malformed' : 'more'
  }

  #begin(head: Head, chunk: Buffer, at: number): Progress {
    const framing = bodyOf(head)
    this.#line = ''
    this.status = head.status
    if (framing === null) return 'complete'
    this.persistent = this.#goesOn && isPersistent(head, framing)
    this.keptMs = head.keptMs
    this.#body = new BodyReader(framing)
    return this.#readBody(chunk, at)
  }

  #readBody(chunk: Buffer, at: number): Progress {
    const body = this.#body as BodyReader
    const read = body.read(chunk, at)
    if (read === 'more') return 'more'
    // What was cut has bytes to come, and what comes after an answer is nobody's: neither may meet the next request.
    if (read === 'cut' || body.rest > 0) this.persistent = false
    return 'complete'
  }

  /** Of what has come without the end of its line. */
  #mayBecomeAnAnswer(): boolean {
    const { length } = this.#line
    if (this.#headBytes + length > limits.head || this.#beginning + length > limits.beginning) return false
    return this.#head !== null || version.startsWith(this.#line.slice(0, version.length))
  }
}

/** The head of an answer, line by line: what of it decides how the body is read, and what comes after (RFC 9112). */
interface Head {
  /** Of HTTP/1.0 or HTTP/1.1. */
  readonly minor: 0 | 1
  readonly status: number
  length: number | null
  /** The transfer codings in their order, in small letters; null when nothing is said of them. */
  codings: readonly string[] | null
  /** What `Connection` says. */
  closes: boolean
  keepsAlive: boolean
  /** Milliseconds, as `Keep-Alive` says. */
  keptMs: number | null
  /**
   * Whether a line of it is malformed, or contradicts another. Its status stands; where its body ends is anybody's guess, so
   * nothing more is read of it, and the connection carries nothing after it.
   */
  irregular: boolean
}

/** How the end of a body is known: by so many bytes, by its chunks, or by the end of the connection. */
type Framing = number | 'chunked' | 'until_close'

const statusLine = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?$/
/** As the bytes stand, so one character is one byte. */
const field = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/
/** Below 2^53, and more than anybody reads. A tab behind it is white space to one reader and not to another. */
const length = /^[ \t]*([0-9]{1,15}) *$/
/** Fields that say how an answer is read, or what comes after it: behind a body they come too late. */
const decisive = /^(?:content-length|transfer-encoding|connection|keep-alive)$/i
const timeout = /(?:^|[\s,])timeout=([0-9]{1,9})(?:$|[\s,])/

/** Null when the line is no status line. */
function readStatusLine(line: string): Head | null {
  const [, minor, status] = statusLine.exec(line) ?? []
  if (status === undefined) return null
  return {
    minor: minor === '1' ? 1 : 0,
    status: Number(status),
    length: null,
    codings: null,
    closes: false,
    keepsAlive: false,
    keptMs: null,
    irregular: false,
  }
}

/** Notes what a field says in `head`, also that it is malformed, or contradicts one before it. */
function readField(head: Head, line: string): void {
  if (!isUnderstood(head, line)) head.irregular = true
}

function isUnderstood(head: Head, line: string): boolean {
  if (!field.test(line)) return false
  const colon = line.indexOf(':')
  const value = line.slice(colon + 1)
  switch (line.slice(0, colon).toLowerCase()) {
    case 'content-length': {
      const [, digits] = length.exec(value) ?? []
      // A second one, even of the same length, is what two servers wrote.
      if (head.length !== null || digits === undefined) return false
      head.length = Number(digits)
      return true
    }
    case 'transfer-encoding': {
      const codings = listed(value)
      head.codings = [...(head.codings ?? []), ...codings]
      // A tab, or nothing between two commas: to one reader this ends in chunks, and to another it does not.
      return !value.includes('\t') && !codings.includes('')
    }
    case 'connection': {
      const options = listed(value)
      head.closes ||= options.includes('close') || value.includes('\t')
      head.keepsAlive ||= options.includes('keep-alive')
      return true
    }
    case 'keep-alive': {
      const [, seconds] = timeout.exec(value.toLowerCase()) ?? []
      if (seconds !== undefined) head.keptMs = Number(seconds) * 1000
      return true
    }
    default:
      return true
  }
}

/** Whether a line behind the last chunk is one that may stand there. */
function isTrailer(line: string): boolean {
  return field.test(line) && !decisive.test(line.slice(0, line.indexOf(':')))
}

/** Whether the connection may carry more after an answer with this head. */
function isPersistent(head: Head, framing: Framing): boolean {
  if (framing === 'until_close' || head.closes || head.irregular) return false
  // Where there is no body, and one is announced, it may come.
  if (framing === 0 && (head.codings !== null || (head.length ?? 0) > 0)) return false
  // What a server of HTTP/1.0 means by chunks is anybody's guess.
  return head.minor === 1 || (head.keepsAlive && framing !== 'chunked')
}

/** How the body of the answer to a POST is framed; null when the head does not say so in one way. */
function bodyOf({ status, length, codings, irregular }: Head): Framing | null {
  if (irregular || (codings !== null && length !== null)) return null
  if (status === 204 || status === 304) return 0
  if (codings === null) return length ?? 'until_close'
  return codings.at(-1) === 'chunked' ? 'chunked' : 'until_close'
}

function listed(value: string): string[] {
  return value
    .toLowerCase()
    .split(',')
    .map((part) => part.replace(/^[ \t]+|[ \t]+$/g, ''))
}

/** `cut`: it goes on, or is broken, and nothing more of it is wanted. */
type BodyProgress = 'more' | 'complete' | 'cut'

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const quoted = String.raw`"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"`
/** Of extensions by the letter, and without white space: what else stands behind a size is not read alike by all. */
const chunkSize = new RegExp(`^([0-9A-Fa-f]{1,16})(?:;${token}(?:=(?:${token}|${quoted}))?)*$`)

/** The body of an answer: counted to its end, and kept as far as the log shows it. */
class BodyReader {
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
      return this.#read > limits.body ? 'cut' : 'complete'
    }
    return this.#read > limits.body ? 'cut' : 'more'
  }

  #readChunks(chunk: Buffer, begin: number): BodyProgress {
    let at = begin
    while (at < chunk.length) {
      if (this.#part === 'data') {
        const length = Math.min(chunk.length - at, this.#missing)
        this.#take(chunk, at, length)
        if (this.#read > limits.body) return 'cut'
        if (this.#missing === 0) this.#part = 'data_end'
        at += length
        continue
      }
      const end = chunk.indexOf('\n', at)
      const stop = end === -1 ? chunk.length : end + 1
      this.#framingBytes += stop - at
      if (this.#framingBytes > limits.framing) return 'cut'
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
    const kept = Math.min(length, limits.kept - this.#read)
    // Of its own: the chunk is larger, and would stay as long.
    if (kept > 0) this.#kept.push(Buffer.from(chunk.subarray(at, at + kept)))
    this.#read += length
    this.#missing -= length
  }
}
