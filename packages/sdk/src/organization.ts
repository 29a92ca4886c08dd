/** The organization that the client's key belongs to. */
import type { Organization, OrganizationPatch } from './generated.ts'
import type { CallOptions } from './resource.ts'
import type { Send } from './transport.ts'

export class OwnOrganization {
  readonly #send: Send

  constructor(send: Send) {
    this.#send = send
  }

  /** Any key may. */
  async get({ signal }: CallOptions = {}): Promise<Organization> {
    const answer = await this.#send({ method: 'GET', path, signal })
    return answer.body as Organization
  }

  /** Needs `api_keys:manage`. */
  async update(patch: OrganizationPatch, { signal }: CallOptions = {}): Promise<Organization> {
    const answer = await this.#send({ method: 'PATCH', path, body: patch, signal })
    return answer.body as Organization
  }
}

const path = '/organization'
