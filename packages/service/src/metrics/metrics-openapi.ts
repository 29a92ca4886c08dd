/** What `expose.ts` answers, for the document. */
import type { ApiPart } from '../openapi/part.ts'

export const metricsPart: ApiPart = {
  tags: [],
  operations: [
    {
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
          examples: { metrics: 'deskwire_deliveries_due{process="api"} 0\n' },
        },
      },
    },
  ],
  schemas: {},
}
