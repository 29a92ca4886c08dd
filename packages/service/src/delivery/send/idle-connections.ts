/** Connections that wait for their next request. Of each origin the most recently used goes first: the others end. */
import type { Connection } from './connection.ts'

export class IdleConnections {
  readonly #perOrigin: number
  readonly #byOrigin = new Map<string, Connection[]>()
  /** The one that has waited longest first. */
  readonly #byAge = new Map<Connection, string>()

  constructor(perOrigin: number) {
    this.#perOrigin = perOrigin
  }

  get count(): number {
    return this.#byAge.size
  }

  /** Takes a connection out, to one of these addresses only: what was checked before may no longer be right. */
  take(origin: string, addresses: readonly string[]): Connection | undefined {
    const connections = this.#byOrigin.get(origin) ?? []
    const connection = connections.findLast(({ usable, address }) => usable && addresses.includes(address))
    if (connection !== undefined) this.remove(connection)
    return connection
  }

  /** Puts a connection in, or closes it when the origin has enough of them. */
  put(origin: string, connection: Connection): void {
    const connections = this.#byOrigin.get(origin) ?? []
    if (connections.length >= this.#perOrigin) {
      connection.close()
      return
    }
    connections.push(connection)
    this.#byOrigin.set(origin, connections)
    this.#byAge.set(connection, origin)
  }

  remove(connection: Connection): void {
    const origin = this.#byAge.get(connection)
    if (origin === undefined) return
    this.#byAge.delete(connection)
    const others = this.#byOrigin.get(origin)?.filter((other) => other !== connection) ?? []
    if (others.length === 0) this.#byOrigin.delete(origin)
    else this.#byOrigin.set(origin, others)
  }

  /** Closes the connection that has waited longest, whoever's it is. */
  closeOldest(): void {
    const [oldest] = this.#byAge.keys()
    if (oldest === undefined) return
    this.remove(oldest)
    oldest.close()
  }

  closeAll(): void {
    while (this.#byAge.size > 0) this.closeOldest()
  }
}
