/**
 * The origin of the service: DESKWIRE_PUBLIC_URL; else a trusted proxy's `X-Forwarded-Proto` and `X-Forwarded-Host`;
 * else that of the connection. Each proxy may append to these headers, as to `X-Forwarded-For`, so the entry of the
 * outermost trusted one counts. An entry that is no scheme or no host is ignored, as some proxies pass on what clients
 * send.
 */

import { isIPv6 } from 'node:net'
import cors, { type FastifyCorsOptions, type FastifyCorsOptionsDelegateCallback } from '@fastify/cors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Problem, problem, quoted } from '../kernel/errors.ts'
import { isHost } from '../kernel/origins.ts'
import { bareAddress } from './authenticate.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Not Fastify's `protocol` and `host`, which accept any text of a proxy. */
    readonly scheme: 'http' | 'https'
    /** The beginning of absolute URLs: no path, no slash at the end. */
    readonly origin: string
  }
}

interface OriginOptions {
  /** As `parseOrigin` returns it. */
  readonly publicUrl?: string | null
  /** Whether the peer at this address is a trusted proxy. */
  readonly trustsPeer: (peer: string | undefined) => boolean
}

/** Sets `scheme` and `origin` of requests; returns the function for the scheme, for requests without a route. */
export function readOrigins(
  server: FastifyInstance,
  { publicUrl = null, trustsPeer }: OriginOptions,
): (request: FastifyRequest) => 'http' | 'https' {
  const forwarded = ({ headers, raw, ips = [] }: FastifyRequest, header: string) => {
    const value = headers[header]
    if (value === undefined || !trustsPeer(raw.socket?.remoteAddress)) return ''
    // The last address is the client's, unless the proxies name none.
    const proxies = Math.max(1, ips.length - 1)
    const entries = [value].flat().join(',').split(',')
    return (entries.at(-proxies) ?? (entries[0] as string)).trim()
  }
  const schemeOf = (request: FastifyRequest) => {
    if (publicUrl !== null) return publicUrl.startsWith('https:') ? 'https' : 'http'
    return forwarded(request, 'x-forwarded-proto').toLowerCase() === 'https' ? 'https' : 'http'
  }
  server.decorateRequest('scheme', {
    getter() {
      return schemeOf(this)
    },
  })
  server.decorateRequest('origin', {
    getter() {
      if (publicUrl !== null) return publicUrl
      // HTTP/1.0 needs no Host.
      const { host } = this.headers
      const named = forwarded(this, 'x-forwarded-host')
      return new URL(`${schemeOf(this)}://${isHost(named) ? named : host || localHost(this)}`).origin
    },
  })
  return schemeOf
}

/** Headers with both, for the offload thread. */
export function forwardedHeaders({ scheme, origin }: FastifyRequest): Record<string, string> {
  return { 'x-forwarded-proto': scheme, 'x-forwarded-host': new URL(origin).host }
}

/**
 * The headers that say where a request came from and went to, as they were sent: for a call of this server by itself.
 */
export function originHeaders({ headers }: FastifyRequest): Record<string, string> {
  const names = ['host', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}

/** Refuses a malformed Host (RFC 9112, section 3.2); null when it is valid or absent. */
export function refuseHost({ headers: { host } }: FastifyRequest): Problem | null {
  if (host === undefined || host === '' || isHost(host)) return null
  return problem(
    'invalid_parameter',
    `The Host header must be a host name or an IP address, and a port where there is one; got ${quoted(host)}.`,
  )
}

function localHost({ raw: { socket } }: FastifyRequest): string {
  const address = bareAddress(socket.localAddress ?? 'localhost')
  return `${isIPv6(address) ? `[${address}]` : address}:${socket.localPort ?? 80}`
}

export type CrossOrigin = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void

/**
 * Without `allowedHeaders` a page may send those that it asks for: tracing and MCP add some, and the service ignores
 * unknown ones.
 */
const options: FastifyCorsOptions = {
  methods: 'GET, HEAD, POST, PATCH, DELETE',
  exposedHeaders:
    'ETag, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Idempotent-Replayed, WWW-Authenticate, Allow',
  // Seconds that a browser may cache a preflight: Chromium's maximum.
  maxAge: 7200,
  strictPreflight: false,
  // The plugin would send the 204 with a Content-Length, which RFC 9110, section 8.6, forbids.
  preflightContinue: true,
}

/**
 * Step `onRequest`: sets the headers for pages of listed origins, and answers their preflights. It is the plugin's hook
 * alone. Its route would match OPTIONS at every address, which the API refuses with 404 or 405. And no hook of the
 * server runs for an address that cannot be routed.
 */
export function allowOrigins(origins: ReadonlySet<string>): CrossOrigin {
  const delegator: FastifyCorsOptionsDelegateCallback = ({ headers }, decide) => {
    const { origin, 'access-control-request-method': requestedMethod } = headers
    const allowed = origin !== undefined && origins.has(origin) && origin
    decide(null, { ...options, origin: allowed, preflight: requestedMethod !== undefined })
  }
  const hooks: CrossOrigin[] = []
  const addHook = (_name: 'onRequest', hook: CrossOrigin) => hooks.push(hook)
  const registrar = { addHook, decorateRequest() {}, options() {} }
  cors(registrar as unknown as FastifyInstance, { delegator }, () => {})
  const [setHeaders] = hooks as [CrossOrigin]
  return (request, reply, done) =>
    setHeaders(request, reply, () => {
      if (reply.hasHeader('access-control-allow-methods')) reply.code(204).send()
      else done()
    })
}
