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
        "In Prometheus' text format, of the API and of the worker beside it. No figure names an organization or an endpoint.",
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
