/** The way in: one object with each resource of the API and the stream of all kinds, over one transport. */

import type { CallPromise } from './call-promise.ts'
import { Changes } from './changes.ts'
import type { Row } from './envelope.ts'
import { variable } from './environment.ts'
import { type AdminResources, adminResources, type Resources, resources } from './generated.ts'
import type { CallOptions, ClientOptions } from './options.ts'
import { Resource } from './resource.ts'
import type { Method } from './retry.ts'
import { createSend } from './transport.ts'

export interface RequestOptions extends CallOptions {
  body?: unknown
}

export interface Client extends Resources {
  /**
   * The calls that every kind has, of one by its part of the address (`tickets`): for programs that learn the kinds
   * from the service.
   */
  kind(name: string): Resource<Row, object, object>
  /** What the service says of itself, `openapi.json`: its kinds and their fields as they are in its release. */
  document(options?: CallOptions): CallPromise<unknown>
  /**
   * Any call of the API, for one that has no method here: `request('GET', '/tickets?status=open')`. The path begins
   * below the base address. Resolves to the parsed response, undefined where it has no body.
   */
  request(method: Method, path: string, options?: RequestOptions): CallPromise<unknown>
  readonly changes: Changes
}

/**
 * A client of the service at `baseUrl`, or at `DESKWIRE_URL` of the environment. It sends nothing yet and holds no
 * connection of its own, so there is nothing to close. Throws TypeError for a base address or key that cannot be
 * used.
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
  }
}

export interface AdminClient extends AdminResources {}

/**
 * A client of the operator's API, which makes and manages organizations; `apiKey` is the operator's. Default:
 * `DESKWIRE_ADMIN_KEY` of the environment. Throws TypeError as `createClient` does.
 */
export const createAdminClient = (options: ClientOptions = {}): AdminClient =>
  adminResources(
    createSend({ ...options, apiKey: options.apiKey ?? variable('DESKWIRE_ADMIN_KEY', 'apiKey') }),
  )
