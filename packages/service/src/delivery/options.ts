/** What an endpoint asks for beyond the defaults, as its row has it: null for an endpoint that asks for nothing. */
import { readJson } from '@deskwire/sdk/json'

/** What must hold of an object for an event to be sent. */
export interface Condition {
  readonly field: string
  readonly op: 'equals' | 'in' | 'changed' | 'exists'
  /** Of `exists`: false asks for null; absent is true. */
  readonly value?: unknown
}

/** How its deliveries are made. A member is there only where it differs from the default. */
export interface EndpointOptions {
  /** The names of headers of its own, in lower case. Their values are sealed. */
  readonly headers?: readonly string[]
  /** Attempts a second. */
  readonly rateLimit?: number
  /** Attempts at once. */
  readonly maxConcurrent?: number
  /** `thin`: `data` is `{id, object}`. */
  readonly payload?: 'thin'
  /** A Retry-After with a 429 or 503 puts off the next attempt. */
  readonly honorRetryAfter?: true
  /** A 410 disables the endpoint. */
  readonly disableOn410?: true
  /** All must hold when an event happens. */
  readonly conditions?: readonly Condition[]
  /** Envelopes of changes name the fields that changed. */
  readonly changedFields?: true
  /** Envelopes say who caused the event. */
  readonly includeActor?: true
  /** Nothing is sent of what the key that registered it, or a session of it, has caused. */
  readonly skipOwn?: true
}

/** The options of an endpoint with this column. */
export function readOptions(text: string | null): EndpointOptions | null {
  return text === null ? null : (readJson(text) as EndpointOptions)
}

/** `data` as the endpoint wants it. `data` is a representation as it is stored, or the empty object of a ping. */
export function dataFor(options: EndpointOptions | null, data: string): string {
  if (options?.payload !== 'thin' || data === '{}') return data
  const { id, object } = readJson(data) as { readonly id: string; readonly object: string }
  return JSON.stringify({ id, object })
}
