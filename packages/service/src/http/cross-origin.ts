/** CORS (DESKWIRE_CORS_ORIGINS; specification 1.1). Keys come in a header, so browsers' credentials are not allowed. */
import type { FastifyReply, FastifyRequest } from 'fastify'

const methods = 'GET, HEAD, POST, PATCH, DELETE'
const headers =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id, X-Acting-Teammate'
/** Headers that pages may read, in addition to those that are always readable. */
const exposed =
  'ETag, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Idempotent-Replayed, WWW-Authenticate, Allow'
/** Seconds that a browser may cache a preflight: Chromium's maximum. */
const maximumAge = '7200'

/** Sets the headers for pages of listed origins. True: it was a preflight of such a page, and is answered. */
export function answersPreflight(
  origins: ReadonlySet<string>,
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  if (origins.size === 0) return false
  reply.header('vary', 'Origin')
  const { origin, 'access-control-request-method': requestedMethod } = request.headers
  if (origin === undefined || !origins.has(origin)) return false
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed })
  if (request.method !== 'OPTIONS' || requestedMethod === undefined) return false
  reply
    .code(204)
    .headers({
      'access-control-allow-methods': methods,
      'access-control-allow-headers': headers,
      'access-control-max-age': maximumAge,
    })
    .send()
  return true
}

/** Step `onSend`: adds `Origin` to the `Vary` that the route has set. */
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
