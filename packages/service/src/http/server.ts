/** The HTTP server without its routes. */
import { randomUUID } from 'node:crypto'
import { METHODS } from 'node:http'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { problem } from '../kernel/errors.ts'
import { trustHops } from './authenticate.ts'
import { answerError } from './error-reply.ts'
import { allowOrigins, readOrigins } from './origin.ts'
import { addPipeline, decodable, discardUnreadBody, type PipelineParts, setHeaders } from './pipeline.ts'
import { answerBroken, headerLimit, sendProblem, watchConnections } from './problem-reply.ts'
import { acceptJson } from './read-body.ts'
import { maxParamLength } from './unknown-address.ts'

const mebibyte = 1024 * 1024
/** Milliseconds for a whole request to arrive, so that slow senders hold no connections. */
const requestTimeout = 60_000

interface ServerOptions extends Partial<Omit<PipelineParts, 'crossOrigin' | 'logsResponses'>> {
  /** Default: the origin of each request. */
  readonly publicUrl?: string | null
  /** Whether a proxy at this address is trusted about origin and client of a request. Default: none is. */
  readonly isTrustedProxy?: (ip: string) => boolean
  /** Origins whose pages may call from a browser. Default: none. */
  readonly corsOrigins?: readonly string[]
}

function noSchemas(): never {
  throw new Error("no route has schemas of Fastify's: say in `route` what it takes and answers")
}

/** A server that refuses every address until routes are registered. */
export function createServer(logger: FastifyBaseLogger, options: ServerOptions = {}): FastifyInstance {
  const { publicUrl = null, isTrustedProxy, offload, inside = false } = options
  const origins = new Set(options.corsOrigins)
  const crossOrigin = origins.size === 0 ? undefined : allowOrigins(origins)
  const trusts = isTrustedProxy === undefined ? null : trustHops(isTrustedProxy)
  const server = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    bodyLimit: mebibyte,
    requestTimeout,
    // The pipeline refuses a request without Host in words; Node would send no body.
    http: { maxHeaderSize: headerLimit, requireHostHeader: false },
    clientErrorHandler: answerBroken,
    ...(trusts === null ? {} : { trustProxy: trusts }),
    // Our own declarations validate bodies. Fastify's compilers would load 120 modules and 4 MB.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    genReqId: (request) => requestId(request.headers['x-request-id']),
    // A shutdown closes idle connections at once, and lets requests under way finish.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Routes read the query as it was sent (`searchParameters`).
    routerOptions: { maxParamLength, querystringParser: () => ({}) },
    frameworkErrors: (error, request, reply) => {
      // The steps of the pipeline do not run for an address that cannot be routed.
      setHeaders(request, reply, schemeOf(request))
      discardUnreadBody(request)
      const refuse = () => sendProblem(reply, error.code === 'FST_ERR_BAD_URL' ? badAddress : longAddress)
      if (crossOrigin === undefined) refuse()
      else crossOrigin(request, reply, refuse)
    },
  })
  watchConnections(server.server)
  // Fastify fails on an unknown method. All are registered, so that each can be refused.
  for (const method of METHODS) if (!server.supportedMethods.includes(method)) server.addHttpMethod(method)
  server.decorate('allowedAt', () => null)
  const schemeOf = readOrigins(server, {
    publicUrl,
    trustsPeer: inside ? () => true : (trusts ?? (() => false)),
  })
  acceptJson(server, offload !== undefined)
  addPipeline(server, {
    telemetry: null,
    unauthenticated: undefined,
    admission: undefined,
    metrics: undefined,
    ...options,
    inside,
    offload,
    crossOrigin,
    logsResponses: logger.level === 'debug' || logger.level === 'trace',
  })
  server.setErrorHandler(answerError)
  return server
}

const badAddress = problem('invalid_parameter', `The path cannot be decoded: ${decodable}`)
const longAddress = problem('not_found', 'No address here is that long. Check the id.')

/** Echoed when it is up to 200 visible ASCII characters, else generated. */
function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && /^[\x21-\x7e]{1,200}$/.test(sent) ? sent : randomUUID()
}
