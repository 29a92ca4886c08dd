/** The HTTP server without its routes: request ids, bodies, problem answers, what is not there. */
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, METHODS } from 'node:http'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import findMyWay from 'find-my-way'
import { HomeUnavailable } from '../access/homes.ts'
import { isBearer } from '../access/token.ts'
import { LimitExceeded } from '../admission/limit-exceeded.ts'
import type { RateLimiter } from '../admission/rate-limit.ts'
import { effectOf } from '../db/failure.ts'
import { awayOf } from '../journal/away.ts'
import { clockAheadCode } from '../journal/clock-skew.ts'
import { NewerVersion } from '../journal/rows.ts'
import { sealedOtherwiseCode } from '../journal/sql-fragments.ts'
import { type Problem, problem, quoted } from '../kernel/errors.ts'
import { loggable } from '../kernel/loggable.ts'
import { networkOf } from '../kernel/networks.ts'
import type { Telemetry } from '../kernel/telemetry.ts'
import { limitProblem } from './admit.ts'
import { bearerToken, clientAddress, trustHops } from './authenticate.ts'
import { allowOrigins, answersPreflight } from './cross-origin.ts'
import { Disconnected, watchClients } from './disconnect.ts'
import { parseJson } from './json-body.ts'
import { answerElsewhere, isToBeOffloaded, type Offload } from './offload.ts'
import { readOrigins, refuseHost } from './origin.ts'
import { answerBroken, headerLimit, privateHeaders, sendProblem } from './problem-reply.ts'
import { bodyCut, bodyTooLarge, discardBody, readBody } from './read-body.ts'
import { pathOf } from './replies.ts'
import { traceRequests } from './trace-requests.ts'
import { adviceOn, withoutSlash } from './wrong-address.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of a JSON body as they came. */
    rawBody: Buffer | null
  }
  interface FastifyContextConfig {
    /** The route reads `rawBody` itself: nothing is parsed before. */
    readonly readsBody?: { readonly isLight: (bytes: Buffer) => boolean }
  }
}

const mebibyte = 1024 * 1024
/** How long a request may take to arrive as a whole, in milliseconds: nobody holds a connection by sending slowly. */
const arrivesWithin = 60_000

/** What stands between clients and the server. */
export interface Edge {
  /** What clients reach the service by, as `https://desk.example`; what their requests say unless told. */
  readonly publicUrl?: string | null
  /** Whether what a proxy at this address says of where a request came from and went to is believed; nobody is unless told. */
  readonly isTrustedProxy?: (ip: string) => boolean
  /** Origins whose pages may call from a browser; none unless told. */
  readonly corsOrigins?: readonly string[]
  /** Answers requests whose bodies take long to read; without it they are answered here. */
  readonly offload?: Offload
  /** Counts requests without a valid key, by network; `unauthenticatedLimit` by default. */
  readonly unauthenticated?: RateLimiter
  /** What requests are told to; nobody unless told. */
  readonly telemetry?: Telemetry | null
  /** Requests come from this process, which has begun their traces; they do not unless told. */
  readonly inside?: boolean
}

/** Of what stands for a part of an address. */
const maxParamLength = 200

declare module 'fastify' {
  interface FastifyInstance {
    /** The methods of an address, for `Allow`; null where there is nothing, or before `refuseOtherMethods`. */
    allowedAt: (url: string) => string | null
  }
}

function noSchemas(): never {
  throw new Error("no route has schemas of Fastify's: say in `route` what it takes and answers")
}

