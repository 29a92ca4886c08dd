/** API keys: making, rotating and revoking them. A key needs `api_keys:manage` for every call but `self`. */
import type { ListPage } from './envelope.ts'
import type { ApiKey, ApiKeyFilters, ApiKeyInput, ApiKeyPatch } from './generated.ts'
import { addressOf, type CallOptions, type CreateOptions, given, type ListParams } from './resource.ts'
import type { Call, Send } from './transport.ts'

/** A key with its token, which is shown by creation and rotation and never again. */
export type ApiKeyWithToken = ApiKey & { token: string }

/** Every call throws DeskwireError when it fails, and repeats itself where `retry.ts` calls that safe. */
export class ApiKeys {
  readonly #send: Send

  constructor(send: Send) {
    this.#send = send
  }

  /** Makes a key. Keep `token`: it is answered this once. A key can grant only scopes that it holds itself. */
  async create(input: ApiKeyInput, { idempotencyKey, signal }: CreateOptions = {}): Promise<ApiKeyWithToken> {
    const headers = given('idempotency-key', idempotencyKey)
    return this.#call({ method: 'POST', path, headers, body: input }, { signal })
  }

  /** The key that this client calls with, and what it may do; any key may ask. */
  async self(options: CallOptions = {}): Promise<ApiKey> {
    return this.#call({ method: 'GET', path: `${path}/self` }, options)
  }

  async get(id: string, options: CallOptions = {}): Promise<ApiKey> {
    return this.#call({ method: 'GET', path: addressOf(path, id) }, options)
  }

  /** Newest first, those that have expired included. */
  async list(params: ListParams<ApiKeyFilters> = {}, options: CallOptions = {}): Promise<ListPage<ApiKey>> {
    return this.#call({ method: 'GET', path, query: params }, options)
  }

  async update(id: string, patch: ApiKeyPatch, options: CallOptions = {}): Promise<ApiKey> {
    return this.#call({ method: 'PATCH', path: addressOf(path, id), body: patch }, options)
  }

  /** Makes a new token, answered this once; the old one works as well until `previousTokenExpiresAt`. */
  async rotate(id: string, { idempotencyKey, signal }: CreateOptions = {}): Promise<ApiKeyWithToken> {
    const headers = given('idempotency-key', idempotencyKey)
    return this.#call({ method: 'POST', path: `${addressOf(path, id)}/rotate`, headers }, { signal })
  }

  /** After a leak: every replaced token ends at once. */
  async dropPreviousToken(id: string, options: CallOptions = {}): Promise<void> {
    await this.#call({ method: 'DELETE', path: `${addressOf(path, id)}/previous-token` }, options)
  }

  /** Revokes a key at once; the endpoints that it registered are disabled. */
  async remove(id: string, options: CallOptions = {}): Promise<void> {
    await this.#call({ method: 'DELETE', path: addressOf(path, id) }, options)
  }

  async #call<T>(call: Call, { signal }: { signal?: AbortSignal | undefined }): Promise<T> {
    const answer = await this.#send({ ...call, signal })
    return answer.body as T
  }
}

const path = '/api-keys'
