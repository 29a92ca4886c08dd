/**
 * Calls of the HTTP API in this process, with the caller's own credentials: so a tool is held to every rule of the API
 * (scopes, limits, admission, suspension, idempotency), and there is one implementation of each.
 */
import { readJson } from '@deskwire/sdk/json'
import type { FastifyRequest, InjectOptions } from 'fastify'
import { originHeaders } from '../http/origin.ts'
import type { Problem } from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/outcome.ts'
import type { Json } from '../openapi/api-module.ts'

interface Headers {
  readonly idempotencyKey?: string | undefined
  /** The `updatedAt` that the object must still have. */
  readonly expectedVersion?: string | undefined
}

/** The problem is that of the API's response. */
export interface Api {
  get(path: string, query?: Readonly<Record<string, unknown>>): Promise<Result<Json, Problem>>
  send(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Headers,
  ): Promise<Result<Json, Problem>>
}

/** Calls end when the client of `request` disconnects. */
export function apiFor(request: FastifyRequest): Api {
  async function call(
    method: NonNullable<InjectOptions['method']>,
    url: string,
    headers: Record<string, string>,
    payload?: string,
  ): Promise<Result<Json, Problem>> {
    const ended = await request.renewCaller?.()
    if (ended != null) return fail(ended)
    const response = await request.server.inject({
      method,
      url,
      headers: { ...callerHeaders(request), ...headers },
      remoteAddress: request.socket.remoteAddress ?? request.ip,
      signal: request.disconnected,
      ...(payload === undefined ? {} : { payload }),
    })
    const body = response.body === '' ? {} : (readJson(response.body) as Json)
    return response.statusCode < 400 ? ok(body) : fail(body as unknown as Problem)
  }
  return {
    async get(path, query = {}) {
      const given = Object.entries(query).filter(([, value]) => value !== undefined)
      const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
      const answer = await call('GET', text === '' ? path : `${path}?${text}`, {})
      // The access token may have ended while the call waited.
      const ended = Number(query.wait ?? 0) > 0 ? await request.renewCaller?.() : null
      return ended == null ? answer : fail(ended)
    },
    send(method, path, body, { idempotencyKey, expectedVersion } = {}) {
      const headers = {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...(expectedVersion === undefined ? {} : { 'if-match': `"${expectedVersion}"` }),
      }
      return call(method, path, headers, body === undefined ? undefined : JSON.stringify(body))
    },
  }
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