export function createServer(logger: FastifyBaseLogger, edge: Edge = {}): FastifyInstance {
  const { offload } = edge
  /** Whatever refuses a request before its body was read: the key, a share, a size, an address. */
  const discardUnread = ({ raw }: FastifyRequest) => {
    if (hasBody(raw) && !raw.complete) discardBody(raw)
  }
  const origins = new Set(edge.corsOrigins)
  const trusts = edge.isTrustedProxy === undefined ? null : trustHops(edge.isTrustedProxy)
  const server = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    bodyLimit: mebibyte,
    requestTimeout: arrivesWithin,
    http: { maxHeaderSize: headerLimit },
    clientErrorHandler: answerBroken,
    ...(trusts === null ? {} : { trustProxy: trusts }),
    // Bodies are held against declarations of our own: the compilers that Fastify would load are 120 modules, and 4 MB.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    genReqId: (request) => requestId(request.headers['x-request-id']),
    // A shutdown ends what is kept alive and idle at once, and lets what is under way finish.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Routes read the query as it was sent, repeats included (`searchParameters`).
    routerOptions: { maxParamLength, querystringParser: () => ({}) },
    frameworkErrors: (error, request, reply) => {
      // No hook runs for an address that cannot be routed.
      setHeaders(request, reply, schemeOf(request))
      discardUnread(request)
      if (answersPreflight(origins, request, reply)) return reply
      return sendProblem(reply, error.code === 'FST_ERR_BAD_URL' ? badAddress : longAddress)
    },
  })
  // Fastify fails on a method that it has not heard of; so that each can be refused, it hears of all.
  for (const method of METHODS) if (!server.supportedMethods.includes(method)) server.addHttpMethod(method)
  server.decorate('allowedAt', () => null)
  server.decorateRequest('caller', null)
  server.decorateRequest('rawBody', null)
  server.decorateRequest('offloaded', false)
  watchClients(server)
  const believes = edge.inside === true ? () => true : (trusts ?? (() => false))
  const schemeOf = readOrigins(server, { publicUrl: edge.publicUrl ?? null, believes })
  traceRequests(server, edge.telemetry ?? null, edge.inside)
  acceptJson(server, offload !== undefined)
  server.addHook('onSend', (request, _reply, payload, done) => {
    discardUnread(request)
    done(null, payload)
  })
  if (offload !== undefined) server.addHook('preHandler', answerElsewhere(offload))
  endConnectionsAtShutdown(server)
  server.addHook('onRequest', (request, reply, done) => {
    // The route says so whatever way its address was written: escaped, or with a host before it.
    setHeaders(request, reply, request.scheme, request.routeOptions.url)
    done()
  })
  server.addHook('onRequest', (request, reply, done) => {
    const refused = repeatedHeader(request.raw.rawHeaders) ?? refuseHost(request)
    if (refused === null) done()
    else sendProblem(reply, refused)
  })
  if (edge.unauthenticated !== undefined) limitUnauthenticated(server, edge.unauthenticated)
  allowOrigins(server, origins)
  if (logger.level === 'debug' || logger.level === 'trace') logAnswers(server)
  server.setErrorHandler((error: FastifyError | LimitExceeded | Disconnected, request, reply) => {
    if (error instanceof LimitExceeded) return sendProblem(reply, limitProblem(error))
    if (error instanceof Disconnected) return sendProblem(reply, clientGone)
    if (error instanceof NewerVersion) {
      request.log.warn({ reason: error.message }, 'a newer release is needed for a request')
      return sendProblem(reply, newerVersion)
    }
    const refusal = expectedProblem(error, request) ?? databaseProblem(error, request.method)
    if (refusal === null || refusal.code === 'internal_error') {
      request.log.error(
        { method: request.method, url: request.routeOptions.url, err: loggable(error) },
        'a request failed',
      )
    } else if (refusal.code === 'unavailable') {
      const what = refusalsLogged.get(refusal) ?? 'the database is not available'
      request.log.warn({ reason: error.message }, what)
    }
    // Fastify would end the connection. What is left of the body is read (`discardBody`), so that the answer arrives.
    if (error.code === bodyTooLarge) reply.removeHeader('connection')
    return sendProblem(reply, refusal ?? internalError)
  })
  answerUnknown(server)
  return server
}

/** What every answer has. */
function setHeaders({ id, url }: FastifyRequest, reply: FastifyReply, scheme: string, route = url): void {
  reply.header('x-request-id', id)
  if (scheme === 'https') reply.header('strict-transport-security', 'max-age=31536000')
  if (isPrivate(url) || isPrivate(route)) reply.headers(privateHeaders)
}

/** Headers with one value. Node joins the repeated lines of some, and takes the first line of others. */
const singleHeaders = ['Authorization', 'Content-Type', 'Host', 'Idempotency-Key']
const singleNames = singleHeaders.map((name) => name.toLowerCase())

/** The refusal of a request that repeats one of them; null where none is repeated. Names and values alternate. */
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

