/** API keys: making, rotating and revoking them. A key needs `api_keys:manage` for every call but `self`. */
import type { ApiKey, ApiKeyFilters, ApiKeyInput, ApiKeyPatch } from './generated.ts'
import type { CallOptions, CreateOptions } from './options.ts'
import { ChangeableObjects } from './resource.ts'

/** A key with its token, which is shown by `create` and `rotate` and never again. */
export type ApiKeyWithToken = ApiKey & { token: string }

/**
 * `create` returns the token, this once; a key can grant only scopes that it holds itself. The list has expired keys too. `delete`
 * revokes a key at once, and the endpoints that it registered are disabled.
 */
export class ApiKeys extends ChangeableObjects<
  ApiKey,
  ApiKeyInput,
  ApiKeyPatch,
  ApiKeyFilters,
  ApiKeyWithToken
> {
  /** The key that this client calls with, and what it may do; any key may ask. */
  async self(options?: CallOptions): Promise<ApiKey> {
    return this.get('self', options)
  }

  /** Makes a new token, returned this once; the old one works as well until `previousTokenExpiresAt`. */
  async rotate(id: string, options?: CreateOptions): Promise<ApiKeyWithToken> {
    return this.act(id, 'rotate', undefined, options)
  }

  /** After a leak: every replaced token ends at once. */
  async dropPreviousToken(id: string, options?: CallOptions): Promise<void> {
    return this.send({ method: 'DELETE', path: this.address(id, 'previous-token') }, options)
  }
}
