/** The organization that the client's key belongs to. */
import type { Organization, OrganizationPatch } from './generated.ts'
import type { CallOptions } from './options.ts'
import type { Send } from './transport.ts'

const path = '/organization'

export class OwnOrganization {
  readonly #send: Send

  constructor(send: Send) {
    this.#send = send
  }

  /** Any key may. */
  async get(options?: CallOptions): Promise<Organization> {
    return this.#send({ method: 'GET', path }, options)
  }

  /** Needs `api_keys:manage`. */
  async update(patch: OrganizationPatch, options?: CallOptions): Promise<Organization> {
    return this.#send({ method: 'PATCH', path, body: patch }, options)
  }
}