/** Whether an address is one of the API, also where it leads nowhere. */
function isPrivate(url: string): boolean {
  return /^\/v1(?:[/?#]|$)/.test(url)
}

/** Requests that need no key, or carry nothing that could be one. A wrong key is counted by whoever looks it up. */
function limitUnauthenticated(server: FastifyInstance, limiter: RateLimiter): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { route } = request.routeOptions.config
    const needsKey = route !== undefined && route.access !== 'public'
    if (needsKey && isBearer(bearerToken(request.headers.authorization) ?? '')) return done()
    const { allowed, retryAfter } = limiter.count(networkOf(clientAddress(request)))
    if (allowed) return done()
    reply.header('retry-after', Math.max(1, Math.ceil(retryAfter / 1_000)))
    sendProblem(reply, tooManyUnauthenticated)
  })
}

const tooManyUnauthenticated = problem(
  'rate_limited',
  'Too many requests without a valid API key came from this address. Send it again after Retry-After.',
)

function logAnswers(server: FastifyInstance): void {
  server.addHook('onResponse', (request, reply, done) => {
    const { method, url } = request
    const answer = {
      method,
      path: pathOf({ url }),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    }
    request.log.debug(answer, 'answered')
    done()
  })
}

const badAddress = problem(
  'invalid_parameter',
  'The path cannot be decoded: % must be followed by two hexadecimal digits, and what they spell must be UTF-8. Write % itself as %25.',
)
const longAddress = problem('not_found', 'No address here is that long. Check the id.')

/** What is under way when a shutdown begins is answered and its connection ended: kept alive, it would hold it up. */
function endConnectionsAtShutdown(server: FastifyInstance): void {
  let stopping = false
  server.addHook('preClose', (done) => {
    stopping = true
    done()
  })
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (stopping) reply.header('connection', 'close')
    done(null, payload)
  })
}

const clockAhead = problem(
  'unavailable',
  "The clock of the server that took this request is ahead of the database's by more than it may be; nothing was changed. Send the request again.",
)

/** For the metrics alone: nobody is there to read it. */
const clientGone = problem(
  'unavailable',
  'The client disconnected before the request was begun; nothing was changed. Send the request again.',
)

const anotherKey = problem(
  'unavailable',
  'The encryption key of the service is being replaced, and the process that was asked does not have the new one yet; nothing was changed. Send the request again.',
)

const homeUnavailable = problem(
  'unavailable',
  'The database that has this organization cannot be reached right now; nothing was changed. Send the request again.',
)

const beingMoved = problem(
  'unavailable',
  'The organization is being moved to another database; nothing was changed. Send the request again.',
)

/** What the log says where the database refused what this process asked it to commit. */
const refusalsLogged: ReadonlyMap<Problem, string> = new Map([
  [clockAhead, "this process's clock is too far ahead of the database's: nothing is committed"],
  [
    anotherKey,
    'the database names another encryption key: start this process again with both, DESKWIRE_ENCRYPTION_KEY and DESKWIRE_ENCRYPTION_KEY_PREVIOUS',
  ],
])

const internalError = problem(
  'internal_error',
  'Something went wrong on our side, and the change may or may not have taken effect. Report the requestId.',
)

const nothingDone = problem(
  'internal_error',
  'Something went wrong on our side; nothing was changed. Report the requestId.',
)

/** Echoed when it is up to 200 visible ASCII characters, otherwise made. */
function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && /^[\x21-\x7e]{1,200}$/.test(sent) ? sent : randomUUID()
}

