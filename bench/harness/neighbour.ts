/** An organization with a steady rate of requests, and what it sees. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool as Connections } from 'undici'
import type { BenchReceiver } from './receiver.ts'

export type Neighbour = ReturnType<typeof createNeighbour>

/** Half of its requests create customers; the others are a desk's usual ones. */
export function createNeighbour(connections: Connections, token: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  /** When each creation was answered, in milliseconds since the Unix epoch. */
  const created = new Map<string, number>()
  const waits: number[] = []
  let refused = 0
  let last: string | null = null
  let cursor: string | null = null

  function next(n: number): { method: 'GET' | 'POST' | 'PATCH'; path: string; body?: string } {
    if (n % 2 === 0 || last === null) {
      return { method: 'POST', path: '/v1/customers', body: JSON.stringify({ name: `Grace ${n}` }) }
    }
    if (n % 6 === 1) return { method: 'GET', path: `/v1/customers/${last}` }
    if (n % 6 === 3) {
      return { method: 'PATCH', path: `/v1/customers/${last}`, body: JSON.stringify({ company: `${n}` }) }
    }
    const from = cursor === null ? 'updatedAfter=1970-01-01T00:00:00Z' : `cursor=${cursor}`
    return { method: 'GET', path: `/v1/customers?${from}` }
  }

  return {
    created,
    waits,
    refused: () => refused,
    async ask(n: number, due: number): Promise<void> {
      const { method, path, body } = next(n)
      try {
        const answer = await connections.request({
          method,
          path,
          headers,
          body: body ?? null,
          headersTimeout: 60_000,
        })
        const text = await answer.body.text()
        const at = performance.now()
        waits.push(at - due)
        if (answer.statusCode === 429 || answer.statusCode >= 500) refused++
        else if (answer.statusCode >= 400) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`)
        if (answer.statusCode === 201) {
          last = (JSON.parse(text) as { id: string }).id
          created.set(last, performance.timeOrigin + at)
        } else if (path.includes('?')) {
          cursor = (JSON.parse(text) as { pagination: { nextCursor: string } }).pagination.nextCursor
        }
      } catch (error) {
        if ((error as Error).message.startsWith(method)) throw error
        waits.push(performance.now() - due)
        refused++
      }
    },
  }
}

/** So many requests a second of each, by turns, for so many seconds, until the last is answered. */
export async function live(
  neighbours: readonly Neighbour[],
  requestsEach: number,
  seconds: number,
): Promise<void> {
  const pending: Promise<void>[] = []
  const every = 1_000 / (neighbours.length * requestsEach)
  const began = performance.now()
  for (let n = 0; n < (seconds * 1_000) / every; n++) {
    const due = began + n * every
    await delay(Math.max(0, due - performance.now()))
    const one = neighbours[n % neighbours.length] as Neighbour
    pending.push(one.ask(Math.floor(n / neighbours.length), due))
  }
  await Promise.all(pending)
}

/**
 * From the response to a creation to its arrival at each endpoint. What is missing after a minute counts with the time
 * so far.
 */
export async function deliveriesOf(
  receiver: BenchReceiver,
  neighbours: readonly Neighbour[],
  endpointsEach: number,
): Promise<number[]> {
  const created = new Map(neighbours.flatMap((one) => [...one.created]))
  const wanted = created.size * endpointsEach
  const since = performance.now()
  for (;;) {
    const { arrivals } = await receiver.tell()
    const waits = arrivals.flatMap(([id, at]) => {
      const answered = created.get(id)
      return answered === undefined ? [] : [at - answered]
    })
    const waited = performance.now() - since
    if (waits.length >= wanted) return waits
    if (waited > 60_000) return [...waits, ...Array<number>(wanted - waits.length).fill(waited)]
    await delay(100)
  }
}
