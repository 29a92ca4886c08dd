/** Offloads large requests, which would block this thread: it checks the key, reads bytes and sends the response. */
import type { FastifyInstance, FastifyReply, FastifyRequest, InjectOptions } from 'fastify'
import { callerOf } from './authenticate.ts'
import { forwardedHeaders } from './origin.ts'
import { freeBytes } from './read-body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The offload thread handles it: its body is not parsed here. */
    offloaded: boolean
  }
}

export interface OffloadedRequest {
  readonly organizationId: string
  readonly shard: number
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly ip: string
  /** Its memory may be transferred. */
  readonly body: Buffer
}

export interface OffloadedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Buffer
}

/** Rejects when the outcome is unknown, and when the client disconnected before the work began: then it is not done. */
export type Offload = (request: OffloadedRequest, disconnected: AbortSignal) => Promise<OffloadedResponse>

/** Headers of a connection, and not of the request. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'expect',
  'date',
])

/** Sends the response of the offload thread. */
export async function offloadRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  offload: Offload,
): Promise<FastifyReply> {
  const { organizationId, shard = 0 } = callerOf(request)
  const offloaded: OffloadedRequest = {
    organizationId,
    shard,
    method: request.method,
    url: request.url,
    // The thread uses the same request id, origin and trace.
    headers: {
      ...ownHeaders(request.headers),
      ...forwardedHeaders(request),
      'x-request-id': request.id,
      ...(request.span && { traceparent: request.span.traceparent }),
    },
    ip: request.ip,
    body: request.rawBody ?? Buffer.alloc(0),
  }
  const { status, headers, body } = await offload(offloaded, request.disconnected)
  reply.code(status).headers(ownHeaders(headers))
  return body.length === 0 ? reply.send() : reply.send(body)
}

/** With an API that does not listen. Frees the body. Rejects when the outcome is unknown. */
export async function handleOffloaded(
  server: FastifyInstance,
  { method, url, headers, ip, body }: OffloadedRequest,
): Promise<OffloadedResponse> {
  // Bytes from another thread are no Buffer.
  const payload = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const response = await server.inject({
    method: method as NonNullable<InjectOptions['method']>,
    url,
    headers: { ...headers },
    remoteAddress: ip,
    ...(payload.length > 0 && { payload }),
    // As a whole, a page of megabytes would be copied and decoded to text.
    payloadAsStream: true,
  })
  const pieces: Buffer[] = []
  for await (const piece of response.stream()) pieces.push(piece)
  freeBytes(payload)
  const [first] = pieces
  return {
    status: response.statusCode,
    headers: ownHeaders(response.headers),
    body: first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces),
  }
}

function ownHeaders(
  headers: Readonly<Record<string, string | string[] | number | undefined>>,
): Record<string, string | string[]> {
  const own: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || hopByHop.has(name)) continue
    own[name] = typeof value === 'number' ? String(value) : value
  }
  return own
}
