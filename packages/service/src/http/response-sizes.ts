/** The size of recent responses by route and organization: a GET reserves that before it is handled. */
import { LruMap } from '../kernel/lru-map.ts'

const mebibyte = 1024 * 1024

/** Bytes reserved for an unknown response: with 1 MiB, forty first pages of 6 MB were made together. */
const unknown = 8 * mebibyte
/** Entries at most. */
const remembered = 10_000
/** An expectation falls by this part of the difference with each smaller response. */
const fallsBy = 1 / 4

export class ResponseSizes {
  readonly #bytes = new LruMap<string, number>(remembered)

  expected(organizationId: string, route: string): number {
    return this.#bytes.get(`${organizationId} ${route}`) ?? unknown
  }

  /** 0: unknown. */
  known(organizationId: string, route: string): number {
    return this.#bytes.get(`${organizationId} ${route}`) ?? 0
  }

  /** Grows at once, and shrinks slowly. */
  note(organizationId: string, route: string, bytes: number): void {
    const name = `${organizationId} ${route}`
    const before = this.#bytes.get(name)
    this.#bytes.set(
      name,
      before === undefined || bytes > before ? bytes : before - (before - bytes) * fallsBy,
    )
  }
}
