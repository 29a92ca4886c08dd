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
    return this.#headBytes <= headLimit && this.#beginning <= beginningLimit
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
    if (this.#headBytes + length > headLimit || this.#beginning + length > beginningLimit) return false
    return this.#head !== null || version.startsWith(this.#line.slice(0, version.length))
  }
}
