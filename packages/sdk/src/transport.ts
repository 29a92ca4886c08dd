/**
 * One call over HTTP: address, headers, repetition, problem. It knows neither kinds nor pages.
 * The API key goes to the base address and nowhere else: redirects are not followed.
 */
import { wasNotSent, whyUnanswered } from '#unanswered'
import { baseAddress, keyText, pathOf } from './address.ts'
import { whyBlocked } from './blocked.ts'
import { type CallPromise, type CallResponse, dataOf, requestIdOf } from './call-promise.ts'
import { pageOrigin, variable } from './environment.ts'
import type { DeskwireError } from './error.ts'
import { version } from './generated.ts'
import { readJson, writeJson } from './json.ts'
import type { ActionOptions, ClientOptions, Fetch, GetOptions, SentRequest } from './options.ts'
import { connectionFailed, errorOf, unexpectedAnswer } from './problem.ts'
import { defaultRetries, failureOf, type Method, pauseBefore, type RetryPolicy } from './retry.ts'
import { parseRetryAfter } from './retry-after.ts'
import { longestAnswer, longestDocument, overlong, textOf } from './text-of.ts'
import { TimeLimit } from './time-limit.ts'

export interface Call {
  method: Method
  /** Below the base address, beginning with a slash, already encoded; with `ids`, `{}` for each of them. */
  path: string
  ids?: readonly string[]
  /** Its `wait` is the seconds for which the service may hold the response back. */
  query?: object
  body?: unknown
  /** Media types of the response. Default: JSON. */
  accept?: string
  /**
   * The media types of which the body of a success is returned as it arrives, a ReadableStream of bytes. Reading it may
   * still fail, and is not repeated.
   */
  stream?: RegExp
  /** The response has no largest size, and no longest time while it arrives. */
  isDocument?: boolean
}

/** Sends a call, repeats it where that is safe, and throws a DeskwireError for any failure that remains. */
export type Send = <T>(call: Call, options?: Options) => CallPromise<T>

type Options = ActionOptions & GetOptions

/** Builds the `Send` of a client. A base address or key that cannot be used is a TypeError, at once. */
export const createSend = (client: ClientOptions): Send => {
  const base = baseAddress(client.baseUrl ?? variable('DESKWIRE_URL', 'baseUrl'))
  const apiKey = keyText(client.apiKey ?? variable('DESKWIRE_API_KEY', 'apiKey'))
  const common: Record<string, string> = { authorization: `Bearer ${apiKey}` }
  // A browser names itself, and would ask the service whether it may name another.
  if (pageOrigin() === undefined) common['user-agent'] = `deskwire-sdk/${version}`
  const fetch: Fetch = client.fetch ?? ((url, init) => globalThis.fetch(url, init))
  const { onRequest, onResponse } = client
  timeoutOf(client)

  const respond = async <T>(call: Call, options: Options = {}): Promise<CallResponse<T>> => {
    const { method } = call
    const query: { wait?: number } = { ...call.query }
    const { signal } = options
    const policy = { ...defaultRetries, ...policyOf(client.retries), ...policyOf(options.retries) }
    const address = base + (call.ids === undefined ? call.path : pathOf(call.path, call.ids))
    const url = address + queryOf({ ...query, dryRun: options.dryRun })
    const body = call.body === undefined ? undefined : writeJson(call.body)
    const timeoutMs = timeoutOf({ timeoutMs: options.timeoutMs ?? client.timeoutMs })
    const limitMs = timeoutMs + 1_000 * (query.wait ?? 0)
    // Made once, so that every sending of a POST carries the same key.
    const made = headersOf(call, options, common)
    for (let attempt = 1; ; attempt++) {
      const request: SentRequest = { method, url, headers: new Headers(made), attempt }
      signal?.throwIfAborted()
      await onRequest?.(request)
      const began = policy.now()
      const { response, error, data } = await sendOnce(
        (limit) => fetch(url, initOf(method, body, request.headers, limit)),
        { call, options, address, limitMs, now: policy.now, request },
      )
      await onResponse?.({ request, response, error, durationMs: policy.now() - began })
      if (error === undefined) {
        const { status, headers } = response
        return { data: data as T, status, headers, requestId: requestIdOf(headers) }
      }
      const failure = wasNotSent(error.cause) ? 'not_begun' : failureOf(error)
      const pause = pauseBefore(policy, attempt - 1, { method, failure, retryAfterMs: error.retryAfterMs })
      if (pause === undefined) {
        const blocked = error.status === 0 ? await whyBlocked(error.cause, base) : undefined
        throw blocked === undefined ? error : connectionFailed(error.cause, blocked, error)
      }
      await policy.sleep(pause, signal)
    }
  }
  return (call, options) => dataOf(respond(call, options))
}

