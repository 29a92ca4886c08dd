/**
 * The steps of every request, in order. Only this file adds request hooks to the server (architecture test), apart from
 * a route's own: authentication by an API key or the route's own key, and refusing an empty path parameter
 * (`route.ts`).
 */
import type { IncomingMessage } from 'node:http'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onErrorHookHandler,
  onRequestHookHandler,
  onResponseHookHandler,
  onSendHookHandler,
  preHandlerAsyncHookHandler,
  preParsingAsyncHookHandler,
  preValidationHookHandler,
} from 'fastify'
import type { RateLimiter } from '../admission/rate-limit.ts'
import { isBearer } from '../auth/token.ts'
import { type Problem, problem, quoted } from '../kernel/errors.ts'
import { networkOf } from '../kernel/networks.ts'
import { isDecodable } from '../kernel/origins.ts'
import type { Telemetry } from '../kernel/telemetry.ts'
import type { RequestAdmission } from './admit.ts'
import { bearerToken, clientAddress } from './authenticate.ts'
import { compressResponses, vary } from './compression.ts'
import { type Offload, offloadRequest } from './offload.ts'
import type { CrossOrigin } from './origin.ts'
import { refuseHost } from './origin.ts'
import { privateHeaders, sendProblem } from './problem-reply.ts'
import { discardBody } from './read-body.ts'
import { queryTextOf } from './replies.ts'
import { traceRequests } from './trace-requests.ts'
import { isLiteral, refuseEscaped, refuseUnknown } from './unknown-address.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Aborts when the client disconnects before the response was sent. Not Fastify's `signal`, which aborts as soon as
     * the body was read.
     */
    disconnected: AbortSignal
  }
}

/** Work was dropped before it began, as its client had disconnected. No response is sent. */
export class Disconnected extends Error {
  constructor() {
    super('the client has disconnected')
  }
}

/** A step whose part is missing is left out. */
export interface PipelineParts {
  readonly crossOrigin: CrossOrigin | undefined
  readonly telemetry: Telemetry | null
  /** Requests come from this process, which began their traces. */
  readonly inside: boolean
  /** Counts requests without a valid key, by network. */
  readonly unauthenticated: RateLimiter | undefined
  readonly admission: RequestAdmission | undefined
  readonly offload: Offload | undefined
  readonly metrics:
    | { readonly onResponse: onResponseHookHandler; readonly onError: onErrorHookHandler }
    | undefined
  readonly logsResponses: boolean
}

const properties = {
  span: null,
  caller: null,
  renewCaller: null,
  admitted: null,
  rawBody: null,
  offloaded: false,
  wasStalled: false,
} as const

interface Steps {
  readonly onRequest: readonly onRequestHookHandler[]
  readonly preParsing: readonly preParsingAsyncHookHandler[]
  readonly preValidation: readonly preValidationHookHandler[]
  readonly preHandler: readonly preHandlerAsyncHookHandler[]
  readonly onSend: readonly onSendHookHandler[]
  readonly onError: readonly onErrorHookHandler[]
  readonly onResponse: readonly onResponseHookHandler[]
}

/** The steps, in the order in which a request passes them. */
function stepsOf(server: FastifyInstance, parts: PipelineParts): Steps {
  const { crossOrigin, telemetry, unauthenticated, admission, offload, metrics } = parts
  const trace = telemetry === null ? undefined : traceRequests(telemetry, parts.inside)
  return {
    // Nothing of the body has been read.
    onRequest: present(
      watchClient,
      trace?.begin,
      setCommonHeaders,
      crossOrigin && varyByOrigin,
      refuseRequest,
      unauthenticated && limitUnauthenticated(unauthenticated),
      crossOrigin,
      routedOnly,
      // Last, a route that needs a key finds its caller (`requireKey` in authenticate.ts).
    ),
    preParsing: present(admission && ((request) => admission.admit(request))),
    // Then the body is read (read-body.ts).
    preValidation: present(trace?.resume),
    preHandler: present(offload && offloadLarge(offload)),
    // Then the route's handler runs (route.ts). An error that it throws becomes a problem (error-reply.ts).
    onError: present(metrics?.onError),
    onSend: present(
      discardUnread,
      closeAtShutdown(server),
      admission && holdResponse(admission),
      admission && compressResponses(),
    ),
    onResponse: present(trace?.resume, parts.logsResponses && logResponse, metrics?.onResponse),
  }
}

