/** Count and digests of rows, updated as they change (specification 7.8). */
import { hash } from 'node:crypto'
import type { Checkpoint } from '@deskwire/sdk'

const halves = new DataView(new ArrayBuffer(8))

/** The first eight bytes of SHA-256 of a text. */
function termOf(text: string): bigint {
  // `hash` returns a string in half the time of a Buffer, and a BigInt of hexadecimal digits would take longer.
  const digest = hash('sha256', text, 'latin1')
  for (let n = 0; n < 8; n++) halves.setUint8(n, digest.charCodeAt(n))
  return halves.getBigUint64(0)
}

/** Of one row. */
export const contentDigestOf = (text: string): string => hexOf(termOf(text))

/** As it is stored and sent: two numbers below 2^64 as 16 hexadecimal digits. */
export interface SumsText {
  readonly count: number
  readonly digest: string
  readonly contentDigest: string
}

export class Sums {
  #count: number
  #digest: bigint
  #content: bigint

  constructor({ count, digest, contentDigest }: SumsText = none) {
    this.#count = count
    this.#digest = BigInt(`0x${digest}`)
    this.#content = BigInt(`0x${contentDigest}`)
  }

  /** Adds a row, or with -1 removes it. `updatedAt`: of its text. */
  count(id: string, updatedAt: string, text: string, times: 1 | -1 = 1): void {
    const sign = BigInt(times)
    this.add(times, sign * termOf(`${id}:${updatedAt}`), sign * termOf(text))
  }

  add(count: number, digest: bigint, content: bigint): void {
    this.#count += count
    this.#digest += digest
    this.#content += content
  }

  /** Adds the difference of two sums. */
  shift({ from, to }: { from: Sums; to: Sums }): void {
    this.#count += to.#count - from.#count
    this.#digest += to.#digest - from.#digest
    this.#content += to.#content - from.#content
  }

  equals({ count, digest, contentDigest }: Checkpoint): boolean {
    const own = this.text
    return own.count === count && own.digest === digest && own.contentDigest === contentDigest
  }

  /** Whether ids and versions are the same, whatever the texts. */
  covers({ count, digest }: Checkpoint): boolean {
    const own = this.text
    return own.count === count && own.digest === digest
  }

  get text(): SumsText {
    return { count: this.#count, digest: hexOf(this.#digest), contentDigest: hexOf(this.#content) }
  }
}

/**
 * Rows in the order of their ids, each with the sums of all up to it: so the sums of every range are known. 32 bytes
 * a row.
 */
export class OrderedSums {
  #ids = Buffer.alloc(16 * 1024)
  #digests = new BigUint64Array(1024)
  #contents = new BigUint64Array(1024)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Adds a row with a higher id than all others. */
  add(id: string, updatedAt: string, text: string): void {
    const n = this.#length++
    if (n + 1 === this.#digests.length) this.#grow()
    writeId(this.#ids, id, n)
    this.#digests[n + 1] = (this.#digests[n] as bigint) + termOf(`${id}:${updatedAt}`)
    this.#contents[n + 1] = (this.#contents[n] as bigint) + termOf(text)
  }

  #grow(): void {
    const length = 2 * this.#digests.length
    this.#ids = Buffer.from(this.#ids.buffer.transfer(16 * length))
    this.#digests = new BigUint64Array(this.#digests.buffer.transfer(8 * length))
    this.#contents = new BigUint64Array(this.#contents.buffer.transfer(8 * length))
  }

  /** Whether the row has this text. */
  holds(n: number, text: string): boolean {
    return (
      BigInt.asUintN(64, (this.#contents[n + 1] as bigint) - (this.#contents[n] as bigint)) === termOf(text)
    )
  }

  /** Of the rows from one index to before another. */
  between(from: number, to: number): Sums {
    const sums = new Sums()
    const of = (all: BigUint64Array) => (all[to] as bigint) - (all[from] as bigint)
    sums.add(to - from, of(this.#digests), of(this.#contents))
    return sums
  }

  /** The number of rows with ids up to this one. */
  upTo(id: string): number {
    const sought = Buffer.allocUnsafe(16)
    writeId(sought, id, 0)
    let [low, high] = [0, this.#length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#ids.compare(sought, 0, 16, 16 * middle, 16 * middle + 16) <= 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Empty for no row. */
  idAt(n: number): string {
    const digits = n < 0 ? '' : this.#ids.toString('hex', 16 * n, 16 * n + 16)
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }
}

function writeId(into: Buffer, id: string, n: number): void {
  const digits = id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24)
  into.write(digits, 16 * n, 'hex')
}

const none: SumsText = { count: 0, digest: '0', contentDigest: '0' }

function hexOf(sum: bigint): string {
  return BigInt.asUintN(64, sum).toString(16).padStart(16, '0')
}
