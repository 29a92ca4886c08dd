/** What `health.ts` answers, for the document. */
import type { ApiPart, Operation } from '../openapi/part.ts'

const degraded = {
  type: 'string',
  description: 'What does not work beside the API, in a sentence: a worker that does not stay up',
} as const

export const healthPart: ApiPart = {
  tags: [{ name: 'service', description: 'The installation itself.' }],
  operations: [
    probe('healthz', 'Whether the process answers', 'ok'),
    {
      ...probe('readyz', 'Whether the process and its database answer', 'ready', { degraded }),
      errors: ['unavailable'],
    },
  ],
  schemas: {},
}

function probe(
  name: string,
  summary: string,
  status: string,
  more: Readonly<Record<string, object>> = {},
): Operation {
  return {
    method: 'get',
    path: `/${name}`,
    id: name,
    tag: 'service',
    summary,
    access: 'public',
    answers: {
      200: {
        description: 'It does.',
        schema: { type: 'object', required: ['status'], properties: { status: { const: status }, ...more } },
        examples: { [status]: { status } },
      },
    },
  }
}
