/**
 * Requests whose bodies take long to read, or whose answers take long to make, are answered elsewhere: here their key is checked and
 * their bytes arrive, and what comes back is sent as it is. So none of them holds up the others who are served here.
 */
import type { FastifyInstance, FastifyRequest, InjectOptions } from 'fastify'
import { freeBytes } from '../kernel/free-bytes.ts'
import { callerOf } from './authenticate.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Nothing of its body was parsed here, and nothing else is done for it. */
    handedOver: boolean
  }
}

export interface HandedOver {
  /** Whose it is: the key was let in. */
  readonly organizationId: string
  /** The place of its database among several. */
  readonly home: number
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[]>>
  /** The client's address. */
  readonly ip: string
  /** To be read by whoever answers alone: its memory may be given away. */
  readonly body: Buffer
}

export interface HandedBack {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Buffer
}

/**
 * Has a request answered. Rejects when nobody can say what became of it, and with the signal's reason when its client disconnected before the
 * work began, which then never does.
 */
export type HandOver = (request: HandedOver, disconnected: AbortSignal) => Promise<HandedBack>

/**
 * Bytes of a body beyond which it is handed over. Most objects are smaller, and the worst that 32 KiB can hold takes 12 ms
 * here (decision 25).
 */
const handedOverFrom = 32 * 1024

/** Whether this body is for somebody else to read. Routes that read theirs by themselves say so: what they do with few bytes may be much. */
export function isToBeHandedOver(request: FastifyRequest, bytes: Buffer): boolean {
  const { readsBody } = request.routeOptions.config
  return bytes.length > handedOverFrom || (readsBody !== undefined && !readsBody.isLight(bytes))
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

/** Has what `isToBeHandedOver` answered by `handOver`. To be called before any route is there. */
export function answerElsewhere(server: FastifyInstance, handOver: HandOver): void {
  server.addHook('preHandler', async (request, reply) => {
    if (!request.handedOver) return
    const { organizationId, home = 0 } = callerOf(request)
    const handedOver = {
      organizationId,
      home,
      method: request.method,
      url: request.url,
      // What is answered there has the id that it has here, and is a part of the same trace.
      headers: {
        ...ownHeaders(request.headers),
        'x-request-id': request.id,
        ...(request.span && { traceparent: request.span.traceparent }),
      },
      ip: request.ip,
      body: request.rawBody ?? Buffer.alloc(0),
    }
    const { status, headers, body } = await handOver(handedOver, request.disconnected)
    reply.code(status).headers(ownHeaders(headers))
    return body.length === 0 ? reply.send() : reply.send(body)
  })
}

/**
 * Answers what was handed over, with an API that listens nowhere. The memory of its body is free by then. Rejects when nobody can say what
 * became of it.
 */
export async function answerHandedOver(
  server: FastifyInstance,
  { method, url, headers, ip, body }: HandedOver,
): Promise<HandedBack> {
  // Sent between threads, bytes are no Buffer any more.
  const payload = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const answer = await server.inject({
    method: method as NonNullable<InjectOptions['method']>,
    url,
    headers: { ...headers },
    remoteAddress: ip,
    ...(payload.length > 0 && { payload }),
    // A page of megabytes would be put together again and read as text, and all of it be new memory.
    payloadAsStream: true,
  })
  const pieces: Buffer[] = []
  for await (const piece of answer.stream()) pieces.push(piece)
  freeBytes(payload)
  const [first] = pieces
  return {
    status: answer.statusCode,
    headers: ownHeaders(answer.headers),
    body: first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces),
  }
}

/** The headers that stay with a request or an answer, wherever it goes. */
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
