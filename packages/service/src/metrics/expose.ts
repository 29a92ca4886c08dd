import type { FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'
import { type MetricsSnapshot, metricsContentType, textOf } from './registry.ts'

/** `GET /metrics`: this process's figures, and those of the processes that it speaks for. Needs no key. */
export function registerMetrics(
  server: FastifyInstance,
  register: Registry,
  others: () => Promise<readonly MetricsSnapshot[]>,
): void {
  server.get('/metrics', async (_request, reply) => {
    const [own, ...rest] = await Promise.all([register.getMetricsAsJSON(), ...(await others())])
    return reply.header('content-type', metricsContentType).send(await textOf([own, ...rest]))
  })
}
