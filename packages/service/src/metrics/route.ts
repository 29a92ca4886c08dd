/** The route `/metrics`, apart from the figures, which threads and workers without HTTP have too. */
import { Registry } from 'prom-client'
import { sent } from '../http/replies.ts'
import { type ApiModule, routesOf } from '../openapi/api-module.ts'

const route = routesOf<{ readonly text: () => Promise<string> }>()

const metrics = route({
  method: 'get',
  path: '/metrics',
  id: 'metrics',
  tag: 'service',
  summary: 'Figures of requests, commits and deliveries',
  description:
    "In Prometheus' text format, of the API and of its worker, as they were at most a second ago. No figure names an organization or an endpoint. Served on a port of its own, and not here, where DESKWIRE_METRICS_PORT is set.",
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
    reply.header('content-type', Registry.PROMETHEUS_CONTENT_TYPE).send(await text())
    return sent
  },
})

export const metricsApi = { tags: [], routes: [metrics] } satisfies ApiModule
