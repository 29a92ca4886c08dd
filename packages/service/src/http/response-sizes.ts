/** How large the responses of a route to an organization are, as the last ones were: what a GET reserves before it is answered. */
import { LruMap } from '../kernel/lru-map.ts'

const mebibyte = 1024 * 1024

/**
 * What is reserved where nothing is known: so few responses are made at once until one shows how large they are. With 1 MiB, forty first pages
 * of 6 MB were made together.
 */
const unknown = 8 * mebibyte
/** Routes of organizations that are remembered. */
const remembered = 10_000
/** By which part of the difference an expectation falls with each smaller response. */
const fallsBy = 1 / 4

export class ResponseSizes {
  readonly #bytes = new LruMap<string, number>(remembered)

  /** Bytes to reserve. */
  expected(organizationId: string, route: string): number {
    return this.#bytes.get(`${organizationId} ${route}`) ?? unknown
  }

  /** Bytes that a response is known to have about; 0 where nothing is known. */
  known(organizationId: string, route: string): number {
    return this.#bytes.get(`${organizationId} ${route}`) ?? 0
  }

  /** Follows growth at once, and shrinking slowly. */
  note(organizationId: string, route: string, bytes: number): void {
    const name = `${organizationId} ${route}`
    const before = this.#bytes.get(name)
    this.#bytes.set(
      name,
      before === undefined || bytes > before ? bytes : before - (before - bytes) * fallsBy,
    )
  }
}
