/** What a client and each of its calls can be told. */
import type { DeskwireError } from './error.ts'
import type { Method, RetryPolicy } from './retry.ts'

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface ClientOptions {
  /**
   * The service's address, for example `http://127.0.0.1:8080`, with or without `/v1`. Default: `DESKWIRE_URL` of the
   * environment.
   */
  baseUrl?: string
  /**
   * A key of the organization (`dwk_…`), sent as bearer credential (specification 3.1). Default: `DESKWIRE_API_KEY`.
   */
  apiKey?: string
  /** Used in place of the global `fetch`. */
  fetch?: Fetch
  /** How often to repeat a call, or any part of the policy; 0 turns repetition off. Default: 4. */
  retries?: number | Partial<RetryPolicy>
  /**
   * Milliseconds for each sending of a request, to the end of its response, and beyond them the `wait` that was asked
   * for; of a stream, the longest silence. Default: 30,000; Infinity turns it off. What takes longer is
   * `connection_failed`.
   */
  timeoutMs?: number
  /** Called before each sending, repetitions included. It may change the headers. What it throws ends the call. */
  onRequest?: (request: SentRequest) => void | Promise<void>
  /** Called after each sending: to log it or to count it. What it throws ends the call. */
  onResponse?: (response: ReceivedResponse) => void | Promise<void>
}

/** One sending of a request. */
export interface SentRequest {
  readonly method: Method
  readonly url: string
  readonly headers: Headers
  /** 1 for the first sending. */
  readonly attempt: number
}

/** What became of one sending. */
export interface ReceivedResponse {
  readonly request: SentRequest
  /** Undefined when no complete response arrived. */
  readonly response?: Pick<Response, 'status' | 'headers'> | undefined
  /** Undefined for a success. */
  readonly error?: DeskwireError | undefined
  /** Milliseconds, to the end of the response; of a stream, to its headers. */
  readonly durationMs: number
}

/** Of any call, as its last argument. */
export interface CallOptions {
  /** Ends the call, pauses between repetitions included. Its reason is thrown. */
  signal?: AbortSignal | undefined
  /** Milliseconds, in place of the client's. */
  timeoutMs?: number | undefined
  /** In place of the client's. */
  retries?: number | Partial<RetryPolicy> | undefined
  /** Sent as well. */
  headers?: Record<string, string> | undefined
}

/** Of a POST. */
export interface CreateOptions extends CallOptions {
  /**
   * At most 255 characters, honoured for 24 hours: the same key with the same body returns what the first call
   * returned. Give one to be safe across crashes of your own; otherwise each call makes one, and its error has it.
   */
  idempotencyKey?: string | undefined
  /**
   * Decides as the call would, with the same answer, and changes nothing. Calls that do not take it refuse it (400).
   */
  dryRun?: boolean | undefined
}

/** Of reading one object. */
export interface GetOptions extends CallOptions {
  /** An entity tag (`etagOf(row)`): a row that has not changed returns `not_modified`. */
  ifNoneMatch?: string | undefined
}

/** Of a PATCH or DELETE. */
export interface ChangeOptions extends CallOptions {
  /** An entity tag (`etagOf(row)`): a row that has changed since is left alone, `version_mismatch` (412). */
  ifMatch?: string | undefined
  /**
   * Decides as the call would, with the same answer, and changes nothing. Calls that do not take it refuse it (400).
   */
  dryRun?: boolean | undefined
}

/** An action is a POST, safe to repeat, and can be made conditional like a change. */
export interface ActionOptions extends CreateOptions, ChangeOptions {}
