/**
 * The calls that tools make: the SDK's, with a transport that acts for one caller. So a tool is held to every rule of
 * the API (scopes, limits, suspension, idempotency), and there is one implementation of each.
 */
import { createClient, etagOf, type Fetch, InvalidRequestError } from '@deskwire/sdk'

/** A value of JSON that is an object. */
export type Json = Readonly<Record<string, unknown>>

interface Headers {
  readonly idempotencyKey?: string | undefined
  /** The `updatedAt` that the object must still have. */
  readonly expectedVersion?: string | undefined
}

/** Throws a DeskwireError for each refusal. Paths begin below the version of the API. */
export interface Api {
  get(path: string, query?: Json): Promise<Json>
  send(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown, headers?: Headers): Promise<Json>
}

/** `fetch` adds the caller's credentials. Calls end when `signal` aborts. */
export function apiOver(fetch: Fetch, baseUrl: string, signal: AbortSignal): Api {
  // Whether to try again is for the agent to decide, who may have waited long enough.
  const client = createClient({ fetch, baseUrl, apiKey: 'of-the-caller', retries: 0 })
  return {
    async get(path, query = {}) {
      const given = Object.entries(query).filter(([, value]) => value !== undefined)
      const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
      return (await client.request('GET', text === '' ? path : `${path}?${text}`, { signal })) as Json
    },
    async send(method, path, body, { idempotencyKey, expectedVersion } = {}) {
      const headers = {
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...(expectedVersion === undefined ? {} : { 'if-match': etagOf({ updatedAt: expectedVersion }) }),
      }
      return (await client.request(method, path, { body, headers, signal })) as Json
    },
  }
}

/** What a tool refuses itself, as the API would. */
export function refusal(detail: string): InvalidRequestError {
  const problem = { type: 'about:blank', title: 'Invalid parameter', status: 400, code: 'invalid_parameter' }
  return new InvalidRequestError({ ...problem, detail })
}