/** Adds the steps to the server. Call it once, before any route is registered. */
export function addPipeline(server: FastifyInstance, parts: PipelineParts): void {
  for (const [name, value] of Object.entries(properties)) server.decorateRequest(name, value)
  server.decorateRequest('disconnected')
  const steps = stepsOf(server, parts)
  for (const step of steps.onRequest) server.addHook('onRequest', step)
  for (const step of steps.preParsing) server.addHook('preParsing', step)
  for (const step of steps.preValidation) server.addHook('preValidation', step)
  for (const step of steps.preHandler) server.addHook('preHandler', step)
  for (const step of steps.onError) server.addHook('onError', step)
  for (const step of steps.onSend) server.addHook('onSend', step)
  for (const step of steps.onResponse) server.addHook('onResponse', step)
}

function present<Step>(...steps: readonly (Step | false | undefined)[]): readonly Step[] {
  return steps.filter((step): step is Step => step !== false && step !== undefined)
}

/**
 * When the client has the response, or has disconnected, which aborts the request's signal: what the request held is
 * released.
 */
function watchClient(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const gone = new AbortController()
  request.disconnected = gone.signal
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Disconnected())
    request.admitted?.close()
  })
  done()
}

/** Headers depend on the route, as an address can be written in several ways: escaped, or with a host before it. */
function setCommonHeaders(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  setHeaders(request, reply, request.scheme, request.routeOptions.url)
  done()
}

/** Also for an address that cannot be routed, for which no step runs (`server.ts`). */
export function setHeaders(
  { id, url }: FastifyRequest,
  reply: FastifyReply,
  scheme: string,
  route = url,
): void {
  reply.header('x-request-id', id)
  if (scheme === 'https') reply.header('strict-transport-security', 'max-age=31536000')
  if (isPrivate(url) || isPrivate(route)) reply.headers(privateHeaders)
}

