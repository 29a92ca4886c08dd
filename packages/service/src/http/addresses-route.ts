/** `/.well-known/webhook-addresses.json`: the addresses that deliveries come from, as the operator has set them. */
import { problem } from '../kernel/errors.ts'
import type { Networks } from '../kernel/networks.ts'
import { done, refused } from '../kernel/outcome.ts'
import { type ApiModule, routesOf } from '../openapi/api-module.ts'

const route = routesOf<Networks>()({
  method: 'get',
  path: '/.well-known/webhook-addresses.json',
  id: 'getWebhookAddresses',
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

export const addressesApi = { tags: [], routes: [route] } satisfies ApiModule
