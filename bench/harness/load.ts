/** Clients in a closed loop: each sends its next request when its last one is answered. */
import { Client, type Dispatcher } from 'undici'

export interface Load {
  readonly perSecond: number
  /** Milliseconds from sending a request to the end of its answer. */
  readonly p50: number
  readonly p99: number
}

export interface LoadOptions {
  readonly url: string
  /** Connections, each with one request under way. */
  readonly clients: number
  /** Enough of either ends the load. */
  readonly seconds: number
  readonly requests?: number
  readonly status: number
  /** The next request of a client. */
  request(client: number): Dispatcher.DispatchOptions
}

/** Drives the load; any answer but the expected one fails it. */
export async function drive(options: LoadOptions): Promise<Load> {
  const { url, seconds, requests = Number.POSITIVE_INFINITY, status, request } = options
  const clients = Array.from({ length: options.clients }, () => new Client(url, { pipelining: 1 }))
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
          await discard(client, request(number), status)
          latencies.push(performance.now() - start)
        }
      }),
    )
    const elapsed = (performance.now() - since) / 1000
    return { perSecond: latencies.length / elapsed, ...percentiles(latencies) }
  } finally {
    await Promise.all(clients.map((client) => client.destroy()))
  }
}

/** The middle and the slow end of what was measured, in milliseconds. */
export function percentiles(latencies: readonly number[]): { p50: number; p99: number } {
  const sorted = Float64Array.from(latencies).sort()
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}

/** Sends and counts the answer's bytes: the cheapest way, as load and service share the machine. */
function discard(client: Client, request: Dispatcher.DispatchOptions, status: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let answered = 0
    let bytes = 0
    client.dispatch(request, {
      onRequestStart() {},
      onResponseStart(_controller, statusCode) {
        answered = statusCode
      },
      onResponseData(_controller, chunk) {
        bytes += chunk.length
      },
      onResponseEnd() {
        if (answered === status) resolve(bytes)
        else reject(new Error(`${request.method} ${request.path} answered ${answered}, not ${status}`))
      },
      onResponseError(_controller, error) {
        reject(error)
      },
    })
  })
}
