/** Clients in a closed loop: each sends its next request when the last one is answered. */
import { connectPlain, type PlainRequest } from './plain-client.ts'

export interface Load {
  readonly perSecond: number
  /** Milliseconds from sending a request to the end of its response. */
  readonly p50: number
  readonly p99: number
}

interface LoadOptions {
  readonly url: string
  /** Connections, each with one request under way. */
  readonly clients: number
  /** Either ends the load. */
  readonly seconds: number
  readonly requests?: number
  readonly status: number
  request(client: number): PlainRequest
}

/** Any unexpected status fails it. */
export async function drive(options: LoadOptions): Promise<Load> {
  const { url, seconds, requests = Number.POSITIVE_INFINITY, status, request } = options
  const clients = await Promise.all(Array.from({ length: options.clients }, () => connectPlain(url)))
  const latencies: number[] = []
  let sent = 0
  const since = performance.now()
  const until = since + seconds * 1000
  try {
    await Promise.all(
      clients.map(async (client, number) => {
        while (sent < requests && performance.now() < until) {
          sent++
          const start = performance.now()
          const asked = request(number)
          const answered = await client.send(asked)
          latencies.push(performance.now() - start)
          if (answered !== status) {
            throw new Error(`${asked.method} ${asked.path} answered ${answered}, not ${status}`)
          }
        }
      }),
    )
    const elapsed = (performance.now() - since) / 1000
    return { perSecond: latencies.length / elapsed, ...percentiles(latencies) }
  } finally {
    for (const client of clients) client.destroy()
  }
}

/** In milliseconds. */
export function percentiles(latencies: readonly number[]): { p50: number; p99: number } {
  const sorted = Float64Array.from(latencies).sort()
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}
