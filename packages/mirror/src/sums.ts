/** Count and digests of rows, updated as they change (specification 7.8). */
import { hash } from 'node:crypto'
import type { Checkpoint } from '@deskwire/sdk'

/** The first eight bytes of SHA-256 of a text. `hash` takes 1.2 s for a million, WebCrypto eleven. */
function termOf(text: string): bigint {
  return hash('sha256', text, 'buffer').readBigUInt64BE()
}

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
    this.#count += times
    const sign = BigInt(times)
    this.#digest += sign * termOf(`${id}:${updatedAt}`)
    this.#content += sign * termOf(text)
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

  get text(): SumsText {
    return { count: this.#count, digest: hexOf(this.#digest), contentDigest: hexOf(this.#content) }
  }
}

const none: SumsText = { count: 0, digest: '0', contentDigest: '0' }

function hexOf(sum: bigint): string {
  return BigInt.asUintN(64, sum).toString(16).padStart(16, '0')
}
