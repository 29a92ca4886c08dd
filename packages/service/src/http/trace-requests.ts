/** Telemetry of requests: a span for each that needs a key, and metrics of all. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Attributes, Span, Telemetry } from '../kernel/telemetry.ts'
import { stopwatch } from '../kernel/timestamps.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The parent of the spans of its work; null: not traced. */
    span: Span | null
  }
}

/** Buckets of the semantic conventions, in seconds. */
const durations = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** Other methods share one name, as clients can invent them. */
const known = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS', 'TRACE', 'CONNECT'])

/**
 * Two steps: `begin` (`onRequest`), and `resume` wherever Fastify goes on from an event of the socket, outside the
 * trace's context. A client's `traceparent` becomes a link, as with it as the parent any client could decide what is
 * sampled. `inside`: this process sent the request, and has begun its trace and counts it.
 */
export function traceRequests({ tracer, ...telemetry }: Telemetry, inside = false) {
  const counted = inside ? null : countRequests(telemetry)
  return { begin, resume }

  function begin(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    const begun = { method: methodOf(request), scheme: request.scheme }
    const ended = counted?.(begun)
    const span = isTraced(request) ? beginSpan(request, begun.method) : null
    request.span = span
    reply.raw.once('close', () => {
      // The client has gone when the response was not sent by now.
      const status = reply.raw.headersSent ? reply.raw.statusCode : null
      const error = status === null ? 'client_gone' : status >= 500 ? String(status) : null
      ended?.({ ...routeOf(request), ...(status !== null && { 'http.response.status_code': status }) }, error)
      if (status !== null) span?.set({ 'http.response.status_code': status })
      span?.end(error)
    })
    if (span === null) done()
    else tracer.within(span, done)
  }

  function resume(request: FastifyRequest, _reply: unknown, done: () => void): void {
    if (request.span === null) done()
    else tracer.within(request.span, done)
  }

  function beginSpan(request: FastifyRequest, method: string): Span {
    const { traceparent } = request.headers
    const clientTrace = typeof traceparent === 'string' ? traceparent : null
    const route = request.routeOptions.url ?? ''
    return tracer.begin(inside ? `${method} ${route}, offloaded` : `${method} ${route}`, {
      kind: inside ? 'internal' : 'server',
      parent: inside ? clientTrace : null,
      link: inside ? null : clientTrace,
      attributes: {
        'http.request.method': method,
        'http.route': route,
        'url.scheme': request.scheme,
        'deskwire.request_id': request.id,
      },
    })
  }
}

/** Probes, scrapes and pages would be most of the spans. */
function isTraced({ routeOptions }: FastifyRequest): boolean {
  const { route } = routeOptions.config
  return route !== undefined && route.access !== 'public'
}

function methodOf({ method }: FastifyRequest): string {
  return known.has(method) ? method : '_OTHER'
}

function routeOf({ routeOptions }: FastifyRequest): Attributes {
  return routeOptions.url === undefined ? {} : { 'http.route': routeOptions.url }
}

/** Counts a request, and returns the function to call at its end. */
function countRequests({ meter }: Pick<Telemetry, 'meter'>) {
  const duration = meter.histogram('http.server.request.duration', {
    unit: 's',
    description: 'Duration of HTTP server requests.',
    boundaries: durations,
  })
  const active = meter.upDownCounter('http.server.active_requests', {
    unit: '{request}',
    description: 'Number of active HTTP server requests.',
  })
  return ({ method, scheme }: { readonly method: string; readonly scheme: string }) => {
    const began = stopwatch()
    const attributes = { 'http.request.method': method, 'url.scheme': scheme }
    active(1, attributes)
    return (more: Attributes, error: string | null) => {
      active(-1, attributes)
      duration(began() / 1_000, { ...attributes, ...more, ...(error !== null && { 'error.type': error }) })
    }
  }
}
