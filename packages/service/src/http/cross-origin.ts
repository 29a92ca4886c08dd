/**
 * Which pages of other origins may call the API from a browser (CORS; DESKWIRE_CORS_ORIGINS; specification 1.1). Keys
 * come in a header that the page sets, so nothing is sent with a browser's own credentials, and none are allowed.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What a preflight may ask for. */
const methods = 'GET, HEAD, POST, PATCH, DELETE'
const headers = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id'
/** Headers that a page may read in addition to those that every page may. */
const exposed =
  'ETag, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Idempotent-Replayed, WWW-Authenticate, Allow'
/** How long a browser may cache a preflight, in seconds: the most that Chromium takes. */
const askedFor = '7200'

/**
 * Sets the headers that let pages of listed origins read a response. True when the request was a preflight of a listed
 * origin, which is answered with those, without a key and whatever is at the address.
 */
export function answersPreflight(
  origins: ReadonlySet<string>,
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  if (origins.size === 0) return false
  reply.header('vary', 'Origin')
  const { origin, 'access-control-request-method': asked } = request.headers
  if (origin === undefined || !origins.has(origin)) return false
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed })
  if (request.method !== 'OPTIONS' || asked === undefined) return false
  reply
    .code(204)
    .headers({
      'access-control-allow-methods': methods,
      'access-control-allow-headers': headers,
      'access-control-max-age': askedFor,
    })
    .send()
  return true
}

/** Step `onSend`, where there are origins: adds to `Vary` if the route has set it. */
export function varyByOrigin(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  const vary = String(reply.getHeader('vary') ?? '')
  if (!/(?:^|,)\s*origin\s*(?:,|$)/i.test(vary))
    reply.header('vary', vary === '' ? 'Origin' : `${vary}, Origin`)
  done(null, payload)
}
