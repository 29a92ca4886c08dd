/**
 * Reads an answer of HTTP/1.1 as its bytes come (RFC 9112), and no more of it than an attempt needs: the status, the
 * beginning of the body, and whether the connection may carry another request. Strict, as what is read differently by
 * two readers is how answers are smuggled: what is not by the letter is no answer.
 *
 * No I/O. However the bytes are cut into chunks, the outcome is the same.
 */
import { bodyOf, type Head, isPersistent, readField, readStatusLine } from './answer-head.ts'
import { BodyReader } from './body-reader.ts'

/** Bytes of one head, its status line included. */
const headLimit = 16 * 1024
/** Bytes before the head of the final answer is complete, those of interim answers included. */
const beginningLimit = 64 * 1024
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
    const text = this.#line + chunk.toString('latin1', 0, Math.min(chunk.length, beginningLimit + 1))
    let at = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', at)) {
      // A line ends with both: alone, one reader takes a line feed for an end and another does not.
      if (!this.#count(end + 1 - at) || text[end - 1] !== '\r') return 'malformed'
      const head = this.#readLine(text.slice(at, end - 1))
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
    return this.#headBytes <= headLimit && this.#beginning <= beginningLimit
  }

  /** The head when it is complete. */
  #readLine(line: string): Head | 'more' | 'malformed' {
    if (this.#head === null) {
      this.#head = readStatusLine(line)
      return this.#head === null ? 'malformed' : 'more'
    }
    if (line !== '') return readField(this.#head, line) ? 'more' : 'malformed'
    const head = this.#head
    this.#head = null
    this.#headBytes = 0
    if (head.status >= 200) return head
    this.#goesOn &&= isPersistent(head, 0)
    // Interim answers decide nothing else; nobody asked for another protocol.
    return head.status === 101 ? 'malformed' : 'more'
  }

  #begin(head: Head, chunk: Buffer, at: number): Progress {
    const framing = bodyOf(head)
    if (framing === null) return 'malformed'
    this.#line = ''
    this.status = head.status
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
    if (this.#headBytes + length > headLimit || this.#beginning + length > beginningLimit) return false
    return this.#head !== null || version.startsWith(this.#line.slice(0, version.length))
  }
}
