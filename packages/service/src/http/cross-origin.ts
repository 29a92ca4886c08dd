/**
 * Which pages of other origins may call the API from a browser (CORS; DESKWIRE_CORS_ORIGINS). Keys come in a header that the page
 * sets, so nothing is sent with a browser's own credentials, and none are allowed.
 */
import type { FastifyInstance } from 'fastify'

/** What a browser asks about before it sends it. */
const methods = 'GET, HEAD, POST, PATCH, DELETE'
const headers = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id'
/** What a page may read beside the few that every page may. */
const exposed =
  'ETag, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Idempotent-Replayed, WWW-Authenticate, Allow'
/** For how long a browser need not ask again, in seconds: as long as Chromium remembers at most. */
const askedFor = '7200'

/** The headers that answers to `origin` carry; none for an origin that is not among `origins`. */
export function crossOriginHeaders(
  origins: ReadonlySet<string>,
  origin: string | undefined,
): Readonly<Record<string, string>> {
  if (origins.size === 0) return {}
  if (origin === undefined || !origins.has(origin)) return { vary: 'Origin' }
  return {
    vary: 'Origin',
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposed,
  }
}

/** Answers preflights, which carry no key, and lets pages of these origins read answers; to be called before any other hook. */
export function allowOrigins(server: FastifyInstance, origins: ReadonlySet<string>): void {
  if (origins.size === 0) return
  server.addHook('onRequest', (request, reply, done) => {
    const { origin, 'access-control-request-method': asked } = request.headers
    reply.headers(crossOriginHeaders(origins, origin))
    // Whatever is at the address: the request itself is told.
    if (request.method !== 'OPTIONS' || asked === undefined || !origins.has(origin ?? '')) return done()
    reply
      .code(204)
      .headers({
        'access-control-allow-methods': methods,
        'access-control-allow-headers': headers,
        'access-control-max-age': askedFor,
      })
      .send()
  })
  // Also where a route has said what else its answer varies with.
  server.addHook('onSend', (_request, reply, payload, done) => {
    const vary = String(reply.getHeader('vary') ?? '')
    if (!/(?:^|,)\s*origin\s*(?:,|$)/i.test(vary))
      reply.header('vary', vary === '' ? 'Origin' : `${vary}, Origin`)
    done(null, payload)
  })
}
