/** The way in: one object with a resource per kind, the stream of all, webhooks, keys and the organization, all over one transport. */

import { ApiKeys } from './api-keys.ts'
import { Changes } from './changes.ts'
import { ConsoleLinks } from './console-links.ts'
import type { Row } from './envelope.ts'
import { resources } from './generated.ts'
import type { CallOptions, ClientOptions } from './options.ts'
import { OwnOrganization } from './organization.ts'
import { Resource } from './resource.ts'
import type { Method } from './retry.ts'
import { createSend } from './transport.ts'
import { Webhooks } from './webhooks.ts'

export interface RequestOptions extends CallOptions {
  body?: unknown
}

export type Client = ReturnType<typeof resources> & {
  /** The calls that every kind has, of one by its part of the address (`tickets`): for programs that learn the kinds from the service. */
  kind(name: string): Resource<Row, object, object>
  /** What the service says of itself, `openapi.json`: its kinds and their fields as they are in its release. */
  document(options?: CallOptions): Promise<unknown>
  /**
   * Any call of the API, for one that has no method here: `request('GET', '/tickets?status=open')`. The path begins below the base
   * address. Resolves to the parsed response, undefined where it has no body.
   */
  request(method: Method, path: string, options?: RequestOptions): Promise<unknown>
  readonly changes: Changes
  readonly webhooks: Webhooks
  readonly apiKeys: ApiKeys
  readonly consoleLinks: ConsoleLinks
  readonly organization: OwnOrganization
}

/**
 * A client of the service at `baseUrl`, or at `DESKWIRE_URL` of the environment. It sends nothing yet and holds no connection of its own, so there is
 * nothing to close. Throws TypeError for a base address or key that cannot be used.
 */
export const createClient = (options: ClientOptions = {}): Client => {
  const send = createSend(options)
  return {
    ...resources(send),
    kind: (name) => new Resource(send, name),
    // It is next to the version of the API, at whatever address that has.
    document: (options) => send({ method: 'GET', path: '/../openapi.json' }, options),
    request: (method, path, { body, ...options } = {}) => send({ method, path, body }, options),
    changes: new Changes(send),
    webhooks: new Webhooks(send, 'webhooks'),
    apiKeys: new ApiKeys(send, 'api-keys'),
    consoleLinks: new ConsoleLinks(send),
    organization: new OwnOrganization(send),
  }
}
