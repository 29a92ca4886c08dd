/** Idle connections, in pools with a limit each. The most recently used goes first, so that the others expire. */

import { periodic } from '../../kernel/periodic.ts'
import { stopwatch } from '../../kernel/timestamps.ts'
import { deliveryTuning } from '../tuning.ts'
import type { Connection } from './connection.ts'

const { idleSweepEvery } = deliveryTuning.sender

interface Waiting {
  readonly pool: string
  /** By a stopwatch, so that setting the clock ends nothing early. */
  readonly until: number
}

export class IdleConnections {
  readonly #perPool: number
  readonly #byPool = new Map<string, Connection[]>()
  /** In the order in which they were put in. */
  readonly #waiting = new Map<Connection, Waiting>()
  readonly #elapsed = stopwatch()
  readonly #sweeping = periodic({
    every: idleSweepEvery,
    stopWithin: 0,
    run: () => this.#sweep(),
    onFailure(error) {
      throw error
    },
  })

  constructor(perPool: number) {
    this.#perPool = perPool
  }

  /** The one that has waited longest, of any pool. */
  get oldest(): Connection | undefined {
    return this.#waiting.keys().next().value
  }

  /** Takes a connection to one of these addresses; those checked for earlier requests may no longer be right. */
  take(pool: string, addresses: readonly string[]): Connection | undefined {
    const connections = this.#byPool.get(pool) ?? []
    const connection = connections.findLast(({ usable, address }) => usable && addresses.includes(address))
    if (connection !== undefined) this.remove(connection)
    return connection
  }

  /** Puts a connection in, or closes it when the pool is full. */
  put(pool: string, connection: Connection): void {
    const connections = this.#byPool.get(pool) ?? []
    if (connections.length >= this.#perPool) {
      connection.close()
      return
    }
    connections.push(connection)
    this.#byPool.set(pool, connections)
    this.#waiting.set(connection, { pool, until: this.#elapsed() + connection.idleMs })
    if (this.#sweeping.status === 'idle') this.#sweeping.start()
  }

  remove(connection: Connection): void {
    const waiting = this.#waiting.get(connection)
    if (waiting === undefined) return
    this.#waiting.delete(connection)
    const connections = this.#byPool.get(waiting.pool) ?? []
    const index = connections.lastIndexOf(connection)
    if (index >= 0) connections.splice(index, 1)
    if (connections.length === 0) this.#byPool.delete(waiting.pool)
  }

  #sweep(): void {
    const now = this.#elapsed()
    for (const [connection, { until }] of this.#waiting) {
      if (until > now) continue
      this.remove(connection)
      connection.close()
    }
    if (this.#waiting.size === 0) this.#sweeping.pause()
  }
}
