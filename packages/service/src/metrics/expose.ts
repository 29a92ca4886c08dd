import type { Registry } from 'prom-client'
import { sent } from '../http/outcome.ts'
import { routesOf } from '../http/route.ts'
import type { Clock } from '../kernel/clock.ts'
import { remembered } from '../kernel/remembered.ts'
import type { ApiPart } from '../openapi/part.ts'
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

const route = routesOf<{ readonly text: () => Promise<string> }>()

const metrics = route({
  method: 'get',
  path: '/metrics',
  id: 'metrics',
  tag: 'service',
  summary: 'Figures of requests, commits and deliveries',
  description:
    "In Prometheus' text format, of the API and of the worker beside it, as they were at most a second ago. No figure names an organization or an endpoint. Served on a port of its own, and not here, where DESKWIRE_METRICS_PORT is set.",
  access: 'public',
  answers: {
    200: {
      description: 'The figures.',
      mediaType: 'text/plain',
      schema: { type: 'string' },
      examples: () => ({ metrics: 'deskwire_deliveries_due{process="api"} 0\n' }),
    },
  },
  async handle({ text }, { reply }) {
    reply.header('content-type', metricsContentType).send(await text())
    return sent
  },
})

export const metricsPart = { tags: [], routes: [metrics] } satisfies ApiPart
