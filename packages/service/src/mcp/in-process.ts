/**
 * Calls that this server makes to itself, for the caller of a request and with its credentials. They pass the pipeline
 * as calls over a socket do: limits, admission, the offload thread, log and trace.
 */
import type { Fetch } from '@deskwire/sdk'
import type { FastifyRequest, InjectOptions } from 'fastify'
import { originHeaders } from '../http/origin.ts'
import { errorCatalogue } from '../kernel/error-catalogue.ts'
import { type Problem, problemBody } from '../kernel/errors.ts'

/** They end when its client disconnects. */
export function inProcess(request: FastifyRequest): Fetch {
  return async (url, { method, headers, body, signal }) => {
    const ended = await request.renewCaller?.()
    if (ended != null) return refusal(ended, request)
    const { pathname, search, searchParams } = new URL(url)
    const { 'user-agent': _, ...sent } = Object.fromEntries(new Headers(headers))
    const response = await request.server.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: pathname + search,
      headers: { ...sent, ...callerHeaders(request) },
      remoteAddress: request.socket.remoteAddress ?? request.ip,
      ...(signal == null ? {} : { signal }),
      ...(typeof body === 'string' ? { payload: body } : {}),
    })
    // The access token may have ended while the call waited.
    const late = Number(searchParams.get('wait') ?? 0) > 0 ? await request.renewCaller?.() : null
    if (late != null) return refusal(late, request)
    const { statusCode: status } = response
    const given = Object.entries(response.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ])
    const isEmpty = status === 204 || status === 304
    return new Response(isEmpty ? null : response.rawPayload, { status, headers: given })
  }
}

function refusal(problem: Problem, { id }: FastifyRequest): Response {
  const { status } = errorCatalogue[problem.code]
  return new Response(JSON.stringify(problemBody(problem, id)), { status })
}

function callerHeaders(request: FastifyRequest): Record<string, string> {
  const { headers, id, span } = request
  return {
    ...originHeaders(request),
    'x-request-id': id,
    authorization: String(headers.authorization),
    ...(span === null ? {} : { traceparent: span.traceparent }),
  }
}

/** The request as `fetch` has it, without its body. */
export function asFetched({ origin, url, headers, method, disconnected: signal }: FastifyRequest): Request {
  const given = Object.entries(headers).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  )
  return new Request(new URL(url, origin), { method, headers: given, signal })
}
