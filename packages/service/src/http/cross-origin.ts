/** CORS (DESKWIRE_CORS_ORIGINS; specification 1.1). Keys come in a header, so browsers' credentials are not allowed. */
import cors, { type FastifyCorsOptions, type FastifyCorsOptionsDelegateCallback } from '@fastify/cors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export type CrossOrigin = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void

/** Without `allowedHeaders` a page may send those that it asks for: tracing and MCP add some, and the service ignores unknown ones. */
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
