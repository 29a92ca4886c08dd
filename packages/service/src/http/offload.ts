/**
 * Requests whose bodies take long to read, or whose responses take long to make, are answered by the offload thread: here their key is
 * checked and their bytes arrive, and what comes back is sent as it is. So none of them holds up the event loop that serves everybody.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, InjectOptions } from 'fastify'
import { largeBeyond } from '../admission/large-work.ts'
import { freeBytes } from '../kernel/free-bytes.ts'
import { callerOf } from './authenticate.ts'
import { forwardedHeaders } from './origin.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The thread answers it: nothing of its body is parsed here. */
    offloaded: boolean
  }
}

export interface OffloadedRequest {
  /** The organization of its key, which was checked. */
  readonly organizationId: string
  /** The index of its database among several. */
  readonly home: number
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[]>>
  /** The client's address. */
  readonly ip: string
  /** Its memory may be given away. */
  readonly body: Buffer
}

export interface OffloadedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Buffer
}

/**
 * Has a request answered. Rejects when nobody can say what became of it, and with the signal's reason when its client disconnected before the
 * work began, which then never does.
 */
export type Offload = (request: OffloadedRequest, disconnected: AbortSignal) => Promise<OffloadedResponse>

/** Whether the thread reads this body. Routes that read theirs by themselves say so: what they do with few bytes may be much. */
export function isToBeOffloaded(request: FastifyRequest, bytes: Buffer): boolean {
  const { readsBody } = request.routeOptions.config
  return bytes.length > largeBeyond.bodyBytes || (readsBody !== undefined && !readsBody.isLight(bytes))
}

/** Of one connection, and not of the request. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'expect',
  'date',
])

/** Hook `preHandler`: has what was marked as offloaded answered by the thread. */
export function answerElsewhere(offload: Offload) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    if (!request.offloaded) return
    const { organizationId, home = 0 } = callerOf(request)
    const asked: OffloadedRequest = {
      organizationId,
      home,
      method: request.method,
      url: request.url,
      // The thread uses the same request id and origin, and is a part of the same trace.
      headers: {
        ...ownHeaders(request.headers),
        ...forwardedHeaders(request),
        'x-request-id': request.id,
        ...(request.span && { traceparent: request.span.traceparent }),
      },
      ip: request.ip,
      body: request.rawBody ?? Buffer.alloc(0),
    }
    const { status, headers, body } = await offload(asked, request.disconnected)
    reply.code(status).headers(ownHeaders(headers))
    return body.length === 0 ? reply.send() : reply.send(body)
  }
}

/**
 * Answers what was offloaded, with an API that listens nowhere. The memory of its body is free by then. Rejects when nobody can say what
 * became of it.
 */
export async function answerOffloaded(
  server: FastifyInstance,
  { method, url, headers, ip, body }: OffloadedRequest,
): Promise<OffloadedResponse> {
  // Sent between threads, bytes are no Buffer any more.
  const payload = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const response = await server.inject({
    method: method as NonNullable<InjectOptions['method']>,
    url,
    headers: { ...headers },
    remoteAddress: ip,
    ...(payload.length > 0 && { payload }),
    // A page of megabytes would be put together again and read as text, and all of it be new memory.
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

/** The headers that stay with a request or a response, wherever it goes. */
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
