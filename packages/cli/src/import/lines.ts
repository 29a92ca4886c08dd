/** Which line of a file a byte stands on, found while the file streams by; and whether it is UTF-8 so far. */

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** The file holds bytes that are no UTF-8. */
export class NotUtf8 extends Error {}

/**
 * Lines end with LF, CR LF or CR. Offsets are to be asked for in ascending order: what lies behind is forgotten, so
 * that memory depends on how far the reader is ahead and not on the file.
 */
export class Lines {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  /** Offsets just behind the line ends that have been taken and not been asked beyond. */
  #ends: number[] = []
  #head = 0
  #line = 1
  #taken = 0
  #lastWasReturn = false

  /** Takes the next piece of the file. @throws NotUtf8 */
  take(piece: Uint8Array): void {
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at]
      const end = byte === lineFeed ? at + 1 : this.#lastWasReturn ? at : null
      this.#lastWasReturn = byte === carriageReturn
      if (end === null) continue
      this.#decode(piece.subarray(from, end))
      this.#ends.push(this.#taken + end)
      from = end
    }
    this.#decode(piece.subarray(from))
    this.#taken += piece.length
  }

  /** The file has ended. @throws NotUtf8 where it ends inside a character. */
  end(): void {
    this.#decode()
  }

  /** The line, from 1, that the byte at this offset stands on; it has to be taken already, or be the next. */
  at(offset: number): number {
    while ((this.#ends[this.#head] ?? Number.POSITIVE_INFINITY) <= offset) {
      this.#head++
      this.#line++
    }
    if (this.#head > 10_000) {
      this.#ends = this.#ends.slice(this.#head)
      this.#head = 0
    }
    return this.#line
  }

  #decode(bytes?: Uint8Array): void {
    try {
      this.#decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      const line = this.at(Number.MAX_SAFE_INTEGER)
      throw new NotUtf8(
        `line ${line} is not UTF-8: save the file as UTF-8 (in Excel: "CSV UTF-8"), or convert it with iconv`,
      )
    }
  }
}
