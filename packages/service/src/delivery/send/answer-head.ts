/** The head of an answer, line by line: what of it decides how the body is read, and what comes after (RFC 9112). */

export interface Head {
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
export type Framing = number | 'chunked' | 'until_close'

const statusLine = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?$/
/** As the bytes stand, so one character is one byte. */
const field = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/
/** Below 2^53, and more than anybody reads. A tab behind it is white space to one reader and not to another. */
const length = /^[ \t]*([0-9]{1,15}) *$/
/** Fields that say how an answer is read, or what comes after it: behind a body they come too late. */
const decisive = /^(?:content-length|transfer-encoding|connection|keep-alive)$/i
const timeout = /(?:^|[\s,])timeout=([0-9]{1,9})(?:$|[\s,])/

/** Null when the line is no status line. */
export function readStatusLine(line: string): Head | null {
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
export function readField(head: Head, line: string): void {
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
export function isTrailer(line: string): boolean {
  return field.test(line) && !decisive.test(line.slice(0, line.indexOf(':')))
}

/** Whether the connection may carry more after an answer with this head. */
export function isPersistent(head: Head, framing: Framing): boolean {
  if (framing === 'until_close' || head.closes || head.irregular) return false
  // Where there is no body, and one is announced, it may come.
  if (framing === 0 && (head.codings !== null || (head.length ?? 0) > 0)) return false
  // What a server of HTTP/1.0 means by chunks is anybody's guess.
  return head.minor === 1 || (head.keepsAlive && framing !== 'chunked')
}

/** How the body of the answer to a POST is framed; null when the head does not say so in one way. */
export function bodyOf({ status, length, codings, irregular }: Head): Framing | null {
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