/** Whether an address is /mcp or below /v1 or /admin, also one that does not exist. */
function isPrivate(url: string): boolean {
  return /^\/(?:v1|mcp|admin)(?:[/?#]|$)/.test(url)
}

/** Also of a response to other origins, as caches need to know. */
function varyByOrigin(_request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  vary(reply, 'Origin')
  done()
}

/** Headers with one value. Node joins the repeated lines of some, and takes the first line of others. */
const singleHeaders = ['Authorization', 'Content-Type', 'Host', 'Idempotency-Key']
const singleNames = singleHeaders.map((name) => name.toLowerCase())

/** Refuses a request that repeats one of them; null: none is repeated. Names and values alternate. */
function repeatedHeader(raw: readonly string[]): Problem | null {
  let seen = 0
  for (let n = 0; n < raw.length; n += 2) {
    const place = singleNames.indexOf((raw[n] as string).toLowerCase())
    if (place === -1) continue
    if ((seen & (1 << place)) !== 0)
      return problem('invalid_parameter', `${singleHeaders[place]} is sent more than once; send it once.`)
    seen |= 1 << place
  }
  return null
}

/**
 * What Node's parser accepts and HTTP/1.1 forbids (RFC 9112, sections 2.3, 3.2 and 6.1), and another `Expect` than the
 * one that there is; null: nothing.
 */
function unreadable({ httpVersion, headers }: IncomingMessage): Problem | null {
  const { host, expect, 'transfer-encoding': coding } = headers
  if (!/^1\.[01]$/.test(httpVersion))
    return problem('invalid_parameter', `Send HTTP/1.1; got the version ${httpVersion}.`)
  if (host === undefined && httpVersion === '1.1')
    return problem(
      'invalid_parameter',
      'The request has no Host header. Send one, with the host of the address.',
    )
  if (expect !== undefined && !/^100-continue$/i.test(expect))
    return problem('invalid_parameter', `Send Expect: 100-continue, or none; got ${quoted(expect)}.`)
  // Node decodes the chunks, and leaves the codings before them as they are.
  if (coding !== undefined && !/^chunked$/i.test(coding))
    return problem('invalid_parameter', `Send Transfer-Encoding: chunked, or none; got ${quoted(coding)}.`)
  return null
}

function refuseRequest(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const broken = unreadable(request.raw)
  if (broken !== null) {
    reply.header('connection', 'close')
    return void sendProblem(reply, broken)
  }
  const refused = repeatedHeader(request.raw.rawHeaders) ?? refuseHost(request) ?? undecodableQuery(request)
  if (refused === null) done()
  else sendProblem(reply, refused)
}

export const decodable = 'it must be UTF-8 in percent-encoding, with % itself written %25.'

/** `URLSearchParams` would replace what it cannot decode, and find something else by it. */
function undecodableQuery(request: FastifyRequest): Problem | null {
  if (!request.url.includes('%')) return null
  const wrong = queryTextOf(request)
    .split('&')
    .find((part) => !isDecodable(part))
  if (wrong === undefined) return null
  return problem('invalid_parameter', `${wrong.split('=', 1)[0]} cannot be decoded: ${decodable}`)
}

/** Refuses unknown addresses, and other methods of known ones, before the body is read. */
function routedOnly(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (request.is404) refuseUnknown(request, reply)
  else if (isLiteral(request)) done()
  else refuseEscaped(request, reply)
}

/** Requests that need no key, or carry no text that could be one. An invalid key is counted when it is looked up. */
function limitUnauthenticated(limiter: RateLimiter): onRequestHookHandler {
  return (request, reply, done) => {
    const { route, admits } = request.routeOptions.config
    // A key of the route's own is accepted even when its network is over the limit.
    if (admits?.(request) === null) return done()
    const needsKey = route !== undefined && route.access !== 'public'
    if (needsKey && isBearer(bearerToken(request.headers.authorization) ?? '')) return done()
    const { allowed, retryAfter } = limiter.count(networkOf(clientAddress(request)))
    if (allowed) return done()
    reply.header('retry-after', Math.max(1, Math.ceil(retryAfter / 1_000)))
    sendProblem(reply, tooManyUnauthenticated)
  }
}

const tooManyUnauthenticated = problem(
  'rate_limited',
  'Too many requests without a valid API key came from this address. Send it again after Retry-After.',
)

function offloadLarge(offload: Offload): preHandlerAsyncHookHandler {
  return async (request, reply) => (request.offloaded ? offloadRequest(request, reply, offload) : undefined)
}

/** Of a request that was refused before its body was read: for its key, a limit, its size or its address. */
const discardUnread: onSendHookHandler = (request, _reply, payload, done) => {
  discardUnreadBody(request)
  done(null, payload)
}

/** Also for an address that cannot be routed, for which no step runs (`server.ts`). */
export function discardUnreadBody({ raw }: FastifyRequest): void {
  if (hasBody(raw) && !raw.complete) discardBody(raw)
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/** Connections that stay open would delay a shutdown. */
function closeAtShutdown(server: FastifyInstance): onSendHookHandler {
  let stopping = false
  server.addHook('preClose', (done) => {
    stopping = true
    done()
  })
  return (_request, reply, payload, done) => {
    if (stopping) reply.header('connection', 'close')
    done(null, payload)
  }
}

/** Reserves the memory of a response until the client has read it, or refuses the response. */
function holdResponse(admission: RequestAdmission): onSendHookHandler {
  return (request, reply, payload, done) => {
    const refused = admission.respond(request, reply, payload)
    if (refused === null) done(null, payload)
    else done(refused)
  }
}

function logResponse(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { method, url } = request
  // The path alone: a query can hold addresses and names.
  const path = url.split('?', 1)[0]
  request.log.debug({ method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'answered')
  done()
}
