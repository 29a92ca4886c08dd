/**
 * Routes of the service itself: whether it answers (`/healthz`) and its databases do (`/readyz`, asked once a second at
 * most), its document, its addresses.
 */
import { problem } from '../kernel/errors.ts'
import type { Networks } from '../kernel/networks.ts'
import { done, refused } from '../kernel/outcome.ts'
import { type ApiModule, constant, routesOf } from '../openapi/api-module.ts'
import { first, sendVersioned, type Versioned, versioned } from './static-content.ts'

interface CheckedDatabase {
  readonly name: string | null
  readonly answers: () => Promise<boolean>
  readonly isReady: () => boolean
}

export function createHealth(
  databases: readonly CheckedDatabase[],
  degraded: () => string | null = () => null,
) {
  const works = async ({ answers, isReady }: CheckedDatabase) => isReady() && (await answers())
  return {
    /** Whether the database answered within the last second; of several, whether any did. */
    async answers(): Promise<boolean> {
      return (await Promise.all(databases.map(works))).includes(true)
    },
    /**
     * What does not work apart from the API, for anybody to read. A 200, as load balancers must go on using the API.
     */
    async degraded(): Promise<string | null> {
      const working = await Promise.all(databases.map(works))
      const unreachable = databases.filter((_, n) => working[n] === false).map(({ name }) => name)
      if (unreachable.length === 0) return degraded()
      const sentence =
        unreachable.length === 1
          ? `The database ${unreachable[0]} does not answer: its organizations are answered 503, and no others.`
          : `The databases ${unreachable.join(', ')} do not answer: their organizations are answered 503, and no others.`
      const other = degraded()
      return other === null ? sentence : `${sentence} ${other}`
    },
  }
}

const route = routesOf<ReturnType<typeof createHealth>>()

const healthz = route({
  method: 'get',
  path: '/healthz',
  id: 'healthz',
  tag: 'service',
  summary: 'Whether the process answers',
  access: 'public',
  answers: {
    200: {
      description: 'It does.',
      schema: { type: 'object', required: ['status'], properties: { status: constant('ok') } },
      examples: () => ({ ok: { status: 'ok' } }),
    },
  },
  handle: () => done({ status: 'ok' }),
})

const readyz = route({
  method: 'get',
  path: '/readyz',
  id: 'readyz',
  tag: 'service',
  summary: 'Whether the process and its database answer',
  access: 'public',
  answers: {
    200: {
      description: 'It does.',
      schema: {
        type: 'object',
        required: ['status'],
        properties: {
          status: constant('ready'),
          degraded: {
            type: 'string',
            description:
              'What does not work, in a sentence: a worker that does not stay up, or which of several databases do not answer',
          },
        },
      },
      examples: () => ({ ready: { status: 'ready' } }),
    },
  },
  errors: ['unavailable'],
  async handle({ answers, degraded }) {
    if (!(await answers())) return refused(problem('unavailable', 'The database does not answer.'))
    const reason = await degraded()
    return done(reason === null ? { status: 'ready' } : { status: 'ready', degraded: reason })
  },
})

export const healthApi = {
  tags: [{ name: 'service', description: 'The installation itself.' }],
  routes: [healthz, readyz],
} satisfies ApiModule

/** The document, made when it is first asked for, as a worker and most installations never need it. */
export function createDocument(parts: () => readonly ApiModule[]): () => Promise<Versioned> {
  return first(async () => {
    const { openApiDocument } = await import('../openapi/document.ts')
    const document = JSON.stringify(await openApiDocument(parts()))
    return versioned(Buffer.from(document), 'application/json; charset=utf-8')
  })
}

const documentRoute = routesOf<() => Promise<Versioned>>()({
  method: 'get',
  path: '/openapi.json',
  id: 'getOpenApi',
  tag: 'service',
  summary: 'This document',
  access: 'public',
  answers: {
    200: { description: 'This document.', schema: { type: 'object' }, headers: ['Cache-Control'] },
    304: {
      description: 'Not changed: If-None-Match names the current version.',
      headers: ['Cache-Control'],
    },
  },
  handle: async (document, { request, reply }) => sendVersioned(request, reply, await document()),
})

export const documentApi = { tags: [], routes: [documentRoute] } satisfies ApiModule

const addressesRoute = routesOf<Networks>()({
  method: 'get',
  path: '/.well-known/webhook-addresses.json',
  id: 'getWebhookAddresses',
  client: 'webhooks.addresses',
  tag: 'service',
  summary: 'The addresses that deliveries come from',
  description: 'As CIDRs, for the firewall of a receiver; only where the operator has set them.',
  access: 'public',
  answers: {
    200: {
      description: 'The addresses.',
      schema: {
        type: 'object',
        required: ['addresses'],
        properties: { addresses: { type: 'array', items: { type: 'string' } } },
      },
      examples: () => ({ addresses: { addresses: ['203.0.113.7/32'] } }),
    },
  },
  errors: ['not_found'],
  handle: (addresses) =>
    addresses.length === 0
      ? refused(problem('not_found', 'The operator has set no addresses.'))
      : done({ addresses }),
})

export const addressesApi = { tags: [], routes: [addressesRoute] } satisfies ApiModule