function acceptJson(server: FastifyInstance, offloads: boolean): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(
    /^application\/(?:[\w.+-]+\+)?json(?:;|$)/i,
    (request: FastifyRequest, payload: IncomingMessage, done: Parsed) => {
      const { 'content-length': length } = request.headers
      const limits = {
        length: length === undefined ? null : Number(length),
        limit: request.routeOptions.bodyLimit,
      }
      readBody(payload, limits, (error, bytes) =>
        error === null ? parse(request, bytes, done) : done(error, undefined),
      )
    },
  )

  function parse(request: FastifyRequest, bytes: Buffer, done: Parsed): void {
    request.rawBody = bytes
    request.offloaded = bytes.length > 0 && offloads && isToBeOffloaded(request, bytes)
    // Some clients name the type of a body that they do not send: a route that needs one will say so. Some routes read theirs
    // by themselves, piece by piece.
    if (bytes.length === 0 || request.offloaded || request.routeOptions.config.readsBody) {
      done(null, undefined)
      return
    }
    const parsed = parseJson(bytes)
    if (parsed.ok) done(null, parsed.value)
    else done(Object.assign(new Error(parsed.error), { code: malformedJson }), undefined)
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

type Parsed = (error: Error | null, body: unknown) => void

const malformedJson = 'MALFORMED_JSON'

/** What a client did wrong before any route could say so. */
function expectedProblem(error: FastifyError, { routeOptions, headers }: FastifyRequest): Problem | null {
  switch (error.code) {
    case malformedJson:
      return problem('malformed_json', error.message)
    case bodyCut:
      return problem('malformed_json', 'The body ended before it was complete. Send it again.')
    case bodyTooLarge:
      return problem(
        'body_too_large',
        `The body has more than ${routeOptions.bodyLimit / mebibyte} MiB. Send less at once.`,
      )
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return problem(
        'unsupported_media_type',
        `Send the body as JSON, with Content-Type: application/json; got ${quoted(headers['content-type'] ?? '')}.`,
      )
    default:
      return null
  }
}

/**
 * A database that cannot be reached has not been asked, so nothing was changed and the request can be sent again.
 * One that was lost in the middle of a commit may have finished it: that is an internal error. A GET has nothing to commit.
 */
function databaseProblem(error: Error & { code?: string }, method: string): Problem | null {
  if (error.code === clockAheadCode) return clockAhead
  if (error.code === sealedOtherwiseCode) return anotherKey
  if (error instanceof HomeUnavailable) return homeUnavailable
  if (awayOf(error) !== null) return beingMoved
  const effect = effectOf(error)
  if (effect === 'unavailable') return databaseUnavailable
  if (effect === 'none') return nothingDone
  return effect === 'unknown' && (method === 'GET' || method === 'HEAD') ? databaseUnavailable : null
}

const databaseUnavailable = problem(
  'unavailable',
  'The database cannot be reached, is too busy or has no space left; nothing was changed. Send the request again.',
)

const newerVersion = problem(
  'unavailable',
  'A newer release of the service wrote the object, and the process that was asked is of an older one; nothing was changed. Send the request again.',
)

/** Before the body is read: nothing of it matters where there is nothing. */
function answerUnknown(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    const allow = server.allowedAt(request.url)
    if (allow !== null) return void refuseMethod(request, allow, reply)
    const path = pathOf(request)
    const advice = adviceOn(path, (other) => server.allowedAt(other) !== null)
    sendProblem(reply, problem('not_found', `There is no ${path}. ${advice}`))
  })
}

/**
 * Answers every other method of these paths with 405 and Allow. To be called once, after all routes.
 *
 * Methods that some route has are refused by a route each, so that `/tickets/batch` is never taken for a ticket. The other thirty are found
 * to be nowhere, and the address is looked up then: routes for them all took 0.1 s of each start.
 */
export function refuseOtherMethods(
  server: FastifyInstance,
  allowed: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  const inUse = [...new Set([...allowed.values()].flatMap((methods) => [...methods]))]
  const addresses = findMyWay({ maxParamLength })
  for (const [url, known] of allowed) {
    const allow = [...known].sort().join(', ')
    addresses.on('GET', url, () => {}, allow)
    const others = inUse.filter((method) => !known.has(method))
    if (others.length === 0) continue
    server.route({
      method: others,
      url,
      // Before the body is read: nothing of it matters.
      onRequest: (request, reply) => refuseMethod(request, allow, reply),
      handler: (request, reply) => refuseMethod(request, allow, reply),
    })
  }
  server.allowedAt = (url) => addresses.find('GET', url)?.store ?? null
}

async function refuseMethod(request: FastifyRequest, allow: string, reply: FastifyReply) {
  reply.header('allow', allow)
  const refused = `${request.method} is not allowed here; allowed: ${allow}.`
  return sendProblem(reply, problem('method_not_allowed', refused + withoutSlash(request)))
}