const policyOf = (retries: number | Partial<RetryPolicy> | undefined): Partial<RetryPolicy> | undefined =>
  typeof retries === 'number' ? { limit: retries } : retries

const timeoutOf = ({ timeoutMs = 30_000 }: { timeoutMs?: number | undefined }): number => {
  if (timeoutMs > 0) return timeoutMs
  throw new TypeError(`timeoutMs must be above 0, not ${timeoutMs}`)
}

const queryOf = (query: object): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (/\p{Surrogate}/u.test(String(value)))
      throw new TypeError(`${name} must have no half of a surrogate pair: a query cannot hold it`)
    if (value !== undefined) search.set(name, String(value))
  }
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

const headersOf = (
  { method, body, accept = 'application/json' }: Call,
  { headers, idempotencyKey, ifMatch, ifNoneMatch }: Options,
  common: Record<string, string>,
): Headers => {
  const made = new Headers({ accept, ...common, ...headers })
  const key = idempotencyKey ?? made.get('idempotency-key') ?? newKey()
  if (method === 'POST') made.set('idempotency-key', key)
  if (body !== undefined) made.set('content-type', 'application/json')
  if (ifMatch !== undefined) made.set('if-match', ifMatch)
  if (ifNoneMatch !== undefined) made.set('if-none-match', ifNoneMatch)
  return made
}

/** Not `crypto.randomUUID`, which pages without TLS lack. */
const newKey = (): string =>
  crypto
    .getRandomValues(new Uint32Array(4))
    .reduce((key, part) => key + part.toString(16).padStart(8, '0'), '')

const initOf = (
  method: Method,
  body: string | undefined,
  headers: Headers,
  signal: AbortSignal,
): RequestInit => ({
  method,
  headers,
  signal,
  redirect: 'manual',
  // Workers of Cloudflare throw for what has no meaning outside of browsers.
  ...(pageOrigin() === undefined ? {} : { credentials: 'omit', cache: 'no-store' }),
  ...(body === undefined ? {} : { body }),
})

interface Sending {
  call: Call
  options: Options
  address: string
  limitMs: number
  now: () => number
  request: SentRequest
}

type Received = Pick<Response, 'status' | 'headers'>

type Outcome =
  | { response: Received; error?: undefined; data?: unknown }
  | { response?: Received; error: DeskwireError; data?: undefined }

/** Throws the reason of a signal that is aborted. */
const sendOnce = async (
  fetch: (signal: AbortSignal) => Promise<Response>,
  { call, options: { signal }, address, limitMs, now, request }: Sending,
): Promise<Outcome> => {
  const context = { idempotencyKey: request.headers.get('idempotency-key') ?? undefined }
  const limit = new TimeLimit(limitMs, signal)
  let response: Response
  let text: string | undefined
  const longest = call.isDocument ? longestDocument : longestAnswer
  try {
    response = await fetch(limit.signal)
    const isStream = call.stream?.test(response.headers.get('content-type') ?? '')
    if (isStream && response.ok && response.body !== null)
      return { response, data: limit.watch(response.body) }
    const watched = call.isDocument && response.body !== null ? limit.watch(response.body) : undefined
    text = await textOf(watched === undefined ? response : new Response(watched), longest)
  } catch (cause) {
    limit.end()
    signal?.throwIfAborted()
    return { error: connectionFailed(cause, whyUnanswered(cause, address), context) }
  }
  limit.end()
  const { status, ok, headers } = response
  const requestId = requestIdOf(headers)
  if (status === 204) return { response }
  if (status === 304) return { response, data: 'not_modified' }
  if (text === undefined) {
    const fault = overlong(`The answer of ${address}`, longest)
    return { response, error: unexpectedAnswer(status, fault, requestId, context) }
  }
  if (!ok) {
    const retryAfterMs = parseRetryAfter(headers.get('retry-after'), now())
    return { response, error: errorOf({ status, address, requestId }, text, { ...context, retryAfterMs }) }
  }
  try {
    return { response, data: readJson(text) }
  } catch {
    const detail = `${address} did not answer with JSON. Check the base address and proxies.`
    return { response, error: unexpectedAnswer(status, detail, requestId, context) }
  }
}
