/**
 * One call over HTTP: address, headers, repetition, problem. It knows neither kinds nor pages.
 * The API key goes to the base address and nowhere else: redirects are not followed.
 */

import { variable } from './environment.ts'
import { connectionFailed, DeskwireError, problemOf, unexpectedAnswer } from './error.ts'
import { readJson } from './json.ts'
import {
  defaultRetries,
  type Failure,
  failureOf,
  type Method,
  parseRetryAfter,
  pauseBefore,
  type RetryPolicy,
} from './retry.ts'
import { TimeLimit } from './time-limit.ts'
import { whyBlocked, whyUnanswered } from './unanswered.ts'

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface ClientOptions {
  /**
   * The service's base address with its version, for example `http://127.0.0.1:8080/v1`; without a path it means `/v1`.
   * Default: `DESKWIRE_URL` of the environment.
   */
  baseUrl?: string
  /** A key of the organization (`dwk_…`), sent as bearer credential (specification 3.1). Default: `DESKWIRE_API_KEY`. */
  apiKey?: string
  /** Used in place of the global `fetch`. */
  fetch?: Fetch
  /** How often to repeat, or any part of the policy; 0 turns repetition off. */
  retries?: number | Partial<RetryPolicy>
  /**
   * Milliseconds for each sending of a request, to the end of its answer, and beyond them the `wait` that was asked for; of a
   * stream, the longest silence. Default 30,000; Infinity turns it off. What takes longer is `connection_failed`.
   */
  timeoutMs?: number
}

export interface Call {
  method: Method
  /** Below the base address, beginning with a slash, already encoded. */
  path: string
  query?: object
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** Answers the body of a success as it arrives. Reading it may still fail, and is not repeated. */
  stream?: boolean
  /** Seconds for which the service may hold the answer back. */
  wait?: number | undefined
}

/** `body` is the parsed JSON, undefined for an answer without one (204, 304); of a stream, a ReadableStream of bytes. */
export interface Answer {
  status: number
  body: unknown
}

/** Sends a call, repeats it where that is safe, and throws a DeskwireError for any failure that remains. */
export type Send = (call: Call) => Promise<Answer>

type Outcome = { ok: true; answer: Answer } | { ok: false; failure: Failure; error: DeskwireError }

/** Builds the `Send` of a client. A base address or key that cannot be used is a TypeError, at once. */
export const createSend = (options: ClientOptions): Send => {
  const base = baseOf(options.baseUrl ?? variable('DESKWIRE_URL', 'baseUrl'))
  const apiKey = options.apiKey ?? variable('DESKWIRE_API_KEY', 'apiKey')
  const common = { accept: 'application/json', authorization: `Bearer ${apiKey}` }
  new Headers(common) // a key with a line break or the like is refused here
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
  const given = typeof options.retries === 'number' ? { limit: options.retries } : options.retries
  const policy: RetryPolicy = { ...defaultRetries, ...given }
  const { timeoutMs = 30_000 } = options
  if (!(timeoutMs > 0)) throw new TypeError(`timeoutMs must be above 0, not ${timeoutMs}`)

  return async (call) => {
    const address = base + call.path
    const url = address + queryOf({ ...call.query, wait: call.wait })
    const init = initOf(call, common)
    const limitMs = timeoutMs + 1_000 * (call.wait ?? 0)
    for (let attempt = 0; ; attempt++) {
      const outcome = await sendOnce((signal) => fetch(url, { ...init, signal }), address, call, {
        limitMs,
        now: policy.now,
      })
      if (outcome.ok) return outcome.answer
      const { failure, error } = outcome
      const { method } = call
      const pause = pauseBefore(policy, attempt, { method, failure, retryAfterMs: error.retryAfterMs })
      if (pause === undefined) {
        const blocked = failure === 'unknown' ? await whyBlocked(error.cause, base) : undefined
        throw blocked === undefined ? error : connectionFailed(error.cause, blocked)
      }
      await policy.sleep(pause, call.signal)
    }
  }
}

const baseOf = (text: string): string => {
  const url = new URL(text)
  if (
    !/^https?:$/.test(url.protocol) ||
    url.username + url.password !== '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw new TypeError(`baseUrl must be http(s)://HOST/v1 without user, query or fragment, not ${text}`)
  }
  if (url.pathname === '/') url.pathname = '/v1'
  return url.href.replace(/\/+$/, '')
}

const queryOf = (query: object): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

/** Made once per call, so that every sending of a POST carries the same key. */
const initOf = (call: Call, common: Record<string, string>): RequestInit => {
  const headers = new Headers({ ...common, ...call.headers })
  if (call.body !== undefined) headers.set('content-type', 'application/json')
  if (call.method === 'POST' && !headers.has('idempotency-key')) {
    headers.set('idempotency-key', crypto.randomUUID())
  }
  return {
    method: call.method,
    headers,
    redirect: 'manual',
    credentials: 'omit',
    cache: 'no-store',
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  }
}

const sendOnce = async (
  fetch: (signal: AbortSignal) => Promise<Response>,
  address: string,
  { signal, stream }: Call,
  { limitMs, now }: { limitMs: number; now: () => number },
): Promise<Outcome> => {
  let response: Response
  let text: string
  signal?.throwIfAborted()
  const limit = new TimeLimit(limitMs, signal)
  try {
    response = await fetch(limit.signal)
    // A page of a proxy or of the console is no stream of records.
    const isPage = response.headers.get('content-type')?.startsWith('text/html')
    if (stream && response.ok && !isPage && response.body !== null) {
      return { ok: true, answer: { status: response.status, body: limit.watch(response.body) } }
    }
    text = await response.text()
  } catch (cause) {
    limit.end()
    signal?.throwIfAborted()
    return { ok: false, failure: 'unknown', error: connectionFailed(cause, whyUnanswered(cause, address)) }
  }
  limit.end()
  return read(response, { text, address, now })
}

const read = (
  { status, ok, headers }: Response,
  { text, address, now }: { text: string; address: string; now: () => number },
): Outcome => {
  const requestId = headers.get('x-request-id') ?? undefined
  if (status === 204 || status === 304) return { ok: true, answer: { status, body: undefined } }
  if (!ok) {
    const problem = problemOf({ status, url: address }, requestId, text)
    const retryAfterMs = parseRetryAfter(headers.get('retry-after'), now())
    const error = new DeskwireError(problem, { retryAfterMs })
    return { ok: false, failure: failureOf(status, problem.code), error }
  }
  try {
    return { ok: true, answer: { status, body: readJson(text) } }
  } catch {
    const detail = `${address} did not answer with JSON. Check the base address, which ends in /v1, and proxies.`
    const error = unexpectedAnswer(status, detail, requestId)
    return { ok: false, failure: 'final', error }
  }
}
