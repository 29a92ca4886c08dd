/** Connections that wait for their next request. Of each origin the most recently used goes first: the others end. */
import type { Connection } from './connection.ts'

export class IdleConnections {
  readonly #perOrigin: number
  readonly #byOrigin = new Map<string, Connection[]>()
  /** With their origins, in the order in which they were put in. */
  readonly #byAge = new Map<Connection, string>()

  constructor(perOrigin: number) {
    this.#perOrigin = perOrigin
  }

  /** The one that has waited longest, whoever's it is. */
  get oldest(): Connection | undefined {
    return this.#byAge.keys().next().value
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
    const connections = this.#byOrigin.get(origin) ?? []
    // The one just taken stands last.
    const place = connections.lastIndexOf(connection)
    if (place >= 0) connections.splice(place, 1)
    if (connections.length === 0) this.#byOrigin.delete(origin)
  }
}
