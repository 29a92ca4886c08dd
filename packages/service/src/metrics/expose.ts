import type { FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'
import type { Clock } from '../kernel/clock.ts'
import { remembered } from '../kernel/remembered.ts'
import { type MetricsSnapshot, metricsContentType, textOf } from './registry.ts'

/** How old figures may be, in milliseconds: to write them down takes longer than most requests. */
const goodFor = 1_000

/**
 * This process's figures, and those of the processes that it speaks for. Made once a second at most, however often they are
 * asked for: 300 scrapes at once held other requests up for 8.9 s.
 */
export function metricsText(
  register: Registry,
  others: () => Promise<readonly MetricsSnapshot[]>,
  clock: Clock,
): () => Promise<string> {
  return remembered(
    async () => {
      const [own, ...rest] = await Promise.all([register.getMetricsAsJSON(), ...(await others())])
      return textOf([own, ...rest])
    },
    { clock, goodFor },
  )
}

/** `GET /metrics`. Needs no key. */
export function registerMetrics(server: FastifyInstance, text: () => Promise<string>): void {
  server.get('/metrics', async (_request, reply) =>
    reply.header('content-type', metricsContentType).send(await text()),
  )
}
