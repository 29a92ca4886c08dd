/** Remembers how large the last responses of a route to an organization were: a GET reserves that before it is handled. */
import { LruMap } from '../kernel/lru-map.ts'

const mebibyte = 1024 * 1024

/**
 * Bytes to reserve for an unknown response: few are made at once until one shows how large they are. With 1 MiB, forty
 * first pages of 6 MB were made together.
 */
const unknown = 8 * mebibyte
/** Routes of organizations that are remembered at most. */
const remembered = 10_000
/** An expectation falls by this part of the difference with each smaller response. */
const fallsBy = 1 / 4

export class ResponseSizes {
  readonly #bytes = new LruMap<string, number>(remembered)

  /** Bytes to reserve. */
  expected(organizationId: string, route: string): number {
    return this.#bytes.get(`${organizationId} ${route}`) ?? unknown
  }

  /** Bytes that a response is expected to have; 0 for an unknown one. */
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
