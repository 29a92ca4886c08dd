/**
 * Reads an HTTP/1.1 response (RFC 9112) as far as an attempt needs it: the status, the beginning of the body, and
 * whether the connection may carry another request. No I/O, and how the bytes are cut into chunks does not matter.
 *
 * A clear status line says what the receiver did, so the status counts once the head has ended within the limits, even
 * if another line is malformed. Everything else is read strictly, as ambiguity is how responses are smuggled: after a
 * malformed head no body is read, and the connection is not used again.
 */
import { deliveryTuning } from '../tuning.ts'

const { responses: limits } = deliveryTuning
const version = 'HTTP/1.'
const inKiB = (bytes: number) => `${bytes / 1024} KiB`

/**
 * `complete`: nothing more is wanted; the body may be cut or broken, the status counts. `malformed`: this is no HTTP
 * response.
 */
export type Progress = 'more' | 'complete' | 'malformed'

export class ResponseReader {
  /** Of the final response once its head is complete; 0 until then. */
  status = 0
  bytes = 0
  /** Whether the connection may carry another request, once the response is complete. */
  persistent = false
  /** Milliseconds for which the receiver says it keeps the connection; null when it does not say. */
  keepAliveMs: number | null = null
  /** The Retry-After of the final response; null without one. */
  retryAfter: string | null = null
  /** What the receiver did when the response is malformed, after its name. */
  fault = 'did not answer with HTTP/1.1 that can be understood'
  #head: Head | null = null
  /** False once an interim response says that the connection ends, or announces a body. */
  #goesOn = true
  /** Bytes of complete lines: of the current head, and of all heads. */
  #headBytes = 0
  #beginning = 0
  #line = ''
  #body: BodyReader | null = null

  get text(): string {
    return this.#body?.text ?? ''
  }

  /** Call it again only after `more`. */
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
    return this.#mayBecomeResponse() ? 'more' : 'malformed'
  }

  /** Counts a line; false when there are too many bytes. */
  #count(bytes: number): boolean {
    this.#headBytes += bytes
    this.#beginning += bytes
    return this.#fits(0)
  }

  /** Whether so many bytes more are within the limits. */
  #fits(bytes: number): boolean {
    if (this.#headBytes + bytes > limits.head)
      this.fault = `sent more than ${inKiB(limits.head)} of response headers`
    else if (this.#beginning + bytes > limits.beginning)
      this.fault = `sent more than ${inKiB(limits.beginning)} of interim responses and headers`
    else return true
    return false
  }

  /** Returns the head when it is complete. `whole`: the line ended with CRLF, as it must. */
  #readLine(line: string, whole: boolean): Head | 'more' | 'malformed' {
    const head = this.#head
    if (head === null) {
      this.#head = readStatusLine(line)
      if (this.#head === null) return 'malformed'
      this.#head.irregular = !whole
      return 'more'
    }
    // A lone line feed ends a line for some readers and not for others.
    if (!whole) head.irregular = true
    if (line !== '') {
      if (!readField(head, line)) head.irregular = true
      return 'more'
    }
    this.#head = null
    this.#headBytes = 0
    if (head.status >= 200) return head
    this.#goesOn &&= isPersistent(head, 0)
    // Interim responses decide nothing else. A 101 is malformed: no upgrade was requested.
    if (head.status !== 101) return 'more'
    this.fault = 'answered 101 Switching Protocols, which nobody asked for'
    return 'malformed'
  }

  #begin(head: Head, chunk: Buffer, at: number): Progress {
    const framing = bodyOf(head)
    this.#line = ''
    this.status = head.status
    this.retryAfter = head.retryAfter
    if (framing === null) return 'complete'
    this.persistent = this.#goesOn && isPersistent(head, framing)
    this.keepAliveMs = head.keepAliveMs
    this.#body = new BodyReader(framing)
    return this.#readBody(chunk, at)
  }

  #readBody(chunk: Buffer, at: number): Progress {
    const body = this.#body as BodyReader
    const read = body.read(chunk, at)
    if (read === 'more') return 'more'
    // Neither the rest of a body nor bytes after a response may be read as the next response.
    if (read === 'cut' || body.rest > 0) this.persistent = false
    return 'complete'
  }

  #mayBecomeResponse(): boolean {
    if (!this.#fits(this.#line.length)) return false
    return this.#head !== null || version.startsWith(this.#line.slice(0, version.length))
  }
}

/** The head of a response, as far as it decides how the body is read and whether the connection goes on. */
interface Head {
  readonly minor: 0 | 1
  readonly status: number
  length: number | null
  /** The transfer codings in order, in lower case; null without the field. */
  codings: readonly string[] | null
  closes: boolean
  keepsAlive: boolean
  keepAliveMs: number | null
  retryAfter: string | null
  /** A line is malformed or contradicts another, so where the body ends is unknown. */
  irregular: boolean
}

/** The number of bytes, chunked, or until the connection ends. */
type Framing = number | 'chunked' | 'until_close'

const statusLine = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?$/
/** Bytes are read as latin1, so one character is one byte. */
const field = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/
/** Below 2^53. A tab after the digits is white space to some readers and not to others. */
const length = /^[ \t]*([0-9]{1,15}) *$/
/** Fields that decide how a response is read: in trailers they come too late. */
const decisive = /^(?:content-length|transfer-encoding|connection|keep-alive)$/i
const timeout = /(?:^|[\s,])timeout=([0-9]{1,9})(?:$|[\s,])/

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
    keepAliveMs: null,
    retryAfter: null,
    irregular: false,
  }
}

/** False when the line is not understood. */
function readField(head: Head, line: string): boolean {
  if (!field.test(line)) return false
  const colon = line.indexOf(':')
  const value = line.slice(colon + 1)
  switch (line.slice(0, colon).toLowerCase()) {
    case 'content-length': {
      const [, digits] = length.exec(value) ?? []
      // A second one, even with the same length, comes from two servers.
      if (head.length !== null || digits === undefined) return false
      head.length = Number(digits)
      return true
    }
    case 'transfer-encoding': {
      const codings = listed(value)
      head.codings = [...(head.codings ?? []), ...codings]
      // With a tab or an empty element some readers see chunks and others do not.
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
      if (seconds !== undefined) head.keepAliveMs = Number(seconds) * 1000
      return true
    }
    case 'retry-after':
      // A second one makes it a list, which is no value.
      head.retryAfter = head.retryAfter === null ? value.trim() : `${head.retryAfter},${value}`
      return true
    default:
      return true
  }
}

function isTrailer(line: string): boolean {
  return field.test(line) && !decisive.test(line.slice(0, line.indexOf(':')))
}

function isPersistent(head: Head, framing: Framing): boolean {
  if (framing === 'until_close' || head.closes || head.irregular) return false
  // A body that is announced may come, although the status allows none.
  if (framing === 0 && (head.codings !== null || (head.length ?? 0) > 0)) return false
  // HTTP/1.0 does not define chunks.
  return head.minor === 1 || (head.keepsAlive && framing !== 'chunked')
}

/** The framing of the body of a response to a POST; null when the head is ambiguous. */
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

/** `cut`: more follows, or it is broken; nothing more is wanted. */
type BodyProgress = 'more' | 'complete' | 'cut'

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const quoted = String.raw`"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"`
/** Strict extensions without white space: anything else after the size is read differently by different readers. */
const chunkSize = new RegExp(`^([0-9A-Fa-f]{1,16})(?:;${token}(?:=(?:${token}|${quoted}))?)*$`)

/** Counts the body to its end and keeps what the log shows. */
class BodyReader {
  readonly #framing: Framing
  rest = 0
  /** Bytes still to come: of the body, or of the chunk. */
  #missing: number
  #part: 'size' | 'data' | 'data_end' | 'trailers' = 'size'
  #line = ''
  #framingBytes = 0
  #read = 0
  #logged: Buffer[] = []

  constructor(framing: Framing) {
    this.#framing = framing
    this.#missing = typeof framing === 'number' ? framing : Number.POSITIVE_INFINITY
  }

  /** The first KiB as text that a database can hold: without a truncated character, and without U+0000. */
  get text(): string {
    if (this.#logged.length === 0) return ''
    const bytes = Buffer.concat(this.#logged)
    return new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\ufffd')
  }

  /** Reads the chunk from `at`. Call it again only after `more`. */
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

  /** False when the line is malformed. */
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
        return isTrailer(line)
    }
  }

  #take(chunk: Buffer, at: number, length: number): void {
    const kept = Math.min(length, limits.kept - this.#read)
    // A copy: a view would keep the larger chunk in memory.
    if (kept > 0) this.#logged.push(Buffer.from(chunk.subarray(at, at + kept)))
    this.#read += length
    this.#missing -= length
  }
}
